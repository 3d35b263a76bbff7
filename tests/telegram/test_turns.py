"""Whose turn it is: pure, so a flood is a loop, and what each of those who wait gets can be counted."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turns import ASK, CHANGE, KEPT, NOTICE, REMINDER, REPLY, SHARES, Place, Turns

Job = str
Queue = Turns[Job, str]


def waiting(*places: tuple[int, str, Job], until: int = 0) -> Queue:
    """Turns for which these wait: kind, who asks, what."""
    turns = Queue()
    for kind, by, job in places:
        turns.put(Place(kind, job, by, until=until))
    return turns


def taken(turns: Queue, count: int = 1000) -> Iterable[Place[Job, str]]:
    """One after the other, each of which has its turn."""
    for _ in range(count):
        if place := turns.next():
            turns.took(place)
            yield place


def jobs(turns: Queue, count: int = 1000) -> list[Job]:
    """What goes, in order."""
    return [place.job for place in taken(turns, count)]


def flooded(kinds: Iterable[int], count: int) -> Counter[int]:
    """How many turns each kind had of so many, where more of each waits than can ever go."""
    turns = waiting(*((kind, "x", "") for kind in kinds for _ in range(count)))
    return Counter(place.kind for place in taken(turns, count))


FLOODS: tuple[tuple[tuple[int, ...], int, dict[int, int]], ...] = (
    ((ASK, CHANGE), 10, {ASK: 5, CHANGE: 5}),
    ((ASK, REMINDER), 50, {ASK: 40, REMINDER: 10}),
    ((REPLY, CHANGE, ASK), 60, {REPLY: 40, CHANGE: 10, ASK: 10}),
    ((ASK, CHANGE, NOTICE), 50, {ASK: 20, CHANGE: 20, NOTICE: 10}),
    (tuple(SHARES), 270, {REPLY: 160, CHANGE: 40, ASK: 40, NOTICE: 20, REMINDER: 10}),
)


@pytest.mark.parametrize(("kinds", "count", "had"), FLOODS)
def test_each_kind_has_its_share(kinds: tuple[int, ...], count: int, had: dict[int, int]) -> None:
    """However much waits of all of them."""
    assert flooded(kinds, count) == had


def test_the_shares_are_those_that_are_told() -> None:
    """The table in the guide is the one in the code."""
    guide = (Path(__file__).parents[2] / "docs" / "telegram.md").read_text()
    told = guide.partition("| kind | share |")[2].partition("\n\n")[0]
    assert [int(row.split("|")[2]) for row in told.split("\n")[2:]] == list(SHARES.values())


def test_a_change_waits_for_one_ask_at_most() -> None:
    """Into a flood of asks comes a change: of the next two turns one is its own."""
    turns = waiting(*((ASK, "evil", "spam") for _ in range(100)))
    assert jobs(turns, 20) == ["spam"] * 20
    turns.put(Place(CHANGE, "buttons gone", "codex"))
    assert "buttons gone" in jobs(turns, 2)


def test_replies_go_first() -> None:
    """To what a person did; and not even those keep a change from its turn for ever."""
    turns = waiting((REMINDER, "a", "late"), (ASK, "a", "ask"), (CHANGE, "a", "change"), (REPLY, "a", "reply"))
    assert jobs(turns) == ["reply", "change", "ask", "late"]
    turns = waiting(*((REPLY, "a", "reply") for _ in range(100)))
    turns.put(Place(CHANGE, "change", "a"))
    assert jobs(turns, 5).count("change") == 1


def test_who_asks_takes_turns_within_a_kind() -> None:
    """One agent's flood delays its own: another's first comes next, its second after one of the flood's."""
    turns = waiting(*((ASK, "evil", f"spam {n}") for n in range(5)))
    assert jobs(turns, 2) == ["spam 0", "spam 1"]
    for n in range(2):
        turns.put(Place(ASK, f"good {n}", "codex"))
    assert jobs(turns) == ["good 0", "spam 2", "good 1", "spam 3", "spam 4"]


def test_of_one_who_asks_what_lasts_the_shortest_first() -> None:
    """And of what lasts as long, what came first; who never had a turn goes by the same."""
    turns = Queue()
    for until, by, job in ((30, "a", "a30"), (10, "a", "a10"), (20, "b", "b20"), (10, "a", "a10 too"), (5, "c", "c5")):
        turns.put(Place(ASK, job, by, until=until))
    assert jobs(turns) == ["c5", "a10", "b20", "a10 too", "a30"]


def test_nothing_is_saved_up() -> None:
    """A kind that did not wait for long has two turns in a row, and then no more than any other."""
    turns = waiting(*((ASK, "a", "ask") for _ in range(100)))
    jobs(turns, 50)
    for _ in range(50):
        turns.put(Place(CHANGE, "change", "a"))
    assert jobs(turns, 2) == ["change", "change"]
    assert jobs(turns, 20).count("change") == 10


def test_who_is_not_ready_is_passed_over_and_saves_nothing_up() -> None:
    """Its kind has its share again from when it can go, and no more."""
    turns = waiting(*((ASK, "busy", "ask") for _ in range(30)), *((REMINDER, "free", "late") for _ in range(30)))
    for _ in range(10):
        place = turns.next(lambda by: by == "free")
        assert place
        assert place.job == "late"
        turns.took(place)
    assert turns.next(lambda by: False) is None
    assert jobs(turns, 10).count("late") == 1
    assert jobs(turns, 10).count("late") == 2


def test_a_place_that_becomes_something_else_keeps_its_number() -> None:
    """An ask that has become a change waits as one, before what came after it; what has gone does not come back."""
    turns = Queue()
    first = Place(ASK, "first", "a")
    turns.put(first)
    for n in range(3):
        turns.put(Place(CHANGE, f"change {n}", "a"))
    first.move(CHANGE, by="a", until=0)
    assert (len(turns), turns.urgent, turns.who) == (4, CHANGE, {"a"})
    assert jobs(turns) == ["first", "change 0", "change 1", "change 2"]
    first.move(ASK, by="b", until=0)
    assert (len(turns), turns.next(), turns.who) == (0, None, set())
    turns.put(first)
    assert turns.drop(first)
    assert not turns.drop(first)
    assert jobs(turns) == []


def test_the_only_place_that_becomes_something_else_still_waits() -> None:
    """Moving it does not lose it."""
    turns = Queue()
    only = Place(ASK, "only", "a")
    turns.put(only)
    only.move(CHANGE, by="a", until=0)
    assert jobs(turns) == ["only"]


def test_what_is_remembered_is_bounded() -> None:
    """However many have had turns, those who still wait keep theirs in mind and the rest is forgotten."""
    turns = waiting((ASK, "stays", "1"), (ASK, "stays", "2"))
    assert jobs(turns, 1) == ["1"]
    for n in range(KEPT + 1):
        turns.put(Place(ASK, "once", f"by {n}"))
        assert jobs(turns, 1) == ["once"]
    turns.put(Place(ASK, "new", "by new"))
    assert jobs(turns) == ["new", "2"]


@given(
    st.lists(
        st.tuples(st.sampled_from(tuple(SHARES)), st.sampled_from("abc"), st.integers(0, 3)) | st.none(), max_size=200
    )
)
def test_everything_goes_once_and_nobody_waits_too_long(moves: list[tuple[int, str, int] | None]) -> None:
    """Whatever comes and goes: all go, each once, and who waits at the head sees every kind and asker at most so often.

    Of a kind with the share s, at most ceil(s / own) + 1 go before it for each of the askers that wait within it.
    """
    turns, came, went = Queue(), 0, []
    for move in moves:
        if move is None:
            went += jobs(turns, 1)
            continue
        kind, by, until = move
        turns.put(Place(kind, str(came), by, until=until))
        came += 1
    marked = Place(REMINDER, "marked", "marked")
    turns.put(marked)
    left = [place.job for place in taken(turns)]
    assert sorted(went + left, key=lambda job: (job == "marked", int(job) if job != "marked" else 0)) == [
        *map(str, range(came)), "marked",
    ]  # fmt: skip
    before = left.index("marked")
    whole = sum(-(-share // SHARES[REMINDER]) + 1 for share in SHARES.values())
    assert before <= 4 * whole
