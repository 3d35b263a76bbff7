"""Syncs: a principal's check-in for a window of the calendar. Pure functions over ms."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from .calendar import (
    CLOSEOUT,
    IN_TIME,
    LATE,
    MIDDAY,
    MORNING,
    ON_TIME,
    OVER,
    SLOTS,
    TIMES,
    UPCOMING,
    Window,
    Windows,
    moment,
    span_of,
    times,
    windows_of,
)
from .document import Document, Index, entry_id
from .entry import Logged
from .errors import Refused
from .listing import short
from .moments import SECOND, iso, since
from .occurrence import Occurrence, due, moved, occurrence_id, told
from .text import one_line, quoted

__all__ = [  # with what a check-in needs of the calendar
    "ASKS", "CLOSEOUT", "IN_TIME", "LATE", "LEASE", "MIDDAY", "MORNING", "ON_TIME", "OUTCOME", "OUTCOMES",
    "OVER", "SLOTS", "TIMES", "UPCOMING", "CheckIn", "Lease", "Window", "Windows", "already", "as_planned", "call_of",
    "check_open", "check_outcome", "check_slot", "checked_by", "checkin_id", "expected", "leased",
    "moment", "near", "span_of", "times", "windows_of", "with_ended",
]  # fmt: skip

OUTCOMES = ("pass", "attention", "blocked")
OUTCOME = "|".join(OUTCOMES)  # stands for one of them in a call to be completed
LEASE = 120 * SECOND  # of the owner, from the check-in that takes it
ASKS = {
    MORNING: "your active work, the handoffs that you claim, what blocks you",
    MIDDAY: "progress, and answers in urgent huddle seats",
    CLOSEOUT: "finished work settled, and what you carry over as its owner",
}
_NOTES_SHOWN = 200  # characters of the notes in a refusal
_WHY_SHOWN = 80  # of the reason of a holiday


@dataclass(frozen=True, kw_only=True)
class CheckIn(Document):
    """A principal's receipt for a window, written once. Its notes stand in the entry `said`, and what is carried over.

    `id` is `<principal>:<day>:<slot>`; `at` in ms.
    """

    kind = "checkin"
    slot: str
    day: str
    outcome: str
    at: int
    late: bool = False
    said: str = entry_id()

    @property
    def by(self) -> str:
        """Whose it is."""
        return checked_by(self.id)

    def came(self, late: int) -> int:
        """When it counts as written (ms), `late` being from when on one is late: on time is before, as it says itself.

        A window whose times have changed since may have another `late` by now.
        """
        return max(self.at, late) if self.late else min(self.at, late - 1)

    def indexes(self) -> Iterator[Index]:
        yield Index("checked", f"{self.day}:{self.slot}", self.at)


def checkin_id(principal: str, window: Window) -> str:
    """The id of a principal's check-in for a window."""
    return f"{principal}:{window.day}:{window.slot}"


def checked_by(id: str) -> str:
    """The principal of a check-in, from its id."""
    return id.rsplit(":", 2)[0]


@dataclass(frozen=True, kw_only=True)
class Lease(Document):
    """Which credential of a principal (`id`) syncs for it, until when (ms): two runs of one agent do not mix."""

    kind = "lease"
    holder: str
    until: int


def leased(lease: Lease | None, *, principal: str, credential: str, now: int) -> Lease:
    """The principal's lease, taken for 120 s. Refuses busy: another credential of theirs holds it."""
    if lease and lease.holder != credential and now < lease.until:
        wait = math.ceil((lease.until - now) / SECOND)
        raise Refused(
            "busy",
            f"Another credential of {principal} has just checked in and holds its sync for {wait} s more. "
            f"Nothing was written. See what it said: logmem_sync {{}}",
            retry_after=wait,
        )
    return Lease(id=principal, holder=credential, until=now + LEASE)


def expected(
    *, wrote: int | None, items: int, jobs: int, since: int, closes: int = 0, began: int = 0, ended: int = 0
) -> bool:
    """Whether an agent is expected in a window: it wrote since the one before (ms), or has open items or jobs.

    `closes` is when the window was over, 0 while it is not. Whoever wrote last after that was at work in it if their
    shift `began` before, and had not `ended` (0: it has not) before all of it.
    """
    if items or jobs:
        return True
    if wrote is None or wrote < since:
        return False
    return not closes or wrote < closes or (began < closes and not 0 < ended < since)


def check_slot(slot: str) -> str:
    """The slot, or '' for the open one. Refuses invalid_argument."""
    name = slot.strip().lower()
    if name and name not in SLOTS:
        raise Refused(
            "invalid_argument",
            f"slot is one of {', '.join(SLOTS)}, or left out for the open one; {quoted(slot)} is none. "
            "Nothing was written.",
            argument="slot",
        )
    return name


def check_outcome(outcome: str) -> None:
    """Refuses invalid_argument."""
    if outcome not in OUTCOMES:
        raise Refused(
            "invalid_argument",
            f"A check-in needs outcome: one of {', '.join(OUTCOMES)}. Nothing was written. {call_of('')}",
            argument="outcome",
        )


def call_of(slot: str) -> str:
    """The call that checks in, as sentences have it."""
    named = f'slot: "{slot}", ' if slot else ""
    return f"logmem_sync {{receipt: true, {named}outcome, notes}}"


def near(windows: Windows, now: int) -> list[str]:
    """The ids of the windows of today and tomorrow: what is open or next by the calendar, and may have ended before."""
    today = windows.today(now)
    return [occurrence_id(window) for day in (today, today + timedelta(days=1)) for window in windows.on(day)]


def as_planned(windows: Windows, occurrences: Iterable[Occurrence | None], *, now: int) -> list[Occurrence]:
    """The occurrences that there are, as this calendar and the time that has passed will have them."""
    return [moved(due(each, now=now), windows.of(each.day, each.slot), now=now) for each in occurrences if each]


def with_ended(windows: Windows, occurrences: Iterable[Occurrence | None], *, now: int) -> Windows:
    """The windows, of which those are over that are so by these occurrences: a check-in would count nowhere.

    A calendar that was changed may have them open once more, or ahead.
    """
    over = [each for each in as_planned(windows, occurrences, now=now) if each.ended or each.fixed]
    return replace(windows, ended=tuple((each.id, told(each) if each.ended else _unaccounted(each)) for each in over))


def _unaccounted(occurrence: Occurrence) -> str:
    return f"{occurrence.name} is over, and no scheduler has accounted for it yet."


def check_open(windows: Windows, window: Window | None, *, slot: str, now: int) -> Window:
    """The window, which must be open. Refuses window_not_open, window_closed."""
    if window and window.state(now) in (IN_TIME, LATE):
        return window
    over = window and (now >= window.closes or window.state(now) == OVER)
    code = "window_closed" if over else "window_not_open"
    facts = {**times(windows, window), "zone": windows.zone} if window else {"zone": windows.zone}
    raise Refused(
        code,
        f"{_told(windows, window, slot=slot, now=now)} Nothing was written. {_else(windows, window, now=now)}",
        **facts,
    )


def _told(windows: Windows, window: Window | None, *, slot: str, now: int) -> str:
    """How it stands with a window that is not open, in a sentence."""
    if window is None:
        return f"There is no window {slot} in sight." if slot else "There is no window in sight."
    name = f"{window.slot} of {window.day}"
    none = "" if slot else "No window is open now. "
    if window.skipped:
        return (
            f"{none}{name} {'was' if now >= window.closes else 'is'} skipped: {one_line(window.skipped, _WHY_SHOWN)}."
        )
    if window.ended and now < window.closes:
        return f"{none}{window.ended} It takes no check-in any more."
    if window.state(now) == OVER:
        return f"{name} closed at {moment(windows, window.closes)}, {since(now - window.closes)}."
    return f"{none}{name} opens at {moment(windows, window.opens)}, in {span_of(window.opens - now)}."


def _else(windows: Windows, window: Window | None, *, now: int) -> str:
    """What can be done now instead, or later."""
    if here := windows.open(now):
        return f"Open is {here.slot}, until {moment(windows, here.closes)}: {call_of(here.slot)}"
    ahead = windows.next(now)
    if ahead and ahead == window:
        return f"Then: {call_of(ahead.slot)}"
    return f"Next is {ahead.slot}, from {moment(windows, ahead.opens)} on: {call_of(ahead.slot)}" if ahead else ""


def already(first: CheckIn, said: Logged | None, *, now: int) -> Refused:
    """The refusal for a second check-in, with the first."""
    notes = said.summary if said else "[redacted]"
    facts = {"slot": first.slot, "day": first.day, "outcome": first.outcome, "late": first.late, "at": iso(first.at)}
    return Refused(
        "already_checked_in",
        f"{first.by} checked in for {first.slot} of {first.day} {since(now - first.at)}: {first.outcome}, "
        f"{one_line(notes, _NOTES_SHOWN)}. A check-in stays as it is; nothing was written. "
        f'For what came after it: logmem_note {{where: "{first.by}", kind: "memo", summary}}',
        checked_in={**facts, "entry": first.said, "notes": short(notes, _NOTES_SHOWN)},
    )
