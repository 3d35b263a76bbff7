"""A reply that is lost: what was asked is done once, and whoever asks again with the same action_id gets the result."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.domain.errors import Refused
from store.engine.client import Target
from store.engine.store import open_store
from store.ledger.verify import verify
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from tests.world import World

from .api import served
from .book import plain
from .proxy import ANY, EVER, Fate, Proxy, Trouble, proxy

ENTRY = b"\r\nHGET\r\n"  # how an entry is read
Step = tuple[str, str, dict[str, Any]]  # who, verb, arguments


@asynccontextmanager
async def behind(world: World, folder: Path) -> AsyncIterator[tuple[World, Proxy]]:
    """The world seen through a proxy before its engine."""
    async with proxy(world.engine.socket, folder) as way:
        store = open_store(Target("unix", (("path", str(way.path)),), None, world.engine.home / "secrets"))
        try:
            yield replace(world, store=store), way
        finally:
            await store.close()


async def prepared(world: World, verb: str) -> Step:
    """A call of this verb that can be done now."""
    match verb:
        case "note":
            return "agent:grok", "note", {"where": "job:x", "kind": "memo", "summary": "done"}
        case "ask":
            return "agent:grok", "ask", {"where": "job:x", "summary": "May I?", "payload": {"n": 1}}
        case "handoff":
            return "agent:grok", "handoff", {"to": "agent:codex", "summary": "Go on"}
        case "accept":
            item = (await world.do("agent:grok", "handoff", to="agent:codex", summary="Go on"))["item"]
            return "agent:codex", "accept", {"item": item}
    ask = await world.do("agent:grok", "ask", where="job:x", summary="May I?", payload={"n": 1})
    decision = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    if verb == "decide":
        return "human:ana", "decide", decision
    await world.do("human:ana", "decide", **decision)
    if verb == "take_back":
        return "human:ana", "take_back", {"trail": ask["trail"]}
    return "agent:grok", "redeem", {"trail": ask["trail"]}


VERBS = ("note", "ask", "handoff", "accept", "decide", "take_back", "redeem")


async def size(world: World) -> int:
    """How many entries the space has; its ledger verifies."""
    report = await verify(world.store, world.space)
    assert report.ok, str(report.fault)
    return report.entries


@pytest.mark.parametrize("fate", [Fate.CUT_AFTER, Fate.CUT_BEFORE])
@pytest.mark.parametrize("verb", VERBS)
async def test_a_lost_connection_is_not_noticed(world: World, tmp_path: Path, verb: str, fate: Fate) -> None:
    """When the connection breaks on a commit, before or after it is done, the caller gets the result all the same."""
    who, name, args = await prepared(world, verb)
    await world.do(who, "note", where="job:x", kind="memo", summary="the shift is open") if "agent" in who else None
    before = await size(world)
    async with behind(world, tmp_path) as (through, way):
        met = way.next(fate)
        result = await through.do(who, name, **args)
    assert (met.met, result["ok"]) == (1, True)
    assert await size(world) == before + 1


@pytest.mark.parametrize("verb", VERBS)
async def test_c12_unconfirmed_then_the_same_again(world: World, tmp_path: Path, verb: str) -> None:
    """Done, its reply lost, and then no store: the caller is told so; the same call again gets the first result."""
    who, name, args = await prepared(world, verb)
    async with behind(world, tmp_path) as (through, way):
        gone = Trouble(Fate.CUT_BEFORE, ANY, EVER)
        way.next(Fate.CUT_AFTER, then=gone)
        with pytest.raises(Refused) as no:
            await through.do(who, name, action_id="a1", **args)
        assert (no.value.code, no.value.facts["retry_after"]) == ("unconfirmed", 2)
        assert "the same action_id" in no.value.message
        assert gone.met
        way.heal()
        done = await size(world)
        second = await through.do(who, name, action_id="a1", **args)
        third = await through.do(who, name, action_id="a1", **args)
    assert second["replayed"]
    assert plain(second) == plain(third)
    assert await size(world) == done


@pytest.mark.parametrize("verb", VERBS)
async def test_c12_never_arrived_then_the_same_again(world: World, tmp_path: Path, verb: str) -> None:
    """Sent and never arrived: the caller cannot know, is told so, and the same call again does it once."""
    who, name, args = await prepared(world, verb)
    before = await size(world)
    async with behind(world, tmp_path) as (through, way):
        way.next(Fate.CUT_BEFORE, times=EVER)
        with pytest.raises(Refused) as no:
            await through.do(who, name, action_id="a1", **args)
        assert no.value.code == "unconfirmed"
        assert await size(world) == before
        way.heal()
        first = await through.do(who, name, action_id="a1", **args)
        second = await through.do(who, name, action_id="a1", **args)
    assert "replayed" not in first
    assert second == {**first, "replayed": True}


@pytest.mark.parametrize("verb", ["note", "accept", "redeem"])
async def test_c12_done_and_then_not_told(world: World, tmp_path: Path, verb: str) -> None:
    """Done, and lost again while the result is read for the caller: they are not told that nothing was written."""
    who, name, args = await prepared(world, verb)
    async with behind(world, tmp_path) as (through, way):
        way.next(Fate.CUT_AFTER, then=Trouble(Fate.CUT_BEFORE, ENTRY, EVER))
        with pytest.raises(Refused) as no:
            await through.do(who, name, action_id="a1", **args)
        assert (no.value.code, "Nothing was written" in no.value.message) == ("unconfirmed", False)
        way.heal()
        assert (await through.do(who, name, action_id="a1", **args))["replayed"]


@pytest.mark.parametrize("verb", ["mint", "link"])
async def test_a_secret_whose_reply_was_lost_is_still_shown(world: World, tmp_path: Path, verb: str) -> None:
    """Our own retry gives what is shown once: the key is live, and somebody has to have it. A named replay does not."""
    args = {"name": "muse" if verb == "mint" else "ana"}
    async with behind(world, tmp_path) as (through, way):
        met = way.next(Fate.CUT_AFTER)
        result = await perform(through.store, through.operator, ROWS[verb], args, action_id="once")
        again = await perform(through.store, through.operator, ROWS[verb], args, action_id="once")
    assert met.met == 1
    (shown,) = {"token", "link_path"} & set(result)
    assert shown not in again
    assert again["replayed"]
    if verb == "mint":
        world.remember("agent:muse", result["token"])
        assert (await world.do("agent:muse", "note", where="job:x", kind="memo", summary="a"))["ok"]


async def test_no_store_at_all(world: World, tmp_path: Path) -> None:
    """When nothing can have arrived the caller is told that nothing was written; reads are told the same."""
    before = await size(world)
    async with behind(world, tmp_path) as (through, way):
        await through.do("agent:grok", "connection")  # the credential is known to this process
        way.next(Fate.CUT_BEFORE, match=ANY, times=EVER)
        for verb, args in (("note", {"where": "job:x", "kind": "memo", "summary": "x"}), ("view", {"what": "job:x"})):
            with pytest.raises(Refused) as no:
                await through.do("agent:grok", verb, **args)
            assert no.value.code == "store_unavailable"
            assert "Nothing was written" in no.value.message
            assert no.value.facts["retry_after"]
        way.heal()
        assert (await through.do("agent:grok", "connection"))["ok"]
    assert await size(world) == before


async def test_callers_who_go_away(world: World, tmp_path: Path) -> None:
    """Calls that are cancelled at any moment leave no reply behind for another call to take as its own."""
    draw = random.Random(5)
    for n in range(8):
        await world.do("agent:grok", "note", where=f"job:j{n}", kind="memo", summary=f"of j{n}")
    async with behind(world, tmp_path) as (through, way):

        async def look(n: int) -> None:
            seen = await through.do("agent:grok", "view", what=f"job:j{n}")
            assert [e["summary"] for e in seen["log"]] == [f"of j{n}"]

        way.next(Fate.LATE, match=ANY, times=EVER, delay=0.01)
        calls: list[asyncio.Task[None]] = []
        for _ in range(30):
            some = [asyncio.create_task(look(draw.randrange(8))) for _ in range(8)]
            await asyncio.sleep(draw.random() * 0.01)
            for call in draw.sample(some, 4):
                call.cancel()  # and the next ones follow at once, before the replies to these are there
            calls += some
        out = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(o) for o in out} <= {type(None), asyncio.CancelledError}, out


async def test_c12_the_answer_over_http_is_lost(world: World, tmp_path: Path) -> None:
    """A caller who goes away before the answer asks again with the same key and gets the result of the first call."""
    note = {"where": "job:x", "kind": "memo", "summary": "once"}
    await world.do("agent:grok", "note", **note)
    before = await size(world)
    async with behind(world, tmp_path) as (_, way), served(world, tmp_path, socket=way.path) as (api,):
        held = way.next(Fate.LATE, delay=0.2)
        body = json.dumps(note).encode()
        head = (
            f"POST /api/tools/note HTTP/1.1\r\nHost: 127.0.0.1:{api.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {world.tokens['agent:grok']}\r\nIdempotency-Key: a1\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        _, writer = await asyncio.open_connection("127.0.0.1", api.port)
        writer.write(head.encode() + body)
        async with asyncio.timeout(20):
            await held.begun.wait()
        writer.close()
        token = world.tokens["agent:grok"]
        out = await asyncio.gather(*(api.do(token, "note", action_id="a1", **note) for _ in range(5)))
    assert all(plain(o) == plain(out[0]) for o in out)
    assert await size(world) == before + 1
