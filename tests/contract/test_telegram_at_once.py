"""Two things at the same moment, of which each alone leaves somebody to be told: whoever waits hears how it ended."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from store.engine.client import Target
from store.engine.store import SCHEDULER, WRITER, open_store
from store.verbs.reaching import unreached, unshown
from store.verbs.sweeping import sweep
from store.verbs.sweeps_sessions import PASSED
from tests.contract.phoning import ACCOUNTS, ANA, BO, door, pair
from tests.contract.scheduled import HOUR
from tests.contract.test_gate import asked, history
from tests.contract.test_telegram_reach import follow, lost, signed_out, sound
from tests.world import Result, World

GROK = "agent:grok"
ROUNDS = 8
Act = Callable[[World, Result], Awaitable[object]]  # in a world, about an ask


async def overtaken(
    world: World, patch: pytest.MonkeyPatch, slow: Act, fast: Act, ask: Result, *, user: str = WRITER, trip: int = 0
) -> object:
    """Do `slow`, held before its first commit, or before its read of this number, until `fast` is through.

    Gives what `slow` gives.
    """
    store = open_store(Target.embedded(world.engine), user=user)
    name = "fetch" if trip else "commit"
    here, through, numbers, real = asyncio.Event(), asyncio.Event(), itertools.count(1), getattr(store, name)

    async def held(*args: object, **more: object) -> object:
        if next(numbers) == (trip or 1):
            here.set()
            await through.wait()
        return await real(*args, **more)

    patch.setattr(store, name, held)
    try:
        async with asyncio.timeout(30), asyncio.TaskGroup() as both:
            late = both.create_task(_done(slow, replace(world, store=store, http=None), ask))
            await here.wait()
            await fast(world, ask)
            through.set()
        return late.result()
    finally:
        await store.close()


async def _done(act: Act, world: World, ask: Result) -> object:
    return await act(world, ask)


async def silences(world: World, ask: Result) -> int:
    """How often it was said that nobody can be reached."""
    return len(await history(world, ask["trail"], "undelivered"))


def phone(who: str) -> Act:
    """The bot brings that nothing reaches somebody."""
    return lambda world, _: unreached(world.store, user=ACCOUNTS[who])


def card(who: str) -> Act:
    """The bot brings that the card of the ask cannot be shown on somebody's phone."""
    return lambda world, ask: unshown(
        world.store, user=ACCOUNTS[who], space=world.space, ref=f"ask:{ask['trail']}"
    )  # fmt: skip


def session(who: str) -> Act:
    """The sessions of somebody end."""
    return lambda world, _: signed_out(world, who)


def unpaired(who: str) -> Act:
    """Somebody has no phone here any more."""
    return lambda world, _: world.operate("unpair", person=who)


def role(who: str, role: str) -> Act:
    """Somebody has this role from now on."""
    return lambda world, _: world.operate("human", name=who.partition(":")[2], role=role)


async def signs_in(world: World, _: Result) -> None:
    """Bo opens a session."""
    await world.sign_in("bo")


async def asks(world: World, _: Result) -> Result:
    """Something else is asked."""
    return await asked(world, summary="And this?")


async def hands(world: World, _: Result) -> Result:
    """Something is handed to bo."""
    return await world.do(GROK, "handoff", to=BO, summary="Look at this")


WAYS = {
    "phone": phone(BO),
    "card": card(BO),
    "session": session(BO),
    "unpaired": unpaired(BO),
    "role": role(BO, "none"),
}


@pytest.mark.parametrize("turned", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("way", WAYS)
async def test_c20_the_last_two_ways_end_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, way: str, turned: bool
) -> None:
    """Ana's session and what else was left, each of which was decided while the other still stood: it is said once."""
    await pair(world, BO)
    await (unpaired(BO) if way == "session" else session(BO))(world, {})
    ask = await asked(world)
    assert "warning" not in ask
    slow, fast = (WAYS[way], session(ANA)) if turned else (session(ANA), WAYS[way])
    await overtaken(world, monkeypatch, slow, fast, ask)
    assert (await follow(world, ask))["warning"] == "no_approver_reachable"
    assert await silences(world, ask) == 1
    await sound(world)


async def test_c20_the_last_goes_while_one_becomes_an_approver(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cy, who is signed in, may decide from then on: somebody is left, and nothing is said."""
    await world.human("cy", "member")
    await pair(world, BO)
    await signed_out(world, ANA, BO)
    ask = await asked(world)
    await overtaken(world, monkeypatch, unpaired(BO), role("human:cy", "approver"), ask)
    assert "warning" not in await follow(world, ask)
    assert await silences(world, ask) == 0
    await sound(world)


async def test_c20_an_ask_comes_while_the_last_is_lost(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever was first: who asks is told with the ask, or after it, that nobody can be reached."""
    await pair(world, ANA)
    await signed_out(world, ANA, BO)
    new = await overtaken(world, monkeypatch, asks, phone(ANA), {})
    assert isinstance(new, dict)
    assert new["warning"] == "no_approver_reachable"
    await world.do(GROK, "ask", withdraw=new["trail"])
    await door(world, "reached", user=ACCOUNTS[ANA])
    made: list[Result] = []

    async def asking(world: World, ask: Result) -> None:
        made.append(await asks(world, ask))

    await overtaken(world, monkeypatch, phone(ANA), asking, {})
    assert "warning" not in made[0]
    assert (await follow(world, made[0]))["warning"] == "no_approver_reachable"
    assert await silences(world, made[0]) == 1
    await sound(world)


@pytest.mark.parametrize(
    ("fast", "before", "told"),
    [(signs_in, session(BO), 0), (session(BO), signs_in, 1), (hands, session(BO), 2)],
    ids=["signed in", "signed out", "handed"],
)
async def test_c20_what_was_handed_to_who_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch, fast: Act, before: Act, told: int
) -> None:
    """Their phone is lost while they sign in or out, or get one more: their senders hear it where it is so."""
    await pair(world, BO)
    await before(world, {})
    items = [await hands(world, {})]

    async def meanwhile(world: World, ask: Result) -> None:
        done = await fast(world, ask)
        items.extend([done] if isinstance(done, dict) else [])

    await overtaken(world, monkeypatch, phone(BO), meanwhile, {})
    assert sum([await silences(world, {"trail": each["item"]}) for each in items]) == told
    await sound(world)


async def test_c20_the_last_session_ends_while_one_begins(empty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends by its time, and bo signs in before that is noted: somebody can be told, and nothing else is said."""
    world = replace(empty, space=f"{empty.space}-real")
    await world.operate("space")
    await world.agent("grok")
    for name in ("ana", "bo"):
        await world.human(name)
    await pair(world, ANA)
    ask = await asked(world)
    await lost(world, ANA)
    await world.pass_time(12 * HOUR + 1)

    async def passes(world: World, _: Result) -> Result:
        return await sweep(world.store, PASSED, world.space, epoch=1)

    done = await overtaken(world, monkeypatch, passes, signs_in, ask, user=SCHEDULER)
    assert isinstance(done, dict)
    assert (done["done"], await silences(world, ask)) == (2, 0)
    assert "warning" not in await follow(world, ask)
    await sound(world)


async def test_c33_what_is_chosen_while_a_phone_is_lost_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bo sets quiet hours between two reads of the same: neither is written over."""
    await pair(world, BO)
    await asked(world)

    async def quiet(world: World, _: Result) -> None:
        await world.do(BO, "quiet", hours="22:00-07:00")

    await overtaken(world, monkeypatch, phone(BO), quiet, {}, trip=2)
    bo = await world.operate("people", person="bo")
    assert (bo["telegram"], bo["hours"]) == ("lost", "22:00-07:00")
    await sound(world)


async def test_c20_two_phones_are_lost_in_any_order(world: World) -> None:
    """Two bots bring it at once, as they happen to: nobody is ever left waiting for who cannot be told."""
    for who in (ANA, BO):
        await pair(world, who)
    await signed_out(world, ANA, BO)
    for number in range(ROUNDS):
        ask = await asked(world, summary=f"May I, {number}?")
        assert "warning" not in ask
        await asyncio.gather(lost(world, ANA), lost(world, BO))
        assert (await follow(world, ask))["warning"] == "no_approver_reachable"
        assert await silences(world, ask) == 1
        await asyncio.gather(*(door(world, "reached", user=ACCOUNTS[who]) for who in (ANA, BO)))
        assert "warning" not in await follow(world, ask)
        await world.do(GROK, "ask", withdraw=ask["trail"])
    await sound(world)
