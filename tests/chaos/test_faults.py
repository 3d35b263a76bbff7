"""A store that is full, read-only, busy, slow or down: the caller is told which, nothing changes, all works after."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.domain.errors import Refused
from store.engine import client, exchange
from store.engine.client import Target, open_client
from store.engine.store import open_store
from tests.own_engine import OwnEngine, own_engine
from tests.world import World, found, opened

from .api import outcome, served
from .book import plain
from .checks import sound, sound_world
from .faults import FAULTS, Fault
from .proxy import COMMIT, Fate, proxy

QUICK = 1.1  # seconds that the short form waits for the store: more than a call goes on trying


@pytest.fixture
def own(tmp_path: Path) -> Iterator[OwnEngine]:
    """An engine of the test's own."""
    with own_engine(tmp_path) as engine:
        yield engine


@pytest.fixture
async def there(own: OwnEngine) -> AsyncIterator[World]:
    """A world on it: grok with an ask that waits, one that was approved, and an item from codex."""
    store = opened(own.embedded)
    world = await found(own.embedded, store)
    await world.human("ana", "owner")
    for name in ("grok", "codex"):
        await world.agent(name)
    yield world
    await store.close()


Step = tuple[str, str, Mapping[str, Any]]


async def steps(world: World) -> list[Step]:
    """Calls that can all be done now, one of each kind that writes."""
    waits = await world.do("agent:grok", "ask", where="job:x", summary="May I wait?")
    used = await world.do("agent:grok", "ask", where="job:x", summary="May I go?")
    item = await world.do("agent:codex", "handoff", to="agent:grok", summary="Go on")
    verdict = {"verdict": "approve"}
    await world.do("human:ana", "decide", trail=used["trail"], digest=used["digest"], **verdict)
    return [
        ("agent:grok", "note", {"where": "job:x", "kind": "memo", "summary": "x"}),
        ("agent:grok", "ask", {"where": "job:x", "summary": "And this?"}),
        ("agent:grok", "redeem", {"trail": used["trail"]}),
        ("agent:grok", "accept", {"item": item["item"]}),
        ("human:ana", "decide", {"trail": waits["trail"], "digest": waits["digest"], **verdict}),
    ]


def reads(done: list[Step]) -> list[Step]:
    """Calls that only read."""
    trail = done[4][2]["trail"]
    return [("agent:grok", "view", {"what": trail}), ("human:ana", "inbox", {}), ("agent:grok", "connection", {})]


READ = {"string": ("GET",), "hash": ("HGETALL",), "set": ("SMEMBERS",), "list": ("LRANGE", 0, -1)}
READ |= {"zset": ("ZRANGE", 0, -1, "WITHSCORES"), "stream": ("XRANGE", "-", "+")}


def content(own: OwnEngine) -> dict[str, object]:
    """All that the store holds. Not as DUMP has it: a server that is started again may lay it out in another way."""
    held = {}
    for name in own.root("KEYS", "lm:*"):
        command, *rest = READ[own.root("TYPE", name)]
        held[name] = own.root(command, name, *rest)
    return held


@pytest.fixture
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --long a store that says nothing is given up sooner."""
    if not request.config.getoption("--long"):
        monkeypatch.setattr(client, "TIMEOUT", QUICK)
        monkeypatch.setattr(exchange, "TIMEOUT", QUICK)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_a_store_in_trouble(there: World, own: OwnEngine, fault: Fault) -> None:
    """Each write is refused with the fault's name and a time to retry, reads go on where they can, all works after."""
    done = await steps(there)
    earlier = {"where": "job:x", "kind": "memo", "summary": "earlier"}
    first = await there.do("agent:grok", "note", action_id="a0", **earlier)
    before = content(own)
    fault.cause(own)
    try:
        for who, verb, args in done:
            with pytest.raises(Refused) as no:
                await there.do(who, verb, action_id="a1", **args)
            assert (no.value.code, no.value.status) == (fault.code, 503), verb
            assert no.value.facts["retry_after"]
            assert "Nothing was written" in no.value.message
            assert fault.reads == "" or "Reads go on" not in no.value.message
        for who, verb, args in reads(done):
            out = await outcome(there.do(who, verb, **args))
            assert (out.code if isinstance(out, Refused) else "") == fault.reads, verb
        if not fault.reads:  # what was done before is told again
            assert await there.do("agent:grok", "note", action_id="a0", **earlier) == {**first, "replayed": True}
    finally:
        fault.cure(own)
    assert content(own) == before
    for who, verb, args in done:
        result = await there.do(who, verb, action_id="a1", **args)
        assert "replayed" not in result
    await sound_world(there)


@pytest.mark.usefixtures("quick")
async def test_a_store_that_is_slow(there: World, own: OwnEngine, tmp_path: Path) -> None:
    """When the answer to a commit takes too long the caller cannot know; the same call again tells how it went."""
    done = await steps(there)
    async with proxy(own.socket, tmp_path) as way:
        store = open_store(Target("unix", (("path", str(way.path)),), None, own.secrets))
        slow = replace(there, store=store)
        for who, verb, args in done:
            late = way.next(Fate.LATE, delay=client.TIMEOUT + 0.5)
            with pytest.raises(Refused) as no:
                await slow.do(who, verb, action_id="a1", **args)
            assert (no.value.code, late.met) == ("unconfirmed", 1)
            way.heal()
            out = [await slow.do(who, verb, action_id="a1", **args) for _ in range(3)]
            assert all(plain(o) == plain(out[0]) for o in out)
        hole = way.next(Fate.HOLE, match=COMMIT)
        with pytest.raises(Refused) as no:
            await slow.do("agent:grok", "note", where="job:x", kind="memo", summary="y")
        assert (no.value.code, hole.met) == ("unconfirmed", 1)
        assert "after looking whether it was done" in no.value.message
        await store.close()
    await sound_world(there)


@pytest.mark.timeout(240)
async def test_an_api_process_lives_through_all_of_it(there: World, own: OwnEngine, tmp_path: Path) -> None:
    """Over HTTP each fault has its name and status, and the process needs no new start after any of them."""
    token = there.tokens["agent:grok"]
    note = {"where": "job:x", "kind": "memo"}
    async with served(there, tmp_path) as (api,):
        assert api.process
        pid = api.process.pid
        await api.do(token, "note", summary="before", **note)
        for fault in FAULTS:
            fault.cause(own)
            try:
                out = await outcome(api.do(token, "note", action_id=str(fault), summary=str(fault), **note))
            finally:
                await asyncio.to_thread(fault.cure, own)
            assert isinstance(out, Refused), fault
            assert out.code == fault.code
            result = await api.do(token, "note", action_id=str(fault), summary=str(fault), **note)
            assert result["entry"]["summary"] == str(fault)
        assert (api.process.pid, api.process.poll()) == (pid, None)
    async with open_client(own.target, user="lm-admin") as admin:
        assert await sound(there.store, admin, there.space)
