"""What is to be said because of an update, once it is done: kept first, said then, and said again until it is.

What an update asks for is never done again because an answer did not get through.

    spelled(words) -> str     as they are kept
    spoken(text) -> words     as they were kept; ValueError for what is none
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .message import Message, Spelled

__all__ = ["Reply", "Show", "Toast", "Words", "spelled", "spoken"]


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


Word = Toast | Reply | Show
Words = tuple[Word, ...]
_KINDS: Mapping[str, type[Toast] | type[Reply] | type[Show]] = {"toast": Toast, "reply": Reply, "show": Show}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def spelled(words: Sequence[Word], *, made: int) -> str:
    """As they are kept; `made` says when (ms)."""
    rows = [{**asdict(word), "kind": _NAMES[type(word)]} for word in words]
    return json.dumps({"made": made, "words": rows}, separators=(",", ":"))


def spoken(text: str) -> tuple[Words, int]:
    """The words that were kept so, and when they were made (ms). ValueError: they are none of ours."""
    try:
        found = json.loads(text)
        return tuple(_read(row) for row in found["words"]), int(found["made"])
    except (KeyError, TypeError, RecursionError) as why:
        raise ValueError(f"no words: {type(why).__name__}") from None


def _read(row: dict[str, Any]) -> Word:
    kind = _KINDS[row.pop("kind")]
    if row.get("entities"):
        row["entities"] = tuple(row["entities"])
    if row.get("rows") is not None and kind is Show:
        row["rows"] = tuple(tuple(each) for each in row["rows"])
    made: Word = kind(**row)
    return made
