"""What people are shown of keys, of each other and of sessions: in pages that are bounded, and who may end what."""

import asyncio
from typing import Any

import pytest

from store.domain.grant import Grant
from store.domain.moments import DAY, HOUR
from store.engine.reads import Doc
from store.verbs.sessions import open_spaces, sign_out
from tests.contract.test_gate import refused
from tests.contract.test_people import badge, linked, logged
from tests.contract.test_roster import price
from tests.world import Result, World, found

ANA, BO = "human:ana", "human:bo"


async def pages(world: World, verb: str, who: str = ANA, **args: Any) -> list[Result]:
    """All pages of what a verb lists under its own name."""
    found, cursor = [], ""
    for _ in range(200):
        found.append(await world.do(who, verb, **args, **({"cursor": cursor} if cursor else {})))
        cursor = found[-1].get("cursor", "")
        if not cursor:
            return found
    raise AssertionError(f"{verb} has no end")


async def session_of(world: World, token: str) -> str:
    """The public id of a session."""
    return token.split("_")[1]


@pytest.mark.parametrize("hard", [False, True])
async def test_keys_come_in_pages_that_an_agent_could_read(world: World, hard: bool) -> None:
    """Two hundred keys, each once: those that end first come first, then expired ones, then revoked ones."""
    names = [f"a{n:03}-" + "qx7-zk9." * 7 if hard else f"worker-{n}" for n in range(200)]
    for some in range(0, len(names), 20):
        await asyncio.gather(
            *(world.operate("mint", name=n, days=2 + len(n) * 7 % 80, profile="core") for n in names[some : some + 20])
        )
    await asyncio.gather(*(world.operate("mint", name=f"short-{n}", days=1) for n in range(3)))
    await asyncio.gather(*(world.operate("revoke", name=n) for n in names[:30]))
    await world.pass_time(DAY)
    await world.sign_in("ana")
    got = await pages(world, "keys")
    assert max(price("keys", page) for page in got) <= 2000
    rows = [row for page in got for row in page["keys"]]
    assert len(rows) == len({row["key"] for row in rows}) == got[0]["total"] == 205
    live, expired, revoked = rows[:172], rows[172:175], rows[175:]
    assert [row["expires_at"] for row in live] == sorted(row["expires_at"] for row in live)
    states = [{row["state"] for row in part} for part in (live, expired, revoked)]
    assert states == [{"live"}, {"expired"}, {"revoked"}]
    assert len(revoked) == 30
    await refused("invalid_argument", world.do(ANA, "keys", cursor="5"))


async def test_a_key_that_ends_within_a_week_is_marked(world: World) -> None:
    """Renewed it is not; and one key is shown with where it came from and what ends with it."""
    made = await world.do(ANA, "mint", name="muse", days=8, responsible="bo")
    world.remember("agent:muse", made["token"])
    await world.do("agent:muse", "ask", where="job:x", summary="May I?", expires_in="3 days")
    one = await world.do(BO, "keys", key=made["key"])
    assert {k: one[k] for k in ("principal", "minted_by", "responsible", "others", "asks", "state")} == {
        "principal": "agent:muse",
        "minted_by": ANA,
        "responsible": BO,
        "others": 0,
        "asks": 1,
        "state": "live",
    }
    assert "soon" not in one
    await world.pass_time(2 * HOUR + DAY)
    await world.sign_in("ana")
    other = await world.do(ANA, "mint", name="muse")
    one = await world.do(ANA, "keys", key=made["key"])
    assert (one["soon"], one["others"]) == (True, 1)
    await world.do(ANA, "renew", name=made["key"], days=30)
    assert "soon" not in await world.do(ANA, "keys", key=made["key"])
    await world.do(ANA, "revoke", name=made["key"])
    one = await world.do(ANA, "keys", key=made["key"])
    assert (one["state"], one["others"]) == ("revoked", 1)
    assert one["revoked_at"]
    assert (await world.do(ANA, "keys", key=other["key"]))["others"] == 0
    secret = made["token"].rpartition("_")[2]
    assert secret not in str(one)
    for nothing in ("none", await session_of(world, world.tokens[ANA])):
        await refused("not_found", world.do(ANA, "keys", key=nothing))


async def test_people_come_in_pages(world: World) -> None:
    """Each once, in the order in which they came; who left is shown only when named; and the rule of four eyes."""
    names = [f"p{n:03}-{'qx7-zk9.' * 7}" for n in range(90)]
    for some in range(0, len(names), 15):
        await asyncio.gather(*(world.operate("human", name=n, role="member") for n in names[some : some + 15]))
    await world.operate("human", name="dee", role="owner", excluded=True)
    await world.operate("human", name=names[0], role="none")
    got = await pages(world, "people")
    assert max(price("people", page) for page in got) <= 2000
    ids = [row["person"] for page in got for row in page["people"]]
    assert sorted(ids) == sorted([ANA, BO, "human:dee", *(f"human:{n}" for n in names[1:])])
    assert {page["four_eyes"] for page in got} == {"auto"}
    assert got[0]["total"] == 92
    await world.do(ANA, "four_eyes", rule="on")
    left = await world.do(BO, "people", person=names[0])
    assert (left["role"], left["roles"], left["four_eyes"]) == ("", [], "on")
    dee = await world.do(BO, "people", person="dee")
    assert (dee["excluded"], dee["roles"], dee["signed_in"]) == (True, ["owner"], False)
    await refused("unknown_recipient", world.do(BO, "people", person="nobody"))


async def test_one_sees_and_ends_one_s_own_sessions(world: World) -> None:
    """A member may, in every space that the session entered; the one that asks is marked, and goes on."""
    other = await found(world.engine, world.store)
    for space in (world, other):
        await space.operate("human", name="cy", role="member")
    first, second = await linked(world, "", "cy"), await linked(world, "", "cy")
    world.remember("human:cy", second)
    listed = await world.do("human:cy", "sessions")
    assert [row.get("here", False) for row in listed["sessions"]] == [False, True]
    ended = await world.do("human:cy", "end_session", session=await session_of(world, first))
    assert (ended["ended"], ended["person"]) == (await session_of(world, first), "human:cy")
    assert [row["session"] for row in (await world.do("human:cy", "sessions"))["sessions"]] == [
        await session_of(world, second)
    ]
    await refused("key_revoked", open_spaces(world.store, badge(first)))
    ((stands,),) = await world.store.across([other.space], Doc(Grant, await session_of(world, first)))
    assert isinstance(stands, Grant)
    assert stands.revoked
    third = await found(world.engine, world.store)
    await third.operate("human", name="cy")
    ((never,),) = await world.store.across([third.space], Doc(Grant, await session_of(world, first)))
    assert never is None
    entry = (await logged(world, "signed_out"))[-1]
    assert (entry.by, entry.where, entry.payload) == ("human:cy", "human:cy", {"session": ended["ended"]})
    no = await refused("not_found", world.do("human:cy", "end_session", session=ended["ended"]))
    assert no.facts["state"] == "over"


async def test_owners_end_anybody_s_sessions_and_nobody_else_does(world: World) -> None:
    """An owner's word ends it here, at once; an approver may not even look; no agent knows the verbs."""
    token = world.tokens[BO]
    id = await session_of(world, token)
    for verb, args in (("sessions", {"person": "ana"}), ("end_session", {"session": await _ana(world)})):
        await refused("not_yours", world.do(BO, verb, **args))
        await refused("scope_denied", world.do("agent:grok", verb, **args))
    listed = await world.do(ANA, "sessions", person="bo")
    assert [row["session"] for row in listed["sessions"]] == [id]
    assert "link_by" not in listed["sessions"][0]
    assert token.rpartition("_")[2] not in str(listed)
    await world.do(ANA, "end_session", session=id)
    await refused("key_revoked", world.do(BO, "people"))
    entry = (await logged(world, "signed_out"))[-1]
    assert (entry.by, entry.where) == (ANA, BO)
    by_ana = await linked(world, ANA, "bo")
    (row,) = (await world.do(ANA, "sessions", person="bo"))["sessions"]
    assert (row["session"], row["link_by"]) == (await session_of(world, by_ana), ANA)
    for nothing in ("none", world.tokens["agent:grok"].split("_")[1]):
        await refused("not_found", world.do(ANA, "end_session", session=nothing))


async def _ana(world: World) -> str:
    return await session_of(world, world.tokens[ANA])


async def test_sessions_come_in_pages(world: World) -> None:
    """Each once, those that end first come first; signed out they are no longer listed."""
    tokens = [await linked(world, "", "bo") for _ in range(45)]
    got = await pages(world, "sessions", person="bo")
    assert max(price("sessions", page) for page in got) <= 2000
    rows = [row for page in got for row in page["sessions"]]
    assert len(rows) == len({row["session"] for row in rows}) == got[0]["total"] == 46
    assert [row["expires_at"] for row in rows] == sorted(row["expires_at"] for row in rows)
    await sign_out(world.store, badge(tokens[0]))
    assert (await world.do(ANA, "sessions", person="bo"))["total"] == 45
    await world.pass_time(13 * HOUR)
    await world.sign_in("ana")
    # A simulated space's clock ends none, so they are all there, to be ended once.
    assert (await world.do(ANA, "sessions", person="bo"))["total"] == 45
    await world.do(ANA, "end_session", session=tokens[1].split("_")[1])
    no = await refused("not_found", world.do(ANA, "end_session", session=tokens[1].split("_")[1]))
    assert "ended" in no.message
