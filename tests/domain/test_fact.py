"""Facts: until when one holds, what takes its place, and how it stands."""

from dataclasses import replace

import pytest

from store.domain.document import Index
from store.domain.errors import Refused
from store.domain.fact import REVIEW, Fact, review, reviewed, standing, supersede
from store.domain.moments import DAY, MINUTE, iso

NOW = 1_796_000_000_000
OLD, NEW = "fa_0000000001", "fa_0000000002"
FACT = Fact(id=OLD, by="agent:grok", where="job:x", made=NOW - DAY, first=OLD, review_by=NOW + DAY)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("", NOW + 90 * DAY),
        ("1d", NOW + DAY),
        ("30 days", NOW + 30 * DAY),
        (86_400, NOW + DAY),
        (iso(NOW + 2 * DAY), NOW + 2 * DAY),
        (" never ", 0),
        ("NEVER", 0),
        ("2027-03-01", 1_803_859_200_000),
    ],
)
def test_a_review_is_a_length_a_time_a_day_or_never(said: object, at: int) -> None:
    """90 days unless said."""
    assert review(said, now=NOW) == at


@pytest.mark.parametrize("said", ["23h", "1831d", "2026-11-30", "nevermore", None, True, "2027-02-30"])
def test_a_review_has_bounds(said: object) -> None:
    """From a day to five years, and what can be read."""
    with pytest.raises(Refused) as no:
        review(said, now=NOW)
    assert (no.value.code, no.value.facts["argument"]) == ("invalid_argument", "review_by")


def test_what_was_decided_is_never_reviewed_unless_said() -> None:
    """With nothing said the usual length counts, and 0 is never."""
    assert review("", now=NOW, usual=0) == 0
    assert review("30d", now=NOW, usual=0) == NOW + 30 * DAY
    assert (reviewed(0), reviewed(NOW)) == ("never", iso(NOW))
    assert REVIEW[0] == DAY


def test_the_indexes_have_what_stands() -> None:
    """The newest of its line, that it is known, and when it is due, till that was said; of a superseded one nothing."""
    stands = [Index("newest", OLD, FACT.made), Index("known", "", FACT.made)]
    due = [*stands, Index("facts", "agent:grok", NOW + DAY)]
    assert list(FACT.indexes()) == [*due, Index("review", "", NOW + DAY)]
    assert list(replace(FACT, reminded=NOW + DAY).indexes()) == due
    assert list(replace(FACT, review_by=0).indexes()) == stands
    assert not list(replace(FACT, superseded_by=NEW).indexes())


def test_superseding_marks_once() -> None:
    """The old one names the new one and when; a second is stale, and told which stands."""
    old = supersede(FACT, new=NEW, newest=OLD, now=NOW)
    assert old == replace(FACT, superseded_by=NEW, superseded_at=NOW)
    with pytest.raises(Refused) as no:
        supersede(old, new="fa_0000000004", newest="fa_0000000003", now=NOW + 3 * MINUTE)
    assert no.value.code == "stale"
    assert no.value.facts == {"newest": "fa_0000000003", "superseded_by": NEW}
    assert "superseded 3 min ago, and fa_0000000003 stands now. Nothing was written." in no.value.message


def test_it_is_due_after_its_review_until_it_is_superseded() -> None:
    """Never if it is never reviewed."""
    assert not FACT.due(NOW + DAY)
    assert FACT.due(NOW + DAY + 1)
    assert not replace(FACT, superseded_by=NEW).due(NOW + 2 * DAY)
    assert not replace(FACT, review_by=0).due(NOW + 2 * DAY)


def test_how_it_stands_is_said_with_what_to_call() -> None:
    """Current needs nothing; what is due is renewed; what was superseded leads to the newest."""
    current = standing(FACT, NOW)
    assert (current["status"], "next" in current, "stale" in current) == ("current", False, False)
    due = standing(FACT, NOW + DAY + 1)
    assert (due["status"], due["stale"], due["next"]["args"]["supersedes"]) == ("due", True, OLD)
    gone = standing(replace(FACT, superseded_by=NEW), NOW + 9 * DAY, newest="fa_0000000003")
    assert (gone["status"], gone["superseded_by"], gone["newest"]) == ("superseded", NEW, "fa_0000000003")
    assert gone["next"]["args"] == {"what": "fa_0000000003"}
    assert "stale" not in gone
