"""The order of what was recalled."""

import pytest

from store.domain.entry import Entry, Logged
from store.domain.fact import Fact
from store.domain.hit import SUPERSEDED, Found, in_order


def found(seq: int, score: float, *, chain: str = "", superseded: bool = False) -> Found:
    """An entry that was found, and the fact that it made where it is one of a chain."""
    entry = Entry(where="channel:x", kind="fact", by="agent:grok", via="token", client="", summary="x")
    by = f"fa_{seq + 1}" if superseded else ""
    fact = Fact(id=f"fa_{seq}", by="agent:grok", where="channel:x", made=seq, first=chain, superseded_by=by)
    return Found(Logged(id=f"1000-{seq}", entry=entry), fact if chain else None, score)


def order(*some: Found) -> list[int]:
    """The numbers of these in their order."""
    return [each.said.seq for each in in_order(some)]


def test_the_best_come_first_and_of_equals_the_newest() -> None:
    """Where nothing supersedes anything."""
    assert order(found(1, 0.5), found(2, 0.9), found(3, 0.5)) == [2, 3, 1]


@pytest.mark.parametrize("scores", [(0.9, 0.2, 0.3, 0.0), (0.1, 0.2, 0.3, 0.4), (0.0, 0.9, 0.0, 0.0)])
def test_a_chain_stands_newest_first(scores: tuple[float, ...]) -> None:
    """Whichever of it has the words; what stands comes where the best of it would."""
    *old, stands = scores
    chain = [found(n, score, chain="fa_1", superseded=True) for n, score in enumerate(old, 1)]
    chain.append(found(4, stands, chain="fa_1"))
    assert order(*chain) == [4, 3, 2, 1]
    best = max(scores)
    assert order(*chain, found(9, best - 0.01))[:2] == [4, 9]
    assert order(*chain, found(9, best + 0.01))[:2] == [9, 4]


def test_the_superseded_come_after_what_is_nearly_as_good() -> None:
    """They have less of their score, also where what supersedes them is not there."""
    old = found(1, 1.0, chain="fa_1", superseded=True)
    assert order(old, found(2, SUPERSEDED + 0.01)) == [2, 1]
    assert order(old, found(2, SUPERSEDED - 0.01)) == [1, 2]


def test_chains_do_not_mix() -> None:
    """Each has its own best."""
    a, b = found(1, 0.9, chain="fa_1", superseded=True), found(2, 0.3, chain="fa_2", superseded=True)
    assert order(a, b, found(3, 0.0, chain="fa_1"), found(4, 0.0, chain="fa_2")) == [3, 1, 4, 2]
