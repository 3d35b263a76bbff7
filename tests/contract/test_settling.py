"""Settling a handoff: once, by its recipient, and what losers are told."""

import pytest

from store.domain.commit import Commit
from store.verbs.call import Call, Row
from store.verbs.handoffs import accept
from store.verbs.perform import perform
from tests.contract.handing import ANSWERS, filled, handed, race, stands_in, viewed
from tests.contract.test_gate import HOUR, MINUTE, refused
from tests.world import World


async def test_c35_accepting_ends_an_item(world: World) -> None:
    """The recipient takes it over; both sides see who and when, and nothing is open any more."""
    item = await handed(world)
    out = await world.do("agent:codex", "accept", item=item["item"])
    assert (out["status"], out["by"], out["from"]) == ("accepted", "agent:codex", "agent:grok")
    assert (out["entry"]["kind"], out["entry"]["trail"]) == ("accepted", item["item"])
    for who in ("agent:grok", "agent:codex"):
        seen = await viewed(world, item, who)
        assert (seen["status"], seen["by"]) == ("accepted", "agent:codex")
        assert [e["kind"] for e in seen["history"]] == ["handoff", "accepted"]
    for index, owner in (("open", "agent:codex"), ("sent", "agent:grok"), ("holds", "agent:codex"), ("due", "")):
        assert await stands_in(world, index, owner) == []


async def test_c35_declining_takes_a_reason(world: World) -> None:
    """Without a reason nothing changes; with one the sender reads it."""
    item = await handed(world, "human:bo")
    await refused("reason_required", world.do("human:bo", "accept", item=item["item"], decline=True))
    await refused("reason_required", world.do("human:bo", "accept", item=item["item"], decline=True, reason=" "))
    await refused("too_long", world.do("human:bo", "accept", item=item["item"], decline=True, reason="x" * 1001))
    assert (await viewed(world, item))["status"] == "open"
    out = await world.do("human:bo", "accept", item=item["item"], decline=True, reason="no time")
    assert (out["status"], out["entry"]["kind"], out["entry"]["summary"]) == ("declined", "declined", "no time")
    seen = await viewed(world, item)
    assert (seen["status"], seen["reason"], seen["via"]) == ("declined", "no time", "console")
    assert seen["says"].endswith('in the console: "no time".')


async def test_c35_the_sender_withdraws(world: World) -> None:
    """An open item is taken back by its sender alone, and its recipient is told."""
    item = await handed(world)
    await refused("not_yours", world.do("agent:codex", "handoff", withdraw=item["item"]))
    out = await world.do("agent:grok", "handoff", withdraw=item["item"])
    assert (out["status"], out["by"], out["entry"]["kind"]) == ("withdrawn", "agent:grok", "withdrawn")
    no = await refused("already_settled", world.do("agent:codex", "accept", item=item["item"]))
    assert no.message.startswith(f"agent:grok withdrew {item['item']} ")
    await refused("already_settled", world.do("agent:grok", "handoff", withdraw=item["item"]))


async def test_c36_only_the_recipient_settles(world: World) -> None:
    """A bystander, an owner and the sender are refused, and learn whose it is."""
    item = await handed(world)
    for who in ("agent:grok", "human:ana", "human:bo"):
        for args in ANSWERS:
            no = await refused("not_yours", world.do(who, "accept", item=item["item"], **args))
            assert no.facts["to"] == "agent:codex"
    assert (await viewed(world, item))["status"] == "open"


async def test_c36_an_item_is_settled_once(world: World) -> None:
    """Neither the same answer nor the other one is taken again."""
    item = await handed(world)
    await world.do("agent:codex", "accept", item=item["item"])
    for args in ANSWERS:
        no = await refused("already_settled", world.do("agent:codex", "accept", item=item["item"], **args))
        assert no.facts["status"] == "accepted"
    assert len((await viewed(world, item))["history"]) == 2


async def test_c36_a_role_that_was_lost_settles_nothing(world: World) -> None:
    """The role counts when settling, not when sending."""
    await world.human("cy", "approver")
    item = await handed(world, "role:approver")
    await world.operate("human", name="cy", role="member")
    await refused("not_yours", world.do("human:cy", "accept", item=item["item"]))


@pytest.mark.parametrize("id", ["ci_00000000", "ask_x", "job:x", "", "ci_000000000l"])
async def test_what_is_no_item_is_refused(world: World, id: str) -> None:
    """A malformed id is named as such."""
    await refused("malformed_id", world.do("agent:codex", "accept", item=id))


async def test_c37_a_loser_learns_who_what_when_where_and_why(world: World) -> None:
    """The refusal is the sentence of the specification."""
    item = await handed(world, "role:approver")
    await world.do("human:bo", "accept", item=item["item"], decline=True, reason="not mine")
    await world.pass_time(3 * MINUTE)
    no = await refused("already_settled", world.do("human:ana", "accept", item=item["item"]))
    assert str(no) == (
        f'already_settled: human:bo declined {item["item"]} 3 min ago in the console: "not mine". Nothing changed.'
    )
    assert (no.facts["by"], no.facts["status"], no.facts["reason"]) == ("human:bo", "declined", "not mine")


async def test_c37_of_two_who_have_the_role_one_wins(world: World) -> None:
    """Accepting and declining at once: one is settled, the other told who did what."""
    await filled(world, "nova", "qa")
    await filled(world, "iris", "qa")
    for _ in range(20):
        item = await handed(world, "role:qa")
        won, lost = await race(
            world.do("agent:nova", "accept", item=item["item"]),
            world.do("agent:iris", "accept", item=item["item"], decline=True, reason="busy"),
        )
        assert (len(won), len(lost)) == (1, 1)
        assert lost[0].code == "already_settled"
        assert lost[0].message.startswith(f"{won[0]['by']} {won[0]['status']} {item['item']} ")
        seen = await viewed(world, item)
        assert (seen["by"], seen["status"], len(seen["history"])) == (won[0]["by"], won[0]["status"], 2)


async def test_c37_of_fifty_accepts_at_once_one_wins(world: World) -> None:
    """Fifty calls of four principals: one winner, and every loser is told who won."""
    names = ["nova", "iris", "otto", "zoe"]
    for name in names:
        await filled(world, name, "qa")
    item = await handed(world, "role:qa")
    won, lost = await race(
        *(world.do(f"agent:{names[n % 4]}", "accept", item=item["item"]) for n in range(50)),
    )
    assert (len(won), len(lost)) == (1, 49)
    for no in lost:
        assert (no.code, no.facts["by"], no.facts["status"]) == ("already_settled", won[0]["by"], "accepted")
        assert no.message.startswith(f"{won[0]['by']} accepted {item['item']}")
    assert [e["kind"] for e in (await viewed(world, item))["history"]] == ["handoff", "accepted"]


async def test_c37_accepting_against_withdrawing(world: World) -> None:
    """Either it was taken over or it was taken back, and the loser is told which; a job follows the winner."""
    for n in range(20):
        item = await handed(world, where=f"job:j{n}")
        calls = [
            world.do("agent:codex", "accept", item=item["item"]),
            world.do("agent:grok", "handoff", withdraw=item["item"]),
        ]
        won, lost = await race(*(calls if n % 2 else reversed(calls)))
        assert [no.code for no in lost] == ["already_settled"]
        assert lost[0].facts["status"] == won[0]["status"] == (await viewed(world, item))["status"]
        job = await world.do("agent:grok", "view", what=f"job:j{n}")
        assert job["who"].get("assignee") == ("agent:codex" if won[0]["status"] == "accepted" else None)


async def test_c36_what_changes_between_reading_and_settling_counts(world: World) -> None:
    """A deadline that passes, or a role that goes, before the commit: nothing is settled."""

    async def late(call: Call, *, item: str) -> Commit:
        plan = await accept(call, item=item)
        await world.pass_time(3 * HOUR)
        return plan

    async def ousted(call: Call, *, item: str) -> Commit:
        plan = await accept(call, item=item)
        await world.operate("human", name="cy", role="member")
        return plan

    await world.human("cy", "approver")
    for meanwhile, code, status in ((ousted, "not_yours", "open"), (late, "expired", "expired")):
        await world.operate("human", name="cy", role="approver")
        item = await handed(world, "role:approver", deadline="2h")
        row = Row("accept", "write", meanwhile)
        await refused(code, perform(world.store, world.badges["human:cy"], row, {"item": item["item"]}))
        assert (await viewed(world, item))["status"] == status
