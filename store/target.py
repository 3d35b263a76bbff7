"""The store that the settings name: an embedded engine or a server elsewhere, opened and found fit."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import redis

from .engine.client import StoreProblem, Target
from .engine.store import WRITER, Store, open_store
from .engine.tenancy import tenancy
from .settings import Settings

__all__ = ["StoreProblem", "opened", "reached"]

PATIENCE = 15.0  # seconds for a store elsewhere that starts, loads or cannot be reached yet
PAUSE = 0.1  # seconds between two tries


@contextmanager
def reached(settings: Settings, *, keep: bool = False) -> Iterator[Target]:
    """The target in force. An embedded engine is started if need be; `keep` as for `tenancy`.

    Blocks: call it before the event loop. StoreProblem: with what to do.
    """
    if settings.redis_uri:
        yield Target.parse(settings.redis_uri.get_secret_value(), secrets=settings.redis_secrets)
        return
    with tenancy(settings.home, fsync=settings.fsync, keep=keep) as server:
        yield Target.embedded(server)


@asynccontextmanager
async def opened(
    target: Target, *, patience: float = PATIENCE, index: Path | None = None, user: str = WRITER
) -> AsyncIterator[Store]:
    """An open store, its promise read (`store.promise`); closed at the end. `index` and `user` as for `Store`.

    StoreProblem: it does not answer within `patience` seconds, lets us not in, or is not fit to stand on.
    """
    store = open_store(target, index=index, user=user)
    try:
        await _fit(store, time.monotonic() + patience)
        yield store
    finally:
        await store.close()


async def _fit(store: Store, deadline: float) -> None:
    while True:
        try:
            await store.check()
            return
        except redis.ResponseError as why:
            raise StoreProblem(
                f"The store does not let LogMem in: {_said(why)}. Check LOGMEM_REDIS_URI and its users."
            ) from why
        except (redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError, OSError) as why:
            if time.monotonic() > deadline:
                text = f"The store does not answer: {_said(why)}. Start it, or check LOGMEM_REDIS_URI."
                raise StoreProblem(text) from why
        await asyncio.sleep(PAUSE)


def _said(why: Exception) -> str:
    """What the library says, to go on from."""
    return str(why).rstrip(". ")
