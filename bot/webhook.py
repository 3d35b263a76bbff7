"""What listens: /healthz, and where Telegram sends updates in webhook mode. An ASGI app of two routes.

A webhook is believed only with the secret that was told to Telegram, compared in constant time, and answered with 200
only once the update is kept. Whatever else comes is refused, and a line in the log says why.
"""

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from starlette.types import Receive, Scope, Send

from store.engine.updates import Updates

from .client import Telegram
from .clock import now
from .health import Health
from .shelf import STORE_ERRORS

__all__ = ["Proof", "Webhook", "serving"]

HEADER = b"x-telegram-bot-api-secret-token"
LONGEST = 1 << 20  # bytes of an update; Telegram's own are far shorter
SECRET = 32  # characters at least
RECENT = 120  # seconds for which an update that could not be brought counts, when none has come since
Answer = tuple[int, Mapping[str, Any]]

log = structlog.get_logger(__name__)


class Webhook:
    """Takes in what Telegram sends to `path`, if it carries `secret`. ValueError: the secret is too short."""

    def __init__(self, updates: Updates, health: Health, *, path: str, secret: str) -> None:
        if len(secret) < SECRET:
            raise ValueError(f"a webhook's secret has {SECRET} characters at least")
        self._updates, self._health, self.path, self._secret = updates, health, path, secret.encode()

    async def take(self, headers: Mapping[bytes, bytes], body: Callable[[], Awaitable[bytes | None]]) -> Answer:
        """The answer to one call."""
        given = headers.get(HEADER, b"")
        if not hmac.compare_digest(given, self._secret):
            log.warning("webhook refused", why="a wrong secret" if given else "no secret")
            return 403, {"error": "forbidden"}
        sent = await body()
        if sent is None:
            log.warning("webhook refused", why="too long")
            return 413, {"error": "too long"}
        try:
            update = json.loads(sent)
        except (ValueError, RecursionError):
            update = None
        if not isinstance(update, dict):
            update = {"unreadable": sent.decode(errors="replace")}  # to become a dead letter; Telegram would repeat it
        try:
            await self._updates.keep([update])
        except STORE_ERRORS as why:
            log.error("an update is not kept", why=type(why).__name__)
            return 503, {"error": "not kept"}
        self._health.heard = self._health.clock()
        await self._health.polled()
        return 200, {"ok": True}


class Proof:
    """Whether Telegram brings updates to `url`, by what it says of itself: that it means to is not enough."""

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret
        self._told = False  # whether this process has told Telegram its secret
        self._waited = False  # whether something was waiting at the last look
        self._looked = 0

    async def look(self, telegram: Telegram, *, heard: int) -> str:
        """Why updates do not come, '' if all is well; `heard` is when the last one came (ms). Sets what is not set."""
        told = await telegram.webhook()
        if told.get("url") != self._url or not self._told:
            await telegram.set_webhook(self._url, self._secret)
            self._told, self._waited = True, False
            return ""
        before, self._looked = self._looked, now()
        waited, self._waited = self._waited, bool(told.get("pending_update_count"))
        failed = int(told.get("last_error_date") or 0) * 1000
        if failed > heard and self._looked - failed < RECENT * 1000:
            return str(told.get("last_error_message") or "an update could not be brought")
        return "updates wait, and none comes" if waited and self._waited and heard <= before else ""


def serving(health: Health, webhook: Webhook | None = None) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The ASGI app."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        method, path = scope["method"], scope["path"]
        if path == "/healthz":
            well, report = await health.report()
            answer: Answer = (200 if well else 503, report)
        elif webhook and path == webhook.path:
            if method == "POST":
                answer = await webhook.take(dict(scope["headers"]), lambda: _body(receive))
            else:
                answer = 405, {"error": "method not allowed"}
        else:
            answer = 404, {"error": "not found"}
        status, said = answer
        text = json.dumps(said).encode()
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else text})

    return app


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None for one that is too long."""
    parts: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > LONGEST:
            return None
        if not message.get("more_body"):
            return b"".join(parts)
