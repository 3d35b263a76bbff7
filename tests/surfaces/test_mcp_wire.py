"""The wire alone, over a small server of the SDK's own: both of its paths do the same."""

import json
from typing import Any

import httpx
import pytest
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from api.hosts import Hosts
from api.mcp_wire import Wire
from store.domain.errors import Refused
from tests.surfaces.wire import ERAS, headers, message

BROKEN = '{"a": 1, "a": 2}'


async def echo(ctx: ServerRequestContext[Any, Request], params: CallToolRequestParams) -> HandlerResult:
    """What the handler gets to see: the SDK's arguments, and those that were read strictly."""
    assert ctx.request
    seen = {"sdk": params.arguments, "read": ctx.request.state.arguments, "fault": str(ctx.request.state.fault or "")}
    return {"content": [], "structuredContent": seen, "resultType": "complete"}


async def admit(request: Request, body: dict[str, Any] | None) -> None:
    """Let all in but one."""
    if request.headers.get("authorization") == "Bearer no":
        raise Refused("unauthenticated", "Not you.")


async def exchange(era: str, arguments: str, *, progress: bool, proof: str = "") -> httpx.Response:
    """The answer of a wire to a tool call; with a progress token the SDK's session manager makes it."""
    server: Server[Any] = Server("small")
    server.add_request_handler("tools/call", CallToolRequestParams, echo)
    wire = Wire(server, hosts=Hosts.of(), admit=admit)
    params = {"name": "echo", "arguments": "HERE", **({"_meta": {"progressToken": 1}} if progress else {})}
    body = message("tools/call", params, era=era)
    raw = json.dumps(body).replace('"HERE"', arguments)
    transport = httpx.ASGITransport(Starlette(routes=[Route("/mcp", wire)]))
    async with wire.run(), httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        more = {**headers(body, era=era), **({"authorization": proof} if proof else {})}
        return await http.post("/mcp", content=raw, headers=more)


@ERAS
@pytest.mark.parametrize("progress", [False, True])
async def test_arguments_reach_the_handler_once_they_are_read_strictly(era: str, progress: bool) -> None:
    """Sound ones come as they are; of broken ones the SDK sees nothing, and the handler learns what is wrong."""
    sound = (await exchange(era, '{"a": [1, null, "ü"]}', progress=progress)).json()["result"]["structuredContent"]
    assert sound == {"sdk": {"a": [1, None, "ü"]}, "read": {"a": [1, None, "ü"]}, "fault": ""}
    broken = (await exchange(era, BROKEN, progress=progress)).json()["result"]["structuredContent"]
    assert (broken["sdk"], broken["read"]) == ({}, {})
    assert broken["fault"].startswith("payload_not_canonical: ")


@ERAS
@pytest.mark.parametrize("progress", [False, True])
async def test_who_is_refused_at_the_door_gets_an_answer_of_http(era: str, progress: bool) -> None:
    """Neither path dispatches a request whose sender is not admitted."""
    response = await exchange(era, "{}", progress=progress, proof="Bearer no")
    assert response.status_code == 401
    assert response.json()["error"]["data"] == {"code": "unauthenticated", "message": "Not you."}
    assert 'error="invalid_token"' in response.headers["www-authenticate"]


def test_names_are_known_in_every_form() -> None:
    """Hosts are compared without port and case; addresses may be URLs, names or IP addresses."""
    hosts = Hosts.of("https://LogMem.example.com:8443", "fd00::5", "10.0.0.7", None)
    for host in ("logmem.example.com", "LOGMEM.example.com:443", "[fd00::5]:80", "10.0.0.7:1", "localhost", "[::1]"):
        assert hosts.fault(host, "") is None
        assert hosts.fault(host, f"https://{host}") is None
    for host in (
        "",
        "example.com",
        "evil-logmem.example.com",
        "logmem.example.com.evil",
        "10.0.0.70",
        "localhost@evil",
    ):
        assert hosts.fault(host, "") is not None
    assert hosts.fault("localhost", "ftp://localhost") is not None
