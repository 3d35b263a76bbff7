"""Records that belong to no space: credentials, sessions, sign-in links, people, their accounts, the list of spaces.

One key a record, so that a cluster can spread them. None of them grants anything: what a credential may do in a
space is its grant there, which every commit checks.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from redis.asyncio import Redis

from .accounts import SPACE, Accounts
from .exchange import exchange
from .keys import shared

SHARDS = 16
KNOWN_LIMIT = 20_000  # credentials remembered in one process

_Command = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose a credential is, and the space that it is bound to ('' when it may enter several). Never changes.

    `proof` is the SHA-256 of its secret, in hex.
    """

    kind: str
    id: str
    principal: str
    space: str
    proof: str = field(default="", repr=False)
    spaces: tuple[str, ...] | None = field(default=None, repr=False)  # those that were noted of them, where known


class Globals:
    """Typed access to the global records."""

    def __init__(self, writer: Redis, reader: Redis) -> None:
        self._write, self._read, self._reader = _one(writer), _one(reader), reader
        self._known: dict[tuple[str, str], Identity] = {}
        self.accounts = Accounts(self._write, self._read, self.clock)

    async def add_credential(self, who: Identity, *, life: int = 0) -> None:
        """Write whose a credential is; it opens nothing until its grant stands in a space. `life` in ms, 0 for ever."""
        key = shared(who.kind, who.id)
        await self._write("HSET", key, "principal", who.principal, "space", who.space, "proof", who.proof)
        if life:
            await self._write("PEXPIRE", key, life)

    async def identity(self, kind: str, id: str) -> Identity | None:
        """Whose a credential is. It grants nothing: that stands in each space.

        A key's is remembered, since it never changes; a session ends with its record, so that is looked at each time.
        """
        known = self._known.get((kind, id))
        if known is None:
            principal, space, proof = await self._read("HMGET", shared(kind, id), "principal", "space", "proof")
            if principal is None or proof is None:
                return None
            known = Identity(kind, id, principal.decode(), (space or b"").decode(), proof.decode())
            if kind == "session":
                return known
            if len(self._known) >= KNOWN_LIMIT:
                self._known.clear()
            self._known[kind, id] = known
        return known

    async def mark(self, kind: str, id: str, **fields: str | int) -> None:
        """Note something on a record: that it was revoked, the program's own name."""
        await self._write("HSET", shared(kind, id), *(x for pair in fields.items() for x in pair))

    async def marked(self, kind: str, id: str, *names: str) -> list[str]:
        """What `mark` noted last under these names, or ''."""
        return [(v or b"").decode() for v in await self._read("HMGET", shared(kind, id), *names)]

    async def join(self, person: str, space: str) -> None:
        """Note that a person was made a member of a space."""
        await self._write("HSET", shared("person", person), f"{SPACE}{space}", "1")

    async def joined(self, person: str) -> list[str]:
        """The spaces that `join` noted, never to be forgotten: whether they still are a member stands in the space."""
        fields = [f.decode() for f in await self._read("HKEYS", shared("person", person))]
        return sorted(f.removeprefix(SPACE) for f in fields if f.startswith(SPACE))

    async def add_session(self, person: str, session: str, *, life: int) -> None:
        """Note an open session of a person, for `life` ms; those that have ended since are forgotten."""
        key, now = shared("sessions", person), await self.clock()
        await self._write("ZADD", key, now + life, session)
        if over := await self._read("ZRANGE", key, "-inf", now, "BYSCORE"):
            await self._write("ZREM", key, *over)

    async def sessions(self, person: str) -> dict[str, int]:
        """The open sessions of a person, each with the ms that it has left."""
        now = await self.clock()
        found = await self._read("ZRANGE", shared("sessions", person), f"({now}", "+inf", "BYSCORE", "WITHSCORES")
        pairs = found if not found or isinstance(found[0], list) else zip(found[::2], found[1::2], strict=True)
        return {id.decode(): int(float(score)) - now for id, score in pairs}

    async def end_session(self, person: str, session: str) -> None:
        """Forget an open session."""
        await self._write("ZREM", shared("sessions", person), session)

    async def clock(self) -> int:
        """The store's own time in ms, which lives of shared records are counted in; no space's clock moves it."""
        seconds, micros = await self._read("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    async def put_link(self, token: str, content: dict[str, str], *, life: int) -> None:
        """Keep what a one-time link stands for, for `life` ms."""
        await self._write("SET", _link(token), json.dumps(content), "PX", life)

    async def peek_link(self, token: str) -> dict[str, str] | None:
        """What a link stands for, without using it up."""
        return _content(await self._read("GET", _link(token)))

    async def take_link(self, token: str) -> dict[str, str] | None:
        """Use a link up: of many at once, one gets its content."""
        return _content(await self._write("GETDEL", _link(token)))

    async def add_space(self, space: str) -> None:
        """Put a space on the list."""
        await self._write("SADD", shared("spaces", _shard(space)), space)

    async def spaces(self) -> list[str]:
        """Every space there is."""
        shards = await exchange(self._reader, [("SMEMBERS", shared("spaces", f"{n:x}")) for n in range(SHARDS)])
        return sorted(name.decode() for shard in shards for name in shard)


def _one(client: Redis) -> _Command:
    """A function that does one command and gives its reply as it came."""

    async def command(*words: str | int) -> Any:
        (reply,) = await exchange(client, [words])
        return reply

    return command


def _link(token: str) -> str:
    """The key of a link: whoever can list the keys of the store cannot sign in with one."""
    return shared("link", hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest())


def _shard(space: str) -> str:
    return f"{hashlib.sha256(space.encode()).digest()[0] % SHARDS:x}"


def _content(raw: bytes | None) -> dict[str, str] | None:
    return cast("dict[str, str]", json.loads(raw)) if raw else None
