"""The human gate: the forms of an ask, whose text is used, and who may make one safer."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from store.domain.ask import Ask
from store.domain.bounds import VALUES
from store.domain.entry import sequence
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.ledger.chain import record, segment
from store.verbs.arguments import model
from store.verbs.call import Call, Row
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from store.verbs.places import missing
from store.verbs.sessions import sign_in
from tests.contract.test_gate import HOUR, asked, decided, refused
from tests.world import Result, World

LISTS = [
    (row.verb, name)
    for row in ROWS.values()
    for name, field in model(row).model_fields.items()
    if "list[" in str(field.annotation)
]


async def signed_in_by(world: World, maker: str, name: str) -> None:
    """Somebody makes a sign-in link for a person, who opens it: from now on that session is theirs."""
    link = (await world.do(maker, "link", name=name))["link_path"].rpartition("/")[2]
    world.remember(f"human:{name}", (await sign_in(world.store, link, client="test")).token)


async def field(admin: Redis, key: str, name: str) -> bytes:
    """A field of a hash, as the store has it."""
    held = await admin.hget(key, name)
    assert isinstance(held, bytes)
    return held


async def altered(world: World, trail: str, change: Callable[[bytes], bytes]) -> None:
    """The store's owner changes the record of the `asked` entry of an ask."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        seq = sequence((await field(admin, world.keys.doc(Ask.kind, trail), "asked")).decode())
        key = world.keys.segment(segment(seq))
        await admin.hset(key, str(seq), change(await field(admin, key, str(seq))))


def another_text(raw: bytes) -> bytes:
    """The record with another summary."""
    return raw.replace(b"Publish v1?", b"Delete all?")


def redacted(raw: bytes) -> bytes:
    """The record as redaction leaves it."""
    kept = record(raw)
    return f"{kept.id} {kept.leaf} {kept.link} - ".encode()


async def test_c55_any_approver_takes_back_what_another_approved(world: World) -> None:
    """Neither the named list nor four eyes stand in the way: whoever answers for the key may undo at high risk."""
    await world.agent("muse", responsible="ana")
    for more in ({"risk": "high"}, {"approvers": ["bo"], "summary": "For bo alone?"}):
        ask = await world.do("agent:muse", "ask", **({"where": "job:x", "summary": "Drop it?"} | more))
        await refused("not_an_approver", decided(world, ask, who="human:ana"))
        await decided(world, ask, who="human:bo")
        assert (await world.do("human:ana", "inbox", trail=ask["trail"]))["can"] == ["take_back"]
        assert (await world.do("human:ana", "take_back", trail=ask["trail"]))["status"] == "taken_back"
        await refused("taken_back", world.do("agent:muse", "redeem", trail=ask["trail"]))


async def test_c55_taking_back_takes_the_role_now(world: World) -> None:
    """A member, and an owner without the right to approve, take nothing back."""
    ask = await asked(world)
    await decided(world, ask)
    await world.human("cy", "member")
    await world.operate("human", name="bo", role="member")
    for who in ("human:cy", "human:bo"):
        await refused("not_an_approver", world.do(who, "take_back", trail=ask["trail"]))


async def test_c56_any_approver_may_ask_back(world: World) -> None:
    """Who cannot decide an ask can still have it explained, and is told what they can do."""
    await world.agent("muse", responsible="ana")
    ask = await world.do("agent:muse", "ask", where="job:x", summary="Drop it?", risk="high")
    page = await world.do("human:ana", "inbox", trail=ask["trail"])
    assert page["can"] == ["ask_back"]
    assert "second pair of eyes" in page["cannot"]
    assert (await world.do("human:ana", "ask_back", trail=ask["trail"], text="Which?"))["status"] == "pending"


async def test_c20_a_session_by_the_responsible_persons_link_is_no_second_pair_of_eyes(world: World) -> None:
    """Ana, who answers for the key, opens a session for bo: it decides nothing of high risk, and reaches nobody."""
    await world.agent("muse", responsible="ana")
    await world.human("cy", signed_in=False)
    own = world.badges["human:bo"], world.tokens["human:bo"]
    await signed_in_by(world, "human:ana", "bo")
    await signed_in_by(world, "human:ana", "cy")
    ask = await world.do("agent:muse", "ask", where="job:x", summary="Drop it?", risk="high")
    assert {a["who"]: a["reach"] for a in ask["asked"]} == {"human:bo": ["console"], "human:cy": []}
    for who in ("human:bo", "human:cy"):
        no = await refused("not_an_approver", decided(world, ask, who=who))
        assert "sign-in link" in no.message
        assert "link" in no.message
    assert ask["trail"] not in repr((await world.do("human:bo", "inbox"))["asks"])
    plain = await asked(world, summary="Normal?")
    assert (await decided(world, plain, who="human:cy"))["status"] == "approved"
    world.badges["human:bo"], world.tokens["human:bo"] = own
    assert (await decided(world, ask, who="human:bo"))["status"] == "approved"


@pytest.mark.parametrize(
    ("verb", "args", "beside"),
    [
        ("ask", {"withdraw": "TRAIL", "summary": "Another?"}, "summary"),
        ("ask", {"withdraw": "TRAIL", "risk": "normal"}, "risk"),
        ("ask", {"withdraw": "TRAIL", "payload": None}, "payload"),
        ("ask", {"withdraw": "TRAIL", "expires_in": "2h"}, "expires_in"),
        ("ask", {"withdraw": "TRAIL", "again": "TRAIL"}, "withdraw"),
        ("ask", {"again": "TRAIL", "payload": {"version": 2}}, "payload"),
        ("ask", {"again": "TRAIL", "approvers": ["bo"]}, "approvers"),
        ("ask", {"again": "TRAIL", "quorum": 1}, "quorum"),
        ("handoff", {"requeue": "ci_0000000001", "text": "x", "deadline": "2h"}, "text"),
    ],
)
async def test_a_form_of_its_own_stands_alone(world: World, verb: str, args: Result, beside: str) -> None:
    """What would be ignored is refused by name, and nothing is written."""
    trail = (await asked(world))["trail"]
    before = await world.dump()
    given = {name: trail if value == "TRAIL" else value for name, value in args.items()}
    assert (await refused("invalid_argument", world.do("agent:grok", verb, **given))).facts["argument"] == beside
    assert await world.dump() == before


async def test_a_form_of_its_own_takes_what_may_stand_beside(world: World) -> None:
    """Again takes new times; what a model leaves empty is not there."""
    ask = await asked(world)
    await decided(world, ask, "reject")
    again = await world.do(
        "agent:grok", "ask", again=ask["trail"], expires_in="2h", valid_for="1h", summary="", options=[]
    )
    assert again["trail"] != ask["trail"]
    seen = await world.do("agent:grok", "view", what=again["trail"])
    assert (seen["summary"], seen["payload"], seen["valid_for_s"]) == ("Publish v1?", {"version": 1}, 3600)
    assert (await world.do("agent:grok", "ask", withdraw=again["trail"], where=""))["status"] == "withdrawn"


async def test_c58_again_of_something_else_is_malformed(world: World) -> None:
    """A trail has its form; one that is nobody's says what was searched and how much is readable."""
    await refused("malformed_id", world.do("agent:grok", "ask", again="ask_short"))
    await asked(world)
    for call in (
        world.do("agent:grok", "ask", again=f"ask_{'A' * 22}"),
        world.do("agent:grok", "redeem", trail=f"ask_{'A' * 22}"),
        world.do("human:ana", "decide", trail=f"ask_{'A' * 22}", verdict="approve", digest="0" * 64),
        world.do("agent:grok", "handoff", withdraw="ci_0000000001"),
        world.do("agent:grok", "view", what="mb_0000000001"),
        world.do("agent:grok", "note", where="job:x", kind="answer", summary="a", answers=f"ask_{'A' * 22}"),
    ):
        no = await refused("not_found", call)
        assert no.facts["searched"] == world.space
        assert isinstance(no.facts["readable"], int)
        assert no.facts["readable"] > 1


@pytest.mark.parametrize(("verb", "name"), LISTS)
async def test_every_list_that_comes_with_a_call_is_bounded(world: World, verb: str, name: str) -> None:
    """One value more than the table allows is refused before anything is looked up."""
    who = "agent:grok" if ROWS[verb].profiles else "human:ana"
    given: dict[str, Any] = {"where": "job:x", "summary": "a", "kind": "memo", "notes": "a", "name": "nova"}
    given |= {"question": "a", "job": "x", "title": "a", "query": "a"}
    args = {k: v for k, v in given.items() if k in model(ROWS[verb]).model_fields}
    args[name] = [f"x{n}" for n in range(VALUES[name] + 1)]
    before = await world.dump()
    no = await refused("too_long", world.do(who, verb, **args))
    assert (no.facts["argument"], no.facts["limit"]) == (name, VALUES[name])
    assert await world.dump() == before


async def test_approvers_named_twice_are_asked_once(world: World) -> None:
    """The same person under both spellings is one; the ask binds to one."""
    ask = await asked(world, approvers=["bo", "human:bo", "bo"])
    assert [a["who"] for a in ask["asked"]] == ["human:bo"]
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["approvers"] == ["human:bo"]


async def test_asking_takes_few_round_trips_however_many_are_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody who is named is looked up together."""
    people = [f"p{n}" for n in range(12)]
    for name in people:
        await world.human(name, signed_in=False)
    trips = 0
    fetch = type(world.store).fetch

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal trips
        trips += 1
        return await fetch(*args, **more)

    monkeypatch.setattr(type(world.store), "fetch", counted)
    given = {"where": "job:new", "summary": "Publish?", "risk": "high", "approvers": people}
    await perform(world.store, world.badges["agent:grok"], ROWS["ask"], given)
    assert trips <= 5


async def test_c27_nobody_approves_a_text_that_was_altered(world: World) -> None:
    """Under the digest of another text nothing is approved or used; view says so, and rejecting still works."""
    ask = await asked(world)
    await altered(world, ask["trail"], another_text)
    no = await refused("digest_mismatch", decided(world, ask))
    assert "not what was asked" in no.message
    page = await world.do("human:ana", "inbox", trail=ask["trail"])
    assert page["can"] == ["reject", "ask_back"]
    assert "not what was asked" in page["cannot"]
    assert "Delete all?" not in repr(page)
    assert (await world.do("human:ana", "inbox"))["asks"][0]["summary"] == "[altered]"
    assert (await decided(world, ask, "reject"))["status"] == "rejected"
    used = await asked(world)
    await decided(world, used)
    await altered(world, used["trail"], another_text)
    await refused("digest_mismatch", world.do("agent:grok", "redeem", trail=used["trail"]))
    await refused("digest_mismatch", world.do("agent:grok", "ask", again=used["trail"]))


async def test_c27_nobody_approves_what_can_no_longer_be_read(world: World) -> None:
    """A redacted ask is not approved and not used, and its list line says that it was redacted."""
    ask = await asked(world)
    await altered(world, ask["trail"], redacted)
    await refused("not_found", decided(world, ask))
    assert (await world.do("human:ana", "inbox"))["asks"][0]["summary"] == "[redacted]"
    assert (await decided(world, ask, "reject"))["status"] == "rejected"


async def test_c27_the_terms_are_bound_like_the_text(world: World) -> None:
    """A risk that was lowered in the store is found out in the same way."""
    ask = await asked(world, risk="high")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        key = world.keys.doc(Ask.kind, ask["trail"])
        doc: Result = json.loads(await field(admin, key, "doc"))
        await admin.hset(key, "doc", json.dumps(doc | {"risk": "low"}))
    await refused("digest_mismatch", decided(world, ask))


async def test_c31_redeem_says_first_whose_it_is(world: World) -> None:
    """Who is not the requester learns nothing of payload and state; its requester hears of the payload first."""
    ask = await asked(world)
    await decided(world, ask)
    await refused("not_yours", world.do("agent:codex", "redeem", trail=ask["trail"], payload={"version": 2}))
    await world.do("agent:grok", "redeem", trail=ask["trail"])
    await refused("not_yours", world.do("agent:codex", "redeem", trail=ask["trail"], payload={"version": 2}))
    await refused("digest_mismatch", world.do("agent:grok", "redeem", trail=ask["trail"], payload={"version": 2}))
    await refused("already_redeemed", world.do("agent:grok", "redeem", trail=ask["trail"], payload={"version": 1}))


async def test_a_deadline_may_be_a_time(world: World) -> None:
    """`expires_in` takes the time at which another ask ends as well as a length."""
    one = await asked(world, expires_in="2h")
    two = await asked(world, summary="Another?", expires_in=one["deadline"])
    assert two["deadline"] == one["deadline"]
    await world.pass_time(2 * HOUR + 1)
    no = await refused("invalid_argument", asked(world, summary="Late?", expires_in=one["deadline"]))
    assert no.facts["argument"] == "expires_in"


async def test_what_was_settled_lately_is_listed_once_for_all(world: World) -> None:
    """Whoever was named: an approver sees what others approved, and can take it back."""
    ask = await asked(world, approvers=["bo", "role:owner"])
    await decided(world, ask, who="human:bo")
    assert [a["trail"] for a in (await world.do("human:ana", "inbox"))["settled"]] == [ask["trail"]]
    other = await asked(world, summary="For bo?", approvers=["bo"])
    await decided(world, other, who="human:bo")
    assert other["trail"] in [a["trail"] for a in (await world.do("human:ana", "inbox"))["settled"]]


async def test_a_refused_write_says_that_nothing_changed(world: World) -> None:
    """What is missing is told alike everywhere; a read has nothing to reassure about."""
    for effect, says in (("write", True), ("read", False)):

        async def look(call: Call) -> Result:
            raise await missing(call, "job:x")

        row = Row("look", effect, look, ("fleet",))
        with pytest.raises(Refused) as no:
            await perform(world.store, world.badges["agent:grok"], row, {})
        assert ("Nothing changed." in no.value.message) == says
