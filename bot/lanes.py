"""A lane for each chat: what goes to it goes one by one, the most urgent first, and no chat waits for another.

Nor does a job wait for one before it that does not succeed: that one comes again later, behind the rest.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

import structlog

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


@dataclass(order=True, slots=True)
class _Place(Generic[Job]):
    kind: int
    number: int
    job: Job = field(compare=False)
    tries: int = field(default=0, compare=False)


@dataclass(slots=True)
class _Lane(Generic[Job]):
    """Two heaps: `ready` by urgency, `later` by the time (of the event loop) when a place is ready."""

    ready: list[_Place[Job]] = field(default_factory=list)
    later: list[tuple[float, int, _Place[Job]]] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def __len__(self) -> int:
        return len(self.ready) + len(self.later)

    def ripen(self, now: float) -> None:
        """Make ready what has waited long enough."""
        while self.later and self.later[0][0] <= now:
            heapq.heappush(self.ready, heapq.heappop(self.later)[2])


class Lanes(Generic[Job]):
    """`work` does one step of a job; `free` returns when something may go to a chat; `lost` hears of a job given up."""

    def __init__(
        self,
        work: Callable[[Job], Awaitable[Then]],
        *,
        free: Callable[[int], Awaitable[None]],
        lost: Callable[[Job, Exception], None],
    ) -> None:
        self._work, self._free, self._lost = work, free, lost
        self._lanes: dict[int, _Lane[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = 0

    def __len__(self) -> int:
        return sum(len(lane) for lane in self._lanes.values())

    def add(self, chat: int, kind: int, job: Job) -> None:
        """Put a job into a chat's lane; the lower its kind, the sooner."""
        lane = self._lanes.get(chat)
        if lane is None:
            lane = self._lanes[chat] = _Lane()
            task = asyncio.get_running_loop().create_task(self._run(chat, lane))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        heapq.heappush(lane.ready, _Place(kind, self._next(), job))
        lane.more.set()

    async def close(self) -> None:
        """Leave everything as it is."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, chat: int, lane: _Lane[Job]) -> None:
        pause = FIRST
        while lane:
            try:
                await self._free(chat)
                place = await self._first(lane)
            except Exception:  # a lane that ends would keep everything for its chat for ever
                log.exception("a chat's lane goes on", chat=chat)
                await asyncio.sleep(LAST)
                continue
            if place is None:
                continue
            then = await self._step(place)
            self._put_back(lane, place, then)
            if then is Then.HELD:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LAST)
            else:
                pause = FIRST
        del self._lanes[chat]

    async def _first(self, lane: _Lane[Job]) -> _Place[Job] | None:
        """The most urgent job that is ready; None after a wait for one, since the chat may not be free after that."""
        loop = asyncio.get_running_loop()
        lane.ripen(loop.time())
        if lane.ready:
            return heapq.heappop(lane.ready)
        lane.more.clear()
        try:
            async with asyncio.timeout_at(lane.later[0][0]):
                await lane.more.wait()
        except TimeoutError:
            pass
        return None

    async def _step(self, place: _Place[Job]) -> Then:
        try:
            return await self._work(place.job)
        except Exception as why:  # whatever it is, the others in this lane are not to wait for it
            log.exception("a card was given up for now")
            self._lost(place.job, why)
            return Then.DONE

    def _put_back(self, lane: _Lane[Job], place: _Place[Job], then: Then) -> None:
        match then:
            case Then.MORE | Then.HELD:
                place.tries = 0
                heapq.heappush(lane.ready, place)
            case Then.LATER:
                seconds = min(LAST, FIRST * 2.0 ** min(place.tries, 10))
                place.tries, place.number = place.tries + 1, self._next()
                at = asyncio.get_running_loop().time() + seconds
                heapq.heappush(lane.later, (at, place.number, place))

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers
