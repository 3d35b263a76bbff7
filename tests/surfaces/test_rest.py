"""REST: every row of the catalogue, the same refusals as elsewhere, and who may decide."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from api.auth import COOKIE
from api.examples import CALLS
from api.rest import DECISIONS
from store.domain.errors import STATUS
from store.engine.client import Target, open_client
from store.verbs.arguments import parse
from store.verbs.catalog import ROWS
from tests.surfaces.test_console import asked
from tests.world import Result, World

HOUR, DAY = 3_600_000, 86_400_000
TRAIL = "ask_AAECAwQFBgcICQoLDA0ODw"
NOTE = {"where": "job:x", "kind": "memo", "summary": "tick"}


def bearer(world: World, who: str = "agent:grok") -> dict[str, str]:
    """The headers of an agent's call."""
    return {"Authorization": f"Bearer {world.tokens[who]}"}


def cookie(http: httpx.AsyncClient, world: World, who: str = "human:ana") -> dict[str, str]:
    """The headers of a call from one of our own pages."""
    own = str(http.base_url).rstrip("/")
    return {
        "Cookie": f"{COOKIE}={world.tokens[who]}",
        "Origin": own,
        "X-LogMem-CSRF": "1",
        "Content-Type": "application/json",
    }


async def refused(reply: httpx.Response, code: str) -> Result:
    """The body of a refusal, which has the code and that code's status."""
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    error: Result = reply.json()["error"]
    assert (error["code"], reply.status_code) == (code, STATUS[code]), error
    assert error["message"]
    assert set(reply.json()) == {"error"}
    return error


async def test_every_row_has_its_path(http: httpx.AsyncClient, world: World) -> None:
    """OpenAPI lists a path for each row with what it takes, an example that the row accepts, and the form of errors."""
    spec = (await http.get("/openapi.json")).json()
    paths = spec["paths"]
    assert {f"/api/tools/{verb}" for verb in ROWS} | set(DECISIONS) | {"/api/events"} <= set(paths)
    assert not [p for p in paths if p.startswith(("/s/", "/sign-in", "/api/{"))]
    assert spec["components"]["schemas"]["Failure"]["properties"]["error"]
    ids = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(ids) == len(set(ids))
    for verb, row in ROWS.items():
        operation = paths[f"/api/tools/{verb}"]["post"]
        body = operation["requestBody"]["content"]["application/json"]
        assert body["schema"]["additionalProperties"] is False
        assert "space" in body["schema"]["properties"]
        assert "$ref" not in json.dumps(body["schema"])
        assert operation["description"].startswith(operation["summary"])
        assert {"200", "400", "401", "403", "404", "409", "413", "429", "500", "503"} <= set(operation["responses"])
        if verb in CALLS:
            assert body["example"] == CALLS[verb]
            parse(row, body["example"])


async def test_a_call_is_made_with_a_key(http: httpx.AsyncClient, world: World) -> None:
    """A bearer key calls a verb; the client's declared name stands in the byline; an empty body is no arguments."""
    head = {**bearer(world), "X-LogMem-Client": "nightly"}
    reply = await http.post("/api/tools/note", json=NOTE, headers=head)
    assert reply.status_code == 200
    entry = reply.json()["entry"]
    assert (entry["by"], entry["via"], entry["byline"]) == ("agent:grok", "token", "grok (via nightly)")
    empty = await http.post("/api/tools/connection", headers=bearer(world))
    assert empty.json()["space"] == world.space
    # curl -d sends this type unless told otherwise.
    form = {**bearer(world), "Content-Type": "application/x-www-form-urlencoded"}
    assert (await http.post("/api/tools/note", content=json.dumps(NOTE), headers=form)).status_code == 200


async def test_c03_the_space_is_declared_and_compared(http: httpx.AsyncClient, world: World) -> None:
    """The argument space and the header must agree with each other and with the credential."""
    head = bearer(world)
    good = {**NOTE, "space": world.space}
    assert (await http.post("/api/tools/note", json=good, headers=head)).status_code == 200
    both = await http.post("/api/tools/note", json=good, headers={**head, "X-LogMem-Space": "other"})
    await refused(both, "scope_mismatch")
    other = await http.post("/api/tools/note", json={**NOTE, "space": "elsewhere"}, headers=head)
    await refused(other, "scope_unknown")
    number = await http.post("/api/tools/note", json={**NOTE, "space": 7}, headers=head)
    await refused(number, "invalid_argument")


REFUSALS: dict[str, tuple[str, Any, dict[str, str], str]] = {
    "no key": ("note", NOTE, {"Authorization": ""}, "unauthenticated"),
    "no scheme": ("note", NOTE, {"Authorization": "lmk_x_y"}, "unauthenticated"),
    "wrong key": ("note", NOTE, {"Authorization": f"Bearer lmk_{'0' * 12}_{'0' * 40}"}, "unauthenticated"),
    "other agent": ("note", NOTE, {"X-LogMem-Agent": "codex"}, "identity_mismatch"),
    "unknown argument": ("note", {**NOTE, "text": "x"}, {}, "unknown_argument"),
    "missing argument": ("note", {"where": "job:x"}, {}, "invalid_argument"),
    "wrong type": ("note", {**NOTE, "summary": {"a": 1}}, {}, "invalid_argument"),
    "not an object": ("note", [NOTE], {}, "invalid_argument"),
    "a reserved kind": ("note", {**NOTE, "kind": "decided"}, {}, "reserved_kind"),
    "a tool's kind": ("note", {**NOTE, "kind": "handoff"}, {}, "reserved_kind"),
    "too long": ("note", {**NOTE, "summary": "x" * 1001}, {}, "too_long"),
    "33 KiB": ("note", {**NOTE, "payload": "x" * 33 * 1024}, {}, "payload_too_large"),
    "bad id": ("redeem", {"trail": "nope"}, {}, "malformed_id"),
    "no such ask": ("redeem", {"trail": TRAIL}, {}, "not_found"),
    "not for agents": ("mint", {"name": "evil"}, {}, "scope_denied"),
    "for people": ("decide", {"trail": TRAIL, "verdict": "approve"}, {}, "humans_only"),
    "long action": ("note", NOTE, {"Idempotency-Key": "x" * 201}, "too_long"),
}


@pytest.mark.parametrize("how", REFUSALS)
async def test_each_refusal_has_its_code_and_status(http: httpx.AsyncClient, world: World, how: str) -> None:
    """What is wrong is named by a code with its status, and nothing is written."""
    verb, body, more, code = REFUSALS[how]
    before = await world.dump()
    reply = await http.post(f"/api/tools/{verb}", json=body, headers={**bearer(world), **more})
    await refused(reply, code)
    assert ("www-authenticate" in reply.headers) == (reply.status_code == 401)
    assert await world.dump() == before


BODIES: dict[str, tuple[str | bytes, str]] = {
    "duplicate keys": ('{"where":"job:x","where":"job:y","kind":"memo","summary":"a"}', "payload_not_canonical"),
    "duplicate deep": ('{"where":"job:x","kind":"memo","payload":{"a":[{"b":1,"b":2}]}}', "payload_not_canonical"),
    "1e400": ('{"where":"job:x","kind":"memo","summary":"a","payload":1e400}', "payload_not_canonical"),
    "NaN": ('{"where":"job:x","kind":"memo","summary":"a","payload":NaN}', "payload_not_canonical"),
    "2^53": ('{"where":"job:x","kind":"memo","summary":"a","payload":9007199254740992}', "payload_not_canonical"),
    "surrogate": ('{"where":"job:x","kind":"memo","summary":"a\\ud800"}', "payload_not_canonical"),
    "deep": ('{"payload":' + "[" * 40 + "]" * 40 + "}", "payload_not_canonical"),
    "very deep": ('{"payload":' + "[" * 100_000 + "]" * 100_000 + "}", "payload_not_canonical"),
    "not UTF-8": (b'{"where":"job:x","kind":"memo","summary":"\xff"}', "payload_not_canonical"),
    "not JSON": ("where=job:x", "invalid_argument"),
    "half": ('{"where":"job:x"', "invalid_argument"),
    "null": ("null", "invalid_argument"),
    "a text": ('"note"', "invalid_argument"),
}  # fmt: skip


@pytest.mark.parametrize("how", BODIES)
async def test_c60_a_body_that_parsers_read_differently_is_refused(
    http: httpx.AsyncClient, world: World, how: str
) -> None:
    """A body that is not strict JSON changes nothing; who shows no valid key learns only that."""
    body, code = BODIES[how]
    before = await world.dump()
    error = await refused(await http.post("/api/tools/note", content=body, headers=bearer(world)), code)
    if code == "payload_not_canonical":
        assert error["rule"]
    for unknown in ({}, {"Authorization": "Bearer lmk_0_0"}):
        await refused(await http.post("/api/tools/note", content=body, headers=unknown), "unauthenticated")
    assert await world.dump() == before


async def test_a_body_over_one_mebibyte_is_too_large(http: httpx.AsyncClient, world: World) -> None:
    """A body may have 1 MiB, also where its length was not said beforehand."""
    before = await world.dump()

    async def parts() -> Any:
        for _ in range(2048):
            yield b" " * 1024

    for content in (b" " * ((1 << 20) + 1), parts()):
        error = await refused(
            await http.post("/api/tools/note", content=content, headers=bearer(world)), "payload_too_large"
        )
        assert error["limit"] == 1 << 20
    assert await world.dump() == before
    padded = json.dumps(NOTE).encode() + b" " * ((1 << 20) - 200)
    assert (await http.post("/api/tools/note", content=padded, headers=bearer(world))).status_code == 200


async def test_c12_a_repeated_call_gets_the_first_answer(http: httpx.AsyncClient, world: World) -> None:
    """The same Idempotency-Key and arguments give the first result, marked; other arguments conflict."""
    head = {**bearer(world), "Idempotency-Key": "n1"}
    one = (await http.post("/api/tools/note", json=NOTE, headers=head)).json()
    two = (await http.post("/api/tools/note", json=NOTE, headers=head)).json()
    assert two == {**one, "replayed": True}
    before = await world.dump()
    await refused(await http.post("/api/tools/note", json={**NOTE, "summary": "b"}, headers=head), "action_conflict")
    differ = await http.post("/api/tools/note", json={**NOTE, "action_id": "n2"}, headers=head)
    await refused(differ, "invalid_argument")
    assert await world.dump() == before
    fresh = (await http.post("/api/tools/note", json={**NOTE, "action_id": "n3"}, headers=bearer(world))).json()
    again = (
        await http.post("/api/tools/note", json=NOTE, headers={**bearer(world), "Idempotency-Key": "n3"})
    ).json()  # fmt: skip
    assert again == {**fresh, "replayed": True}


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_post_calls_a_verb(http: httpx.AsyncClient, world: World, method: str) -> None:
    """Any other method is told which one there is, in JSON, and does nothing; deciding is never a GET."""
    ask = await asked(world)
    given = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    before = await world.dump()
    for path in ("/api/tools/note", "/api/tools/decide", *DECISIONS):
        reply = await http.request(method, path, params=given, headers=cookie(http, world))
        assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
        if method != "HEAD":
            assert reply.json()["error"]["code"] == "method_not_allowed"
    assert await world.dump() == before


async def test_an_unknown_path_names_near_ones(http: httpx.AsyncClient, world: World) -> None:
    """A path that is not there is told in JSON, with what may have been meant."""
    for path, meant in (
        ("/api/tools/nota", "/api/tools/note"),
        ("/api/tools/logmem_redeem", "/api/tools/redeem"),
        ("/api/tools/ask-back", "/api/tools/ask_back"),
        ("/api/decied", "/api/decide"),
        ("/api/ask_back", "/api/ask-back"),
    ):
        for method in ("GET", "POST"):
            error = await refused(await http.request(method, path, headers=bearer(world)), "not_found")
            assert meant in error["near"]
    assert (await refused(await http.post("/api/tools/zzzzzz"), "not_found"))["near"] == []


async def test_what_fails_here_is_told_without_a_trace(http: httpx.AsyncClient, world: World) -> None:
    """A document that cannot be read gives a plain 500, which shows nothing of the inside."""
    ask = await asked(world)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        await admin.hset(world.keys.doc("ask", ask["trail"]), "doc", "{broken")
    for path, head in (("/api/tools/view", bearer(world)), ("/api/tools/inbox", cookie(http, world))):
        name = "what" if path.endswith("view") else "trail"
        reply = await http.post(path, json={name: ask["trail"]}, headers=head)
        assert reply.status_code == 500
        error = reply.json()["error"]
        assert error["code"] == "internal"
        assert not [word for word in ("Traceback", "pydantic", "broken", "lm:") if word in reply.text]


async def test_people_decide_over_rest(http: httpx.AsyncClient, world: World) -> None:
    """A session from our own pages decides, asks back and takes back, by the short paths and by the rows'."""
    one, two = await asked(world), await asked(world, summary="b")
    for ask, prefix in ((one, "/api/"), (two, "/api/tools/")):
        head = cookie(http, world)
        dash = "_" if prefix.endswith("tools/") else "-"
        back = await http.post(f"{prefix}ask{dash}back", json={"trail": ask["trail"], "text": "Why?"}, headers=head)
        assert back.json()["entry"]["kind"] == "question"
        missing = await http.post(f"{prefix}decide", json={"trail": ask["trail"], "verdict": "approve"}, headers=head)
        error = await refused(missing, "digest_required")
        done = await http.post(
            f"{prefix}decide",
            json={"trail": ask["trail"], "digest": error["digest"], "verdict": "approve"},
            headers=head,
        )
        assert (done.json()["status"], done.json()["via"]) == ("approved", "console")
        late = await http.post(
            f"{prefix}decide",
            json={"trail": ask["trail"], "digest": error["digest"], "verdict": "reject"},
            headers=cookie(http, world, "human:bo"),
        )
        assert (await refused(late, "already_settled"))["by"] == "human:ana"
        undone = await http.post(f"{prefix}take{dash}back", json={"trail": ask["trail"]}, headers=head)
        assert undone.json()["status"] == "taken_back"


COOKIE_FAULTS: dict[str, dict[str, str | None]] = {
    "no header": {"X-LogMem-CSRF": None},
    "header 0": {"X-LogMem-CSRF": "0"},
    "no origin": {"Origin": None},
    "null origin": {"Origin": "null"},
    "foreign origin": {"Origin": "https://evil.example"},
    "other port": {"Origin": "http://127.0.0.1:1"},
    "other scheme": {"Origin": "https://{host}"},
    "origin and more": {"Origin": "http://{host}.evil.example"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "plain text": {"Content-Type": "text/plain"},
    "no type": {"Content-Type": None},
}


@pytest.mark.parametrize("how", COOKIE_FAULTS)
async def test_a_cookie_counts_only_from_our_own_pages(http: httpx.AsyncClient, world: World, how: str) -> None:
    """Without the header, our own Origin and JSON, a cookie does nothing, for any verb."""
    ask = await asked(world)
    head: dict[str, str] = cookie(http, world)
    for name, value in COOKIE_FAULTS[how].items():
        head.pop(name)
        if value is not None:
            head[name] = value.format(host=str(http.base_url).partition("//")[2].rstrip("/"))
    given = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    before = await world.dump()
    for path, body in (("/api/decide", given), ("/api/tools/decide", given), ("/api/tools/mint", {"name": "x"})):
        reply = await http.post(path, content=json.dumps(body), headers=head)
        await refused(reply, "invalid_argument" if "Content-Type" in COOKIE_FAULTS[how] else "scope_denied")
    assert await world.dump() == before


def attempts(world: World, http: httpx.AsyncClient, given: Mapping[str, Any]) -> list[tuple[str, Any, dict[str, str]]]:
    """Ways in which an agent that holds a key may try to decide: path, body, headers."""
    key, own = world.tokens["agent:grok"], cookie(http, world)
    session = world.tokens["human:ana"].split("_")[1]
    secret = key.split("_")[2]
    tries: list[tuple[str, Any, dict[str, str]]] = []
    for path in ("/api/decide", "/api/tools/decide"):
        tries += [
            (path, given, bearer(world)),
            (path, {**given, "by": "human:ana"}, bearer(world)),
            (path, {**given, "caller": "human:ana", "via": "console"}, bearer(world)),
            (path, given, {**bearer(world), "X-LogMem-Agent": "human:ana"}),
            (
                path,
                given,
                {**bearer(world), "X-LogMem-Human": "ana", "X-Forwarded-User": "ana", "X-LogMem-Via": "console"},
            ),
            (path, given, {**own, "Cookie": f"{COOKIE}={key}"}),
            (path, given, {**own, "Cookie": f"{COOKIE}=lms_{session}_{secret}"}),
            (path, given, {**own, "Cookie": f"{COOKIE}=lms_{session}_"}),
            (path, given, {**own, "Cookie": f"{COOKIE}={key.replace('lmk', 'lms', 1)}"}),
            (path, given, {"Authorization": f"Bearer {world.tokens['human:ana']}"}),
            (path, given, {**own, **bearer(world)}),
            (path, given, {**own, "Authorization": "Bearer"}),
            (f"{path}?session={world.tokens['human:ana']}", given, bearer(world)),
        ]
    note = {"where": "job:release", "kind": "decided", "summary": "approved", "trail": given["trail"]}
    tries.append(("/api/tools/note", note, bearer(world)))
    tries.append(("/api/tools/ask", {"where": "job:x", "summary": "x", "by": "human:ana"}, bearer(world)))
    return tries


async def test_c24_no_key_decides_by_any_means(http: httpx.AsyncClient, world: World) -> None:
    """No argument, header or credential that an agent can make lets its key decide, ask back or take back."""
    ask = await asked(world)
    given = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    before = await world.dump()
    for path, body, headers in attempts(world, http, given):
        reply = await http.post(path, json=body, headers=headers)
        assert reply.status_code in (400, 401, 403), (path, body, headers, reply.text)
    for path, body in (("/api/ask-back", {"text": "?"}), ("/api/take-back", {})):
        reply = await http.post(path, json={"trail": ask["trail"], **body}, headers=bearer(world))
        await refused(reply, "humans_only")
    assert await world.dump() == before
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["status"] == "pending"


@pytest.mark.parametrize("payload", ["", None, 0, [], {}, False, "\u0000", 1.0, -0.0, {"": ""}])
async def test_every_payload_comes_back_as_it_was_asked(http: httpx.AsyncClient, world: World, payload: Any) -> None:
    """What was approved is what redeem returns, also where it is empty."""
    head = bearer(world)
    ask = (
        await http.post("/api/tools/ask", json={"where": "job:x", "summary": "s", "payload": payload}, headers=head)
    ).json()  # fmt: skip
    given = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
    assert (await http.post("/api/decide", json=given, headers=cookie(http, world))).status_code == 200
    reply = await http.post("/api/tools/redeem", json={"trail": ask["trail"], "payload": payload}, headers=head)
    assert reply.status_code == 200
    assert reply.json()["payload"] == payload
