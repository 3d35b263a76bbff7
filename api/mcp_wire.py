"""The wire of MCP: an HTTP request in, one JSON-RPC message through the SDK's dispatch, an HTTP response out.

Stateless, in both eras. A request takes the short path: the SDK's own `serve_one`, without the task group, streams and
second parsing that its session manager puts around it. What is no request, and what may send more than its result,
goes through the session manager. The short path stands on names that the SDK keeps private: mcp is pinned to 2.3.

    Wire(server, hosts=…, admit=…)       an ASGI endpoint, for POST and to refuse the rest
    async with wire.run(): …             in the application's lifespan

Handlers find what stood under `arguments` in `ctx.request.state.arguments`, and what is wrong with it in `.fault`.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pydantic_core
from mcp import MCPError
from mcp.server._streamable_http_modern import _SingleExchangeDispatchContext
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
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
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from store.domain.errors import Refused
from store.domain.strict import parse_within

from .answers import BODY_LIMIT
from .hosts import Hosts

VERSION_HEADER = "mcp-protocol-version"
HANDSHAKE = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)
NOT_FOUND_OF_OLD = -32002  # until the era that says so by INVALID_PARAMS

Json = dict[str, Any]
Admit = Callable[[Request, Json | None], Awaitable[None]]


class Answer(NamedTuple):
    """A response in JSON."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Failed(Exception):
    """The request goes no further; this is its answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def has_progress_token(message: Json) -> bool:
    """Whether the client wants to hear of progress."""
    match message.get("params"):
        case {"_meta": {"progressToken": _}}:
            return True
    return False


class Wire:
    """An ASGI endpoint that serves `server`.

    `admit` refuses a request, first before its body is read and then with its message. `may_stream` says which requests
    the session manager serves: the short path drops progress and messages, so it is for handlers that send nothing
    but their result.
    """

    def __init__(
        self,
        server: Server[Any],
        *,
        hosts: Hosts,
        admit: Admit,
        may_stream: Callable[[Json], bool] = has_progress_token,
        json_response: bool = True,
    ) -> None:
        self.server, self.hosts, self.admit, self.may_stream = server, hosts, admit, may_stream
        self._manager = StreamableHTTPSessionManager(
            app=server, stateless=True, json_response=json_response, max_request_body_size=BODY_LIMIT
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the block lasts; once in an endpoint's life."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        id = None
        try:
            # Looked up often, so once in a form that is quick; of two with one name the first counts. Blanks around a
            # value are no part of it (RFC 9110, 5.5), and the parser leaves those at its end.
            headers = {n.decode("latin-1"): v.strip(b" \t").decode("latin-1") for n, v in reversed(scope["headers"])}
            self._check(request, headers)
            await self.admit(request, None)
            body = await _body(request, headers.get("content-length", ""))
            message = _read(request, body)
            id = message.get("id")
            await self.admit(request, message)
            if "method" not in message or "id" not in message or self.may_stream(message):
                await self._hand_over(request, message, body, send)
                return
            result = await self._answer(request, headers, message)
            answer = Answer(200, pydantic_core.to_json({"jsonrpc": "2.0", "id": id, "result": result}), {})
        except ClientDisconnect:
            return
        except Refused as no:
            answer = _refused(request, no, id=id)
        except Failed as no:
            answer = no.answer
        await _send(send, answer)

    def _check(self, request: Request, headers: Mapping[str, str]) -> None:
        """What can be said before the body is read."""
        if request.method != "POST":
            text = "MCP is spoken here by POST only: there are no sessions and no streams to open."
            raise failed(405, INVALID_REQUEST, text, headers={"Allow": "POST"})
        wrong = self.hosts.fault(headers.get("host", ""), headers.get("origin", ""))
        if wrong:
            raise failed(wrong[0], INVALID_REQUEST, wrong[1])
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise failed(415, INVALID_REQUEST, "Content-Type must be application/json.")

    async def _answer(self, request: Request, headers: Mapping[str, str], message: Json) -> Json:
        """Dispatch one request, and give its result. Raises what is refused, and the answer to what fails."""
        id, method, params = message["id"], message["method"], message.get("params")
        version = headers.get(VERSION_HEADER)
        modern = version is not None and version not in HANDSHAKE
        if modern:
            route = _route(request, headers, message)
            connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        else:
            connection = Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
        context = _SingleExchangeDispatchContext(
            transport=TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
            request_id=id,
            message_metadata=ServerMessageMetadata(request_context=request),
        )
        # What the manager keeps is what the server's lifespan gave.
        state = self._manager._lifespan_state
        try:
            return await serve_one(self.server, context, method, params, connection=connection, lifespan_state=state)
        except (Refused, ClientDisconnect):
            raise
        except Exception as wrong:  # noqa: BLE001 - the SDK's own boundary, which logs what it does not know
            said = modern_error_data(wrong)
            status = ERROR_CODE_HTTP_STATUS.get(said.code, 200) if modern else 200
            raise failed(status, said.code, said.message, id=id, data=said.data) from None

    async def _hand_over(self, request: Request, message: Json, body: bytes, send: Send) -> None:
        """Let the session manager serve it: with its body, or with one that lacks the arguments at fault."""
        clean = json.dumps(message).encode() if request.state.fault else body
        again: list[Message] = [{"type": "http.request", "body": clean, "more_body": False}]

        async def replay() -> Message:
            return again.pop() if again else await request.receive()

        await self._manager.handle_request(request.scope, replay, send)


async def _body(request: Request, length: str) -> bytes:
    """The body. Raises the answer to one that is too large, and ClientDisconnect."""
    too_large = failed(413, INVALID_REQUEST, f"A request may have {BODY_LIMIT} bytes. Nothing was done.")
    if length.isdecimal() and int(length[:20]) > BODY_LIMIT:
        raise too_large
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        got = await request.receive()
        if got["type"] != "http.request":
            raise ClientDisconnect
        part = got.get("body", b"")
        parts.append(part)
        size += len(part)
        more = got.get("more_body", False)
        if size > BODY_LIMIT:
            raise too_large
    return b"".join(parts) if len(parts) > 1 else parts[0]


def _read(request: Request, body: bytes) -> Json:
    """The message, with its arguments put into the request's state. Raises the answer to what is no message."""
    try:
        message, fault = parse_within(body, ("params", "arguments"))
    except ValueError as wrong:
        raise failed(400, PARSE_ERROR, f"Parse error: {wrong}") from None
    if not isinstance(message, dict) or not _fits(message):
        text = "Invalid request: the body must be one JSON-RPC 2.0 request, notification or response"
        raise failed(400, INVALID_REQUEST, text)
    params = message.get("params") or {}
    arguments = params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        fault = Refused("invalid_argument", "arguments must be an object, as in {}. Nothing was written.")
        params["arguments"] = arguments = {}
    if fault and message.get("method") != "tools/call":
        raise failed(400, INVALID_PARAMS, str(fault), id=message.get("id"))
    request.state.arguments, request.state.fault = arguments or {}, fault
    return message


def _fits(message: Json) -> bool:
    """Whether this is a JSON-RPC request, notification or response by its outer form."""
    id, params = message.get("id", ""), message.get("params") or {}
    numbered = isinstance(id, str | int) and not isinstance(id, bool)
    if message.get("jsonrpc") != "2.0" or not numbered or not isinstance(params, dict):
        return False
    return isinstance(message["method"], str) if "method" in message else "result" in message or "error" in message


def _route(request: Request, headers: Mapping[str, str], message: Json) -> InboundModernRoute:
    """Who speaks which version, in the era that says so with each request. Raises the answer to what is wrong."""
    doubled = find_duplicated_routing_header(request.headers.items())
    if doubled:
        raise failed(400, HEADER_MISMATCH, f"{doubled} header appears more than once", id=message["id"])
    route = classify_inbound_request(message, headers=headers)
    if isinstance(route, InboundLadderRejection):
        status = ERROR_CODE_HTTP_STATUS.get(route.code, 400)
        raise failed(status, route.code, route.message, id=message["id"], data=route.data)
    return route


def failed(
    status: int,
    code: int,
    text: str,
    *,
    id: object = None,
    data: object = None,
    headers: Mapping[str, str] | None = None,
) -> Failed:
    """To raise: the answer with this HTTP status and JSON-RPC error."""
    error = {"code": code, "message": text, **({} if data is None else {"data": data})}
    body = pydantic_core.to_json({"jsonrpc": "2.0", "id": id, "error": error})
    return Failed(Answer(status, body, headers or {}))


def as_error(no: Refused, *, version: str, **about: str) -> MCPError:
    """A refusal as the error of a request that is no tool call, in the form of this revision; `about` says of what."""
    code = INTERNAL_ERROR if no.status >= 500 else INVALID_PARAMS
    if no.status == 404 and version in HANDSHAKE:
        code = NOT_FOUND_OF_OLD
    return MCPError(code, str(no), {**no.body, **about})


def _refused(request: Request, no: Refused, *, id: object) -> Answer:
    """The answer to a request that is refused as a whole.

    A URL that opens nothing is not found: a challenge would send its client looking for a way to sign in. So would a
    403, with some.
    """
    headers: dict[str, str] = {}
    status = {403: 400}.get(no.status, no.status)
    if status == 401 and "key" in request.path_params:
        status = 404
    elif status == 401:
        given = ', error="invalid_token"' if "authorization" in request.headers else ""
        headers["WWW-Authenticate"] = f'Bearer realm="LogMem"{given}'
    if "retry_after" in no.facts:
        headers["Retry-After"] = str(no.facts["retry_after"])
    code = INTERNAL_ERROR if status >= 500 else INVALID_REQUEST
    return failed(status, code, str(no), id=id, data=no.body, headers=headers).answer


async def _send(send: Send, answer: Answer) -> None:
    more = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    length = str(len(answer.body)).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", length), *more]
    await send({"type": "http.response.start", "status": answer.status, "headers": head})
    await send({"type": "http.response.body", "body": answer.body})
