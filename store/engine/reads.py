"""What a call can read of a space, each with the commands that it takes and the value that it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ..domain.document import Document, entry_fields
from ..domain.entry import Logged, sequence
from ..ledger.chain import record, segment
from .documents import load
from .keys import Keys

Command = tuple[str | int | bytes, ...]
D = TypeVar("D", bound=Document)
T_co = TypeVar("T_co", covariant=True)


class Seen(NamedTuple):
    """What was seen under a key: a document's revision ('' when absent) in `rev`, or the size of an index in `#`.

    In `#<ms>` it is how many of an index have that score or a higher one, in `@<member>` the score of one of them.
    """

    field: str
    value: str
    doc: Document | None = None


class Read(Protocol[T_co]):
    """One thing to read: its commands, and what their replies mean."""

    def commands(self, keys: Keys) -> list[Command]:
        """The commands, in order."""

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[T_co, dict[str, Seen]]:
        """The value, and what a decision on it stands on."""


@dataclass(frozen=True, slots=True)
class Doc(Generic[D]):
    """A document, or None."""

    kind: type[D]
    id: str

    def commands(self, keys: Keys) -> list[Command]:
        return [("HMGET", keys.doc(self.kind.kind, self.id), "rev", "doc", *entry_fields(self.kind))]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[D | None, dict[str, Seen]]:
        rev, text, *marks = got[0]
        doc = load(self.kind, text, marks) if text else None
        return doc, {keys.doc(self.kind.kind, self.id): Seen("rev", rev.decode() if rev else "", doc)}


class Page(NamedTuple):
    """Members of an index as (kind, id), lowest score first, and the size of the whole index."""

    members: list[tuple[str, str]]
    size: int

    def ids(self, kind: type[Document]) -> list[str]:
        """The ids of the members of one kind."""
        return [id for k, id in self.members if k == kind.kind]


@dataclass(frozen=True, slots=True)
class Range:
    """The first `limit` members of an index with a score from `low` on (ms), or the last ones when `latest`.

    `high` is the upper bound, 0 for none.
    """

    name: str
    owner: str = ""
    limit: int = 20
    low: int = 0
    offset: int = 0
    latest: bool = False
    high: int = 0

    def commands(self, keys: Keys) -> list[Command]:
        key, high = keys.index(self.name, self.owner), self.high or "+inf"
        span: Command = (high, self.low, "BYSCORE", "REV") if self.latest else (self.low, high, "BYSCORE")
        return [("ZRANGE", key, *span, "LIMIT", self.offset, self.limit), ("ZCARD", key)]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Page, dict[str, Seen]]:
        pairs = [m.decode().partition(":") for m in got[0]]
        page = Page([(kind, id) for kind, _, id in pairs], got[1])
        return page, {keys.index(self.name, self.owner): Seen("#", str(got[1]))}


@dataclass(frozen=True, slots=True)
class Scored:
    """A range's members as (score, `kind:id`), in its order, for those who go on after one of them."""

    range: Range

    def commands(self, keys: Keys) -> list[Command]:
        return [(*self.range.commands(keys)[0], "WITHSCORES")]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[list[tuple[int, str]], dict[str, Seen]]:
        return [(int(score), member.decode()) for member, score in got[0]], {}


@dataclass(frozen=True, slots=True)
class Members:
    """A range's members as a set of `kind:id`, as the store has them: for counting those of several indexes once."""

    range: Range

    def commands(self, keys: Keys) -> list[Command]:
        return self.range.commands(keys)[:1]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[frozenset[bytes], dict[str, Seen]]:
        return frozenset(got[0]), {}


@dataclass(frozen=True, slots=True)
class Count:
    """How many members of an index have a score from `low` to `high` (ms; 0 for no upper bound)."""

    name: str
    owner: str = ""
    low: int = 0
    high: int = 0

    def commands(self, keys: Keys) -> list[Command]:
        return [("ZCOUNT", keys.index(self.name, self.owner), self.low, self.high or "+inf")]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[int, dict[str, Seen]]:
        # The script counts from a score on; what is bounded above as well can only be shown.
        seen = {} if self.high else {keys.index(self.name, self.owner): Seen(f"#{self.low}", str(got[0]))}
        return int(got[0]), seen


@dataclass(frozen=True, slots=True)
class Score:
    """The score (ms) of one member of an index, or None."""

    name: str
    owner: str
    member: str

    def commands(self, keys: Keys) -> list[Command]:
        return [("ZSCORE", keys.index(self.name, self.owner), self.member)]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[int | None, dict[str, Seen]]:
        score = None if got[0] is None else int(float(got[0]))
        seen = Seen(f"@{self.member}", "" if score is None else str(score))
        return score, {keys.index(self.name, self.owner): seen}


class Lines(NamedTuple):
    """Numbers of a place's entries, oldest first, and how many the place has in all."""

    seqs: list[int]
    size: int


@dataclass(frozen=True, slots=True)
class Log:
    """The last `limit` numbers of a place's Log that come before position `end` (its size when 0)."""

    place: str
    limit: int = 20
    end: int = 0

    def commands(self, keys: Keys) -> list[Command]:
        key = keys.place(self.place)
        first, last = (max(0, self.end - self.limit), self.end - 1) if self.end else (-self.limit, -1)
        return [("LRANGE", key, first, last), ("LLEN", key)]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Lines, dict[str, Seen]]:
        return Lines([int(n) for n in got[0]], got[1]), {}


@dataclass(frozen=True, slots=True)
class Numbered:
    """The entry with this number, or None."""

    seq: int

    def commands(self, keys: Keys) -> list[Command]:
        return [("HGET", keys.segment(segment(self.seq)), self.seq)]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Logged | None, dict[str, Seen]]:
        return (record(got[0]).logged() if got[0] else None), {}


@dataclass(frozen=True, slots=True)
class Stretch:
    """The entries with these numbers, in their order; numbers without one are left out.

    `naming` are parts of their canonical JSON: what has not one of each group is left out unread, but for the last.
    Such a part may stand in a payload too, so what is given is to be looked at again.
    """

    seqs: tuple[int, ...]
    naming: tuple[tuple[bytes, ...], ...] = ()

    def commands(self, keys: Keys) -> list[Command]:
        return [("HMGET", keys.segment(n), *seqs) for n, seqs in groupby(self.seqs, segment)]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[list[Logged], dict[str, Seen]]:
        raws = [raw for part in got for raw in part if raw]
        named = [raw for raw in raws[:-1] if self._named(raw)] if self.naming else raws[:-1]
        return [record(raw).logged() for raw in named + raws[-1:]], {}

    def _named(self, raw: bytes) -> bool:
        return all(any(part in raw for part in group) for group in self.naming)


@dataclass(frozen=True, slots=True)
class Written:
    """The entry with this id, or None."""

    id: str

    def commands(self, keys: Keys) -> list[Command]:
        return Numbered(sequence(self.id)).commands(keys)

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Logged | None, dict[str, Seen]]:
        found, _ = Numbered(sequence(self.id)).parse(keys, got)
        return (found if found and found.id == self.id else None), {}


@dataclass(frozen=True, slots=True)
class Texts:
    """The entries with these ids, in any order; unknown ones are left out."""

    ids: tuple[str, ...]

    def commands(self, keys: Keys) -> list[Command]:
        return self._stretch().commands(keys)

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[list[Logged], dict[str, Seen]]:
        found, _ = self._stretch().parse(keys, got)
        asked = set(self.ids)
        return [one for one in found if one.id in asked], {}

    def _stretch(self) -> Stretch:
        return Stretch(tuple(sorted(set(map(sequence, self.ids)))))


@dataclass(frozen=True, slots=True)
class Mail:
    """The text of a mailbox note as stored (JSON), or None when its life has ended."""

    id: str

    def commands(self, keys: Keys) -> list[Command]:
        return [("GET", keys.mail(self.id))]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[bytes | None, dict[str, Seen]]:
        return got[0], {}


@dataclass(frozen=True, slots=True)
class Head:
    """How many entries the space's ledger has."""

    def commands(self, keys: Keys) -> list[Command]:
        return [("HGET", keys.head, "seq")]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[int, dict[str, Seen]]:
        return int(got[0] or 0), {}
