"""The rhythm of a space: whatever the steps of the clock, each window is accounted for once."""

import random
from datetime import date, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.domain.calendar import Windows
from store.domain.document import Index
from store.domain.moments import DAY, HOUR, MINUTE, SECOND
from store.domain.occurrence import (
    ENDS,
    OWED,
    SYNC,
    Occurrence,
    Rhythm,
    accounted,
    begun,
    due,
    fixed,
    moved,
    occurrence_id,
    opened,
    retimed,
    turned,
)
from store.engine.documents import dump, load
from tests.domain.calendars import EDGES, FIRST, LAST, NIGHT, TIMES, ZONES, calendar, every, near_changes, noon

YORK = calendar("America/New_York")
MORNING, MIDDAY, CLOSEOUT = YORK.on(date(2026, 11, 30))
GROK = "agent:grok"


def test_the_rhythm_says_how_far_it_is_accounted_for() -> None:
    """From its beginning on, never back but for a changed calendar; the index has the next opening."""
    rhythm = begun(YORK, now=MORNING.opens + 5)
    assert rhythm == Rhythm(id=SYNC, through=MORNING.opens + 5, next=MIDDAY.opens)
    assert list(rhythm.indexes()) == [Index("turn", "", MIDDAY.opens)]
    assert load(Rhythm, dump(rhythm), []) == rhythm
    on = accounted(rhythm, YORK, through=MIDDAY.opens)
    assert (on.through, on.next) == (MIDDAY.opens, CLOSEOUT.opens)
    assert accounted(on, YORK, through=MORNING.opens) == on
    off = calendar("America/New_York", holidays=("2026-12-01 x",))
    assert accounted(on, off, through=CLOSEOUT.opens).next == off.on(date(2026, 12, 1))[0].opens  # to be skipped
    never = begun(Windows("UTC", days=frozenset()), now=5)
    assert (never.next, list(never.indexes())) == (0, [])


def test_a_changed_calendar_leaves_no_open_window_out() -> None:
    """One that opened, by the new times, before what was accounted for last; at night it goes back to now."""
    on = accounted(begun(YORK, now=MORNING.opens), YORK, through=MIDDAY.opens)
    earlier = calendar("America/New_York", ("08:00", "11:00", "12:30"))
    now = MIDDAY.opens + HOUR
    after, owed = retimed(on, YORK, earlier, now=now)
    assert not owed
    (closeout,) = earlier.after(after.through, now)
    assert (closeout.slot, closeout.opens, after.next) == ("closeout", MIDDAY.opens - 30 * MINUTE, closeout.opens)
    assert after.changed == 0  # by neither calendar has a window opened since
    jumped = accounted(on, YORK, through=MIDDAY.opens + 9 * DAY)
    assert retimed(jumped, YORK, earlier, now=CLOSEOUT.closes)[0].through == CLOSEOUT.closes


def test_c47_a_changed_calendar_leaves_what_was_to_be_accounted_for() -> None:
    """Where the windows up to now are the same all stays due; else those of the old one are made first, as they are."""
    on = accounted(begun(YORK, now=MORNING.opens), YORK, through=MORNING.opens)
    feast = calendar("America/New_York", holidays=("2099-12-25 x",))
    now = CLOSEOUT.opens + HOUR
    assert retimed(on, YORK, feast, now=now) == (on, [])
    sundays = calendar("America/New_York", days=(6,))  # the day is a Monday
    after, owed = retimed(on, YORK, sundays, now=now)
    assert [(each.id, each.fixed, each.since, each.turn) for each in owed] == [
        ("2026-11-30:midday", True, MORNING.opens, MIDDAY.opens),
        ("2026-11-30:closeout", False, 0, CLOSEOUT.opens),
    ]
    assert (after.changed, after.through) == (now, CLOSEOUT.opens)
    midday, closeout = (moved(due(each, now=now), None, now=now) for each in owed)
    assert (midday.state, midday.unseen, midday.turn) == ("open", "down", MIDDAY.closes)
    assert closeout.reason == "changed"  # it was still open
    assert moved(owed[1], None, now=now) == owed[1]  # to be opened first
    _, owed = retimed(on, calendar("America/New_York", holidays=("2026-11-30 Founders",)), sundays, now=now)
    assert [due(each, now=now).off for each in owed] == ["Founders"] * 2
    _, owed = retimed(on, YORK, sundays, now=now + 365 * DAY)
    assert len(owed) > OWED  # nobody makes so many at once
    assert retimed(on, YORK, feast, now=now + 365 * DAY)[1]  # nor compares them


class Fleet:
    """A space with its rhythm, and the sweep as it is meant: each occurrence made once, each turned when it is due."""

    def __init__(self, windows: Windows, *, now: int, seed: object) -> None:
        self.chance = random.Random(str(seed))
        self.windows = windows
        self.begun = self.retimed = now
        self.rhythm = begun(windows, now=now)
        self.known: dict[str, Occurrence] = {}
        self.waits: set[str] = set()  # of those, which have not ended
        self.ended: set[str] = set()
        self.reminded: set[str] = set()

    def retime(self, windows: Windows, *, now: int) -> None:
        """Another calendar from now on."""
        wanted = {occurrence_id(w) for w in self.windows.after(self.rhythm.through, now)}
        self.rhythm, owed = retimed(self.rhythm, self.windows, windows, now=now)
        for id in sorted(id for id in self.waits if self.known[id].state):
            after = moved(self.known[id], windows.of(*id.split(":")), now=now)
            if after != self.known[id] and (now >= self.known[id].closes or not after.ended):
                self.keep(fixed(self.known[id], self.windows) if now >= self.known[id].closes else after)
        for each in owed:
            if each.id not in self.known:
                self.keep(each)
        self.windows, self.retimed = windows, now
        left = {occurrence_id(w) for w in windows.after(self.rhythm.through, now)}
        assert wanted <= left | self.known.keys()

    def tick(self, now: int) -> None:
        """All that is due, in batches."""
        for _ in range(100_000):
            if not self.batch(now):
                break
        for id in sorted(id for id in self.waits if self.known[id].turn <= now):
            self.turn(id, now)

    def batch(self, now: int) -> bool:
        """Some of the openings that are due; whether there were any."""
        if not self.rhythm.next or self.rhythm.next > now:
            return False
        through = self.rhythm.through
        for window in self.windows.after(through, now, limit=self.chance.randint(1, 9)):
            through = window.opens
            if occurrence_id(window) not in self.known:
                self.keep(opened(window, now=now, changed=self.rhythm.changed))
        self.rhythm = accounted(self.rhythm, self.windows, through=through)
        return True

    def turn(self, id: str, now: int) -> None:
        """One occurrence, until it is as time has it: past its 90 min and its end, at the most."""
        for _ in range(3):
            before = moved(due(self.known[id], now=now), self.windows.of(*id.split(":")), now=now)
            expected = [GROK] * self.chance.randint(0, 1)
            came = {GROK: before.opens + self.chance.randint(0, 4 * HOUR)} if self.chance.randint(0, 2) else {}
            self.keep(turned(before, expected=expected, came=came, now=now))
            if self.known[id].ended or self.known[id].turn > now:
                return
        raise AssertionError(f"{id} does not come to rest")

    def keep(self, after: Occurrence) -> None:
        """Write it down. It ends once, and people are reminded once."""
        before = self.known.get(after.id)
        self.known[after.id] = after
        if after.state == "overdue" and not (before and before.state == "overdue"):
            assert after.id not in self.reminded
            self.reminded.add(after.id)
        if after.ended:
            assert after.id not in self.ended
            self.ended.add(after.id)
            self.waits.discard(after.id)
        else:
            self.waits.add(after.id)

    def check(self, now: int) -> None:
        """Nothing due is left, and a window that is open has its occurrence.

        But where the clock has gone back to before the calendar was changed: that window was none then.
        """
        assert all(self.known[id].turn > now for id in self.waits)
        here = self.windows.open(now)
        if here and here.opens > self.begun and now >= self.retimed:
            assert occurrence_id(here) in self.known


def walk(fleet: Fleet, start: int, end: int, *, calendars: tuple[Windows, ...] = ()) -> int:
    """Move the clock on and back until the end; where it came to at the furthest."""
    now = furthest = start
    for _ in range(1_000_000):
        if furthest >= end:
            return furthest
        far = fleet.chance.choice((SECOND, 10 * MINUTE, 2 * HOUR, 2 * HOUR, 9 * HOUR, DAY, 9 * DAY))
        now = max(start, now + fleet.chance.choice((1, 1, 1, 1, -1)) * fleet.chance.randint(1, far))
        furthest = max(furthest, now)
        if calendars and not fleet.chance.randint(0, 20):
            fleet.retime(fleet.chance.choice(calendars), now=now)
        fleet.tick(now)
        fleet.check(now)
    raise AssertionError("the clock does not come to the end")


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("last", [date(2026, 12, 31), pytest.param(LAST, marks=pytest.mark.long)])
def test_c47_each_occurrence_is_accounted_for_once(zone: str, times: tuple[str, ...], last: date) -> None:
    """Whatever the steps of the clock, forward and back: each window of the years ends once, none is left out."""
    windows = calendar(zone, times, holidays=("2026-03-29 x", "2026-11-01 x"))
    start = noon(FIRST)
    fleet = Fleet(windows, now=start, seed=(zone, times, last))
    furthest = walk(fleet, start, noon(last))
    whole = [w for w in every(windows, last=last + timedelta(days=20)) if start < w.opens <= furthest]
    assert list(fleet.known) == [occurrence_id(w) for w in whole]
    over = {occurrence_id(w) for w in whole if w.closes <= furthest or w.skipped}
    assert over <= fleet.ended
    off = {o.day for o in fleet.known.values() if o.reason == "day_off"}
    assert off == {"2026-03-29", "2026-11-01"}
    assert {o.state for o in fleet.known.values()} >= set(ENDS)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("last", [date(2026, 6, 30), pytest.param(LAST, marks=pytest.mark.long)])
def test_c47_a_changed_calendar_gives_no_occurrence_twice(seed: int, last: date) -> None:
    """Zone, times, days and holidays change in between: still each day has each slot once, and what is open has one."""
    holidays = tuple(f"2026-{month:02}-{day:02} x" for month in range(1, 13) for day in range(1, 29, 5))
    calendars = tuple(
        calendar(zone, times, days, off)
        for zone, times, days, off in product(
            (*ZONES, "Pacific/Honolulu"), TIMES, ((0, 1, 2, 3, 4, 5, 6), (0, 2, 4)), ((), holidays)
        )
    )
    start = noon(FIRST)
    fleet = Fleet(calendars[seed], now=start, seed=(seed, last))
    walk(fleet, start, noon(last), calendars=calendars)
    assert {o.reason for o in fleet.known.values()} >= {"", "day_off", "down", "changed"}


@given(
    zone=st.sampled_from((*ZONES, "America/St_Johns", "Africa/Cairo")),
    seed=st.integers(0, 1_000_000),
    times=st.sampled_from((EDGES, NIGHT)),
    data=st.data(),
)
@settings(deadline=None)
def test_c47_round_a_change_of_the_clocks(zone: str, seed: int, times: tuple[str, ...], data: st.DataObject) -> None:
    """From the day before to the day after, in small steps: each window once."""
    on = data.draw(st.sampled_from(near_changes(zone)))
    windows, start = calendar(zone, times), noon(on - timedelta(days=2))
    fleet = Fleet(windows, now=start, seed=seed)
    furthest = walk(fleet, start, noon(on + timedelta(days=2)))
    whole = every(windows, on - timedelta(days=3), windows.today(furthest) + timedelta(days=1))
    assert list(fleet.known) == [occurrence_id(w) for w in whole if start < w.opens <= furthest]
