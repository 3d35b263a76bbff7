"""What is kept of an entry so that it is found: its stems, names and words, and what it is filtered by."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..domain.entry import Absent, Entry
from ..ledger.chain import Record
from .words import Reading, clean, fold, names, read

WORDS_LIMIT = 4_000  # characters whose words are kept, of an entry's own lines and of what stands beside; names all are
KIND, PLACE = "\ue001", "\ue002"  # begin the tokens that an entry is filtered by


@dataclass(frozen=True, slots=True)
class Row:
    """One entry for the index. `head` and `rest` are stems between blanks, a blank at either end.

    `terms` are what a misspelled or cut word is compared with.
    """

    seq: int
    id: str
    link: str
    kind: str = ""
    fact: str = ""
    head: str = ""
    rest: str = ""
    tags: str = ""
    names: tuple[str, ...] = ()
    terms: frozenset[str] = field(default_factory=frozenset)

    @property
    def ts(self) -> int:
        """When it was committed, in ms."""
        return int(self.id.partition("-")[0])


def row(record: Record) -> Row:
    """The row of a ledger's record; one that was redacted or cannot be read has nothing to be found by."""
    logged = record.logged()
    if logged.entry is None:
        return Row(logged.seq, logged.id, record.link)
    entry = logged.entry
    (head, head_names), (rest, rest_names) = _read(_head(entry)), _read(_rest(entry))
    labels = {fold(label) for label in (*entry.tags, entry.trail, entry.origin, entry.answers) if label}
    fact, supersedes = getattr(entry, "fact", ""), getattr(entry, "supersedes", "")
    labels |= {fold(id) for id in (fact, supersedes) if id}
    return Row(
        seq=logged.seq,
        id=logged.id,
        link=record.link,
        kind=entry.kind,
        fact=fact,
        head=_spaced(head.stems),
        rest=_spaced([*head.joined, *rest.stems, *rest.joined]),
        tags=" ".join((kind_token(entry.kind), *map(place_token, entry.places))),
        names=tuple(dict.fromkeys((*labels, *head_names, *rest_names))),
        terms=frozenset((*labels, *head.terms, *head.names, *rest.terms, *rest.names)),
    )


def kind_token(kind: str) -> str:
    """The token of all entries of a kind."""
    return KIND + kind.replace("_", "")


def place_token(place: str) -> str:
    """The token of all entries in a place's Log."""
    return PLACE + hashlib.blake2b(place.encode(), digest_size=8).hexdigest()


def _read(text: str) -> tuple[Reading, list[str]]:
    """A text taken apart as far as its words are kept, and the names in all of it."""
    cleaned = clean(text)
    return read(cleaned[:WORDS_LIMIT]), names(cleaned)


def _spaced(stems: list[str]) -> str:
    return f" {' '.join(stems)} "


def _head(entry: Entry) -> str:
    """What its author wrote as its text."""
    return "\n".join((entry.summary, *entry.tags, entry.trail))


def _rest(entry: Entry) -> str:
    """What stands beside it: why, options, payload, and where, by whom and as what it was written."""
    about = (entry.kind, entry.by.partition(":")[2], entry.where.partition(":")[2])
    said = (*about, entry.why, *entry.options, entry.origin, entry.answers)
    if isinstance(entry.payload, Absent):
        return "\n".join(filter(None, said))
    return "\n".join((*filter(None, said), *_payload(entry.payload)))


def _payload(value: Any) -> Iterator[str]:
    """The texts of a payload, in their order."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack += [part for pair in reversed(node.items()) for part in reversed(pair)]
        elif isinstance(node, list):
            stack += reversed(node)
        elif node is not None and not isinstance(node, bool):
            yield node if isinstance(node, str) else json.dumps(node)
