"""Telegram accounts of people, and how one becomes theirs: codes, claims, and how often an account guessed wrong.

Records that belong to no space, as in globals.py. The bot can reach none of them. An account is somebody's while its
record names them and theirs names it: so each change of that is one write, and is whole or not there.

What is to be done because of it in several spaces is noted here too (chores), until each of them has done it.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from ..domain.moments import SECOND
from ..domain.pairing import CLAIM_LIFE, LIFE, LOCK, TRIES, Claim, claim_id, plain
from .keys import shared
from .script import text_of

_Command = Callable[..., Awaitable[Any]]
_CLAIM = TypeAdapter(Claim)
_OWN, _REACH = text_of("own"), text_of("reach")
KEPT = LIFE["command"] + CLAIM_LIFE  # ms that a claim's record stays: longer than any code, which it has used up
PAIRING = 10 * SECOND  # in which both records of a pairing are written
SPACE = "space:"  # before the names of fields of a person's record
CHORES = shared("chores", "spaces")


class Account(NamedTuple):
    """A Telegram account: its number, what it calls itself, whose it is, and whether no message reaches it."""

    number: int
    name: str
    username: str
    person: str
    lost: bool = False


class Accounts:
    """Typed access to them; `clock` gives the store's own time in ms."""

    def __init__(self, write: _Command, read: _Command, clock: Callable[[], Awaitable[int]]) -> None:
        self._write, self._read, self._clock = write, read, clock

    async def person(self, number: int | str) -> str:
        """Whose an account is, '' for nobody's. Asked each time: it may be another's tomorrow."""
        return (await self.owner(number))[0]

    async def owner(self, number: int | str) -> tuple[str, tuple[str, ...]]:
        """Whose an account is, '' for nobody's, and the spaces that were noted of them."""
        who = await self._named(number)
        found = await self._read("HGETALL", shared("person", _bare(who))) if who else {}
        record = found if isinstance(found, dict) else dict(zip(found[::2], found[1::2], strict=True))
        if record.get(b"telegram", b"").decode() != str(number):
            return "", ()
        return who, tuple(sorted(f.decode()[len(SPACE) :] for f in record if f.startswith(SPACE.encode())))

    async def of(self, person: str) -> Account | None:
        """The account of `human:<id>`."""
        number = await self._number(person)
        if not number:
            return None
        names = ("principal", "name", "username", "lost", "heard")
        found = await self._read("HMGET", shared("telegram", number), *names)
        principal, name, username, *times = ((value or b"").decode() for value in found)
        return Account(int(number), name, username, principal, _is_lost(*times)) if principal == person else None

    async def pair(self, account: Account) -> bool:
        """Make it its person's; one that they had before is nobody's then. False: it is another person's."""
        who, number, now = account.person, str(account.number), await self._clock()
        fields = (
            "principal", who, "name", account.name, "username", account.username, "since", now, "heard", now
        )  # fmt: skip
        if await self._own(number, who, await self._left(number, now), *fields) != who:
            return False
        had = await self._number(who)
        await self._write("HSET", shared("person", _bare(who)), "telegram", number)
        if had not in ("", number):
            await self._own(had, who, "")
        return await self._named(number) == who  # else it took us so long that it was thought to be left

    async def _left(self, number: str, now: int) -> str:
        """Whom the record of an account names although they never came to name it; not who may be about to."""
        found = await self._read("HMGET", shared("telegram", number), "principal", "since")
        named, since = ((value or b"").decode() for value in found)
        about_to = now < int(since or 0) + PAIRING
        return named if named and not about_to and await self._number(named) != number else ""

    async def unpair(self, person: str) -> None:
        """Make the account of `human:<id>` nobody's."""
        had = await self._number(person)
        if had:
            await self._write("HSET", shared("person", _bare(person)), "telegram", "")
            await self._own(had, person, "")

    async def _named(self, number: int | str) -> str:
        """Whom the record of an account names."""
        (found,) = await self._read("HMGET", shared("telegram", str(number)), "principal")
        return (found or b"").decode()

    async def _number(self, person: str) -> str:
        """The account that the record of a person names."""
        (found,) = await self._read("HMGET", shared("person", _bare(person)), "telegram")
        return (found or b"").decode()

    async def _own(self, number: str, *argv: str | int) -> str:
        """own.lua as a function."""
        is_: bytes = await self._write("EVAL", _OWN, 1, shared("telegram", number), *argv)
        return is_.decode()

    async def lost(self, number: int) -> bool:
        """Whether an account is out of reach, as far as is known."""
        found = await self._read("HMGET", shared("telegram", str(number)), "lost", "heard")
        return _is_lost(*((value or b"").decode() for value in found))

    async def mark_lost(self, number: int, *, age: int = 0) -> None:
        """Note that a message did not reach an account, `age` ms ago."""
        await self._write("EVAL", _REACH, 1, shared("telegram", str(number)), "lost", max(0, age))

    async def mark_heard(self, number: int, *, age: int = 0) -> None:
        """Note that an account was heard, or a message reached it, `age` ms ago."""
        await self._write("EVAL", _REACH, 1, shared("telegram", str(number)), "heard", max(0, age))

    async def put_code(self, code: str, content: Mapping[str, str], *, life: int) -> None:
        """Keep what a code stands for, for `life` ms; it is the latest of its person's from its `source`."""
        await self._write("SET", _code(code), json.dumps(dict(content)), "PX", life)
        own = shared("person", _bare(content["person"]))
        await self._write("HSET", own, f"code:{content['source']}", claim_id(code))

    async def latest(self, person: str, source: str) -> str:
        """The id of the claim that a person's latest code from there makes, or ''."""
        (found,) = await self._read("HMGET", shared("person", _bare(person)), f"code:{source}")
        return (found or b"").decode()

    async def peek_code(self, code: str) -> dict[str, str] | None:
        """What a code stands for, without using it up."""
        return _content(await self._read("GET", _code(code)))

    async def drop_code(self, code: str) -> None:
        """Forget a code that was used."""
        await self._write("DEL", _code(code))

    async def tried(self, number: int, update: int) -> int:
        """Count a try of an account's, before it is known whether it is right; the how many-th it is.

        An update counts once, however often it is handed over.
        """
        key, own = shared("tries", str(number)), shared("tried", f"{number}:{update}")
        if known := await self._read("GET", own):
            return int(known)
        count = int(await self._write("INCR", key))
        await self._write("PEXPIRE", key, LOCK, "NX")  # also where whoever began to count was stopped before this
        if count <= TRIES:
            await self._write("SET", own, count, "PX", LOCK)
        return count

    async def forgive(self, number: int) -> None:
        """Forget the tries of an account."""
        await self._write("DEL", shared("tries", str(number)))

    async def begin_claim(self, claim: Claim) -> bool:
        """Use a code up by keeping the one claim that is made by it: of many at once, one is kept."""
        return bool(await self._write("SET", shared("claim", claim.id), _line(claim), "NX", "PX", KEPT))

    async def word(self, claim: str, yes: bool) -> bool:
        """What was said of a claim, which is this if nothing was said before: of several words the first one counts."""
        said = "yes" if yes else "no"
        first = await self._write("SET", shared("word", claim), said, "NX", "PX", KEPT, "GET")
        return (first or said.encode()) == b"yes"

    async def put_claim(self, claim: Claim) -> None:
        """Keep how a claim stands."""
        await self._write("SET", shared("claim", claim.id), _line(claim), "PX", KEPT)

    async def list_claim(self, claim: Claim, *lists: str) -> None:
        """Note a claim where it is looked for."""
        now = await self._clock()
        for name in lists:
            key = shared("claims", name)
            await self._write("ZADD", key, claim.expires, claim.id)
            await self._write("PEXPIRE", key, 2 * CLAIM_LIFE)
            if over := await self._read("ZRANGE", key, "-inf", now, "BYSCORE"):
                await self._write("ZREM", key, *over)

    async def claim(self, id: str) -> Claim | None:
        """A claim, however it stands, also one that nobody has confirmed in time."""
        found = await self._read("GET", shared("claim", id))
        return _CLAIM.validate_json(found) if found else None

    async def claims(self, *lists: str) -> list[Claim]:
        """The claims on these lists that wait to be confirmed, each once, the latest last."""
        now, ids = await self._clock(), dict[str, None]()
        for name in lists:
            found = await self._read("ZRANGE", shared("claims", name), f"({now}", "+inf", "BYSCORE")
            ids |= dict.fromkeys(id.decode() for id in found)
        claims = [await self.claim(id) for id in ids]
        waiting = [claim for claim in claims if claim and claim.state == "waiting"]
        return sorted(waiting, key=lambda claim: (claim.expires, claim.id))

    async def note_chores(self, *lines: str, wait: int) -> None:
        """Note what is to be done; who looks for chores finds it in `wait` ms."""
        if lines:
            at = await self._clock() + wait
            await self._write("ZADD", CHORES, *(part for line in lines for part in (at, line)))

    async def chores(self, count: int) -> list[str]:
        """What was to be done and is not known to be done, the oldest first."""
        found = await self._read("ZRANGE", CHORES, "-inf", await self._clock(), "BYSCORE", "LIMIT", 0, count)
        return [line.decode() for line in found]

    async def end_chores(self, *lines: str) -> None:
        """These are done."""
        if lines:
            await self._write("ZREM", CHORES, *lines)


def _line(claim: Claim) -> str:
    return json.dumps(asdict(claim))


def _is_lost(lost: str, heard: str) -> bool:
    """By the times of what was known last: that a message did not arrive, that somebody is there."""
    return int(lost or 0) >= max(1, int(heard or 0))


def _bare(person: str) -> str:
    return person.partition(":")[2]


def _code(code: str) -> str:
    """The key of a code: whoever can list the keys of the store cannot pair with one."""
    return shared("pair", hashlib.sha256(plain(code).encode(errors="surrogatepass")).hexdigest())


def _content(raw: bytes | None) -> dict[str, str] | None:
    content: dict[str, str] | None = json.loads(raw) if raw else None
    return content
