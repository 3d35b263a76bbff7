"""MCP's resources by hand: what stands in a space, by URI, in both eras and over both ways in."""

from typing import Any

import httpx
import pytest

from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.surfaces.wire import ERAS, NEW, NOTE, OLD, WAYS, Hand, hand, told
from tests.world import World

NO_RESOURCE = {OLD: -32002, NEW: -32602}
NO_PARAMS = -32602


async def read(hand: Hand, uri: str, more: dict[str, str] | None = None) -> Any:
    """What stands at a URI."""
    response = await hand.ask("resources/read", more, uri=uri)
    assert response.status_code == 200, response.text
    (content,) = response.json()["result"]["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "text/plain")
    return content["text"]


async def refused(hand: Hand, uri: str, more: dict[str, str] | None = None) -> Any:
    """The protocol's error for a URI: its message begins with our code, and its data is our refusal."""
    response = await hand.ask("resources/read", more, uri=uri)
    assert response.status_code == (400 if hand.era == NEW and response.json()["error"]["code"] == NO_PARAMS else 200)
    error = response.json()["error"]
    assert error["message"] == f"{error['data']['code']}: {error['data']['message']}"
    assert "\n" not in error["message"]
    assert error["data"]["uri"] == uri
    return error


@WAYS
async def test_what_a_resource_says_is_what_its_tool_says(
    http: httpx.AsyncClient, world: World, era: str, minted: bool
) -> None:
    """The Brief, a job and an ask read as the text of the tool that shows them, and reading writes nothing."""
    await world.do("agent:codex", "handoff", to="grok", summary="Write the notes", where="job:x")
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?", payload={"v": 1})
    grok = hand(http, world, era=era, minted=minted)
    before = await world.dump()
    brief = await read(grok, f"logmem://{world.space}/brief")
    assert '"Write the notes"' in brief
    assert brief.startswith(f"agent:grok in {world.space}")
    for path, what in ((f"ask/{ask['trail']}", ask["trail"]), ("job/x", "job:x"), ("job/job:x", "job:x")):
        shown = await read(grok, f"logmem://{world.space}/{path}")
        lines = text(ROWS["view"], await world.do("agent:grok", "view", what=what)).splitlines()
        assert [line for line in shown.splitlines() if "age" not in line] == [
            line for line in lines if "age" not in line
        ]
    assert await world.dump() == before


@ERAS
async def test_resources_are_listed_with_the_caller_s_space(http: httpx.AsyncClient, world: World, era: str) -> None:
    """What needs no id is listed as it is, the rest by a template with only its id left open; both can be kept."""
    grok, root = hand(http, world, era=era), f"logmem://{world.space}"
    listed = (await grok.ask("resources/list")).json()["result"]
    assert [each["uri"] for each in listed["resources"]] == [f"{root}/brief"]
    formed = (await grok.ask("resources/templates/list")).json()["result"]
    assert [each["uriTemplate"] for each in formed["resourceTemplates"]] == [
        f"{root}/job/{{id}}",
        f"{root}/ask/{{trail}}",
    ]
    for each in (*listed["resources"], *formed["resourceTemplates"]):
        assert each["description"]
        assert (each["name"], each["mimeType"]) == (each["name"].lower(), "text/plain")
    if era == NEW:
        assert listed["cacheScope"] == formed["cacheScope"] == "private"
        once = (await grok.ask("resources/read", uri=f"{root}/brief")).json()["result"]
        assert (once["ttlMs"], once["cacheScope"]) == (0, "private")


@ERAS
async def test_c03_a_resource_of_another_space_is_a_loud_error(http: httpx.AsyncClient, world: World, era: str) -> None:
    """The URI declares a space like any other place that names one: unknown or contradicting, it is refused."""
    grok = hand(http, world, era=era)
    error = await refused(grok, "logmem://elsewhere/brief")
    assert (error["code"], error["data"]["code"]) == (NO_RESOURCE[era], "scope_unknown")
    assert error["data"]["spaces"] == [world.space]
    said = await grok.ask("resources/read", {"x-logmem-space": "elsewhere"}, uri=f"logmem://{world.space}/brief")
    assert said.status_code == 404  # the header alone is wrong, whatever the request
    assert said.json()["error"]["data"]["code"] == "scope_unknown"
    error = await refused(grok, "logmem://elsewhere/brief", {"x-logmem-space": world.space})
    assert (error["code"], error["data"]["code"]) == (NO_PARAMS, "scope_mismatch")
    assert await read(grok, f"logmem://{world.space}/brief", {"x-logmem-space": world.space})


@ERAS
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("job/nothing", "not_found"),
        ("ask/ask_AAECAwQFBgcICQoLDA0ODw", "not_found"),
        ("nothing", "not_found"),
        ("brief/x", "not_found"),
        ("job", "not_found"),
        ("job/x/y", "not_found"),
        ("", "not_found"),
        ("ask/ci_0123456789", "malformed_id"),
        ("ask/job:x", "malformed_id"),
        ("job/agent:grok", "malformed_id"),
        ("job/X%20y", "malformed_id"),
    ],
)
async def test_what_is_not_there_is_the_protocol_s_error(
    http: httpx.AsyncClient, world: World, era: str, path: str, code: str
) -> None:
    """In each era by its own number; an id of another kind is none of this kind."""
    await world.do("agent:grok", "note", **NOTE)
    error = await refused(hand(http, world, era=era), f"logmem://{world.space}/{path}")
    assert error["data"]["code"] == code
    assert error["code"] == (NO_RESOURCE[era] if code == "not_found" else NO_PARAMS)


@ERAS
async def test_no_other_scheme_is_read(http: httpx.AsyncClient, world: World, era: str) -> None:
    """A URI elsewhere is looked up nowhere."""
    for uri in ("file:///etc/passwd", f"http://{world.space}/brief", f"{world.space}/brief", "logmem:brief", "x\ny"):
        error = await refused(hand(http, world, era=era), uri)
        assert (error["code"], error["data"]["code"]) == (NO_RESOURCE[era], "not_found")


@ERAS
async def test_a_profile_narrows_resources_as_it_does_tools(http: httpx.AsyncClient, world: World, era: str) -> None:
    """Who has no tool to read something with, by key or URL, has no resource for it either."""
    await world.agent("small", profile="core")
    for small in (hand(http, world, "agent:small", era=era), hand(http, world, era=era, query="?profile=core")):
        assert (await small.ask("resources/list")).json()["result"]["resources"] == []
        assert (await small.ask("resources/templates/list")).json()["result"]["resourceTemplates"] == []
        error = await refused(small, f"logmem://{world.space}/brief")
        assert (error["code"], error["data"]["code"]) == (NO_RESOURCE[era], "not_found")


@ERAS
async def test_who_is_not_known_reads_nothing(http: httpx.AsyncClient, world: World, era: str) -> None:
    """A resource wants a key like any call; a revoked one is turned away by HTTP."""
    uri = f"logmem://{world.space}/brief"
    for method, said in (("resources/read", {"uri": uri}), ("resources/list", {}), ("prompts/list", {})):
        stranger = Hand(http, "lmk_0123456789ab_" + "0" * 40, era=era)
        assert told(await stranger.ask(method, **said), 401)["data"]["code"] == "unauthenticated"
    await world.operate("revoke", name="grok")
    assert told(await hand(http, world, era=era).ask("resources/read", uri=uri), 401)["data"]["code"] == "key_revoked"


@ERAS
async def test_what_is_served_is_declared(http: httpx.AsyncClient, world: World, era: str) -> None:
    """Tools, resources and prompts, and of none that we would tell of changes or take a subscription."""
    if era == NEW:
        answer = await hand(http, world, era=era).ask("server/discover")
    else:
        hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        answer = await hand(http, world, era=era).ask("initialize", **hello)
    capabilities = answer.json()["result"]["capabilities"]
    assert {name for name, said in capabilities.items() if said is not None} == {"tools", "resources", "prompts"}
    assert not any(value for said in capabilities.values() for value in said.values())
