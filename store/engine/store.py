"""The store that a process opens once and hands down: its clients, pipelined reads, commit, feed and indexes."""

import asyncio
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from ..recall.indexes import Indexes
from .backlog import Backlog
from .client import Target, open_client
from .commit import Committer
from .exchange import exchange
from .feed import Feed
from .globals import Globals
from .keys import Keys
from .promise import Promise, durability
from .reads import Command, Read, Seen

WRITER, READER = "lm-api", "lm-read"
SCHEDULER = "lm-scheduler"


class Store:
    """Two clients for two users: one that commits, and one that can only read. Close it when done.

    `index` is the folder of the derived indexes; without one they stand in a folder of their own, gone at the end.
    `user` is the one that commits.
    """

    def __init__(
        self, writer: Redis, reader: Redis, *, target: Target, index: Path | None = None, user: str = WRITER
    ) -> None:
        self.writer, self.reader, self.target, self.user = writer, reader, target, user
        self.commit = Committer(writer)
        self.shared = Globals(writer, reader)
        self.feed = Feed(reader, target)
        self.indexes = Indexes(Backlog(reader, self.feed), index)
        self.promise: Promise | None = None
        self._turns: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    async def fetch(
        self, keys: Keys, reads: Sequence[Read[Any]], *, first: Sequence[Command] = (), pure: bool
    ) -> tuple[list[Any], list[Any], list[dict[str, Seen]]]:
        """One round trip: replies to `first`, values of `reads`, and what each saw. Pure reads go as lm-read."""
        commands, counts = list(first), []
        for read in reads:
            spelled = read.commands(keys)
            counts.append(len(spelled))
            commands += spelled
        got = await exchange(self.reader if pure else self.writer, commands) if commands else []
        at = len(first)
        values: list[Any] = []
        seen: list[dict[str, Seen]] = []
        for read, n in zip(reads, counts, strict=True):
            value, saw = read.parse(keys, got[at : at + n])
            at += n
            values.append(value)
            seen.append(saw)
        return got[: len(first)], values, seen

    async def across(self, spaces: Sequence[str], *reads: Read[Any]) -> list[list[Any]]:
        """The values of `reads` in each of the spaces, as they stand now, in one round trip as lm-read."""
        commands: list[Command] = []
        at: list[tuple[Keys, Read[Any], int, int]] = []
        for keys in map(Keys, spaces):
            for read in reads:
                spelled = read.commands(keys)
                at.append((keys, read, len(commands), len(commands) + len(spelled)))
                commands += spelled
        got = await exchange(self.reader, commands) if commands else []
        values = [read.parse(keys, got[start:end])[0] for keys, read, start, end in at]
        return [values[n : n + len(reads)] for n in range(0, len(values), len(reads))]

    def turn(self, key: str) -> asyncio.Lock:
        """The lock of this process for those who lost a race over `key` and queue for it."""
        return self._turns.setdefault(key, asyncio.Lock())

    async def check(self) -> Promise:
        """Read the durability in force and keep it. Raises StoreProblem for a server that LogMem cannot stand on."""
        self.promise = await durability({READER: self.reader, self.user: self.writer})
        return self.promise

    async def close(self) -> None:
        """Close the indexes and both clients."""
        await self.indexes.close()
        await self.writer.aclose()
        await self.reader.aclose()


def open_store(target: Target, *, index: Path | None = None, user: str = WRITER) -> Store:
    """The store behind `target`; connects when first used. `index` and `user` as for `Store`."""
    writer, reader = open_client(target, user=user), open_client(target, user=READER)
    return Store(writer, reader, target=target, index=index, user=user)
