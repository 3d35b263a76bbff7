"""Bodies of requests and answers in JSON, the same for every surface over HTTP."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from store.domain.errors import Refused

BODY_LIMIT = 1 << 20  # bytes
DRAIN_LIMIT = 8 * BODY_LIMIT  # bytes read of a body that is too large, so that its sender gets to read the answer
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
CHALLENGE = 'Bearer realm="LogMem"'

T = TypeVar("T")

log = structlog.get_logger(__name__)


async def read_body(request: Request, *, limit: int = BODY_LIMIT) -> bytes:
    """The body as it came. Refuses payload_too_large (over `limit` bytes)."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            parts.append(part)
        elif size > DRAIN_LIMIT:
            break
    if size > limit:
        raise Refused(
            "payload_too_large",
            f"The body of a request may have {limit} bytes. Nothing was written.",
            limit=limit,
        )
    return b"".join(parts)


def answer(result: Any) -> JSONResponse:
    """A result."""
    return JSONResponse(result, headers=HEADERS)


def refused(no: Refused) -> JSONResponse:
    """A refusal, with its status."""
    headers = dict(HEADERS)
    if no.status == 401:
        headers["WWW-Authenticate"] = CHALLENGE
    if "retry_after" in no.facts:
        headers["Retry-After"] = str(no.facts["retry_after"])
    return JSONResponse({"error": no.body}, no.status, headers)


def failed(request: Request, fault: Exception) -> JSONResponse:
    """What went wrong here: the log has all of it, the caller learns only that it did."""
    record(request, fault)
    message = "Something went wrong on the server; its log says what. It is not known whether anything was written."
    return plain_error(500, "internal", message)


def record(request: Request, fault: Exception) -> None:
    """Log what went wrong, under the route's pattern: a path may hold a secret."""
    route = getattr(request.scope.get("route"), "path", "?")
    log.error("request_failed", method=request.method, route=route, exc_info=fault)


def plain_error(status: int, code: str, message: str, **facts: Any) -> JSONResponse:
    """An error of HTTP's own, in the same form as refusals."""
    headers = {**HEADERS, **({"Allow": ", ".join(facts["allow"])} if "allow" in facts else {})}
    return JSONResponse({"error": {"code": code, "message": message, **facts}}, status, headers)


def http_error(request: Request, error: HTTPException) -> JSONResponse:
    """What the router says of paths and methods that it does not know."""
    if error.status_code == 404:
        return plain_error(404, "not_found", "There is nothing at this path.")
    if error.status_code == 405:
        allow = (error.headers or {}).get("Allow", "").split(", ")
        return plain_error(405, "method_not_allowed", f"{request.method} is not for this path.", allow=allow)
    return plain_error(error.status_code, "http", str(error.detail))


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """Wait for work that may take long; it ends when the client goes. Raises ClientDisconnect."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not tasks[0].done():
            raise ClientDisconnect
        return tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
