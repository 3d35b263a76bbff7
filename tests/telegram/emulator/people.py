"""What people do with their phones: type, tap, edit, block; each becomes an update."""

import re
import secrets
from typing import Any

from tests.telegram.emulator.errors import STALE_QUERY, refuse
from tests.telegram.emulator.messages import origin_of, without_replies
from tests.telegram.emulator.state import ANONYMOUS_ADMIN, CHANNEL_BOT, SERVICE, Chat, Person, Press, Sent, State
from tests.telegram.emulator.text import found, units

Json = dict[str, Any]

START_PAYLOAD = re.compile(r"[A-Za-z0-9_-]{1,64}")
BOTS = {
    ANONYMOUS_ADMIN: ("Group", "GroupAnonymousBot"),
    CHANNEL_BOT: ("Channel", "Channel_Bot"),
}


def private_chat(state: State, person: Person) -> Chat:
    """The person's chat with the bot, made by the first word they say."""
    if person.id not in state.chats:
        state.chats[person.id] = Chat(person.id, "private", members={person.id})
        state.changes.bump()
    return state.chats[person.id]


def chat_for(state: State, person: Person, chat_id: int | None) -> Chat:
    """Where a person writes or taps; a member of it, or ValueError."""
    if chat_id in (None, person.id):
        return private_chat(state, person)
    chat = state.chats.get(int(chat_id or 0))
    if chat is None or chat.kind == "private":
        raise ValueError(f"no chat {chat_id} that {person.name} could write in")
    if person.id not in chat.members:
        raise ValueError(f"{person.name} is not a member of {chat.title}")
    return chat


def say(state: State, person: Person, words: Json) -> Sent:
    """A message of a person, with all the ways in which it can be less than that."""
    chat = chat_for(state, person, words.get("chat_id"))
    if chat.kind == "private":
        person.started = True
    text: str = words["text"]
    if not text.strip() or units(text) > 4096:
        raise ValueError("people write 1 to 4096 characters")
    message: Json = {
        "message_id": state.next_message_id(), **_author(state, person, chat, words), "chat": state.shown(chat),
        "date": state.now(), "text": text,
    }  # fmt: skip
    if entities := found(text):
        message["entities"] = entities
    if reply_to := words.get("reply_to"):
        message["reply_to_message"] = without_replies(chat.messages[reply_to].message)
    if topic := words.get("topic"):
        message |= {"message_thread_id": topic, "is_topic_message": True}
    if forwarded := words.get("forwarded"):
        message["forward_origin"] = _origin(state, forwarded)
    if words.get("via_bot"):
        message["via_bot"] = {"id": 7000000099, "is_bot": True, "first_name": "Other", "username": words["via_bot"]}
    sent = state.put(chat, Sent(message, by_bot=False))
    if _reaches_bot(state, person, chat, message):
        state.updates.add("channel_post" if chat.kind == "channel" else "message", message)
    return sent


def _author(state: State, person: Person, chat: Chat, words: Json) -> Json:
    """Who the message is from: the person, or one of the ids behind which nobody can be told."""
    if chat.kind == "channel":
        return {"sender_chat": state.shown(chat)}
    if words.get("as_anonymous_admin"):
        return {"from": _bot(ANONYMOUS_ADMIN), "sender_chat": state.shown(chat)}
    if channel := words.get("as_channel"):
        return {"from": _bot(CHANNEL_BOT), "sender_chat": state.shown(state.chats[channel])}
    if words.get("as_service"):
        return {"from": {"id": SERVICE, "is_bot": False, "first_name": "Telegram"}, "is_automatic_forward": True}
    return {"from": person.user()}


def _bot(id: int) -> Json:
    name, username = BOTS[id]
    return {"id": id, "is_bot": True, "first_name": name, "username": username}


def _origin(state: State, forwarded: Any) -> Json:
    """`True` is a forward of somebody hidden, a number of a person, `[chat, message]` of a message."""
    if forwarded is True:
        return {"type": "hidden_user", "date": state.now(), "sender_user_name": "Somebody"}
    if isinstance(forwarded, list):
        return origin_of(state.chats[forwarded[0]].messages[forwarded[1]].message)
    return {"type": "user", "date": state.now(), "sender_user": state.people[forwarded].user()}


def _reaches_bot(state: State, person: Person, chat: Chat, message: Json) -> bool:
    if chat.kind == "private":
        return not person.blocked
    if chat.bot_status not in ("member", "administrator") or chat.migrated_to is not None:
        return False
    if chat.bot_status == "administrator" or not state.limits.privacy:
        return True
    replied = message.get("reply_to_message", {}).get("from", {}).get("id") == state.bot_id
    command = re.match(r"/\w+(?:@(\w+))?", message["text"])
    return replied or (command is not None and command[1] in (None, state.username))


def edit(state: State, person: Person, change: Json) -> Sent:
    """A person edits what they wrote."""
    chat = chat_for(state, person, change.get("chat_id"))
    sent = chat.messages[change["message_id"]]
    if sent.by_bot or sent.message.get("from", {}).get("id") != person.id:
        raise ValueError(f"{person.name} did not write message {sent.id}")
    kept = {key: value for key, value in sent.message.items() if key != "entities"}
    sent.message = {**kept, "text": change["text"], "edit_date": state.now()}
    if entities := found(change["text"]):
        sent.message["entities"] = entities
    sent.edits += 1
    state.put(chat, sent)
    if _reaches_bot(state, person, chat, sent.message):
        state.updates.add("edited_message", sent.message)
    return sent


def press(state: State, person: Person, tap: Json) -> Press:
    """A tap, with any data: an old button's, another one's, a guessed one; an anonymous admin's has their own id."""
    chat = chat_for(state, person, tap.get("chat_id"))
    sent = chat.messages.get(tap["message_id"])
    if sent is None or not sent.by_bot:
        raise ValueError(f"no message {tap['message_id']} of the bot in chat {chat.id}")
    made = Press(str(secrets.randbits(62)), person.id, chat.id, sent.id, tap["data"], state.clock.now())
    state.keep(made)
    gone = {"chat": state.shown(chat), "message_id": sent.id, "date": 0}
    state.updates.add(
        "callback_query",
        {
            "id": made.id, "from": person.user(), "message": gone if sent.deleted else sent.message,
            "chat_instance": str(chat.id * 7919), "data": made.data,
        },
    )  # fmt: skip
    return made


def start(state: State, person: Person, payload: str) -> Sent:
    """A deep link opened: `/start payload`."""
    if payload and not START_PAYLOAD.fullmatch(payload):
        raise ValueError("a start payload has 1 to 64 of A-Z a-z 0-9 _ -")
    if person.blocked:
        block(state, person, blocked=False)
    return say(state, person, {"text": f"/start {payload}".strip()})


def block(state: State, person: Person, *, blocked: bool) -> None:
    """Block the bot, or unblock it."""
    if person.blocked is blocked:
        return
    chat = private_chat(state, person)
    person.blocked = blocked
    before, after = ("member", "kicked") if blocked else ("kicked", "member")
    state.updates.add("my_chat_member", bot_moved(state, chat, person, (before, after)))
    state.changes.bump()


def bot_moved(state: State, chat: Chat, person: Person, statuses: tuple[str, str]) -> Json:
    """The body of `my_chat_member`: what the bot was and is in a chat."""
    before, after = (
        {"status": status, "user": state.bot(), **({"until_date": 0} if status == "kicked" else {})}
        for status in statuses
    )
    return {
        "chat": state.shown(chat), "from": person.user(), "date": state.now(),
        "old_chat_member": before, "new_chat_member": after,
    }  # fmt: skip


def answer_callback_query(state: State, params: Json) -> bool:
    """answerCallbackQuery: once, and while the query is fresh."""
    made = state.presses.get(params["callback_query_id"])
    if made is None or made.answer is not None or state.clock.now() - made.at > state.limits.callback_window:
        raise refuse(400, STALE_QUERY)
    if units(params.get("text", "")) > state.limits.toast_units:
        raise refuse(400, "MESSAGE_TOO_LONG")
    made.answer = {
        "text": params.get("text", ""), "alert": bool(params.get("show_alert")), "url": params.get("url"),
        "cache_time": params.get("cache_time", 0),
    }  # fmt: skip
    made.version = state.changes.bump()
    state.answered.append(made)
    return True


def group_author(state: State, chat: Chat) -> Json:
    """Who a group's service message is from: one of its members."""
    return next(({"from": state.people[one].user()} for one in sorted(chat.members) if one in state.people), {})
