"""C-53: what only reads writes nothing, whoever asks, whatever is there to be seen, and however it ends."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
import redis

from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.store import Store
from store.verbs.catalog import ROWS
from tests.world import World

MINUTE = 60_000
READERS = [verb for verb, row in ROWS.items() if row.effect == "read"]


@dataclass
class Seen:
    """A space in which there is something of each kind to be seen, some of it overdue."""

    world: World
    names: dict[str, str]


@pytest.fixture
async def seen(world: World) -> Seen:
    """Asks in several states, items, a note for anyone, a shift; and time has passed over some of them."""
    done = world.do
    await done("agent:grok", "start")
    await done("agent:grok", "status", doing="Building", blocked="no key")
    ask, old, approved = [
        await done("agent:grok", "ask", where="job:x", summary=text, expires_in=wait)
        for text, wait in (("May I?", "1h"), ("Too late?", "5m"), ("Approved?", "1h"))
    ]
    await done("human:ana", "decide", trail=approved["trail"], digest=approved["digest"], verdict="approve")
    await done("human:ana", "ask_back", trail=ask["trail"], text="Why?")
    item = await done("agent:codex", "handoff", to="agent:grok", summary="Go on", where="job:x")
    dead = await done("agent:codex", "handoff", to="agent:grok", summary="Be quick", deadline="5m")
    mail = await done("agent:codex", "handoff", to="anyone", text="Hello", label="hi")
    note = await done("agent:codex", "note", where="job:x", kind="memo", summary="so far")
    huddle = await done("agent:codex", "huddle", where="job:x", question="Which?", seats=["grok", "ana"], deadline="1h")
    (seat, *_) = huddle["seats"]
    fact = await done("agent:grok", "note", where="job:x", kind="fact", summary="So it is", review_by="1d")
    newer = await done("agent:grok", "note", where="job:x", kind="fact", summary="So", supersedes=fact["fact"])
    await world.pass_time(30 * MINUTE)
    names = {
        "ask": ask["trail"],
        "old": old["trail"],
        "approved": approved["trail"],
        "item": item["item"],
        "dead": dead["item"],
        "mail": mail["note"],
        "entry": note["entry"]["id"],
        "huddle": huddle["huddle"],
        "seat": seat["item"],
        "fact": fact["fact"],
        "newer": newer["fact"],
        "said": fact["entry"]["id"],
        "key": world.tokens["agent:grok"].split("_")[1],
    }
    return Seen(world, names)


Args = Mapping[str, Any]
LOOKED_AT = (
    *("ask", "old", "approved", "item", "dead", "mail", "entry"),
    *("huddle", "seat", "fact", "newer", "said"),
)
PLACES = ("job:x", "agent:grok", "human:ana", "job:none", "agent:none", "ask_none", "1-1", "no such thing")

# What each row that reads is asked; a value `<name>` is an id of the space that is seen.
ASKED: dict[str, list[Args]] = {
    "brief": [{}, {"agent": "codex"}, {"since": "1h"}, {"budget": 100}, {"agent": "none"}, {"budget": -1}],
    "view": [{"what": what} for what in (*(f"<{name}>" for name in LOOKED_AT), *PLACES)],
    "follow": [
        *({"what": f"<{name}>", "wait": 0} for name in LOOKED_AT),
        {"what": "<ask>", "wait": 1},
        {"what": "job:x", "wait": 1},
        {"what": "job:x", "since": "1-1", "wait": 0},
    ],
    "feed": [
        {},
        {"where": "job:x", "kinds": ["memo"], "by": "codex", "since": "1h", "limit": 1},
        {"where": "<ask>", "cursor": "1.1"},
        {"where": "job:none"},
        {"cursor": "x"},
    ],
    "recall": [
        {"query": "so far"},
        {"query": "<entry>", "where": "job:x", "kinds": "memo"},
        {"query": "nothing like it", "kinds": ["fact"]},
        {"query": "x", "where": "job:none"},
        {"query": "?!"},
    ],
    "open": [{}, {"agent": "codex"}, {"plan": "q3"}, {"agent": "none"}],
    "jobs": [{}, {"stage": "unopened"}, {"plan": "q3"}, {"stage": "x"}, {"cursor": "x"}],
    "connection": [{}],
    "sync": [{}, {"receipt": False}, {"outcome": "pass"}],
    "roster": [{}, {"cursor": "x"}],
    "inbox": [{}, {"after": "5:x"}, {"after": "x"}, {"trail": "<ask>"}, {"trail": "<old>"}, {"trail": "nothing"}],
    "fleet": [{}, {"find": "gr"}, {"find": "?"}, {"cursor": "x"}, {"principal": "agent:grok"}, {"principal": "none"}],
    "board": [
        *({}, {"stage": "todo"}, {"stage": "x"}, {"plan": "q3"}, {"stage": "todo", "cursor": "x"}),
        *({"job": "x"}, {"job": "none"}),
    ],
    "syncs": [{}, {"weeks": 1}, {"weeks": 8}, {"weeks": 0}, {"weeks": 9}],
    "keys": [{}, {"cursor": "x"}, {"key": "<key>"}, {"key": "none"}],
    "people": [{}, {"cursor": "x"}, {"person": "ana"}, {"person": "none"}],
    "sessions": [{}, {"person": "bo"}, {"person": "none"}, {"cursor": "x"}],
    "spaces": [{}],
    "claims": [{}],
}


# What of it is refused, whoever asks; all else is answered. A row in no profile is for people.
REFUSED: dict[str, list[Args]] = {
    "brief": [{"agent": "none"}, {"budget": -1}],
    "view": [{"what": what} for what in ("job:none", "agent:none", "ask_none", "1-1", "no such thing")],
    "follow": [{"what": f"<{name}>", "wait": 0} for name in ("mail", "entry", "fact", "newer", "said")],
    "feed": [{"where": "<ask>", "cursor": "1.1"}, {"where": "job:none"}, {"cursor": "x"}],
    "recall": [{"query": "x", "where": "job:none"}, {"query": "?!"}],
    "open": [{"agent": "none"}],
    "jobs": [{"stage": "x"}, {"cursor": "x"}],
    "sync": [{"outcome": "pass"}],
    "roster": [{"cursor": "x"}],
    "inbox": [{"after": "x"}, {"trail": "nothing"}],
    "fleet": [{"find": "?"}, {"cursor": "x"}, {"principal": "none"}],
    "board": [{"stage": "x"}, {"stage": "todo", "cursor": "x"}, {"job": "none"}],
    "syncs": [{"weeks": 0}, {"weeks": 9}],
    "keys": [{"cursor": "x"}, {"key": "none"}],
    "people": [{"cursor": "x"}, {"person": "none"}],
    "sessions": [{"cursor": "x"}],
}


def spelled(seen: Seen, args: Args) -> dict[str, Any]:
    """The arguments, with the ids that they mean."""
    return {
        name: seen.names[value.strip("<>")] if isinstance(value, str) and value.startswith("<") else value
        for name, value in args.items()
    }


async def refusal(world: World, who: str, verb: str, args: Args) -> Refused | None:
    """How a row refuses this, or None where it answers."""
    try:
        assert (await world.do(who, verb, **args))["ok"]
    except Refused as no:
        return no
    return None


async def asked(world: World, seen: Seen, verb: str) -> None:
    """Ask a row all of it as an agent and as a person: it answers what it has to, and refuses the rest."""
    for args in ASKED[verb]:
        for who in ("agent:grok", "human:ana"):
            no = await refusal(world, who, verb, spelled(seen, args))
            refused = args in REFUSED.get(verb, ()) or (who.startswith("agent:") and not ROWS[verb].profiles)
            assert bool(no) == refused, (who, verb, args, str(no))
            assert no is None or no.status not in (401, 503)
            # Who reads need not be told so.
            assert not re.search(r"Nothing (was written|was done|changed)", str(no)), no


def test_c53_each_reading_row_is_asked() -> None:
    """A row that is added to the catalogue is asked here too, and what is to be refused is among what is asked."""
    assert sorted(READERS) == sorted(ASKED)
    assert [args for verb, some in REFUSED.items() for args in some if args not in ASKED[verb]] == []


@pytest.mark.parametrize("verb", READERS)
async def test_c53_a_reader_writes_nothing(seen: Seen, verb: str) -> None:
    """Every key of the store is byte for byte what it was before the row was asked, also where it refused."""
    before = await seen.world.dump()
    await asked(seen.world, seen, verb)
    after = await seen.world.dump()
    assert after.keys() == before.keys()
    assert [name for name in before if after[name] != before[name]] == []


@asynccontextmanager
async def without_a_writer(world: World) -> AsyncIterator[World]:
    """The world as seen by a process that has no way to write: its user that may is not let in."""
    target = Target.embedded(world.engine)
    writer = open_client(replace(target, secrets=None, login=("lm-api", "wrong")), user="lm-api")
    reader = open_client(target, user="lm-read")
    store = Store(writer, reader, target=target)
    yield replace(world, store=store, http=None)
    await store.close()


@pytest.mark.parametrize("verb", READERS)
async def test_c53_a_reader_needs_no_writer(seen: Seen, verb: str) -> None:
    """Each row that reads goes by the user without any write command, from the credential to the answer."""
    async with without_a_writer(seen.world) as world:
        await asked(world, seen, verb)
        with pytest.raises(Refused):
            await world.do("agent:grok", "note", where="job:x", kind="memo", summary="x")


WRITES: list[tuple[str | int, ...]] = [
    ("SET", "{doc}", "x"),
    ("SETNX", "{doc}", "x"),
    ("GETSET", "{mail}", "x"),
    ("GETDEL", "{mail}"),
    ("GETEX", "{mail}", "PERSIST"),
    ("APPEND", "{mail}", "x"),
    ("INCR", "{doc}"),
    ("DEL", "{doc}"),
    ("UNLINK", "{doc}"),
    ("EXPIRE", "{doc}", 1),
    ("PERSIST", "{mail}"),
    ("RENAME", "{doc}", "{mail}"),
    ("COPY", "{doc}", "{mail}"),
    ("HSET", "{doc}", "f", "v"),
    ("HSETNX", "{log}", "999", "v"),
    ("HDEL", "{log}", "1"),
    ("ZADD", "{due}", 1, "x"),
    ("ZREM", "{due}", "x"),
    ("RPUSH", "{place}", 1),
    ("LPOP", "{place}"),
    ("SADD", "{doc}", "x"),
    ("XADD", "{feed}", "*", "c", "x"),
    ("XTRIM", "{feed}", "MAXLEN", 0),
    ("XGROUP", "CREATE", "{feed}", "g", "0"),
    ("PUBLISH", "lm:x", "x"),
    ("EVAL", "return 1", 0),
    ("EVALSHA", "0" * 40, 0),
    ("FCALL", "f", 0),
    ("SCRIPT", "LOAD", "return 1"),
    ("FLUSHALL",),
    ("CONFIG", "SET", "maxmemory", 1),
]


async def test_c53_the_reading_user_writes_nothing(seen: Seen) -> None:
    """The engine itself refuses the reading user every command that writes, on keys of every class."""
    keys = seen.world.keys
    named = {"doc": keys.doc("ask", seen.names["ask"]), "log": keys.segment(0), "due": keys.index("due", "")}
    named |= {"place": keys.place("job:x"), "feed": keys.feed, "mail": keys.mail(seen.names["mail"])}
    before = await seen.world.dump()
    client: Any  # redis-py types its commands for both its clients at once
    async with open_client(Target.embedded(seen.world.engine), user="lm-read") as client:
        for command in WRITES:
            words = [word.format(**named) if isinstance(word, str) else word for word in command]
            with pytest.raises(redis.exceptions.NoPermissionError):
                assert not await client.execute_command(*words), f"{command} was let through"
    assert await seen.world.dump() == before
