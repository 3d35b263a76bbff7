"""The feed of a space: what was committed, in order, for readers that wait for it.

A process tails each followed space once, however many wait; the tail ends when the last of them leaves.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import redis
from redis.asyncio import Redis

from .client import Target, open_tail
from .commit import FEED_LENGTH
from .exchange import exchange
from .keys import Keys
from .reads import Command, Seen

BLOCK = 3000  # ms of one blocking read
PAUSE = 0.2  # seconds before a lost store is tried again
FIRST = "0-0"


class Event(NamedTuple):
    """One commit: its place in the feed, the documents that it wrote (`kind:id`), the ids of its entries.

    `places` are those whose Logs the entries stand in.
    """

    id: str
    refs: list[str]
    entries: list[str]
    places: list[str]


class Heard(NamedTuple):
    """Events, oldest first; whether some before them are gone from the feed; the id to go on from."""

    events: list[Event]
    gone: bool
    cursor: str


class Bell:
    """Rings when something that its holder waits for was committed.

    Take `next_ring` before reading what you wait for, so that none is missed. `over` once nobody is to wait any more.
    """

    def __init__(self) -> None:
        self.over = False
        self._ring = asyncio.Event()

    def next_ring(self) -> asyncio.Event:
        """Set at the next commit that matters."""
        if not self.over:
            self._ring = asyncio.Event()
        return self._ring

    def ring(self) -> None:
        """Wake who waits now."""
        self._ring.set()

    def end(self) -> None:
        """Wake who waits, for the last time."""
        self.over = True
        self._ring.set()


class _Tower:
    """The bells of one space, by the refs and places that they ring for; those in `every` ring for each commit."""

    def __init__(self) -> None:
        self.every: set[Bell] = set()
        self.named: dict[str, set[Bell]] = {}
        self._task: asyncio.Task[None] | None = None

    def hang(self, bell: Bell, names: Sequence[str]) -> None:
        for name in names:
            self.named.setdefault(name, set()).add(bell)
        if not names:
            self.every.add(bell)

    def take(self, bell: Bell, names: Sequence[str]) -> None:
        self.every.discard(bell)
        for name in names:
            self.named[name].discard(bell)
            if not self.named[name]:
                del self.named[name]

    @property
    def bells(self) -> set[Bell]:
        return self.every.union(*self.named.values())

    def ring(self, events: Sequence[Event]) -> None:
        """Ring for these commits."""
        names = {name for event in events for name in (*event.refs, *event.places)}
        for bell in self.every.union(*(self.named[name] for name in names & self.named.keys())):
            bell.ring()

    def ring_all(self) -> None:
        for bell in self.bells:
            bell.ring()

    def start(self, tail: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(tail)

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


@dataclass(frozen=True, slots=True)
class Since:
    """The first `limit` events after one; none and where the feed ends when `after` is ''."""

    after: str
    limit: int = 100

    def commands(self, keys: Keys) -> list[Command]:
        feed = keys.feed
        ends: list[Command] = [("XREVRANGE", feed, "+", "-", "COUNT", 1), ("XRANGE", feed, "-", "+", "COUNT", 1)]
        ends.append(("XLEN", feed))
        return [*ends, ("XRANGE", feed, f"({self.after}", "+", "COUNT", self.limit)] if self.after else ends

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Heard, dict[str, Seen]]:
        newest, oldest, length, *found = got
        last = newest[0][0].decode() if newest else FIRST
        if not self.after:
            return Heard([], False, last), {}
        events = [_event(id, dict(zip(fields[::2], fields[1::2], strict=True))) for id, fields in found[0]]
        gone = _order(self.after) > _order(last)  # of another feed than this: it was emptied or restored
        if self.after == FIRST:
            gone = length >= FEED_LENGTH  # before that, nothing is ever trimmed
        elif oldest:
            gone = gone or _order(oldest[0][0].decode()) > _order(self.after)
        return Heard(events, gone, events[-1].id if events else last if gone else self.after), {}


class Feed:
    """The feeds of one store, as read by lm-read."""

    def __init__(self, reader: Redis, target: Target) -> None:
        self._reader, self._target = reader, target
        self._towers: dict[str, _Tower] = {}
        self._over = False

    @contextlib.asynccontextmanager
    async def listen(self, space: str, names: Sequence[str] = ()) -> AsyncIterator[Bell]:
        """A bell of this space, for as long as the block lasts; for all commits, or those that touch one of `names`.

        A name is a ref (`kind:id`) or a place.
        """
        if space not in self._towers:
            after = await self._last(space)
            if space not in self._towers:  # nobody else began to listen meanwhile
                tower = self._towers[space] = _Tower()
                tower.start(self._tail(space, tower, after))
        tower, bell = self._towers[space], Bell()
        tower.hang(bell, names)
        if self._over:
            bell.end()
        try:
            yield bell
        finally:
            tower.take(bell, names)
            if not (tower.every or tower.named) and self._towers.get(space) is tower:
                del self._towers[space]
                await tower.stop()

    def waiting(self, space: str) -> int:
        """How many wait for news of a space now."""
        tower = self._towers.get(space)
        return len(tower.bells) if tower else 0

    def end(self) -> None:
        """Let nobody wait any more: who does gets what stands now. For a process that is about to end."""
        self._over = True
        for tower in self._towers.values():
            for bell in tower.bells:
                bell.end()

    async def since(self, space: str, after: str, *, limit: int = 100) -> Heard:
        """The events after one."""
        keys, read = Keys(space), Since(after, limit)
        return read.parse(keys, await exchange(self._reader, read.commands(keys)))[0]

    async def _last(self, space: str) -> str:
        """Where the feed ends now."""
        return (await self.since(space, "")).cursor

    async def _tail(self, space: str, tower: _Tower, after: str) -> None:
        async with open_tail(self._target, user="lm-read") as tail:
            while True:
                try:
                    got: Any = await tail.xread({Keys(space).feed: after}, block=BLOCK, count=1000)
                except (redis.ConnectionError, redis.TimeoutError, OSError):
                    tower.ring_all()  # those who wait find out for themselves how things stand
                    await asyncio.sleep(PAUSE)
                    continue
                for (rows,) in got.values():
                    after = rows[-1][0].decode()
                    tower.ring([_event(id, fields) for id, fields in rows])


def _order(id: str) -> tuple[int, int]:
    ms, _, n = id.partition("-")
    return int(ms), int(n)


def _event(id: bytes, fields: Mapping[bytes, bytes]) -> Event:
    refs, *places = fields[b"c"].decode().split("\n")
    return Event(id.decode(), [r for r in refs.split(" ") if r != "-"], fields[b"i"].decode().split(), places)
