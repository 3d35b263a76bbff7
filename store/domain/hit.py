"""What was recalled, as it is shown: whose it is and how old, whether it is stale or superseded, and why it matched."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .entry import Logged
from .fact import Fact, reviewed
from .lines import NOW_STALE, RECAP_STALE
from .listing import short
from .moments import age, iso

WIDTHS = (240, 120, 60)  # characters of a summary, the most that has room
WORDS_SHOWN = 6  # of the query that are named where they matched
STALE: Mapping[str, int] = {"recap": RECAP_STALE, "status": NOW_STALE}  # by an entry's kind, the age from which it is
SUPERSEDED = 0.6  # of its score that a fact keeps which another has taken the place of


class Found(NamedTuple):
    """An entry that is there, what it made, how much it is what was asked for, and why."""

    said: Logged
    fact: Fact | None = None
    score: float = 0.0
    matched: str = ""


def shown(said: Logged, fact: Fact | None, *, now: int, matched: str = "", width: int = WIDTHS[0]) -> dict[str, Any]:
    """One entry that was found, at `now` (ms); `fact` is what it made, as it stands."""
    entry = said.entry
    if entry is None:
        raise ValueError(f"{said.id} has no text and is found by nothing")
    line: dict[str, Any] = {
        "id": said.id,
        "at": iso(said.ts),
        "age": age(now - said.ts),
        "kind": entry.kind,
        "by": entry.by,
        "where": entry.where,
        "summary": short(entry.summary, width),
    }
    if fact:
        line |= {"fact": fact.id, "review_by": reviewed(fact.review_by)}
        line |= {"superseded_by": fact.superseded_by} if fact.superseded_by else {}
    line |= {"stale": True} if _stale(said, fact, now) else {}
    return {**line, **({"matched": matched} if matched else {})}


def _stale(said: Logged, fact: Fact | None, now: int) -> bool:
    if fact:
        return fact.due(now)
    limit = STALE.get(said.entry.kind, 0) if said.entry else 0
    return bool(limit) and now - said.ts > limit


def why(how: str, words: Sequence[str]) -> str:
    """Why an entry matched: `all words: retry, token`."""
    named = ", ".join(words[:WORDS_SHOWN])
    left = len(words) - WORDS_SHOWN
    return f"{how}{f': {named}' if named else ''}{f' and {left} more' if left > 0 else ''}"


def in_order(found: Iterable[Found]) -> list[Found]:
    """Best first. Of facts that supersede one another the newest has the score of the best, the others less."""
    best: dict[str, float] = {}  # of each chain, as far as it was gone through
    scored: list[tuple[float, Found]] = []
    for each in sorted(found, key=lambda f: f.said.seq):
        score, fact = each.score, each.fact
        if fact:
            score = best[fact.first] = max(score, best.get(fact.first, 0.0))
        scored.append((score * SUPERSEDED if fact and fact.superseded_by else score, each))
    return [each for _, each in sorted(scored, key=lambda s: (-s[0], -s[1].said.seq))]
