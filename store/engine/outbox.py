"""What the bot has to look at: refs (`kind:id`) whose cards may no longer show what stands.

A commit marks the refs that it changes, and rings. The bot takes marked refs, brings their cards to what stands now,
and removes the mark, unless the ref was marked again meanwhile. A mark is the time by the clock of whoever marked, in
microseconds; it is compared for being the same and for nothing else, since clocks differ. One who was asleep removes no
later mark, for it has another number, and changes nothing once a later term of the bot has written in that space. A
ring can be lost; `spaces` and `dirty` find what it would have told.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import NamedTuple

import redis
from redis.asyncio import Redis

from .exchange import exchange
from .keys import Keys, of_bot
from .lease import LeaseLost
from .reads import Command
from .script import Script, text_of

SETTLED = text_of("settled")
BELL = "lm:tg:bell"  # channel; what is said on it is the name of a space
PAUSE = 0.2  # seconds before a lost store is tried again
LISTEN = 3.0  # seconds of one wait for a ring
EVERYWHERE = ""  # rung when rings may have been missed


class Dirty(NamedTuple):
    """A ref to look at, and the mark to hand to `settled`: when it was marked, in microseconds."""

    ref: str
    mark: int


def mark() -> int:
    """A new mark: the time in microseconds, so that what was marked first comes first, as far as clocks agree."""
    return time.time_ns() // 1000


def ring(space: str) -> Command:
    """The command that tells who listens that a space has something."""
    return ("PUBLISH", BELL, space)


class Outbox:
    """The marks of all spaces. `tail` is a client of `open_tail`, for listening.

    `epoch` is that of the term in which it is used, 0 outside of any. LeaseLost: a later one has written there.
    """

    def __init__(self, client: Redis, tail: Redis | None = None, *, script: str = SETTLED, epoch: int = 0) -> None:
        self._client, self._tail, self._epoch = client, tail or client, epoch
        self._script = Script(script)

    def under(self, epoch: int) -> "Outbox":
        """The same, for a term of the bot."""
        return Outbox(self._client, self._tail, script=self._script.text, epoch=epoch)

    async def dirty(self, space: str, *, count: int = 100) -> list[Dirty]:
        """The refs that were marked first, with their marks."""
        (found,) = await exchange(self._client, [("ZRANGE", Keys(space).outbox, 0, count - 1, "WITHSCORES")])
        return [Dirty(ref.decode(), int(score)) for ref, score in found]

    async def settled(self, space: str, ref: str, mark: int = 0, *, again: int = 0) -> bool:
        """The cards of a ref show what stood after this mark was read. False: it was marked again since.

        In the same step, when to look at it `again` is noted (ms at the latest; 0: no copy of it can change any more).
        A `mark` of 0 is none.
        """
        keys = Keys(space)
        found = await self._script(
            self._client, [keys.term, keys.open_cards, keys.outbox], [self._epoch or "", ref, again, mark]
        )
        if found < 0:
            raise LeaseLost(f"a later term of the bot works in {space}")
        return bool(found)

    async def mark(self, space: str, *refs: str) -> None:
        """Have these refs looked at, and ring."""
        if refs:
            await exchange(self._client, [("ZADD", Keys(space).outbox, mark(), ref) for ref in refs] + [ring(space)])

    async def due(self, space: str, now: int, *, count: int = 100) -> list[str]:
        """Open refs whose time has come, earliest first; they stay so until they are settled."""
        asked = ("ZRANGE", Keys(space).open_cards, "-inf", now, "BYSCORE", "LIMIT", 0, count)
        (found,) = await exchange(self._client, [asked])
        return [ref.decode() for ref in found]

    async def opened(self, space: str) -> dict[str, int]:
        """Every open ref, with the time (ms) at which it is to be looked at again."""
        (found,) = await exchange(self._client, [("ZRANGE", Keys(space).open_cards, 0, -1, "WITHSCORES")])
        return {ref.decode(): int(score) for ref, score in found}

    async def add_space(self, *spaces: str) -> None:
        """Look into these spaces from now on."""
        if spaces:
            await exchange(self._client, [("SADD", of_bot("spaces"), *spaces)])

    async def spaces(self) -> list[str]:
        """The spaces to look into."""
        (found,) = await exchange(self._client, [("SMEMBERS", of_bot("spaces"))])
        return sorted(name.decode() for name in found)

    async def bell(self) -> AsyncGenerator[str, None]:
        """The space of each ring, or EVERYWHERE once it listens (again), since rings may have been missed before."""
        while True:
            try:
                async with self._tail.pubsub() as heard:
                    await heard.subscribe(BELL)
                    while True:
                        said = await heard.get_message(timeout=LISTEN)
                        if said and said["type"] == "subscribe":
                            yield EVERYWHERE
                        elif said and said["type"] == "message":
                            yield said["data"].decode(errors="replace")
            except (redis.ConnectionError, redis.TimeoutError, OSError):
                await asyncio.sleep(PAUSE)
