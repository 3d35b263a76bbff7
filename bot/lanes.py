"""A lane for each chat: what goes to it goes one by one, in turns (see bot.turns), and no chat waits for another.

For its next turn a lane waits as the most urgent that is ready in it by then, so that nothing waits as what it is not.
Nor does a job wait for one before it that does not succeed: that one comes again later, behind the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, Generic, TypeVar

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


class _Lane(Turns[Job, Hashable]):
    """What is ready for its turn, how many come `later`, and what the lane waits as (`claim`)."""

    def __init__(self) -> None:
        super().__init__()
        self.later = 0
        self.more = asyncio.Event()
        self.claim: Place[Any, int] | None = None

    def put(self, place: Place[Job, Hashable]) -> None:
        """Let it wait; if it is more urgent than what the lane waits as, the lane waits as that from now on."""
        super().put(place)
        self.more.set()
        if self.claim and place.kind < self.claim.kind:
            self.claim.move(place.kind, by=self.claim.by, until=0)

    def ripen(self, place: Place[Job, Hashable]) -> None:
        """It has waited long enough."""
        self.later -= 1
        self.put(place)


class Lanes(Generic[Job]):
    """`work` does one step of a job; `lost` hears of a job given up.

    `turn` is entered when something may go to a chat, which is the `by` of a place that may become more urgent while it
    waits; which job that is, and how it stands, is seen then.
    """

    def __init__(
        self,
        work: Callable[[Job], Awaitable[Then]],
        *,
        turn: Callable[[Place[Any, int]], AbstractAsyncContextManager[None]],
        lost: Callable[[Job, Exception], None],
    ) -> None:
        self._work, self._turn, self._lost = work, turn, lost
        self._lanes: dict[int, _Lane[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return sum(len(lane) + lane.later for lane in self._lanes.values())

    def add(self, chat: int, kind: int, job: Job, *, by: Hashable = "", until: int = 0) -> Place[Job, Hashable]:
        """Put a job into a chat's lane, to be given its turn. The place says what it is, and can be told otherwise."""
        lane = self._lanes.get(chat)
        if lane is None:
            lane = self._lanes[chat] = _Lane()
            task = asyncio.get_running_loop().create_task(self._run(chat, lane))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        place = Place[Job, Hashable](kind, job, by, until=until)
        lane.put(place)
        return place

    async def close(self) -> None:
        """Leave everything as it is."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, chat: int, lane: _Lane[Job]) -> None:
        pause = FIRST
        while lane or lane.later:
            try:
                await self._some(lane)
                lane.claim = Place(lane.urgent, None, chat)
                async with self._turn(lane.claim):
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
        while not lane:
            lane.more.clear()
            await lane.more.wait()

    async def _next(self, lane: _Lane[Job]) -> Then:
        """Take a step of the job whose turn it is."""
        place = lane.next()
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
            lane.took(place)
        match then:
            case Then.MORE | Then.HELD:
                place.tries = 0
                lane.put(place)
            case Then.LATER:
                seconds = min(LAST, FIRST * 2.0 ** min(place.tries, 10))
                place.tries += 1
                lane.renumber(place)
                lane.later += 1
                asyncio.get_running_loop().call_later(seconds, lane.ripen, place)
