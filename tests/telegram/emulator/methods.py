"""The methods that are built, a row each; all others answer 501 and stand in the violations."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.telegram.emulator.errors import ENDED_BY_WEBHOOK, refuse
from tests.telegram.emulator.messages import (
    delete_message,
    delete_messages,
    edit_message_reply_markup,
    edit_message_text,
    forward_message,
    send_message,
)  # fmt: skip
from tests.telegram.emulator.people import answer_callback_query
from tests.telegram.emulator.reach import chat_of, thread_of
from tests.telegram.emulator.state import Chat, State

Json = dict[str, Any]
Method = Callable[[State, Json], Any]

COMMAND = re.compile(r"[a-z0-9_]{1,32}")
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def get_me(state: State, _: Json) -> Json:
    """GetMe."""
    return {
        **state.bot(), "can_join_groups": True, "can_read_all_group_messages": not state.limits.privacy,
        "supports_inline_queries": False, "can_connect_to_business": False, "has_main_web_app": False,
    }  # fmt: skip


def set_webhook(state: State, params: Json) -> bool:
    """setWebhook: https, or this machine; an empty URL takes it away."""
    url, secret = params["url"], params.get("secret_token")
    if not url:
        return delete_webhook(state, params)
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise refuse(400, "bad webhook: An HTTPS URL must be provided for webhook")
    if secret is not None and not SECRET.fullmatch(secret):
        raise refuse(400, "secret token contains unallowed characters")
    if params.get("drop_pending_updates"):
        state.updates.drop()
    state.updates.allow(params.get("allowed_updates"))
    state.webhook.set(url, secret=secret, connections=params.get("max_connections", 40))
    state.updates.end_polls(ENDED_BY_WEBHOOK)
    return True


def delete_webhook(state: State, params: Json) -> bool:
    """DeleteWebhook."""
    if params.get("drop_pending_updates"):
        state.updates.drop()
    state.webhook.clear()
    return True


def get_webhook_info(state: State, _: Json) -> Json:
    """GetWebhookInfo."""
    return state.webhook.info(pending=len(state.updates.pending()), allowed=state.updates.allowed)


def _scope(params: Json) -> str:
    return json.dumps([params.get("scope") or {"type": "default"}, params.get("language_code") or ""], sort_keys=True)


def set_my_commands(state: State, params: Json) -> bool:
    """SetMyCommands."""
    if len(params["commands"]) > 100:
        raise refuse(400, "BOT_COMMANDS_TOO_MUCH")
    for command in params["commands"]:
        if not COMMAND.fullmatch(command["command"]):
            raise refuse(400, "BOT_COMMAND_INVALID")
        if not 1 <= len(command["description"]) <= 256:
            raise refuse(400, "BOT_COMMAND_DESCRIPTION_INVALID")
    state.commands[_scope(params)] = params["commands"]
    return True


def delete_my_commands(state: State, params: Json) -> bool:
    """DeleteMyCommands."""
    state.commands.pop(_scope(params), None)
    return True


def get_my_commands(state: State, params: Json) -> list[Json]:
    """GetMyCommands."""
    return state.commands.get(_scope(params), [])


def send_chat_action(state: State, params: Json) -> bool:
    """SendChatAction."""
    thread_of(chat_of(state, params["chat_id"]), params.get("message_thread_id"))
    return True


def get_chat(state: State, params: Json) -> Json:
    """GetChat."""
    chat = chat_of(state, params["chat_id"])
    return {
        **state.shown(chat), "accent_color_id": 0, "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(
            ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
        ),
    }  # fmt: skip


def get_chat_member(state: State, params: Json) -> Json:
    """getChatMember: the bot, or a person."""
    chat = chat_of(state, params["chat_id"])
    if params["user_id"] == state.bot_id:
        return {"status": chat.bot_status, "user": state.bot()}
    person = state.people.get(params["user_id"])
    if person is None:
        raise refuse(400, "user not found")
    return {"status": "member" if person.id in chat.members else "left", "user": person.user()}


def leave_chat(state: State, params: Json) -> bool:
    """LeaveChat."""
    chat = chat_of(state, params["chat_id"])
    if chat.kind == "private":
        raise refuse(400, "chat not found")
    leave(state, chat)
    return True


def leave(state: State, chat: Chat) -> None:
    """The bot is in this chat no more, by its own will."""
    chat.bot_status = "left"
    state.changes.bump()


def yes(_: State, __: Json) -> bool:
    """A method whose effect nobody here sees."""
    return True


METHODS: Mapping[str, Method] = {
    "getMe": get_me,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
    "sendMessage": send_message,
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "forwardMessage": forward_message,
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "answerCallbackQuery": answer_callback_query,
    "setMyCommands": set_my_commands,
    "deleteMyCommands": delete_my_commands,
    "getMyCommands": get_my_commands,
    "sendChatAction": send_chat_action,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "leaveChat": leave_chat,
    "setMyName": yes,
    "setMyDescription": yes,
    "setMyShortDescription": yes,
    "setChatMenuButton": yes,
    "close": yes,
    "logOut": yes,
}
"""getUpdates waits, and stands in `app.py`."""
