"""Weighing what was found: how much of the query an entry has and how exactly, then what it is, and how fresh."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..domain.moments import DAY
from .query import Unit
from .spelling import Spelling

# What an entry's kind adds: what was settled before what was on the way.
KINDS: Mapping[str, float] = {
    "fact": 0.15, "decided": 0.15, "synthesis": 0.12, "recap": 0.08, "answer": 0.06, "fix": 0.06, "problem": 0.04,
    "memo": 0.02, "started": -0.1, "expired": -0.05, "signed_in": -0.1, "signed_out": -0.1, "link": -0.1,
    "paired": -0.1, "unpaired": -0.1, "on_call": -0.1, "attends": -0.1, "undelivered": -0.05,
}  # fmt: skip
FRESH, HALF_LIFE = 0.12, 30 * DAY  # what the newest gain, and the age at which half of that is left (ms)
ADJACENT, FOCUSED = 0.12, 0.08  # for words that stand as in the query, and for an entry about nothing else
BESIDE = 0.75  # of a word that stands in the reasons or payload, not in the summary
APART = 0.7  # of a name whose words stand apart
NOISE = 0.3  # of the best score, below which a hit says less than it costs to read
WHOLE_NAME = 0.5  # more for an entry with a name or id that the query gives
ITSELF = 1.0  # more for the entry or fact whose id that is, since others only point at it


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry as it stands in the index."""

    seq: int
    id: str
    kind: str
    fact: str
    head: str
    rest: str

    @property
    def ts(self) -> int:
        """In ms."""
        return int(self.id.partition("-")[0])


@dataclass(frozen=True, slots=True)
class Weighed:
    """A unit with how telling it is, the entries that have it as a name, other spellings, and where it was found."""

    unit: Unit
    weight: float
    named: Collection[int]
    spellings: Sequence[Spelling]
    strength: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that the query is about. `how` it matched and by which `words` of the query; `share` of it, 0 to 1.

    `named`: it has a name, label or id that the query gives.
    """

    seq: int
    id: str
    fact: str
    how: str
    words: tuple[str, ...]
    named: bool
    share: float
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first, and how many entries were weighed for them."""

    hits: list[Hit]
    weighed: int


def ranked(candidates: Iterable[Candidate], units: Sequence[Weighed], *, now: int, limit: int) -> Found:
    """The best of the candidates."""
    hits = [_hit(c, units, now) for c in candidates]
    best = sorted((h for h in hits if h.score > 0), key=lambda h: (-h.score, -h.seq))
    telling = [h for h in best if h.score >= NOISE * best[0].score]
    return Found(telling[:limit], len(telling))


def _hit(candidate: Candidate, units: Sequence[Weighed], now: int) -> Hit:
    total = got = 0.0
    words: list[str] = []
    manners: set[str] = set()
    for weighed in units:
        total += weighed.weight
        strength, manner = _strength(candidate, weighed)
        if strength:
            got += weighed.weight * strength
            manners.add(manner)
            words.append(weighed.unit.shown)
    plain = [w for w in units if w.unit.parts]
    share = got / total if total else 1.0 if manners else 0.0
    more = KINDS.get(candidate.kind, 0.0) + FRESH * 0.5 ** (max(0, now - candidate.ts) / HALF_LIFE)
    more += ADJACENT * _adjacent(candidate, plain)
    more += FOCUSED * min(1.0, 3 * len(words) / (candidate.head.count(" ") or 1))
    score = share * (1 + more) + (WHOLE_NAME if "name" in manners else 0.0)
    score += ITSELF if any({candidate.id, candidate.fact} & {*w.unit.names} for w in units) else 0.0
    return Hit(
        seq=candidate.seq,
        id=candidate.id,
        fact=candidate.fact,
        how=_how(manners, len(words) >= len(plain)),
        words=tuple(words),
        named="name" in manners,
        share=share,
        score=score,
    )


def _strength(candidate: Candidate, weighed: Weighed) -> tuple[float, str]:
    """How much of a unit an entry has, and in what manner."""
    unit = weighed.unit
    if candidate.seq in weighed.named:
        return 1.0, "name"
    for phrase in unit.phrases:
        if worth := _has(candidate, f" {' '.join(phrase)} "):
            return worth, "word"
    if len(unit.parts) > 1 or not unit.phrases:
        worths = [_has(candidate, f" {p.stem}" if p.begins else f" {p.stem} ") for p in unit.parts]
        worth = sum(worths) / len(worths) if worths else 0.0
        return (worth, "word") if len(worths) == 1 else (APART * worth, "part")
    for spelling in weighed.spellings:
        if spelling.stems and (worth := _has(candidate, f" {' '.join(spelling.stems)} ")):
            return spelling.strength * worth, "part"
    worth = weighed.strength.get(candidate.seq, 0.0)
    return worth, ("part" if worth else "")


def _has(candidate: Candidate, probe: str) -> float:
    return 1.0 if probe in candidate.head else BESIDE if probe in candidate.rest else 0.0


def _adjacent(candidate: Candidate, units: Sequence[Weighed]) -> float:
    """The share of neighbours in the query that are neighbours in the entry."""
    stems = [w.unit.phrases[0] if w.unit.phrases else () for w in units]
    together = [" ".join((*a, *b)) for a, b in pairwise(stems) if a and b]
    return sum(f" {t} " in candidate.head for t in together) / len(together) if together else 0.0


def _how(manners: set[str], whole: bool) -> str:
    if not whole:
        return "some words"
    if manners == {"name"}:
        return "name"
    return "part of a word" if "part" in manners else "all words"
