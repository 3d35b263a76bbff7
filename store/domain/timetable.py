"""What an owner may set of a space's syncs: their times, their weekdays, and the holidays without."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NoReturn
from zoneinfo import ZoneInfo

from .calendar import SLOTS
from .errors import Refused
from .text import quoted

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HOLIDAYS = 60  # that a space may have
KEPT = 60  # days for which one that is past is kept: the accounting may be behind
REASON = 60  # characters of a holiday's reason

_WHOLE = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBER = {name: n for names in (DAYS, _WHOLE) for n, name in enumerate(names)}
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BETWEEN = re.compile(r"[\s,;]+")
_DASH = re.compile(r"\s*[-–]\s*")


def parts(said: str) -> list[str]:
    """What was said in one text, each part by itself: `09:00, 13:00, 17:30`, `mon - wed fri`."""
    return [part for part in _BETWEEN.split(_DASH.sub("-", said)) if part]


def check_times(said: Sequence[str]) -> tuple[str, ...]:
    """The times as they are kept (HH:MM), one for each slot in the order of a day. Refuses invalid_argument."""
    found = [_TIME.fullmatch(text.strip()) for text in said]
    kept = tuple(f"{int(at[1]):02}:{at[2]}" for at in found if at)
    if not len(found) == len(kept) == len(SLOTS) or any(a >= b for a, b in pairwise(kept)):
        _refuse(
            "times",
            f"times are three, each later than the one before: {', '.join(SLOTS)}, like 09:00, 13:00, 17:30; "
            f"here is {quoted(', '.join(said))}.",
        )
    return kept


def check_days(said: Sequence[str]) -> tuple[int, ...]:
    """The weekdays as they are kept (Monday is 0), from names (`mon`, `Friday`) and ranges (`mon-fri`, `sat-mon`).

    Numbers are not taken: for some the first day is Sunday. Refuses invalid_argument.
    """
    found: set[int] = set()
    for text in said:
        first, dash, last = (part.strip() for part in text.lower().partition("-"))
        if first not in _NUMBER or (dash and last not in _NUMBER):
            _refuse("days", f"days are names such as mon or a range such as mon-fri; {quoted(text)} is none.")
        length = (_NUMBER[last] - _NUMBER[first]) % 7 if dash else 0
        found |= {(_NUMBER[first] + n) % 7 for n in range(length + 1)}
    if not found:
        _refuse("days", "days are the weekdays with syncs, and at least one: names such as mon or mon-fri.")
    return tuple(sorted(found))


def day_names(days: Sequence[int]) -> list[str]:
    """The weekdays in words that `check_days` takes."""
    return [DAYS[day] for day in days]


def run_of(days: Sequence[str]) -> tuple[str, str] | None:
    """The first and the last of weekdays without a gap between them, where they are more than two; else None."""
    at = [DAYS.index(day) for day in days]
    return (days[0], days[-1]) if len(at) > 2 and at[-1] - at[0] == len(at) - 1 else None


def check_zone(zone: str) -> str:
    """The zone. Refuses invalid_argument."""
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, KeyError):
        _refuse("zone", f"zone is an IANA time zone such as Europe/Berlin; {quoted(zone)} is none.")
    return zone


def check_holiday(day: str, reason: str, *, today: date) -> str:
    """A holiday as it is kept: `2026-12-25 Christmas`. Refuses invalid_argument, reason_required, too_long."""
    on, why = check_day(day), " ".join(reason.split())
    if on < today.isoformat():
        _refuse("holiday", f"{on} is over, and today is {today}: what became of its syncs stays as it was recorded.")
    if not why:
        raise Refused(
            "reason_required",
            "A holiday takes a reason, so that everybody sees why there are no syncs: Christmas, moving house. "
            "Nothing was written.",
            argument="reason",
        )
    if len(why) > REASON:
        raise Refused(
            "too_long",
            f"reason may have {REASON} characters, and here are {len(why)}. Nothing was written.",
            argument="reason",
            limit=REASON,
        )
    return f"{on} {why}"


def check_day(day: str) -> str:
    """A day, in ISO 8601. Refuses invalid_argument."""
    text = day.strip()
    try:
        return date.fromisoformat(text if _DATE.fullmatch(text) else "").isoformat()
    except ValueError:
        _refuse("holiday", f"holiday is a day of the calendar, like 2026-12-25; {quoted(day)} is none.")


def with_holiday(holidays: Sequence[str], holiday: str, *, today: date) -> tuple[str, ...]:
    """The holidays with one more (as `check_holiday` gives it), in place of another on that day. Refuses too_long.

    Those long past are left out.
    """
    since = (today - timedelta(days=KEPT)).isoformat()
    kept = {day_of(each): each for each in (*holidays, holiday) if day_of(each) >= since}
    if len(kept) > HOLIDAYS:
        raise Refused(
            "too_long",
            f"A space may have {HOLIDAYS} holidays, and this would be one more. Nothing was written. "
            f"Take one out first; the last of them is {quoted(max(holidays))}.",
            argument="holiday",
            limit=HOLIDAYS,
        )
    return tuple(kept[day] for day in sorted(kept))


def without_holiday(holidays: Sequence[str], day: str) -> tuple[str, ...]:
    """The holidays without that day. Refuses invalid_argument, not_found."""
    name = check_day(day)
    kept = tuple(each for each in holidays if day_of(each) != name)
    if len(kept) == len(holidays):
        other = f', another out: rhythm {{holiday: "{day_of(min(holidays))}", remove: true}}' if holidays else ""
        raise Refused(
            "not_found",
            f"{name} is no holiday here, so its syncs are as on other days. Nothing was written. "
            f'To make it one: rhythm {{holiday: "{name}", reason}}{other}',
            holidays=list(holidays),
        )
    return kept


def day_of(holiday: str) -> str:
    """The day of a holiday, in ISO 8601."""
    return holiday.partition(" ")[0]


def _refuse(argument: str, rule: str) -> NoReturn:
    raise Refused("invalid_argument", f"{rule} Nothing was written.", argument=argument)
