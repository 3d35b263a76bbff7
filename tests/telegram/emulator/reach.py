"""Which chats the bot can reach, and why not: each refusal in Telegram's words."""

import re
from typing import Any

from tests.telegram.emulator.errors import BotError, refuse
from tests.telegram.emulator.state import Chat, Sent, State


def chat_of(state: State, chat_id: Any) -> Chat:
    """The chat the bot writes to; a BotError 400 or 403 says why it cannot."""
    if chat_id in ("", None):
        raise refuse(400, "chat_id is empty")
    if isinstance(chat_id, str) and not re.fullmatch(r"-?\d+", chat_id):
        raise refuse(400, "chat not found")  # by @username only public chats are found, and there are none here
    number = int(chat_id)
    chat = state.chats.get(number)
    if chat is None:
        _refuse_stranger(state, number)
        raise refuse(400, "chat not found")
    if chat.kind == "private":
        _refuse_unwilling(state, chat)
    else:
        _refuse_outsider(chat)
    return chat


def _refuse_stranger(state: State, number: int) -> None:
    """A person with whom the bot has no chat: met in a group, or not at all."""
    person = state.people.get(number)
    if person is None:
        return
    if person.deactivated:
        raise refuse(403, "user is deactivated")
    if any(number in chat.members and chat.bot_status in ("member", "administrator") for chat in state.chats.values()):
        raise refuse(403, "bot can't initiate conversation with a user")
    raise refuse(400, "private chat not found")


def _refuse_unwilling(state: State, chat: Chat) -> None:
    person = state.people[chat.id]
    if person.deactivated:
        raise refuse(403, "user is deactivated")
    if person.blocked:
        raise refuse(403, "bot was blocked by the user")


def _refuse_outsider(chat: Chat) -> None:
    if chat.migrated_to is not None:
        raise BotError(
            400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
        )
    if chat.bot_status == "kicked":
        raise refuse(403, f"bot was kicked from the {chat.kind} chat")
    if chat.bot_status == "left":
        raise refuse(403, f"bot is not a member of the {chat.kind} chat")
    if chat.kind == "channel" and chat.bot_status != "administrator":
        raise refuse(403, "bot is not a member of the channel chat")


def thread_of(chat: Chat, thread: int | None) -> int | None:
    """The topic written to; General has no number, not even its own."""
    if thread is None or thread == 0:
        return None
    if thread not in chat.topics:
        raise refuse(400, "message thread not found")
    return thread


def message_of(chat: Chat, message_id: Any, *, to: str = "edit") -> Sent:
    """A message that is there."""
    sent = chat.messages.get(int(message_id)) if message_id else None
    if sent is None or sent.deleted:
        raise refuse(400, "message to be replied not found" if to == "reply" else f"message to {to} not found")
    return sent
