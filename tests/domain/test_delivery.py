"""Who gets a card: the named, else who is on call, else everybody, and nobody whom no message reaches."""

from itertools import product
from typing import get_args

import pytest

from store.domain.copy import Copy, State
from store.domain.delivery import delivered, is_named, wanted
from store.domain.reach import Reach


def person(name: str, *, on_call: bool = False, paired: bool = True, lost: bool = False) -> Reach:
    """Somebody who may decide."""
    return Reach(id=f"human:{name}", account=7 if paired else 0, on_call=on_call, lost=1 if lost else 0)


ANA, BO = person("ana"), person("bo")
CY = person("cy", on_call=True)
AWAY = person("away", on_call=True, lost=True)
ALONE = person("alone", on_call=True, paired=False)


@pytest.mark.parametrize(
    ("people", "named", "to"),
    [
        ((), False, ""),
        ((ANA, BO), False, "ana bo"),
        ((ANA, BO, CY), False, "cy"),
        ((ANA, BO, CY), True, "ana bo cy"),
        ((ANA, AWAY), False, "ana"),
        ((ANA, BO, AWAY, ALONE), False, "ana bo"),
        ((AWAY, CY, ANA), False, "cy"),
        ((AWAY, ANA), True, "ana"),
        ((AWAY, ALONE), False, ""),
        ((AWAY, ALONE), True, ""),
    ],
)
def test_who_is_asked(people: tuple[Reach, ...], named: bool, to: str) -> None:
    """Named people all get it; else those on call, and if none of them can be reached, at once everybody else."""
    assert wanted(people, named=named) == tuple(f"human:{name}" for name in to.split())


@pytest.mark.parametrize(
    ("one", "other", "named"), list(product((ANA, CY, AWAY, ALONE), (BO, CY, AWAY, ALONE), (False, True)))
)
def test_whoever_is_reached_somebody_is_asked(one: Reach, other: Reach, named: bool) -> None:
    """Somebody gets it exactly when somebody can be reached, and whoever does can be."""
    asked = wanted((one, other), named=named)
    assert bool(asked) is (one.live or other.live)
    assert all(each.live for each in (one, other) if each.id in asked)


@pytest.mark.parametrize(
    ("approvers", "named"),
    [
        (("role:approver",), False),
        (("role:owner",), False),
        (("human:ana", "role:owner"), False),
        (("human:ana",), True),
        (("human:ana", "human:bo"), True),
    ],
)
def test_an_ask_names_people_or_a_role(approvers: tuple[str, ...], named: bool) -> None:
    """Where a role is among them, others may be asked in somebody's place; else never."""
    assert is_named(approvers) is named


def copy(state: State, *, to: str = "human:ana", chat: int = 7, opened: int = 0) -> Copy:
    """A copy that has come so far."""
    return Copy(token="t", ref="ask:a", to=to, chat=chat, state=state, opened=opened)


TOLD = {"pending": "queued", "sending": "queued"}  # how far a copy has come, where it is told in another word


@pytest.mark.parametrize("state", get_args(State))
def test_each_state_of_a_copy_is_told(state: State) -> None:
    """Of one copy it is told how far it has come; once it was opened, that."""
    assert delivered([ANA], wanted=["human:ana"], copies=[copy(state)]) == {"human:ana": TOLD.get(state, state)}
    assert delivered([ANA], wanted=[], copies=[copy(state, opened=5)]) == {"human:ana": "opened"}


@pytest.mark.parametrize(("one", "other"), list(product(get_args(State), repeat=2)))
def test_of_two_copies_the_better_is_told(one: State, other: State) -> None:
    """Whoever has one that arrived has it, whatever became of another, in whichever order they were sent."""
    told = delivered([ANA], wanted=[], copies=[copy(one), copy(other)])
    assert told == delivered([ANA], wanted=[], copies=[copy(other), copy(one)])
    assert told["human:ana"] in (TOLD.get(one, one), TOLD.get(other, other))
    if "sent" in (one, other):
        assert told == {"human:ana": "sent"}


def test_who_is_to_get_one_is_queued_and_who_is_not_is_left_out() -> None:
    """Before a copy was sent it is queued for those who are wanted; nobody else is named."""
    assert delivered([ANA, BO], wanted=["human:bo"], copies=[]) == {"human:bo": "queued"}
    others = [copy("sent", to="human:cy"), copy("sent", to="human:bo", chat=8)]  # to an account that they had before
    assert delivered([ANA, BO], wanted=[], copies=others) == {}


def test_who_cannot_be_shown_it_is_told_as_failed() -> None:
    """Before and after a copy failed; one that was opened all the same is told as that, and nobody else is touched."""
    told = delivered([ANA, BO], wanted=["human:bo"], copies=[], unshown=["human:ana"])
    assert told == {"human:ana": "failed", "human:bo": "queued"}
    opened = [copy("failed"), copy("sent", opened=5)]
    assert delivered([ANA], wanted=[], copies=opened, unshown=["human:ana"]) == {"human:ana": "opened"}


def test_whom_nothing_reaches_is_unreachable() -> None:
    """Who has blocked the bot is told to be unreachable, though a copy arrived before; who was never paired is not."""
    lost = person("ana", lost=True)
    assert delivered([lost], wanted=[], copies=[copy("sent", opened=5)]) == {"human:ana": "unreachable"}
    assert delivered([ALONE], wanted=[], copies=[]) == {}
