"""Durations and moments: what a model may write for one, and how they are shown. Everything is integer ms."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from .errors import Refused
from .text import quoted

__all__ = ["DAY", "HOUR", "MINUTE", "SECOND", "WEEK", "age", "duration", "iso", "moment", "since", "span", "until"]

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MILLISECOND  # what a datetime can still hold

# Longer than this is no duration that anybody meant, and is not worth reading.
_LONGEST_TEXT = 64
_LONGEST_DURATION = 3_660 * DAY

_WORDS: Mapping[int, Sequence[str]] = {
    1: ("ms", "millisecond", "milliseconds"),
    SECOND: ("s", "sec", "secs", "second", "seconds"),
    MINUTE: ("m", "min", "mins", "minute", "minutes"),
    HOUR: ("h", "hr", "hrs", "hour", "hours"),
    DAY: ("d", "day", "days"),
    WEEK: ("w", "wk", "wks", "week", "weeks"),
}
_UNITS: Mapping[str, int] = {word: ms for ms, words in _WORDS.items() for word in words}

# [0-9], not \d: that would take digits of every script, which int() reads and no person checks.
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"
_PART = re.compile(rf"({_NUMBER})\s*([a-z]+)(?:\s*,?\s*(?:and\s+)?)")
_BARE = re.compile(_NUMBER)
_ISO_DURATION = re.compile(
    rf"p(?:({_NUMBER})w)?(?:({_NUMBER})d)?(?:t(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?)?"
)
_ISO_UNITS = (WEEK, DAY, HOUR, MINUTE, SECOND)
_ISO_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,]([0-9]{1,9}))?"
    r"(Z|z|[+-][0-9]{2}:?[0-9]{2})"
)


def duration(text: object, *, low: int, high: int, name: str) -> int:
    """Ms of a duration: `2h`, `90m`, `24 h`, `7 days`, `1d12h`, `PT2H`; a bare number is seconds.

    `low` and `high` are bounds in ms, both allowed; `name` is the argument. Refuses invalid_argument.
    """
    ms = _duration(text)
    if ms is None or not low <= ms <= high:
        said = "is no duration" if ms is None else "is outside its bounds"
        raise Refused(
            "invalid_argument",
            f"{name} {said}: {quoted(text)}. Give {span(low)} to {span(high)}, "
            f'like "{_compact(high)}" or {_seconds(high)} (seconds). Nothing was written.',
            argument=name,
            low_ms=low,
            high_ms=high,
        )
    return ms


def moment(
    text: object,
    *,
    now: int,
    low: int | None = None,
    high: int | None = None,
    name: str = "time",
    back: bool = False,
) -> int:
    """Ms since 1970 of an ISO 8601 time with `Z` or an offset, or of a duration counted from `now`.

    `back` counts durations into the past (`since: 2h`). `low` and `high` are bounds in ms, both allowed.
    Refuses invalid_argument.
    """
    at = _moment(text)
    if at is None:
        ms = _duration(text)
        at = None if ms is None else now + (-ms if back else ms)
    if at is None or not 0 <= at <= _LAST:
        _refuse_moment(text, name=name, why="is no time", now=now, low=low, high=high)
    if (low is not None and at < low) or (high is not None and at > high):
        _refuse_moment(text, name=name, why="is outside its bounds", now=now, low=low, high=high)
    return at


def until(text: object, *, now: int, bounds: tuple[int, int], usual: int, name: str) -> int:
    """Ms since 1970 at which something ends: as said, by a time or a duration, or after the `usual` length for ''.

    `bounds` are the shortest and the longest it may last from `now`, in ms. Refuses invalid_argument.
    """
    if text == "":
        return now + usual
    shortest, longest = bounds
    return moment(text, now=now, low=now + shortest, high=now + longest, name=name)


@lru_cache(maxsize=8192)  # a list says the same deadlines again and again
def iso(ms: int) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-11-30T10:48:02.123Z`. `ms` since 1970, up to the year 9999."""
    return (_EPOCH + ms * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def age(ms: int) -> str:
    """How long ago, in words: `now` (under 5 s, or in the future by a clock's fault), `40 s ago`, `3 min ago`."""
    return "now" if ms < 5 * SECOND else f"{_rounded(ms)} ago"


def since(ms: int) -> str:
    """`age` for within a sentence: `just now`, `3 min ago`."""
    return "just now" if ms < 5 * SECOND else age(ms)


def span(ms: int) -> str:
    """A length of time in words: `40 s`, `90 min`, `24 h`, `7 days`. Whole units stay exact, others round down."""
    if ms >= 2 * DAY and ms % DAY == 0:
        return f"{ms // DAY} days"
    for unit, word in ((HOUR, "h"), (MINUTE, "min"), (SECOND, "s")):
        if ms >= unit and ms % unit == 0:
            return f"{ms // unit} {word}"
    return _rounded(ms) if ms > 0 else "0 s"


def _rounded(ms: int) -> str:
    """The largest unit of which there are enough, rounded down. Hours go to 48, so that `25 h` shows the hour."""
    if ms < SECOND:
        return f"{ms} ms"
    for below, unit, word in ((MINUTE, SECOND, "s"), (HOUR, MINUTE, "min"), (2 * DAY, HOUR, "h")):
        if ms < below:
            return f"{ms // unit} {word}"
    return f"{ms // DAY} d"


def _compact(ms: int) -> str:
    """The bound as a caller may write it: `7d`, `24h`, `50s`."""
    for unit, word in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")):
        if ms >= unit and ms % unit == 0 and ms // unit > 1:
            return f"{ms // unit}{word}"
    return f"{ms}ms"


def _seconds(ms: int) -> str:
    return str(ms // SECOND) if ms % SECOND == 0 else f"{ms / SECOND:g}"


def _duration(value: object) -> int | None:
    """Ms, or None for what is no duration. Never negative, at most `_LONGEST_DURATION`."""
    ms: int | None = None
    # A boolean is an int to Python, and a mistake in every place where a time is meant.
    if isinstance(value, int) and not isinstance(value, bool):
        ms = value * SECOND
    elif isinstance(value, float) and 0 <= value <= _LONGEST_DURATION:  # neither NaN nor what would overflow
        ms = int(value * SECOND)
    elif isinstance(value, str) and len(value) <= _LONGEST_TEXT:
        ms = _read(value.strip().lower())
    return ms if ms is not None and 0 <= ms <= _LONGEST_DURATION else None


def _read(text: str) -> int | None:
    if _BARE.fullmatch(text):
        return int(Fraction(text) * SECOND)
    written = _ISO_DURATION.fullmatch(text)
    if written:
        parts = [(n, unit) for n, unit in zip(written.groups(), _ISO_UNITS, strict=True) if n]
        # "P" and "PT2H"'s bare "PT" match with every part left out.
        return _sum(parts) if parts and not text.endswith("t") else None
    parts = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[2] not in _UNITS:
            return None
        parts.append((part[1], _UNITS[part[2]]))
        at = part.end()
    # A unit twice ("1h 2h") is a list or a slip, not a sum.
    once = len({unit for _, unit in parts}) == len(parts)
    return _sum(parts) if parts and once else None


def _sum(parts: Sequence[tuple[str, int]]) -> int:
    # Fractions, because 0.1 h is 360,000 ms and not one less.
    return int(sum(Fraction(number) * unit for number, unit in parts))


def _moment(value: object) -> int | None:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return None
    written = _ISO_MOMENT.fullmatch(value.strip())
    if written is None:
        return None
    day, time, fraction, zone = written.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
        ms = (at - _EPOCH) // _MILLISECOND
    except ValueError:  # the 31st of February, 25:00, an offset of a week
        return None
    return ms + int((fraction or "0")[:3].ljust(3, "0"))


_EXAMPLES = (2 * HOUR, 2 * DAY, 2 * MINUTE)


def _like(now: int, low: int | None, high: int | None) -> str:
    """A duration that its bounds (ms) allow, counted back where they are past."""
    way = -1 if high is not None and high <= now else 1
    least, most = low or 0, _LAST if high is None else high
    return _compact(next((ms for ms in _EXAMPLES if least <= now + way * ms <= most), 2 * HOUR))


def _refuse_moment(text: object, *, name: str, why: str, now: int, low: int | None, high: int | None) -> NoReturn:
    bounds = {key: iso(at) for key, at in (("low", low), ("high", high)) if at is not None}
    between = {"low": "from {low}", "high": "to {high}"}
    example = iso(now if high is None else high)
    allowed = " ".join(between[key].format(**bounds) for key in bounds)
    like = _like(now, low, high)
    raise Refused(
        "invalid_argument",
        f"{name} {why}: {quoted(text)}. Give an ISO 8601 time with Z or an offset, like {example}, "
        f'or a duration from now, like "{like}"{f"; {allowed}" if allowed else ""}. Nothing was written.',
        argument=name,
        **bounds,
    )
