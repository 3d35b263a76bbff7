"""The feed of a space: what was committed, in order, for readers that wait for it.

A process tails each followed space once, however many wait; the tail ends when the last of them leaves.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any, NamedTuple

import redis
from redis.asyncio import Redis

from .client import Target, open_tail
from .keys import Keys

BLOCK = 3000  # ms of one blocking read
PAUSE = 0.2  # seconds before a lost store is tried again
FIRST = "0-0"


class Event(NamedTuple):
    """One commit: its place in the feed, the documents that it wrote (`kind:id`), the ids of its entries."""

    id: str
    refs: list[str]
    entries: list[str]


class Bell:
    """Rings at each commit of a space. Take `next_ring` before reading what you wait for, so that none is missed."""

    def __init__(self) -> None:
        self.listeners = 0
        self._ring = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def next_ring(self) -> asyncio.Event:
        """Set at the next commit."""
        return self._ring

    def ring(self) -> None:
        """Wake all who wait now."""
        self._ring.set()
        self._ring = asyncio.Event()

    def start(self, tail: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(tail)

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


class Feed:
    """The feeds of one store, as read by lm-read."""

    def __init__(self, reader: Redis, target: Target) -> None:
        self._reader, self._target = reader, target
        self._bells: dict[str, Bell] = {}

    @contextlib.asynccontextmanager
    async def listen(self, space: str) -> AsyncIterator[Bell]:
        """A bell of this space, for as long as the block lasts."""
        if space not in self._bells:
            after = await self.last(space)
            if space not in self._bells:  # nobody else began to listen meanwhile
                bell = self._bells[space] = Bell()
                bell.start(self._tail(space, bell, after))
        bell = self._bells[space]
        bell.listeners += 1
        try:
            yield bell
        finally:
            bell.listeners -= 1
            if not bell.listeners and self._bells.get(space) is bell:
                del self._bells[space]
                await bell.stop()

    async def last(self, space: str) -> str:
        """Where the feed ends now."""
        found: Any = await self._reader.xrevrange(Keys(space).feed, count=1)
        return found[0][0].decode() if found else FIRST

    async def since(self, space: str, after: str, *, limit: int = 100) -> tuple[list[Event], bool]:
        """The events after one, oldest first, and whether some before them are gone from the feed."""
        key = Keys(space).feed
        pipe = self._reader.pipeline(transaction=False)
        pipe.xrange(key, min=f"({after}", count=limit)
        pipe.xrange(key, count=1)
        got, oldest = await pipe.execute()
        gone = after != FIRST and bool(oldest) and _order(oldest[0][0].decode()) > _order(after)
        return [_event(id, fields) for id, fields in got], gone

    async def _tail(self, space: str, bell: Bell, after: str) -> None:
        async with open_tail(self._target, user="lm-read") as tail:
            while True:
                try:
                    got: Any = await tail.xread({Keys(space).feed: after}, block=BLOCK, count=1000)
                except (redis.ConnectionError, redis.TimeoutError, OSError):
                    bell.ring()  # those who wait find out for themselves how things stand
                    await asyncio.sleep(PAUSE)
                    continue
                for (rows,) in got.values():
                    after = rows[-1][0].decode()
                    bell.ring()


def _order(id: str) -> tuple[int, int]:
    ms, _, n = id.partition("-")
    return int(ms), int(n)


def _event(id: bytes, fields: dict[bytes, bytes]) -> Event:
    refs = [r for r in fields[b"c"].decode().split(" ") if r != "-"]
    return Event(id.decode(), refs, fields[b"i"].decode().split())
