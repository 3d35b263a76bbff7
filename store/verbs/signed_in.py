"""Who is signed in: the sessions of a person that are open now, for those who read more with them."""

from ..engine.reads import Count, Range
from .call import Call

LIMIT = 20  # sessions of a person that are looked at


def sessions_of(call: Call, person: str) -> Range:
    """The person's open sessions, the first to end first."""
    return Range("sessions", person, LIMIT, low=over_until(call) + 1)


def session_count(call: Call, person: str) -> Count:
    """How many they are."""
    return Count("sessions", person, low=over_until(call) + 1)


def over_until(call: Call) -> int:
    """Sessions whose end stands in an index at this time (ms) or before are over; it stands there by real time."""
    return call.now - call.moved
