"""What the scheduler does, as a table: each job that something wakes, and the function that does it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from store.engine.store import Store
from store.verbs.due import WAKES, Due, Wake

from . import sweeps

Run = Callable[[Store, str, int, Due], Awaitable[int]]

_RUNS: dict[str, Run] = {
    "expire": sweeps.expire,
    "remind": sweeps.remind,
    "occurrences": sweeps.occurrences,
    "idle": sweeps.idle,
    "recap": sweeps.recap,
    "warn": sweeps.warn,
    "passed": sweeps.passed,
    "review": sweeps.review,
    "digest": sweeps.digest,
    "inspect": sweeps.inspect,
}


@dataclass(frozen=True, slots=True)
class Job:
    """One job, as each space has it."""

    wake: Wake
    run: Run

    @property
    def name(self) -> str:
        return self.wake.job

    def ready(self, due: Due) -> bool:
        """Whether it is to run now."""
        return 0 < due.at(self.wake) <= due.now


JOBS = tuple(Job(wake, _RUNS[wake.job]) for wake in WAKES)
