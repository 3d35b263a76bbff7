"""Facts: what is held to be so until its review, or until a newer fact takes its place. The text stands in the ledger.

A fact is made by a note alone: what expires or is done never becomes one by itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import PLACEHOLDER
from .errors import Refused
from .moments import DAY, age, iso, since, until

NEVER = "never"
REVIEW = (DAY, 5 * 366 * DAY)  # bounds of the time to a review, from now
REVIEW_USUAL = 90 * DAY

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, kw_only=True)
class Fact(Document):
    """`review_by` and `made` in ms; a `review_by` of 0 is never. `first` is the oldest fact that this goes back to.

    The newest of those with one `first` is the one that nothing supersedes; there is always exactly one.
    """

    kind = "fact"
    by: str
    where: str
    made: int
    first: str
    review_by: int = 0
    supersedes: str = ""
    superseded_by: str = ""
    superseded_at: int = 0
    reminded: int = 0  # when it was said that its review is due
    said: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if self.superseded_by:
            return
        yield Index("newest", self.first, self.made)
        yield Index("known", "", self.made)
        if self.review_by:
            yield Index("facts", self.by, self.review_by)
            if not self.reminded:
                yield Index("review", "", self.review_by)

    def due(self, now: int) -> bool:
        """Whether it is past its review and still stands."""
        return bool(self.review_by) and now > self.review_by and not self.superseded_by


def review(said: object, *, now: int, usual: int = REVIEW_USUAL) -> int:
    """When a fact is to be looked at again, in ms; 0 for never. `usual` is the length for '', 0 for never.

    A duration, a time, a day or `never`. Refuses invalid_argument.
    """
    text = said.strip() if isinstance(said, str) else said
    if isinstance(text, str) and text.lower() == NEVER:
        return 0
    if text == "" and not usual:
        return 0
    if isinstance(text, str) and _DATE.fullmatch(text):
        text = f"{text}T00:00Z"
    return until(text, now=now, bounds=REVIEW, usual=usual, name="review_by")


def reviewed(at: int) -> str:
    """When the review is, as results and entries say it."""
    return iso(at) if at else NEVER


def supersede(old: Fact, *, new: str, newest: str, now: int) -> Fact:
    """The old fact, marked. `newest` is the one that stands now, for telling. Refuses stale."""
    if not old.superseded_by:
        return replace(old, superseded_by=new, superseded_at=now)
    raise Refused(
        "stale",
        f"{old.id} was superseded {since(now - old.superseded_at)}, and {newest} stands now. Nothing was written. "
        f'Read it: logmem_view {{what: "{newest}"}}, then supersede that',
        newest=newest,
        superseded_by=old.superseded_by,
    )


def standing(fact: Fact, now: int, *, newest: str = "") -> dict[str, Any]:
    """How a fact stands at `now`, and what to call next."""
    status = "superseded" if fact.superseded_by else "due" if fact.due(now) else "current"
    facts = {
        "status": status,
        "review_by": reviewed(fact.review_by),
        "age": age(now - fact.made),
        "stale": status == "due",
        "supersedes": fact.supersedes,
        "superseded_by": fact.superseded_by,
        "newest": newest if newest not in ("", fact.id, fact.superseded_by) else "",
    }
    return {**{k: v for k, v in facts.items() if v}, **_next(fact, status, newest=newest)}


def _next(fact: Fact, status: str, *, newest: str) -> dict[str, Any]:
    if status == "superseded":
        return {"next": {"tool": "logmem_view", "args": {"what": newest or fact.superseded_by}}}
    if status == "due":
        again = {"where": fact.where, "kind": "fact", "supersedes": fact.id, "summary": PLACEHOLDER}
        return {"next": {"tool": "logmem_note", "args": again}}
    return {}
