"""Handoffs: to whom, settled once and by whom, what losers and senders are told."""

import asyncio
from typing import Any

import pytest

from store.domain.commit import Commit, put
from store.domain.errors import Refused
from store.domain.item import Item, Mark
from store.domain.slot import Who
from store.engine.reads import Doc, Range
from store.verbs.call import Call, Row
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from tests.contract.test_gate import DAY, HOUR, MINUTE, refused
from tests.world import Result, World

ANSWERS: tuple[dict[str, Any], ...] = ({}, {"decline": True, "reason": "no"})


async def handed(world: World, to: str = "agent:codex", who: str = "agent:grok", **more: Any) -> Result:
    """An open item, of grok's to codex unless told otherwise."""
    return await world.do(who, "handoff", **({"to": to, "summary": "Run the migration"} | more))


async def viewed(world: World, item: Result, who: str = "agent:grok") -> Result:
    """The item as somebody sees it."""
    return await world.do(who, "view", what=item["item"])


async def filled(world: World, name: str, role: str) -> None:
    """A new agent that fills a role."""

    async def fill(call: Call) -> Commit:
        await call.read(Doc(Who, call.me))
        return Commit(result={}, puts=(put(Who(id=call.me, name=name, role=role, since=call.now)),))

    await world.agent(name)
    await perform(world.store, world.badges[f"agent:{name}"], Row("fill", "write", fill), {})


async def surfaced(world: World, item: Result, to: str) -> None:
    """Somebody's start shows the item to them."""

    async def surface(call: Call) -> Commit:
        await call.read(Doc(Mark, item["item"]))
        return Commit(result={}, puts=(put(Mark(id=item["item"], at=call.now, by=call.me, shift=7)),))

    await perform(world.store, world.badges[to], Row("surface", "write", surface), {})


async def stands_in(world: World, index: str, owner: str) -> list[str]:
    """The items in an index, as stored."""
    _, (page,), _ = await world.store.fetch(world.keys, [Range(index, owner)], pure=True)
    ids: list[str] = page.ids(Item)
    return ids


async def race(*calls: Any) -> tuple[list[Result], list[Refused]]:
    """Who won and who lost of calls that are made at once."""
    out = await asyncio.gather(*calls, return_exceptions=True)
    won, lost = [o for o in out if isinstance(o, dict)], [o for o in out if isinstance(o, Refused)]
    assert len(won) + len(lost) == len(calls), out
    return won, lost


async def test_c34_a_handoff_says_where_it_stands(world: World) -> None:
    """The result has the item, which is its trail, whom it is for, until when, and what to call next."""
    item = await handed(world, deadline="2h")
    assert item["item"] == item["trail"]
    assert item["item"].startswith("ci_")
    assert (item["to"], item["where"], item["status"], item["delivery"]) == (
        "agent:codex",
        "agent:codex",
        "open",
        "queued",
    )
    assert item["next"] == {"tool": "logmem_follow", "args": {"what": item["item"]}}
    seen = await viewed(world, item, "agent:codex")
    assert (seen["summary"], seen["from"], seen["deadline"]) == ("Run the migration", "agent:grok", item["deadline"])
    assert seen["next"] == {"tool": "logmem_accept", "args": {"item": item["item"]}}
    assert [(e["kind"], e["by"], e["where"]) for e in seen["history"]] == [("handoff", "agent:grok", "agent:codex")]
    assert await stands_in(world, "open", "agent:codex") == [item["item"]]


@pytest.mark.parametrize(
    ("to", "near"),
    [
        ("agent:codx", ["agent:codex"]),
        ("codx", ["agent:codex"]),
        ("human:an", ["human:ana"]),
        ("anna", ["human:ana"]),
        ("agent:ana", ["human:ana"]),
        ("role:aprover", ["role:approver"]),
        ("role:qa", []),
    ],
)
async def test_c34_an_unknown_recipient_is_refused_at_once(world: World, to: str, near: list[str]) -> None:
    """Nobody of that name or role: refused with near matches, and nothing is written."""
    before = await world.dump()
    no = await refused("unknown_recipient", handed(world, to))
    assert no.facts["near"] == near
    assert "Nothing was written." in no.message
    assert await world.dump() == before


async def test_c34_a_bare_id_means_who_is_there(world: World) -> None:
    """An id without a prefix can only be one of agent and person."""
    assert (await handed(world, "codex"))["to"] == "agent:codex"
    assert (await handed(world, "bo"))["to"] == "human:bo"


async def test_c34_who_left_is_no_recipient(world: World) -> None:
    """A person whose role was taken away gets no handoff, nor does a role that nobody has any more."""
    await world.human("cy", "member", signed_in=False)
    assert (await handed(world, "human:cy"))["status"] == "open"
    assert (await handed(world, "role:member"))["where"] == "channel:member"
    await world.operate("human", name="cy", role="none")
    no = await refused("unknown_recipient", handed(world, "human:cy"))
    assert no.facts["near"] == []
    await refused("unknown_recipient", handed(world, "role:member"))


async def test_c34_a_handoff_to_oneself_is_refused(world: World) -> None:
    """By name, and by a role that only the sender has."""
    await filled(world, "nova", "QA lead")
    for to in ("agent:nova", "nova"):
        no = await refused("invalid_argument", handed(world, to, "agent:nova"))
        assert no.facts["argument"] == "to"
    assert (await handed(world, "role:QA Lead"))["to"] == "role:qa-lead"
    no = await refused("unknown_recipient", handed(world, "role:qa-lead", "agent:nova"))
    assert "Nobody but you" in no.message


async def test_c34_no_agent_takes_a_role_that_people_are_given(world: World) -> None:
    """An agent that calls itself approver gets nothing that is for approvers."""
    await filled(world, "nova", "approver")
    item = await handed(world, "role:approver")
    await refused("not_yours", world.do("agent:nova", "accept", item=item["item"]))
    assert (await world.do("human:bo", "accept", item=item["item"]))["status"] == "accepted"


@pytest.mark.parametrize(
    ("args", "argument"),
    [
        ({"to": ""}, "to"),
        ({"summary": " "}, "summary"),
        ({"deadline": "4m"}, "deadline"),
        ({"deadline": "31 days"}, "deadline"),
        ({"deadline": "soon"}, "deadline"),
        ({"text": "long"}, "text"),
        ({"label": "long"}, "label"),
        ({"withdraw": "ci_0000000001"}, "to"),
        ({"requeue": "ci_0000000001"}, "to"),
        ({"to": "", "summary": "", "withdraw": "ci_0000000001", "requeue": "ci_0000000001"}, "requeue"),
    ],
)
async def test_what_a_handoff_cannot_be_is_refused(world: World, args: Result, argument: str) -> None:
    """Missing, out of bounds, or beside something that leaves it no meaning: named, and nothing is written."""
    before = await world.dump()
    no = await refused("invalid_argument", handed(world, **args))
    assert no.facts["argument"] == argument
    assert await world.dump() == before


async def test_a_deadline_may_be_a_length_or_a_time(world: World) -> None:
    """24 h unless said; up to 30 days, to the millisecond."""
    month = await handed(world, deadline="30 days")
    again = await handed(world, deadline=month["deadline"])
    assert again["deadline"] == month["deadline"]
    await world.pass_time(DAY - MINUTE)
    assert (await viewed(world, await handed(world, deadline=300)))["status"] == "open"


async def test_an_item_stands_where_it_is_said_to(world: World) -> None:
    """A place that is not there yet is made, and the result says so; a role's default is its channel."""
    item = await handed(world, where="job:schema")
    assert (item["where"], item["created"]) == ("job:schema", True)
    assert "created" not in await handed(world, where="job:schema")
    assert (await handed(world, "role:approver"))["where"] == "channel:approver"
    assert await stands_in(world, "holds", "job:schema")


async def test_c12_a_repeated_handoff_is_one_item(world: World) -> None:
    """The same action_id sends once and gives the same answer; so does accepting."""
    one = await world.do("agent:grok", "handoff", action_id="h1", to="codex", summary="a")
    two = await world.do("agent:grok", "handoff", action_id="h1", to="codex", summary="a")
    assert two == {**one, "replayed": True}
    first = await world.do("agent:codex", "accept", action_id="a1", item=one["item"])
    again = await world.do("agent:codex", "accept", action_id="a1", trail=one["item"])
    assert again == {**first, "replayed": True}
    assert first["summary"] == "a"


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


async def test_an_item_of_elsewhere_is_not_found(world: World) -> None:
    """An id that this space does not have: nothing is said of others."""
    await refused("not_found", world.do("agent:codex", "accept", item="ci_0000000001"))
    await refused("not_found", world.do("agent:grok", "handoff", withdraw="ci_0000000001"))
    await refused("not_found", world.do("agent:grok", "handoff", requeue="ci_0000000001"))


async def test_the_manual_s_name_for_the_item_is_taken_too(world: World) -> None:
    """`trail` works as `item` does; both at once must agree; neither is missing `item`."""
    item = await handed(world)
    no = await refused("invalid_argument", world.do("agent:codex", "accept", item=item["item"], trail="ci_0000000001"))
    assert no.facts["argument"] == "trail"
    no = await refused("invalid_argument", world.do("agent:codex", "accept"))
    assert no.facts["argument"] == "item"
    both = {"item": item["item"], "trail": item["item"]}
    assert (await world.do("agent:codex", "accept", **both))["status"] == "accepted"
    assert (await world.do("agent:codex", "accept", trail=(await handed(world))["item"]))["status"] == "accepted"


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
        assert job.get("assignee") == ("agent:codex" if won[0]["status"] == "accepted" else None)


async def test_c38_accepting_a_job_makes_its_assignee(world: World) -> None:
    """The recipient has the job in the same commit; declining and other places assign nothing."""
    item = await handed(world, where="job:schema")
    out = await world.do("agent:codex", "accept", item=item["item"])
    assert (out["job"], out["assignee"]) == ("job:schema", "agent:codex")
    assert (await world.do("agent:grok", "view", what="job:schema"))["assignee"] == "agent:codex"
    events, _ = await world.store.feed.since(world.space, "0-0")
    settling = [e for e in events if f"item:{item['item']}" in e.refs][-1]
    assert "job:schema" in settling.refs
    other = await handed(world, "human:bo", where="job:schema")
    await world.do("human:bo", "accept", item=other["item"], decline=True, reason="no")
    assert (await world.do("agent:grok", "view", what="job:schema"))["assignee"] == "agent:codex"
    plain = await handed(world, where="channel:x")
    assert "assignee" not in await world.do("agent:codex", "accept", item=plain["item"])


async def test_c38_a_handed_job_goes_from_hand_to_hand(world: World) -> None:
    """The assignee hands it on, also to a person; the index of open jobs follows."""
    item = await handed(world, where="job:schema")
    await world.do("agent:codex", "accept", item=item["item"])
    item = await handed(world, "human:ana", "agent:codex", where="job:schema")
    await world.do("human:ana", "accept", item=item["item"])
    assert (await world.do("agent:grok", "view", what="job:schema"))["assignee"] == "human:ana"


async def test_c39_an_item_past_its_deadline_has_expired(world: World) -> None:
    """Nobody wrote it down, and both sides see it as expired; its recipient comes too late."""
    item = await handed(world, deadline="2h")
    await world.pass_time(2 * HOUR + 1)
    before = await world.dump()
    for who in ("agent:grok", "agent:codex"):
        seen = await viewed(world, item, who)
        assert seen["status"] == "expired"
        assert "nobody had settled it" in seen["says"]
    no = await refused("expired", world.do("agent:codex", "accept", item=item["item"]))
    assert f'agent:grok can requeue it: logmem_handoff {{requeue: "{item["item"]}"}}' in no.message
    assert await world.dump() == before
    seen = await viewed(world, item)
    assert seen["next"] == {"tool": "logmem_handoff", "args": {"requeue": item["item"]}}


async def test_c39_the_sender_requeues_in_one_call(world: World) -> None:
    """The same words, place and recipient under a new id and deadline; each names the other."""
    old = await handed(world, where="job:schema", deadline="2h")
    await world.pass_time(3 * HOUR)
    await refused("not_yours", world.do("agent:codex", "handoff", requeue=old["item"]))
    new = await world.do("agent:grok", "handoff", requeue=old["item"])
    assert new["item"] != old["item"]
    assert (new["to"], new["where"], new["status"], new["requeued_from"]) == (
        "agent:codex",
        "job:schema",
        "open",
        old["item"],
    )
    seen = await viewed(world, new, "agent:codex")
    assert (seen["summary"], seen["requeued_from"]) == ("Run the migration", old["item"])
    dead = await viewed(world, old)
    assert (dead["status"], dead["requeued_as"]) == ("expired", new["item"])
    assert "next" not in dead
    for index, owner in (("dead", "agent:grok"), ("missed", "agent:codex"), ("sent", "agent:grok")):
        assert old["item"] not in await stands_in(world, index, owner)
    assert (await world.do("agent:codex", "accept", item=new["item"]))["status"] == "accepted"
    late = await refused("expired", world.do("agent:codex", "accept", item=old["item"]))
    assert f"requeued it as {new['item']}" in late.message


async def test_c39_a_dead_letter_is_requeued_once(world: World) -> None:
    """Ten requeues at once make one new item, and the others are told which; one that is open is not requeued."""
    old = await handed(world, deadline="2h")
    no = await refused("invalid_argument", world.do("agent:grok", "handoff", requeue=old["item"]))
    assert no.facts["argument"] == "requeue"
    await world.pass_time(3 * HOUR)
    won, lost = await race(*(world.do("agent:grok", "handoff", requeue=old["item"]) for _ in range(10)))
    assert len(won) == 1
    assert {(no.code, no.facts["requeued_as"]) for no in lost} == {("already_settled", won[0]["item"])}
    assert await stands_in(world, "open", "agent:codex") == [won[0]["item"]]


async def test_c39_requeueing_takes_a_deadline_and_nothing_else(world: World) -> None:
    """A new deadline may be given, within its bounds; other words would be another handoff."""
    old = await handed(world, deadline="2h")
    await world.pass_time(3 * HOUR)
    await refused("invalid_argument", world.do("agent:grok", "handoff", requeue=old["item"], deadline="31 days"))
    await refused("invalid_argument", world.do("agent:grok", "handoff", requeue=old["item"], summary="b"))
    new = await world.do("agent:grok", "handoff", requeue=old["item"], deadline="5 days")
    await world.pass_time(4 * DAY)
    assert (await viewed(world, new))["status"] == "open"


async def test_c39_whoever_left_gets_nothing_again(world: World) -> None:
    """A requeue is checked like a handoff."""
    old = await handed(world, "human:bo", deadline="2h")
    await world.pass_time(3 * HOUR)
    await world.operate("human", name="bo", role="none")
    await refused("unknown_recipient", world.do("agent:grok", "handoff", requeue=old["item"]))
    assert "requeued_as" not in await viewed(world, old)


async def test_c39_the_sender_puts_a_dead_letter_away(world: World) -> None:
    """Withdrawing what expired leaves it expired, and out of both sides' lists."""
    old = await handed(world, deadline="2h")
    await world.pass_time(3 * HOUR)
    out = await world.do("agent:grok", "handoff", withdraw=old["item"])
    assert out["status"] == "expired"
    seen = await viewed(world, old)
    assert seen["status"] == "expired"
    assert "agent:grok put it away" in seen["says"]
    await refused("already_settled", world.do("agent:grok", "handoff", requeue=old["item"]))
    for index, owner in (("dead", "agent:grok"), ("missed", "agent:codex"), ("open", "agent:codex")):
        assert await stands_in(world, index, owner) == []


async def test_the_sender_sees_queued_surfaced_accepted(world: World) -> None:
    """Queued until the recipient's start shows it, then when and in which shift, then how it ended."""
    item = await handed(world)
    assert (await viewed(world, item))["delivery"] == "queued"
    await surfaced(world, item, "agent:codex")
    seen = await viewed(world, item)
    assert (seen["delivery"], seen["surfaced"]["to"], seen["surfaced"]["shift"]) == ("surfaced", "agent:codex", 7)
    await world.do("agent:codex", "accept", item=item["item"])
    seen = await viewed(world, item)
    assert (seen["status"], seen["surfaced"]["shift"]) == ("accepted", 7)


async def test_surfacing_never_gets_in_the_way_of_settling(world: World) -> None:
    """The mark stands beside the item: it can be written while the item is being settled."""
    item = await handed(world)
    await asyncio.gather(surfaced(world, item, "agent:codex"), world.do("agent:codex", "accept", item=item["item"]))
    seen = await viewed(world, item)
    assert (seen["status"], seen["surfaced"]["to"]) == ("accepted", "agent:codex")


async def test_the_sender_waits_for_the_end(world: World) -> None:
    """A follow that waits returns once the item is settled."""
    item = await handed(world)
    assert (await world.do("agent:grok", "follow", what=item["item"], wait=0))["pending"] is True
    waiting = asyncio.create_task(world.do("agent:grok", "follow", what=item["item"], wait=20))
    await world.do("agent:codex", "accept", item=item["item"], decline=True, reason="no")
    out = await waiting
    assert (out["status"], out["by"]) == ("declined", "agent:codex")
    assert "pending" not in out


async def test_people_hand_off_too(world: World) -> None:
    """A person sends from the console, and it is theirs to withdraw."""
    item = await handed(world, "agent:codex", "human:bo")
    assert (await viewed(world, item, "agent:codex"))["from"] == "human:bo"
    out = await world.do("human:bo", "handoff", withdraw=item["item"])
    assert (out["status"], out["via"]) == ("withdrawn", "console")


def test_the_rows_are_write_rows_of_fleet_and_core() -> None:
    """What changes something says so."""
    for verb in ("handoff", "accept"):
        assert (ROWS[verb].effect, ROWS[verb].profiles) == ("write", ("fleet", "core"))
