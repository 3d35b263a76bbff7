"""Shifts: which one a recap belongs to."""

from store.domain.shift import Shift, ended, opened, recapped

NOW = 1_000_000
FIRST = opened(None, agent="agent:codex", credential="k1", now=NOW)


def recap(last: Shift | None, *, end: bool) -> tuple[Shift, bool]:
    """The shift after a recap, a while later."""
    return recapped(last, agent="agent:codex", credential="k2", now=NOW + 10, end=end)


def test_an_open_shift_is_ended_or_goes_on() -> None:
    """The recap belongs to the open shift, whichever credential writes it."""
    assert recap(FIRST, end=True) == (ended(FIRST, now=NOW + 10), False)
    assert recap(FIRST, end=False) == (FIRST, False)


def test_a_recap_after_the_end_replaces_an_automatic_one() -> None:
    """The shift stays ended when it was, and is no longer marked as recapped for the agent."""
    over = ended(FIRST, now=NOW + 5, auto=True)
    assert recap(over, end=True) == (ended(FIRST, now=NOW + 5), False)


def test_a_recap_without_a_shift_begins_one() -> None:
    """The first of an agent, or the next one if it is to stay open."""
    shift, begins = recap(None, end=True)
    assert (shift.number, shift.open, begins) == (1, False, True)
    shift, begins = recap(ended(FIRST, now=NOW + 5), end=False)
    assert (shift.number, shift.open, shift.credential, begins) == (2, True, "k2", True)
