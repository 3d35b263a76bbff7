"""The copies of the cards that are in hand: read once, then changed here, and in the store by what is here.

Whoever works on a ref holds it; what is held is the truth, and the store follows it. From when a ref is read the store
takes no copies of an earlier term, and this term is told (LeaseLost) when a later one has begun. A copy that is found
`sending` when a ref is taken in hand was left so by a process that died: it may have arrived.

What was in hand last is remembered, since nobody else in this term changes it: it is not read again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import redis
import structlog

from store.domain.copy import Copy, step
from store.engine.copies import Copies
from store.engine.lease import LeaseLost

from .plan import Recipient
from .turns import Place

__all__ = ["NO_STORE", "REPLY", "STORE_ERRORS", "Held", "Shelf"]

NO_STORE = (redis.ConnectionError, redis.TimeoutError, OSError, TimeoutError)  # no matter of one key or one space
STORE_ERRORS = (redis.RedisError, OSError, TimeoutError)  # nothing that is said of a person or a card
REPLY = "reply"  # what a message means that is answered as its card is
KEPT = 1000  # refs that are remembered, of those that nobody holds
SOON = 0.5  # seconds after which a change is written that need not be at once
PAUSES = (0.1, 0.2, 0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8)  # seconds between tries to write what has happened already

Key = tuple[str, str]  # space and ref
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
    coming: dict[str, Place[Any, Any]] = field(default_factory=dict)  # where in their chats' lanes
    seen: int = 0  # when that view came (ms)
    noted: int = -1  # the time of the next look that was noted last, in ms
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
        self._held: dict[Key, Held] = {}
        self._kept: OrderedDict[Key, dict[str, Copy]] = OrderedDict()
        self._where: dict[str, Key] = {}  # by token: the ref of each copy that is held or remembered
        self._tasks: set[asyncio.Task[None]] = set()

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
        key = (space, ref)
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = Held(space, ref, self._copies.bot)
            if (copies := self._kept.pop(key, None)) is not None:
                held.copies, held._loaded = copies, True
        held._users += 1
        return held

    def let_go(self, held: Held) -> None:
        """The end of a `take`."""
        held._users -= 1
        key = (held.space, held.ref)
        if held._users or self._held.get(key) is not held:
            return
        del self._held[key]
        # What the store has not, or what may have been sent, is looked up there the next time.
        if held._loaded and not held._owed and all(copy.state != "sending" for copy in held.copies.values()):
            self._kept[key] = held.copies
            while len(self._kept) > KEPT:
                self._forget(self._kept.popitem(last=False)[1])
        else:
            self._forget(held.copies)

    def _forget(self, copies: Mapping[str, Copy]) -> None:
        for token in copies:
            self._where.pop(token, None)

    async def find(self, token: str) -> tuple[str, Copy] | None:
        """The space and the copy of a button, as it stands."""
        if key := self._where.get(token):
            copies = self._held[key].copies if key in self._held else self._kept[key]
            return key[0], copies[token]
        return await self._copies.by_token(token)

    async def mean(self, copy: Copy, message: int) -> None:
        """A reply to this message is one to the card of this copy. That it is not noted costs a hint, and no more."""
        with suppress(*STORE_ERRORS):
            await self._copies.prompt(copy.chat, message, {"kind": REPLY, "token": copy.token})

    async def holder(self, copy: Copy, message: int) -> str:
        """The token of the copy that a message of this copy's chat is known to be, '' for none."""
        return await self._copies.holder(copy, message)

    async def put(self, held: Held, *copies: Copy) -> None:
        """Change copies. What has happened is written however long the store is away, within bounds.

        After that it is owed: whoever holds the ref goes on with it, and the next change takes it along. LeaseLost.
        """
        self._change(held, copies)
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

    def put_soon(self, held: Held, copy: Copy) -> None:
        """Change a copy, which is written along with the next change of its ref, or soon. Nothing may hang on it."""
        self._change(held, [copy])
        self.take(held.space, held.ref)
        task = asyncio.get_running_loop().create_task(self._put_owed(held))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Leave everything as it is."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _change(self, held: Held, copies: Iterable[Copy]) -> None:
        for copy in copies:
            held.copies[copy.token] = copy
            held._owed.add(copy.token)
            self._where[copy.token] = (held.space, held.ref)

    async def _put_owed(self, held: Held) -> None:
        try:
            await asyncio.sleep(SOON)
            if held._owed:
                await self.put(held)
        except (LeaseLost, *STORE_ERRORS) as why:
            log.warning("a copy is not written", ref=held.ref, why=type(why).__name__)
        finally:
            self.let_go(held)

    async def _load(self, held: Held) -> None:
        found = await self._copies.taken(held.space, held.ref)
        found = [copy for copy in found if not (copy.bot and held.bot and copy.bot != held.bot)]
        held.copies = {copy.token: copy for copy in found}
        held._loaded = True
        self._where |= dict.fromkeys(held.copies, (held.space, held.ref))
        left = [step(copy, "crashed") for copy in found if copy.state == "sending"]
        if left:
            await self.put(held, *left)
