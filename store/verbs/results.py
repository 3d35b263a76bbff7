"""Results: kept as ids and codes, shown with the text read from the ledger.

The first answer and every replay are made from the same template, so they say the same thing.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..domain.commit import Quote
from ..domain.entry import ABSENT, Logged
from ..domain.listing import LEAN_WIDTH, lighter, short
from ..domain.said import words_of

MARK = "$"


def keep(result: Mapping[str, Any]) -> str:
    """The template as it is kept."""
    return json.dumps(result, default=_quote, separators=(",", ":"), ensure_ascii=False)


def kept(text: str, ids: list[str]) -> dict[str, Any]:
    """The template from its kept form, its quotes naming entries by id."""

    def revive(node: dict[str, Any]) -> Any:
        if set(node) != {MARK}:
            return node
        entry, part = node[MARK]
        return Quote(ids[entry] if isinstance(entry, int) else entry, part)

    template: dict[str, Any] = json.loads(text, object_hook=revive)
    return template


def quoted(template: Any) -> Iterator[str]:
    """Ids of the entries that a template quotes."""
    match template:
        case Quote(entry=str() as id):
            yield id
        case Mapping():
            for value in template.values():
                yield from quoted(value)
        case list() | tuple():
            for value in template:
                yield from quoted(value)


def show(template: Any, entries: Mapping[int | str, Logged]) -> Any:
    """The result: each quote replaced by what it quotes; parts that an entry does not have are left out."""
    match template:
        case Quote():
            return _part(entries.get(template.entry), template.part)
        case Mapping():
            shown = {key: show(value, entries) for key, value in template.items()}
            return {key: value for key, value in shown.items() if value is not ABSENT}
        case list() | tuple():
            return [show(value, entries) for value in template]
    return template


def _part(found: Logged | None, part: str) -> Any:
    if found is None:
        return ABSENT
    if part == "entry":
        return lighter(found.shown())
    if part == "stamp":
        return {key: value for key, value in found.shown().items() if key != "payload"}
    if part == "summary":
        return found.summary
    if part == "line":
        return short(found.summary, LEAN_WIDTH)
    if part == "reason":
        return words_of(found).get("reason", ABSENT)
    if found.entry is None:
        return ABSENT if part == "options" else "[redacted]"
    return list(found.entry.options) if part == "options" else found.entry.payload


def _quote(value: Any) -> Any:
    if isinstance(value, Quote):
        return {MARK: [value.entry, value.part]}
    raise TypeError(f"a result may not hold {type(value).__name__}")
