"""Documents to and from their stored form, and the index writes that follow from a change."""

from typing import Any, TypeVar

from pydantic import TypeAdapter

from ..domain.document import Document, Index, entry_fields

D = TypeVar("D", bound=Document)


class _Adapters(dict[type[Document], TypeAdapter[Any]]):
    """Made once a kind."""

    def __missing__(self, kind: type[Document]) -> TypeAdapter[Any]:
        self[kind] = TypeAdapter(kind)
        return self[kind]


_ADAPTERS = _Adapters()
_REMEMBERED = 4096  # documents; the same space, grant and role stand behind every call
_loaded: dict[tuple[type[Document], bytes, tuple[bytes | None, ...]], Any] = {}


def dump(doc: Document) -> bytes:
    """The document as JSON, without its entry ids: those are fields of the hash, which the script fills."""
    kind = type(doc)
    return _ADAPTERS[kind].dump_json(doc, exclude_defaults=True, exclude=set(entry_fields(kind)))


def load(kind: type[D], text: bytes, marks: list[bytes | None]) -> D:
    """The document from its JSON and the values of its entry-id fields, in their order.

    Documents are frozen, so those made of the same bytes are one.
    """
    key = (kind, text, tuple(marks))
    if key in _loaded:
        known: D = _loaded[key]
        return known
    doc: D = _ADAPTERS[kind].validate_json(text)
    for name, value in zip(entry_fields(kind), marks, strict=True):
        if value is not None:
            object.__setattr__(doc, name, value.decode())  # still being made: nobody has seen it
    if len(_loaded) >= _REMEMBERED:
        _loaded.clear()
    _loaded[key] = doc
    return doc


def changed(before: Document | None, after: Document) -> tuple[set[Index], set[Index]]:
    """Index entries to take away and to put."""
    old, new = set(before.indexes()) if before else set(), set(after.indexes())
    stay = {(i.name, i.owner) for i in new}
    return {i for i in old if (i.name, i.owner) not in stay}, new - old
