"""The digest of a day, for the owners: its syncs, what was decided, and what is stuck."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from .calendar import first_reading
from .document import Document, Index, entry_id
from .occurrence import DAY_OFF, NO_TIME, Occurrence, told

NAMED = 5  # of who is blocked


@dataclass(frozen=True, kw_only=True)
class Digest(Document):
    """That of the local day `id`, which lasted from `since` to `until`, once `due` (ms); 0 once it was told.

    `seq` is how many entries the ledger had when it was told.
    """

    kind = "digest"
    since: int
    until: int
    due: int
    seq: int = 0
    told: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if self.due:
            yield Index("digests", "", self.due)


def began(day: str, *, zone: str) -> int:
    """When a local day began, in ms."""
    return first_reading(zone, datetime.combine(date.fromisoformat(day), time()))


def has_digest(closeout: Occurrence) -> bool:
    """Whether the day of this closeout, which has ended, gets one."""
    return closeout.reason not in (DAY_OFF, NO_TIME)


@dataclass(frozen=True, kw_only=True)
class Day:
    """What a digest is made from: occurrences in their order, asks by how they ended, and counts."""

    syncs: Sequence[Occurrence] = ()
    asks: Mapping[str, int] | None = None
    waiting: int = 0
    facts: int = 0
    entries: int = 0
    blocked: Sequence[str] = ()

    @property
    def quiet(self) -> bool:
        """Whether nothing has happened: what only goes on waiting is no news of the day."""
        return not (any(each.state != "skipped" for each in self.syncs) or self.asks or self.facts)


def summary(day: str, of: Day) -> str:
    """The digest in a few sentences."""
    said = [f"{day}:"]
    said += [told(each).replace(f" of {day}", "").capitalize() for each in of.syncs]
    if of.asks:
        counts = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in sorted(of.asks.items()))
        said.append(f"Asks that ended: {counts}.")
    if of.waiting:
        said.append(f"{of.waiting} ask{'s wait' if of.waiting > 1 else ' waits'} for a decision.")
    if of.facts:
        said.append(f"{of.facts} new fact{'s' if of.facts > 1 else ''}.")
    if of.blocked:
        more = len(of.blocked) - NAMED
        names = ", ".join(of.blocked[:NAMED]) + (f" and {more} more" if more > 0 else "")
        said.append(f"Blocked: {names}.")
    if of.entries:
        said.append(f"{of.entries} entries.")
    return " ".join(said)


def payload(day: str, of: Day) -> dict[str, Any]:
    """The same for programs."""
    return {
        "day": day,
        "syncs": {each.slot: each.reason or each.state for each in of.syncs},
        "asks": dict(of.asks or {}),
        "waiting": of.waiting,
        "facts": of.facts,
        "entries": of.entries,
        "blocked": list(of.blocked[:NAMED]),
    }
