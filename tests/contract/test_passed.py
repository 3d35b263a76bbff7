"""Sessions whose time is over by itself: who asks is told then that nobody is left to decide."""

import secrets

from tests.contract.phoning import ACCOUNTS, ANA, BO, door, pair
from tests.contract.scheduled import HOUR, ticking
from tests.contract.test_gate import asked, decided, history
from tests.world import World

LIFE = 12 * HOUR


async def lost(world: World) -> None:
    """Nothing reaches ana's and bo's phones."""
    for who in (ANA, BO):
        await door(world, "unreached", user=ACCOUNTS[who], why="blocked")


async def test_c20_the_last_session_ends_by_its_time(empty: World) -> None:
    """The phones are lost and the last session ends: the agent is told once, and no more when somebody signs in."""
    world = World(empty.engine, empty.store, f"t{secrets.token_hex(6)}", http=empty.http)
    await world.operate("space")
    await world.agent("grok")
    for who in (ANA, BO):
        await world.human(who.partition(":")[2])
        await pair(world, who)
    ask = await asked(world)
    await lost(world)
    async with ticking(world) as ticks:
        await world.pass_time(LIFE - HOUR)
        assert (await ticks())["passed"] == 0
        assert not await history(world, ask["trail"], "undelivered")
        await world.pass_time(HOUR + 1)
        assert (await ticks())["passed"] == 2
        assert not (await ticks())["passed"]
        assert len(await history(world, ask["trail"], "undelivered")) == 1
        told = await world.do("agent:grok", "follow", what=ask["trail"], wait=20)
        assert (told["status"], told["warning"]) == ("pending", "no_approver_reachable")
        await world.sign_in("bo")
        assert "warning" not in await world.do("agent:grok", "view", what=ask["trail"])


async def test_a_simulated_clock_ends_no_session(world: World) -> None:
    """Whatever the clock of a simulated space says, who is signed in can be reached there, and decides."""
    for who in (ANA, BO):
        await pair(world, who)
    await lost(world)
    async with ticking(world) as ticks:
        await world.pass_time(LIFE + HOUR)
        ask = await asked(world)
        assert "warning" not in ask
        assert not (await ticks())["passed"]
        assert not await history(world, ask["trail"], "undelivered")
        await decided(world, ask, "approve")
