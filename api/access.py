"""One log line for each request, without secrets; and the last net for what nobody caught."""

import re
import time
import traceback

import structlog
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from store.domain.errors import Refused

log = structlog.get_logger(__name__)

# Credentials wherever they stand, and what follows these words in a path.
_TOKENS = re.compile(r"\b(lm[a-z])_[A-Za-z0-9_-]+")
_PATHS = re.compile(r"(/(?:k|sign-in)/)[^/?#\s]+", re.IGNORECASE)


def masked(text: str) -> str:
    """The text with a mark in place of each key, session and one-time link."""
    return _TOKENS.sub(r"\1_***", _PATHS.sub(r"\1***", text))


def trace(wrong: BaseException) -> str:
    """The trace of an exception for the log: masked, and without the values of variables."""
    return masked("".join(traceback.format_exception(wrong)))


def fault() -> Refused:
    """What a caller is told of an exception that nobody expected; it says nothing of the exception."""
    return Refused(
        "unconfirmed",
        "The server failed at this call and has logged why. It may or may not have been done: look before you retry.",
        retry_after=5,
    )


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
        except Exception as wrong:  # noqa: BLE001 - the last net: logged whole, told plainly
            log.error("request_failed", path=masked(scope["path"]), trace=trace(wrong))
            if not status:
                no = fault()
                await JSONResponse({"error": no.body}, no.status)(scope, receive, watched)
        finally:
            note = log.debug if status < 400 else log.info if status < 500 else log.warning
            ms = round((time.perf_counter() - began) * 1000, 1)
            note("request", method=scope["method"], path=masked(scope["path"]), status=status, ms=ms)
