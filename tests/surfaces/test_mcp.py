"""MCP by hand: what is listed, called and told, in both eras and over both ways in."""

import asyncio
import json
import re
from typing import Any

import httpx

from store.engine.client import Target, open_client
from store.verbs.catalog import ROWS, tools
from tests.surfaces.server import Serving
from tests.surfaces.wire import ACCEPT, ERAS, NEW, NOTE, OLD, WAYS, Hand, code, hand, message, said, told
from tests.world import World

PATIENCE = 20.0  # seconds


async def waiting(serving: Serving, world: World, wanted: int) -> None:
    """Return when so many wait for news of the world's space."""
    assert serving.store
    for _ in range(1000):
        if serving.store.feed.waiting(world.space) == wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"there are never {wanted}")


@WAYS
async def test_a_note_is_written_over_each_way_in(
    http: httpx.AsyncClient, world: World, era: str, minted: bool
) -> None:
    """A call writes as the credential's agent, and its text and structure are both complete."""
    result = await hand(http, world, era=era, minted=minted).call("note", **NOTE)
    shown = result["structuredContent"]
    assert (shown["ok"], shown["space"], shown["caller"]) == (True, world.space, "agent:grok")
    assert (shown["entry"]["by"], shown["entry"]["via"], shown["created"]) == ("agent:grok", "token", True)
    assert all(part in said(result) for part in (shown["entry"]["id"], "job:x", '"tick"', "agent:grok", world.space))


@ERAS
async def test_null_and_text_outside_ascii_go_in_and_come_out_unchanged(
    http: httpx.AsyncClient, world: World, era: str
) -> None:
    """A payload comes back as it was given, nulls and all, in the structure and in the text."""
    payload = {"a": None, "b": [1.5, {"ü": "日本\n"}], "c": ""}
    result = await hand(http, world, era=era).call("note", **NOTE, payload=payload)
    assert result["structuredContent"]["entry"]["payload"] == payload
    assert '{"a":null,"b":[1.5,{"ü":"日本\\n"}],"c":""}' in said(result)


@ERAS
async def test_the_tools_are_those_of_the_catalogue(http: httpx.AsyncClient, world: World, era: str) -> None:
    """Each has a one-line description, a closed schema without frills, and one hint; a key's tools name no space."""
    listed = (await hand(http, world, era=era).ask("tools/list")).json()["result"]["tools"]
    assert [t["name"] for t in listed] == [f"logmem_{row.verb}" for row in tools("fleet")]
    for tool in listed:
        row = ROWS[tool["name"].removeprefix("logmem_")]
        assert tool.keys() == {"name", "description", "inputSchema", "annotations"}
        assert tool["description"]
        assert "\n" not in tool["description"]
        assert tool["annotations"] == ({"readOnlyHint": True} if row.pure else {"destructiveHint": False})
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "space" not in tool["inputSchema"]["properties"]
        shapes = [tool["inputSchema"], *tool["inputSchema"]["properties"].values()]
        assert not [shape for shape in shapes if "title" in shape]
        assert "null" not in json.dumps(tool["inputSchema"])
    with_id = {t["name"] for t in listed if "action_id" in t["inputSchema"]["properties"]}
    assert with_id == {"logmem_note", "logmem_redeem"}


@ERAS
async def test_a_profile_narrows_what_is_listed_and_callable(http: httpx.AsyncClient, world: World, era: str) -> None:
    """It comes with the key or the URL, and grants nothing: of two the narrower holds."""
    await world.agent("small", profile="core")
    core = [f"logmem_{row.verb}" for row in tools("core")]
    for who, query, names in (
        ("agent:grok", "?profile=core", core),
        ("agent:grok", "?profile=fleet", [f"logmem_{row.verb}" for row in tools("fleet")]),
        ("agent:small", "", core),
        ("agent:small", "?profile=fleet", core),
    ):
        listed = (await hand(http, world, who, era=era, query=query).ask("tools/list")).json()["result"]["tools"]
        assert [t["name"] for t in listed] == names
    narrowed = await hand(http, world, era=era, query="?profile=core").call("connection")
    assert code(narrowed) == "not_found"
    assert code(await hand(http, world, "agent:small", era=era).call("connection")) == "not_found"
    assert said(await hand(http, world, "agent:small", era=era).call("note", **NOTE))
    wrong = hand(http, world, era=era, query="?profile=all")
    assert told(await wrong.ask("tools/list"), 400)["data"]["code"] == "invalid_argument"
    assert code(await wrong.call("note", **NOTE)) == "invalid_argument"


@ERAS
async def test_c24_deciding_is_no_tool(http: httpx.AsyncClient, world: World, era: str) -> None:
    """However an agent calls it, it is told that only people decide, and the ask stays pending."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?")
    before = await world.dump()
    decision = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    for who in ("agent:grok", "agent:codex"):
        for name in ("logmem_decide", "decide"):
            response = await hand(http, world, who, era=era).ask("tools/call", name=name, arguments=decision)
            result = response.json()["result"]
            assert code(result) == "not_found"
            assert "only people decide" in result["content"][0]["text"]
        assert code(await hand(http, world, who, era=era).call("mint", name="evil")) == "not_found"
        given = await hand(http, world, who, era=era).call("ask", where="job:x", summary="Publish?", verdict="approve")
        assert code(given) == "unknown_argument"
    assert await world.dump() == before


@ERAS
async def test_an_unknown_tool_is_a_refusal_that_names_the_nearest(
    http: httpx.AsyncClient, world: World, era: str
) -> None:
    """A tool that is not there is no protocol error, so that the model reads what there is."""
    result = await hand(http, world, era=era).call("notes", **NOTE)
    assert code(result) == "not_found"
    assert "logmem_note" in result["structuredContent"]["error"]["near"]
    result = await hand(http, world, era=era).call("zzzzzz\n-> obey")
    assert code(result) == "not_found"
    assert "\n" not in result["content"][0]["text"]
    missing = (await hand(http, world, era=era).ask("tools/forget")).json()["error"]
    assert missing["code"] == -32601


@ERAS
async def test_the_instructions_say_who_and_where_you_are(http: httpx.AsyncClient, world: World, era: str) -> None:
    """Each credential is greeted by its own name in its own space, in either era's first request."""
    for who in ("agent:grok", "agent:codex"):
        result = await _greeting(hand(http, world, who, era=era))
        assert result["instructions"].startswith(f"You are {who} in space {world.space}. ")
        assert len(re.findall(r"\.(?: |$)", result["instructions"])) == 6
        at_first = result["instructions"][:240]  # a client that leaves the tools to be searched for shows no more
        assert all(tool in at_first for tool in ("logmem_start", "logmem_ask", "logmem_redeem"))
        assert "logmem_redeem" in result["instructions"]
        assert result["capabilities"]["tools"] is not None
    assert "logmem_recap" not in (await _greeting(hand(http, world, era=era, query="?profile=core")))["instructions"]


async def _greeting(hand: Hand, client: str = "by-hand") -> Any:
    """The result of an era's first request."""
    if hand.era == NEW:
        return (await hand.ask("server/discover")).json()["result"]
    hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
    return (await hand.ask("initialize", **hello)).json()["result"]


async def test_the_client_s_name_is_remembered_from_the_handshake(http: httpx.AsyncClient, world: World) -> None:
    """In the older era a call carries no name: the one of the last handshake stands in the byline."""
    grok = hand(http, world)
    assert (await grok.call("note", **NOTE))["structuredContent"]["entry"]["client"] == "python-httpx"
    for name in ("codex-cli", "cursor"):
        await _greeting(grok, name)
        entry = (await grok.call("note", **NOTE))["structuredContent"]["entry"]
        assert (entry["client"], entry["byline"]) == (name, f"grok (via {name})")
    assert (await hand(http, world, "agent:codex").call("note", **NOTE))["structuredContent"]["entry"]["client"] != name
    new = await hand(http, world, era=NEW).call("note", **NOTE)
    assert new["structuredContent"]["entry"]["client"] == "by-hand"


@ERAS
async def test_c12_an_action_repeats_by_its_id(http: httpx.AsyncClient, world: World, era: str) -> None:
    """The same id beside the call or as an argument is the same action; with other arguments it conflicts."""
    grok = hand(http, world, era=era)

    async def beside(arguments: dict[str, Any], id: Any = "n1") -> Any:
        params = {"name": "logmem_note", "arguments": arguments, "_meta": {"logmem/action_id": id}}
        return (await grok.ask("tools/call", **params)).json()["result"]

    first = await beside(NOTE)
    again = await grok.call("note", **NOTE, action_id="n1")
    assert again["structuredContent"] == {**first["structuredContent"], "replayed": True}
    assert (await beside({**NOTE, "action_id": "n1"}))["structuredContent"]["replayed"]
    before = await world.dump()
    assert code(await beside({**NOTE, "summary": "tock"})) == "action_conflict"
    assert code(await beside({**NOTE, "action_id": "n2"})) == "invalid_argument"
    assert code(await beside(NOTE, id=7)) == "invalid_argument"
    assert code(await grok.call("note", **NOTE, action_id="x" * 201)) == "too_long"
    assert await world.dump() == before


async def test_a_client_of_before_structured_content_reads_the_text(http: httpx.AsyncClient, world: World) -> None:
    """Without a version header the first revision with streamable HTTP is meant; there the text is all that counts."""
    grok = hand(http, world)
    body = message("tools/call", {"name": "logmem_note", "arguments": NOTE}, era=OLD)
    result = (await grok.post(json.dumps(body), ACCEPT)).json()["result"]
    assert '"tick"' in said(result)
    refused = message("tools/call", {"name": "logmem_note", "arguments": {}}, era=OLD)
    result = (await grok.post(json.dumps(refused), ACCEPT)).json()["result"]
    assert result["content"][0]["text"].startswith("invalid_argument: ")


async def test_a_progress_token_changes_nothing(http: httpx.AsyncClient, world: World) -> None:
    """Clients that ask for progress get the result like all others."""
    for era in (OLD, NEW):
        params = {"name": "logmem_note", "arguments": NOTE, "_meta": {"progressToken": 7}}
        response = await hand(http, world, era=era).ask("tools/call", **params)
        assert '"tick"' in said(response.json()["result"])


@WAYS
async def test_every_surface_gives_the_same_answer_and_the_same_refusal(
    http: httpx.AsyncClient, world: World, era: str, minted: bool
) -> None:
    """A row says the same over REST and over each way of MCP, in results and in refusals."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?", payload={"v": 1})
    grok = hand(http, world, era=era, minted=minted)
    proof = {"authorization": f"Bearer {grok.token}", "x-logmem-client": "by-hand"}
    for verb, arguments in (
        ("view", {"what": ask["trail"]}),
        ("view", {"what": "job:nothing"}),
        ("view", {"waht": ask["trail"]}),
        ("redeem", {"trail": ask["trail"]}),
        ("redeem", {"trail": "ask_x"}),
        ("note", {"where": "job:x", "kind": "decided", "summary": "yes"}),
        ("note", {"where": "job:x", "kind": "memo", "summary": "x" * 1001}),
        ("note", {"where": "job:x", "kind": "memo", "summary": "x", "payload": "y" * 33_000}),
    ):
        rest = await http.post(f"/api/tools/{verb}", json=arguments, headers=proof)
        result = await grok.call(verb, **arguments)
        shown = result["structuredContent"]
        if rest.status_code == 200:
            assert shown == rest.json()
        else:
            assert shown == {"ok": False, **rest.json()}
            assert code(result) == shown["error"]["code"]


async def test_an_unexpected_fault_is_told_plainly(http: httpx.AsyncClient, world: World) -> None:
    """Something broken in the store is no trace, no key name and no protocol error, but a refusal that says to look."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        await admin.hset(world.keys.doc("ask", ask["trail"]), "doc", b"\xff{")
    result = await hand(http, world).call("view", what=ask["trail"])
    assert code(result) == "unconfirmed"
    assert "Traceback" not in json.dumps(result)
    assert "lm:" not in json.dumps(result)


async def test_c32_a_wait_ends_with_the_decision_and_a_time_out_changes_nothing(
    http: httpx.AsyncClient, serving: Serving, world: World
) -> None:
    """Who waits hears of the decision at once; a wait that ends without one says what to call next."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?")
    before = await world.dump()
    over = await hand(http, world).call("follow", what=ask["trail"], wait=0)
    assert over["structuredContent"]["pending"] is True
    assert "-> logmem_follow" in said(over)
    assert await world.dump() == before
    waits = asyncio.create_task(hand(http, world, era=NEW).call("follow", what=ask["trail"], wait=50))
    await waiting(serving, world, 1)
    await world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"])
    async with asyncio.timeout(PATIENCE):
        result = await waits
    assert result["structuredContent"]["status"] == "approved"
    assert "-> logmem_redeem" in said(result)


async def test_c05_a_revoked_key_ends_a_wait(http: httpx.AsyncClient, serving: Serving, world: World) -> None:
    """Who waits is told when the key is revoked, long before the wait is over."""
    await world.do("agent:grok", "note", **NOTE)
    waits = asyncio.create_task(hand(http, world).call("follow", what="job:x", wait=50))
    await waiting(serving, world, 1)
    await world.operate("revoke", name="grok")
    async with asyncio.timeout(PATIENCE):
        assert code(await waits) == "key_revoked"


@WAYS
async def test_a_client_that_goes_leaves_no_work_behind(
    http: httpx.AsyncClient, serving: Serving, world: World, era: str, minted: bool
) -> None:
    """When whoever waits hangs up, nothing goes on waiting for them."""
    await world.do("agent:grok", "note", **NOTE)
    waits = asyncio.create_task(hand(http, world, era=era, minted=minted).call("follow", what="job:x", wait=50))
    await waiting(serving, world, 1)
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    await waiting(serving, world, 0)
