"""The sweep finds what breaks an invariant, and nothing in a space that is sound."""

import json
from typing import Any

import pytest

from store.engine.client import Target, open_client
from store.invariants import check
from tests.world import World


async def broken(world: World, *command: str | int) -> list[str]:
    """What the sweep finds after lm-admin has run a command."""
    admin: Any  # redis-py types its commands for both its clients at once
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        if command:
            await admin.execute_command(*command)
        return await check(admin, world.space)


@pytest.fixture
async def used(world: World) -> World:
    """A space with a little of everything."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="May I?")
    await world.do("human:ana", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await world.do("agent:grok", "ask", where="job:x", summary="And this?")
    await world.do("agent:grok", "handoff", to="agent:codex", summary="Go on", where="job:x")
    await world.do("agent:grok", "handoff", to="anyone", text="Hello")
    huddle = await world.do("agent:grok", "huddle", where="job:h", question="Which?", seats=["codex"])
    said = {"where": "job:h", "summary": "This"}
    await world.do("agent:codex", "note", kind="answer", answers=huddle["seats"][0]["item"], **said)
    await world.do("agent:grok", "note", kind="synthesis", answers=huddle["huddle"], **said)
    fact = await world.do("agent:grok", "note", kind="fact", **said)
    await world.do("agent:codex", "note", kind="fact", supersedes=fact["fact"], **said)
    return world


async def test_a_sound_space(used: World) -> None:
    """There is nothing to find in a space that only the product has written to."""
    assert await broken(used) == []


async def test_an_index_that_does_not_follow(used: World) -> None:
    """An entry of an index that is missing, too many, or at another score is named with its document."""
    key = used.keys.index("roster", "")
    for command, said in (
        (("ZADD", key, 1, "who:agent:nobody"), "has who:agent:nobody at 1.0, its document says None"),
        (("ZADD", key, 5, "who:agent:grok"), "has who:agent:grok at 5.0, its document says 1"),
        (("ZREM", key, "who:agent:grok"), "has who:agent:grok at None, its document says 1"),
        (("ZADD", used.keys.index("due", ""), 1, "ask:x"), "has ask:x at 1.0"),
    ):
        found = await broken(used, *command)
        assert [f for f in found if said in f and f.startswith("index entries are a function of the documents: ")]


async def test_a_document_that_names_no_entry(used: World) -> None:
    """The id of an entry that there is not is named with its document."""
    admin: Any  # as above
    async with open_client(Target.embedded(used.engine), user="lm-admin") as admin:
        key, *_ = await admin.keys(f"lm:{{{used.space}}}:doc:item:*")
    for id in ("1-1", "99-99999"):
        (found,) = await broken(used, "HSET", key.decode(), "sent", id)
        assert found.endswith(f"names {id} as sent")


async def test_a_document_that_cannot_be_read(used: World) -> None:
    """A document that is none, of no known kind, or under another's key is named."""
    bad, odd = used.keys.doc("job", "bad"), used.keys.doc("odd", "x")
    assert await broken(used, "HSET", bad, "rev", 1, "doc", "{}") == [f"a document cannot be read: {bad}"]
    assert f"a document cannot be read: {odd}" in await broken(used, "HSET", odd, "rev", 1, "doc", "{}")
    other = used.keys.doc("job", "y")
    found = await broken(used, "COPY", used.keys.doc("job", "x"), other)
    assert f"a document cannot be read: {other}" in found


async def test_a_place_that_lists_otherwise(used: World) -> None:
    """A place that lists an entry too many, or in another order, is named."""
    key = used.keys.place("job:x")
    (found,) = await broken(used, "RPUSH", key, 1)
    assert found.startswith(f"a place lists the entries that stand there, in their order: {key} lists ")
    await broken(used, "RPOP", key)
    (found,) = await broken(used, "RPUSH", used.keys.place("job:none"), 1)
    assert "job:none lists 1 entries, 0 stand there" in found


async def test_what_is_over_holds_something(used: World) -> None:
    """An open seat of a huddle that is closed, and a fact that nothing supersedes as it says, are named."""
    huddle = await used.do("agent:grok", "huddle", where="job:h", question="And now?", seats=["codex"])
    seat = huddle["seats"][0]["item"]
    key = used.keys.doc("huddle", huddle["huddle"])
    admin: Any  # as above
    async with open_client(Target.embedded(used.engine), user="lm-admin") as admin:
        doc = json.loads(await admin.hget(key, "doc"))
        facts = [name.decode() for name in await admin.keys(f"lm:{{{used.space}}}:doc:fact:*")]
        (fact,) = [name for name in facts if b"superseded_by" in await admin.hget(name, "doc")]
        other = json.loads(await admin.hget(fact, "doc")) | {"superseded_by": "fa_0000000000"}
    found = await broken(used, "HSET", key, "doc", json.dumps(doc | {"state": "closed"}))
    assert [f for f in found if f"item:{seat} is open, and no open {huddle['huddle']} has it as a seat" in f]
    found = await broken(used, "HSET", fact, "doc", json.dumps(other))
    assert [f for f in found if "was superseded by fa_0000000000, which does not supersede it" in f]
