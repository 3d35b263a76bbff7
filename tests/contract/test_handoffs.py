"""Handoffs: to whom, where and until when; jobs that change hands; what their sender sees."""

import asyncio

import pytest

from store.verbs.arguments import schema
from store.verbs.catalog import ROWS
from tests.contract.handing import filled, handed, stands_in, surfaced, viewed
from tests.contract.test_gate import DAY, MINUTE, refused
from tests.world import Result, World


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
    assert first["status"] == "accepted"


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


async def test_c38_accepting_a_job_makes_its_assignee(world: World) -> None:
    """The recipient has the job in the same commit; declining and other places assign nothing."""
    item = await handed(world, where="job:schema")
    out = await world.do("agent:codex", "accept", item=item["item"])
    assert (out["job"], out["assignee"]) == ("job:schema", "agent:codex")
    assert (await world.do("agent:grok", "view", what="job:schema"))["who"]["assignee"] == "agent:codex"
    events, *_ = await world.store.feed.since(world.space, "0-0")
    settling = [e for e in events if f"item:{item['item']}" in e.refs][-1]
    assert "job:schema" in settling.refs
    other = await handed(world, "human:bo", where="job:schema")
    await world.do("human:bo", "accept", item=other["item"], decline=True, reason="no")
    assert (await world.do("agent:grok", "view", what="job:schema"))["who"]["assignee"] == "agent:codex"
    plain = await handed(world, where="channel:x")
    assert "assignee" not in await world.do("agent:codex", "accept", item=plain["item"])


async def test_c38_a_handed_job_goes_from_hand_to_hand(world: World) -> None:
    """The assignee hands it on, also to a person; the index of open jobs follows."""
    item = await handed(world, where="job:schema")
    await world.do("agent:codex", "accept", item=item["item"])
    item = await handed(world, "human:ana", "agent:codex", where="job:schema")
    await world.do("human:ana", "accept", item=item["item"])
    assert (await world.do("agent:grok", "view", what="job:schema"))["who"]["assignee"] == "human:ana"


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


def test_the_manual_s_name_is_not_listed() -> None:
    """`item` is required; that `trail` is taken too, no schema says."""
    listed = schema(ROWS["accept"])
    assert set(listed["properties"]) == {"item", "decline", "reason"}
    assert listed["required"] == ["item"]
