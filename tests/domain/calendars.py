"""Calendars for tests: the zones whose clocks are set in their own ways, and times where that hurts."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from store.domain.calendar import Window, Windows, windows_of
from store.domain.space import SYNC_DAYS, SYNC_TIMES, Space

ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Chatham")
EDGES = ("00:00", "02:30", "23:59")
NIGHT = ("02:15", "02:45", "03:15")  # Lord Howe skips 2:00 to 2:30, Chatham 2:45 to 3:45
TIMES = (SYNC_TIMES, EDGES, NIGHT)
FIRST, LAST = date(2026, 1, 1), date(2035, 12, 31)  # ten years


def calendar(
    zone: str, times: tuple[str, ...] = SYNC_TIMES, days: tuple[int, ...] = SYNC_DAYS, holidays: tuple[str, ...] = ()
) -> Windows:
    """The windows of a space with this rhythm."""
    return windows_of(Space(id="fleet", created=0, zone=zone, times=times, days=days, holidays=holidays))


def days(first: date = FIRST, last: date = LAST) -> Iterator[date]:
    """Each day, the last one too."""
    for n in range((last - first).days + 1):
        yield first + timedelta(days=n)


def every(windows: Windows, first: date = FIRST, last: date = LAST) -> list[Window]:
    """The windows of each day."""
    return [window for day in days(first, last) for window in windows.on(day)]


def near_changes(zone: str) -> list[date]:
    """The days on which the zone's clocks are set, with the one before and the two after."""
    offsets = {day: datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).utcoffset() for day in days()}
    set_on = [day for day in days(last=LAST - timedelta(days=1)) if offsets[day] != offsets[day + timedelta(days=1)]]
    return sorted({day + timedelta(days=n) for day in set_on for n in range(-1, 3)})


def noon(day: date) -> int:
    """Noon of a day in UTC, in ms."""
    return int(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()) * 1000
