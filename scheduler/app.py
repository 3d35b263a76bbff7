"""The scheduler as a whole: woken once a second, it holds the lease and does what is due while it leads.

APScheduler only wakes us. What is due is always read from the store, so a beat that was missed loses nothing.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import redis
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from store.domain.errors import Refused
from store.engine.client import Target
from store.engine.store import SCHEDULER, Store
from store.settings import Settings
from store.target import opened as open_store

from .health import Health
from .leader import LIFE, Leader
from .tick import Superseded, tick

__all__ = ["App", "opened"]

BEAT = 1.0  # seconds
GRACE = 5.0  # seconds that a tick in progress has at the end
STORE_ERRORS = (redis.RedisError, OSError, TimeoutError)
DEFAULTS = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}

log = structlog.get_logger("scheduler")


class App:
    """One process of the scheduler over its store. It looks each `beat` seconds; `life` is that of its lease, in ms."""

    def __init__(self, store: Store, *, host: str, port: int, life: int = LIFE, beat: float = BEAT) -> None:
        self._store, self._every = store, beat
        self.leader = Leader(store, life=life)
        self.health = Health(host, port)
        self._running: asyncio.Task[None] | None = None
        self._beat = time.monotonic()
        self._epoch = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what is in progress gets a few seconds, then the lease is let go."""
        # It says every second what is no news: that a tick still runs.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        clock = AsyncIOScheduler(timezone=UTC, job_defaults=DEFAULTS)
        clock.add_job(self._hold, self._beats(), id="hold", next_run_time=datetime.now(UTC))  # at once
        clock.add_job(self._tick, self._beats(), id="tick")
        async with self.health.serving():
            clock.start()
            try:
                while not stop.is_set():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(BEAT):
                            await stop.wait()
                    self._watch(clock)
            finally:
                clock.shutdown(wait=False)
                await self._end()

    def _beats(self) -> IntervalTrigger:
        return IntervalTrigger(seconds=self._every, timezone=UTC)

    def _watch(self, clock: AsyncIOScheduler) -> None:
        """Set the jobs anew where no beat came: the machine's clock was set back, by which they are timed."""
        if time.monotonic() - self._beat > 3 * BEAT:
            log.warning("clock_jumped")
            for job in clock.get_jobs():
                clock.reschedule_job(job.id, trigger=self._beats())
            self._beat = time.monotonic()

    async def _hold(self) -> None:
        """Hold the lease, or take it."""
        self._beat = time.monotonic()
        try:
            await self.leader.lead()
            self.health.held(self.leader.epoch)
        except STORE_ERRORS as lost:
            self.health.lost(type(lost).__name__)
        if self.leader.epoch != self._epoch:
            log.info("leads" if self.leader.epoch else "waits", epoch=self.leader.epoch or self._epoch)
            self._epoch = self.leader.epoch

    async def _tick(self) -> None:
        """Do what is due, if this process leads."""
        epoch = self.leader.epoch
        if not epoch:
            return
        self._running = asyncio.ensure_future(self._work(epoch))
        await asyncio.wait([self._running])

    async def _work(self, epoch: int) -> None:
        try:
            spaces = await self.leader.spaces()
            out = await tick(self._store, epoch=epoch, spaces=spaces, leads=lambda: self.leader.epoch == epoch)
            self.health.ticked(failed=len(out.failed))
        except Superseded:
            log.warning("superseded", epoch=epoch)
        except (Refused, *STORE_ERRORS) as lost:
            log.error("the store is away", why=lost.code if isinstance(lost, Refused) else type(lost).__name__)
            self.health.lost(type(lost).__name__)
        except Exception:
            log.exception("tick_failed")
            self.health.ticked(failed=1)

    async def _end(self) -> None:
        if self._running and not self._running.done():
            await asyncio.wait([self._running], timeout=GRACE)
            self._running.cancel()
            await asyncio.wait([self._running])
        with contextlib.suppress(*STORE_ERRORS):
            await self.leader.drop()


@contextlib.asynccontextmanager
async def opened(target: Target, settings: Settings, *, life: int = LIFE, beat: float = BEAT) -> AsyncIterator[App]:
    """An app over its store, closed at the end. StoreProblem: the store does not let it in."""
    async with open_store(target, user=SCHEDULER) as store:
        yield App(store, host=settings.scheduler_host, port=settings.scheduler_port, life=life, beat=beat)
