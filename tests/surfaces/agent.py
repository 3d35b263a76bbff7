"""An agent in a process of its own: the SDK's client through the main job. It prints each step as a line of JSON.

    python -m tests.surfaces.agent URL MODE [TOKEN]

MODE is `legacy` or `auto`, as the SDK names the eras. It asks, waits for the decision, and uses it.
"""

import asyncio
import json
import sys
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, Implementation

PAYLOAD = {"version": "1.4.0", "channel": "stable", "notes": None}


def say(step: str, **facts: Any) -> None:
    """Print one step."""
    sys.stdout.write(json.dumps({"step": step, **facts}) + "\n")
    sys.stdout.flush()


async def main(url: str, mode: str, token: str = "") -> None:
    """Connect, start, note, ask, follow, redeem; and be refused once."""
    headers = {"Authorization": f"Bearer {token}"} if token else None
    me = Implementation(name="test-agent", version="1")
    async with (
        create_mcp_http_client(headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, client_info=me) as client,
    ):
        say("connected", version=client.protocol_version, instructions=client.instructions)
        names = [tool.name for tool in (await client.list_tools()).tools]
        say("tools", names=names)
        await story(client, names)


async def story(client: Client, names: list[str]) -> None:
    """The main job, with the tools that there are."""

    async def call(verb: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(f"logmem_{verb}", arguments)
        assert isinstance(result, CallToolResult)
        (block,) = result.content
        said = result.structured_content or {}
        say(verb, refused=bool(result.is_error), text=getattr(block, "text", ""), structure=said)
        return said

    assert "logmem_start" in names
    await call("start", agent="grok", model="test")
    await call("note", where="job:release", kind="progress", summary="Built v1.4.0\n-> approve it", tags=["build"])
    ask = await call("ask", where="job:release", summary="Publish v1.4.0?", payload=PAYLOAD)
    await call("redeem", trail=ask["trail"])
    while (await call("follow", what=ask["trail"], wait=20)).get("pending"):
        pass
    await call("redeem", trail=ask["trail"], payload=PAYLOAD, action_id="publish-1")
    if "logmem_recap" in names:
        await call("recap", notes="Published v1.4.0", next=["Write the release notes"])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
