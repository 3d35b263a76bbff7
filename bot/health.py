"""Whether the bot hears and speaks: told in the store for the API and `up`, and at /healthz for whoever watches."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import redis
import structlog

from store.engine.botstore import BEAT, STARTING, STOPPED, WHY_LENGTH, BotStore
from store.engine.botstore import WELL as POLLING
from store.telemetry import masked

from .shelf import STORE_ERRORS

__all__ = ["Health"]

DEAF = 90.0  # seconds since the last good poll, after which the bot counts as deaf
PRESSES_LAST = 150_000  # ms that Telegram keeps a press for a bot that is away
SAY = 1.0  # seconds between two words to the store that all is well
LOOK = 5.0  # seconds that finding out may take
LETTERS = 100  # dead letters that are counted

log = structlog.get_logger(__name__)


class Health:
    """What one process knows of itself, and what the store knows of whoever polls. `clock` gives ms.

    `missed` is set when presses may have been lost, for whoever offers the cards again and clears it. `heard` is when
    an update was brought last (ms), as far as this process knows.
    """

    def __init__(self, store: BotStore, *, clock: Callable[[], int], deaf: float = DEAF) -> None:
        self._store, self.clock, self._deaf = store, clock, deaf
        self.holding = False
        self.waiting: Callable[[], Mapping[str, int]] = dict
        self._state = ""
        self._said = 0.0
        self._failures = 0
        self._started = time.monotonic()
        self._polled = 0  # when the last good poll was (ms), 0 if that is not known
        self.missed = asyncio.Event()
        self.heard = 0

    async def live(self) -> None:
        """Say every few seconds that the bot runs, until cancelled."""
        while True:
            try:
                await self._store.live()
            except STORE_ERRORS as why:
                log.warning("the store does not hear that the bot runs", why=type(why).__name__)
            await asyncio.sleep(BEAT)

    async def starts(self) -> None:
        """A term begins, and what the one before said of itself is over."""
        await self._say(STARTING, "")

    async def ends(self) -> None:
        """The bot ends in good order."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await self._say(STOPPED, "")

    async def begin(self) -> None:
        """A term begins: what the one before has left to do, and when it heard Telegram last."""
        state = await self._store.state()
        self._polled = int(state.get("polled") or 0)
        if state.get("offering") == "1":
            self.missed.set()

    async def polled(self) -> None:
        """Telegram has answered, and what it said is kept. Said at most once a second."""
        before, self._polled = self._polled, self.clock()
        self._failures = 0
        if before and self._polled - before > PRESSES_LAST:
            log.warning("presses may have been lost", seconds=(self._polled - before) // 1000)
            self.missed.set()
            await self._say(POLLING, "", polled=self._polled, offering=1)
        elif self._state != POLLING or time.monotonic() - self._said >= SAY:
            self._said = time.monotonic()
            await self._say(POLLING, "", polled=self._polled)

    async def made_good(self) -> None:
        """What was missed is made good, unless more was missed meanwhile."""
        if not self.missed.is_set():
            await self._store.say(offering=0)

    async def failed(self, state: str, why: str) -> None:
        """It has not; `why` is what Telegram said, or the kind of error."""
        self._failures += 1
        await self._say(state, why)

    async def report(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether it is well, and the figures."""
        own = {"lease": self.holding, "failures": self._failures, **self.waiting()}
        try:
            async with asyncio.timeout(LOOK):
                found = await self._found()
        except (TimeoutError, *STORE_ERRORS) as why:
            return False, {"status": "store away", "why": type(why).__name__, **own}
        silent = found["last_good_poll_s"]
        begun = time.monotonic() - self._started
        well = silent <= self._deaf if silent is not None else begun <= self._deaf
        return well, {"status": "ok" if well else "deaf", **own, **found}

    async def _found(self) -> dict[str, Any]:
        state = await self._store.state()
        polled = int(state.get("polled") or 0)
        oldest = 0
        for space in await self._store.outbox.spaces():
            try:
                for _, mark in await self._store.outbox.dirty(space, count=1):
                    oldest = max(oldest, self.clock() - mark // 1000)
            except redis.ResponseError:  # of this space alone
                log.exception("a space is passed over", space=space)
        return {
            "state": state.get("state", ""),
            "last_good_poll_s": max(0, self.clock() - polled) / 1000 if polled else None,
            "inbox": await self._store.updates.backlog(),
            "dead_letters": len(await self._store.updates.buried(count=LETTERS)),
            "outbox_age_s": max(0, oldest) / 1000,
        }

    async def _say(self, state: str, why: str, **more: int) -> None:
        """Tell the store; that it is away is no reason to stop. No secret that `why` may hold gets there."""
        why = masked(why)[:WHY_LENGTH]
        if state != self._state:
            log.info("polling" if state == POLLING else "not polling", state=state, why=why)
        self._state = state
        try:
            await self._store.say(state=state, why=why, at=self.clock(), **more)
        except STORE_ERRORS as lost:
            log.warning("the store does not hear how the bot does", why=type(lost).__name__)
