"""How sure we are that it was the person, and how far a card of theirs has come."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from store.domain.ask import RISKS, VERDICTS
from store.domain.copy import Copy, State
from store.domain.delivery import delivered
from store.domain.errors import Refused
from store.domain.reach import Reach
from store.domain.via import ASSURANCE, check_assurance, is_enough

ANA = Reach(id="human:ana", account=7)
COPY = Copy(token="t", ref="ask:x", to="human:ana", chat=7, message=1)


@pytest.mark.parametrize(("via", "risk", "verdict"), list(product(ASSURANCE, RISKS, VERDICTS)))
def test_high_risk_is_not_approved_on_telegram(via: str, risk: str, verdict: str) -> None:
    """There it is rejected alone; all else goes, wherever people act."""
    enough = is_enough(ASSURANCE[via], risk=risk, verdict=verdict)
    assert enough is ((via, risk) != ("telegram", "high") or verdict == "reject")
    if not enough:
        with pytest.raises(Refused) as no:
            check_assurance(ASSURANCE[via], risk=risk, verdict=verdict)
        assert no.value.code == "assurance_too_low"
    else:
        check_assurance(ASSURANCE[via], risk=risk, verdict=verdict)


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ([], "queued"),
        (["pending"], "queued"),
        (["sending"], "queued"),
        (["sent"], "sent"),
        (["uncertain"], "uncertain"),
        (["failed"], "failed"),
        (["unreachable"], "unreachable"),
        (["uncertain", "sent"], "sent"),
        (["failed", "pending"], "queued"),
        (["unreachable", "failed"], "failed"),
    ],
)
def test_the_best_of_several_copies_counts(states: list[State], told: str) -> None:
    """What one copy has come to, another does not take back; an opened one is the best of all."""
    copies = [replace(COPY, token=str(n), state=state) for n, state in enumerate(states)]
    assert delivered([ANA], wanted=[ANA.id], copies=copies) == {ANA.id: told}
    opened = [*copies, replace(COPY, opened=5)]
    assert delivered([ANA], wanted=[], copies=opened) == {ANA.id: "opened"}
    assert delivered([replace(ANA, lost=5)], wanted=[], copies=opened) == {ANA.id: "unreachable"}


@pytest.mark.parametrize("state", get_args(State))
def test_what_went_elsewhere_tells_nothing(state: State) -> None:
    """A copy in the chat of an earlier account, or of somebody else, is not theirs; who gets none is left out."""
    there = [replace(COPY, state=state, chat=8, opened=5), replace(COPY, state=state, to="human:bo")]
    assert delivered([ANA], wanted=[], copies=there) == {}
    assert delivered([ANA], wanted=[ANA.id], copies=there) == {ANA.id: "queued"}
    assert delivered([Reach(id="human:ana", lost=3)], wanted=[], copies=[]) == {}
