"""Who is signed in: the same wherever it is said, also where the clock was moved, which ends no session."""

from dataclasses import replace

import pytest

from store.domain.commit import Commit, put
from store.domain.grant import Grant
from store.domain.moments import moment
from store.engine.commit import Action, What
from store.engine.reads import Doc
from tests.contract.phoning import ANA, BO, pair
from tests.contract.scheduled import HOUR, ticking
from tests.contract.test_gate import asked, history, refused
from tests.contract.test_telegram_reach import lost
from tests.world import Result, World

LIFE = 12 * HOUR


async def sessions(world: World, who: str) -> list[Result]:
    """Those of somebody that are listed."""
    found: list[Result] = (await world.operate("sessions", person=who))["sessions"]
    return found


async def said(world: World, who: str) -> set[bool]:
    """Whether somebody is signed in, by everything that says so."""
    people = (await world.operate("people"))["people"]
    fleet = (await world.operate("fleet"))["principals"]
    roster = (await world.operate("roster"))["principals"]
    one = await world.operate("fleet", principal=who)
    ask = await asked(world)
    await world.do("agent:grok", "ask", withdraw=ask["trail"])
    reach = {each["who"]: each["reach"] for each in ask["asked"]}
    return {
        bool(await sessions(world, who)),
        (await world.operate("people", person=who))["signed_in"],
        *(each["signed_in"] for each in people if each["person"] == who),
        *(each["reachable"] for each in (*fleet, *roster) if each["id"] == who),
        *(each["state"] == "at work" for each in fleet if each["id"] == who),
        one["reachable"],
        one["state"] == "at work",
        "console" in reach[who],
    }


async def passed(world: World, who: str) -> str:
    """Half a day of real time is over since somebody signed in: so stands what was written then. Gives the session."""
    ((row,), keys) = (await sessions(world, who), world.keys)
    _, (grant,), (seen,) = await world.store.fetch(keys, [Doc(Grant, row["session"])], pure=False)
    past = put(replace(grant, created=grant.created - LIFE, expires=grant.expires - LIFE))
    action = Action(keys.done("operator", "passed"), "", "", 1000)
    done = await world.store.commit(keys, Commit(result={}, puts=(past,)), seen=seen, lines=[], action=action)
    assert done.what is What.OK
    return str(row["session"])


async def test_a_moved_clock_ends_no_session(world: World) -> None:
    """Whoever is signed in is so wherever that is said, with the time that is really left, and can be signed out."""
    await world.pass_time(LIFE + HOUR)
    assert await said(world, BO) == {True}
    (row,) = await sessions(world, BO)
    told = await world.operate("people", person="bo")
    left = moment(row["expires_at"], now=0) - moment((await world.operate("fleet"))["now"], now=0)
    assert (told["signed_in"], LIFE - HOUR < left <= LIFE) == (True, True)
    await world.do(ANA, "end_session", session=row["session"])
    assert await said(world, BO) == {False}


@pytest.mark.parametrize("moved", [0, LIFE + HOUR])
async def test_real_time_ends_a_session(world: World, moved: int) -> None:
    """However far the clock of its space was moved: nothing says that they are signed in, and it is noted once."""
    await pair(world, BO)
    await world.pass_time(moved)
    ask = await asked(world, approvers=["bo"])
    item = await world.do("agent:grok", "handoff", to=BO, summary="Look at this")
    await lost(world, BO)
    assert await history(world, item["item"], "undelivered") == []
    id = await passed(world, BO)
    assert await said(world, BO) == {False}
    no = await refused("not_found", world.do(ANA, "end_session", session=id))
    assert no.facts["state"] == "over"
    async with ticking(world) as ticks:  # which has swept once
        assert not (await ticks())["passed"]
    assert len(await history(world, ask["trail"], "undelivered")) == 1


async def test_who_is_signed_in_is_not_said_not_to_be(world: World) -> None:
    """Their phone is lost after the clock was moved: what was handed to them arrives in the console."""
    await pair(world, BO)
    await world.pass_time(LIFE + HOUR)
    item = await world.do("agent:grok", "handoff", to=BO, summary="Look at this")
    await lost(world, BO)
    assert await history(world, item["item"], "undelivered") == []
