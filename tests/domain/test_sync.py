"""The calendar of windows, held against the rules of four zones told a second time; and who is in, late or refused."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import pytest

from store.domain.errors import Refused
from store.domain.moments import DAY, HOUR, MINUTE, SECOND
from store.domain.occurrence import judged, opened
from store.domain.sync import (
    CLOSEOUT,
    LEASE,
    MIDDAY,
    MORNING,
    ON_TIME,
    SLOTS,
    CheckIn,
    Lease,
    Window,
    Windows,
    check_open,
    check_outcome,
    check_slot,
    checked_by,
    checkin_id,
    expected,
    leased,
    near,
    span_of,
    times,
    with_ended,
)

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock's reading has no zone
FIRST, LAST = 2026, 2035  # ten years
QUARTER = 15 * MINUTE
NIGHT = ((MORNING, time(2)), (MIDDAY, time(2, 30)), (CLOSEOUT, time(2, 45)))  # where clocks are set
YORK = Windows("America/New_York")


def ms(at: datetime) -> int:
    """Ms since 1970 of a reading, as if it were UTC."""
    return (at - EPOCH) // timedelta(milliseconds=1)


def sunday(year: int, month: int, n: int) -> datetime:
    """Midnight of the n-th Sunday of a month, the last one for 0."""
    day = datetime(year, month + (n == 0), 1)  # noqa: DTZ001 - as above
    first = day + timedelta(days=(6 - day.weekday()) % 7)
    return first + timedelta(days=7 * (n - 1))


# How each zone sets its clocks: offset of winter, what summer adds, its first and last moment in UTC of a year.
Rule = Callable[[int], tuple[int, int]]
RULES: dict[str, tuple[int, int, Rule]] = {
    "America/New_York": (
        -5 * HOUR,
        HOUR,
        lambda y: (ms(sunday(y, 3, 2)) + 7 * HOUR, ms(sunday(y, 11, 1)) + 6 * HOUR),
    ),
    "Europe/Berlin": (HOUR, HOUR, lambda y: (ms(sunday(y, 3, 0)) + HOUR, ms(sunday(y, 10, 0)) + HOUR)),
    # South of the equator summer ends in April and begins in spring: 2:00 of winter's time, 2:00 of summer's.
    "Australia/Lord_Howe": (
        10 * HOUR + 30 * MINUTE,
        30 * MINUTE,
        lambda y: (ms(sunday(y, 10, 1)) - 8 * HOUR - 30 * MINUTE, ms(sunday(y, 4, 1)) - 9 * HOUR),
    ),
    "Pacific/Chatham": (
        12 * HOUR + 45 * MINUTE,
        HOUR,
        lambda y: (ms(sunday(y, 9, 0)) - 10 * HOUR, ms(sunday(y, 4, 1)) - 10 * HOUR),
    ),
}


def readings(zone: str) -> list[tuple[int, int]]:
    """Each quarter of an hour of the ten years: the moment, and what a wall clock reads (both in ms)."""
    winter, summer, rule = RULES[zone]
    start, end = ms(datetime(FIRST, 1, 1)), ms(datetime(LAST + 1, 1, 1))  # noqa: DTZ001 - as above
    turns = sorted(
        (at, winter + summer * begins)
        for y in range(FIRST - 1, LAST + 2)
        for begins, at in zip((1, 0), rule(y), strict=True)
    )
    made: list[tuple[int, int]] = []
    for (at, offset), (then, _) in pairwise(turns):
        first = max(start - 2 * DAY, at)
        made += [(t, t + offset) for t in range(first, min(end + 2 * DAY, then), QUARTER)]
    return made


def days() -> list[date]:
    """Every day of the ten years."""
    return [date(FIRST, 1, 1) + timedelta(days=n) for n in range((date(LAST + 1, 1, 1) - date(FIRST, 1, 1)).days)]


@pytest.mark.parametrize("zone", RULES)
def test_a_window_opens_when_a_clock_first_reads_its_time(zone: str) -> None:
    """On each day of ten years, also at times that a day skips or has twice; and it closes when the next opens."""
    first: dict[int, int] = {}  # of each quarter of a day that was read or skipped: when it first was
    top = None
    for at, wall in readings(zone):
        for reached in range(wall if top is None else top + QUARTER, wall + 1, QUARTER):
            first[reached] = at
        top = wall if top is None else max(top, wall)
    for clock in (Windows(zone), Windows(zone, NIGHT)):
        for day in days():
            midnight = ms(datetime.combine(day, time()))
            wanted = [first[midnight + (at.hour * 60 + at.minute) * MINUTE] for _, at in clock.times]
            found = clock.on(day)
            assert [w.opens for w in found] == wanted, day
            assert [w.closes for w in found] == [*wanted[1:], first[midnight + DAY]], day
            assert all(w.late == min(w.opens + ON_TIME, w.closes) and w.day == day.isoformat() for w in found), day


@pytest.mark.parametrize("zone", RULES)
def test_there_is_one_open_window_from_the_first_to_midnight(zone: str) -> None:
    """At the edges of each day's windows exactly that one is open which a look at all of them finds."""
    clock = Windows(zone)
    every = [window for day in days() for window in clock.on(day)]
    for n, window in enumerate(every[3:-3], 3):
        for at in (window.opens, window.late, window.closes - 1):
            assert clock.open(at) == window
            assert clock.last(at) == window
            assert clock.next(at) == every[n + 1]
        assert clock.before(window) == every[n - 1]
        assert clock.last(window.opens, window.slot) == window
        assert clock.next(window.opens, window.slot) == every[n + 3]
        after = clock.open(window.closes)
        assert after == (None if window.slot == CLOSEOUT else every[n + 1])


@pytest.mark.parametrize(
    ("zone", "day", "at", "opens"),
    [
        ("America/New_York", date(2026, 3, 8), time(2, 30), "2026-03-08T07:00"),  # 2:00 to 3:00 are skipped
        ("America/New_York", date(2026, 11, 1), time(1, 30), "2026-11-01T05:30"),  # twice: the first, in summer's time
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), "2026-03-29T01:00"),
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30"),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "2026-10-03T15:30"),  # by half an hour only
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 30), "2026-10-03T15:30"),
        ("Australia/Lord_Howe", date(2026, 4, 5), time(1, 45), "2026-04-04T14:45"),
        ("Pacific/Chatham", date(2026, 9, 27), time(3), "2026-09-26T14:00"),  # 2:45 to 3:45 are skipped
        ("Pacific/Chatham", date(2026, 4, 5), time(3), "2026-04-04T13:15"),
        ("Africa/Cairo", date(2024, 4, 26), time(0), "2024-04-25T22:00"),  # this day began at 1:00
        ("America/St_Johns", date(2010, 11, 7), time(0), "2010-11-07T02:30"),  # it began, and a minute later not yet
        ("Etc/GMT+5", date(2026, 7, 1), time(9), "2026-07-01T14:00"),
    ],
)
def test_times_that_a_day_skips_or_has_twice(zone: str, day: date, at: time, opens: str) -> None:
    """Known days, to the minute."""
    (window,) = Windows(zone, (("x", at),)).on(day)
    assert window.opens == ms(datetime.fromisoformat(opens))
    assert Windows(zone, (("x", at),)).open(window.opens) == window


def test_a_day_that_a_zone_never_had_has_no_windows() -> None:
    """Samoa went from the 29th of December 2011 to the 31st."""
    clock = Windows("Pacific/Apia")
    assert clock.on(date(2011, 12, 30)) == ()
    (last, first) = clock.on(date(2011, 12, 29))[-1], clock.on(date(2011, 12, 31))[0]
    assert last.closes == first.opens - 9 * HOUR
    assert clock.next(last.opens) == first
    assert clock.before(first) == last
    fridays = Windows("Pacific/Apia", days=frozenset({4}))
    found = fridays.next(last.closes)
    assert found
    assert found.day == "2012-01-06"


def test_days_off_have_no_windows() -> None:
    """On weekdays only: Friday's closeout comes before Monday's morning, and nothing is open between."""
    clock = Windows("Europe/Berlin", days=frozenset(range(5)))
    friday, monday = clock.on(date(2026, 11, 27)), clock.on(date(2026, 11, 30))
    assert clock.on(date(2026, 11, 28)) == clock.on(date(2026, 11, 29)) == ()
    assert clock.before(monday[0]) == friday[-1]
    assert clock.next(friday[-1].closes) == monday[0]
    assert clock.open(friday[-1].closes + 12 * HOUR) is None
    none = Windows("Europe/Berlin", days=frozenset())
    assert (none.next(0), none.last(0), none.open(0), none.meant(0), none.meant(0, MIDDAY)) == (None,) * 5


def test_windows_that_a_gap_brings_together_leave_one_open() -> None:
    """Two in the hour that is skipped open at once; the second is open then, and the first is over."""
    clock = Windows("America/New_York", ((MORNING, time(2, 15)), (MIDDAY, time(2, 30))))
    first, second = clock.on(date(2026, 3, 8))
    assert first.opens == first.closes == second.opens
    assert clock.open(second.opens) == second
    assert first.state(first.opens) == "over"


def on(day: date = date(2026, 11, 30)) -> tuple[Window, Window, Window]:
    """The windows of a Monday in New York."""
    morning, midday, closeout = YORK.on(day)
    return morning, midday, closeout


def test_a_window_is_upcoming_on_time_late_and_over() -> None:
    """To the millisecond; and it says when it will be another."""
    morning, midday, closeout = on()
    for window, end in ((morning, midday.opens), (midday, closeout.opens), (closeout, morning.opens + 15 * HOUR)):
        edges = (window.opens, window.opens + 90 * MINUTE, end)
        states = [(window.state(at - 1), window.state(at)) for at in edges]
        assert states == [("upcoming", "on_time"), ("on_time", "late"), ("late", "over")]
        assert [window.turns(at - 1) for at in edges] == list(edges)
        assert [window.turns(at) for at in edges] == [*edges[1:], 0]
    assert times(YORK, closeout) == {
        "slot": "closeout",
        "day": "2026-11-30",
        "opens": "2026-11-30T22:30:00.000Z",
        "late_from": "2026-12-01T00:00:00.000Z",
        "closes": "2026-12-01T05:00:00.000Z",
        "local": "17:30, late from 19:00, closes 2026-12-01 00:00",
    }


def test_which_window_is_meant() -> None:
    """The open one; else the one of that name today, the one just over, or the next."""
    (morning, midday, closeout), (before, *_), yesterday = on(), on(date(2026, 12, 1)), on(date(2026, 11, 29))
    night, noon, evening = morning.opens - HOUR, midday.opens, closeout.opens
    assert [YORK.meant(at) for at in (night, morning.opens, noon, evening)] == [morning, morning, midday, closeout]
    assert [YORK.meant(at, MORNING) for at in (night, noon, evening)] == [morning] * 3
    assert YORK.meant(closeout.closes, MORNING) == before
    assert [YORK.meant(at, MIDDAY) for at in (night, noon, evening)] == [midday] * 3
    assert [YORK.meant(at, CLOSEOUT) for at in (night, morning.opens, noon, evening)] == [yesterday[2], *[closeout] * 3]


def refused(at: int, slot: str = "") -> Refused:
    """The refusal of a check-in at this time."""
    with pytest.raises(Refused) as no:
        check_open(YORK, YORK.meant(at, slot), slot=slot, now=at)
    return no.value


def test_c49_a_window_that_is_not_open_is_refused_with_its_times() -> None:
    """Not open yet or closed: when, in the space's zone and in UTC, and the call that helps."""
    morning, midday, closeout = on()
    for window in on():
        for at in (window.opens, window.late, window.closes - 1):
            assert check_open(YORK, YORK.meant(at, window.slot), slot=window.slot, now=at) == window
    early = refused(morning.opens - 2 * HOUR)
    assert str(early) == (
        "window_not_open: No window is open now. morning of 2026-11-30 opens at 2026-11-30 09:00 America/New_York "
        "(2026-11-30T14:00:00.000Z), in 2 h. Nothing was written. "
        'Then: logmem_sync {receipt: true, slot: "morning", outcome, notes}'
    )
    assert early.facts == {**times(YORK, morning), "zone": "America/New_York"}
    later = refused(midday.opens + HOUR, CLOSEOUT)
    assert later.code == "window_not_open"
    assert "Open is midday, until 2026-11-30 17:30" in later.message
    over = refused(midday.opens + HOUR, MORNING)
    assert over.code == "window_closed"
    assert over.message.startswith(
        "morning of 2026-11-30 closed at 2026-11-30 13:00 America/New_York (2026-11-30T18:00:00.000Z), 1 h ago."
    )
    night = refused(closeout.closes, CLOSEOUT)
    assert night.code == "window_closed"
    assert "just now" in night.message
    assert "Next is morning, from 2026-12-01 09:00" in night.message
    never = Windows("UTC", days=frozenset())
    with pytest.raises(Refused, match="no window midday in sight"):
        check_open(never, None, slot=MIDDAY, now=0)


def test_c49_a_window_that_has_ended_is_refused_with_how() -> None:
    """It is neither open nor next nor ahead, however its times have changed since."""
    morning, midday, closeout = on()
    now = morning.opens
    gone = judged(opened(morning, now=now), expected=["agent:x"], came={}, now=morning.closes)
    known = with_ended(YORK, [gone, None, opened(midday, now=midday.opens)], now=now)
    assert near(YORK, now)[:4] == [*(f"2026-11-30:{slot}" for slot in SLOTS), "2026-12-01:morning"]
    with pytest.raises(Refused) as no:
        check_open(known, known.meant(now), slot="", now=now)
    assert str(no.value).startswith(
        "window_closed: No window is open now. morning of 2026-11-30 was missed: agent:x never came. "
        "It takes no check-in any more. Nothing was written. Next is midday, from 2026-11-30 13:00"
    )
    assert (known.open(now), known.next(now - 1), known.next(now)) == (None, midday, midday)
    assert check_open(known, known.meant(midday.opens), slot="", now=midday.opens) == midday
    fixed = with_ended(YORK, [replace(opened(morning, now=now), fixed=True)], now=now)
    with pytest.raises(Refused, match=r"^window_closed: morning of .* is over, and no scheduler has accounted for it"):
        check_open(fixed, fixed.meant(now, MORNING), slot=MORNING, now=now)
    with pytest.raises(Refused, match=r"^window_not_open: closeout of .* Next is midday"):
        check_open(known, closeout, slot=CLOSEOUT, now=now)


def test_a_check_in_is_one_for_principal_day_and_window() -> None:
    """Its id says so, and whose it is; a sweep finds it by window."""
    morning, *_ = on()
    id = checkin_id("agent:grok", morning)
    made = CheckIn(id=id, slot=morning.slot, day=morning.day, outcome="pass", at=morning.opens)
    assert id == "agent:grok:2026-11-30:morning"
    assert (made.by, checked_by(id)) == ("agent:grok", "agent:grok")
    assert [tuple(index) for index in made.indexes()] == [("checked", "2026-11-30:morning", morning.opens)]


def test_c49_the_lease_is_one_credential_s_for_120_s() -> None:
    """Its holder takes it again; another is told how long to wait, and gets it to the millisecond after."""
    first = leased(None, principal="agent:x", credential="a", now=1000)
    assert first == Lease(id="agent:x", holder="a", until=1000 + LEASE)
    assert leased(first, principal="agent:x", credential="a", now=5000).until == 5000 + LEASE
    with pytest.raises(Refused) as no:
        leased(first, principal="agent:x", credential="b", now=1000 + LEASE - 1)
    assert (no.value.code, no.value.facts) == ("busy", {"retry_after": 1})
    assert leased(first, principal="agent:x", credential="b", now=1000 + LEASE).holder == "b"


@pytest.mark.parametrize(
    ("wrote", "items", "jobs", "is_"),
    [(None, 0, 0, False), (99, 0, 0, False), (100, 0, 0, True), (None, 1, 0, True), (None, 0, 1, True)],
)
def test_who_is_expected(wrote: int | None, items: int, jobs: int, is_: bool) -> None:
    """Who wrote since the last window, has an open item, or a job that is not done."""
    assert expected(wrote=wrote, items=items, jobs=jobs, since=100) == is_


@pytest.mark.parametrize(
    ("wrote", "began", "ended", "is_"),
    [
        (199, 0, 0, True),
        (99, 50, 0, False),
        (200, 200, 0, False),  # began when it was over
        (200, 199, 0, True),
        (200, 50, 200, True),  # the recap at the end
        (200, 50, 99, False),  # one that comes after the end, which was before
        (300, 0, 0, True),
    ],
)
def test_who_is_expected_in_a_window_that_is_over(wrote: int, began: int, ended: int, is_: bool) -> None:
    """Who wrote last when it was over is by the shift in which they did: it began before, and reached into it."""
    assert expected(wrote=wrote, items=0, jobs=0, since=100, closes=200, began=began, ended=ended) == is_


@pytest.mark.parametrize(
    ("at", "late", "counts"), [(50, False, 50), (100, False, 99), (150, True, 150), (50, True, 100)]
)
def test_a_check_in_is_late_if_it_says_so(at: int, late: bool, counts: int) -> None:
    """However the times of its window have changed since."""
    made = CheckIn(id="agent:x:2026-11-30:morning", slot="morning", day="2026-11-30", outcome="pass", at=at, late=late)
    assert made.came(100) == counts


def test_slots_and_outcomes_are_named() -> None:
    """A slot is one of three or left out, an outcome one of three."""
    assert [check_slot(said) for said in ("", " Morning", "CLOSEOUT")] == ["", MORNING, CLOSEOUT]
    with pytest.raises(Refused, match='"noon" is none'):
        check_slot("noon")
    check_outcome("attention")
    for said in ("", "ok", "Pass"):
        with pytest.raises(Refused, match="pass, attention, blocked"):
            check_outcome(said)


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (1, "1 s"),
        (90 * SECOND, "90 s"),
        (43 * MINUTE + 59, "43 min"),
        (119 * MINUTE, "119 min"),
        (3 * HOUR, "3 h"),
        (3 * HOUR - 1, "2 h 59 min"),
    ],
)
def test_what_is_still_to_pass_is_told_round(length: int, said: str) -> None:
    """In the units that one would say it in, rounded down, and never nothing."""
    assert span_of(length) == said


def test_a_wall_clock_reads_the_zone_s_time() -> None:
    """What is shown beside UTC."""
    at = ms(datetime(2026, 7, 1, 13, 5))  # noqa: DTZ001 - as above
    assert Windows("Pacific/Chatham").local(at) == "2026-07-02 01:50"
    assert Windows("America/New_York").today(at) == date(2026, 7, 1)
    assert YORK.wall(at).astimezone(UTC).hour == 13
