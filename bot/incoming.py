"""What comes from Telegram, read once: a press, a message, or a change of where the bot is a member."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Change", "Press", "Said", "Unreadable", "change", "chat_of", "press", "said"]

PRIVATE = "private"
WITH_CHAT = ("message", "edited_message", "my_chat_member", "chat_member")


class Unreadable(Exception):
    """An update that nobody can make sense of; its text holds nothing of what the update says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """`query` is to be answered; `message` is the one that the button stands under, `beside` what its buttons carry."""

    update: int
    query: str
    user: int
    name: str
    chat: int
    chat_type: str
    message: int
    data: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message. `anonymous`: as a channel or as a group's administrator without a name; `thread` 0 for no topic.

    `to` is the message of the bot's that it replies to, 0 for none, and `to_data` what the buttons under that carry.
    """

    update: int
    user: int
    name: str
    username: str
    chat: int
    chat_type: str
    title: str
    thread: int
    message: int
    text: str
    forwarded: bool
    via_bot: bool
    is_bot: bool
    anonymous: bool
    to: int
    to_data: tuple[str, ...]
    migrated_to: int

    @property
    def private(self) -> bool:
        """Whether it was said in the person's own chat with the bot."""
        return self.chat_type == PRIVATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`there`: whether the bot can write there now."""

    update: int
    user: int
    chat: int
    chat_type: str
    title: str
    there: bool
    was_there: bool


def chat_of(update: Mapping[str, Any]) -> int:
    """The chat whose order an update belongs to. Unreadable: it is none that we asked for, or is malformed."""
    try:
        _number(update["update_id"])
        if "callback_query" in update:
            press = update["callback_query"]
            return _number((press.get("message") or {"chat": press["from"]})["chat"]["id"])
        return next(_number(update[kind]["chat"]["id"]) for kind in WITH_CHAT if kind in update)
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        raise Unreadable("no update that was asked for, or a malformed one") from None


def press(update: Mapping[str, Any]) -> Press:
    """A callback query. Raises Unreadable."""
    try:
        query = update["callback_query"]
        who, under = query["from"], query["message"]
        return Press(
            update=_number(update["update_id"]),
            query=str(query["id"]),
            user=_number(who["id"]),
            name=_name(who),
            chat=_number(under["chat"]["id"]),
            chat_type=str(under["chat"]["type"]),
            message=_number(under["message_id"]),
            data=str(query.get("data") or ""),
            beside=_carried(under),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as why:
        raise Unreadable(f"a press: {type(why).__name__}") from None


def said(update: Mapping[str, Any]) -> Said:
    """A message. Raises Unreadable."""
    try:
        message = update["message"]
        chat, who = message["chat"], message.get("from") or {}
        to = message.get("reply_to_message") or {}
        ours = bool((to.get("from") or {}).get("is_bot"))
        return Said(
            update=_number(update["update_id"]),
            user=_number(who.get("id", 0)),
            name=_name(who),
            username=str(who.get("username") or ""),
            chat=_number(chat["id"]),
            chat_type=str(chat["type"]),
            title=str(chat.get("title") or ""),
            thread=_number(message.get("message_thread_id") or 0) if message.get("is_topic_message") else 0,
            message=_number(message["message_id"]),
            text=str(message.get("text") or ""),
            forwarded=bool(message.get("forward_origin") or message.get("forward_date")),
            via_bot=bool(message.get("via_bot")),
            is_bot=bool(who.get("is_bot")),
            anonymous=bool(message.get("sender_chat")) or not who,
            to=_number(to.get("message_id") or 0) if ours else 0,
            to_data=_carried(to),
            migrated_to=_number(message.get("migrate_to_chat_id") or 0),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as why:
        raise Unreadable(f"a message: {type(why).__name__}") from None


def change(update: Mapping[str, Any]) -> Change:
    """A my_chat_member. Raises Unreadable."""
    try:
        moved = update["my_chat_member"]
        chat = moved["chat"]
        return Change(
            update=_number(update["update_id"]),
            user=_number(moved["from"]["id"]),
            chat=_number(chat["id"]),
            chat_type=str(chat["type"]),
            title=str(chat.get("title") or ""),
            there=_there(moved["new_chat_member"]),
            was_there=_there(moved["old_chat_member"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as why:
        raise Unreadable(f"a change of membership: {type(why).__name__}") from None


def _there(member: Mapping[str, Any]) -> bool:
    status = member["status"]
    return status in ("member", "administrator", "creator") or (
        status == "restricted" and bool(member.get("is_member"))
    )


def _carried(message: Mapping[str, Any]) -> tuple[str, ...]:
    """What the buttons under a message carry, as Telegram shows it."""
    rows = (message.get("reply_markup") or {}).get("inline_keyboard") or ()
    return tuple(str(one["callback_data"]) for row in rows for one in row if one.get("callback_data"))


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("no number")
    return value


def _name(who: Mapping[str, Any]) -> str:
    return " ".join(str(who[part]) for part in ("first_name", "last_name") if who.get(part))
