"""The calendar of a space's syncs: a day's windows, and which one is open. Pure functions over ms.

A window opens when a wall clock of the space's zone first reads its time, or the first one after it on a day that
skips that time. It closes when the day's next one opens, the last one at the end of the local day.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from .moments import MINUTE, SECOND, iso
from .space import SYNC_DAYS, SYNC_TIMES, Space

MORNING, MIDDAY, CLOSEOUT = SLOTS = ("morning", "midday", "closeout")
TIMES = tuple((slot, time.fromisoformat(at)) for slot, at in zip(SLOTS, SYNC_TIMES, strict=True))
EVERY_DAY = frozenset(SYNC_DAYS)  # Monday is 0
ON_TIME = 90 * MINUTE  # from opening; after that late
BATCH = 100  # windows that are enumerated at once
DAY_OFF = "day off"  # the reason of a holiday that says none
UPCOMING, IN_TIME, LATE, OVER, SKIPPED = "upcoming", "on_time", "late", "over", "skipped"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)
_DAYS = 15  # looked through for a window: of two Fridays at least one exists


@dataclass(frozen=True, slots=True)
class Window:
    """One occurrence of a slot on a local day (ISO 8601). Times in ms: it is late from `late` on, over at `closes`.

    `skipped` is why it never opens: the reason of the holiday that it is on. `ended` is how it was accounted for, in a
    sentence: whatever its times are by now, it is over.
    """

    slot: str
    day: str
    opens: int
    late: int
    closes: int
    skipped: str = ""
    ended: str = ""

    def state(self, now: int) -> str:
        """upcoming, on_time, late or over; skipped at any time."""
        if self.skipped:
            return SKIPPED
        if self.ended:
            return OVER
        if now < self.opens:
            return UPCOMING
        if now >= self.closes:
            return OVER
        return LATE if now >= self.late else IN_TIME

    def turns(self, now: int) -> int:
        """When its state is another next, in ms; 0 once it is over, or if it is skipped."""
        turns = () if self.skipped or self.ended else (self.opens, self.late, self.closes)
        return next((at for at in turns if now < at), 0)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a space: its IANA zone, the time of each slot in the order of the day, on which weekdays.

    `holidays` are days (ISO 8601) with the reason why their windows never open. `ended` has the windows that are
    accounted for, as `<day>:<slot>` with the sentence of it, as far as that was looked at.
    """

    zone: str
    times: tuple[tuple[str, time], ...] = TIMES
    days: frozenset[int] = EVERY_DAY
    holidays: tuple[tuple[str, str], ...] = ()
    ended: tuple[tuple[str, str], ...] = ()

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
        """The windows of a local day, in their order, also on a holiday.

        None on a weekday without, and on a day that the zone never had.
        """
        if day.weekday() not in self.days:
            return ()
        end = first_reading(self.zone, datetime.combine(day + _DAY, time()))
        if first_reading(self.zone, datetime.combine(day, time())) >= end:
            return ()
        name = day.isoformat()
        skipped = next((reason for off, reason in self.holidays if off == name), "")
        opens = [first_reading(self.zone, datetime.combine(day, at)) for _, at in self.times]
        ended = dict(self.ended)
        return tuple(
            Window(slot, name, at, min(at + ON_TIME, closes), closes, skipped, ended.get(f"{name}:{slot}", ""))
            for (slot, _), at, closes in zip(self.times, opens, (*opens[1:], end), strict=True)
        )

    def of(self, day: str, slot: str) -> Window | None:
        """The window of a slot on a local day (ISO 8601), if that day has it."""
        return next((w for w in self.on(date.fromisoformat(day)) if w.slot == slot), None)

    def after(self, through: int, now: int, *, limit: int = BATCH) -> Iterator[Window]:
        """The windows that opened, or would have on a holiday, after `through` and at `now` at the latest, in order.

        No more than `limit`, but for those that open in the same ms as the last one: who goes on from there with
        `through` has had all of them.
        """
        day, end = self.today(through), self.today(now) + _DAY  # as in `last`
        count, reached = 0, through
        while day <= end:
            for window in self.on(day):
                if window.opens <= through:
                    continue
                if window.opens > now or (count >= limit and window.opens > reached):
                    return
                yield window
                count, reached = count + 1, window.opens
            day += _DAY

    def last(self, now: int, slot: str = "", *, skipped: bool = False) -> Window | None:
        """The window that opened last, at `now` at the latest: of this slot, or of any. `skipped`: holidays' too."""
        day = self.today(now) + _DAY  # where clocks are set back at midnight, the next day has begun once
        for back in range(self._far):
            for window in reversed(self.on(day - back * _DAY)):
                if window.opens <= now and slot in ("", window.slot) and (skipped or not window.skipped):
                    return window
        return None

    def next(self, now: int, slot: str = "", *, skipped: bool = False) -> Window | None:
        """The window that opens next, after `now`: of this slot, or of any. `skipped`: holidays' too."""
        day = self.today(now)
        for ahead in range(self._far):
            for window in self.on(day + ahead * _DAY):
                never = window.ended or (window.skipped and not skipped)
                if window.opens > now and slot in ("", window.slot) and not never:
                    return window
        return None

    @property
    def _far(self) -> int:
        """Days looked through: each holiday may take one of the Fridays away."""
        return _DAYS + 7 * len(self.holidays)

    def open(self, now: int) -> Window | None:
        """The window that is open at `now`, on time or late. There is never more than one."""
        last = self.last(now, skipped=True)
        return last if last and last.state(now) in (IN_TIME, LATE) else None

    def before(self, window: Window) -> Window | None:
        """The window that opened before this one."""
        return self.last(window.opens - 1)

    def meant(self, now: int, slot: str = "") -> Window | None:
        """The window that somebody means who checks in now: the open one, else today's or the one just over.

        On a holiday the one that is skipped. None: there is no such window in sight.
        """
        last = self.last(now, skipped=True)
        if last and slot in ("", last.slot) and (slot or now < last.closes):
            return last
        today = next((w for w in self.on(self.today(now)) if w.slot == slot), None)
        return today or self.next(now, slot)


def windows_of(space: Space) -> Windows:
    """The windows of a space."""
    return _windows(space.zone, space.times, space.days, space.holidays)


@lru_cache(maxsize=1024)  # every Brief asks
def _windows(zone: str, times: tuple[str, ...], days: tuple[int, ...], holidays: tuple[str, ...]) -> Windows:
    return Windows(
        zone,
        tuple((slot, time.fromisoformat(at)) for slot, at in zip(SLOTS, times, strict=True)),
        frozenset(days),
        tuple((day, reason or DAY_OFF) for day, _, reason in (said.partition(" ") for said in holidays)),
    )


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


def times(windows: Windows, window: Window) -> dict[str, Any]:
    """When a window opens, is late and closes: in UTC, and in the space's zone; and the reason if it never opens."""
    opens, late, closes = (windows.local(at) for at in (window.opens, window.late, window.closes))
    here = [at.removeprefix(f"{window.day} ") for at in (opens, late, closes)]
    return {
        "slot": window.slot,
        "day": window.day,
        "opens": iso(window.opens),
        "late_from": iso(window.late),
        "closes": iso(window.closes),
        "local": f"{here[0]}, late from {here[1]}, closes {here[2]}",
        **({"reason": window.skipped} if window.skipped else {}),
    }


def unusual(windows: Windows, window: Window) -> str:
    """What a change of the clocks does to a window, in a sentence; '' for nothing."""
    wall = datetime.combine(date.fromisoformat(window.day), dict(windows.times)[window.slot])
    there = wall.replace(tzinfo=ZoneInfo(windows.zone))
    first, other = (_offset(there.replace(fold=fold)) for fold in (0, 1))
    if first == other:
        return ""
    if first > other:
        return f"{wall:%H:%M} comes twice that day: it opens at the first."
    if window.opens >= window.closes:
        return f"{wall:%H:%M} is skipped by the clocks that day, and so is this window."
    return f"{wall:%H:%M} is skipped by the clocks that day: it opens at {windows.wall(window.opens):%H:%M}."


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
