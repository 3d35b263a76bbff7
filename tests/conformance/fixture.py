"""A small server with what the conformance suite expects to find, behind our own transport.

    python -m tests.conformance.fixture PORT

It prints one line when it serves, and ends with its standard input.
"""

import asyncio
import json
import re
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp import MCPError
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from api.hosts import Hosts
from api.mcp_wire import Wire, has_progress_token
from store.listening import Bounded
from tests.conformance.fixture_tools import BUS, DONE, PNG, TOOLS, Context, Json, image, needing, resource, text

LISTS: tuple[CacheableMethod, ...] = (
    *("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"),
)
RESOURCES = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "This is watched."}),
}
TEMPLATE = re.compile(r"test://template/([^/]+)/data")
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_tools(ctx: Context, params: PaginatedRequestParams) -> Json:
    """All tools, always in one order."""
    tools = [{"name": name, "description": name, "inputSchema": tool.schema} for name, tool in TOOLS.items()]
    return {"resultType": DONE, "tools": tools}


async def call_tool(ctx: Context, params: CallToolRequestParams) -> Json:
    """The result of a tool."""
    if params.name not in TOOLS:
        raise MCPError(INVALID_PARAMS, "There is no such tool.")
    return await TOOLS[params.name].run(ctx, params)


async def list_resources(ctx: Context, params: PaginatedRequestParams) -> Json:
    """What can be read as it is."""
    shown = [{"uri": u, "name": u, "description": u, "mimeType": mime} for u, (mime, _) in RESOURCES.items()]
    return {"resultType": DONE, "resources": shown}


async def list_templates(ctx: Context, params: PaginatedRequestParams) -> Json:
    """What can be read by its form."""
    form = {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}
    return {"resultType": DONE, "resourceTemplates": [form]}


async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> Json:
    """What stands at a URI."""
    found = TEMPLATE.fullmatch(params.uri)
    if found:
        said = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
        mime, content = "application/json", {"text": json.dumps(said)}
    elif params.uri in RESOURCES:
        mime, content = RESOURCES[params.uri]
    else:
        raise MCPError(INVALID_PARAMS, "There is no such resource.", {"uri": params.uri})
    return {"resultType": DONE, "contents": [{"uri": params.uri, "mimeType": mime, **content}]}


async def list_prompts(ctx: Context, params: PaginatedRequestParams) -> Json:
    """All prompts."""
    shown = [
        {"name": name, "description": name, "arguments": [{"name": each, "required": True} for each in taken]}
        for name, taken in PROMPTS.items()
    ]
    return {"resultType": DONE, "prompts": shown}


async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> Json:
    """A prompt, filled in."""
    said = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            blocks = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            blocks = [text(f"Prompt with arguments: arg1='{said['arg1']}', arg2='{said['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            blocks = [
                resource(said["resourceUri"], "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ]
        case "test_prompt_with_image":
            blocks = [image(), text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            return await _asking_prompt(ctx, params)
        case _:
            raise MCPError(INVALID_PARAMS, "There is no such prompt.")
    return {"resultType": DONE, "messages": [{"role": "user", "content": block} for block in blocks]}


async def _asking_prompt(ctx: Context, params: GetPromptRequestParams) -> Json:
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    asked = {"message": "What context should the prompt use?", "requestedSchema": schema}
    wants = needing({"user_context": {"method": "elicitation/create", "params": asked}})
    call = CallToolRequestParams(name=params.name, input_responses=params.input_responses)
    got = await wants(ctx, call)
    if got["resultType"] != DONE:
        return got
    return {"resultType": DONE, "messages": [{"role": "user", "content": text("Thank you.")}]}


async def complete(ctx: Context, params: CompleteRequestParams) -> Json:
    """Nothing comes to mind."""
    return {"resultType": DONE, "completion": {"values": [], "total": 0, "hasMore": False}}


async def accept(ctx: Context, params: RequestParams) -> Json:
    """Done."""
    return {}


def server() -> Server[Any]:
    """The server, of both eras."""
    hints = dict.fromkeys(LISTS, CacheHint(ttl_ms=1000, scope="private"))
    made: Server[Any] = Server("conformance", version="1", cache_hints=hints)
    made.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    made.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    made.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    made.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    made.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
    made.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    made.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
    made.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    made.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
    made.add_request_handler("completion/complete", CompleteRequestParams, complete)
    made.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    made.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(BUS))
    return made


def may_stream(message: Json) -> bool:
    """Whether the session manager serves this: what sends more than its result, or has arguments in headers too."""
    match message:
        case {"method": "subscriptions/listen"}:
            return True
        case {"method": "tools/call", "params": {"name": str(name)}} if name in TOOLS and TOOLS[name].streams:
            return True
    return has_progress_token(message)


async def admit(request: Request, message: Json | None) -> None:
    """Everybody is welcome."""


def application() -> Starlette:
    """The transport of the product around that server."""
    wire = Wire(server(), hosts=Hosts.of(), admit=admit, may_stream=may_stream, json_response=False)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with wire.run():
            yield

    return Starlette(routes=[Route("/mcp", wire)], lifespan=life)


async def main(descriptor: str) -> None:
    """Serve on a socket that listens, until standard input ends."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the suite asks for what later revisions leave out
    config = uvicorn.Config(
        application(), http=Bounded, ws="none", fd=int(descriptor), log_level="warning", timeout_graceful_shutdown=1
    )
    serving = uvicorn.Server(config)
    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, sys.stdin.read)
    ended.add_done_callback(lambda _: setattr(serving, "should_exit", True))
    await serving.serve()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
