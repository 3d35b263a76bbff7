"""A checker that knows three ways in which a call can end: ok, failed, unknown."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field

from store.domain.entry import Logged
from store.domain.errors import Refused
from tests.world import Result

from .api import Lost

UNKNOWN = {"unconfirmed"}
FAILED = {"store_unavailable", "store_full", "store_read_only", "busy"}

Mark = tuple[str, str]  # kind of the entry that a call writes, and its summary or trail


@dataclass
class Book:
    """What callers were told of each call, by the entry that it was to write."""

    ok: dict[Mark, Result] = field(default_factory=dict)
    failed: set[Mark] = field(default_factory=set)
    unknown: set[Mark] = field(default_factory=set)
    closed: bool = False
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def enter(self, mark: Mark, call: Awaitable[Result]) -> Result | None:
        """Do a call and note how it ended; its result if it was ok. Any other refusal is a fault."""
        try:
            result = await call
        except Lost:
            self.unknown.add(mark)
        except Refused as no:
            if no.code not in UNKNOWN | FAILED:
                raise
            (self.unknown if no.code in UNKNOWN else self.failed).add(mark)
        else:
            self.ok[mark] = result
            async with self._more:
                self._more.notify_all()
            return result
        return None

    async def acknowledged(self, count: int) -> None:
        """Wait until that many more calls were acknowledged."""
        wanted = len(self.ok) + count
        async with self._more:
            await self._more.wait_for(lambda: len(self.ok) >= wanted)

    def check(self, lines: list[Logged]) -> None:
        """Nothing acknowledged is missing or doubled; what failed is not there, what is unknown at most once."""
        stands = Counter(mark for line in lines for mark in marks(line))
        assert {mark: stands[mark] for mark in self.ok if stands[mark] != 1} == {}
        assert {mark: stands[mark] for mark in self.failed if stands[mark]} == {}
        assert {mark: stands[mark] for mark in self.unknown if stands[mark] > 1} == {}


def marks(line: Logged) -> list[Mark]:
    """What an entry may stand for in the book."""
    if line.entry is None:
        return []
    return [(line.entry.kind, text) for text in {line.entry.summary, line.entry.trail} if text]


def plain(result: Result) -> Result:
    """A result without the mark of a replay."""
    return {name: value for name, value in result.items() if name != "replayed"}
