"""When those who may decide an ask are reminded of it, and when everybody is asked."""

from .moments import MINUTE

AFTER = (15 * MINUTE, 30 * MINUTE)  # it was made: those who were asked, then everybody
EVERYBODY = len(AFTER)  # times reminded, from which on everybody is asked


def remind_at(made: int, deadline: int, reminded: int) -> int:
    """When the next reminder is due (ms), never later than half of the time left; 0 for no more."""
    if reminded >= EVERYBODY:
        return 0
    at = made
    for after in AFTER[: reminded + 1]:
        at = min(made + after, at + (deadline - at) // 2)
    return at


def reminded_by(made: int, deadline: int, reminded: int, *, now: int) -> int:
    """How often they were reminded once all that has come due is made up for: several at once are one."""
    while 0 < remind_at(made, deadline, reminded) <= now:
        reminded += 1
    return reminded
