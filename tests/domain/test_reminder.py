"""Reminders of an ask: when, how many at once, and never later than half of the time left."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.ask import EXPIRES
from store.domain.delivery import wanted
from store.domain.moments import DAY, HOUR, MINUTE
from store.domain.reach import Reach
from store.domain.reminder import EVERYBODY, remind_at, reminded_by

MADE = 1_796_000_000_000


@pytest.mark.parametrize(
    ("lasts", "first", "second"),
    [
        (DAY, 15 * MINUTE, 30 * MINUTE),
        (HOUR, 15 * MINUTE, 30 * MINUTE),
        (40 * MINUTE, 15 * MINUTE, 27 * MINUTE + 30_000),
        (20 * MINUTE, 10 * MINUTE, 15 * MINUTE),
        (5 * MINUTE, 150_000, 225_000),
    ],
)
def test_when(lasts: int, first: int, second: int) -> None:
    """After 15 min and after 30 min, or sooner where there is little time; then no more."""
    at = [remind_at(MADE, MADE + lasts, n) for n in range(4)]
    assert at == [MADE + first, MADE + second, 0, 0]


@given(st.integers(*EXPIRES))
def test_there_is_time_after_each(lasts: int) -> None:
    """Each comes before the next, and before the deadline at least as much as has passed since the one before."""
    deadline = MADE + lasts
    first, second = (remind_at(MADE, deadline, n) for n in range(2))
    assert MADE < first < second < deadline
    assert first - MADE <= deadline - first
    assert second - first <= deadline - second


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [(0, 14, 0), (0, 15, 1), (1, 15, 1), (1, 29, 1), (1, 30, 2), (0, 30, 2), (0, 9000, 2), (2, 9000, 2)],
)
def test_what_was_missed_is_one(before: int, after: int, count: int) -> None:
    """Whoever looks late reminds once, as the last of those that have come due."""
    assert reminded_by(MADE, MADE + DAY, before, now=MADE + after * MINUTE) == count


def test_everybody_in_the_end() -> None:
    """With the last reminder those are asked too who are not on call; whom no message reaches never are."""
    ana = Reach(id="human:ana", account=1)
    bo, cy = replace(ana, id="human:bo", on_call=True), replace(ana, id="human:cy", lost=5)
    for reminded in range(EVERYBODY):
        assert wanted([ana, bo, cy], named=False, reminded=reminded) == ("human:bo",)
    assert wanted([ana, bo, cy], named=False, reminded=EVERYBODY) == ("human:ana", "human:bo")
