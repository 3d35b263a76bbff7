"""The inbox: every kept update is handled, in order for each chat, and removed only then.

What is to be said because of it is kept in the same step, and said after: an update is done once, however often its
answer has to be sent. What cannot be handled now (the API is away) is tried again for as long as it takes; what can
never be handled becomes a dead letter, and is heard of in the log. Neither holds up another chat, nor does a chat that
floods us: of its updates a few are in hand, and the others stay in the store until it is their turn.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from store.engine.lease import LeaseLost
from store.engine.updates import FIRST, Kept, Updates, place

from .door import Away
from .incoming import Unreadable, chat_of, press, said
from .saying import answered, toast
from .shelf import STORE_ERRORS
from .speaker import Speaker
from .words import Words, spelled

__all__ = ["Inbox"]

Update = dict[str, Any]
Chat = int | None  # None for what is to be buried

AT_ONCE = 32  # updates that are handled at once
IN_LINE = 16  # of one chat that are in hand
IN_HAND = 4000  # of all chats
BATCH = 100
BLOCK = 2000  # ms of one wait
TRIES = 5  # of an update that fails for its own fault
SOON, LATE = 0.25, 5.0  # seconds before the next try, doubled each time
KEPT = "Kept, not yet decided. The card will say what becomes of it."
FAILED = (
    "This went wrong, and it is not known whether anything changed. What stands is on the card, and under /pending."
)
WAITS = (Away, LeaseLost, *STORE_ERRORS)  # no fault of the update's

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Taken:
    """An update in hand, or why it is none."""

    kept: Kept
    update: Update | str
    told: bool = False  # that it is kept


@dataclass(slots=True)
class _Line:
    """A chat's updates in hand. `away`: the first of them waits for the API."""

    taken: deque[_Taken] = field(default_factory=deque)
    away: bool = False


@dataclass(slots=True)
class _Behind:
    """Updates of a chat that were left in the store: those after `after`, until `last`."""

    after: str
    last: str


class Inbox:
    """Hands the updates to `handle`, which may raise anything; what it gives is said. `clock` gives ms."""

    def __init__(
        self,
        updates: Updates,
        speaker: Speaker,
        handle: Callable[[Update], Awaitable[Words]],
        *,
        clock: Callable[[], int],
    ) -> None:
        self._updates, self._speaker, self._handle, self._clock = updates, speaker, handle, clock
        self._lines: dict[Chat, _Line] = {}
        self._behind: dict[Chat, _Behind] = {}
        self._after = FIRST
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._room = asyncio.Semaphore(IN_HAND)

    async def run(self) -> None:
        """Handle what is kept, until cancelled; what was not done or not said before comes first."""
        try:
            await self._store(self._speaker.resume)
            while True:
                try:
                    batch = await self._updates.waiting(self._after, count=BATCH, block=BLOCK)
                except STORE_ERRORS as why:
                    log.warning("the inbox cannot be read", why=type(why).__name__)
                    await asyncio.sleep(SOON)
                    continue
                for kept in batch:
                    await self._room.acquire()
                    self._take(kept)
                    self._after = kept.id
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._speaker.close()

    def _take(self, kept: Kept) -> None:
        """Put an update into its chat's line, or leave it in the store if that is full."""
        chat, update = _read(kept)
        behind = self._behind.get(chat)
        line = self._lines.get(chat)
        if behind:
            behind.last = kept.id
        elif line and len(line.taken) >= IN_LINE:
            self._behind[chat] = _Behind(after=self._after, last=kept.id)
        elif line:
            return self._add(line, _Taken(kept, update))
        else:
            self._lines[chat] = line = _Line()
            self._add(line, _Taken(kept, update))
            task = asyncio.get_running_loop().create_task(self._serve(chat))
            self._tasks.add(task)
            return task.add_done_callback(self._tasks.discard)
        self._room.release()
        return None

    def _add(self, line: _Line, taken: _Taken) -> None:
        line.taken.append(taken)
        if line.away:
            self._tell(line)

    async def _serve(self, chat: Chat) -> None:
        """Handle a chat's updates one by one."""
        line = self._lines[chat]
        while line.taken or chat in self._behind:
            if not line.taken:
                await self._catch_up(chat, line)
                continue
            await self._finish(line)
            line.taken.popleft()
            self._room.release()
        del self._lines[chat]

    async def _catch_up(self, chat: Chat, line: _Line) -> None:
        """Take in hand the next of a chat's updates that were left in the store."""
        behind = self._behind[chat]
        before = behind.last
        try:
            batch = await self._updates.waiting(behind.after, count=BATCH)
        except STORE_ERRORS as why:
            log.warning("the inbox cannot be read", why=type(why).__name__)
            await asyncio.sleep(SOON)
            return
        for kept in batch:
            if place(kept.id) > place(behind.last):
                break
            its, update = _read(kept)
            if its == chat:
                if len(line.taken) >= IN_LINE:
                    return
                await self._room.acquire()
                self._add(line, _Taken(kept, update))
            behind.after = kept.id
        else:
            # All of it was seen, but what was left there since then.
            if place(behind.after) < place(behind.last) and (len(batch) == BATCH or behind.last != before):
                return
        del self._behind[chat]

    async def _finish(self, line: _Line) -> None:
        """Handle the first update of a line until it is done or buried."""
        taken = line.taken[0]
        kept, update = taken.kept, taken.update
        if isinstance(update, str):
            return await self._bury(kept, update)
        faults = tries = 0
        while True:
            words = await self._once(update)
            if isinstance(words, tuple):
                return await self._done(kept, words)
            tries += 1
            if isinstance(words, Unreadable):
                return await self._bury(kept, str(words))
            if isinstance(words, Away):
                log.warning("an update waits for the api", update=update["update_id"], why=str(words))
                line.away = True
                self._tell(line)
            elif not isinstance(words, WAITS):
                faults += 1
                log.error("an update fails", update=update["update_id"], tries=faults, exc_info=words)
                if faults >= TRIES:
                    await self._bury(kept, f"fails with {type(words).__name__}")
                    return self._speaker.tell(self._speaker.admitted(_sorry(update)))
            await asyncio.sleep(min(LATE, SOON * 2.0 ** min(tries - 1, 10)))
            line.away = False

    async def _once(self, update: Update) -> Words | Exception:
        async with self._turn:
            try:
                return await self._handle(update)
            except Exception as why:  # noqa: BLE001 - what became of it is decided by whoever asked
                return why

    async def _done(self, kept: Kept, words: Words) -> None:
        """Remove an update, and have said what is to be said."""
        words = self._speaker.admitted(words)
        text = spelled(words, made=self._clock()) if words else ""
        await self._store(lambda: self._updates.done(kept.id, text))
        await self._speaker.say(kept.id, words)

    def _tell(self, line: _Line) -> None:
        """Say once to whoever pressed that the press is kept, also where it waits behind another."""
        for taken in line.taken:
            if not taken.told and isinstance(taken.update, dict) and "callback_query" in taken.update:
                taken.told = True
                try:
                    words = (toast(press(taken.update), KEPT),)
                except Unreadable:
                    continue
                self._speaker.tell(words)

    async def _bury(self, kept: Kept, why: str) -> None:
        log.error("a dead letter", id=kept.id, why=why)
        await self._store(lambda: self._updates.bury(kept, why))

    async def _store(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write what has become of an update, however long the store is away: else it is handled again."""
        while True:
            try:
                return await write()
            except STORE_ERRORS as why:
                log.warning("the inbox cannot be reached", why=type(why).__name__)
                await asyncio.sleep(SOON)


def _read(kept: Kept) -> tuple[Chat, Update | str]:
    """An update and its chat, or why it is none; whatever was kept, this ends well."""
    try:
        update = json.loads(kept.raw)
        if not isinstance(update, dict):
            return None, "an update that is no object"
        return chat_of(update), update
    except Unreadable as why:
        return None, str(why)
    except Exception as why:  # noqa: BLE001 - it would stay the first in the inbox, and end all work for ever
        return None, f"no update: {type(why).__name__}"


def _sorry(update: Update) -> Words:
    """What is said to whoever caused an update that was given up."""
    try:
        if "callback_query" in update:
            return (toast(press(update), FAILED, alert=True),)
        if "message" in update and (message := said(update)).private and not message.is_bot:
            return (answered(message, FAILED, idle=True),)
    except Unreadable:
        pass
    return ()
