"""What reaches whom: cards that Telegram will not have, people who are back, reminders, other bots, other layouts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot import lanes, shelf
from bot.client import Telegram as Client
from bot.deck import Cards
from bot.door import Door
from store.domain.copy import Copy
from store.engine.lease import LeaseLost
from store.engine.outbox import Outbox
from tests.chaos.api import served
from tests.contract.scheduled import MINUTE, ticking
from tests.surfaces.server import BOT_SECRET
from tests.telegram.phone import Message
from tests.telegram.test_outbox import asks, copies, over, settled
from tests.telegram.together import NO_LIMITS, PATIENCE, Bot, Together, away, eventually, together
from tests.world import Result, World

BAD = "Bad Request: can't parse entities: unsupported start tag"
LATER = 1_000_000  # an epoch beyond any
LONG = {"lines": [f"line {n} of what is to be done" for n in range(300)]}  # several pages


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here cards are changed behind the bot's back, which otherwise remembers those that it had in hand."""
    monkeypatch.setattr(shelf, "KEPT", 0)
    monkeypatch.setattr(shelf, "SOON", 0)


async def put(live: Together, *changed: Copy) -> None:
    """Write these copies past the bot, and have the bot look."""
    await live.store.copies.put(live.world.space, *changed)
    await live.store.outbox.mark(live.world.space, changed[0].ref)


async def resting(live: Together, ask: Result, states: Sequence[str]) -> list[Copy]:
    """The copies of an ask once they are in these states, and nothing is to be done."""

    async def look() -> bool:
        return [c.state for c in await copies(live, ask)] == list(states)

    await eventually(look)
    await settled(live)
    return await copies(live, ask)


async def test_what_telegram_will_not_have_is_said_in_plain_words(live: Together) -> None:
    """A card that is refused as it is comes at once without any formatting, with the same words and buttons."""
    ana = await live.pair("ana")
    await live.telegram.fault("error", "sendMessage", status=400, description=BAD, times=1)
    ask = await live.ask()
    card = await ana.until(asks)
    assert card.entities == ()
    assert "Shall I deploy?" in card.text
    assert {"Approve", "Reject"} <= set(card.labels)
    await ana.tap(card, "Approve")
    await ana.until(over)
    assert [c.state for c in await copies(live, ask)] == ["sent"]
    assert await live.telegram.violations() == ()


async def test_who_cannot_be_shown_a_card_is_told_of_at_the_door(live: Together) -> None:
    """Telegram will not have it in plain words either: the next approver has it at once; other cards come as before."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.world.do("human:ana", "oncall", on=True)
    await live.telegram.fault("error", "sendMessage", status=400, description=BAD, chat_id=ana.id, times=2)
    ask = await live.ask(summary="The first")
    await bo.until(lambda m: "The first" in m.text and asks(m), timeout=5)

    async def told() -> bool:
        return [(c.state, c.live) for c in await copies(live, ask) if c.to == "human:ana"] == [("failed", False)]

    await eventually(told)
    await live.ask(summary="The second")
    await ana.until(lambda m: "The second" in m.text and asks(m))


async def test_who_has_an_older_card_keeps_it_when_the_newer_is_refused(live: Together) -> None:
    """A card that is offered again and refused by Telegram leaves the one before as it was, with its buttons."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    await live.telegram.fault("error", "sendMessage", status=400, description=BAD, times=None)
    await deck(live).offer(live.world.space, f"ask:{ask['trail']}", "human:ana")
    old, new = await resting(live, ask, ["sent", "failed"])
    assert (old.live, new.live) == (True, False)
    shown = await ana.until(asks)
    assert shown.id == card.id
    assert (await live.world.do("agent:grok", "follow", what=ask["trail"], wait=0)).get("warning") is None


async def test_what_reaches_somebody_lost_is_told(live: Together) -> None:
    """Nothing reached them, as was told; a card that Telegram takes for them proves that they can be reached."""
    ana = await live.pair("ana")
    await live.door("unreached", user=ana.id, why="blocked", space=live.world.space, ref="ask:x")
    ask = await live.ask()
    await settled(live)
    assert await reach(live, "ana") == "lost"
    assert await deck(live).offer(live.world.space, f"ask:{ask['trail']}", "human:ana", chat=ana.id)
    await ana.until(asks)

    async def back() -> bool:
        return await reach(live, "ana") != "lost"

    await eventually(back)
    (sent,) = await resting(live, ask, ["sent"])
    assert (sent.why, sent.live) == ("", True)


@pytest.fixture
async def alone(world: World) -> AsyncIterator[tuple[Together, Cards]]:
    """The cards of no bot that runs."""
    async with together(world, run=False) as live:
        client = Client(live.telegram.token, api_url=live.telegram.url, limits=NO_LIMITS)
        door = Door(live.settings.api_url, BOT_SECRET)
        yield live, Cards(client, door, live.store.outbox, live.store.copies)
        await door.close()
        await client.close()


async def test_who_asks_for_a_card_again_and_again_has_one_coming(alone: tuple[Together, Cards]) -> None:
    """While their chat takes nothing there is one copy for who need not have any, and it comes once."""
    live, cards = alone
    await live.pair("ana")
    bo = await live.pair("bo")
    await live.world.do("human:ana", "oncall", on=True)
    ask = await live.ask()
    await live.telegram.flood(retry_after=1, times=1, chat_id=bo.id)
    for _ in range(3):
        assert await cards.offer(live.world.space, f"ask:{ask['trail']}", "human:bo", chat=bo.id)
    await bo.until(asks)
    assert [c.to for c in await copies(live, ask)].count("human:bo") == 1


def turned_to(page: int) -> Callable[[Message], bool]:
    """Whether a card shows this page."""
    return lambda message: f"Page {page}/" in message.text


async def reach(live: Together, name: str) -> str:
    """How somebody's account is shown."""
    people = (await live.world.do("human:bo", "people"))["people"]
    return next(str(row.get("telegram")) for row in people if row["person"] == f"human:{name}")


async def test_a_reminder_is_a_new_message(live: Together) -> None:
    """Who was reminded has a new card that pushes, and the old one points to it; nobody else has two."""
    ana = await live.pair("ana")
    async with ticking(live.world) as ticks:
        ask = await live.ask(expires_in="4h")
        card = await ana.until(asks)
        await live.world.pass_time(16 * MINUTE)
        await ticks()
        again = await ana.until(lambda m: asks(m) and m.id != card.id)
        assert not again.silent
        old, new = await resting(live, ask, ["sent", "sent"])
        assert [(c.live, c.push) for c in (old, new)] == [(False, 0), (True, 1)]
        await ana.until(lambda m: m.id == card.id and not asks(m))
        await live.world.do("human:bo", "ask_back", trail=ask["trail"], text="Which one?")  # which is no reminder
        await ana.until(lambda m: m.id == again.id and "Which one?" in m.text)
    assert len([m for m in await ana.messages() if m.by_bot]) == 2


async def test_another_bots_cards_are_sent_anew(live: Together) -> None:
    """After the token was changed for another bot's, open asks come anew, and buttons of before are nobody's."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    (own,) = await resting(live, ask, ["sent"])
    assert own.bot == int((await live.store.state())["id"])
    await put(live, replace(own, bot=own.bot + 1))
    new = await ana.until(lambda m: asks(m) and m.id != card.id)
    toast = await ana.tap(card, "Approve")
    assert "not in use" in toast.text
    await ana.tap(new, "Approve")
    await ana.until(lambda m: m.id == new.id and over(m))


async def test_what_was_seen_under_another_layout_counts_no_more(live: Together) -> None:
    """A card whose pages are split in another way by now is to be read anew before it can be approved."""
    ana = await live.pair("ana")
    ask = await live.ask(payload=LONG)
    shown = await ana.until(lambda m: "Page 1/" in m.text)
    (first,) = await resting(live, ask, ["sent"])
    for page in range(1, first.pages):
        await ana.press(shown, f"Page {page + 1}/{first.pages} →")
        shown = await ana.until(turned_to(page + 1))
    await ana.until(asks)
    (read,) = await resting(live, ask, ["sent"])
    assert read.whole
    await put(live, replace(read, layout="of an earlier version", shown=""))
    await ana.until(lambda m: not asks(m) and f"Page {read.pages}/" in m.text)
    (now,) = await resting(live, ask, ["sent"])
    assert (now.seen, now.layout) == ((read.pages - 1,), read.layout)


async def told_of(live: Together, ask: Result) -> bool:
    """Whether the door was told that a card does not reach its person."""
    return [(c.state, c.live) for c in await copies(live, ask)] == [("unreachable", False)]


async def test_an_edit_finds_that_somebody_has_blocked_the_bot(live: Together) -> None:
    """Of a card that arrived, and of one of which that was never known for sure: they are told of as not reached."""
    ana = await live.pair("ana")
    for state in ("sent", "uncertain"):
        ask = await live.ask(summary=f"It is {state}")
        await ana.until(asks)
        (copy,) = await resting(live, ask, ["sent"])
        await live.store.copies.put(live.world.space, replace(copy, state=state))
        blocked = "Forbidden: bot was blocked by the user"
        await live.telegram.fault("error", "editMessageText", status=403, description=blocked, chat_id=ana.id, times=1)
        await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
        await eventually(partial(told_of, live, ask))
        assert await reach(live, "ana") == "lost"
        await ana.say("/whoami")  # which proves the contrary

        async def back() -> bool:
            return await reach(live, "ana") != "lost"

        await eventually(back)


async def test_an_older_card_of_somebody_who_was_away_shows_the_end_too(live: Together) -> None:
    """No edit reaches them when it is decided; once they are back, each of their cards shows what became of it."""
    ana = await live.pair("ana")
    ask = await live.ask()
    old = await ana.until(asks)
    assert await deck(live).offer(live.world.space, f"ask:{ask['trail']}", "human:ana")
    await ana.until(lambda m: asks(m) and m.id != old.id)
    await resting(live, ask, ["sent", "sent"])
    blocked = "Forbidden: bot was blocked by the user"
    await live.telegram.fault("error", "editMessageText", status=403, description=blocked, chat_id=ana.id, times=None)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    both = await resting(live, ask, ["unreachable", "unreachable"])
    assert await reach(live, "ana") == "lost"
    await live.telegram.clear_faults()
    await ana.say("/whoami")

    async def back() -> bool:
        return await reach(live, "ana") != "lost"

    await eventually(back)
    for copy in both:
        await ana.until(lambda m, id=copy.message: m.id == id and over(m))  # type: ignore[misc] # of this round


async def test_who_the_door_thinks_reached_is_not_written_to_without_end(
    live: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their edit fails, and the door will not have them lost: it is tried again later, behind what else is for them."""

    async def unreached(door: Door, **about: Any) -> Any:
        return {"changed": [], "lost": False}

    monkeypatch.setattr(Door, "unreached", unreached)
    monkeypatch.setattr(lanes, "LAST", 3600.0)
    monkeypatch.setattr(lanes, "FIRST", 3600.0)
    ana = await live.pair("ana")
    ask = await live.ask()
    await ana.until(asks)
    blocked = "Forbidden: bot was blocked by the user"
    await live.telegram.fault("error", "editMessageText", status=403, description=blocked, chat_id=ana.id, times=None)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await resting(live, ask, ["unreachable"])
    for n in range(3):
        await live.ask(summary=f"Another {n}?")
        await ana.until(lambda m, n=n: f"Another {n}?" in m.text)  # type: ignore[misc] # of this round
    edits = [call for call in await live.telegram.calls() if call.method == "editMessageText"]
    assert len(edits) == 2  # which found it, and which was tried since the door says that they are reached


async def test_a_group_that_moved_while_the_api_was_away_has_its_notice(
    live: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends it finds that the group has another number, and can tell nobody: it is sent there once they can."""
    ana, gone = await live.pair("ana"), away(monkeypatch, "migrated")
    group = await live.telegram.group("Team", ana)
    where = {"chat_type": "group", "title": "Team", "thread": 0, "space": live.world.space}
    await live.door("group", update=99, user=ana.id, chat=group.id, **where)
    moved = await live.telegram.migrate(group)
    ask = await live.ask()

    async def again() -> bool:
        calls = await live.telegram.calls()
        return len([c for c in calls if c.method == "sendMessage" and c.params["chat_id"] == group.id]) > 1

    await eventually(again)
    gone.clear()
    await ana.until(lambda m: "Shall I deploy?" in m.text, chat=moved)
    await settled(live)
    found = [(c.chat, c.state, c.live) for c in await copies(live, ask) if c.to != "human:ana"]
    assert sorted(found, reverse=True) == [(group.id, "pending", False), (moved.id, "sent", True)]


async def test_nothing_is_written_after_the_cards_have_ended(
    alone: tuple[Together, Cards], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not when a card is to be looked at again: who was about to note that has ended with them."""
    live, cards = alone
    settle, noting, ended = Outbox.settled, asyncio.Event(), asyncio.Event()

    async def settled(outbox: Outbox, space: str, ref: str, mark: int = 0, *, again: int = 0) -> bool:
        if mark:
            return await settle(outbox, space, ref, mark, again=again)
        noting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return False

    monkeypatch.setattr(Outbox, "settled", settled)
    await live.pair("ana")
    await live.telegram.fault("error", "sendMessage", times=1)  # it may have arrived: another is sent after a while
    running = asyncio.create_task(cards.run())
    await live.ask()
    async with asyncio.timeout(PATIENCE):
        await noting.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert ended.is_set()


def deck(live: Together, epoch: int = 0) -> Cards:
    """Cards beside those of the bot that runs, in no term or in this one."""
    assert live.app
    bot = live.store.copies.under(epoch, bot=0)
    return Cards(live.app._telegram, live.app._door, live.store.outbox.under(epoch), bot)


async def test_an_earlier_term_writes_no_cards(live: Together) -> None:
    """A bot that was asleep while another began its term changes neither copies nor what is to be looked at."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    before = await resting(live, ask, ["sent"])
    space, ref, mine = live.world.space, f"ask:{ask['trail']}", LATER - 1
    await live.store.copies.under(LATER, bot=0).taken(space, ref)
    with pytest.raises(LeaseLost):
        await deck(live, mine).offer(space, ref, "human:ana")
    with pytest.raises(LeaseLost):
        await deck(live, mine).pressed(before[0].token, user=ana.id, chat=ana.id, message=card.id, there=True)
    with pytest.raises(LeaseLost):
        await live.store.outbox.under(mine).settled(space, ref)
    assert await copies(live, ask) == before


async def test_an_answer_that_is_not_the_doors_settles_nothing(world: World, tmp_path: Path) -> None:
    """An API that knows no bot answers 404: marks stay and a tap is kept, until the door itself decides."""
    async with together(world, run=False) as live, served(world, tmp_path, env={}) as (api,):
        ana = await live.pair("ana")
        ask = await live.ask()
        bot = Bot(world, live.telegram, api.url, tmp_path / "bot.log")
        right = Bot(world, live.telegram, live.settings.api_url, tmp_path / "right.log")
        try:
            right.start()
            card = await ana.until(asks)
            await settled(live)
            right.end()
            bot.start()
            toast = await ana.tap(card, "Approve")
            assert toast.text.startswith("Kept, not yet decided")
            await live.store.outbox.mark(world.space, f"ask:{ask['trail']}")
            await eventually(lambda: any("could not be looked at" in line["event"] for line in bot.lines()))
            assert await live.store.outbox.dirty(world.space)
            assert await live.store.outbox.opened(world.space)
            assert await live.store.updates.backlog() == 1
            bot.end()
            right.start()
            await ana.until(over)
        finally:
            bot.end()
            right.end()
