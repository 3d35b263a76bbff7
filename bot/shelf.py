"""The copies of the cards that are in hand: read once, then changed here, and in the store by what is here.

Whoever works on a ref holds it; what is held is the truth, and the store follows it. From when a ref is read the store
takes no copies of an earlier term, and this term is told (LeaseLost) when a later one has begun. A copy that is found
`sending` when a ref is taken in hand was left so by a process that died: it may have arrived.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import redis
import structlog

from store.domain.copy import Copy, step
from store.engine.copies import Copies

from .plan import Recipient

__all__ = ["NO_STORE", "STORE_ERRORS", "Held", "Shelf"]

NO_STORE = (redis.ConnectionError, redis.TimeoutError, OSError, TimeoutError)  # no matter of one key or one space
STORE_ERRORS = (redis.RedisError, OSError, TimeoutError)  # nothing that is said of a person or a card
PAUSES = (0.1, 0.2, 0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8)  # seconds between tries to write what has happened already

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Held:
    """A ref in hand: its copies by token, how its card was to look last, and who still has something coming.

    The copies are those of this `bot`: what another one has sent is in a chat that we cannot reach.
    """

    space: str
    ref: str
    bot: int = 0
    copies: dict[str, Copy] = field(default_factory=dict)
    view: Mapping[str, Any] | None = None
    to: dict[str, Recipient] = field(default_factory=dict)
    coming: set[str] = field(default_factory=set)
    later: dict[str, int] = field(default_factory=dict)  # when to look again because of somebody's copy
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _loaded: bool = False
    _owed: set[str] = field(default_factory=set)  # tokens of copies that the store has not as they are here
    _users: int = 0
    _speaking: dict[str, asyncio.Lock] = field(default_factory=dict)

    def of(self, who: str) -> list[Copy]:
        """The copies of one recipient, oldest first."""
        return [copy for copy in self.copies.values() if copy.to == who]

    def speaking(self, token: str) -> asyncio.Lock:
        """The lock for one message, so that of two edits the later one is the last."""
        return self._speaking.setdefault(token, asyncio.Lock())


class Shelf:
    """The refs in hand of one process, in one term."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._held: dict[tuple[str, str], Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    @asynccontextmanager
    async def hold(self, space: str, ref: str) -> AsyncIterator[Held]:
        """The ref in hand, read from the store unless somebody holds it already."""
        held = self.take(space, ref)
        try:
            async with held._loading:
                if not held._loaded:
                    await self._load(held)
            yield held
        finally:
            self.let_go(held)

    def take(self, space: str, ref: str) -> Held:
        """Hold it until `let_go`."""
        held = self._held.setdefault((space, ref), Held(space, ref, self._copies.bot))
        held._users += 1
        return held

    def let_go(self, held: Held) -> None:
        """The end of a `take`."""
        held._users -= 1
        if not held._users and self._held.get((held.space, held.ref)) is held:
            del self._held[held.space, held.ref]

    async def find(self, token: str) -> tuple[str, Copy] | None:
        """The space and the copy of a button, as it stands in the store."""
        return await self._copies.by_token(token)

    async def put(self, held: Held, *copies: Copy) -> None:
        """Change copies. What has happened is written however long the store is away, within bounds.

        After that it is owed: whoever holds the ref goes on with it, and the next change takes it along. LeaseLost.
        """
        for copy in copies:
            held.copies[copy.token] = copy
            held._owed.add(copy.token)
        for pause in (*PAUSES, None):
            try:
                async with held._writing:
                    # What stands by now: a later change must not be undone by one that waited for the store.
                    owed = [held.copies[token] for token in sorted(held._owed)]
                    await self._copies.put(held.space, *owed)
                    held._owed -= {copy.token for copy in owed if held.copies[copy.token] is copy}
                return
            except STORE_ERRORS as why:
                if pause is None:
                    raise
                log.warning("a copy is not written yet", ref=held.ref, why=type(why).__name__)
            await asyncio.sleep(pause)

    async def _load(self, held: Held) -> None:
        found = await self._copies.taken(held.space, held.ref)
        found = [copy for copy in found if not (copy.bot and held.bot and copy.bot != held.bot)]
        held.copies = {copy.token: copy for copy in found}
        held._loaded = True
        left = [step(copy, "crashed") for copy in found if copy.state == "sending"]
        if left:
            await self.put(held, *left)
