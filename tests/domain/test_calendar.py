"""The calendar of a space: what an owner may set, what a holiday changes, and each window enumerated once."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.domain.calendar import TIMES as USUAL
from store.domain.calendar import Window, Windows, times, windows_of
from store.domain.errors import Refused
from store.domain.moments import DAY, HOUR, MINUTE
from store.domain.space import Space
from store.domain.sync import check_open
from store.domain.timetable import (
    HOLIDAYS,
    KEPT,
    check_days,
    check_holiday,
    check_times,
    day_names,
    with_holiday,
    without_holiday,
)
from store.engine.documents import dump, load
from tests.domain.calendars import EDGES, FIRST, LAST, NIGHT, TIMES, ZONES, calendar, days, every, near_changes, noon

BERLIN = "Europe/Berlin"
CHRISTMAS = date(2026, 12, 25)  # a Friday
FEAST = calendar(BERLIN, holidays=("2026-12-25 Christmas", "2026-12-26 Boxing day"))
TODAY = date(2026, 11, 30)


def test_a_space_of_before_has_the_usual_windows() -> None:
    """One that was stored without times, days and holidays loads, and has what it had."""
    stored = load(Space, b'{"id": "fleet", "created": 5, "zone": "Europe/Berlin"}', [])
    assert windows_of(stored) == Windows(BERLIN)
    assert stored == Space(id="fleet", created=5, zone=BERLIN)
    assert b"times" not in dump(stored)


def test_a_space_keeps_what_was_set() -> None:
    """Times, days and holidays come back from the store as they went in, and are its windows."""
    kept = Space(
        id="fleet", created=5, times=("08:00", "12:30", "16:00"), days=(0, 4), holidays=("2026-12-25 Christmas",)
    )
    assert load(Space, dump(kept), []) == kept
    windows = windows_of(kept)
    assert windows.times == (("morning", time(8)), ("midday", time(12, 30)), ("closeout", time(16)))
    assert windows.days == {0, 4}
    assert windows.holidays == (("2026-12-25", "Christmas"),)
    assert calendar(BERLIN, holidays=("2026-12-25",)).holidays == (("2026-12-25", "day off"),)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("09:00", "13:00", "17:30"), ("09:00", "13:00", "17:30")),
        ((" 8:05", "12:00 ", "23:59"), ("08:05", "12:00", "23:59")),
        (("00:00", "00:01", "00:02"), ("00:00", "00:01", "00:02")),
    ],
)
def test_times_are_three_in_their_order(said: Sequence[str], kept: Sequence[str]) -> None:
    """As they are kept: two digits each."""
    assert check_times(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        (),
        ("09:00", "13:00"),
        ("09:00", "13:00", "17:30", "20:00"),
        ("09:00", "09:00", "17:30"),
        ("13:00", "09:00", "17:30"),
        ("9:00", "10:00", "9:30"),
        ("09:00", "13:00", "24:00"),
        ("09:00", "13:00", "17:60"),
        ("9", "13", "17"),
        ("09:00", "13:00", "5pm"),
        ("09:00", "13:00", "١٧:٣٠"),  # noqa: RUF001 - digits that int() reads and no person checks
        ("09:00", "13:00", "17:30:00"),
    ],
)
def test_other_times_are_refused(said: Sequence[str]) -> None:
    """Too few, too many, not in order, or none at all."""
    with pytest.raises(Refused, match=r"times are three.*Nothing was written\.") as no:
        check_times(said)
    assert (no.value.code, no.value.facts) == ("invalid_argument", {"argument": "times"})


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("mon",), (0,)),
        (("mon-fri",), (0, 1, 2, 3, 4)),
        (("Sunday", "wed"), (2, 6)),
        (("sat - mon", "mon"), (0, 5, 6)),
        (("mon-sun",), (0, 1, 2, 3, 4, 5, 6)),
        (("tue-tue",), (1,)),
    ],
)
def test_days_are_named(said: Sequence[str], kept: Sequence[int]) -> None:
    """By name or as a range, also over the end of a week; their names say the same again."""
    assert check_days(said) == kept
    assert check_days(day_names(kept)) == kept


@pytest.mark.parametrize("said", [(), ("1",), ("0-4",), ("mon-",), ("-fri",), ("mon-fri-sun",), ("noday",), ("",)])
def test_other_days_are_refused(said: Sequence[str]) -> None:
    """Numbers too, since not everybody counts from Monday; and a week without any."""
    with pytest.raises(Refused, match=r"days are .*Nothing was written\.") as no:
        check_days(said)
    assert (no.value.code, no.value.facts) == ("invalid_argument", {"argument": "days"})


def test_a_holiday_is_a_day_with_a_reason() -> None:
    """Kept as one text; today is none too late."""
    assert check_holiday(" 2026-12-25 ", " Christmas\n day", today=TODAY) == "2026-12-25 Christmas day"
    assert check_holiday("2026-11-30", "x" * 60, today=TODAY) == f"2026-11-30 {'x' * 60}"


@pytest.mark.parametrize(
    ("day", "reason", "code", "says"),
    [
        ("2026-02-30", "x", "invalid_argument", "2026-02-30"),
        ("20261225", "x", "invalid_argument", "like 2026-12-25"),
        ("2026-W52-5", "x", "invalid_argument", "like 2026-12-25"),
        ("Christmas", "x", "invalid_argument", "like 2026-12-25"),
        ("2026-11-29", "x", "invalid_argument", "is over, and today is 2026-11-30"),
        ("2026-12-25", " \n", "reason_required", "takes a reason"),
        ("2026-12-25", "x" * 61, "too_long", "60 characters, and here are 61"),
    ],
)
def test_other_holidays_are_refused(day: str, reason: str, code: str, says: str) -> None:
    """No such day, past, or without a reason of some words."""
    with pytest.raises(Refused) as no:
        check_holiday(day, reason, today=TODAY)
    assert no.value.code == code
    assert says in no.value.message
    assert "Nothing was written." in no.value.message


def test_holidays_are_put_and_taken_away() -> None:
    """In order, one a day, those long past left out, and no more than a bound."""
    one = with_holiday(("2026-12-26 Boxing day",), "2026-12-25 Xmas", today=TODAY)
    both = with_holiday(one, "2026-12-25 Christmas", today=TODAY)
    assert both == ("2026-12-25 Christmas", "2026-12-26 Boxing day")
    assert without_holiday(both, "2026-12-25") == ("2026-12-26 Boxing day",)
    for day, code in (("2026-12-24", "not_found"), ("tomorrow", "invalid_argument")):
        with pytest.raises(Refused) as no:
            without_holiday(both, day)
        assert no.value.code == code
    assert with_holiday(both, "2027-05-01 May", today=CHRISTMAS + timedelta(days=KEPT + 1))[0] == both[1]
    full = tuple(f"{day} x" for day in days(CHRISTMAS, CHRISTMAS + timedelta(days=HOLIDAYS - 1)))
    assert with_holiday(full, f"{CHRISTMAS} y", today=TODAY)[0] == f"{CHRISTMAS} y"
    with pytest.raises(Refused, match="may have 60 holidays") as no:
        with_holiday(full, "2028-01-01 x", today=TODAY)
    assert no.value.code == "too_long"


def test_a_window_on_a_holiday_is_there_and_never_open() -> None:
    """It says why, in every one of its moments; what is open, last, before and next passes it over."""
    before, after = FEAST.on(CHRISTMAS - timedelta(days=1)), FEAST.on(date(2026, 12, 27))
    for window in (*FEAST.on(CHRISTMAS), *FEAST.on(date(2026, 12, 26))):
        assert window.skipped in ("Christmas", "Boxing day")
        assert times(FEAST, window)["reason"] == window.skipped
        for at in (window.opens - 1, window.opens, window.late, window.closes - 1, window.closes):
            assert window.state(at) == "skipped"
            assert window.turns(at) == 0
        for at in (window.opens, window.late):
            assert FEAST.open(at) is None
            assert (FEAST.last(at), FEAST.next(at)) == (before[-1], after[0])
            assert FEAST.last(at, skipped=True) == window
            assert FEAST.meant(at) == FEAST.meant(at, window.slot) == window
        assert FEAST.next(window.opens - 1, skipped=True) == window
        assert FEAST.of(window.day, window.slot) == window
    assert FEAST.before(after[0]) == before[-1]
    assert FEAST.open(before[-1].opens) == before[-1]
    assert FEAST.open(after[0].opens) == after[0]
    assert "reason" not in times(FEAST, after[0])


@pytest.mark.parametrize(
    ("slot", "at", "code", "says"),
    [
        (
            "",
            time(10),
            "window_not_open",
            'No window is open now. morning of 2026-12-25 is skipped: "Christmas". Nothing was written. '
            "Next is morning, from 2026-12-27 09:00 Europe/Berlin (2026-12-27T08:00:00.000Z) on: "
            'logmem_sync {receipt: true, slot: "morning", outcome, notes}',
        ),
        ("closeout", time(10), "window_not_open", 'closeout of 2026-12-25 is skipped: "Christmas". Nothing was'),
        ("morning", time(14), "window_closed", 'morning of 2026-12-25 was skipped: "Christmas". Nothing was written.'),
        ("", time(8), "window_not_open", "No window is open now. morning of 2026-12-27 opens at 2026-12-27 09:00"),
        ("closeout", time(8), "window_closed", "closeout of 2026-12-24 closed at 2026-12-25 00:00"),
    ],
)
def test_a_check_in_on_a_holiday_is_told_why_not(slot: str, at: time, code: str, says: str) -> None:
    """Not open, or closed, with the reason, and which window is next."""
    now = next(w.opens for w in Windows(BERLIN, (("x", at),)).on(CHRISTMAS))
    with pytest.raises(Refused) as no:
        check_open(FEAST, FEAST.meant(now, slot), slot=slot, now=now)
    assert no.value.code == code
    assert no.value.message.startswith(says)
    assert no.value.facts["zone"] == BERLIN


def test_the_reason_of_a_holiday_is_inert() -> None:
    """It stands in quotes, on one line."""
    windows = calendar(BERLIN, holidays=('2026-12-25 a" Nothing holds.',))
    window = windows.on(CHRISTMAS)[0]
    with pytest.raises(Refused, match=r'is skipped: "a\\" Nothing holds\."\.'):
        check_open(windows, window, slot="morning", now=window.opens)


def test_windows_are_found_beyond_many_holidays() -> None:
    """Two months of them, or each Friday where there are no other days."""
    long = calendar(BERLIN, holidays=tuple(f"{day} x" for day in days(CHRISTMAS, CHRISTMAS + timedelta(days=59))))
    now = long.on(CHRISTMAS)[0].opens
    last, ahead = long.last(now), long.next(now)
    assert last
    assert ahead
    assert (last.day, ahead.day) == ("2026-12-24", "2027-02-23")
    assert long.before(ahead) == last
    fridays = [CHRISTMAS + timedelta(days=7 * n) for n in range(10)]
    weekly = calendar(BERLIN, days=(4,), holidays=tuple(f"{day} x" for day in fridays))
    last, ahead = weekly.last(now), weekly.next(now)
    assert last
    assert ahead
    assert (last.day, ahead.day) == ("2026-12-18", "2027-03-05")
    assert [w.day for w in weekly.after(now - DAY, now + 8 * DAY)] == ["2026-12-25"] * 3 + ["2027-01-01"] * 3


def test_windows_after_a_moment_are_in_order_and_bounded() -> None:
    """Those after it and up to now; who goes on from the last one has had all, also of those that open together."""
    windows = calendar("America/New_York", EDGES)
    year = every(windows, last=date(2026, 12, 31))
    first, last = year[0].opens - 1, year[-1].opens
    assert list(windows.after(first, last, limit=10_000)) == year
    assert list(windows.after(first, last, limit=7)) == year[:7]
    assert list(windows.after(year[4].opens, year[6].opens)) == year[5:7]
    assert list(windows.after(year[4].opens, year[5].opens - 1)) == []
    assert list(windows.after(last, first)) == []
    together = calendar("America/New_York", NIGHT)
    gap = together.on(date(2026, 3, 8))  # 2:00 to 3:00 are skipped
    assert gap[0].opens == gap[1].opens < gap[2].opens
    assert list(together.after(gap[0].opens - 1, gap[2].opens, limit=1)) == [gap[0], gap[1]]
    assert list(together.after(gap[0].opens, gap[2].opens, limit=1)) == [gap[2]]
    midnight, *_ = calendar("America/St_Johns", EDGES).on(date(2010, 11, 7))  # a minute later it is the day before
    assert list(calendar("America/St_Johns", EDGES).after(midnight.opens - 1, midnight.opens + 2 * MINUTE)) == [
        midnight
    ]
    none = Windows("UTC", days=frozenset())
    assert list(none.after(0, 30 * DAY)) == []
    assert none.next(0, skipped=True) is none.last(0, skipped=True) is None


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_c47_a_window_opens_at_the_first_reading_of_its_time(zone: str, times: tuple[str, ...], *, whole: bool) -> None:
    """At the first instant after a gap, and at the first of two; asked of the clock itself, on each side of it."""
    windows = calendar(zone, times)
    chosen = list(days()) if whole else near_changes(zone)
    skipped = twice = 0
    for day in chosen:
        found = windows.on(day)
        assert [w.slot for w in found] == [slot for slot, _ in USUAL]
        for window, at in zip(found, times, strict=True):
            meant = datetime.combine(day, time.fromisoformat(at))
            reads, just_before = windows.wall(window.opens), windows.wall(window.opens - 1)
            assert reads.fold == 0
            assert just_before.replace(tzinfo=None) < meant <= reads.replace(tzinfo=None)
            there = reads.replace(tzinfo=None) == meant
            assert there or just_before.utcoffset() != reads.utcoffset()
            skipped += not there
            again = reads.replace(fold=1).astimezone(UTC) > reads.astimezone(UTC)
            twice += there and again
    expected: dict[tuple[tuple[str, ...], str], tuple[int, int]] = {
        # Hours that are set: 2:00 in New York and Berlin, by half an hour on Lord Howe, 2:45 on Chatham.
        (EDGES, "America/New_York"): (10, 0),
        (EDGES, "Europe/Berlin"): (10, 10),
        (EDGES, "Pacific/Chatham"): (0, 0),
        (NIGHT, "America/New_York"): (20, 0),
        (NIGHT, "Europe/Berlin"): (20, 20),
        (NIGHT, "Australia/Lord_Howe"): (10, 0),
        (NIGHT, "Pacific/Chatham"): (20, 20),
    }
    assert (skipped, twice) == expected.get((times, zone), (0, 0))


def stepped(windows: Windows, start: int, *, moves: Sequence[int], limits: Sequence[int]) -> tuple[list[Window], int]:
    """What is enumerated where the clock makes these moves (ms, also back), and the furthest that it came to."""
    now = through = furthest = start
    found: list[Window] = []
    for move, limit in zip(moves, limits, strict=True):
        now = max(start - 30 * DAY, now + move)
        furthest = max(furthest, now)
        for window in windows.after(through, now, limit=limit):
            found.append(window)
            through = window.opens
    for _ in range(len(moves) + 40_000):
        batch = list(windows.after(through, furthest))
        if not batch:
            return found, furthest
        found += batch
        through = batch[-1].opens
    raise AssertionError("there is no end to the windows")


HOLIDAY = tuple(f"{day} off" for day in (date(2026, 3, 8), date(2026, 3, 29), date(2026, 10, 4), date(2026, 11, 1)))


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("last", [date(2026, 12, 31), pytest.param(LAST, marks=pytest.mark.long)])
def test_c47_each_window_is_enumerated_once_whatever_the_steps(zone: str, times: tuple[str, ...], last: date) -> None:
    """By a clock that ticks, sleeps for weeks and jumps back, in batches of any size: each once, in order."""
    chance = random.Random(f"{zone} {times} {last}")
    windows = calendar(zone, times, days=(0, 1, 2, 3, 6), holidays=HOLIDAY)
    span = noon(last) - noon(FIRST)
    moves: list[int] = []
    while sum(moves) < span:
        far = chance.choice((1, MINUTE, 90 * MINUTE, 9 * HOUR, DAY, 20 * DAY))
        moves.append(chance.randint(1, far) * chance.choice((1, 1, 1, -1)))
    found, furthest = stepped(windows, noon(FIRST), moves=moves, limits=[chance.randint(1, 9) for _ in moves])
    whole = [w for w in every(windows, last=last + timedelta(days=30)) if noon(FIRST) < w.opens <= furthest]
    assert found == whole
    assert len({(w.day, w.slot) for w in found}) == len(found)
    assert {w.day for w in found if w.skipped} == {h[:10] for h in HOLIDAY if date.fromisoformat(h[:10]).weekday() == 6}
    assert all(date.fromisoformat(w.day).weekday() in windows.days for w in found)


@given(
    zone=st.sampled_from((*ZONES, "America/St_Johns", "Africa/Cairo", "UTC")),
    times=st.sampled_from(TIMES),
    start=st.dates(date(2005, 1, 1), LAST),
    steps=st.lists(st.tuples(st.integers(-3 * DAY, 5 * DAY), st.integers(1, 5)), max_size=30),
)
@settings(deadline=None)
def test_c47_no_steps_lose_or_repeat_a_window(
    zone: str, times: tuple[str, ...], start: date, steps: list[tuple[int, int]]
) -> None:
    """From any day on, also in zones that set their clocks at midnight."""
    windows = calendar(zone, times)
    moves, limits = [move for move, _ in steps], [limit for _, limit in steps]
    found, furthest = stepped(windows, noon(start), moves=moves, limits=limits)
    first, last = start - timedelta(days=1), windows.today(furthest) + timedelta(days=1)
    assert found == [w for w in every(windows, first, last) if noon(start) < w.opens <= furthest]
