"""The bot's durable inbox: what Telegram sent, kept before Telegram is told so, until it was handled or buried."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis

from .exchange import exchange
from .keys import of_bot
from .lease import LeaseLost
from .script import Script, text_of

KEEP = text_of("keep")
MEMORY = 48 * 3_600_000  # ms that an update is known by its number; later the number may be another one's
BURIED = 1000  # dead letters that are kept, about
WHY_LENGTH = 500  # characters of why an update was buried
LONGEST = 1 << 20  # bytes of an update or of words: many times what Telegram sends at most
FIRST = "0-0"
PLACE = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")


class Kept(NamedTuple):
    """An update that waits: its place in the inbox, and its JSON as it was kept."""

    id: str
    raw: str


class Buried(NamedTuple):
    """An update that could not be handled, and why."""

    id: str
    raw: str
    why: str


class Updates:
    """The inbox of one bot. What `waiting` gives stays until `done` or `bury`, whatever happens to this process.

    `tail` is a client of `open_tail`, for waiting; `lease` the key of the poller's lease; `bot` the bot's number at
    Telegram, 0 where that is not known: another one's updates have the same numbers.
    """

    def __init__(
        self, client: Redis, tail: Redis | None = None, *, lease: str, script: str = KEEP, bot: int = 0
    ) -> None:  # fmt: skip
        self._client, self._tail, self._lease, self._bot = client, tail or client, lease, bot
        self._script = Script(script)

    def of(self, bot: int) -> "Updates":
        """The same, for the bot with this number."""
        return Updates(self._client, self._tail, lease=self._lease, script=self._script.text, bot=bot)

    async def keep(self, updates: Sequence[Mapping[str, Any]], *, epoch: int | None = None) -> int:
        """Keep those that are new, all of them or none; how many were new.

        `epoch` is that of the lease, None for who needs none (a webhook). LeaseLost: somebody else has taken it. What
        has no number is known by its content, so that a malformed update that comes again and again is kept once.
        """
        raws = [json.dumps(update, separators=(",", ":")) for update in updates]
        names = [f"{self._bot}:{_known_by(update, raw)}" for update, raw in zip(updates, raws, strict=True)]
        pairs = [x for pair in zip(names, raws, strict=True) for x in pair]
        keys = [self._lease, of_bot("seen"), of_bot("inbox")]
        new = int(await self._script(self._client, keys, ["" if epoch is None else epoch, MEMORY, *pairs]))
        if new < 0:
            raise LeaseLost("somebody else polls now")
        return new

    async def waiting(self, after: str = FIRST, *, count: int = 100, block: int = 0) -> list[Kept]:
        """Those that wait, oldest first, after one of them; from FIRST on after a restart.

        When there is none, wait for one for `block` ms (at most 3000).
        """
        waits = ("BLOCK", block) if block else ()
        asked = ("XREAD", "COUNT", count, *waits, "STREAMS", of_bot("inbox"), after)
        (got,) = await exchange(self._tail if block else self._client, [asked])
        return [Kept(id.decode(), _text(row, 1)) for rows in (got or {}).values() for id, row in rows]

    async def done(self, id: str, words: str = "") -> None:
        """It was handled: the API has decided, or refused. What is to be said because of it is kept until `said`."""
        keep = [("HSET", of_bot("words"), id, words)] if words else []
        await exchange(self._client, [*keep, ("XDEL", of_bot("inbox"), id)])

    async def left(self, id: str, words: str) -> None:
        """Of what was to be said because of this update, these are left."""
        await exchange(self._client, [("HSET", of_bot("words"), id, words)])

    async def said(self, id: str) -> None:
        """What was to be said because of this update was said, or is not to be said any more."""
        await exchange(self._client, [("HDEL", of_bot("words"), id)])

    async def unsaid(self) -> list[Kept]:
        """What was kept to be said, in the order of the updates that it answers."""
        (found,) = await exchange(self._client, [("HGETALL", of_bot("words"))])
        pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
        rows = [Kept(id.decode(errors="replace"), _text((words,), 0)) for id, words in pairs]
        return sorted((row for row in rows if PLACE.fullmatch(row.id)), key=lambda row: place(row.id))

    async def bury(self, kept: Kept, why: str) -> None:
        """Put it among the dead letters; `why` holds nothing of what it says."""
        grave = ("XADD", of_bot("dead"), "MAXLEN", "~", BURIED, "*", "u", kept.raw, "w", why[:WHY_LENGTH])
        await exchange(self._client, [grave, ("XDEL", of_bot("inbox"), kept.id)])

    async def buried(self, *, count: int = 20) -> list[Buried]:
        """The last dead letters, newest first."""
        (rows,) = await exchange(self._client, [("XREVRANGE", of_bot("dead"), "+", "-", "COUNT", count)])
        return [Buried(id.decode(), _text(row, 1), _text(row, 3)[:WHY_LENGTH]) for id, row in rows]

    async def backlog(self) -> int:
        """How many wait."""
        (length,) = await exchange(self._client, [("XLEN", of_bot("inbox"))])
        return int(length)


def _text(row: Sequence[bytes], at: int) -> str:
    """A text that was kept, '' for what is none: too long, or not there."""
    text = row[at] if row and at < len(row) else b""
    return text.decode(errors="replace") if len(text) <= LONGEST else ""


def place(id: str) -> tuple[int, int]:
    """Where an update of this id stands in the inbox, to be compared."""
    ms, _, number = id.partition("-")
    return int(ms), int(number)


def _known_by(update: Mapping[str, Any], raw: str) -> str:
    number = update.get("update_id") if isinstance(update, Mapping) else None
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    return "x" + hashlib.sha256(raw.encode()).hexdigest()
