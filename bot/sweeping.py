"""Finding what is to be looked at: what commits ring for, what is due, and from time to time everything."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

import structlog

from store.domain.errors import Refused
from store.domain.moments import DAY
from store.engine.lease import LeaseLost
from store.engine.outbox import EVERYWHERE, Outbox

from .door import Away, Door
from .failures import Failure
from .looking import AWAY, Looking
from .shelf import NO_STORE, STORE_ERRORS

__all__ = ["Sweeper"]

SWEEP = 2.0  # seconds between looks for what a lost ring has told
GATHER = 0.02  # seconds in which rings are gathered
BATCH = 500
EVER = 36_500 * DAY

log = structlog.get_logger(__name__)


class Sweeper:
    """Feeds `looking` with the refs of all spaces. `clock` gives ms."""

    def __init__(self, looking: Looking, outbox: Outbox, door: Door, *, clock: Callable[[], int]) -> None:
        self._look, self._outbox, self._door, self._clock = looking, outbox, door, clock
        self._rung = {EVERYWHERE}
        self._full: set[str] = set()  # where there was more to take in than was taken
        self._wake = asyncio.Event()
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(_always(self._listen))
            group.create_task(_always(self._sweep))

    async def look_everywhere(self) -> None:
        """Look at every card that can still change, as at a start."""
        await self.each(self._look_in, await self.spaces())

    async def _look_in(self, space: str) -> None:
        for ref in await self._outbox.opened(space):
            self._look.refresh(space, ref)

    async def each(self, work: Callable[[str], Awaitable[None]], spaces: Iterable[str]) -> None:
        """Do it in each space; one that fails keeps no other from it. Raises when the store is away."""
        for space in spaces:
            try:
                await work(space)
            except (LeaseLost, *NO_STORE):
                raise
            except Exception:  # whatever is wrong there
                log.exception("a space is passed over", space=space)

    async def spaces(self) -> list[str]:
        """The spaces to look into: those we know, and those of the door if it is there."""
        known = await self._outbox.spaces()
        try:
            told = await self._door.spaces()
        except (Away, Refused) as why:
            log.warning("the api does not say which spaces there are", why=str(why))
            told = []
        if new := sorted(set(told) - set(known)):
            await self._outbox.add_space(*new)
        return sorted({*known, *told})

    async def _listen(self) -> None:
        async for space in self._outbox.bell():
            self._rung.add(space)
            self._wake.set()

    async def _sweep(self) -> None:
        """Take in what was rung, and from time to time everything."""
        swept = 0.0
        while True:
            waits = max(0.0, swept + SWEEP - time.monotonic())
            try:
                async with asyncio.timeout(waits):
                    await self._wake.wait()
            except TimeoutError:
                self._rung.add(EVERYWHERE)
            self._wake.clear()
            rung, self._rung = self._rung, set()
            everywhere = EVERYWHERE in rung
            if everywhere:
                swept = time.monotonic()
                rung = {*rung, *await self.spaces()} - {EVERYWHERE}
                await self.each(self._watch_clock, list(self._look.clocks))
            self._full = set()
            await self.each(self._take_in, sorted(rung))
            if everywhere:
                await self.each(self._take_in_due, sorted(rung))
            if self._full and self._look.to_look_at < BATCH:
                self._rung |= self._full
                self._wake.set()
            await asyncio.sleep(GATHER)

    async def _take_in(self, space: str) -> None:
        """Queue what is marked in a space, and note whether there is more."""
        dirty = await self._outbox.dirty(space, count=BATCH)
        for ref, mark in dirty:
            self._look.refresh(space, ref, mark)
        if len(dirty) == BATCH:
            self._full.add(space)

    async def _take_in_due(self, space: str) -> None:
        """Queue what is to be looked at because of the time."""
        for ref in await self._outbox.due(space, self._clock(), count=BATCH):
            if not self._look.in_hand(space, ref):
                self._look.refresh(space, ref)

    async def _watch_clock(self, space: str) -> None:
        """See whether somebody has moved the clock of a simulated space: then all its cards are looked at."""
        if refs := await self._outbox.due(space, self._clock() + EVER, count=1):
            self._look.refresh(space, refs[0])


async def _always(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do it again whenever it ends or fails."""
    while True:
        try:
            await work()
        except LeaseLost:
            raise
        except (Away, Failure, *STORE_ERRORS) as why:
            log.warning("to be tried again", why=str(why) or type(why).__name__)
        except Exception:  # whatever it is, the cards go on
            log.exception("the outbox goes on")
        await asyncio.sleep(AWAY)
