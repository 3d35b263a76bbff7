"""The human gate: asks, decisions, redemption."""

import asyncio
from typing import Any

import pytest

from store.domain.errors import Refused
from tests.world import Result, World

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


async def asked(world: World, **more: Any) -> Result:
    """A pending ask of grok's."""
    args: dict[str, Any] = {"where": "job:release", "summary": "Publish v1?", "payload": {"version": 1}} | more
    return await world.do("agent:grok", "ask", **args)


async def decided(world: World, ask: Result, verdict: str = "approve", who: str = "human:ana", **more: Any) -> Result:
    """The verdict of a person on what was shown."""
    return await world.do(who, "decide", trail=ask["trail"], verdict=verdict, digest=ask["digest"], **more)


async def refused(code: str, call: Any) -> Refused:
    """The refusal of a call that has to be refused with this code."""
    with pytest.raises(Refused) as no:
        await call
    assert no.value.code == code, no.value
    return no.value


async def history(world: World, trail: str, kind: str) -> list[Result]:
    """Entries of a kind on the trail of an ask."""
    found = await world.do("agent:grok", "view", what=trail)
    return [e for e in found["history"] if e["kind"] == kind]


async def test_c20_an_ask_says_at_once_who_was_asked_and_how_they_are_reached(world: World) -> None:
    """The result of an ask has trail, digest, deadline, who was asked and by which way."""
    ask = await asked(world)
    assert ask["trail"].startswith("ask_")
    assert len(ask["digest"]) == 64
    assert ask["status"] == "pending"
    assert {a["who"]: a["reach"] for a in ask["asked"]} == {"human:ana": ["console"], "human:bo": ["console"]}
    assert ask["next"] == {"tool": "logmem_follow", "args": {"what": ask["trail"]}}
    assert "warning" not in ask


async def test_c20_nobody_eligible_is_said_at_once_and_the_ask_stays(empty: World) -> None:
    """In a space without approvers an ask carries a warning and stands all the same."""
    await empty.agent("grok")
    ask = await asked(empty)
    assert ask["warning"] == "no_eligible_approver"
    assert (await empty.do("agent:grok", "view", what=ask["trail"]))["status"] == "pending"


async def test_c20_nobody_reachable_is_said_at_once(empty: World) -> None:
    """An approver without a session is eligible and not reachable."""
    await empty.human("cy", signed_in=False)
    await empty.agent("grok")
    ask = await asked(empty)
    assert ask["warning"] == "no_approver_reachable"
    assert ask["asked"] == [{"who": "human:cy", "reach": []}]


async def test_c20_high_risk_takes_somebody_else_than_the_responsible_person(world: World) -> None:
    """With two approvers the one who answers for the key is not asked about high risk, and cannot decide it."""
    await world.agent("muse", responsible="ana")
    args = {"where": "job:x", "summary": "Drop the table?", "risk": "high"}
    ask = await world.do("agent:muse", "ask", **args)
    assert [a["who"] for a in ask["asked"]] == ["human:bo"]
    await refused("not_an_approver", decided(world, ask, who="human:ana"))
    assert (await decided(world, ask, who="human:bo"))["status"] == "approved"


async def test_c21_two_deciders_one_wins_and_the_others_are_told_who(world: World) -> None:
    """Two people decide both ways at once: one verdict stands, every loser is told whose, what and when."""
    ask = await asked(world)
    tries = [decided(world, ask, v, h) for h in ("human:ana", "human:bo") for v in ("approve", "reject")]
    out = await asyncio.gather(*tries, return_exceptions=True)
    won = [o for o in out if isinstance(o, dict)]
    lost = [o for o in out if isinstance(o, Refused)]
    assert len(won) == 1
    assert {o.code for o in lost} == {"already_settled"}
    assert {(o.facts["by"], o.facts["status"], o.facts["via"]) for o in lost} == {
        (won[0]["by"], won[0]["status"], "console")
    }
    assert all(won[0]["by"] in o.message and "console" in o.message for o in lost)


async def test_c22_a_late_tap_is_told_expired(world: World) -> None:
    """After the deadline a verdict is refused, and the ask is expired, not rejected."""
    ask = await asked(world, expires_in="5 min")
    await world.pass_time(5 * MINUTE + 1)
    no = await refused("expired", decided(world, ask))
    assert "nobody had decided" in no.message
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["status"] == "expired"


async def test_c24_agents_cannot_decide(world: World) -> None:
    """An agent's credential never decides, asks back or takes back, its own ask or another's."""
    ask = await asked(world)
    for who in ("agent:grok", "agent:codex"):
        await refused("humans_only", decided(world, ask, who=who))
        await refused("humans_only", world.do(who, "ask_back", trail=ask["trail"], text="Sure?"))
        await refused("humans_only", world.do(who, "take_back", trail=ask["trail"]))
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["status"] == "pending"


async def test_c28_an_ask_is_never_shown_pending_after_its_deadline(world: World) -> None:
    """Every reader computes expiry from the deadline, whether it was written down or not."""
    ask = await asked(world, expires_in="5 min")
    await world.pass_time(5 * MINUTE + 1)
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["status"] == "expired"
    assert (await world.do("human:ana", "follow", what=ask["trail"], wait=0))["status"] == "expired"
    no = await refused("not_approved", world.do("agent:grok", "redeem", trail=ask["trail"]))
    assert "nobody had decided" in no.message


async def test_c29_a_settled_ask_has_one_decided_entry(world: World) -> None:
    """The entry is the person's, with via, assurance and the digest."""
    ask = await asked(world)
    await decided(world, ask, "reject", reason="Wrong target")
    (entry,) = await history(world, ask["trail"], "decided")
    assert (entry["by"], entry["via"]) == ("human:ana", "console")
    assert entry["payload"] == {
        "digest": ask["digest"],
        "verdict": "reject",
        "assurance": "session",
        "reason": "Wrong target",
    }


async def test_c31_a_hundred_redeems_one_succeeds(world: World) -> None:
    """Of a hundred redeems at once one gets the payload, the others are told it was used."""
    ask = await asked(world)
    await decided(world, ask)
    tries = (world.do("agent:grok", "redeem", trail=ask["trail"]) for _ in range(100))
    out = await asyncio.gather(*tries, return_exceptions=True)
    (won,) = (o for o in out if isinstance(o, dict))
    assert won["payload"] == {"version": 1}
    assert won["decision"]["by"] == "human:ana"
    assert {o.code for o in out if isinstance(o, Refused)} == {"already_redeemed"}


async def test_c31_one_byte_changed_is_refused_and_uses_nothing_up(world: World) -> None:
    """A payload that differs is refused; the approval is still good for the right one."""
    ask = await asked(world, payload={"to": "prod", "n": 1})
    await decided(world, ask)
    for other in ({"to": "prod", "n": 2}, {"to": "prod"}, {"to": "prod", "n": 1, "x": None}, None, "prod"):
        await refused("digest_mismatch", world.do("agent:grok", "redeem", trail=ask["trail"], payload=other))
    done = await world.do("agent:grok", "redeem", trail=ask["trail"], payload={"n": 1, "to": "prod"})
    assert done["status"] == "redeemed"


async def test_c31_the_same_action_gets_the_same_answer_again(world: World) -> None:
    """A redeem whose answer was lost is repeated by its action_id, with the payload."""
    ask = await asked(world)
    await decided(world, ask)
    one = await world.do("agent:grok", "redeem", action_id="r1", trail=ask["trail"])
    two = await world.do("agent:grok", "redeem", action_id="r1", trail=ask["trail"])
    assert two == {**one, "replayed": True}
    await refused("already_redeemed", world.do("agent:grok", "redeem", action_id="r2", trail=ask["trail"]))


async def test_c31_each_state_says_why_nothing_runs(world: World) -> None:
    """Pending, rejected, withdrawn, lapsed and others' asks are refused with their own codes."""
    ask = await asked(world)
    await refused("not_approved", world.do("agent:grok", "redeem", trail=ask["trail"]))
    await decided(world, ask)
    await refused("not_yours", world.do("agent:codex", "redeem", trail=ask["trail"]))
    await world.pass_time(DAY + 1)
    no = await refused("lapsed", world.do("agent:grok", "redeem", trail=ask["trail"]))
    assert f'logmem_ask {{again: "{ask["trail"]}"}}' in no.message
    rejected = await asked(world, summary="Another?")
    await world.sign_in("ana")
    await decided(world, rejected, "reject")
    await refused("not_approved", world.do("agent:grok", "redeem", trail=rejected["trail"]))


async def test_c32_follow_waits_and_a_timeout_changes_nothing(world: World) -> None:
    """Waiting returns pending with what to call next, and wakes when somebody decides."""
    ask = await asked(world)
    before = await world.dump()
    waited = await world.do("agent:grok", "follow", what=ask["trail"], wait=0)
    assert waited["pending"]
    assert waited["next"]["tool"] == "logmem_follow"
    assert await world.dump() == before
    waiting = asyncio.create_task(world.do("agent:grok", "follow", what=ask["trail"], wait=50))
    await asyncio.sleep(0)
    await decided(world, ask)
    done = await asyncio.wait_for(waiting, 10)
    assert done["status"] == "approved"
    assert done["next"] == {"tool": "logmem_redeem", "args": {"trail": ask["trail"]}}


async def test_c55_an_approval_can_be_taken_back_until_it_is_used(world: World) -> None:
    """Another approver takes it back; after that, or after use, there is nothing to take."""
    ask = await asked(world)
    await decided(world, ask)
    back = await world.do("human:bo", "take_back", trail=ask["trail"], reason="Wait for QA")
    assert back["status"] == "taken_back"
    no = await refused("taken_back", world.do("agent:grok", "redeem", trail=ask["trail"]))
    assert "human:bo" in no.message
    await refused("taken_back", world.do("human:ana", "take_back", trail=ask["trail"]))
    used = await asked(world, summary="Second?")
    await decided(world, used)
    await world.do("agent:grok", "redeem", trail=used["trail"])
    await refused("already_redeemed", world.do("human:ana", "take_back", trail=used["trail"]))


async def test_c55_take_back_and_redeem_at_once_have_one_winner(world: World) -> None:
    """Either the approval was used or it was taken back, never both."""
    for n in range(10):
        ask = await asked(world, summary=f"Race {n}?")
        await decided(world, ask)
        out = await asyncio.gather(
            world.do("agent:grok", "redeem", trail=ask["trail"]),
            world.do("human:bo", "take_back", trail=ask["trail"]),
            return_exceptions=True,
        )
        assert [isinstance(o, dict) for o in out].count(True) == 1


async def test_c56_asking_back_keeps_the_ask_pending_and_its_deadline(world: World) -> None:
    """A person's question stands on the trail; the agent's answer appears there; the deadline does not move."""
    ask = await asked(world)
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Which region?")
    told = await world.do("agent:grok", "follow", what=ask["trail"], wait=0)
    assert told["status"] == "pending"
    assert [e["summary"] for e in told["changes"]] == ["Which region?"]
    assert told["next"]["tool"] == "logmem_note"
    await world.do("agent:grok", "note", where="job:release", kind="answer", summary="eu-1", answers=ask["trail"])
    seen = await world.do("human:ana", "view", what=ask["trail"])
    assert [(e["kind"], e["by"]) for e in seen["history"]] == [("question", "human:bo"), ("answer", "agent:grok")]
    assert seen["deadline"] == ask["deadline"]
    assert (await decided(world, ask))["status"] == "approved"


async def test_c57_the_same_content_rejoins_the_pending_ask(world: World) -> None:
    """Asking the same again while it is pending gives that ask, also when both come at once."""
    one, two = await asyncio.gather(asked(world), asked(world))
    assert one["trail"] == two["trail"]
    assert [bool(a.get("rejoined")) for a in (one, two)].count(True) == 1
    other = await asked(world, payload={"version": 2})
    assert other["trail"] != one["trail"]
    await decided(world, one, "reject")
    assert (await asked(world))["trail"] != one["trail"]


async def test_c57_more_than_twenty_pending_is_refused(world: World) -> None:
    """The twenty-first ask is refused until one is settled or expired; nothing is written for it."""
    asks = [await asked(world, summary=f"Ask {n}?", expires_in="5 min") for n in range(20)]
    before = await world.dump()
    no = await refused("too_many_pending", asked(world, summary="One more?"))
    assert "withdraw" in no.message
    assert await world.dump() == before
    await world.do("agent:grok", "ask", withdraw=asks[0]["trail"])
    await asked(world, summary="One more?", expires_in="5 min")
    await world.pass_time(5 * MINUTE + 1)
    await asked(world, summary="After all expired?")


async def test_c58_a_settled_ask_can_be_asked_again(world: World) -> None:
    """`again` asks anew with the same content under a new trail; only the requester can."""
    ask = await asked(world, expires_in="5 min", options=["blue", "green"])
    await world.pass_time(5 * MINUTE + 1)
    again = await world.do("agent:grok", "ask", again=ask["trail"])
    assert again["trail"] != ask["trail"]
    seen = await world.do("human:ana", "view", what=again["trail"])
    assert (seen["summary"], seen["payload"], seen["options"]) == ("Publish v1?", {"version": 1}, ["blue", "green"])
    await refused("not_yours", world.do("agent:codex", "ask", again=ask["trail"]))


async def test_c59_a_first_write_makes_the_place_and_says_so(world: World) -> None:
    """A new job is said to be new, with near names, so that a typo is seen; a known one is not."""
    first = await world.do("agent:grok", "note", where="job:auth-flow", kind="memo", summary="a")
    assert first["created"] is True
    typo = await world.do("agent:grok", "note", where="job:auth-flwo", kind="memo", summary="b")
    assert typo["near"] == ["job:auth-flow"]
    again = await world.do("agent:grok", "note", where="job:auth-flow", kind="memo", summary="c")
    assert "created" not in again
    await refused("not_found", world.do("agent:grok", "note", where="agent:nobody", kind="memo", summary="d"))


async def test_an_answer_is_one_of_the_options(world: World) -> None:
    """An ask with options is answered with one of them, or rejected."""
    ask = await asked(world, options=["blue", "green"])
    await refused("invalid_argument", decided(world, ask, "approve"))
    await refused("invalid_argument", decided(world, ask, "answer", answer="red"))
    done = await decided(world, ask, "answer", answer="blue")
    assert done["status"] == "answered"
    told = await world.do("agent:grok", "follow", what=ask["trail"], wait=0)
    assert told["changes"][-1]["payload"]["answer"] == "blue"


async def test_a_decision_binds_to_the_digest_that_was_shown(world: World) -> None:
    """Without the digest, or with another one, nothing is decided."""
    ask = await asked(world)
    await refused("digest_required", world.do("human:ana", "decide", trail=ask["trail"], verdict="approve"))
    wrong = ask["digest"][:-1] + ("0" if ask["digest"][-1] != "0" else "1")
    no = world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=wrong)
    await refused("digest_mismatch", no)


async def test_a_member_without_the_role_cannot_decide(world: World) -> None:
    """A member may read and note; deciding needs the role, which can be taken away at any time."""
    await world.human("cy", "member")
    ask = await asked(world)
    await refused("not_an_approver", decided(world, ask, who="human:cy"))
    await world.operate("human", name="bo", role="member")
    await refused("not_an_approver", decided(world, ask, who="human:bo"))


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("too_long", {"summary": "x" * 1001}),
        ("invalid_argument", {"summary": " "}),
        ("payload_too_large", {"payload": "x" * 33 * 1024}),
        ("payload_not_canonical", {"payload": {"n": 2**53}}),
        ("invalid_argument", {"risk": "extreme"}),
        ("invalid_argument", {"expires_in": "1 min"}),
        ("invalid_argument", {"valid_for": "48h"}),
        ("invalid_argument", {"options": ["a", "a"]}),
        ("too_long", {"options": [str(n) for n in range(9)]}),
        ("invalid_argument", {"allow": ["edit"]}),
        ("invalid_argument", {"quorum": 2}),
        ("unknown_recipient", {"approvers": ["human:nobody"]}),
        ("malformed_id", {"where": "job:A b"}),
        ("unknown_argument", {"sumary": "x"}),
    ],
)
async def test_bad_input_gets_its_error_and_changes_nothing(world: World, code: str, args: dict[str, Any]) -> None:
    """Each malformed ask is refused by name, and no key of the store differs after it."""
    before = await world.dump()
    await refused(code, asked(world, **args))
    assert await world.dump() == before


async def test_what_to_call_next_about_an_ask_is_for_who_asked(world: World) -> None:
    """Asking again, using and answering are the requester's: nobody else is told to."""
    old = await asked(world, expires_in="5m")
    await world.do("human:ana", "ask_back", trail=old["trail"], text="Which?")
    grok, codex = "agent:grok", "agent:codex"
    for who, tool in ((grok, "logmem_note"), (codex, "logmem_follow")):
        assert (await world.do(who, "view", what=old["trail"]))["next"]["tool"] == tool
    await world.pass_time(HOUR)
    for verb, args in (("view", {}), ("follow", {"wait": 0})):
        whole: Result = {"what": old["trail"], **args}
        assert (await world.do(grok, verb, **whole))["next"]["args"] == {"again": old["trail"]}
        assert "next" not in await world.do(codex, verb, **whole)
