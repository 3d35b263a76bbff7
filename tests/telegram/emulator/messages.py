"""What the bot sends, edits, forwards and deletes."""

import json
from typing import Any

from tests.telegram.emulator.errors import NOT_MODIFIED, refuse
from tests.telegram.emulator.markup import inline, of_message
from tests.telegram.emulator.reach import chat_of, message_of, thread_of
from tests.telegram.emulator.state import Chat, Sent, State
from tests.telegram.emulator.text import body_of_message

Json = dict[str, Any]

NESTED = ("reply_to_message", "pinned_message")


def without_replies(message: Json) -> Json:
    """A message as it stands inside another one: replies are shown one level deep."""
    return {key: value for key, value in message.items() if key not in NESTED}


def send_message(state: State, params: Json) -> Json:
    """SendMessage."""
    chat = chat_of(state, params["chat_id"])
    thread = thread_of(chat, params.get("message_thread_id"))
    text, entities = body_of_message(params, limits=state.limits)
    keyboard, special = of_message(params.get("reply_markup"), limits=state.limits, private=chat.kind == "private")
    replied = _replied(chat, params.get("reply_parameters"))
    state.floods.pass_one(chat.id, group=chat.kind != "private", now=state.clock.now())
    message: Json = {"message_id": state.next_message_id(), **_author(state, chat), "date": state.now(), "text": text}
    if entities:
        message["entities"] = entities
    if keyboard:
        message["reply_markup"] = keyboard
    if replied:
        message["reply_to_message"] = without_replies(replied.message)
    if thread:
        message |= {"message_thread_id": thread, "is_topic_message": True}
    if params.get("protect_content"):
        message["has_protected_content"] = True
    silent = bool(params.get("disable_notification"))
    return state.put(chat, Sent(message, by_bot=True, silent=silent, special_markup=special)).message


def _author(state: State, chat: Chat) -> Json:
    shown = state.shown(chat)
    return {"sender_chat": shown, "chat": shown} if chat.kind == "channel" else {"from": state.bot(), "chat": shown}


def _replied(chat: Chat, reply: Json | None) -> Sent | None:
    if not reply or "message_id" not in reply:
        return None
    sent = chat.messages.get(reply["message_id"])
    if sent is not None and not sent.deleted:
        return sent
    if reply.get("allow_sending_without_reply"):
        return None
    raise refuse(400, "message to be replied not found")


def _editable(state: State, params: Json) -> tuple[Chat, Sent]:
    if "chat_id" not in params or "message_id" not in params:
        raise refuse(400, "message identifier is not specified" if "chat_id" in params else "chat_id is empty")
    chat = chat_of(state, params["chat_id"])
    sent = message_of(chat, params["message_id"])
    if not sent.by_bot or sent.special_markup is not None or "forward_origin" in sent.message:
        raise refuse(400, "message can't be edited")
    return chat, sent


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _edited(state: State, chat: Chat, sent: Sent, changed: Json) -> Json:
    """Keep an edit: what is None in `changed` goes, as a keyboard does that was left out."""
    before = {key: sent.message.get(key) for key in changed}
    if _same(before, changed):
        raise refuse(400, NOT_MODIFIED)
    state.floods.pass_one(chat.id, group=chat.kind != "private", now=state.clock.now())
    kept = {key: value for key, value in sent.message.items() if key not in changed}
    sent.message = {
        **kept, **{key: value for key, value in changed.items() if value is not None}, "edit_date": state.now()
    }  # fmt: skip
    sent.edits += 1
    return state.put(chat, sent).message


def edit_message_text(state: State, params: Json) -> Json:
    """editMessageText: a keyboard that is left out is removed."""
    chat, sent = _editable(state, params)
    text, entities = body_of_message(params, limits=state.limits)
    keyboard = inline(params.get("reply_markup"), limits=state.limits, private=chat.kind == "private")
    return _edited(state, chat, sent, {"text": text, "entities": entities or None, "reply_markup": keyboard})


def edit_message_reply_markup(state: State, params: Json) -> Json:
    """editMessageReplyMarkup: a keyboard that is left out is removed."""
    chat, sent = _editable(state, params)
    keyboard = inline(params.get("reply_markup"), limits=state.limits, private=chat.kind == "private")
    return _edited(state, chat, sent, {"reply_markup": keyboard})


def forward_message(state: State, params: Json) -> Json:
    """ForwardMessage."""
    chat = chat_of(state, params["chat_id"])
    source = chat_of(state, params["from_chat_id"])
    sent = message_of(source, params["message_id"], to="forward")
    if sent.message.get("has_protected_content"):
        raise refuse(400, "the message can't be forwarded")
    thread = thread_of(chat, params.get("message_thread_id"))
    state.floods.pass_one(chat.id, group=chat.kind != "private", now=state.clock.now())
    message: Json = {
        "message_id": state.next_message_id(), **_author(state, chat), "date": state.now(),
        "forward_origin": origin_of(sent.message), "text": sent.message["text"],
        **({"entities": sent.message["entities"]} if "entities" in sent.message else {}),
        **({"message_thread_id": thread, "is_topic_message": True} if thread else {}),
    }  # fmt: skip
    silent = bool(params.get("disable_notification"))
    return state.put(chat, Sent(message, by_bot=True, silent=silent)).message


def origin_of(message: Json) -> Json:
    """Where a forwarded message came from."""
    if "forward_origin" in message:
        return dict(message["forward_origin"])
    if "sender_chat" in message:
        return {"type": "chat", "date": message["date"], "sender_chat": message["sender_chat"]}
    return {"type": "user", "date": message["date"], "sender_user": message["from"]}


def delete_message(state: State, params: Json) -> bool:
    """deleteMessage, within 48 hours."""
    chat = chat_of(state, params["chat_id"])
    _delete(state, chat, message_of(chat, params["message_id"], to="delete"))
    return True


def delete_messages(state: State, params: Json) -> bool:
    """deleteMessages: those that are not there are skipped."""
    chat = chat_of(state, params["chat_id"])
    if not 1 <= len(params["message_ids"]) <= 100:
        raise refuse(400, "message identifiers must be 1 to 100")
    for sent in [chat.messages.get(number) for number in params["message_ids"]]:
        if sent is not None and not sent.deleted:
            _delete(state, chat, sent)
    return True


def _delete(state: State, chat: Chat, sent: Sent) -> None:
    theirs = not sent.by_bot and chat.kind != "private" and chat.bot_status != "administrator"
    if theirs or state.clock.now() - sent.message["date"] > state.limits.delete_window:
        raise refuse(400, "message can't be deleted for everyone")
    sent.deleted = True
    state.put(chat, sent)
