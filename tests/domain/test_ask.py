"""Asks: every step that there is and every one that there is not, who may take it, and what time brings."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from store.domain.ask import (
    STEPS,
    Ask,
    answered_back,
    ask_back,
    check_approver,
    check_eligible,
    decide,
    eligible,
    new,
    redeem,
    step,
    take_back,
    told,
    withdraw,
)
from store.domain.errors import Refused
from store.domain.moments import DAY, HOUR, MINUTE, iso

MADE, DEADLINE = 1_000_000, 1_000_000 + HOUR
SETTLED = MADE + 10 * MINUTE
DIGEST = "d" * 64
STATES = ("pending", "approved", "rejected", "answered", "expired", "withdrawn", "redeemed", "lapsed", "taken_back")
EVENTS = ("approve", "reject", "answer", "expire", "withdraw", "redeem", "lapse", "take_back")
PENDING = Ask(
    id="ask_x", by="agent:grok", where="job:x", allow=("approve", "reject", "answer"), digest=DIGEST, content="c",
    responsible="human:ana", made=MADE, deadline=DEADLINE, valid_for=HOUR,
)  # fmt: skip
WAY: dict[str, tuple[str, ...]] = {
    "pending": (),
    "approved": ("approve",),
    "rejected": ("reject",),
    "answered": ("answer",),
    "expired": ("expire",),
    "withdrawn": ("withdraw",),
    "redeemed": ("approve", "redeem"),
    "lapsed": ("approve", "lapse"),
    "taken_back": ("approve", "take_back"),
}
NOT_PENDING = dict.fromkeys(STATES[1:], "already_settled") | {"expired": "expired"}
NOT_APPROVED = {state: "not_approved" for state in STATES if state != "approved"} | {
    "redeemed": "already_redeemed",
    "lapsed": "lapsed",
    "taken_back": "taken_back",
}


def ask(state: str, **more: Any) -> Ask:
    """The ask in this state, settled by bo a while before its deadline."""
    found = replace(PENDING, **more)
    for event in WAY[state]:
        found = step(found, event, at=SETTLED, by="human:bo")
    return found


def refused(act: Callable[[], Any]) -> Refused:
    """The refusal of what has to be refused."""
    with pytest.raises(Refused) as no:
        act()
    return no.value


@pytest.mark.parametrize(("state", "event"), list(product(STATES, EVENTS)))
def test_every_step_is_in_the_table_or_raises(state: str, event: str) -> None:
    """A step gives the state of the table; one that is not there cannot be taken."""
    before = ask(state)
    if (state, event) not in STEPS:
        with pytest.raises(KeyError):
            step(before, event, at=DEADLINE)
        return
    after = step(before, event, at=DEADLINE, by="human:bo")
    assert after.state == STEPS[state, event]
    if state == "pending":
        assert (after.settled, after.settled_by, after.content, after.questioned) == (DEADLINE, "human:bo", "", False)
    else:
        assert replace(after, state=state) == before


def test_the_table_has_these_steps_and_no_others() -> None:
    """Pending has five ways out and approved three; every other state is an end."""
    assert set(WAY) == set(STATES) == {"pending", *STEPS.values()}
    assert [state for state, _ in STEPS] == ["pending"] * 5 + ["approved"] * 3


@pytest.mark.parametrize(("state", "verdict"), list(product(STATES, ("approve", "reject", "answer"))))
def test_only_a_pending_ask_is_decided(state: str, verdict: str) -> None:
    """A verdict settles what is pending; any other state is told as it is."""

    def act() -> Ask:
        return decide(ask(state), verdict, by="human:cy", via="console", assurance="session", shown=DIGEST, now=SETTLED)

    if state == "pending":
        assert (act().state, act().settled_by, act().via) == (STEPS[state, verdict], "human:cy", "console")
        return
    assert refused(act).code == NOT_PENDING[state]


ACTS: tuple[tuple[str, dict[str, str], Callable[[Ask], Ask]], ...] = (
    ("withdrawn", NOT_PENDING, lambda a: withdraw(a, by=a.by, now=SETTLED)),
    ("pending", NOT_PENDING, lambda a: ask_back(a, now=SETTLED)),
    ("redeemed", NOT_APPROVED, lambda a: redeem(a, by=a.by, now=SETTLED)),
    ("taken_back", NOT_APPROVED, lambda a: take_back(a, by="human:cy", now=SETTLED)),
)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(("result", "codes", "act"), ACTS)
def test_each_act_changes_its_own_state_alone(
    state: str, result: str, codes: dict[str, str], act: Callable[[Ask], Ask]
) -> None:
    """Withdrawing and asking back take a pending ask, redeeming and taking back an approved one."""
    if state in codes:
        assert refused(lambda: act(ask(state))).code == codes[state]
    else:
        assert act(ask(state)).state == result


@pytest.mark.parametrize("state", STATES)
def test_somebody_else_learns_only_whose_it_is(state: str) -> None:
    """Who is not the requester is told so before anything else, whatever the payload and the state."""
    fault = Refused("digest_mismatch", "It differs.")
    assert refused(lambda: redeem(ask(state), by="agent:codex", now=SETTLED, fault=fault)).code == "not_yours"
    assert refused(lambda: withdraw(ask(state), by="agent:codex", now=SETTLED)).code == "not_yours"


@pytest.mark.parametrize("state", STATES)
def test_a_payload_that_differs_comes_before_the_state(state: str) -> None:
    """Who, then the payload, then the state."""
    fault = Refused("digest_mismatch", "It differs.")
    assert refused(lambda: redeem(ask(state), by=PENDING.by, now=SETTLED, fault=fault)) is fault


def test_a_verdict_binds_to_the_digest_and_to_what_is_allowed() -> None:
    """Without the digest, with another, or with a verdict that the ask does not take, nothing is decided."""
    how: dict[str, Any] = {"by": "human:bo", "via": "console", "assurance": "session", "now": MADE}
    assert refused(lambda: decide(PENDING, "approve", shown="", **how)).code == "digest_required"
    assert refused(lambda: decide(PENDING, "approve", shown="e" * 64, **how)).code == "digest_mismatch"
    narrow = replace(PENDING, allow=("approve", "reject"))
    assert refused(lambda: decide(narrow, "answer", shown=DIGEST, **how)).facts["argument"] == "verdict"


def test_time_ends_what_nobody_ended() -> None:
    """At the deadline an ask is still pending and an approval still good; one ms later neither is."""
    assert PENDING.as_of(DEADLINE).state == "pending"
    late = PENDING.as_of(DEADLINE + 1)
    assert (late.state, late.settled, late.settled_by) == ("expired", DEADLINE, "")
    approved = ask("approved")
    assert approved.as_of(approved.lapses).state == "approved"
    over = approved.as_of(approved.lapses + 1)
    assert (over.state, over.closed) == ("lapsed", approved.lapses)
    for state in STATES[2:]:
        assert ask(state).as_of(DEADLINE + 30 * DAY) == ask(state)


def test_acts_are_judged_at_their_time() -> None:
    """What time has ended is refused as such, although nothing was written down."""
    late: dict[str, Any] = {"now": DEADLINE + 1}
    how: dict[str, Any] = {"by": "human:bo", "via": "console", "assurance": "session", "shown": DIGEST}
    assert refused(lambda: decide(PENDING, "approve", **how, **late)).code == "expired"
    assert refused(lambda: withdraw(PENDING, by=PENDING.by, **late)).code == "expired"
    assert refused(lambda: ask_back(PENDING, **late)).code == "expired"
    approved = ask("approved")
    assert refused(lambda: redeem(approved, by=PENDING.by, now=approved.lapses + 1)).code == "lapsed"
    assert refused(lambda: take_back(approved, by="human:bo", now=approved.lapses + 1)).code == "lapsed"


@pytest.mark.parametrize(
    ("approvers", "by", "roles", "may"),
    [
        (("role:approver",), "human:bo", ("approver",), True),
        (("role:approver",), "human:ow", ("owner", "approver"), True),
        (("role:approver",), "human:ex", ("owner",), False),
        (("role:approver",), "human:cy", ("member",), False),
        (("role:owner",), "human:bo", ("approver",), False),
        (("human:bo",), "human:bo", ("approver",), True),
        (("human:bo",), "human:ow", ("owner", "approver"), False),
    ],
)
def test_who_was_named_may_decide(approvers: tuple[str, ...], by: str, roles: tuple[str, ...], may: bool) -> None:
    """A person is eligible by name or by a role that they have now."""
    assert eligible(replace(PENDING, approvers=approvers), by=by, roles=roles, four_eyes=False) == may


@pytest.mark.parametrize(
    ("risk", "four_eyes", "by", "link_by", "says"),
    [
        ("high", True, "human:bo", "", ""),
        ("high", True, "human:bo", "human:cy", ""),
        ("high", True, "human:ana", "", "answers for the key"),
        ("high", True, "human:ana", "human:bo", "answers for the key"),
        ("high", True, "human:bo", "human:ana", "made the sign-in link"),
        ("high", False, "human:bo", "human:ana", ""),
        ("high", False, "human:ana", "", ""),
        ("normal", True, "human:bo", "human:ana", ""),
    ],
)
def test_four_eyes_are_those_of_two(risk: str, four_eyes: bool, by: str, link_by: str, says: str) -> None:
    """Neither who answers for the key nor a session by a link that they made is a second pair of eyes."""
    how: dict[str, Any] = {"by": by, "roles": ("approver",), "four_eyes": four_eyes, "link_by": link_by}
    asked = replace(PENDING, risk=risk)
    assert eligible(asked, **how) == (not says)
    if says:
        no = refused(lambda: check_eligible(asked, **how))
        assert no.code == "not_an_approver"
        assert says in no.message
    else:
        check_eligible(asked, **how)


def test_a_key_that_nobody_answers_for_shuts_nobody_out() -> None:
    """Without a responsible person there is no first pair of eyes to compare with."""
    asked = replace(PENDING, risk="high", responsible="")
    assert eligible(asked, by="human:bo", roles=("approver",), four_eyes=True, link_by="")


def test_any_approver_may_make_an_ask_safer() -> None:
    """Asking back and taking back take the role alone."""
    check_approver(by="human:bo", roles=("owner", "approver"))
    assert refused(lambda: check_approver(by="human:ex", roles=("owner",))).code == "not_an_approver"


def test_a_question_waits_until_the_requester_answers() -> None:
    """Asking back marks the ask; only its requester's answer clears the mark."""
    waiting = ask_back(PENDING, now=MADE)
    assert (waiting.questioned, waiting.deadline) == (True, DEADLINE)
    assert answered_back(waiting, by="agent:codex") is None
    assert answered_back(PENDING, by=PENDING.by) is None
    assert answered_back(waiting, by=PENDING.by) == PENDING


def begun(**more: Any) -> Ask:
    """A new ask with these wishes."""
    wishes: dict[str, Any] = {
        "id": "ask_x", "by": "agent:grok", "where": "job:x", "responsible": "human:ana", "risk": "normal",
        "options": (), "allow": (), "approvers": (), "quorum": 1, "expires_in": "", "valid_for": "", "now": MADE,
    }  # fmt: skip
    return new(**(wishes | more))


def test_a_new_ask_has_the_usual_where_nothing_is_said() -> None:
    """A day to decide; an approval is good for a day, at high risk for an hour; any approver, approve or reject."""
    usual = begun()
    assert (usual.deadline, usual.valid_for) == (MADE + DAY, DAY)
    assert (usual.approvers, usual.allow) == (("role:approver",), ("approve", "reject"))
    assert begun(risk="high").valid_for == HOUR
    assert begun(options=("a", "b")).allow == ("reject", "answer")
    assert begun(allow=("answer", "approve")).allow == ("approve", "reject", "answer")


def test_a_new_ask_takes_a_length_or_a_time() -> None:
    """`2h` and the time that is two hours away are the same deadline."""
    assert begun(expires_in="2h").deadline == begun(expires_in=iso(MADE + 2 * HOUR)).deadline == MADE + 2 * HOUR
    assert begun(expires_in=300).deadline == MADE + 5 * MINUTE
    assert begun(expires_in="7 days").deadline == MADE + 7 * DAY


def test_approvers_are_each_named_once() -> None:
    """People and roles, with or without their prefix."""
    named = begun(approvers=["bo", "human:bo", "owner", "role:owner", "role:approver"]).approvers
    assert named == ("human:bo", "role:owner", "role:approver")


@pytest.mark.parametrize(
    ("argument", "wishes"),
    [
        ("risk", {"risk": "extreme"}),
        ("quorum", {"quorum": 2}),
        ("options", {"options": ["a", "a"]}),
        ("options", {"options": [" "]}),
        ("options", {"options": ["x" * 201]}),
        ("options", {"options": [str(n) for n in range(9)]}),
        ("allow", {"allow": ["edit"]}),
        ("allow", {"allow": ["bless"]}),
        ("approvers", {"approvers": ["agent:grok"]}),
        ("expires_in", {"expires_in": "299 s"}),
        ("expires_in", {"expires_in": 0}),
        ("expires_in", {"expires_in": "8 days"}),
        ("expires_in", {"expires_in": iso(MADE)}),
        ("valid_for", {"valid_for": "25h"}),
        ("valid_for", {"valid_for": "2h", "risk": "high"}),
        ("valid_for", {"valid_for": "59 s"}),
    ],
)
def test_what_no_ask_can_be_is_refused(argument: str, wishes: dict[str, Any]) -> None:
    """Each is named by its argument."""
    assert refused(lambda: begun(**wishes)).facts["argument"] == argument


def test_an_ask_stands_in_the_indexes_of_its_state() -> None:
    """What waits, and what its requester has to hear; of a settled one the list has a single member."""
    named = ("role:approver", "human:bo")
    found = {state: {i.name for i in ask(state, approvers=named).indexes()} for state in STATES}
    assert found == {
        "pending": {"inbox", "asked", "same", "due", "remind"},
        "approved": {"settled", "verdicts", "due"},
        **{state: {"settled", "verdicts"} for state in ("rejected", "answered", "expired", "taken_back")},
        **{state: {"settled"} for state in ("withdrawn", "redeemed", "lapsed")},
    }
    assert [i.owner for i in ask("rejected", approvers=named).indexes() if i.name == "settled"] == [""]
    assert "verdicts" not in {i.name for i in ask("rejected", told=SETTLED).indexes()}


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_told_in_a_sentence(state: str) -> None:
    """Who, what and when; expiry is nobody's no."""
    said = told(replace(ask(state), via="console", closed_by="human:cy"), now=SETTLED + MINUTE)
    assert said.endswith(".")
    assert ("nobody had decided" in said) == (state == "expired")
    assert ("in the console" in said) == (state in ("approved", "rejected", "answered"))
