"""Telegram as a test holds it: people with phones, groups, faults, and what the bot did; over the control API."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from tests.telegram.shown import Button, Call, Chat, Entity, Message, Toast, Violation

__all__ = [
    "Button", "Call", "Chat", "ControlError", "Entity", "Message", "NeverHappened", "Phone", "Telegram", "Toast",
    "Violation",
]  # fmt: skip

Json = dict[str, Any]

PATIENCE = 20.0
"""Seconds that a wait for something takes at most, unless told otherwise."""
LONG_POLL = 10.0


class ControlError(Exception):
    """The emulator cannot do what was asked of it: the test is wrong."""


class NeverHappened(AssertionError):
    """What a test waited for did not happen in time."""


class Telegram:
    """The emulator's control: `async with Telegram(url) as telegram`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.pid = 0  # of the emulator, where it is a process of its own
        self.token = ""
        self._http = httpx.AsyncClient(
            base_url=self.url,
            timeout=LONG_POLL + 20,
            trust_env=False,
            verify=False,
            limits=httpx.Limits(max_connections=None),
        )

    async def __aenter__(self) -> Self:
        self.token = (await self.state())["token"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def ask(self, verb: str, path: str, body: Json | None = None, /, **query: Any) -> Any:
        """One request of the control API; ControlError when the emulator cannot."""
        answer = await self._http.request(verb, f"/_/{path}", json=body, params=query)
        if answer.status_code >= 400:
            raise ControlError(answer.json().get("error", answer.text))
        return answer.json()

    async def state(self) -> Json:
        """All there is, but for messages and calls."""
        return dict(await self.ask("GET", "state"))

    # People and chats

    async def person(
        self, name: str, *, id: int | None = None, username: str | None = None, language: str | None = "en",
        started: bool = False,
    ) -> "Phone":  # fmt: skip
        """Add a person; `started` when they have a chat with the bot already. Gives their phone."""
        made = await self.ask(
            "POST", "people",
            {"id": id, "name": name, "username": username, "language": language, "started": started},
        )  # fmt: skip
        return Phone(self, made["id"], name)

    async def group(self, title: str, *members: "Phone", bot: str = "member", id: int | None = None) -> Chat:
        """Add a basic group; `bot` is member, administrator, left or kicked."""
        return await self._chat("group", title, members, bot_status=bot, id=id)

    async def supergroup(
        self, title: str, *members: "Phone", topics: Mapping[int, str] | None = None, forum: bool = False,
        bot: str = "member", id: int | None = None,
    ) -> Chat:  # fmt: skip
        """Add a supergroup; with topics (number → name) it is a forum."""
        return await self._chat("supergroup", title, members, topics=topics, forum=forum, bot_status=bot, id=id)

    async def channel(self, title: str, *members: "Phone", bot: str = "administrator", id: int | None = None) -> Chat:
        """Add a channel."""
        return await self._chat("channel", title, members, bot_status=bot, id=id)

    async def _chat(self, kind: str, title: str, members: Sequence["Phone"], **more: Any) -> Chat:
        body = {"kind": kind, "title": title, "members": [member.id for member in members], **more}
        return Chat.read(await self.ask("POST", "chats", body))

    async def chat(self, id: int) -> Chat:
        """A chat as it is now."""
        return next(Chat.read(view) for view in (await self.state())["chats"] if view["id"] == id)

    async def change_chat(
        self, chat: Chat, *, bot: str | None = None, join: Sequence["Phone"] = (), leave: Sequence["Phone"] = (),
        topics: Mapping[int, str] | None = None,
    ) -> Chat:  # fmt: skip
        """Let people join or leave, add topics, or make the bot member, administrator, left or kicked."""
        body: Json = {
            "join": [one.id for one in join],
            "leave": [one.id for one in leave],
            "topics": dict(topics or {}),
        }
        return Chat.read(await self.ask("PATCH", f"chats/{chat.id}", body | ({"bot_status": bot} if bot else {})))

    async def kick(self, chat: Chat) -> Chat:
        """Throw the bot out of a chat."""
        return await self.change_chat(chat, bot="kicked")

    async def migrate(self, group: Chat) -> Chat:
        """Make a group a supergroup; gives the new chat."""
        return Chat.read(await self.ask("POST", f"chats/{group.id}/migrate", {}))

    async def messages(self, chat: Chat | int) -> tuple[Message, ...]:
        """All messages of a chat, in order; deleted ones say so."""
        number = chat if isinstance(chat, int) else chat.id
        return tuple(Message.read(view) for view in (await self.ask("GET", f"chats/{number}/messages"))["messages"])

    # What goes wrong

    async def fault(
        self, kind: str, method: str = "*", *, times: int | None = 1, probability: float = 1.0, seed: int = 0,
        **how: Any,
    ) -> None:  # fmt: skip
        """Let calls go wrong, `times` often (None: until cleared), each with a probability.

        Kinds: `error` (status, description, retry_after), `html` (status 502), `hang` (seconds; then goes on unless the
        client left), `apply_then_hang` (seconds), `apply_then_cut`, `cut`; of updates, in the next answer of getUpdates
        or push to the webhook that carries any: `malformed`, `duplicate`, `reorder`. `chat_id` narrows it to one chat.
        """
        body = {"kind": kind, "method": method, "times": times, "probability": probability, "seed": seed, **how}
        await self.ask("POST", "faults", body)

    async def conflict(self, *, times: int | None = 1) -> None:
        """409 on getUpdates, as if another process polled."""
        words = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
        await self.fault("error", "getUpdates", times=times, status=409, description=words)

    async def not_found(self, method: str = "getUpdates", *, times: int | None = 1) -> None:
        """404."""
        await self.fault("error", method, times=times, status=404, description="Not Found")

    async def unauthorized(self, method: str = "*", *, times: int | None = 1) -> None:
        """401."""
        await self.fault("error", method, times=times, status=401, description="Unauthorized")

    async def flood(self, method: str = "sendMessage", *, retry_after: int, times: int | None = 1, **how: Any) -> None:
        """429 with the seconds to wait."""
        words = f"Too Many Requests: retry after {retry_after}"
        await self.fault(
            "error", method, times=times, status=429, description=words, retry_after=retry_after, **how
        )  # fmt: skip

    async def faults(self) -> list[Json]:
        """Those that are set, with how often they struck (`hits`)."""
        return list(await self.ask("GET", "faults"))

    async def clear_faults(self) -> list[Json]:
        """Forget all and let go of calls that hang; gives what they had done."""
        return list(await self.ask("DELETE", "faults"))

    async def push(self, kind: str, body: Any, *, update_id: int | None = None) -> int:
        """Queue an update as it is, sound or not; gives its number."""
        number = {} if update_id is None else {"update_id": update_id}
        return int((await self.ask("POST", "updates", {"kind": kind, "body": body, **number}))["update_id"])

    async def renumber(self, next_id: int) -> None:
        """Let update numbers go on from elsewhere, lower ones too."""
        await self.ask("POST", "updates/renumber", {"next_id": next_id})

    async def forge(self, update: Json, *, secret: str | None = None) -> int:
        """Post an update to the bot's webhook as an attacker would; gives the status (0: nobody there)."""
        return int((await self.ask("POST", "forge", {"update": update, "secret": secret}))["status"])

    # Time, limits, and what the bot did

    async def pass_time(self, seconds: float) -> float:
        """Move the emulator's clock; gives its time."""
        return float((await self.ask("POST", "clock", {"seconds": seconds}))["now"])

    async def set_limits(self, **limits: float) -> None:
        """Change limits: see `Limits` of the emulator."""
        await self.ask("PATCH", "limits", limits)

    async def calls(self, method: str | None = None, *, after: int = 0) -> tuple[Call, ...]:
        """What the bot called, in order; of one method, after a number."""
        query: Json = {"after": after} | ({"method": method} if method else {})
        return tuple(Call(**one) for one in await self.ask("GET", "calls", **query))

    async def polled(self, *, timeout: float = PATIENCE) -> None:
        """Wait until a long poll of the bot stands."""

        async def stands() -> bool:
            return bool((await self.state())["polling"])

        await self.wait_until(stands, timeout=timeout, what="the bot did not poll")

    async def violations(self) -> tuple[Violation, ...]:
        """What a correct bot never does; a test asserts that it is empty."""
        return tuple(Violation(**one) for one in await self.ask("GET", "violations"))

    async def wait_until(self, predicate: Callable[[], Any], *, timeout: float = PATIENCE, what: str = "") -> Any:
        """Ask again after each change in the emulator until the answer (awaited if it must be) is true, and give it.

        NeverHappened after `timeout` seconds, with `what` it was.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        version = int((await self.ask("GET", "wait"))["version"])
        while True:
            answer = predicate()
            held = await answer if inspect.isawaitable(answer) else answer
            if held:
                return held
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise NeverHappened(what or inspect.getdoc(predicate) or f"{predicate} stayed false for {timeout} s")
            wait = min(left, LONG_POLL)
            version = int((await self.ask("GET", "wait", since=version, wait=wait))["version"])


class Phone:
    """One person's Telegram; where no chat is named it is the private chat with the bot."""

    def __init__(self, telegram: Telegram, id: int, name: str) -> None:
        self.telegram, self.id, self.name = telegram, id, name
        self._seen: dict[int, tuple[int, dict[int, Message]]] = {}

    async def say(
        self, text: str, *, chat: Chat | None = None, topic: int | None = None, reply_to: Message | None = None,
        forwarded: "bool | Phone | Message" = False, via_bot: str | None = None, as_anonymous_admin: bool = False,
        as_channel: Chat | None = None, as_service: bool = False,
    ) -> Message:  # fmt: skip
        """Type a message.

        `forwarded`: True from somebody hidden, or from this person, or this message; `via_bot` names another bot.
        """
        body: Json = {
            "text": text, "chat_id": chat.id if chat else None, "topic": topic,
            "reply_to": reply_to.id if reply_to else None, "forwarded": _origin(forwarded), "via_bot": via_bot,
            "as_anonymous_admin": as_anonymous_admin, "as_channel": as_channel.id if as_channel else None,
            "as_service": as_service,
        }  # fmt: skip
        return Message.read(await self.telegram.ask("POST", f"people/{self.id}/say", body))

    async def start(self, payload: str = "") -> Message:
        """Open a deep link (`/start payload`); unblocks the bot, as Telegram does."""
        return Message.read(await self.telegram.ask("POST", f"people/{self.id}/start", {"payload": payload}))

    async def edit(self, message: Message, text: str) -> Message:
        """Edit what this person wrote."""
        body = {"chat_id": message.chat_id, "message_id": message.id, "text": text}
        return Message.read(await self.telegram.ask("POST", f"people/{self.id}/edit", body))

    async def press(self, message: Message, label: str | None = None, *, data: str | None = None) -> str:
        """Tap a button as it stood in `message`, or send any data; gives the press's id without waiting."""
        if data is None:
            button = message.button(label or "")
            if button.callback_data is None:
                raise LookupError(f"{button.text!r} is no button that the bot hears of")
            data = button.callback_data
        body = {"chat_id": message.chat_id, "message_id": message.id, "data": data}
        return str((await self.telegram.ask("POST", f"people/{self.id}/press", body))["id"])

    async def toast(self, press: str, *, timeout: float = PATIENCE) -> Toast:
        """What the bot answered to a press; NeverHappened when it does not."""
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            left = deadline - asyncio.get_running_loop().time()
            wait = max(0.0, min(left, LONG_POLL))
            answer = (await self.telegram.ask("GET", f"presses/{press}", wait=wait))["answer"]
            if answer is not None:
                return Toast(answer["text"], answer["alert"], answer["url"])
            if left <= 0:
                raise NeverHappened(f"the bot did not answer {self.name}'s press within {timeout} s")

    async def tap(
        self, message: Message, label: str | None = None, *, data: str | None = None, timeout: float = PATIENCE
    ) -> Toast:
        """Tap a button and wait for the bot's answer."""
        return await self.toast(await self.press(message, label, data=data), timeout=timeout)

    async def block(self) -> None:
        """Block the bot."""
        await self._change(blocked=True)

    async def unblock(self) -> None:
        """Unblock it."""
        await self._change(blocked=False)

    async def deactivate(self) -> None:
        """Delete the account."""
        await self._change(deactivated=True)

    async def rename(self, name: str, *, username: str | None = None) -> None:
        """Take another name."""
        self.name = name
        await self._change(name=name, username=username)

    async def _change(self, **what: Any) -> None:
        await self.telegram.ask("PATCH", f"people/{self.id}", what)

    async def messages(self, chat: Chat | None = None) -> tuple[Message, ...]:
        """All that stands in the chat, in order; deleted messages are gone."""
        return (await self._look(chat.id if chat else self.id))[1]

    async def _look(self, chat: int, *, since: int | None = None, wait: float = 0) -> tuple[int, tuple[Message, ...]]:
        """The chat as it is, with its version, or after the next change since one: only what changed is read again."""
        known, kept = self._seen.setdefault(chat, (0, {}))
        news = await self.telegram.ask(
            "GET", f"chats/{chat}/messages", since=known if since is None else since, wait=wait
        )
        for message in map(Message.read, news["messages"]):
            if message.id not in kept or kept[message.id].version < message.version:
                kept[message.id] = message
        self._seen[chat] = (max(self._seen[chat][0], news["version"]), kept)
        return news["version"], tuple(kept[number] for number in sorted(kept) if not kept[number].deleted)

    async def last(self, chat: Chat | None = None) -> Message:
        """The bot's last message; LookupError when it sent none."""
        sent = [message for message in await self.messages(chat) if message.by_bot]
        if not sent:
            raise LookupError(f"the bot has sent {self.name} nothing")
        return sent[-1]

    async def until(
        self, predicate: Callable[[Message], Any], *, chat: Chat | None = None, timeout: float = PATIENCE,
        what: str = "",
    ) -> Message:  # fmt: skip
        """Wait for a message of the bot that fits, new or edited; the last that does. NeverHappened otherwise."""
        number = chat.id if chat else self.id
        deadline = asyncio.get_running_loop().time() + timeout
        since, wait = None, 0.0
        while True:
            # From the version that this wait has seen, since another wait on this phone may have read on meanwhile.
            since, shown = await self._look(number, since=since, wait=wait)
            fitting = [message for message in shown if message.by_bot and predicate(message)]
            if fitting:
                return fitting[-1]
            wait = min(deadline - asyncio.get_running_loop().time(), LONG_POLL)
            if wait <= 0:
                seen = "\n---\n".join(message.text for message in shown[-5:])
                raise NeverHappened(
                    f"{self.name} saw no message {what or 'that fits'} in {timeout} s; the last:\n{seen}"
                )


def _origin(forwarded: "bool | Phone | Message") -> Any:
    if isinstance(forwarded, Message):
        return [forwarded.chat_id, forwarded.id]
    return forwarded.id if isinstance(forwarded, Phone) else forwarded
