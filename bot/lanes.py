"""A lane for each chat: what goes to it goes one by one, in turns (see bot.turns), and no chat waits for another.

Nor does a job wait for one before it that does not succeed: that one comes again later, behind the rest.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

import structlog

from .turns import Place, Turns

__all__ = ["Lanes", "Then"]

FIRST, LAST = 0.5, 30.0  # seconds that a job or a lane waits before the next try, doubled each time

Job = TypeVar("Job")
log = structlog.get_logger(__name__)


class Then(Enum):
    """What is to become of a job that had its turn."""

    DONE = "done"
    MORE = "more"  # there is more to do for it, at once
    LATER = "later"  # it did not succeed; others in its lane may
    HELD = "held"  # nothing gets through to anybody, so the whole lane waits


@dataclass(slots=True)
class _Lane(Generic[Job]):
    """What is `ready` for its turn, and a heap of what is `later`, by the time (of the event loop) when it is ready."""

    ready: Turns[Job, Hashable] = field(default_factory=Turns)
    later: list[tuple[float, int, Place[Job, Hashable]]] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def __len__(self) -> int:
        return len(self.ready) + len(self.later)

    def ripen(self, now: float) -> None:
        """Make ready what has waited long enough."""
        while self.later and self.later[0][0] <= now:
            self.ready.put(heapq.heappop(self.later)[2])


class Lanes(Generic[Job]):
    """`work` does one step of a job; `lost` hears of a job given up.

    `turn` is entered when something of a kind may go to a chat; which job that is, and how it stands, is seen then.
    """

    def __init__(
        self,
        work: Callable[[Job], Awaitable[Then]],
        *,
        turn: Callable[[int, int], AbstractAsyncContextManager[None]],
        lost: Callable[[Job, Exception], None],
    ) -> None:
        self._work, self._turn, self._lost = work, turn, lost
        self._lanes: dict[int, _Lane[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return sum(len(lane) for lane in self._lanes.values())

    def add(self, chat: int, kind: int, job: Job, *, by: Hashable = "", until: int = 0) -> Place[Job, Hashable]:
        """Put a job into a chat's lane, to be given its turn. The place says what it is, and can be told otherwise."""
        lane = self._lanes.get(chat)
        if lane is None:
            lane = self._lanes[chat] = _Lane()
            task = asyncio.get_running_loop().create_task(self._run(chat, lane))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        place = Place[Job, Hashable](kind, job, by, until=until)
        lane.ready.put(place)
        lane.more.set()
        return place

    async def close(self) -> None:
        """Leave everything as it is."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, chat: int, lane: _Lane[Job]) -> None:
        pause = FIRST
        while lane:
            try:
                await self._some(lane)
                async with self._turn(chat, lane.ready.kind):
                    then = await self._next(lane)
            except Exception:  # a lane that ends would keep everything for its chat for ever
                log.exception("a chat's lane goes on", chat=chat)
                await asyncio.sleep(LAST)
                continue
            if then is Then.HELD:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LAST)
            else:
                pause = FIRST
        del self._lanes[chat]

    async def _some(self, lane: _Lane[Job]) -> None:
        """Return when a job is ready for its turn."""
        loop = asyncio.get_running_loop()
        lane.ripen(loop.time())
        while not lane.ready:
            lane.more.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(lane.later[0][0]):
                    await lane.more.wait()
            lane.ripen(loop.time())

    async def _next(self, lane: _Lane[Job]) -> Then:
        """Take a step of the job whose turn it is."""
        place = lane.ready.next()
        if place is None:
            return Then.DONE
        then = await self._step(place)
        self._put_back(lane, place, then)
        return then

    async def _step(self, place: Place[Job, Hashable]) -> Then:
        try:
            return await self._work(place.job)
        except Exception as why:  # whatever it is, the others in this lane are not to wait for it
            log.exception("a card was given up for now")
            self._lost(place.job, why)
            return Then.DONE

    def _put_back(self, lane: _Lane[Job], place: Place[Job, Hashable], then: Then) -> None:
        if then is not Then.HELD:
            lane.ready.took(place)
        match then:
            case Then.MORE | Then.HELD:
                place.tries = 0
                lane.ready.put(place)
            case Then.LATER:
                seconds = min(LAST, FIRST * 2.0 ** min(place.tries, 10))
                place.tries += 1
                lane.ready.renumber(place)
                at = asyncio.get_running_loop().time() + seconds
                heapq.heappush(lane.later, (at, place.number, place))
