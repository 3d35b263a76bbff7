"""Handoffs past their deadline: what both sides see, and what their sender does."""

from tests.contract.handing import handed, race, stands_in, viewed
from tests.contract.test_gate import DAY, HOUR, refused
from tests.world import World


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
