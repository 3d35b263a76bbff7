"""The ledgers as the indexes read them: where one ends, its records by number, a bell for what comes."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import redis
from redis.asyncio import Redis

from ..ledger.chain import SEGMENT, segment
from ..recall.indexes import Ring, Tip
from .exchange import exchange
from .feed import Feed
from .keys import Keys
from .reads import Command, Seen


@dataclass(frozen=True, slots=True)
class TipRead:
    """Where the space's ledger ends, for a call."""

    def commands(self, keys: Keys) -> list[Command]:
        return [("HMGET", keys.head, "seq", "h")]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Tip, dict[str, Seen]]:
        seq, link = got[0]
        return Tip(int(seq or 0), (link or b"").decode()), {}


class Backlog:
    """The ledgers of one store, as read by lm-read."""

    unreachable: tuple[type[Exception], ...] = (redis.RedisError, OSError)

    def __init__(self, reader: Redis, feed: Feed) -> None:
        self._reader, self._feed = reader, feed

    async def tip(self, space: str) -> Tip:
        """Where the space's ledger ends."""
        keys, read = Keys(space), TipRead()
        return read.parse(keys, await exchange(self._reader, read.commands(keys)))[0]

    async def records(self, space: str, first: int, count: int) -> list[bytes]:
        """The records from a number on, fewer where the ledger ends or one is missing."""
        keys, last = Keys(space), first + count - 1
        commands = [
            ("HMGET", keys.segment(n), *range(max(first, n * SEGMENT + 1), min(last, (n + 1) * SEGMENT) + 1))
            for n in range(segment(first), segment(last) + 1)
        ]
        found = [raw for part in await exchange(self._reader, commands) for raw in part]
        return found[: found.index(None)] if None in found else found

    def listen(self, space: str) -> AbstractAsyncContextManager[Ring]:
        """A bell for the space's commits."""
        return self._feed.listen(space)
