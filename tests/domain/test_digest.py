"""The digest of a day: which days have one, and how it reads."""

from dataclasses import replace

import pytest

from store.domain.digest import Day, Digest, began, has_digest, payload, summary
from store.domain.document import Index
from store.domain.occurrence import Occurrence

DAY = "2026-11-30"
HELD = Occurrence(id=f"{DAY}:morning", opens=1, late=2, closes=3, state="held", expected=2, came=2)
NOBODY = replace(HELD, id=f"{DAY}:midday", state="skipped", reason="nobody_expected", expected=0, came=0)
MISSED = replace(HELD, id=f"{DAY}:closeout", state="missed", came=1, missing=("agent:grok",))


@pytest.mark.parametrize(
    ("reason", "has"), [("", True), ("nobody_expected", True), ("paused", True), ("down", True), ("day_off", False)]
)
def test_which_days_have_one(reason: str, has: bool) -> None:
    """All but days off; whether there is something to tell is another question."""
    state = "skipped" if reason else "missed"
    assert has_digest(replace(MISSED, state=state, reason=reason)) is has


def test_a_quiet_day() -> None:
    """What only goes on waiting is no news; a sync, a decision or a fact is."""
    assert Day(syncs=[NOBODY], waiting=3, blocked=["agent:a"], entries=9).quiet
    for day in (Day(syncs=[HELD]), Day(asks={"approved": 1}), Day(facts=1)):
        assert not day.quiet


def test_how_it_reads() -> None:
    """Each sync in a sentence, what ended, what waits, who is blocked up to five of them."""
    of = Day(
        syncs=[HELD, NOBODY, MISSED],
        asks={"taken_back": 1, "approved": 2},
        waiting=1,
        facts=2,
        entries=120,
        blocked=[f"agent:a{n}" for n in range(7)],
    )
    assert summary(DAY, of) == (
        "2026-11-30: Morning was held: all 2 were in on time. Midday was skipped: nobody was expected. "
        "Closeout was missed: agent:grok never came. Asks that ended: 2 approved, 1 taken back. "
        "1 ask waits for a decision. 2 new facts. "
        "Blocked: agent:a0, agent:a1, agent:a2, agent:a3, agent:a4 and 2 more. 120 entries."
    )
    said = payload(DAY, of)
    assert said["syncs"] == {"morning": "held", "midday": "nobody_expected", "closeout": "missed"}
    assert (said["asks"], len(said["blocked"])) == ({"taken_back": 1, "approved": 2}, 5)


def test_it_waits_until_it_is_told() -> None:
    """It stands in the index of those that are due, and once told in none; its day begins at midnight in the zone."""
    digest = Digest(id=DAY, since=began(DAY, zone="America/New_York"), until=9, due=7)
    assert list(digest.indexes()) == [Index("digests", "", 7)]
    assert not list(replace(digest, due=0).indexes())
    assert digest.since == 1_796_014_800_000
