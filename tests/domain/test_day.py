"""The sync message of a day, as tables: who gets it, when it may ring and for whom, and what it says of each window."""

from dataclasses import replace
from datetime import date
from itertools import product

import pytest

from store.domain.calendar import OVER, Window
from store.domain.day import (
    MOMENTS,
    SyncDay,
    day_of,
    day_ref,
    gets,
    is_left,
    is_moment,
    is_over,
    pushes,
    rung,
    stands,
    state_of,
    windows_on,
)
from store.domain.moments import MINUTE, SECOND
from store.domain.occurrence import ENDS, Occurrence, judged, looked, opened, skipped
from store.domain.person import Member
from store.domain.reach import Reach
from store.domain.space import Space
from store.domain.sync import as_planned
from store.engine.documents import dump, load
from tests.domain.calendars import calendar

YORK = calendar("America/New_York")
DAY = date(2026, 11, 30)
MORNING, MIDDAY, CLOSEOUT = YORK.on(DAY)
ANA, GROK = "human:ana", "agent:grok"
STATES = ("", "open", "overdue", *ENDS)

GETS = [  # by what they said, their role, and whether messages reach them
    ("", "owner", True, True), ("on", "owner", True, True), ("off", "owner", True, False),
    ("", "approver", True, False), ("on", "approver", True, True), ("off", "approver", True, False),
    ("", "member", True, False), ("on", "member", True, True), ("off", "member", True, False),
    ("on", "", True, False), ("", "owner", False, False), ("on", "approver", False, False),
]  # fmt: skip


@pytest.mark.parametrize(("syncs", "role", "live", "expected"), GETS)
def test_who_gets_it(*, syncs: str, role: str, live: bool, expected: bool) -> None:
    """Owners unless they said no, others if they said yes; who has a role, and whom messages reach."""
    for reach in (Reach(id=ANA, account=7, syncs=syncs),) if live else (
        Reach(id=ANA, syncs=syncs), Reach(id=ANA, account=7, lost=1, syncs=syncs), None,
    ):  # fmt: skip
        assert gets(reach, Member(id=ANA, role=role, since=0), left=False) is expected
        assert gets(reach, Member(id=ANA, role=role, since=0), left=True) is (expected and syncs == "on")
        assert not gets(reach, None, left=False)


@pytest.mark.parametrize(("simulated", "keys", "left"), [(True, 0, True), (True, 1, False), (False, 0, False)])
def test_what_goes_on_nowhere(*, simulated: bool, keys: int, left: bool) -> None:
    """A simulated space whose agents have no key any more, as the demo leaves it; never one that people work in."""
    assert is_left(Space(id="demo", created=0, simulated=simulated), keys=keys) is left


def occurrence(state: str, **more: str) -> Occurrence:
    """The morning in this state."""
    return Occurrence(id=f"{DAY}:morning", opens=MORNING.opens, late=MORNING.late, closes=MORNING.closes, state=state)


@pytest.mark.parametrize(("before", "after"), list(product((None, *STATES), STATES)))
def test_the_moments_of_a_day(before: str | None, after: str) -> None:
    """When a window opens, until it is late, and when it is overdue, until it is over; and never else."""
    was = None if before is None else occurrence(before)
    expected = (before or "", after) in {("", "open"), ("open", "overdue")}
    assert is_moment(was, occurrence(after), now=MORNING.opens) is expected
    overdue = (before, after) == ("open", "overdue")
    assert [is_moment(was, occurrence(after), now=at) for at in (MORNING.late - 1, MORNING.late)] == [expected, overdue]
    assert is_moment(was, occurrence(after), now=MORNING.closes - 1) is overdue
    assert not is_moment(was, occurrence(after), now=MORNING.closes)
    assert {state for pair in MOMENTS for state in pair} <= set(STATES)


def test_what_nobody_watched_is_no_moment() -> None:
    """The scheduler was down while the window was open."""
    unseen = opened(MORNING, now=MORNING.closes)
    assert unseen.unseen
    assert not is_moment(None, unseen, now=MORNING.opens)
    assert is_moment(None, opened(MORNING, now=MORNING.opens), now=MORNING.opens)


@pytest.mark.parametrize(
    ("waiting", "absent", "troubled", "expected"),
    [
        (0, False, [], False),
        (1, False, [], True),
        (0, True, [], True),
        (0, False, [GROK], True),
        (0, False, [ANA], False),
        (0, False, [ANA, GROK], True),
    ],
)
def test_what_is_worth_a_sound(*, waiting: int, absent: bool, troubled: list[str], expected: bool) -> None:
    """What waits for them, their own absence, others in trouble: what they said themselves is no news to them."""
    assert pushes(ANA, waiting=waiting, absent=absent, troubled=troubled) is expected


def test_how_often_it_rang_is_kept() -> None:
    """By person, once more each time, as it is stored; its message is looked at whenever that changes."""
    day = SyncDay(id=DAY.isoformat())
    assert (day.times(ANA), day.ref, day.carded) == (0, "day:2026-11-30", True)
    day = rung(rung(day, [ANA]), [ANA, "human:bo"])
    assert (day.times(ANA), day.times("human:bo"), day.times("human:cy")) == (2, 1, 0)
    assert load(SyncDay, dump(day), []) == day
    assert list(day.indexes()) == []


@pytest.mark.parametrize(
    "said", ["", "x", "2026-11-31", "20261130", "2026-W48-1", "0001-01-01", "9999-12-31", "2026-11-30 "]
)
def test_what_is_no_day(said: str) -> None:
    """A day is written in one way, and none is so far away that a calendar ends there."""
    assert day_of(said) is None
    assert day_of("2026-11-30") == DAY
    assert day_ref("2026-11-30") == "day:2026-11-30"


OPEN = opened(MORNING, now=MORNING.opens)
LATE = looked(OPEN, expected=[GROK, "agent:codex"], came={"agent:codex": MORNING.opens})
MANY = [f"agent:a{n}" for n in range(7)]
STANDS: list[tuple[str, Window, Occurrence | None, int, int, list[str], str]] = [
    ("ahead", MORNING, None, MORNING.opens - 1, 0, [], "opens at 09:00"),
    ("open", MORNING, None, MORNING.opens, 0, [], "open, on time until 10:30; nobody is in"),
    ("open", MORNING, OPEN, MORNING.late - 1, 1, [], "open, on time until 10:30; one is in"),
    ("open", MORNING, OPEN, MORNING.late, 2, [], "open, late, until 13:00; 2 are in"),
    ("open", CLOSEOUT, None, CLOSEOUT.late, 2, [], "open, late, until midnight; 2 are in"),
    ("overdue", MORNING, LATE, MORNING.late, 1, [GROK], "overdue, open until 13:00: agent:grok is not in; one is in"),
    (
        "overdue", MORNING, LATE, MORNING.late, 1, MANY,
        "overdue, open until 13:00: agent:a0, agent:a1, agent:a2, agent:a3 and 3 more are not in; one is in",
    ),
    ("overdue", MORNING, LATE, MORNING.late, 2, [], "open, late, until 13:00; 2 are in"),
    ("open", MORNING, OPEN, MORNING.closes, 2, [], "over, not accounted for yet"),
    (
        "held", MORNING, judged(OPEN, expected=[GROK], came={GROK: MORNING.opens}, now=MORNING.closes),
        MORNING.closes, 1, [], "held: the one expected was in on time",
    ),
    (
        "missed", MORNING, judged(OPEN, expected=[GROK], came={}, now=MORNING.closes),
        MORNING.closes, 0, [], "missed: agent:grok never came",
    ),
    (
        "skipped", MORNING, skipped(OPEN, "day_off", at=9, off='Say "hi"'),
        MORNING.opens, 0, [], r'skipped: "Say \"hi\""',
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", STANDS)
def test_how_a_window_stands(row: tuple[str, Window, Occurrence | None, int, int, list[str], str]) -> None:
    """One row: its state, and the words, which pass by no time of their own."""
    state, window, here, now, came, missing, says = row
    assert state_of(window, here, now=now) == state
    assert stands(YORK, window, here, came=came, missing=missing, now=now) == says
    if window.turns(now) > now + MINUTE:
        assert stands(YORK, window, here, came=came, missing=missing, now=now + SECOND) == says


def test_a_day_is_over_when_nothing_is_open_or_ahead() -> None:
    """At midnight; a holiday from the start; and what was accounted for stays, whatever the calendar says now."""
    of = YORK.on(DAY)
    assert not is_over(of, now=MORNING.opens - 1)
    assert not is_over(of, now=CLOSEOUT.closes - 1)
    assert is_over(of, now=CLOSEOUT.closes)
    off = calendar("America/New_York", holidays=(f"{DAY} Founders",))
    assert is_over(off.on(DAY), now=MORNING.opens)
    sunday = date(2026, 11, 29)
    weekdays = calendar("America/New_York", days=tuple(range(5)))
    assert windows_on(weekdays, sunday, {}) == []
    ended = judged(OPEN, expected=[GROK], came={GROK: MORNING.opens}, now=MORNING.closes)
    (kept,) = windows_on(weekdays, sunday, {"morning": ended})
    assert (kept.slot, kept.opens) == ("morning", MORNING.opens)


def test_what_has_ended_is_open_no_more() -> None:
    """Whether the calendar has it otherwise by now, or not any more; and what will end by the calendar already has."""
    now = MORNING.opens + MINUTE
    off = skipped(OPEN, "day_off", at=now, off="Oops")
    (morning, *_) = windows_on(YORK, DAY, {"morning": off})
    assert (morning.state(now), morning.turns(now)) == (OVER, 0)
    assert morning.ended == 'morning of 2026-11-30 was skipped: "Oops".'
    sundays = calendar("America/New_York", days=(6,))
    (gone,) = as_planned(sundays, [OPEN, None], now=now)
    (morning,) = windows_on(sundays, DAY, {"morning": gone})
    assert (gone.state, morning.state(now)) == ("skipped", OVER)
    assert as_planned(YORK, [OPEN], now=now) == [OPEN]
    fixed = replace(OPEN, closes=now, fixed=True)
    (morning, *_) = windows_on(YORK, DAY, {"morning": fixed})
    assert (morning.closes, morning.state(now)) == (now, OVER)
    assert stands(YORK, morning, fixed, came=0, missing=[], now=now) == "over, not accounted for yet"
