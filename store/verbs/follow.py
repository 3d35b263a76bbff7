"""Waiting around a read row: read again at each commit of the space, and each second for what time brings."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..domain.moments import duration
from ..engine.store import Store
from .call import Result

Once = Callable[[Mapping[str, Any]], Awaitable[Result]]
WAIT_LIMIT = 50_000  # ms
WAIT_DEFAULT = 25  # seconds
RECHECK = 1.0  # seconds: a revoked key, a passed deadline


async def until_changed(store: Store, given: Mapping[str, Any], once: Once) -> Result:
    """Read until something changed or the wait is over. Refuses what the read refuses, also while it waits."""
    result = await once(given)
    wait = duration(given.get("wait", WAIT_DEFAULT), low=0, high=WAIT_LIMIT, name="wait") / 1000
    give_up = time.monotonic() + wait
    if not result.get("pending") or not wait:
        return result
    async with store.feed.listen(result["space"]) as bell:
        while result.get("pending"):
            ring = bell.next_ring()
            result = await once({**given, **({"since": result["cursor"]} if "cursor" in result else {})})
            left = give_up - time.monotonic()
            if left <= 0 or not result.get("pending"):
                break
            await rung(ring, min(left, RECHECK))
    return result


async def rung(ring: asyncio.Event, timeout: float) -> bool:
    """Whether the ring came in time (seconds)."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(ring.wait(), timeout)
        return True
    return False
