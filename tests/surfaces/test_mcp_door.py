"""MCP by hand: who gets in, and what is said to what is malformed."""

import json
from typing import Any

import httpx
import pytest

from tests.surfaces.wire import ACCEPT, ERAS, NEW, NOTE, OLD, Hand, code, hand, headers, message, told
from tests.world import World


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


async def test_health_says_whether_the_store_answers(http: httpx.AsyncClient) -> None:
    """The process answers, and so does its store."""
    assert (await http.get("/livez")).json() == {"ok": True}
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["ok"]) == (200, True)
