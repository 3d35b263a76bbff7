"""Syncs: the calendar of a day's windows, and a principal's check-in for one. Pure functions over ms.

A window opens when a wall clock of the space's zone first reads its time, or the first one after it on a day that
skips that time. It closes when the day's next one opens, the last one at the end of the local day.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from .document import Document, Index, entry_id
from .entry import Logged
from .errors import Refused
from .listing import short
from .moments import MINUTE, SECOND, iso, since
from .space import Space
from .text import one_line, quoted

MORNING, MIDDAY, CLOSEOUT = SLOTS = ("morning", "midday", "closeout")
TIMES = ((MORNING, time(9)), (MIDDAY, time(13)), (CLOSEOUT, time(17, 30)))
EVERY_DAY = frozenset(range(7))  # Monday is 0
ON_TIME = 90 * MINUTE  # from opening; after that late
OUTCOMES = ("pass", "attention", "blocked")
OUTCOME = "|".join(OUTCOMES)  # stands for one of them in a call to be completed
LEASE = 120 * SECOND  # of the owner, from the check-in that takes it
ASKS = {
    MORNING: "your active work, the handoffs that you claim, what blocks you",
    MIDDAY: "progress, and answers in urgent huddle seats",
    CLOSEOUT: "finished work settled, and what you carry over as its owner",
}
UPCOMING, IN_TIME, LATE, OVER = "upcoming", "on_time", "late", "over"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAYS = 15  # looked through for a window: of two Fridays at least one exists
_NOTES_SHOWN = 200  # characters of the notes in a refusal


@dataclass(frozen=True, slots=True)
class Window:
    """One occurrence of a slot on a local day (ISO 8601). Times in ms: it is late from `late` on, over at `closes`."""

    slot: str
    day: str
    opens: int
    late: int
    closes: int

    def state(self, now: int) -> str:
        """upcoming, on_time, late or over."""
        if now < self.opens:
            return UPCOMING
        if now >= self.closes:
            return OVER
        return LATE if now >= self.late else IN_TIME

    def turns(self, now: int) -> int:
        """When its state is another next, in ms; 0 once it is over."""
        return next((at for at in (self.opens, self.late, self.closes) if now < at), 0)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a space: its IANA zone, the time of each slot in the order of the day, on which weekdays."""

    zone: str
    times: tuple[tuple[str, time], ...] = TIMES
    days: frozenset[int] = EVERY_DAY

    def today(self, now: int) -> date:
        """The local day at `now`."""
        return self.wall(now).date()

    def wall(self, at: int) -> datetime:
        """What a wall clock reads at a moment (ms)."""
        return (_EPOCH + at * _MILLISECOND).astimezone(ZoneInfo(self.zone))

    def local(self, at: int) -> str:
        """`wall` in words, to the minute: `2026-11-30 09:00`."""
        return f"{self.wall(at):%Y-%m-%d %H:%M}"

    def on(self, day: date) -> tuple[Window, ...]:
        """The windows of a local day, in their order; none on a day without, or that the zone never had."""
        end = first_reading(self.zone, datetime.combine(day + timedelta(days=1), time()))
        if day.weekday() not in self.days or first_reading(self.zone, datetime.combine(day, time())) >= end:
            return ()
        opens = [first_reading(self.zone, datetime.combine(day, at)) for _, at in self.times]
        return tuple(
            Window(slot, day.isoformat(), at, min(at + ON_TIME, closes), closes)
            for (slot, _), at, closes in zip(self.times, opens, (*opens[1:], end), strict=True)
        )

    def last(self, now: int, slot: str = "") -> Window | None:
        """The window that opened last, at `now` at the latest: of this slot, or of any."""
        day = self.today(now) + timedelta(days=1)  # where clocks are set back at midnight, the next day has begun once
        for back in range(_DAYS):
            for window in reversed(self.on(day - timedelta(days=back))):
                if window.opens <= now and slot in ("", window.slot):
                    return window
        return None

    def next(self, now: int, slot: str = "") -> Window | None:
        """The window that opens next, after `now`: of this slot, or of any."""
        day = self.today(now)
        for ahead in range(_DAYS):
            for window in self.on(day + timedelta(days=ahead)):
                if window.opens > now and slot in ("", window.slot):
                    return window
        return None

    def open(self, now: int) -> Window | None:
        """The window that is open at `now`, on time or late. There is never more than one."""
        last = self.last(now)
        return last if last and now < last.closes else None

    def before(self, window: Window) -> Window | None:
        """The window that opened before this one."""
        return self.last(window.opens - 1)

    def meant(self, now: int, slot: str = "") -> Window | None:
        """The window that somebody means who checks in now: the open one, else today's or the one just over.

        None: there is no such window in sight.
        """
        last = self.last(now)
        if last and slot in ("", last.slot) and (slot or now < last.closes):
            return last
        today = next((w for w in self.on(self.today(now)) if w.slot == slot), None)
        return today or self.next(now, slot)


def windows_of(space: Space) -> Windows:
    """The windows of a space."""
    return Windows(space.zone)


@lru_cache(maxsize=4096)
def first_reading(zone: str, wall: datetime) -> int:
    """Ms at which a wall clock in the zone first reads `wall` or later; `wall` has no zone, and whole seconds."""
    at = wall.replace(tzinfo=UTC) - _EPOCH
    there = wall.replace(tzinfo=ZoneInfo(zone))
    # Of a time that comes twice fold 0 is the first. One that is skipped lies after the gap by the offset before it
    # (fold 0), and before the gap by the one after it (fold 1).
    first, other = ((at - _offset(there.replace(fold=fold))) // _MILLISECOND for fold in (0, 1))
    if first <= other:
        return first
    before = _offset_at(zone, other)
    seconds = range(other // SECOND, first // SECOND + 1)
    return seconds[bisect_left(seconds, True, key=lambda s: _offset_at(zone, s * SECOND) != before)] * SECOND


def _offset(at: datetime) -> timedelta:
    return at.utcoffset() or timedelta()


def _offset_at(zone: str, at: int) -> timedelta:
    return _offset((_EPOCH + at * _MILLISECOND).astimezone(ZoneInfo(zone)))


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


def expected(*, wrote: int | None, items: int, jobs: int, since: int) -> bool:
    """Whether an agent is expected in a window: it wrote since the one before (ms), or has open items or jobs."""
    return bool(items or jobs) or (wrote is not None and wrote >= since)


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


def check_open(windows: Windows, window: Window | None, *, slot: str, now: int) -> Window:
    """The window, which must be open. Refuses window_not_open, window_closed."""
    state = window.state(now) if window else UPCOMING
    if window and state in (IN_TIME, LATE):
        return window
    code = "window_closed" if state == OVER else "window_not_open"
    facts = {**times(windows, window), "zone": windows.zone} if window else {"zone": windows.zone}
    raise Refused(
        code,
        f"{_told(windows, window, slot=slot, now=now)} Nothing was written. {_else(windows, window, now=now)}",
        **facts,
    )


def times(windows: Windows, window: Window) -> dict[str, Any]:
    """When a window opens, is late and closes: in UTC, and in the space's zone."""
    opens, late, closes = (windows.local(at) for at in (window.opens, window.late, window.closes))
    here = [at.removeprefix(f"{window.day} ") for at in (opens, late, closes)]
    return {
        "slot": window.slot,
        "day": window.day,
        "opens": iso(window.opens),
        "late_from": iso(window.late),
        "closes": iso(window.closes),
        "local": f"{here[0]}, late from {here[1]}, closes {here[2]}",
    }


def _told(windows: Windows, window: Window | None, *, slot: str, now: int) -> str:
    """How it stands with a window that is not open, in a sentence."""
    if window is None:
        return f"There is no window {slot} in sight." if slot else "There is no window in sight."
    name = f"{window.slot} of {window.day}"
    if window.state(now) == OVER:
        return f"{name} closed at {moment(windows, window.closes)}, {since(now - window.closes)}."
    none = "" if slot else "No window is open now. "
    return f"{none}{name} opens at {moment(windows, window.opens)}, in {span_of(window.opens - now)}."


def _else(windows: Windows, window: Window | None, *, now: int) -> str:
    """What can be done now instead, or later."""
    if here := windows.open(now):
        return f"Open is {here.slot}, until {moment(windows, here.closes)}: {call_of(here.slot)}"
    ahead = windows.next(now)
    if ahead and ahead == window:
        return f"Then: {call_of(ahead.slot)}"
    return f"Next is {ahead.slot}, from {moment(windows, ahead.opens)} on: {call_of(ahead.slot)}" if ahead else ""


def moment(windows: Windows, at: int) -> str:
    """A moment in the space's zone and in UTC: `2026-11-30 09:00 America/New_York (2026-11-30T14:00:00.000Z)`."""
    return f"{windows.local(at)} {windows.zone} ({iso(at)})"


def span_of(ms: int) -> str:
    """A length of time that is still to pass: in seconds below two minutes, then in minutes, from 2 h on in both."""
    if ms < 2 * MINUTE:
        return f"{max(1, ms // SECOND)} s"
    hours, minutes = divmod(ms // MINUTE, 60)
    if hours < 2:
        return f"{ms // MINUTE} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


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
