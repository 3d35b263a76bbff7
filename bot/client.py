"""The Bot API, spoken through python-telegram-bot without its Updater. Every call ends well or in one `Failure`.

Answers are taken as they come, as JSON: one that the library could not make an object of must not count as lost. The
token stands in addresses only, and no address is in what is raised or logged from here.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import structlog
from telegram.ext import ExtBot
from telegram.request import BaseRequest, RequestData

from store.settings import Limits
from store.telemetry import hide

from .connections import Connections, Unanswered
from .failures import Bad, Down, Failure, Gone, Same, failure, unanswered
from .limiter import Limiter
from .message import Message, Spelled
from .turns import ASK, CHANGE, NOTICE, REMINDER, REPLY

__all__ = ["ALLOWED", "Telegram"]

ALLOWED = ("message", "callback_query", "my_chat_member")  # it persists at Telegram, so it is said each time
KINDS = {"ask": ASK, "change": CHANGE, "reply": REPLY, "notice": NOTICE, "reminder": REMINDER}
POOL, POLL_POOL = 32, 4  # connections
PATIENCE = 10.0  # seconds for an answer; a poll has its own length on top
CONNECTING = 5.0  # seconds to connect, to write, or for a free connection
HEAD = {"Content-Type": "application/json", "User-Agent": BaseRequest.USER_AGENT}
CROWDED = 3  # calls in a row that found no free connection, before the connections are made anew
BATCH = 100
TOAST = 200  # UTF-16 units, with room to spare below

log = structlog.get_logger(__name__)


class _Requests(BaseRequest):
    """The library's requests over connections of ours, which says what an answer means."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections

    @property
    def read_timeout(self) -> float:
        return PATIENCE

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        await self.connections.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: object = BaseRequest.DEFAULT_NONE,
        *_: Any,
        **__: Any,
    ) -> tuple[int, bytes]:
        """Ask, with the parameters as JSON; files are none of ours. The failures are ours too."""
        endpoint = url.rpartition("/")[2]
        body = json.dumps(request_data.parameters if request_data else {}).encode()
        patience = float(read_timeout) if isinstance(read_timeout, int | float) else PATIENCE
        try:
            answer = await self.connections.post(url, body, patience=patience, headers=HEAD)
        except Unanswered as none:
            raise unanswered(none.sent, none.why, method=endpoint, crowded=none.crowded) from None
        status, payload = answer.status, answer.body
        try:
            found = json.loads(payload)
        except ValueError:
            found = None
        if isinstance(found, dict) and found.get("ok") is True and "result" in found and status < 300:
            return status, payload
        raise failure(status, found if isinstance(found, dict) else None, method=endpoint)


class _Bot(ExtBot[int]):
    """The library's bot, of which only the way a call takes is used."""

    async def call(self, endpoint: str, data: dict[str, Any], *, kind: int | None = None, patience: float) -> Any:
        """One call of the Bot API: what stands in its `result`."""
        given = self._merge_api_rl_kwargs(data, kind)
        return await self._post(endpoint, given, read_timeout=patience)


class Telegram:
    """One bot at Telegram, or at a server that speaks as Telegram does. Raises a `Failure` where it says no other.

    At most `pool` calls go on at once; seconds: `patience` for an answer, `connecting` to connect or get a connection.
    """

    def __init__(
        self, token: str, *, api_url: str = "https://api.telegram.org", limits: Limits | None = None,
        pool: int = POOL, patience: float = PATIENCE, connecting: float = CONNECTING,
    ) -> None:  # fmt: skip
        hide(token)
        place = urlsplit(api_url)
        here = place.scheme == "http" and place.hostname in ("127.0.0.1", "::1", "localhost")
        self._patience = patience
        # A server on this machine, such as a self-hosted one, is behind no proxy.
        how: dict[str, Any] = {"connecting": connecting, "waiting": connecting, "environment": not here}
        self._calls = _Requests(Connections(api_url, size=pool, **how))
        self._polls = _Requests(Connections(api_url, size=POLL_POOL, **how))
        self.limiter = Limiter(limits or Limits())
        self._bot = _Bot(
            token,
            base_url=f"{api_url}/bot",
            base_file_url=f"{api_url}/file/bot",
            request=self._calls,
            get_updates_request=self._polls,
            rate_limiter=self.limiter,
        )
        self._crowded = 0

    async def close(self) -> None:
        """Close the connections."""
        await self.limiter.shutdown()
        await asyncio.gather(self._calls.shutdown(), self._polls.shutdown())

    async def send(
        self, chat: int, message: Message, *, silent: bool = False, thread: int = 0, reply_to: int = 0,
        placeholder: str | None = None, kind: str = "reply",
    ) -> int:  # fmt: skip
        """Send it, and give the number of the message. A `placeholder` (may be '') makes it ask for a reply."""
        data = _spelled(chat, message)
        if placeholder is not None:
            field = {"input_field_placeholder": placeholder} if placeholder else {}
            data["reply_markup"] = {"force_reply": True, "selective": True, **field}
        elif message.rows:
            data["reply_markup"] = _keyboard(message.rows)
        if silent:
            data["disable_notification"] = True
        if thread:
            data["message_thread_id"] = thread
        if reply_to:
            data["reply_parameters"] = {"message_id": reply_to, "allow_sending_without_reply": True}
        return int((await self._call("sendMessage", data, kind=KINDS[kind]))["message_id"])

    async def edit(self, chat: int, message_id: int, message: Message, *, kind: str = "reply") -> None:
        """Make a message of ours look so; its buttons too. It may be so already."""
        data = {**_spelled(chat, message), "message_id": message_id, "reply_markup": _keyboard(message.rows)}
        with contextlib.suppress(Same):
            await self._call("editMessageText", data, kind=KINDS[kind])

    async def markup(
        self, chat: int, message_id: int, rows: Sequence[Sequence[Spelled]], *, kind: str = "reply"
    ) -> None:
        """Give a message of ours these buttons."""
        data = {"chat_id": chat, "message_id": message_id, "reply_markup": _keyboard(rows)}
        with contextlib.suppress(Same):
            await self._call("editMessageReplyMarkup", data, kind=KINDS[kind])

    async def answer(self, query: str, text: str = "", *, alert: bool = False) -> bool:
        """Answer a press. False: it is too old, or was answered before."""
        data: dict[str, Any] = {"callback_query_id": query}
        if text:
            data["text"] = _short(text)
        if alert:
            data["show_alert"] = True
        try:
            await self._call("answerCallbackQuery", data)
        except (Gone, Bad):
            return False
        return True

    async def me(self) -> Mapping[str, Any]:
        """The bot itself: id, username, first_name."""
        found: Mapping[str, Any] = await self._call("getMe", {})
        return found

    async def updates(self, offset: int, timeout: int) -> list[Any]:
        """The updates from this number on (0: those not confirmed yet), waiting so many seconds for one."""
        data: dict[str, Any] = {"timeout": timeout, "limit": BATCH, "allowed_updates": list(ALLOWED)}
        if offset:
            data["offset"] = offset
        found: list[Any] = await self._call("getUpdates", data, patience=timeout + self._patience)
        if not isinstance(found, list):
            raise failure(200, None, method="getUpdates")
        return found

    async def commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Say which commands there are in a private chat: pairs of name and description."""
        listed = [{"command": name, "description": text} for name, text in commands]
        await self._call("setMyCommands", {"commands": listed, "scope": {"type": "all_private_chats"}})

    async def set_webhook(self, url: str, secret: str) -> None:
        """Have updates sent to this address."""
        await self._call("setWebhook", {"url": url, "secret_token": secret, "allowed_updates": list(ALLOWED)})

    async def delete_webhook(self) -> None:
        """Have updates kept for a poller; none is dropped."""
        await self._call("deleteWebhook", {})

    async def webhook(self) -> Mapping[str, Any]:
        """What Telegram says of the webhook: url, pending_update_count, last_error_date and _message."""
        found: Mapping[str, Any] = await self._call("getWebhookInfo", {})
        return found

    async def renew(self, *, poll: bool = False) -> None:
        """Make the connections anew: those of calls, or those of the poll."""
        await (self._polls if poll else self._calls).connections.renew()

    async def _call(
        self, endpoint: str, data: dict[str, Any], *, kind: int | None = None, patience: float | None = None
    ) -> Any:
        try:
            found = await self._bot.call(endpoint, data, kind=kind, patience=patience or self._patience)
        except Bad as why:
            log.error("telegram refuses a call", method=endpoint, said=why.said, status=why.status)
            raise
        except Down as why:
            await self._crowd(why)
            raise
        except Failure:
            raise
        except Exception as why:  # noqa: BLE001 - a call ends in a Failure or well, whatever the library meets
            raise unanswered(True, type(why).__name__, method=endpoint) from None
        self._crowded = 0
        return found

    async def _crowd(self, why: Down) -> None:
        """After some calls in a row without a free connection, those there are count as wedged."""
        self._crowded = self._crowded + 1 if why.crowded else 0
        if self._crowded >= CROWDED:
            self._crowded = 0
            log.warning("no connection to telegram is free: they are made anew")
            await self.renew()


def _spelled(chat: int, message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {
        "chat_id": chat,
        "text": message.text,
        "link_preview_options": {"is_disabled": True},
    }
    if message.entities:
        data["entities"] = [dict(entity) for entity in message.entities]
    return data


def _keyboard(rows: Sequence[Sequence[Spelled]]) -> dict[str, Any]:
    return {"inline_keyboard": [[dict(button) for button in row] for row in rows]}


def _short(text: str) -> str:
    """At most what a toast holds, in UTF-16 units."""
    if len(text.encode("utf-16-le")) // 2 <= TOAST:
        return text
    return text.encode("utf-16-le")[: 2 * (TOAST - 1)].decode("utf-16-le", "ignore") + "…"
