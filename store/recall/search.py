"""Searching one file: each unit of the query is looked up by itself, and what they point at is weighed together.

Rare units are looked up whole and common ones as far back as `DEPTH` of their newest entries, so that a query costs
much the same in a long Log as in a short one.
"""

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .query import Part, Query, Unit
from .rank import Candidate, Found, Hit, Weighed, ranked
from .row import kind_token, place_token
from .spelling import Spelling, alike

__all__ = ["Filter", "Found", "Hit", "search"]

DEPTH = 2_000  # of the newest entries that a unit is looked up in
LOADED = 150  # candidates that are weighed closely
FEW = 100  # entries with a word, under which words that it is a part of are looked for as well

_DIGIT = re.compile(r"\d")  # what has one is an id, and another one is nearly the same by chance
_ENTRY_ID = re.compile(r"[0-9]{1,16}-[0-9]{1,16}")
_COLUMNS = "seq, id, kind, fact, head, rest"


@dataclass(frozen=True, slots=True)
class Filter:
    """What a hit must be: of one of these kinds, in the Log of this place; anything where empty."""

    kinds: tuple[str, ...] = ()
    where: str = ""

    @property
    def terms(self) -> list[str]:
        """As terms that a match must have."""
        kinds = " OR ".join(f'"{kind_token(kind)}"' for kind in self.kinds)
        return [*([f"({kinds})"] if kinds else ()), *([f'"{place_token(self.where)}"'] if self.where else ())]


@dataclass(slots=True)
class _Posting:
    """Where a unit was found: how strongly in each entry, and in how many entries it is as far as is known."""

    unit: Unit
    strength: dict[int, float] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    spellings: list[Spelling] = field(default_factory=list)
    common: bool = False
    weight: float = 0.0

    def add(self, seqs: Iterable[int], strength: float) -> None:
        for seq in seqs:
            if strength > self.strength.get(seq, 0.0):
                self.strength[seq] = strength


def search(db: sqlite3.Connection, query: Query, filter: Filter, *, limit: int, now: int) -> Found:
    """The entries that the query is about, best first; `now` in ms is what freshness counts from."""
    return _Search(db, filter, now).run(query, limit)


class _Search:
    def __init__(self, db: sqlite3.Connection, filter: Filter, now: int) -> None:
        self.db, self.filter, self.now = db, filter, now
        (self.size,) = db.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()

    def run(self, query: Query, limit: int) -> Found:
        postings = [self._posting(unit) for unit in query.units]
        if query.label and len(query.units) > 1:  # a tag or label may have several words
            postings.append(_Posting(Unit(query.label, ()), named=set(self._named(query.label))))
        gathered: dict[int, float] = {}
        for posting in postings:
            for seq, strength in posting.strength.items():
                gathered[seq] = gathered.get(seq, 0.0) + posting.weight * strength
        best = sorted(gathered, key=lambda seq: (-gathered[seq], -seq))[:LOADED]
        named = [seq for p in postings for seq in sorted(p.named, reverse=True)[:LOADED]]
        candidates = self._load(dict.fromkeys((*best, *named, *self._together(query, postings))))
        weighed = [Weighed(p.unit, p.weight, p.named, p.spellings, p.strength) for p in postings]
        return ranked(candidates.values(), weighed, now=self.now, limit=limit)

    def _posting(self, unit: Unit) -> _Posting:
        found = _Posting(unit)
        found.named = {seq for name in unit.names for seq in self._named(name)} | self._own(unit)
        found.add(found.named, 1.0)
        for phrase in unit.phrases:
            found.add(self._matching(_phrase(phrase)), 1.0)
        found.common = len(found.strength) >= DEPTH
        rare = len(found.strength)
        if len(unit.parts) > 1 or not unit.phrases:
            rarities = [self._part(found, part) for part in unit.parts]
            rare = rare or round(sum(rarities) / len(rarities))
        elif rare < FEW and (word := unit.parts[0].word) and not (rare and _DIGIT.search(word)):
            found.spellings = alike(self.db, word, stem=unit.parts[0].stem)
            for spelling in found.spellings:
                found.add(self._spelled(spelling), spelling.strength)
            rare = rare or len(found.strength)
        found.weight = self._weight(rare)
        return found

    def _part(self, found: _Posting, part: Part) -> int:
        """Add where one part of a unit stands alone; in how many entries it does."""
        seqs = self._matching(f'"{_quoted(part.stem)}"*' if part.begins else _phrase((part.stem,)))
        found.add(seqs, 1.0 if part.begins else 0.6 / len(found.unit.parts))
        return len(seqs)

    def _weight(self, rare: int) -> float:
        """How telling something is that so many entries have."""
        rare = max(1, rare)
        return math.log(1 + (max(self.size, rare) - rare + 0.5) / (rare + 0.5))

    def _matching(self, term: str) -> list[int]:
        """The newest entries that match a term of ours."""
        match = " AND ".join((term, *self.filter.terms))
        rows = self.db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?", (match, DEPTH)
        )
        return [seq for (seq,) in rows]

    def _named(self, name: str) -> list[int]:
        """The newest entries with this name or label."""
        if not self.filter.terms:
            rows = self.db.execute("SELECT seq FROM name WHERE name = ? ORDER BY seq DESC LIMIT ?", (name, DEPTH))
            return [seq for (seq,) in rows]
        rows = self.db.execute(
            "SELECT n.seq, e.places FROM name n JOIN entry e ON e.seq = n.seq WHERE n.name = ? "
            "ORDER BY n.seq DESC LIMIT ?",
            (name, DEPTH),
        )
        return [seq for seq, places in rows if self._passes(places)]

    def _passes(self, tags: str) -> bool:
        has = set(tags.split())
        kinds = {kind_token(kind) for kind in self.filter.kinds}
        return (not kinds or bool(kinds & has)) and (not self.filter.where or place_token(self.filter.where) in has)

    def _own(self, unit: Unit) -> set[int]:
        """The entry with this id, and those in the Log of the place that the unit names."""
        found: set[int] = set()
        for name in unit.names:
            if _ENTRY_ID.fullmatch(name):
                rows = self.db.execute(
                    "SELECT seq, places FROM entry WHERE seq = ? AND id = ?", (name.partition("-")[2], name)
                )
                found |= {seq for seq, places in rows if self._passes(places)}
            elif ":" in name:
                found |= set(self._matching(f'"{place_token(name)}"'))
        return found

    def _spelled(self, spelling: Spelling) -> list[int]:
        if spelling.stems:
            return self._matching(_phrase(spelling.stems))
        return self._named(spelling.text)

    def _together(self, query: Query, postings: Sequence[_Posting]) -> list[int]:
        """The newest entries that have all units, where some are too common to be looked up whole."""
        if len(postings) < 2 or not any(p.common for p in postings):
            return []
        terms = [_any(p.unit.phrases) for p in postings if p.unit.phrases and p.strength]
        return self._matching(" AND ".join(terms))[:LOADED] if terms else []

    def _load(self, seqs: Iterable[int]) -> dict[int, Candidate]:
        wanted = list(seqs)
        marks = ", ".join("?" * len(wanted))
        found = f"SELECT {_COLUMNS} FROM entry WHERE seq IN ({marks})"  # noqa: S608 - names and marks of our own
        rows = self.db.execute(found, wanted)
        return {row[0]: Candidate(*row) for row in rows}


def _phrase(stems: Sequence[str]) -> str:
    return f'"{_quoted(" ".join(stems))}"'


def _any(phrases: Sequence[Sequence[str]]) -> str:
    return f"({' OR '.join(map(_phrase, phrases))})"


def _quoted(text: str) -> str:
    return text.replace('"', '""')
