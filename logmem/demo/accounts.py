"""What the scheduler writes down in the demo's space: waited for, and told. Where none runs the demo starts one."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from store.domain.entry import Entry, Logged
from store.domain.moments import span
from store.domain.shift import IDLE
from store.domain.text import quoted
from store.engine.reads import Log, Stretch
from store.verbs.due import WAKES, due, leads

from ..fault import UNREACHABLE, Fault
from .script import SHOWN

if TYPE_CHECKING:
    from ..children import Child
    from ..operate import Operator
    from .house import House

SCHEDULER = "system:scheduler"
BEAT = "0.1"  # seconds between two looks of one of our own: nobody is to wait for it
LOOK = 0.03  # seconds between two of ours at what it has left to do
PATIENCE = 60.0  # seconds for it to do what is due
LATEST = 200  # entries that are looked at
ALWAYS = ("inspect",)  # has something to do at any time


@dataclass(frozen=True, slots=True)
class News:
    """Entries of one kind, and what they are told as."""

    kind: str
    text: str
    entries: Sequence[Logged]


@dataclass(slots=True)
class Accounts:
    """The scheduler as the stage sees it, in one space. `own` is the one that we started, its log in `folder`."""

    house: "House"
    operator: "Operator"
    folder: Path
    own: "Child | None" = None
    _kept: asyncio.Task[None] | None = None
    _seen: int = field(default=-1)

    async def wake(self) -> None:
        """Start one of our own if nobody leads, so that it is at work when it is needed."""
        if self.own is None and await self._nobody_leads():
            self._start()

    async def caught_up(self) -> None:
        """Return once nothing is due in the space that the scheduler has not done. Fault: it does not come to that."""
        give_up = time.monotonic() + PATIENCE
        while not await self._rests():
            if time.monotonic() > give_up:
                raise Fault(
                    f"The scheduler has not done what is due in {self.operator.space} for {PATIENCE:.0f} s. "
                    f"{self._why()}",
                    code=UNREACHABLE,
                )
            await self.wake()
            await asyncio.sleep(LOOK)

    async def _rests(self) -> bool:
        name = self.operator.space
        at = (await due(self.operator.store, [name]))[name]
        waits = [wake.job for wake in WAKES if wake.job not in ALWAYS and 0 < at.at(wake) <= at.now]
        return at.epoch > 0 and not waits

    async def _nobody_leads(self) -> bool:
        leader = await leads(self.operator.store)
        return leader is None or leader.left < 0

    def _start(self) -> None:
        from ..children import Child, store_environment
        from ..importpath import environment

        settings = self.house.settings
        env = {name: value for name, value in environment().items() if not name.startswith("LOGMEM_")}
        env |= {"LOGMEM_HOME": str(settings.home), "LOGMEM_SCHEDULER_HOST": "127.0.0.1", "LOGMEM_SCHEDULER_PORT": "0"}
        env |= store_environment(settings, self.house.target)
        self.own = Child("scheduler", "--beat", BEAT, log=self.folder / "scheduler.log", env=env)
        self.own.name = "The demo's scheduler"
        self._kept = asyncio.create_task(self.own.keep())

    def _why(self) -> str:
        from ..children import last_words

        return last_words(self.own.log) if self.own else "What it does next: logmem scheduler explain"

    async def news(self) -> list[News]:
        """What it has written since the last time; nothing the first time, when that was of days before."""
        [[lines]] = await self.operator.store.across([self.operator.space], Log(SCHEDULER, LATEST))
        new = [seq for seq in lines.seqs if seq > self._seen >= 0]
        self._seen = max(0, self._seen, *lines.seqs)
        if not new:
            return []
        [[found]] = await self.operator.store.across([self.operator.space], Stretch(tuple(new)))
        return told(found)

    async def end(self) -> None:
        """End the one of our own, if there is one."""
        if self.own and self._kept:
            await self.own.stop()
            self._kept.cancel()
            await asyncio.gather(self._kept, return_exceptions=True)


@asynccontextmanager
async def accounts(house: "House", operator: "Operator") -> AsyncIterator[Accounts]:
    """The scheduler for as long as the block lasts; one of our own ends with it."""
    with tempfile.TemporaryDirectory(prefix="logmem-demo-") as folder:
        made = Accounts(house, operator, Path(folder))
        try:
            yield made
        finally:
            await made.end()


def told(found: Sequence[Logged]) -> list[News]:
    """The entries as they are told, in their order; recaps that were written one after the other in one sentence."""
    news: list[News] = []
    for logged in found:
        entry = logged.entry
        if entry is None:
            continue
        if entry.kind == "recap":
            before = news.pop().entries if news and news[-1].kind == "recap" else ()
            ended = sorted((*before, logged), key=_where)
            news.append(News(entry.kind, _recapped(ended), ended))
        elif text := _said(entry):
            news.append(News(entry.kind, text, (logged,)))
    return news


def _where(logged: Logged) -> str:
    return logged.entry.where if logged.entry else ""


def _said(entry: Entry) -> str:
    """An entry of the scheduler's in a sentence, '' for what belongs to no story."""
    to_all = entry.where.startswith("channel:")
    match entry.kind:
        case "accounted":
            return f"accounts for it: {entry.summary}" if to_all else ""
        case "overdue":
            return entry.summary if to_all else f"tells {entry.where}: {quoted(entry.summary, SHOWN)}"
        case "digest":
            return f"tells {entry.where} of the day: {quoted(entry.summary, SHOWN)}"
    return ""


def _recapped(found: Sequence[Logged]) -> str:
    """Whose shifts ended by themselves, and the last of the recaps."""
    *others, last = map(_where, found)
    names = f"{', '.join(others)} and {last}" if others else last
    summary = found[-1].entry.summary if found[-1].entry else ""
    shifts, it = ("shifts", f"; the recap of {last}") if others else ("shift", "")
    return f"ends the {shifts} of {names}, after {span(IDLE)} without a write{it}: {quoted(summary, SHOWN)}"
