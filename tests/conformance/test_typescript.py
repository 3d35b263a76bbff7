"""Clients of the TypeScript SDK, old and new, and a proxy for clients that speak stdio only."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent

from store.verbs.catalog import FLEET, tools
from tests.conformance.node import MODULES, Node
from tests.surfaces.complete import missing
from tests.world import World

pytestmark = pytest.mark.long
NAMES = [f"logmem_{row.verb}" for row in tools(FLEET)]
OLD, NEW = "2025-11-25", "2026-07-28"
CLIENTS: Sequence[tuple[str, list[str], str]] = (
    ("v1.mjs", [], OLD),
    ("v2.mjs", ["legacy"], OLD),
    ("v2.mjs", ["auto"], NEW),
)
PATIENCE = 60.0  # seconds for the story by proxy


@pytest.mark.parametrize("minted", [False, True], ids=["bearer", "url"])
@pytest.mark.parametrize(("script", "mode", "version"), CLIENTS, ids=["v1", "v2-legacy", "v2-auto"])
async def test_a_client_in_typescript_goes_through_the_main_job(  # noqa: PLR0917 - fixtures come by name
    node: Node, server: str, world: World, script: str, mode: list[str], version: str, minted: bool
) -> None:
    """It connects by bearer and by URL, lists all, starts, notes, asks, follows, and reads its Brief."""
    token = world.tokens["agent:grok"]
    way = [f"{server}/k/{token}/mcp", *mode] if minted else [f"{server}/mcp", *mode, token]
    done = await node.run(script, *way)
    assert done.code == 0, done.err + done.out
    steps = {step["step"]: step for step in map(json.loads, done.out.splitlines())}
    assert steps["connected"]["version"] == version
    assert steps["connected"]["instructions"].startswith(f"You are agent:grok in space {world.space}. ")
    assert {"tools", "resources", "prompts"} <= steps["connected"]["capabilities"].keys()
    assert steps["tools"]["names"] == NAMES
    for verb in ("start", "note", "ask", "follow", "brief"):
        assert not steps[verb]["refused"], steps[verb]
    for verb in ("note", "ask", "follow"):
        assert missing(steps[verb]["structure"], steps[verb]["text"]) == []
    assert steps["note"]["structure"]["entry"]["client"] == script.replace("v", "typescript-v").removesuffix(".mjs")
    assert steps["follow"]["structure"]["pending"] is True
    assert steps["redeem"]["text"].startswith("not_approved: ")
    assert steps["resources"]["uris"] == [f"logmem://{world.space}/brief"]
    assert steps["resource"]["text"].startswith(f"agent:grok in {world.space}")
    assert "logmem_brief" in steps["prompt"]["text"]


async def test_a_client_that_speaks_stdio_only_comes_by_proxy(
    node: Node, server: str, world: World, tmp_path: Path
) -> None:
    """mcp-remote stands between: it takes our URL and a header, and everything works as without it."""
    header = "Authorization:Bearer ${LOGMEM_TOKEN}"
    proxy = StdioServerParameters(
        command=str(node.binary),
        args=[str(MODULES / "mcp-remote/dist/proxy.js"), f"{server}/mcp", "--header", header, "--allow-http"],
        env={**node.variables, "LOGMEM_TOKEN": world.tokens["agent:grok"]},
        cwd=tmp_path,
    )
    with (tmp_path / "proxy.log").open("w") as log:
        async with asyncio.timeout(PATIENCE), Client(stdio_client(proxy, errlog=log), mode="legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
            noted = await _call(client, "note", where="job:x", kind="memo", summary="tick")
            assert noted["entry"]["by"] == "agent:grok"
            ask = await _call(client, "ask", where="job:x", summary="Publish?")
            assert (await _call(client, "follow", what=ask["trail"], wait=0))["pending"] is True
            (listed,) = (await client.list_resources()).resources
            (content,) = (await client.read_resource(listed.uri)).contents
            assert getattr(content, "text", "").startswith(f"agent:grok in {world.space}")


async def _call(client: Client, verb: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(f"logmem_{verb}", arguments)
    assert isinstance(result, CallToolResult)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert not result.is_error, block.text
    said: dict[str, Any] = result.structured_content or {}
    assert missing(said, block.text) == []
    return said
