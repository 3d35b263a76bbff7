"""The inspection of a space: a part at a time, through each index, round and round."""

from store.domain.document import Index
from store.domain.inspection import KEPT, PART, ROUND, Inspection, went_on

NOW = 1_796_000_000_000


def test_it_goes_through_each_index_and_begins_anew() -> None:
    """Behind the last member while there are more, else in the next index; a whole round is kept."""
    one = went_on(Inspection(id="space", next=NOW), ["a"], seen=200, after="5:1", indexes=2, now=NOW)
    assert (one.index, one.after, one.seen, one.found, one.next) == (0, "5:1", 200, ("a",), NOW + PART)
    two = went_on(one, [], seen=3, after="", indexes=2, now=NOW + 1)
    assert (two.index, two.after, two.seen, two.count, two.ended) == (1, "", 203, 1, 0)
    three = went_on(two, ["b", "c"], seen=4, after="", indexes=2, now=NOW + 2)
    assert three == Inspection(
        id="space", next=NOW + 2 + ROUND, ended=NOW + 2, looked=207, last=("a", "b", "c"), last_count=3
    )
    assert list(three.indexes()) == [Index("inspect", "", three.next)]
    again = went_on(three, [], seen=1, after="", indexes=2, now=NOW + 3)
    assert (again.last, again.last_count, again.ended) == (("a", "b", "c"), 3, NOW + 2)


def test_what_is_found_is_bounded_and_counted() -> None:
    """Twenty are kept, and how many there are."""
    many = [str(n) for n in range(100)]
    found = went_on(Inspection(id="space", next=NOW), many, seen=100, after="1:1", indexes=1, now=NOW)
    assert (len(found.found), found.count) == (KEPT, 100)
