"""A tick: what is due in all spaces is found in one round trip, and done where something is."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog

from store.domain.errors import Refused
from store.engine.store import Store
from store.verbs.due import Due, due

from . import sweeps
from .jobs import JOBS, Job

AT_ONCE = 8  # spaces that are swept at the same time
LOST = ("store_unavailable", "unconfirmed", "store_read_only", "store_full")
PATIENCE = 3  # jobs in a row that the store was lost to, after which a tick ends: what is broken may be one space only

QUIET = ("inspect",)  # which always has something to do

log = structlog.get_logger(__name__)


class Superseded(Exception):
    """A scheduler of a later epoch leads: this one has nothing to write any more."""


@dataclass(slots=True)
class Tick:
    """One tick of the leader of an epoch. `leads`: whether it still does, as far as it knows.

    `done` has how much was done, by space and job; `failed` what went wrong: space, job, why.
    """

    store: Store
    epoch: int
    leads: Callable[[], bool] = lambda: True
    done: dict[tuple[str, str], int] = field(default_factory=dict)
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    _lost: int = 0

    async def run(self, spaces: Sequence[str]) -> "Tick":
        """Do what is due in these spaces. Superseded; Refused: the store is lost. Its own errors pass through."""
        found = await due(self.store, spaces)
        if any(each.epoch > self.epoch for each in found.values()):
            raise Superseded
        fresh = [space for space, each in found.items() if each.epoch != self.epoch]
        if fresh:  # before anything else is written anywhere
            await self._each(fresh, self._stamp)
            found |= await due(self.store, fresh)
        ready = {space: jobs for space, each in found.items() if (jobs := [job for job in JOBS if job.ready(each)])}
        await self._each(list(ready), lambda space: self._sweep(space, ready[space], found[space]))
        return self

    async def _each(self, spaces: Sequence[str], work: Callable[[str], Awaitable[None]]) -> None:
        """Do something in each space, in several of them at the same time. The first that ends the tick is raised."""
        waiting = iter(spaces)

        async def lane() -> None:
            for space in waiting:
                await work(space)

        lanes = [asyncio.create_task(lane()) for _ in range(min(AT_ONCE, len(spaces)))]
        try:
            await asyncio.gather(*lanes)
        finally:
            for each in lanes:
                each.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _stamp(self, space: str) -> None:
        await self._one(space, "stamp", lambda: sweeps.stamp(self.store, space, self.epoch))

    async def _sweep(self, space: str, jobs: Sequence[Job], at: Due) -> None:
        """A space's jobs in their order. One that fails keeps no other from being done."""
        for job in jobs:
            await self._one(space, job.name, partial(job.run, self.store, space, self.epoch, at))

    async def _one(self, space: str, job: str, run: Callable[[], Awaitable[int]]) -> None:
        if not self.leads():
            raise Superseded
        try:
            done = await run()
        except Refused as no:
            if no.code == "stale":
                raise Superseded from no
            self._lost += no.code in LOST
            self._fails(space, job, no.code)
            if self._lost >= PATIENCE:
                raise
        except Exception as why:
            log.exception("job_failed", job=job, space=space)
            self.failed.append((space, job, type(why).__name__))
        else:
            self._lost = 0
            if done:
                self.done[space, job] = done
                (log.debug if job in QUIET else log.info)("done", job=job, space=space, count=done)

    def _fails(self, space: str, job: str, code: str) -> None:
        log.error("job_failed", job=job, space=space, code=code)
        self.failed.append((space, job, code))


async def tick(store: Store, *, epoch: int, spaces: Sequence[str], leads: Callable[[], bool] = lambda: True) -> Tick:
    """One tick in these spaces, as the leader of this epoch. Refuses as `Tick.run` does."""
    return await Tick(store, epoch, leads).run(spaces)
