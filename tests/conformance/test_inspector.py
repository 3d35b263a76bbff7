"""The MCP Inspector's command line against the product, in both eras."""

import json
import re
from typing import Any

import pytest

from store.verbs.catalog import FLEET, tools
from tests.conformance.node import Done, Node
from tests.world import World

pytestmark = pytest.mark.long
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


class Inspector:
    """One credential's requests in one era."""

    def __init__(self, node: Node, server: str, world: World, era: str) -> None:
        proof = f"Authorization: Bearer {world.tokens['agent:grok']}"
        self.node = node
        self.fixed = ["--cli", "--server-url", f"{server}/mcp", "--transport", "http", "--protocol-era", era]
        self.fixed += ["--header", proof, "--format", "json"]

    async def run(self, method: str, *more: str) -> Done:
        """A request, as it ended."""
        return await self.node.run(INSPECTOR, *self.fixed, "--method", method, *more)

    async def ask(self, method: str, *more: str) -> Any:
        """The result of a request."""
        done = await self.run(method, *more)
        assert done.code == 0, done.err + done.out
        return json.loads(done.out)["result"]


@ERAS
async def test_the_tools_are_portable(node: Node, server: str, world: World, era: str) -> None:
    """The strict check of schemas finds no error, and warns of nothing but that a payload may be any JSON."""
    done = await Inspector(node, server, world, era).run("tools/list", "--strict")
    assert done.code == 0, done.err
    listed = json.loads(done.out)["result"]
    assert [tool["name"] for tool in listed["tools"]] == [f"logmem_{row.verb}" for row in tools(FLEET)]
    told = re.findall(r"^(error|warning): tool \"(\w+)\"\n\s*path: (\S+)", done.err, re.M)
    assert done.err.count("path: ") == len(told)
    assert {(kind, path) for kind, _, path in told} <= {("warning", "inputSchema.properties.payload")}


@ERAS
async def test_a_tool_is_called(node: Node, server: str, world: World, era: str) -> None:
    """A write goes through, and a refusal comes as a result."""
    inspector = Inspector(node, server, world, era)
    said = ["where=job:x", "kind=memo", "summary=tick"]
    noted = await inspector.ask("tools/call", "--tool-name", "logmem_note", "--tool-arg", *said)
    assert noted["structuredContent"]["entry"]["by"] == "agent:grok"
    refused = (await inspector.run("tools/call", "--tool-name", "logmem_view", "--tool-arg", "what=job:none")).out
    assert "not_found: " in refused


@ERAS
async def test_resources_and_prompts_are_read(node: Node, server: str, world: World, era: str) -> None:
    """What is listed can be read, by its URI or name."""
    inspector = Inspector(node, server, world, era)
    (brief,) = (await inspector.ask("resources/list"))["resources"]
    (content,) = (await inspector.ask("resources/read", "--uri", brief["uri"]))["contents"]
    assert content["text"].startswith(f"agent:grok in {world.space}")
    formed = (await inspector.ask("resources/templates/list"))["resourceTemplates"]
    assert [each["name"] for each in formed] == ["job", "ask"]
    names = [each["name"] for each in (await inspector.ask("prompts/list"))["prompts"]]
    assert "handoff" in names
    filled = await inspector.ask("prompts/get", "--prompt-name", "handoff", "--prompt-args", "to=codex")
    assert "logmem_handoff" in filled["messages"][0]["content"]["text"]
