"""What a verb decides: all that one call changes, committed whole or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .document import Document, Index
from .entry import Entry


@dataclass(frozen=True, slots=True)
class Put:
    """A document to write, and which of the commit's entries (by position) fill its entry-id fields."""

    doc: Document
    marks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Quote:
    """Text in a result that stands in the ledger: of the commit's n-th entry, or of the entry with this id.

    Results are kept for replays, and what is kept holds ids and codes only; the text is read again. A long payload of
    an `entry` is named by its length; `stamp` is the entry without its payload, which stands beside it.
    """

    entry: int | str
    part: Literal["entry", "stamp", "summary", "line", "payload", "options", "reason"] = "entry"


@dataclass(frozen=True, slots=True)
class MailText:
    """The text of a mailbox note: kept beside the ledger, gone when its life (ms) ends."""

    id: str
    text: str
    life: int


@dataclass(frozen=True, kw_only=True)
class Commit:
    """One call's changes. Every document that it read is expected unchanged.

    `not_after` is a time in ms by the store's clock, 0 for none: past it the call is decided anew.
    `touches` are index entries that belong to no document (who wrote last, and when); `drops` are taken away.
    `cards` are refs (`kind:id`) whose cards are to be looked at beside those of the documents.
    `epoch` is that of the scheduler that writes, where the space has not noted it yet; 0 for none.
    `once` is what the caller alone gets to see, the first time (a secret); it is never kept.
    """

    result: Mapping[str, Any]
    puts: tuple[Put, ...] = ()
    entries: tuple[Entry, ...] = ()
    texts: tuple[MailText, ...] = ()
    touches: tuple[tuple[Index, str], ...] = ()
    drops: tuple[tuple[Index, str], ...] = ()
    not_after: int = 0
    cards: tuple[str, ...] = ()
    epoch: int = 0
    once: Mapping[str, Any] = field(default_factory=dict)


def put(doc: Document, **marks: int) -> Put:
    """`put(ask, asked=0)`: write the document, its field `asked` being the id of the first entry."""
    return Put(doc, marks)
