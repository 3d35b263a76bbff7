"""One log line for each request, without secrets; and the last net for what nobody caught."""

import asyncio
import logging
import re
import time

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from store import telemetry
from store.domain.errors import Refused

from .answers import failed, refused

log = structlog.get_logger(__name__)
_PLAIN = logging.getLogger(__name__)  # asked first, so that a line which nobody wants costs nothing

# What follows these words in a path opens something, also where it has not the form of a key.
_PATHS = re.compile(r"(/(?:k|sign-in)/+)[^/]+|(/)[A-Za-z0-9_-]{24,}(?=/|$)", re.IGNORECASE)


CUT_OFF = Refused(
    "unconfirmed",
    "The server is being stopped: this call may or may not have been done. Retry in 2 s; what was to be written, with "
    "the same action_id, or after looking whether it was done.",
    retry_after=2,
)


def masked(path: str) -> str:
    """The path with keys and one-time links blotted out."""
    return telemetry.masked(_PATHS.sub(r"\1\2…", path))


class Access:
    """ASGI middleware, the outermost of ours."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, began = 0, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except asyncio.CancelledError:  # the server ends, and this call took longer than it had left
            log.warning("cut_off", method=scope["method"], path=masked(scope["path"]))
            if not status:
                await refused(CUT_OFF)(scope, receive, watched)
        except Exception as fault:  # noqa: BLE001 - the last net: `failed` logs it, and the caller gets an answer
            response = failed(Request(scope), fault)
            if not status:
                await response(scope, receive, watched)
        finally:
            level = logging.DEBUG if status < 400 else logging.INFO
            if _PLAIN.isEnabledFor(level):
                ms = round((time.perf_counter() - began) * 1000, 1)
                log.log(level, "request", method=scope["method"], path=masked(scope["path"]), status=status, ms=ms)
