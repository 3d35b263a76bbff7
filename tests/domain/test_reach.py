"""Reaching people: who is paired and reachable, and what stays of their choices."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from store.domain.document import Index
from store.domain.errors import Refused
from store.domain.reach import Reach, paired, quiet_hours, silent, snoozed_until, unpaired

ANA = Reach(id="human:ana", account=1001, on_call=True, snoozed=9, quiet="22:00-07:00")


@pytest.mark.parametrize(
    ("reach", "live"),
    [
        (ANA, True),
        (replace(ANA, lost=5), False),
        (replace(ANA, account=0), False),
        (replace(ANA, account=0, lost=5), False),
        (Reach(id="human:bo"), False),
    ],
)
def test_live_is_paired_and_not_lost(reach: Reach, live: bool) -> None:
    """A message reaches whoever has an account to which Telegram delivers."""
    assert reach.live is live


def test_who_has_an_account_is_found() -> None:
    """Who is paired stands in the index, also while nothing reaches them; who is not does not."""
    reached = [Index("reached", "", 0)]
    assert list(ANA.indexes()) == list(replace(ANA, lost=5).indexes()) == reached
    assert list(unpaired(ANA).indexes()) == list(Reach(id="human:bo").indexes()) == []


@pytest.mark.parametrize("before", [None, Reach(id="human:ana"), ANA, replace(ANA, lost=5)])
def test_pairing_reaches_them_again(before: Reach | None) -> None:
    """With a new account they are reachable; what they chose about their cards stays."""
    after = paired(before, person="human:ana", account=2002)
    assert (after.id, after.account, after.lost, after.live) == ("human:ana", 2002, 0, True)
    before = before or Reach(id="human:ana")
    assert replace(after, account=0, lost=0) == replace(before, account=0, lost=0)


def test_who_is_unpaired_is_not_on_call() -> None:
    """Without an account nobody is on call; snooze and quiet hours stay for when they come back."""
    gone = unpaired(replace(ANA, lost=5))
    assert gone == Reach(id="human:ana", snoozed=9, quiet="22:00-07:00")
    assert not gone.live


MINUTE, HOUR = 60_000, 3_600_000
ZONE = "America/New_York"
NIGHT = replace(ANA, snoozed=0)  # 22:00 to 07:00


def at(clock: str, *, day: str = "2025-03-08", zone: str = ZONE) -> int:
    """That time of the day in ms."""
    return int(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("quiet", "clock", "is_silent"),
    [
        ("22:00-07:00", "21:59:59", False),
        ("22:00-07:00", "22:00:00", True),
        ("22:00-07:00", "00:00:00", True),
        ("22:00-07:00", "06:59:59", True),
        ("22:00-07:00", "07:00:00", False),
        ("22:00-07:00", "12:00:00", False),
        ("12:30-13:00", "12:29:59", False),
        ("12:30-13:00", "12:30:00", True),
        ("12:30-13:00", "13:00:00", False),
        ("", "03:00:00", False),
    ],
)
@pytest.mark.parametrize("day", ["2025-03-08", "2025-03-10", "2025-11-01"])
def test_quiet_hours_are_by_the_clock_of_the_space(quiet: str, clock: str, day: str, is_silent: bool) -> None:
    """From the first minute on and up to the last, over midnight too, in summer and in winter."""
    assert silent(replace(NIGHT, quiet=quiet), now=at(clock, day=day), zone=ZONE) is is_silent


def test_a_snooze_is_silent_until_it_ends() -> None:
    """Whatever the hour, and not a millisecond longer."""
    snoozed = replace(ANA, quiet="", snoozed=at("12:00:00"))
    assert silent(snoozed, now=at("12:00:00") - 1, zone=ZONE)
    assert not silent(snoozed, now=at("12:00:00"), zone=ZONE)
    assert not silent(Reach(id="human:bo"), now=0, zone=ZONE)


@pytest.mark.parametrize(
    ("said", "until"), [("2h", 2 * HOUR), ("1m", MINUTE), ("7d", 168 * HOUR), ("off", 0), (" None ", 0), ("no", 0)]
)
def test_a_snooze_is_a_length_or_off(said: str, until: int) -> None:
    """It ends that long from now; off is none."""
    assert snoozed_until(said, now=at("12:00:00")) == (until and at("12:00:00") + until)


@pytest.mark.parametrize("said", ["8d", "5s", "soon", "", "-1h"])
def test_another_snooze_is_refused(said: str) -> None:
    """What is no length, or none that a snooze may have, is refused."""
    with pytest.raises(Refused) as no:
        snoozed_until(said, now=0)
    assert no.value.code == "invalid_argument"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("22:00-07:00", "22:00-07:00"),
        ("22-7", "22:00-07:00"),
        (" 9:05 to 12 ", "09:05-12:00"),
        ("0\u201323:59", "00:00-23:59"),
        ("off", ""),
        (" NONE ", ""),
    ],
)
def test_quiet_hours_are_kept_in_one_form(said: str, kept: str) -> None:
    """However they were written; off is none."""
    assert quiet_hours(said) == kept


@pytest.mark.parametrize(
    "said", ["", "22:00", "24-7", "22:60-7", "7-7", "07:00-7", "22:00-07:00 UTC", "\u0662-7", "a-b", "22--7"]
)
def test_other_quiet_hours_are_refused(said: str) -> None:
    """What is no two different times of the day is refused, and what was said is shown."""
    with pytest.raises(Refused) as no:
        quiet_hours(said)
    assert (no.value.code, no.value.facts["argument"]) == ("invalid_argument", "hours")
