"""What is to be said because of an update, once it is done: kept first, said then, and said again until it is.

What an update asks for is never done again because an answer did not get through.

    spelled(words) -> str     as they are kept
    spoken(text) -> words     as they were kept; ValueError for what is none
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from .message import Message, Spelled

__all__ = ["Offer", "Reply", "Show", "Toast", "Verdict", "Words", "spelled", "spoken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toast:
    """The answer to a press on `message`. An `alert` that comes too late to be shown is said as a reply to that."""

    query: str
    chat: int
    message: int
    text: str = ""
    alert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message. With a `placeholder` it asks for a reply, and `meaning` is what that will mean.

    `idle`: it says only what anybody is told; those who ask for it again and again are told no more for a while.
    """

    chat: int
    text: str
    entities: tuple[Spelled, ...] = ()
    thread: int = 0
    reply_to: int = 0
    placeholder: str | None = None
    meaning: Mapping[str, Any] | None = None
    idle: bool = False

    @property
    def as_message(self) -> Message:
        """As it is sent."""
        return Message(text=self.text, entities=self.entities)


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """Another page of the card that was pressed (`page` from 0), or other buttons under it (None: its own again).

    `toast` is the answer to the press, once that stands.
    """

    query: str
    chat: int
    message: int
    space: str
    token: str
    page: int = -1
    rows: tuple[tuple[Spelled, ...], ...] | None = None
    toast: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A card to be sent anew to who has asked for it in this chat."""

    chat: int
    space: str
    ref: str
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What somebody says to a claim: waited for, and then said as a reply. It holds up nothing else."""

    chat: int
    claim: str
    reply_to: int = 0


Word = Toast | Reply | Show | Offer | Verdict
Words = tuple[Word, ...]
_KINDS: Mapping[str, type[Word]] = {
    "toast": Toast, "reply": Reply, "show": Show, "offer": Offer, "verdict": Verdict
}  # fmt: skip
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FORMS = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}
_FIELDS = {name: {"kind", *kind.__dataclass_fields__} for name, kind in _KINDS.items()}
AT_ONCE = 100  # words that are kept for one update, at most
LONGEST = 10_000  # characters of one text
MOST = 2**53  # no number of ours or of Telegram's is as large


def spelled(words: Sequence[Word], *, made: int) -> str:
    """As they are kept; `made` says when (ms)."""
    rows = [{**asdict(word), "kind": _NAMES[type(word)]} for word in words]
    return json.dumps({"made": made, "words": rows}, separators=(",", ":"))


def spoken(text: str) -> tuple[Words, int]:
    """The words that were kept so, and when they were made (ms). ValueError: they are none of ours."""
    try:
        found = json.loads(text)
        rows, made = found["words"], found["made"]
        if not (isinstance(rows, list) and len(rows) <= AT_ONCE and type(made) is int and 0 <= made < MOST):
            raise ValueError("no words")
        return tuple(_read(row) for row in rows), made
    except (AttributeError, KeyError, TypeError, RecursionError, ValueError) as why:  # none of which may name a text
        raise ValueError(f"no words: {type(why).__name__}") from None


def _read(row: dict[str, Any]) -> Word:
    """ValueError, KeyError, TypeError, AttributeError: it is none of ours."""
    kind = row["kind"]
    if row.keys() - _FIELDS[kind] or not all(_fits(value) for value in row.values()):
        raise ValueError("no word")
    made: Word = _FORMS[kind].validate_json(json.dumps(row), strict=True)
    return made


def _fits(value: Any) -> bool:
    return len(value) <= LONGEST if isinstance(value, str) else not isinstance(value, int) or abs(value) < MOST
