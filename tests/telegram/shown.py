"""What a phone shows and what the emulator noted, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity of a text; offsets are UTF-16 units."""

    type: str
    offset: int
    length: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(raw: Json) -> "Entity":
        """From the API's MessageEntity."""
        extra = {key: value for key, value in raw.items() if key not in ("type", "offset", "length")}
        return Entity(raw["type"], raw["offset"], raw["length"], extra)

    def of(self, text: str) -> str:
        """The part of the text that it covers."""
        wide = text.encode("utf-16-le")
        return wide[2 * self.offset : 2 * (self.offset + self.length)].decode("utf-16-le")


@dataclass(frozen=True, slots=True)
class Button:
    """One button of an inline keyboard."""

    text: str
    url: str | None = None
    callback_data: str | None = None
    copy_text: str | None = None
    style: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it stands at the moment of looking."""

    id: int
    chat_id: int
    text: str
    entities: tuple[Entity, ...]
    buttons: tuple[tuple[Button, ...], ...]
    reply_to: int | None
    thread: int | None
    by_bot: bool
    sender_id: int | None
    silent: bool
    edited: int
    deleted: bool
    force_reply: bool
    date: int
    version: int
    raw: Json

    @staticmethod
    def read(view: Json) -> "Message":
        """From what the control API shows."""
        raw: Json = view["message"]
        rows = raw.get("reply_markup", {}).get("inline_keyboard", [])
        return Message(
            id=raw["message_id"],
            chat_id=raw["chat"]["id"],
            text=raw.get("text", ""),
            entities=tuple(Entity.read(one) for one in raw.get("entities", [])),
            buttons=tuple(tuple(_button(one) for one in row) for row in rows),
            reply_to=raw.get("reply_to_message", {}).get("message_id"),
            thread=raw.get("message_thread_id"),
            by_bot=view["by_bot"],
            sender_id=(raw.get("from") or raw.get("sender_chat") or {"id": None})["id"],
            silent=view["silent"],
            edited=view["edits"],
            deleted=view["deleted"],
            force_reply=bool((view["special_markup"] or {}).get("force_reply")),
            date=raw["date"],
            version=view["version"],
            raw=raw,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The words on all buttons, in order."""
        return tuple(button.text for row in self.buttons for button in row)

    def button(self, label: str) -> Button:
        """The button with this text, or the only one that begins with it; LookupError otherwise."""
        every = [button for row in self.buttons for button in row]
        exact = [button for button in every if button.text == label]
        found = exact or [button for button in every if button.text.startswith(label)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} buttons {label!r} among {[button.text for button in every]}")
        return found[0]


def _button(raw: Json) -> Button:
    copied = raw["copy_text"]["text"] if "copy_text" in raw else None
    return Button(raw["text"], raw.get("url"), raw.get("callback_data"), copied, raw.get("style"))


@dataclass(frozen=True, slots=True)
class Toast:
    """What answerCallbackQuery showed: an empty text is the mere end of the button's spinning."""

    text: str
    alert: bool
    url: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the bot with its answer; `status` is None when the connection was cut or given up."""

    n: int
    at: float
    method: str
    params: Json
    status: int | None
    error: str | None
    fault: str | None
    result: Any


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that a correct bot never does."""

    method: str
    problem: str
    params: Json


@dataclass(frozen=True, slots=True)
class Chat:
    """A group, supergroup or channel."""

    id: int
    kind: str
    title: str
    forum: bool
    topics: Mapping[int, str]
    members: tuple[int, ...]
    bot_status: str
    migrated_to: int | None

    @staticmethod
    def read(view: Json) -> "Chat":
        """From what the control API shows."""
        return Chat(
            view["id"], view["kind"], view["title"], view["forum"],
            {int(topic): name for topic, name in view["topics"].items()},
            tuple(view["members"]), view["bot_status"], view["migrated_to"],
        )  # fmt: skip
