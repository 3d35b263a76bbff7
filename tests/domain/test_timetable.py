"""What an owner may say of a space's syncs: how it is read, and what a change of the clocks makes of it."""

from datetime import date

import pytest

from store.domain.calendar import Window, Windows, unusual, windows_of
from store.domain.errors import Refused
from store.domain.grant import Grant, warned_at
from store.domain.moments import DAY, HOUR
from store.domain.occurrence import DOWN, NOBODY, Occurrence, is_no_news
from store.domain.space import Space
from store.domain.timetable import check_days, check_times, check_zone, parts


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("09:00, 13:00, 17:30", ["09:00", "13:00", "17:30"]),
        (" 9:00 13:00;17:30 ", ["9:00", "13:00", "17:30"]),
        ("mon - wed, fri", ["mon-wed", "fri"]),
        ("Mon–Fri", ["Mon-Fri"]),
        (" , ", []),
    ],
)
def test_what_was_said_in_one_text_is_parted(said: str, found: list[str]) -> None:
    """By blanks, commas and semicolons; a range stays one, however its dash is written."""
    assert parts(said) == found


def test_parts_are_read_as_they_are_meant() -> None:
    """As times and as days."""
    assert check_times(parts("9:00 13:00 17:30")) == ("09:00", "13:00", "17:30")
    assert check_days(parts("sat – mon, wed")) == (0, 2, 5, 6)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "..", "/etc/passwd", "+02:00", "Europe"])
def test_a_zone_is_one_of_the_database(zone: str) -> None:
    """Anything else is refused, also what is a path or a folder."""
    with pytest.raises(Refused) as no:
        check_zone(zone)
    assert (no.value.code, no.value.facts["argument"]) == ("invalid_argument", "zone")
    assert check_zone("Europe/Berlin") == "Europe/Berlin"


def of(zone: str, day: str, *times: str) -> tuple[Windows, tuple[Window, ...]]:
    """A day's windows at these times."""
    windows = windows_of(Space(id="x", created=0, zone=zone, times=times))
    return windows, windows.on(date.fromisoformat(day))


def test_what_a_change_of_the_clocks_does_is_said() -> None:
    """Of a time that a day does not have, of one that it has twice, and of a window that is left without any time."""
    windows, spring = of("America/New_York", "2027-03-14", "01:30", "02:30", "17:30")
    assert [unusual(windows, window) for window in spring] == [
        "",
        "02:30 is skipped by the clocks that day: it opens at 03:00.",
        "",
    ]
    windows, autumn = of("America/New_York", "2027-11-07", "01:30", "02:30", "17:30")
    assert unusual(windows, autumn[0]) == "01:30 comes twice that day: it opens at the first."
    assert unusual(windows, autumn[1]) == ""
    windows, none = of("America/New_York", "2027-03-14", "02:10", "02:50", "17:30")
    assert unusual(windows, none[0]) == "02:10 is skipped by the clocks that day, and so is this window."
    windows, half = of("Australia/Lord_Howe", "2027-10-03", "02:10", "13:00", "17:30")
    assert unusual(windows, half[0]) == "02:10 is skipped by the clocks that day: it opens at 02:30."
    windows, plain = of("Pacific/Chatham", "2027-01-05", "02:10", "13:00", "17:30")
    assert [unusual(windows, window) for window in plain] == ["", "", ""]


def test_a_quiet_day_is_news_once() -> None:
    """That nobody was expected is no news where it was so before on that day; any other end is."""
    quiet = Occurrence(id="2026-11-30:midday", opens=0, late=1, closes=2, state="skipped", reason=NOBODY)
    down = Occurrence(id="2026-11-30:midday", opens=0, late=1, closes=2, state="skipped", reason=DOWN)
    assert not is_no_news(quiet, [])
    assert not is_no_news(quiet, [None, down])
    assert is_no_news(quiet, [down, quiet])
    assert not is_no_news(down, [quiet])


@pytest.mark.parametrize(
    ("left", "life", "since"),
    [
        (8 * DAY, 30 * DAY, -1),
        (7 * DAY, 30 * DAY, 0),
        (3 * DAY, 30 * DAY, 4 * DAY),
        (HOUR, 30 * DAY, 23 * HOUR),
        (HOUR, 12 * HOUR, -1),
        (HOUR, 3 * DAY, 23 * HOUR),
        (2 * DAY, 3 * DAY, -1),
    ],
)
def test_a_key_is_news_from_a_week_before(left: int, life: int, since: int) -> None:
    """And from a day before anew; a key that was made for less is no news. -1: it is none now."""
    now = 1_796_000_000_000
    key = Grant(id="x", principal="agent:a", via="token", created=now + left - life, expires=now + left)
    assert warned_at(key, now=now) == (now - since if since >= 0 else 0)
    assert warned_at(Grant(id="x", principal="human:a", via="console", created=0, expires=now + HOUR), now=now) == 0
