"""What the sweep of the invariants has found in a space, a part of it at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .document import Document, Index
from .moments import HOUR, MINUTE

SPACE = "space"  # the id of the one inspection that a space has
PART, ROUND = MINUTE, HOUR  # between two parts, and before it begins anew
KEPT = 20  # of what is broken


@dataclass(frozen=True, kw_only=True)
class Inspection(Document):
    """`next` is when it goes on (ms), `index` and `after` where: behind that member. Times in ms, 0 for never.

    `found` are the first breaches of the round that goes on, `count` how many there are; `last` and `last_count` are
    those of the last whole round, which ended at `ended` after looking at `looked` documents.
    """

    kind = "inspection"
    next: int
    index: int = 0
    after: str = ""
    seen: int = 0
    found: tuple[str, ...] = ()
    count: int = 0
    ended: int = 0
    looked: int = 0
    last: tuple[str, ...] = ()
    last_count: int = 0

    def indexes(self) -> Iterator[Index]:
        yield Index("inspect", "", self.next)


def went_on(
    inspection: Inspection, breaches: Sequence[str], *, seen: int, after: str, indexes: int, now: int
) -> Inspection:
    """After another part: it goes on behind `after` in the same index, in the next one ('' for `after`), or anew."""
    here = replace(
        inspection,
        seen=inspection.seen + seen,
        found=(*inspection.found, *breaches)[:KEPT],
        count=inspection.count + len(breaches),
        after=after,
        index=inspection.index if after else inspection.index + 1,
        next=now + PART,
    )
    if here.index < indexes:
        return here
    fresh = Inspection(id=inspection.id, next=now + ROUND)
    return replace(fresh, ended=now, looked=here.seen, last=here.found, last_count=here.count)
