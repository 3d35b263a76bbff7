"""How many values a list may have that comes with a call. What has no bound here is no argument."""

from collections.abc import Mapping

from .errors import Refused

VALUES: Mapping[str, int] = {  # by the argument's name
    "allow": 4,
    "approvers": 20,
    "kinds": 10,
    "may": 10,
    "milestones": 20,
    "needs": 10,
    "next": 10,
    "options": 8,
    "seats": 12,
    "tags": 20,
    "tracks": 10,
}


def check_values(argument: str, count: int) -> None:
    """Refuses too_long. Raises KeyError for a list that has no bound."""
    limit = VALUES[argument]
    if count > limit:
        raise Refused(
            "too_long",
            f"{argument} may have {limit} values, and here are {count}. Nothing was written.",
            argument=argument,
            limit=limit,
        )
