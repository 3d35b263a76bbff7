"""MCP by hand: who gets in, what is listed, and what is said to what is wrong."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from store.engine.client import Target, open_client
from store.verbs.catalog import ROWS, tools
from tests.surfaces.wire import ACCEPT, NEW, OLD, Hand, code, headers, message, said
from tests.world import World

ERAS = pytest.mark.parametrize("era", [OLD, NEW])
WAYS = pytest.mark.parametrize(("era", "minted"), [(OLD, False), (OLD, True), (NEW, False), (NEW, True)])
NOTE: dict[str, Any] = {"where": "job:x", "kind": "memo", "summary": "tick"}
PATIENCE = 20.0  # seconds


def hand(http: httpx.AsyncClient, world: World, who: str = "agent:grok", **how: Any) -> Hand:
    """The hand of a principal, grok's if no other."""
    return Hand(http, world.tokens[who], **how)


def told(response: httpx.Response, status: int) -> Any:
    """The JSON-RPC error of an answer with this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["jsonrpc"] == "2.0"
    return body["error"]


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


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_only_post_is_spoken(http: httpx.AsyncClient, world: World, method: str) -> None:
    """Other methods get 405 in JSON, which says what is allowed; so clients learn that there is no stream."""
    for path in ("/mcp", f"/k/{world.tokens['agent:grok']}/mcp"):
        response = await http.request(method, path, headers={"accept": "text/event-stream"})
        told(response, 405)
        assert response.headers["allow"] == "POST"


@ERAS
@pytest.mark.parametrize("method", ["initialize", "server/discover", "tools/list", "tools/call", "ping"])
async def test_who_is_not_known_gets_in_nowhere(http: httpx.AsyncClient, world: World, era: str, method: str) -> None:
    """No bearer, an unknown key and a wrong secret get 401 with a challenge; the same as URLs get 404. All in JSON."""
    id = world.badges["agent:grok"].id
    body = message(method, {"name": "logmem_note", "arguments": NOTE}, era=era)
    for token in ("", "nonsense", "lmk_", "lmk_0123456789ab_" + "0" * 40, f"lmk_{id}_" + "0" * 40):
        stranger = Hand(http, token, era=era)
        response = await stranger.post(json.dumps(body), headers(body, era=era))
        assert told(response, 401)["data"]["code"] == "unauthenticated"
        assert response.headers["www-authenticate"].startswith("Bearer")
        if token:
            by_url = Hand(http, token, era=era, minted=True)
            response = await by_url.post(json.dumps(body), headers(body, era=era))
            assert told(response, 404)["data"]["code"] == "unauthenticated"
            assert "www-authenticate" not in response.headers
    assert (await http.post("/mcp", json=body, headers=headers(body, era=era))).status_code == 401


async def test_a_notification_of_a_stranger_is_refused_too(http: httpx.AsyncClient, world: World) -> None:
    """What needs no answer still needs a key."""
    raw = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (await Hand(http, "lmk_0123456789ab_" + "0" * 40).post(raw, ACCEPT)).status_code == 401
    assert (await hand(http, world).post(raw, ACCEPT)).status_code == 202


async def test_a_person_s_session_opens_no_mcp(http: httpx.AsyncClient, world: World) -> None:
    """A console session is neither a bearer nor a URL here, also not beside its own cookie."""
    token = world.tokens["human:ana"]
    for minted, status in ((False, 401), (True, 404)):
        for cookie in ("", f"logmem_session={token}"):
            body = message("tools/call", {"name": "logmem_note", "arguments": NOTE}, era=OLD)
            more = {**headers(body, era=OLD), **({"cookie": cookie} if cookie else {})}
            response = await Hand(http, token, minted=minted).post(json.dumps(body), more)
            assert told(response, status)["data"]["code"] == "unauthenticated"


@ERAS
async def test_c05_a_revoked_key_is_refused_with_the_next_call(http: httpx.AsyncClient, world: World, era: str) -> None:
    """A call says that the key was revoked, to the model; a new connection gets 401, by URL 404."""
    by_key, by_url = hand(http, world, era=era), hand(http, world, era=era, minted=True)
    await by_key.call("note", **NOTE)
    await world.operate("revoke", name="grok")
    before = await world.dump()
    for each in (by_key, by_url):
        assert code(await each.call("note", **NOTE)) == "key_revoked"
    assert told(await by_key.ask("tools/list"), 401)["data"]["code"] == "key_revoked"
    assert told(await by_url.ask("tools/list"), 404)["data"]["code"] == "key_revoked"
    assert await world.dump() == before


async def test_c05_a_revoked_key_ends_a_wait(http: httpx.AsyncClient, world: World) -> None:
    """Who waits is told when the key is revoked, long before the wait is over."""
    await world.do("agent:grok", "note", **NOTE)
    waits = asyncio.create_task(hand(http, world).call("follow", what="job:x", wait=50))
    await _tails(world, 1)
    await world.operate("revoke", name="grok")
    async with asyncio.timeout(PATIENCE):
        assert code(await waits) == "key_revoked"


@ERAS
async def test_c02_another_agent_s_name_in_a_header_is_refused(http: httpx.AsyncClient, world: World, era: str) -> None:
    """The refusal is a result that says who the caller is, and nothing is written."""
    before = await world.dump()
    grok = hand(http, world, era=era)
    result = await grok.call("note", {"x-logmem-agent": "codex"}, **NOTE)
    assert code(result) == "identity_mismatch"
    assert result["structuredContent"]["error"]["caller"] == "agent:grok"
    error = told(await grok.ask("tools/list", {"x-logmem-agent": "codex"}), 400)  # 403 sends clients to sign in
    assert error["data"]["code"] == "identity_mismatch"
    assert await world.dump() == before
    assert (await grok.call("note", {"x-logmem-agent": "agent:grok"}, **NOTE))["structuredContent"]["ok"]


async def test_c03_a_space_is_accepted_and_compared(http: httpx.AsyncClient, world: World) -> None:
    """A key opens one space: naming it is fine, naming another is a loud error, in argument and header alike."""
    grok = hand(http, world)
    assert (await grok.call("note", **NOTE, space=world.space))["structuredContent"]["space"] == world.space
    before = await world.dump()
    assert code(await grok.call("note", **NOTE, space="elsewhere")) == "scope_unknown"
    assert code(await grok.call("note", {"x-logmem-space": "elsewhere"}, **NOTE)) == "scope_unknown"
    both = await grok.call("note", {"x-logmem-space": world.space}, **NOTE, space="elsewhere")
    assert code(both) == "scope_mismatch"
    assert code(await grok.call("note", **NOTE, space=7)) == "invalid_argument"
    assert await world.dump() == before


async def test_a_page_of_another_origin_and_a_foreign_host_are_turned_away(
    http: httpx.AsyncClient, world: World
) -> None:
    """A name that somebody pointed here, and a page elsewhere, get an answer in JSON and reach nothing."""
    grok = hand(http, world)
    for host in ("evil.example", "localhost.evil.example:80", "evil.example:8765", ""):
        told(await grok.ask("tools/call", {"host": host}, name="logmem_note", arguments=NOTE), 421)
    for origin in ("https://evil.example", "null", "file://", "http://localhost.evil.example"):
        told(await grok.ask("tools/call", {"origin": origin}, name="logmem_note", arguments=NOTE), 403)
    for host, origin in (("localhost:1", "http://localhost:3000"), ("[::1]:80", "http://127.0.0.1"), ("LOCALHOST", "")):
        result = await grok.call("note", {"host": host, **({"origin": origin} if origin else {})}, **NOTE)
        assert result["structuredContent"]["ok"]


ENVELOPES = {
    "nothing": (b"", -32700),
    "no JSON": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', -32700),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": "\xff", "method": "ping"}', -32700),
    "a key twice": (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32700),
    "a method twice": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/call"}', -32700),
    "arguments twice": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {}, "arguments": {}}}',
        -32700,
    ),
    "half a pair": (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32700),
    "no number": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": NaN}}}', -32700),
    "too deep": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b'{"a":' * 99 + b"1" + b"}" * 100,
        -32700,
    ),
    "a batch": (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    "a number": (b"7", -32600),
    "another version": (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    "a method that is none": (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
    "an id that is none": (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    "an id of null": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    "params that are none": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600),
}


@ERAS
@pytest.mark.parametrize("what", ENVELOPES)
async def test_a_malformed_envelope_is_an_error_of_json_rpc(
    http: httpx.AsyncClient, world: World, era: str, what: str
) -> None:
    """What is no JSON-RPC message gets its error with 400, and nothing of it is done."""
    raw, number = ENVELOPES[what]
    before = await world.dump()
    error = told(await hand(http, world, era=era).post(raw, {**ACCEPT, "mcp-protocol-version": era}), 400)
    assert error["code"] == number
    assert await world.dump() == before


async def test_a_request_that_is_too_large_or_of_another_type_is_not_read(
    http: httpx.AsyncClient, world: World
) -> None:
    """Over one MiB is 413, with and without a declared length; what does not say that it is JSON is 415."""
    grok = hand(http, world)
    body = message("tools/call", {"name": "logmem_note", "arguments": {**NOTE, "summary": "x" * (1 << 20)}}, era=OLD)
    told(await grok.post(json.dumps(body), headers(body, era=OLD)), 413)

    async def parts() -> Any:
        for _ in range(40):
            yield b" " * 32768

    proof = {"authorization": f"Bearer {grok.token}"}
    told(await http.post("/mcp", content=parts(), headers={**ACCEPT, **proof}), 413)
    told(await grok.post("{}", {"content-type": "text/plain"}), 415)


BROKEN = {
    "duplicate_key": '{"where": "job:x", "where": "job:y", "kind": "memo", "summary": "a"}',
    "not_finite": '{"where": "job:x", "kind": "memo", "summary": "a", "payload": {"n": 1e400}}',
    "integer_range": '{"where": "job:x", "kind": "memo", "summary": "a", "payload": 9007199254740992}',
    "lone_surrogate": '{"where": "job:x", "kind": "memo", "summary": "\\ud800"}',
    "not_utf8": '{"where": "job:x", "kind": "memo", "summary": "\ud800"}',
    "depth": '{"where": "job:x", "kind": "memo", "summary": "a", "payload": ' + "[" * 5000 + "]" * 5000 + "}",
}


@ERAS
@pytest.mark.parametrize("rule", BROKEN)
async def test_c60_arguments_that_parsers_read_differently_are_refused(
    http: httpx.AsyncClient, world: World, era: str, rule: str
) -> None:
    """The refusal is a result that names the rule and the path, and nothing is written."""
    before = await world.dump()
    result = await hand(http, world, era=era).call_raw("note", BROKEN[rule])
    assert code(result) == "payload_not_canonical"
    error = result["structuredContent"]["error"]
    assert error["rule"] == rule
    assert error["path"].startswith(("where", "summary", "payload"))
    assert await world.dump() == before


@ERAS
@pytest.mark.parametrize("arguments", ["[]", '"{}"', "7", "true"])
async def test_arguments_that_are_no_object_are_a_refusal(
    http: httpx.AsyncClient, world: World, era: str, arguments: str
) -> None:
    """Arguments given as a list or as JSON in a text are refused in a result that the model can read."""
    before = await world.dump()
    assert code(await hand(http, world, era=era).call_raw("note", arguments)) == "invalid_argument"
    assert await world.dump() == before


async def test_who_calls_is_said_before_what_is_wrong_with_the_arguments(http: httpx.AsyncClient, world: World) -> None:
    """A stranger learns nothing of arguments; a key without the right is told of that first."""
    stranger = Hand(http, "lmk_0123456789ab_" + "0" * 40)
    assert (await stranger.ask_raw("note", BROKEN["depth"])).status_code == 401
    await world.agent("reader", may=["read"])
    assert code(await hand(http, world, "agent:reader").call_raw("note", BROKEN["depth"])) == "scope_denied"


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
        assert tool["annotations"] == ({"readOnlyHint": True} if row.effect == "read" else {"destructiveHint": False})
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "space" not in tool["inputSchema"]["properties"]
        assert '"title"' not in json.dumps(tool)
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
    missing = (await hand(http, world, era=era).ask("prompts/list")).json()["error"]
    assert missing["code"] == -32601


@ERAS
async def test_the_instructions_say_who_and_where_you_are(http: httpx.AsyncClient, world: World, era: str) -> None:
    """Each credential is greeted by its own name in its own space, in either era's first request."""
    for who in ("agent:grok", "agent:codex"):
        result = await _greeting(hand(http, world, who, era=era))
        assert result["instructions"].startswith(f"You are {who} in space {world.space}. ")
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


async def test_a_version_that_nobody_speaks_is_an_error_that_lists_ours(http: httpx.AsyncClient, world: World) -> None:
    """The newer era names its versions, and refuses headers that contradict the body."""
    grok = hand(http, world, era=NEW)
    body = message("tools/list", {}, era=NEW)
    error = told(
        await grok.post(json.dumps(body), {**headers(body, era=NEW), "mcp-protocol-version": "2031-01-01"}), 400
    )
    assert error["code"] == -32020
    body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    more = {**headers(body, era=NEW), "mcp-protocol-version": "2031-01-01"}
    assert told(await grok.post(json.dumps(body), more), 400)["data"]["supported"] == [NEW]
    body = message("tools/call", {"name": "logmem_note", "arguments": NOTE}, era=NEW)
    more = {**headers(body, era=NEW), "mcp-name": "logmem_view"}
    assert told(await grok.post(json.dumps(body), more), 400)["code"] == -32020


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


async def _tails(world: World, wanted: int) -> None:
    """Return when so many connections to the store wait for news of a space."""
    for _ in range(1000):
        if (await world.store.reader.info("clients"))["blocked_clients"] == wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"there are never {wanted}")


async def test_c32_a_wait_ends_with_the_decision_and_a_time_out_changes_nothing(
    http: httpx.AsyncClient, world: World
) -> None:
    """Who waits hears of the decision at once; a wait that ends without one says what to call next."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?")
    before = await world.dump()
    over = await hand(http, world).call("follow", what=ask["trail"], wait=0)
    assert over["structuredContent"]["pending"] is True
    assert "-> logmem_follow" in said(over)
    assert await world.dump() == before
    waits = asyncio.create_task(hand(http, world, era=NEW).call("follow", what=ask["trail"], wait=50))
    await _tails(world, 1)
    await world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"])
    async with asyncio.timeout(PATIENCE):
        result = await waits
    assert result["structuredContent"]["status"] == "approved"
    assert "-> logmem_redeem" in said(result)


@WAYS
async def test_a_client_that_goes_leaves_no_work_behind(
    http: httpx.AsyncClient, world: World, era: str, minted: bool
) -> None:
    """When whoever waits hangs up, nothing goes on waiting for them."""
    await world.do("agent:grok", "note", **NOTE)
    waits = asyncio.create_task(hand(http, world, era=era, minted=minted).call("follow", what="job:x", wait=50))
    await _tails(world, 1)
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    await _tails(world, 0)


async def test_health_says_whether_the_store_answers(http: httpx.AsyncClient) -> None:
    """The process answers, and so does its store."""
    assert (await http.get("/livez")).json() == {"ok": True}
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["ok"]) == (200, True)
