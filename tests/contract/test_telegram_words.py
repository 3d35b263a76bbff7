"""What is told of whether somebody is reached, late or at the same time: the later word counts, in each space alike."""

import asyncio
import threading

import pytest

from store.engine.accounts import Account, Accounts
from tests.contract.phoning import ACCOUNTS, BO, card, door
from tests.contract.test_gate import MINUTE, asked
from tests.contract.test_telegram_reach import lost, phones, sound
from tests.world import Result, World

__all__ = ["phones"]


async def reachable(world: World, ask: Result) -> bool:
    """Whether bo is asked by a card and not known to be out of reach."""
    view = await card(world, f"ask:{ask['trail']}")
    return any(to["who"] == BO and to["wanted"] and not to.get("lost") for to in view["to"])


async def late(world: World, what: str, age: int = MINUTE) -> Result:
    """The bot tells something of bo that was so a while ago."""
    return await door(world, what, user=ACCOUNTS[BO], why="blocked", age=age)


async def test_c33_what_did_not_arrive_before_somebody_was_heard_is_no_news(phones: World) -> None:
    """The bot could not tell it in time: who has come back meanwhile stays reached, whatever age it says."""
    ask = await asked(phones)
    await lost(phones, BO)
    assert not await reachable(phones, ask)
    assert (await late(phones, "reached", 0))["changed"] == [phones.space]
    for age in (MINUTE, 2**53 - 1):
        assert await late(phones, "unreached", age) == {"changed": [], "lost": False}
    assert await reachable(phones, ask)
    assert (await late(phones, "unreached", -1))["lost"]
    assert not await reachable(phones, ask)
    await sound(phones)


async def test_c33_what_did_not_arrive_long_ago_does_not_undo_that_nothing_arrives_now(phones: World) -> None:
    """Lost, heard, and lost again; then the first of these is told."""
    ask = await asked(phones)
    await late(phones, "reached", 0)
    await lost(phones, BO)
    assert await late(phones, "unreached") == {"changed": [], "lost": True}
    assert not await reachable(phones, ask)


async def test_c33_a_card_that_arrived_before_somebody_left_does_not_bring_them_back(phones: World) -> None:
    """The bot could not tell it in time: they have blocked it since."""
    ask = await asked(phones)
    await lost(phones, BO)
    assert await late(phones, "reached") == {"changed": []}
    assert not await reachable(phones, ask)


@pytest.mark.parametrize(("first", "then", "ends"), [("unreached", "reached", True), ("reached", "unreached", False)])
async def test_c33_two_words_at_once_end_as_the_later_one_says(
    phones: World, monkeypatch: pytest.MonkeyPatch, first: str, then: str, ends: bool
) -> None:
    """Who tells the first has read the account, and is held up until the second was told and done with."""
    ask, real = await asked(phones), Accounts.of
    if first == "reached":
        await lost(phones, BO)
    held, go = threading.Event(), threading.Event()  # the server has a loop of its own

    async def of(self: Accounts, person: str) -> Account | None:
        found = await real(self, person)
        if not held.is_set():
            held.set()
            await asyncio.to_thread(go.wait, 20)
        return found

    monkeypatch.setattr(Accounts, "of", of)
    one = asyncio.create_task(late(phones, first, 0))
    assert await asyncio.to_thread(held.wait, 20)
    await late(phones, then, 0)
    go.set()
    await one
    assert await reachable(phones, ask) == ends
    await sound(phones)
