"""Updates pushed to a URL of the bot, in order, until it answers 2xx."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

Json = dict[str, Any]

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(slots=True)
class Webhook:
    """Where to push, and how the last push went; an empty URL is none."""

    url: str = ""
    secret: str | None = None
    connections: int = 40
    last_error: str | None = None
    last_error_at: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def set(self, url: str, *, secret: str | None, connections: int) -> None:
        """Push there from now on."""
        self.url, self.secret, self.connections = url, secret, connections
        self.last_error = None
        self.changed.set()

    def clear(self) -> None:
        """Push no more."""
        self.url, self.secret, self.last_error = "", None, None
        self.changed.set()

    def info(self, *, pending: int, allowed: Sequence[str]) -> Json:
        """The API's WebhookInfo."""
        info: Json = {"url": self.url, "has_custom_certificate": False, "pending_update_count": pending}
        if self.url:
            info["max_connections"] = self.connections
        if allowed:
            info["allowed_updates"] = list(allowed)
        if self.last_error:
            info |= {"last_error_date": self.last_error_at, "last_error_message": self.last_error}
        return info

    async def post(self, client: httpx.AsyncClient, update: Json, *, secret: str | None) -> int:
        """One push; gives the status, 0 when nobody answered."""
        headers = {} if secret is None else {SECRET_HEADER: secret}
        try:
            answer = await client.post(self.url, json=update, headers=headers)
        except httpx.HTTPError:
            return 0
        return answer.status_code
