"""What the emulator holds: people, chats with their messages, presses, and the bot itself."""

import secrets
import string
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.telegram.emulator.changes import Changes, Clock
from tests.telegram.emulator.faults import Faults
from tests.telegram.emulator.limits import Floods, Limits
from tests.telegram.emulator.updates import Updates
from tests.telegram.emulator.webhook import Webhook

Json = dict[str, Any]
Kind = Literal["private", "group", "supergroup", "channel"]

ANONYMOUS_ADMIN = 1087968824
CHANNEL_BOT = 136817688
SERVICE = 777000

KEPT_MESSAGES = 10_000
"""Messages kept in one chat."""
KEPT_CALLS = 20_000
KEPT_PRESSES = 20_000


@dataclass(slots=True)
class Person:
    """Somebody with Telegram on a phone."""

    id: int
    name: str
    username: str | None = None
    language: str | None = "en"
    started: bool = False
    blocked: bool = False
    deactivated: bool = False

    def user(self) -> Json:
        """The API's User."""
        optional = {"username": self.username, "language_code": self.language}
        return {
            "id": self.id,
            "is_bot": False,
            "first_name": self.name,
            **{key: value for key, value in optional.items() if value is not None},
        }


@dataclass(slots=True)
class Sent:
    """One message, as the API shows it (`message`), and what only Telegram knows about it."""

    message: Json
    by_bot: bool
    silent: bool = False
    special_markup: Json | None = None
    """ForceReply or a reply keyboard: such a message cannot be edited."""
    edits: int = 0
    deleted: bool = False
    version: int = 0

    @property
    def id(self) -> int:
        return int(self.message["message_id"])

    def view(self) -> Json:
        """What the control client sees."""
        return {
            "message": self.message, "by_bot": self.by_bot, "silent": self.silent, "edits": self.edits,
            "deleted": self.deleted, "version": self.version, "special_markup": self.special_markup,
        }  # fmt: skip


@dataclass(slots=True)
class Chat:
    """A private chat with the bot (its id is the person's), a group, a supergroup or a channel."""

    id: int
    kind: Kind
    title: str = ""
    forum: bool = False
    members: set[int] = field(default_factory=set)
    bot_status: Literal["member", "administrator", "left", "kicked"] = "member"
    topics: dict[int, str] = field(default_factory=dict)
    migrated_to: int | None = None
    messages: OrderedDict[int, Sent] = field(default_factory=OrderedDict)
    recent: OrderedDict[int, Sent] = field(default_factory=OrderedDict)
    """The same messages, the last changed last."""
    version: int = 0

    @property
    def group(self) -> bool:
        return self.kind in ("group", "supergroup")

    def view(self) -> Json:
        """What the control client sees."""
        return {
            "id": self.id, "kind": self.kind, "title": self.title, "forum": self.forum, "topics": self.topics,
            "members": sorted(self.members), "bot_status": self.bot_status, "migrated_to": self.migrated_to,
            "version": self.version,
        }  # fmt: skip


@dataclass(slots=True)
class Press:
    """A tap on a button with callback data."""

    id: str
    person: int
    chat: int
    message: int
    data: str
    at: float
    answer: Json | None = None
    version: int = 0

    def view(self) -> Json:
        """What the control client sees."""
        return {"id": self.id, "data": self.data, "answer": self.answer}


def new_token() -> str:
    """A token as BotFather makes them."""
    letters = string.ascii_letters + string.digits
    return "7000000001:" + "".join(secrets.choice(letters) for _ in range(35))


@dataclass(slots=True)
class State:
    """All of it; belongs to one event loop."""

    limits: Limits = field(default_factory=Limits)
    token: str = field(default_factory=new_token)
    username: str = "logmem_test_bot"
    clock: Clock = field(default_factory=Clock)
    changes: Changes = field(default_factory=Changes)
    people: dict[int, Person] = field(default_factory=dict)
    chats: dict[int, Chat] = field(default_factory=dict)
    presses: OrderedDict[str, Press] = field(default_factory=OrderedDict)
    answered: deque[Press] = field(default_factory=lambda: deque(maxlen=KEPT_PRESSES))
    """The last answered last."""
    commands: dict[str, list[Json]] = field(default_factory=dict)
    calls: deque[Json] = field(default_factory=lambda: deque(maxlen=KEPT_CALLS))
    violations: deque[Json] = field(default_factory=lambda: deque(maxlen=KEPT_CALLS))
    faults: Faults = field(default_factory=Faults)
    webhook: Webhook = field(default_factory=Webhook)
    updates: Updates = field(init=False)
    floods: Floods = field(init=False)
    _last_message: int = 0
    _last_call: int = 0

    def __post_init__(self) -> None:
        self.updates = Updates(clock=self.clock, changes=self.changes, limits=self.limits)
        self.floods = Floods(self.limits)

    def set_limits(self, limits: Limits) -> None:
        """Change limits in the middle of things."""
        self.limits = self.floods.limits = self.updates.limits = limits

    def close(self) -> None:
        """Let nobody wait any more: polls answer, and what hangs is let go."""
        self.changes.close()
        self.faults.clear()

    @property
    def bot_id(self) -> int:
        return int(self.token.split(":")[0])

    def bot(self) -> Json:
        """The API's User of the bot."""
        return {"id": self.bot_id, "is_bot": True, "first_name": "LogMem", "username": self.username}

    def now(self) -> int:
        """The emulator's time in whole seconds, as dates of the API are."""
        return int(self.clock.now())

    def shown(self, chat: Chat) -> Json:
        """The API's Chat."""
        if chat.kind == "private":
            person = self.people[chat.id]
            username = {"username": person.username} if person.username else {}
            return {"id": chat.id, "type": "private", "first_name": person.name, **username}
        forum = {"is_forum": True} if chat.forum else {}
        return {"id": chat.id, "type": chat.kind, "title": chat.title, **forum}

    def next_message_id(self) -> int:
        """The id of the next message of any chat."""
        self._last_message += 1
        return self._last_message

    def put(self, chat: Chat, sent: Sent) -> Sent:
        """Keep a message, or note that it changed; the oldest beyond the bound are forgotten."""
        chat.messages[sent.id] = chat.recent[sent.id] = sent
        chat.recent.move_to_end(sent.id)
        while len(chat.messages) > KEPT_MESSAGES:
            oldest, _ = chat.messages.popitem(last=False)
            chat.recent.pop(oldest)
        sent.version = chat.version = self.changes.bump()
        return sent

    def keep(self, press: Press) -> None:
        """Keep a press; the oldest beyond the bound are forgotten."""
        self.presses[press.id] = press
        while len(self.presses) > KEPT_PRESSES:
            self.presses.popitem(last=False)

    def note_violation(self, method: str, problem: str, params: Mapping[str, Any]) -> None:
        """Note what a correct bot never does."""
        self.violations.append({"method": method, "problem": problem, "params": dict(params)})
        self.changes.bump()

    def note_call(self, call: Json) -> None:
        """Note a call of the bot with its answer."""
        self._last_call += 1
        self.calls.append({"n": self._last_call, "at": self.clock.now(), **call})
        self.changes.bump()
