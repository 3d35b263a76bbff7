"""Occurrences: every step that there is and every one that there is not, and what is judged by the evidence."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from itertools import product

import pytest

from store.domain.calendar import Window
from store.domain.document import Index
from store.domain.moments import DAY, HOUR, MINUTE, SECOND
from store.domain.occurrence import (
    ENDS,
    NAMED,
    REASONS,
    STEPS,
    TELL,
    Occurrence,
    judged,
    looked,
    moved,
    occurrence_id,
    opened,
    outcome,
    overdue,
    skipped,
    step,
    telling,
    told,
    turned,
)
from store.engine.documents import dump, load
from tests.domain.calendars import NIGHT, calendar

STATES = ("", "open", "overdue", *ENDS)
EVENTS = ("open", "remind", "hold", "delay", "miss", "skip")
YORK = calendar("America/New_York")
DAY_OF = date(2026, 11, 30)
MORNING, MIDDAY, CLOSEOUT = YORK.on(DAY_OF)
GROK, CODEX, ANA = "agent:grok", "agent:codex", "human:ana"
ON_TIME, LAST_ON_TIME, LATE = MORNING.opens, MORNING.late - 1, MORNING.late
OPEN = opened(MORNING, now=MORNING.opens)
OVERDUE = looked(OPEN, expected=[GROK, CODEX], came={CODEX: ON_TIME})


def made(state: str) -> Occurrence:
    """The morning in this state."""
    fresh = Occurrence(id="2026-11-30:morning", opens=OPEN.opens, late=OPEN.late, closes=OPEN.closes)
    return {"": fresh, "open": OPEN, "overdue": OVERDUE}.get(state) or replace(OPEN, state=state, turn=0, closed=9)


@pytest.mark.parametrize(("state", "event"), list(product(STATES, EVENTS)))
def test_every_step_is_in_the_table_or_raises(state: str, event: str) -> None:
    """A step gives the state of the table and changes nothing else; one that is not there cannot be taken."""
    before = made(state)
    if (state, event) not in STEPS:
        with pytest.raises(KeyError):
            step(before, event)
        return
    after = step(before, event)
    assert after.state == STEPS[state, event]
    assert replace(after, state=state) == before


def test_nothing_leads_out_of_an_end_and_each_is_reached() -> None:
    """From no end to any state, from open and overdue to all four; nobody is overdue twice."""
    assert not {state for state, _ in STEPS} & set(ENDS)
    for state in ("open", "overdue"):
        assert {end for (begin, _), end in STEPS.items() if begin == state and end in ENDS} == set(ENDS)
    assert [key for key, state in STEPS.items() if state == "overdue"] == [("open", "remind")]


@pytest.mark.parametrize("state", ENDS)
def test_an_end_is_an_end(state: str) -> None:
    """Time, a changed calendar and another judgement leave it as it is."""
    ended = made(state)
    assert ended.ended
    assert turned(ended, expected=[GROK], came={}, now=OPEN.closes + DAY) == ended
    for window in (None, MIDDAY, replace(MORNING, skipped="x")):
        assert moved(ended, window, now=OPEN.closes) == ended
    with pytest.raises(KeyError):
        judged(ended, expected=[GROK], came={}, now=OPEN.closes)


def test_an_occurrence_opens_with_its_window() -> None:
    """Its id is the day and the slot, and it turns after the 90 min; it comes back from the store."""
    assert OPEN.id == occurrence_id(MORNING) == "2026-11-30:morning"
    assert (OPEN.day, OPEN.slot, OPEN.name) == ("2026-11-30", "morning", "morning of 2026-11-30")
    assert (OPEN.state, OPEN.turn, OPEN.unseen) == ("open", MORNING.late, "")
    assert list(OPEN.indexes()) == [Index("occurrences", "", MORNING.opens), Index("turn", "", MORNING.late)]
    assert list(made("held").indexes()) == [Index("occurrences", "", MORNING.opens)]
    late = judged(OPEN, expected=[GROK, CODEX], came={GROK: LATE + 5}, now=OPEN.closes)
    for each in (OPEN, OVERDUE, late):
        assert load(Occurrence, dump(each), [None, None]) == each


@pytest.mark.parametrize(
    ("now", "state", "turn", "unseen"),
    [
        (MORNING.opens, "open", MORNING.late, ""),
        (MORNING.late + 5, "open", MORNING.late, ""),  # which has passed, so that it is looked at next
        (MORNING.closes - 1, "open", MORNING.late, ""),
        (MORNING.closes, "open", MORNING.closes, "down"),
        (MORNING.closes + 9 * DAY, "open", MORNING.closes, "down"),
    ],
)
def test_c47_a_window_that_went_unwatched_is_known(now: int, state: str, turn: int, unseen: str) -> None:
    """One that is found only when it is over is judged at once, and says so."""
    found = opened(MORNING, now=now)
    assert (found.state, found.turn, found.unseen) == (state, turn, unseen)


def test_c47_what_can_never_open_is_skipped_at_once() -> None:
    """A holiday, in its own words; and a window that the clocks are set over. It has no turn."""
    off = opened(replace(MORNING, skipped='Thanks "giving"'), now=MORNING.opens + 5)
    assert (off.state, off.reason, off.closed, off.turn) == ("skipped", "day_off", MORNING.opens + 5, 0)
    assert told(off) == r'morning of 2026-11-30 was skipped: "Thanks \"giving\"".'
    assert outcome(off) == {
        "slot": "morning",
        "day": "2026-11-30",
        "state": "skipped",
        "skipped": "day_off",
        "reason": 'Thanks "giving"',
    }
    first, second, _ = calendar("America/New_York", NIGHT).on(date(2026, 3, 8))
    gone = opened(first, now=first.opens)
    assert (gone.state, gone.reason) == ("skipped", "no_time")
    assert told(gone) == "morning of 2026-03-08 was skipped: the clocks were set forward over it."
    assert opened(second, now=first.opens).state == "open"


@pytest.mark.parametrize(
    ("came", "paused", "state", "says"),
    [
        ({}, False, "overdue", "is overdue: agent:codex and agent:grok are not in."),
        ({CODEX: ON_TIME}, False, "overdue", "is overdue: agent:grok is not in."),
        ({CODEX: ON_TIME, GROK: LAST_ON_TIME}, False, "open", "is open."),
        ({CODEX: ON_TIME, GROK: LATE}, False, "open", "is open."),
        ({ANA: ON_TIME}, True, "open", "is open."),
    ],
)
def test_overdue_is_who_is_not_in_after_90_minutes(
    came: Mapping[str, int], paused: bool, state: str, says: str
) -> None:
    """Of the expected, by name; nobody while the space is paused. Its next turn is its end."""
    seen = turned(OPEN, expected=[GROK, CODEX], came=came, now=MORNING.late, paused=paused)
    assert (seen.state, seen.turn) == (state, MORNING.closes)
    assert list(seen.missing) == overdue([GROK, CODEX], came)
    assert told(seen) == f"morning of 2026-11-30 {says}"
    assert looked(seen, expected=[GROK, CODEX], came=came, paused=paused) == seen


WHILE_DOWN = opened(MORNING, now=MORNING.closes)
CHANGED = opened(MORNING, now=MORNING.closes, changed=MORNING.closes)
MINUTES_12 = LATE + 12 * MINUTE + 5 * SECOND
BOTH = (GROK, CODEX)


@pytest.mark.parametrize(
    ("before", "expected", "came", "paused", "state", "says"),
    [
        (OPEN, BOTH, {GROK: ON_TIME, CODEX: LAST_ON_TIME}, False, "held", "was held: all 2 were in on time."),
        (OPEN, (GROK,), {GROK: ON_TIME}, False, "held", "was held: the one expected was in on time."),
        (OVERDUE, (GROK,), {GROK: ON_TIME, CODEX: LATE}, False, "held", "was held: the one expected was in on time."),
        (OPEN, BOTH, {GROK: ON_TIME, CODEX: ON_TIME}, True, "held", "was held: all 2 were in on time."),
        (OVERDUE, BOTH, {GROK: MINUTES_12, CODEX: ON_TIME}, False, "late", "was late: agent:grok came 12 min late."),
        (OPEN, (GROK,), {GROK: LATE}, False, "late", "was late: agent:grok came 1 s late."),
        (
            OVERDUE,
            BOTH,
            {GROK: MINUTES_12, CODEX: LATE + 3 * MINUTE},
            False,
            "late",
            "was late: agent:codex came 3 min late and agent:grok 12 min late.",
        ),
        (OVERDUE, BOTH, {CODEX: ON_TIME}, False, "missed", "was missed: agent:grok never came."),
        (OVERDUE, BOTH, {ANA: ON_TIME}, False, "missed", "was missed: agent:codex and agent:grok never came."),
        (
            OVERDUE,
            BOTH,
            {GROK: MINUTES_12},
            False,
            "missed",
            "was missed: agent:codex never came; agent:grok came 12 min late.",
        ),
        (OPEN, (), {}, False, "nobody_expected", "was skipped: nobody was expected."),
        (OPEN, (), {ANA: ON_TIME}, False, "nobody_expected", "was skipped: nobody was expected."),
        (OVERDUE, (), {}, True, "nobody_expected", "was skipped: nobody was expected."),
        (OVERDUE, BOTH, {GROK: ON_TIME}, True, "paused", "was skipped: the space was paused."),
        (
            WHILE_DOWN,
            BOTH,
            {},
            False,
            "down",
            "was skipped: the scheduler did not run while it was open, and nobody checked in.",
        ),
        (WHILE_DOWN, BOTH, {CODEX: ON_TIME}, False, "missed", "was missed: agent:grok never came."),
        (WHILE_DOWN, BOTH, {CODEX: ON_TIME, GROK: ON_TIME}, False, "held", "was held: all 2 were in on time."),
        (WHILE_DOWN, (), {ANA: ON_TIME}, False, "nobody_expected", "was skipped: nobody was expected."),
        (CHANGED, BOTH, {}, False, "changed", "was skipped: the times of the syncs were changed over it."),
        (
            CHANGED,
            BOTH,
            {CODEX: ON_TIME},
            False,
            "changed",
            "was skipped: the times of the syncs were changed over it.",
        ),
        (CHANGED, (GROK,), {GROK: LATE}, False, "late", "was late: agent:grok came 1 s late."),
    ],
)
def test_c47_an_occurrence_is_judged_by_the_evidence(
    before: Occurrence, expected: tuple[str, ...], *, came: Mapping[str, int], paused: bool, state: str, says: str
) -> None:
    """Held, late, missed with the names, or skipped with the reason; closed, and told in a sentence."""
    after = turned(before, expected=expected, came=came, now=MORNING.closes, paused=paused)
    assert after == judged(before, expected=expected, came=came, now=MORNING.closes, paused=paused)
    assert (after.reason or after.state) == state
    assert after.ended
    assert (after.state == "skipped") == (after.reason in REASONS)
    assert (after.turn, after.closed) == (0, MORNING.closes)
    assert (after.expected, after.absent) == (len(expected), len(set(expected) - came.keys()))
    assert told(after) == f"morning of 2026-11-30 {says}"


def test_an_occurrence_is_as_it_was_before_its_turn() -> None:
    """To the millisecond; and one whose 90 min nobody looked at is judged at its end all the same."""
    assert turned(OPEN, expected=[GROK], came={}, now=MORNING.late - 1) == OPEN
    assert turned(OVERDUE, expected=[GROK], came={}, now=MORNING.closes - 1) == OVERDUE
    assert turned(OPEN, expected=[GROK], came={}, now=MORNING.closes).state == "missed"
    assert told(made("")) == "morning of 2026-11-30 has not opened."


def test_names_are_bounded_and_counted() -> None:
    """Twenty of each are kept, four are told, the rest are numbers."""
    agents = [f"agent:a{n:03}" for n in range(100)]
    came = dict.fromkeys(agents[50:90], LATE + MINUTE) | dict.fromkeys(agents[90:], ON_TIME)
    after = judged(OVERDUE, expected=agents, came=came, now=MORNING.closes)
    assert after.missing == tuple(agents[:NAMED])
    assert after.behind == tuple((who, MINUTE) for who in agents[50 : 50 + NAMED])
    assert told(after) == (
        "morning of 2026-11-30 was missed: agent:a000, agent:a001, agent:a002, agent:a003 and 46 more never came; "
        "agent:a050 came 60 s late, agent:a051 60 s late, agent:a052 60 s late, agent:a053 60 s late and 36 more."
    )
    assert outcome(after) == {
        "slot": "morning",
        "day": "2026-11-30",
        "state": "missed",
        "expected": 100,
        "came": 50,
        "late": 40,
        "missing": agents[:NAMED],
        "late_by": dict.fromkeys(agents[50 : 50 + NAMED], 60),
        "left_out": 50,
    }
    held = judged(OPEN, expected=[GROK, GROK], came={GROK: ON_TIME}, now=MORNING.closes)
    assert outcome(held) == {
        "slot": "morning", "day": "2026-11-30", "state": "held", "expected": 1, "came": 1, "late": 0,
    }  # fmt: skip


def test_everybody_who_is_absent_is_told_people_first() -> None:
    """So many at once; the rest has the next turn, and after them it is as it would have been."""
    agents = [f"agent:a{n:03}" for n in range(TELL)]
    absent = overdue([*agents, ANA], {})
    assert absent == [ANA, *agents]
    for before, turn in ((OVERDUE, OVERDUE.closes), (judged(OVERDUE, expected=absent, came={}, now=OPEN.closes), 0)):
        some, names = telling(before, absent, now=5)
        assert (list(names), some.untold, some.turn) == (absent[:TELL], (agents[-1],), 5)
        after, names = telling(some, some.untold, now=6)
        assert (names, after) == ((agents[-1],), replace(before, turn=turn))


def shifted(window: Window, ms: int, *, closes: int = 0) -> Window:
    """The window, so much later."""
    return replace(window, opens=window.opens + ms, late=window.late + ms, closes=closes or window.closes + ms)


ALL_IN = looked(OPEN, expected=[GROK], came={GROK: ON_TIME})
SHORT = opened(replace(MORNING, late=MORNING.opens + HOUR, closes=MORNING.opens + HOUR), now=MORNING.opens)


@pytest.mark.parametrize(
    ("before", "window", "now", "state", "reason", "turn"),
    [
        (OPEN, MORNING, LATE, "open", "", MORNING.late),
        (OVERDUE, MORNING, LATE, "overdue", "", MORNING.closes),
        (OPEN, None, LATE, "skipped", "changed", 0),
        (OVERDUE, replace(MORNING, closes=MORNING.opens), LATE, "skipped", "changed", 0),
        (OVERDUE, replace(MORNING, skipped="x"), LATE, "skipped", "day_off", 0),
        (OPEN, shifted(MORNING, HOUR), LATE, "open", "", MORNING.late + HOUR),
        (OVERDUE, shifted(MORNING, HOUR), LATE, "overdue", "", MORNING.closes + HOUR),
        (OVERDUE, shifted(MORNING, DAY), LATE, "overdue", "", MORNING.closes + DAY),
        (ALL_IN, shifted(MORNING, HOUR), LATE, "open", "", MORNING.late + HOUR),  # looked at again
        (ALL_IN, shifted(MORNING, 0, closes=MORNING.closes + 1), LATE, "open", "", MORNING.closes + 1),
        (SHORT, MORNING, LATE, "open", "", MORNING.late),
        (OPEN, shifted(MORNING, -9 * HOUR), LATE, "open", "", MORNING.closes - 9 * HOUR),
        (WHILE_DOWN, shifted(MORNING, DAY), MORNING.closes, "open", "", MORNING.late + DAY),
    ],
)
def test_a_changed_calendar_moves_what_has_not_ended(
    before: Occurrence, window: Window | None, *, now: int, state: str, reason: str, turn: int
) -> None:
    """To its new times, or it is skipped; whoever was overdue is not reminded again."""
    after = moved(before, window, now=now)
    assert (after.state, after.reason, after.turn) == (state, reason, turn)
    assert after.closed == (now if after.ended else 0)
    if window and not after.ended:
        assert (after.opens, after.late, after.closes) == (window.opens, window.late, window.closes)
        assert after.unseen == ("changed" if now >= window.closes else "")
        assert moved(after, window, now=now) == after


def test_a_window_that_was_moved_into_the_past_is_nobody_s_fault() -> None:
    """It is skipped if somebody is missing, and counts if all were in."""
    over = moved(OVERDUE, shifted(MORNING, -9 * HOUR), now=LATE)
    assert turned(over, expected=[GROK], came={}, now=LATE).reason == "changed"
    early = {GROK: MORNING.opens - 9 * HOUR}
    assert turned(over, expected=[GROK], came=early, now=LATE).state == "held"


def test_skipping_takes_a_reason_that_can_be_told() -> None:
    """Each reason has its sentence."""
    for reason in REASONS:
        ended = skipped(OPEN, reason, at=5, off="x" if reason == "day_off" else "")
        assert told(ended).startswith("morning of 2026-11-30 was skipped: ")
        assert told(ended).endswith(("y.", "d.", "n.", "t.", '".'))
