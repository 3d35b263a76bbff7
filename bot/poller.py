"""Asks Telegram for updates, and keeps each batch before Telegram is told that it came. Nothing ends it.

An update's number is told to Telegram once, with the next poll; later polls leave it out. After a quiet week numbers
may begin anew, lower, and a poll that still named the old one would never see them. What comes twice is kept once.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import structlog

from store.engine.lease import LeaseLost
from store.engine.updates import Updates

from .client import Telegram
from .failures import Down, Failure, Flood
from .health import Health
from .shelf import STORE_ERRORS

__all__ = ["Poller"]

WAIT = 25  # seconds that Telegram holds a poll open
OVERDUE = 30.0  # seconds after that, when a poll counts as wedged whatever the library says
FIRST, LAST = 0.25, 5.0  # seconds before the next try, doubled each time
CONFLICT = 30.0  # at most, while another process polls, or Telegram does not know the token
REBUILD = 3  # failures in a row, each time after which the connections are made anew
BUSY, GATHER = 0.1, 0.015  # seconds: polls that bring something so soon one after the other leave more to the next
IDLE = 0.3  # seconds after a poll that had nothing and did not wait

STATES = {401: "unauthorized", 404: "unauthorized", 409: "conflict"}
WEBHOOK = "webhook is active"

log = structlog.get_logger(__name__)


class Poller:
    """One process's polling, under a lease of this epoch; what is kept goes into `updates`."""

    def __init__(self, telegram: Telegram, updates: Updates, health: Health, *, epoch: int, wait: int = WAIT) -> None:
        self._telegram, self._updates, self._health, self._epoch, self._wait = telegram, updates, health, epoch, wait
        self._offset = 0  # 0: there is nothing that Telegram has not been told
        self._failures = 0
        self._hears = False  # whether the last poll was good
        self._brought = 0.0  # when a poll brought something last

    async def run(self) -> None:
        """Poll until cancelled. LeaseLost: somebody else does it now."""
        while True:
            try:
                pause = await self._poll()
                self._failures, self._hears = 0, True
            except LeaseLost:
                raise
            except Exception as why:  # noqa: BLE001 - a poller that ends leaves everybody deaf
                try:
                    pause = await self._failed(why)
                except Exception:  # not even a mistake in what is done about it ends this
                    log.exception("the poller goes on")
                    pause = LAST
            await asyncio.sleep(pause)

    async def _poll(self) -> float:
        """One poll; gives how long to wait before the next."""
        began = time.monotonic()
        wait = self._wait if self._hears else 0  # so that it is known at once whether all is well
        async with asyncio.timeout(wait + OVERDUE):
            batch = await self._telegram.updates(self._offset, wait)
        if not batch:
            self._offset = 0
            await self._health.polled()
            return IDLE if wait and time.monotonic() - began < IDLE else 0.0
        after = _after(batch)
        new = await self._updates.keep(batch, epoch=self._epoch)
        self._offset = after
        await self._health.polled()
        log.debug("updates kept", new=new, of=len(batch))
        before, self._brought = self._brought, time.monotonic()
        if not (new or after):
            return IDLE  # updates without a number come again until one with a number does
        return GATHER if self._brought - before < BUSY else 0.0

    async def _failed(self, why: Exception) -> float:
        """What to do about a poll that failed, and how long to wait before the next."""
        self._failures += 1
        self._hears = False
        status = why.status if isinstance(why, Failure) else 0
        state = "store away" if isinstance(why, STORE_ERRORS) and not isinstance(why, TimeoutError) else "away"
        said = why.said if isinstance(why, Failure) else type(why).__name__
        await self._health.failed(STATES.get(status, state), said)
        level = log.error if self._failures == 1 or self._failures % 10 == 0 else log.warning
        expected = isinstance(why, (Failure, *STORE_ERRORS))
        level("no poll", failures=self._failures, status=status, said=said, exc_info=None if expected else why)
        if self._failures % REBUILD == 0 or (isinstance(why, Down) and why.crowded) or isinstance(why, TimeoutError):
            await self._rebuild()
        if status == 409 and WEBHOOK in said.lower():
            await self._take_webhook_away()
        if isinstance(why, Flood):
            return why.seconds
        most = CONFLICT if status in STATES else LAST
        return min(most, FIRST * 2.0 ** min(self._failures - 1, 10))

    async def _rebuild(self) -> None:
        try:
            await self._telegram.renew(poll=True)
        except Exception:  # the next poll fails then, and this is tried again
            log.exception("the connections of the poll are not made anew")

    async def _take_webhook_away(self) -> None:
        """Telegram sends updates elsewhere, as it was once told; those not yet delivered are kept for us."""
        try:
            await self._telegram.delete_webhook()
            log.warning("a webhook stood in the way and was taken away")
        except Failure as why:
            log.error("a webhook stands in the way", said=why.said)


def _after(batch: Sequence[Any]) -> int:
    """The number to ask from next, 0 where no update of a batch has a number."""
    numbers = (update.get("update_id") for update in batch if isinstance(update, dict))
    sound = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and number >= 0]
    return max(sound, default=-1) + 1
