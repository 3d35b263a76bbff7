"""One agent of the demo: a client that speaks MCP over HTTP with its own key, in a process of its own.

    python -I -m logmem.demo.cast

It is told what to do on stdin, a line of JSON each. The first line says who it is: {url, token, client, version}; it
answers {ready, tools} once it is connected. Each line after that is a call: {tool, args}; it answers what it was
answered: {refused, text, result}. It ends with its stdin. The key comes this way so that no list of processes shows it.
"""

import asyncio
import json
import sys
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, Implementation

from .actor import LONGEST


def main() -> None:
    """Play until stdin ends; what goes wrong is the last line on stderr."""
    try:
        asyncio.run(_play())
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as why:  # noqa: BLE001 - whatever a client may meet is what is to be told
        sys.exit(_first(why))


async def _play() -> None:
    lines = asyncio.StreamReader(limit=LONGEST)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    me = json.loads(await lines.readline())
    info = Implementation(name=me["client"], version=me["version"])
    async with (
        create_mcp_http_client({"Authorization": f"Bearer {me['token']}"}) as http,
        Client(streamable_http_client(f"{me['url']}/mcp", http_client=http), client_info=info) as client,
    ):
        _say(ready=client.protocol_version, tools=len((await client.list_tools()).tools))
        while line := await lines.readline():
            said = json.loads(line)
            made = await client.call_tool(said["tool"], said["args"])
            _say(**_answer(made))


def _answer(made: Any) -> dict[str, Any]:
    """What a tool gave, in both forms."""
    if not isinstance(made, CallToolResult):
        raise TypeError(f"{type(made).__name__} is no result of a tool")
    text = "\n".join(block.text for block in made.content if block.type == "text")
    return {"refused": bool(made.is_error), "text": text, "result": made.structured_content or {}}


def _say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def _first(why: BaseException) -> str:
    """The first of what went wrong, of several at once."""
    while isinstance(why, BaseExceptionGroup):
        why = why.exceptions[0]
    return str(why) or type(why).__name__


if __name__ == "__main__":
    main()
