"""What must hold in every space at any time. Used by the tests, and by the scheduled sweep.

Each invariant is a row of INVARIANTS: a sentence, and a function that finds what breaks it.
"""

import importlib
import json
import pkgutil
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from . import domain
from .domain.document import Document, entry_fields
from .domain.entry import entry_of, sequence
from .domain.fact import Fact
from .domain.huddle import Huddle
from .domain.item import Item
from .engine.documents import load
from .engine.keys import BARE, SLOTS, Keys
from .ledger.chain import record, segment

TOUCHED = ("active", "idle", "wrote")  # indexes that commits touch for no document: who wrote last, and when
PAGE = 1000  # keys or members looked at in one command


@dataclass
class State:
    """What a space holds, read once: its documents by key, its key names by class."""

    admin: Any  # redis-py types its commands for both its clients at once
    keys: Keys
    docs: dict[str, Document] = field(default_factory=dict)
    indexes: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


async def check(admin: Redis, space: str) -> list[str]:
    """What is broken in a space, a sentence each; `admin` is a client of lm-admin.

    Reads all of the space. What a commit changes meanwhile may look broken, so what is found is looked at again.
    """
    broken = await _look(admin, space)
    return [found for found in await _look(admin, space) if found in broken] if broken else []


async def _look(admin: Redis, space: str) -> list[str]:
    state = await _state(admin, Keys(space))
    found = [f"a document cannot be read: {key}" for key in state.strange]
    for sentence, holds in INVARIANTS:
        found += [f"{sentence}: {breach}" for breach in await holds(state)]
    return found


async def _indexes_follow(state: State) -> list[str]:
    """Entries of indexes that are too many, too few, or at another score."""
    wanted: dict[str, dict[str, float]] = defaultdict(dict)
    for doc in state.docs.values():
        for name, owner, score in doc.indexes():
            wanted[state.keys.index(name, owner)][doc.ref] = score
    touched = tuple(state.keys.index(name, "") for name in TOUCHED)
    broken = []
    for key in sorted({*wanted, *state.indexes}):
        if key.startswith(touched):
            continue
        stands = {member.decode(): score async for member, score in state.admin.zscan_iter(key, count=PAGE)}
        broken += [
            f"{key} has {ref} at {stands.get(ref)}, its document says {wanted[key].get(ref)}"
            for ref in sorted({*stands, *wanted[key]})
            if stands.get(ref) != wanted[key].get(ref)
        ]
    return broken


async def _marks_point_at_entries(state: State) -> list[str]:
    """Ids of entries in documents that are no entry's."""
    broken = []
    for key, doc in state.docs.items():
        for name in entry_fields(type(doc)):
            id = getattr(doc, name)
            raw = await _row(state, sequence(id)) if id else b""
            if id and (raw is None or record(raw).id != id):
                broken.append(f"{key} names {id} as {name}")
    return broken


async def _places_list_entries(state: State) -> list[str]:
    """Places whose list is not that of the entries that stand there; a redacted entry may stand anywhere."""
    wanted: dict[str, list[int]] = defaultdict(list)
    redacted: set[int] = set()
    for key in sorted(state.segments, key=lambda key: int(key.rpartition(":")[2])):
        rows = await state.admin.hgetall(key)
        for number in sorted(int(name) for name in rows):
            found = record(rows[str(number).encode()])
            if found.redacted:
                redacted.add(number)
                continue
            for place in entry_of(json.loads(found.text)).places:
                wanted[state.keys.place(place)].append(number)
    broken = []
    for key in sorted({*wanted, *state.places}):
        stands = [int(n) for n in await state.admin.lrange(key, 0, -1)]
        if [n for n in stands if n not in redacted] != wanted[key]:
            broken.append(f"{key} lists {len(stands)} entries, {len(wanted[key])} stand there")
    return broken


async def _what_is_over_holds_nothing(state: State) -> list[str]:
    """Seats that are open in a huddle that is closed; facts that were superseded by none that says so."""
    docs = {doc.ref: doc for doc in state.docs.values()}
    broken = []
    for doc in docs.values():
        if isinstance(doc, Item) and doc.huddle and doc.state == "open":
            huddle = docs.get(f"{Huddle.kind}:{doc.huddle}")
            if not isinstance(huddle, Huddle) or huddle.state != "open" or doc.id not in huddle.seats:
                broken.append(f"{doc.ref} is open, and no open {doc.huddle} has it as a seat")
        if isinstance(doc, Fact) and doc.superseded_by:
            newer = docs.get(f"{Fact.kind}:{doc.superseded_by}")
            if not isinstance(newer, Fact) or (newer.supersedes, newer.first) != (doc.id, doc.first):
                broken.append(f"{doc.ref} was superseded by {doc.superseded_by}, which does not supersede it")
    return broken


Invariant = Callable[[State], Awaitable[list[str]]]
INVARIANTS: tuple[tuple[str, Invariant], ...] = (
    ("index entries are a function of the documents", _indexes_follow),
    ("documents name entries that there are", _marks_point_at_entries),
    ("a place lists the entries that stand there, in their order", _places_list_entries),
    ("what is over holds nothing that is open", _what_is_over_holds_nothing),
)


@dataclass(frozen=True)
class Part:
    """A few documents by ref (None for one that is not there), the scores of index entries, and entries by id.

    What the scheduler looks at, a part of a space at a time: it may list no keys.
    """

    docs: Mapping[str, Document | None]
    scores: Mapping[tuple[str, str, str], int | None]  # by index, owner and ref
    entries: Mapping[str, bool]  # whether there is one with this id


def _part_follows(part: Part) -> list[str]:
    wanted = {(i.name, i.owner, ref): i.score for ref, doc in part.docs.items() if doc for i in doc.indexes()}
    return [
        f"{name}:{owner} has {ref} at {is_}, its document says {wanted.get((name, owner, ref))}"
        for (name, owner, ref), is_ in sorted(part.scores.items())
        if is_ != wanted.get((name, owner, ref))
    ]


def _part_points(part: Part) -> list[str]:
    docs = ((ref, doc) for ref, doc in part.docs.items() if doc)
    named = ((ref, name, getattr(doc, name)) for ref, doc in docs for name in entry_fields(type(doc)))
    return [f"{ref} names {id} as {name}" for ref, name, id in named if id and not part.entries[id]]


def _part_is_there(part: Part) -> list[str]:
    return [f"{ref} stands in an index, and there is no such document" for ref, doc in part.docs.items() if doc is None]


PARTS: tuple[tuple[str, Callable[[Part], list[str]]], ...] = (
    ("an index names documents that there are", _part_is_there),
    ("index entries are a function of the documents", _part_follows),
    ("documents name entries that there are", _part_points),
)


def look_at(part: Part) -> list[str]:
    """What is broken in a part of a space, a sentence each."""
    return [f"{sentence}: {breach}" for sentence, holds in PARTS for breach in holds(part)]


async def _state(admin: Redis, keys: Keys) -> State:
    state = State(admin, keys)
    kinds = dict(kinds_of_documents())
    base = {name: keys.index(name, "") for name in BARE}
    async for raw in admin.scan_iter(match=f"{keys.head.removesuffix('head')}*", count=PAGE):
        key = raw.decode()
        match key.removeprefix(keys.head.removesuffix("head")).split(":"):
            case ["doc", kind, *_]:
                await _document(state, key, kinds.get(kind))
            case [_, _, kind] if kind in SLOTS:
                await _document(state, key, kinds.get(kind))
            case ["ix", *_]:
                state.indexes.append(key)
            case ["place", *_]:
                state.places.append(key)
            case ["log", _]:
                state.segments.append(key)
            case _ if key in base.values():
                state.indexes.append(key)
            case _:
                pass
    return state


async def _document(state: State, key: str, kind: type[Document] | None) -> None:
    if kind is None:
        state.strange.append(key)
        return
    rev, text, *marks = await state.admin.hmget(key, "rev", "doc", *entry_fields(kind))
    try:
        doc = load(kind, text, marks)
    except (TypeError, ValueError):
        state.strange.append(key)
        return
    if state.keys.doc(kind.kind, doc.id) == key and rev and rev.isdigit():
        state.docs[key] = doc
    else:
        state.strange.append(key)


def kinds_of_documents() -> Iterator[tuple[str, type[Document]]]:
    """Every kind of document there is, whether a verb that uses it was imported or not."""
    for module in pkgutil.iter_modules(domain.__path__):
        for kind in vars(importlib.import_module(f"{domain.__name__}.{module.name}")).values():
            if isinstance(kind, type) and issubclass(kind, Document) and kind is not Document:
                yield kind.kind, kind


async def _row(state: State, number: int) -> Any:
    return await state.admin.hget(state.keys.segment(segment(number)), str(number))
