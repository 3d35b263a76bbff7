"""A scheduler in the process of the test: it leads, and ticks when it is told to."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scheduler.leader import LIFE, Leader
from scheduler.tick import tick
from store.engine.client import Target
from store.engine.embedded import Embedded
from store.engine.store import SCHEDULER, Store, open_store

MOST = 200  # ticks until nothing is left to do


class Waits(Exception):
    """Another scheduler leads."""


class Scheduler:
    """One scheduler over a store of its own, as lm-scheduler."""

    def __init__(self, store: Store, *, life: int = LIFE) -> None:
        self.store, self.life = store, life
        self.restart()

    def restart(self) -> None:
        """Forget everything, as a process does that is killed."""
        self.leader = Leader(self.store, life=self.life)

    async def lead(self) -> int:
        """Lead, which must be possible; the epoch."""
        epoch = await self.leader.lead()
        if not epoch:
            raise Waits("another scheduler leads")
        return epoch

    async def once(self) -> Counter[str]:
        """One tick in all spaces: how much each job did. None of them may fail."""
        epoch = await self.lead()
        out = await tick(self.store, epoch=epoch, spaces=await self.store.shared.spaces())
        assert not out.failed
        did: Counter[str] = Counter()
        for (_, job), count in out.done.items():
            did[job] += count
        return did - Counter(inspect=did["inspect"])  # which always has something to look at

    async def __call__(self) -> Counter[str]:
        """Tick until nothing is left to do: how much each job did."""
        total: Counter[str] = Counter()
        did = total
        for _ in range(MOST):
            did = await self.once()
            if not did:
                return total
            total += did
        raise AssertionError(f"the scheduler does not come to rest: {did}")


@asynccontextmanager
async def scheduling(engine: Embedded, *, life: int = LIFE) -> AsyncIterator[Scheduler]:
    """A scheduler on an engine."""
    store = open_store(Target.embedded(engine), user=SCHEDULER)
    try:
        yield Scheduler(store, life=life)
    finally:
        await store.close()
