"""Documents: mutable state, one key each; their index entries are a function of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self


class Index(NamedTuple):
    """One membership of a document: in which index, of whom, and at what score (a time in ms, or 0)."""

    name: str
    owner: str
    score: int


def entry_id() -> Any:
    """A field that holds the id of an entry; the store fills it in the commit that writes the entry.

    Text that can be redacted stands in the ledger alone, so documents point at it and never copy it.
    """
    return field(default="", metadata={"entry": True})


@dataclass(frozen=True, kw_only=True)
class Document:
    """State under one key. `kind` names its class in keys and references."""

    kind: ClassVar[str]
    id: str

    @property
    def ref(self) -> str:
        """How indexes and events name this document: `kind:id`."""
        return f"{self.kind}:{self.id}"

    @property
    def carded(self) -> bool:
        """Whether people get a card of it, which has to be looked at again whenever it changes."""
        return False

    def indexes(self) -> Iterator[Index]:
        """The index entries that this document has, as a pure function of it."""
        return iter(())

    def as_of(self, now: int) -> Self:
        """The document as it stands at `now` (ms): what time alone has brought, whether written down or not."""
        return self


class _EntryFields(dict[type[Document], tuple[str, ...]]):
    """Found once a kind: every read of a document asks."""

    def __missing__(self, kind: type[Document]) -> tuple[str, ...]:
        self[kind] = tuple(f.name for f in fields(kind) if f.metadata.get("entry"))
        return self[kind]


_ENTRY_FIELDS = _EntryFields()


def entry_fields(kind: type[Document]) -> tuple[str, ...]:
    """Names of the fields made by `entry_id`."""
    return _ENTRY_FIELDS[kind]
