"""When a card makes no sound, and what people write for it."""

import pytest

from store.domain.errors import Refused
from store.domain.moments import DAY, HOUR, MINUTE
from store.domain.reach import Reach, quiet_hours, silent, snoozed_until

MIDNIGHT = 20_000 * DAY  # in UTC
ANA = Reach(id="human:ana", account=7)


@pytest.mark.parametrize(
    ("hours", "at", "quiet"),
    [
        ("22:00-07:00", "21:59", False),
        ("22:00-07:00", "22:00", True),
        ("22:00-07:00", "03:00", True),
        ("22:00-07:00", "06:59", True),
        ("22:00-07:00", "07:00", False),
        ("09:00-17:00", "08:59", False),
        ("09:00-17:00", "09:00", True),
        ("09:00-17:00", "16:59", True),
        ("09:00-17:00", "17:00", False),
        ("", "12:00", False),
    ],
)
def test_quiet_hours_are_those_of_the_space(hours: str, at: str, quiet: bool) -> None:
    """From the first time to before the last, over midnight too, by the clock of the zone."""
    hour, minute = map(int, at.split(":"))
    now = MIDNIGHT + hour * HOUR + minute * MINUTE
    reach = Reach(id="human:ana", account=7, quiet=hours)
    assert silent(reach, now=now, zone="UTC") is quiet
    assert silent(reach, now=now - 5 * HOUR, zone="Etc/GMT-5") is quiet


def test_a_snooze_ends() -> None:
    """Until then there is no sound."""
    reach = Reach(id="human:ana", account=7, snoozed=snoozed_until("2h", now=MIDNIGHT))
    times = (MIDNIGHT, MIDNIGHT + 2 * HOUR - 1, MIDNIGHT + 2 * HOUR)
    assert [silent(reach, now=now, zone="UTC") for now in times] == [True, True, False]
    assert not silent(ANA, now=MIDNIGHT, zone="UTC")
    assert [snoozed_until(word, now=MIDNIGHT) for word in ("off", "None", " no ")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("22:00-07:00", "22:00-07:00"),
        ("22-7", "22:00-07:00"),
        ("9:30 to 17:00", "09:30-17:00"),
        (" 22:00 – 7 ", "22:00-07:00"),
        ("off", ""),
        ("None", ""),
    ],
)
def test_hours_are_read_as_people_write_them(said: str, kept: str) -> None:
    """And kept in one form."""
    assert quiet_hours(said) == kept


@pytest.mark.parametrize("said", ["", "22", "24:00-07:00", "22:60-07:00", "22:00-22:00", "7-07:00", "later", "22:00"])
def test_what_are_no_hours(said: str) -> None:
    """What is no time, or none between two, is refused."""
    with pytest.raises(Refused) as no:
        quiet_hours(said)
    assert (no.value.code, no.value.facts["argument"]) == ("invalid_argument", "hours")
