"""Durations and moments: what a model may write, what it may not, and how times are shown."""

import math
import re
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.errors import Refused
from store.domain.moments import DAY, HOUR, MINUTE, SECOND, WEEK, age, duration, iso, moment, span, until

NOW = 1_796_035_682_123  # 2026-11-30T10:48:02.123Z
YEARS = 9999 * 366 * DAY


def ms(text: object) -> int:
    """A duration without much of a bound."""
    return duration(text, low=0, high=400 * DAY, name="wait")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", 2 * HOUR),
        ("90m", 90 * MINUTE),
        ("24 h", 24 * HOUR),
        ("7 days", 7 * DAY),
        ("1 day", DAY),
        ("PT2H", 2 * HOUR),
        ("P1DT12H", 36 * HOUR),
        ("P1W", WEEK),
        ("pt1h30m5s", 90 * MINUTE + 5 * SECOND),
        ("1d12h", 36 * HOUR),
        ("1d 12h", 36 * HOUR),
        ("1 day, 12 hours", 36 * HOUR),
        ("1 hour and 5 minutes", 65 * MINUTE),
        ("2 wks", 2 * WEEK),
        ("45s", 45 * SECOND),
        ("250ms", 250),
        ("1.5h", 90 * MINUTE),
        ("0.1h", 6 * MINUTE),
        ("0.009h", 32_400),
        ("2H", 2 * HOUR),
        ("  2h ", 2 * HOUR),
        (3600, HOUR),
        ("3600", HOUR),
        (0, 0),
        ("0s", 0),
        (1.5, 1500),
        (7200.0, 2 * HOUR),
    ],
)
def test_a_duration_is_read_however_it_is_written(text: object, expected: int) -> None:
    """Words, letters, ISO 8601 and bare seconds all give the same ms."""
    assert ms(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "h",
        "soon",
        "-2h",
        "+2h",
        "2 fortnights",
        "1h 2h",
        "P",
        "PT",
        "P1M",
        "P1Y",
        "P1DT",
        "2h!",
        "1e5",
        "0x10",
        "1_000",
        "٣h",
        "\uff12h",
        "²",
        "½h",
        "nan",
        "inf",
        "infinity",
        "9" * 13,
        "1" * 100_000,
        "1h" * 100_000,
        " " * 100 + "2h",
        "2h\0",
        True,
        False,
        None,
        -1,
        10**400,
        -(10**400),
        math.nan,
        math.inf,
        -math.inf,
        1e308,
        -0.5,
        [2],
        {"h": 2},
        b"2h",
    ],
)
def test_what_is_no_duration_is_refused(text: object) -> None:
    """Signs, other digits, exponents, booleans, infinities and monsters are refused by the argument's name."""
    with pytest.raises(Refused, match="wait is no duration: ") as caught:
        ms(text)
    assert caught.value.code == "invalid_argument"
    assert caught.value.facts["argument"] == "wait"
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("text", ["4m", "299s", 0, "8 days", "7d1s", 10**9])
def test_a_duration_outside_its_bounds_is_refused_with_them(text: object) -> None:
    """The bounds are said in words, and an example that would do."""
    with pytest.raises(Refused, match=r'Give 5 min to 7 days, like "7d" or 604800 \(seconds\)') as caught:
        duration(text, low=5 * MINUTE, high=7 * DAY, name="expires_in")
    assert "Nothing was written" in caught.value.message
    assert (caught.value.facts["low_ms"], caught.value.facts["high_ms"]) == (5 * MINUTE, 7 * DAY)


def test_bounds_are_allowed() -> None:
    """Both ends of the bounds are inside."""
    assert duration("5m", low=5 * MINUTE, high=7 * DAY, name="x") == 5 * MINUTE
    assert duration("1 week", low=5 * MINUTE, high=7 * DAY, name="x") == 7 * DAY


@given(st.integers(0, 300 * DAY // 1000), st.sampled_from(["s", " seconds", "sec"]))
def test_seconds_are_seconds_in_every_spelling(seconds: int, unit: str) -> None:
    """A number, its text and its text with a unit are the same duration."""
    assert ms(seconds) == ms(str(seconds)) == ms(f"{seconds}{unit}") == seconds * SECOND


@given(st.text(max_size=80) | st.text(alphabet="0123456789.,hmdswPT and", max_size=30))
def test_any_text_is_a_duration_or_refused(text: str) -> None:
    """Nothing else is raised, and nothing is out of bounds."""
    code = "invalid_argument"
    for read in (ms, lambda each: moment(each, now=NOW)):
        try:
            assert 0 <= read(text) <= YEARS
        except Refused as refused:
            code = refused.code
    assert code == "invalid_argument"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T10:48:02.123Z", NOW),
        ("2026-11-30T10:48:02.123456789Z", NOW),
        ("2026-11-30t10:48:02,123z", NOW),
        ("2026-11-30 10:48:02.123+00:00", NOW),
        ("2026-11-30T12:48:02.123+02:00", NOW),
        ("2026-11-30T05:48:02.123-0500", NOW),
        ("2026-11-30T10:48:02Z", NOW - 123),
        ("2026-11-30T10:48Z", NOW - 2123),
        ("1970-01-01T00:00:00Z", 0),
        ("2h", NOW + 2 * HOUR),
        (90, NOW + 90 * SECOND),
    ],
)
def test_a_moment_is_an_iso_time_or_a_duration_from_now(text: object, expected: int) -> None:
    """Offsets count, fractions are cut to ms, and durations begin now."""
    assert moment(text, now=NOW) == expected


def test_a_moment_may_count_backwards() -> None:
    """`since: 2h` is two hours ago, and a time is the time that it says."""
    assert moment("2h", now=NOW, back=True) == NOW - 2 * HOUR
    assert moment("2026-11-30T10:48:02.123Z", now=NOW + DAY, back=True) == NOW


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T10:48:02",
        "2026-11-30",
        "tomorrow",
        "2026-02-31T00:00:00Z",
        "2026-11-30T25:00:00Z",
        "2026-11-30T23:59:60Z",
        "2026-11-30T10:48:02+99:00",
        "2026-11-30T10:48:02Zz",
        "٢٠٢٦-11-30T10:48:02Z",
        "0001-01-01T00:00:00+14:00",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-14:00",
        "2026-11-30T10:48:02." + "1" * 100_000 + "Z",
        True,
        None,
        10**13,
        math.nan,
    ],
)
def test_what_is_no_moment_is_refused_with_an_example(text: object) -> None:
    """A time without a zone could be anybody's, and is refused with the form that would do."""
    with pytest.raises(
        Refused, match=r"Give an ISO 8601 time with Z or an offset, like 2026-11-30T10:48:02.123Z"
    ) as caught:
        moment(text, now=NOW, name="deadline")
    assert caught.value.facts["argument"] == "deadline"


def test_bounds_of_a_moment_are_allowed() -> None:
    """Both ends are inside, and each may be left out."""
    for text, low, high in (("1h", 0, HOUR), ("1h", HOUR, DAY), ("0s", 0, 0)):
        assert moment(text, now=NOW, low=NOW + low, high=NOW + high) >= NOW
    with pytest.raises(Refused, match="from 2026"):
        moment("1h", now=NOW, low=NOW + DAY)
    with pytest.raises(Refused, match="; to 2026"):
        moment("2d", now=NOW, high=NOW + DAY)


@pytest.mark.parametrize("text", ["1m", "8d", "2020-01-01T00:00:00Z"])
def test_a_moment_outside_its_bounds_is_refused_with_them(text: str) -> None:
    """The bounds are named as times."""
    bounds = r"from 2026-11-30T10:53:02.123Z to 2026-12-07T10:48:02.123Z\. Nothing was written"
    with pytest.raises(Refused, match=bounds):
        moment(text, now=NOW, low=NOW + 5 * MINUTE, high=NOW + 7 * DAY, name="deadline")


@pytest.mark.parametrize(("low", "high"), [(DAY, 5 * DAY), (5 * MINUTE, DAY), (0, 3 * MINUTE), (-DAY, 0), (-DAY, -1)])
def test_the_example_of_a_refusal_can_be_given(low: int, high: int) -> None:
    """The duration in the sentence is one that its bounds allow."""
    bounded = partial(moment, now=NOW, low=NOW + low, high=NOW + high, back=high <= 0)
    with pytest.raises(Refused) as caught:
        bounded("soon")
    (example,) = re.findall(r'a duration from now, like "(\w+)"', caught.value.message)
    assert bounded(example)


@given(st.integers(0, 250_000_000_000_000))
def test_a_time_that_is_shown_reads_as_itself(at: int) -> None:
    """ISO text has milliseconds and a Z, and gives the same moment again."""
    text = iso(at)
    assert len(text) == 24
    assert text.endswith("Z")
    assert moment(text, now=NOW) == at
    assert datetime.fromisoformat(text) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001 - the zone is added below
def test_a_time_in_any_zone_is_the_same_moment(at: datetime, minutes: int) -> None:
    """Whatever offset a time is written with, it is the instant that it names."""
    zoned = at.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert moment(zoned.isoformat(), now=NOW) == (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("since", "shown"),
    [
        (-5 * DAY, "now"),
        (0, "now"),
        (4999, "now"),
        (5000, "5 s ago"),
        (40_999, "40 s ago"),
        (59_999, "59 s ago"),
        (MINUTE, "1 min ago"),
        (3 * MINUTE + 59_000, "3 min ago"),
        (HOUR - 1, "59 min ago"),
        (2 * HOUR, "2 h ago"),
        (25 * HOUR, "25 h ago"),
        (2 * DAY - 1, "47 h ago"),
        (2 * DAY, "2 d ago"),
        (400 * DAY, "400 d ago"),
    ],
)
def test_an_age_is_short_words(since: int, shown: str) -> None:
    """An age is rounded down to one unit, and keeps hours up to two days."""
    assert age(since) == shown


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (0, "0 s"),
        (250, "250 ms"),
        (50 * SECOND, "50 s"),
        (5 * MINUTE, "5 min"),
        (90 * MINUTE, "90 min"),
        (DAY, "24 h"),
        (7 * DAY, "7 days"),
        (MINUTE + 30_500, "1 min"),
    ],
)
def test_a_span_is_said_as_people_say_it(length: int, shown: str) -> None:
    """Bounds read like the documentation of the bound."""
    assert span(length) == shown


@pytest.mark.parametrize(
    ("said", "at"),
    [("", DAY), ("2h", 2 * HOUR), (300, 5 * MINUTE), (iso(NOW + 2 * HOUR), 2 * HOUR), ("7d", 7 * DAY)],
)
def test_an_end_is_a_length_a_time_or_the_usual(said: str | int, at: int) -> None:
    """What is not said lasts as usual; both bounds are allowed."""
    assert until(said, now=NOW, bounds=(5 * MINUTE, 7 * DAY), usual=DAY, name="deadline") == NOW + at


@pytest.mark.parametrize("said", [0, "299 s", "169h", iso(NOW), iso(NOW + 8 * DAY), "soon", None])
def test_an_end_outside_its_bounds_is_refused_by_name(said: object) -> None:
    """Zero is said, and too short."""
    with pytest.raises(Refused) as no:
        until(said, now=NOW, bounds=(5 * MINUTE, 7 * DAY), usual=DAY, name="deadline")
    assert no.value.facts["argument"] == "deadline"
