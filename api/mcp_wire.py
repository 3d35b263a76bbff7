"""The wire of MCP: an HTTP request in, one JSON-RPC message through the SDK's dispatch, an HTTP response out.

Stateless, in both eras. A request takes the short path: the SDK's own `serve_one`, without the task group, streams and
second parsing that its session manager puts around it. What is no request, and what may send more than its result,
goes through the session manager. The short path stands on names that the SDK keeps private: mcp is pinned to 2.3.

    Wire(server, hosts=…, admit=…)       an ASGI endpoint, for POST and to refuse the rest
    async with wire.run(): …             in the application's lifespan

Handlers find what stood under `arguments` in `ctx.request.state.arguments`: (value, the Refused that it breaks).
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pydantic_core
from mcp.server._streamable_http_modern import _SingleExchangeDispatchContext
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from store.domain.errors import Refused
from store.domain.strict import parse_within

BODY_LIMIT = 1 << 20  # bytes
VERSION_HEADER = "mcp-protocol-version"
HANDSHAKE = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)
LOCAL = ("localhost", "127.0.0.1", "[::1]")
_PORT = re.compile(r":[0-9]{1,5}\Z")

Headers = Mapping[str, str]
Answer = tuple[int, bytes, Headers]  # status, body, more headers
Admit = Callable[[Request, bool], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names that this server is reached by. A page that had its own name point here is turned away.

    A port may follow each name; an Origin must be a page of one of them.
    """

    names: frozenset[str]

    @classmethod
    def of(cls, *addresses: str | None) -> "Hosts":
        """The local names, and those in these URLs or host names."""
        given = (a for a in addresses if a)
        found = ((urlsplit(a if "//" in a else f"//{a}").netloc or a) for a in given)
        return cls(frozenset(name.lower() for name in (*LOCAL, *(_PORT.sub("", n) for n in found))))

    def fault(self, headers: Headers) -> Answer | None:
        """What to answer to a request that did not come here under one of these names."""
        if not self._known(headers.get("host", "")):
            return failed(
                421, "This server is not known under that Host. Set LOGMEM_PUBLIC_URL to where it is reached."
            )
        origin = headers.get("origin", "")
        if origin and not (origin.startswith(("http://", "https://")) and self._known(origin.partition("//")[2])):
            return failed(403, "A page of another origin may not call this. Nothing was done.")
        return None

    def _known(self, netloc: str) -> bool:
        return _PORT.sub("", netloc).lower() in self.names


def has_progress_token(message: Mapping[str, Any]) -> bool:
    """Whether the client wants to hear of progress."""
    match message.get("params"):
        case {"_meta": {"progressToken": _}}:
            return True
    return False


class Wire:
    """An ASGI endpoint that serves `server`.

    `admit` refuses a request before it is dispatched; its second argument says whether it must prove the caller
    (else a handler that does so follows). `may_stream` says which requests the session manager serves, as those whose
    handlers send progress or messages: the short path drops these.
    """

    def __init__(
        self,
        server: Server[Any],
        *,
        hosts: Hosts,
        admit: Admit,
        may_stream: Callable[[Mapping[str, Any]], bool] = has_progress_token,
        json_response: bool = True,
    ) -> None:
        self.server, self.hosts, self.admit, self.may_stream = server, hosts, admit, may_stream
        self._manager = StreamableHTTPSessionManager(
            app=server, stateless=True, json_response=json_response, max_request_body_size=BODY_LIMIT
        )
        self._state: Any = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the block lasts; once in an endpoint's life."""
        async with self._manager.run(), self.server.lifespan(self.server) as self._state:
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        message: Any = None
        try:
            answer = self._turned_away(request)
            if answer is None:
                await self.admit(request, False)
                body = await _body(request)
                message, fault = _parsed(body)
                if not _is_request(message) or self.may_stream(message):
                    await self.admit(request, True)
                    await self._hand_over(request, message, fault, body, send)
                    return
                request.scope.setdefault("state", {})["arguments"] = _arguments(message), fault
                answer = await self._answer(request, message, fault)
        except Refused as no:
            answer = _refused(request, no, id=_id(message))
        except _Gone:
            return
        except _Failed as no:
            answer = no.answer
        await _send(send, answer)

    def _turned_away(self, request: Request) -> Answer | None:
        if request.method != "POST":
            return failed(405, "MCP is spoken here by POST only; there are no sessions and no streams.", allow="POST")
        wrong = self.hosts.fault(request.headers)
        if wrong:
            return wrong
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return failed(415, "Content-Type must be application/json.")
        return None

    async def _answer(self, request: Request, message: dict[str, Any], fault: Refused | None) -> Answer:
        """Dispatch one request, and give the response. Raises what a handler refuses for the whole request."""
        if fault and message["method"] != "tools/call":
            return error(ErrorData(code=INVALID_PARAMS, message=str(fault)), id=message["id"], status=400)
        version = request.headers.get(VERSION_HEADER)
        if version is None or version in HANDSHAKE:
            connection = Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
            return await self._dispatch(request, message, connection, modern=False)
        route = _route(request, message)
        if isinstance(route, InboundLadderRejection):
            said = ErrorData(code=route.code, message=route.message, data=route.data)
            return error(said, id=message["id"], status=ERROR_CODE_HTTP_STATUS.get(route.code, 400))
        connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        return await self._dispatch(request, message, connection, modern=True)

    async def _dispatch(
        self, request: Request, message: dict[str, Any], connection: Connection, *, modern: bool
    ) -> Answer:
        id, method, params = message["id"], message["method"], message.get("params")
        context = _SingleExchangeDispatchContext(
            transport=TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
            request_id=id,
            message_metadata=ServerMessageMetadata(request_context=request),
        )
        if fits := params and "arguments" in params:
            # What the SDK checks here is only that it is an object; the handler takes it from the request's state.
            params = {**params, "arguments": {}}
        try:
            result = await serve_one(
                self.server, context, method, params, connection=connection, lifespan_state=self._state
            )
        except Refused:
            raise
        except Exception as wrong:  # noqa: BLE001 - the SDK's own boundary: it logs what it does not know
            said = modern_error_data(wrong)
            return error(said, id=id, status=ERROR_CODE_HTTP_STATUS.get(said.code, 200) if modern else 200)
        return 200, pydantic_core.to_json({"jsonrpc": "2.0", "id": id, "result": result}), {}

    async def _hand_over(self, request: Request, message: Any, fault: Refused | None, body: bytes, send: Send) -> None:
        """Let the session manager serve the request, with its body, or one without the arguments that break a rule."""
        request.scope.setdefault("state", {})["arguments"] = _arguments(message), fault
        again: list[Message] = [{"type": "http.request", "body": json.dumps(message).encode() if fault else body}]

        async def replay() -> Message:
            return again.pop() if again else await request.receive()

        await self._manager.handle_request(request.scope, replay, send)
