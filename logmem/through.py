"""`start`, called through what stands in a client's file: with the SDK's own client, as the client itself would."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TextIO, cast

from .configs import Client, Entry, Link
from .fault import Fault

PATIENCE = 30.0  # seconds for all of it


@dataclass(frozen=True, slots=True)
class Started:
    """What resolved: who and where, until when, how many tools, and the Brief as it was told."""

    agent: str
    space: str
    via: str
    expires_at: str
    tools: int
    brief: tuple[str, ...]


def start(client: Client, entry: Entry) -> Started:
    """Connect as the entry says, and call start. Fault: it does not come to that."""
    link = client.link(entry)
    with tempfile.TemporaryFile("w+") as errors:
        try:
            return asyncio.run(_start(client, entry, link, cast("TextIO", errors)))
        except Exception as why:  # noqa: BLE001 - whatever a client may meet is what is to be told
            errors.seek(0)
            said = errors.read().strip() or _first(why)
            raise Fault(f"What was written does not connect: {said}") from None


async def _start(client: Client, entry: Entry, link: Link, errors: TextIO) -> Started:
    from mcp import Client as Speaker
    from mcp_types import Implementation

    me = Implementation(name="logmem", version="1")
    async with (
        asyncio.timeout(PATIENCE),
        _transport(client, entry, errors) as transport,
        Speaker(transport, mode="legacy", client_info=me) as speaker,
    ):
        names = [tool.name for tool in (await speaker.list_tools()).tools]
        made: Any = await speaker.call_tool("logmem_start", {"agent": link.agent})
        text = "\n".join(block.text for block in made.content if block.type == "text")
        known = made.structured_content or {}
        if "logmem_connection" in names:
            asked: Any = await speaker.call_tool("logmem_connection", {})
            known = {**known, **(asked.structured_content or {})}
    return Started(
        agent=str(known.get("caller", f"agent:{link.agent}")),
        space=str(known.get("space", link.space)),
        via=str(known.get("via", "token")),
        expires_at=str(known.get("expires_at", "")),
        tools=len(names),
        brief=tuple(text.splitlines()),
    )


@asynccontextmanager
async def _transport(client: Client, entry: Entry, errors: TextIO) -> AsyncIterator[Any]:
    """The way to the server that the entry describes."""
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    if "command" in entry:
        given = {key: entry[key] for key in ("command", "args", "env") if key in entry}
        yield stdio_client(StdioServerParameters(**given), errlog=errors)
        return
    async with create_mcp_http_client(entry.get(client.headers, {})) as http:
        yield streamable_http_client(entry["url"], http_client=http)


def _first(why: BaseException) -> str:
    """The first of what went wrong, of several at once."""
    while isinstance(why, BaseExceptionGroup):
        why = why.exceptions[0]
    return str(why) or type(why).__name__
