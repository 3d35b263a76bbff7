"""Cards come to show what stands, whatever happens on the way: with the real store, API, emulator and bot."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from bot import shelf
from bot.deck import Cards
from store.domain.copy import Copy
from tests.chaos.api import served
from tests.surfaces.server import BOT_SECRET
from tests.telegram.phone import Message, Phone
from tests.telegram.together import Bot, Together, away, eventually, together
from tests.world import Result, World


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here cards are changed behind the bot's back, which otherwise remembers those that it had in hand."""
    monkeypatch.setattr(shelf, "KEPT", 0)
    monkeypatch.setattr(shelf, "SOON", 0)


def asks(message: Message) -> bool:
    """Whether it can be approved."""
    return any(button.text == "Approve" for row in message.buttons for button in row)


def over(message: Message) -> bool:
    """Whether it says that it is decided."""
    return message.text.startswith(("Approved", "Rejected", "Expired", "Withdrawn"))


async def copies(live: Together, ask: Result) -> list[Copy]:
    """The records of an ask's copies."""
    return await live.store.copies.of(live.world.space, f"ask:{ask['trail']}")


async def status(live: Together, ask: Result) -> str:
    """How an ask stands."""
    found: str = (await live.world.do("agent:grok", "follow", what=ask["trail"], wait=0))["status"]
    return found


async def all_show(phones: list[Phone], look: Any) -> None:
    """Return once every message of the bot on these phones fits."""

    async def fit() -> bool:
        shown = [m for phone in phones for m in await phone.messages() if m.by_bot]
        return all(map(look, shown))

    await eventually(fit)


async def test_one_decides_and_every_card_shows_it(live: Together) -> None:
    """Two people have the card; one taps; both cards say who decided, and neither can be approved any more."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    ask = await live.ask()
    card = await ana.until(asks)
    await bo.until(asks)
    await ana.tap(card, "Approve")
    await all_show([ana, bo], lambda m: over(m) and not asks(m) and "ana" in m.text)
    assert await status(live, ask) == "approved"
    assert len(await ana.messages()) == len(await bo.messages()) == 1
    assert await live.telegram.violations() == ()


async def test_a_decision_in_the_console_edits_the_card(live: Together) -> None:
    """What is decided elsewhere is on the phone at once."""
    ana = await live.pair("ana")
    ask = await live.ask()
    await ana.until(asks)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await ana.until(over)
    assert {(c.state, c.live) for c in await copies(live, ask)} == {("sent", True)}


@pytest.mark.parametrize("fault", ["apply_then_cut", "error"])
async def test_a_send_that_may_have_arrived_is_followed_by_another(live: Together, fault: str) -> None:
    """The card comes again, with buttons of its own; whichever is pressed counts, and both come to show the verdict."""
    ana = await live.pair("ana")
    await live.telegram.fault(fault, "sendMessage", times=1)
    ask = await live.ask()

    async def settled_down() -> bool:
        return [c.state for c in await copies(live, ask)].count("sent") == 1

    await eventually(settled_down)
    shown = [m for m in await ana.messages() if m.by_bot]
    states = sorted(c.state for c in await copies(live, ask))
    assert states == ["sent", "uncertain"]
    assert len(shown) == (2 if fault == "apply_then_cut" else 1)
    assert len({m.button("Approve").callback_data for m in shown}) == len(shown)
    await ana.tap(shown[0], "Approve")  # the first that arrived
    await all_show([ana], over)
    assert await status(live, ask) == "approved"
    assert all(c.message for c in await copies(live, ask)) == (fault == "apply_then_cut")


async def test_who_has_blocked_the_bot_is_passed_over(live: Together) -> None:
    """The person on call has blocked the bot: the next one has the card, and the agent sees who was not reached."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.world.do("human:ana", "oncall", on=True)
    blocked = "Forbidden: bot was blocked by the user"  # and nobody has told the bot before it writes
    await live.telegram.fault("error", "sendMessage", status=403, description=blocked, chat_id=ana.id)
    ask = await live.ask()
    await bo.until(asks, timeout=5)
    assert [c.state for c in await copies(live, ask) if c.to == "human:ana"] == ["unreachable"]
    assert await status(live, ask) == "pending"
    await ana.block()
    await ana.unblock()
    await ana.until(asks)  # back again: the card comes
    assert await live.telegram.violations() == ()


async def test_who_comes_back_sees_what_was_decided_meanwhile(live: Together) -> None:
    """A card that could not be edited while its person had blocked the bot shows the verdict once they are back."""
    ana = await live.pair("ana")
    ask = await live.ask()
    await ana.until(asks)
    await ana.block()

    async def known() -> bool:
        people = (await live.world.do("human:bo", "people"))["people"]
        return any(row.get("telegram") == "lost" for row in people)

    await eventually(known)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await eventually(lambda: stale(live, ask))
    await ana.unblock()
    await ana.until(lambda m: over(m) and not asks(m))
    assert len([m for m in await ana.messages() if m.by_bot]) == 1
    assert await live.telegram.violations() == ()


async def test_who_came_back_before_it_was_told_that_they_were_lost(
    live: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit did not arrive, and the API was away when it was to hear so; they are back when it does: it is edited."""
    ana, gone = await live.pair("ana"), away(monkeypatch, "unreached")
    ask = await live.ask()
    await ana.until(asks)
    blocked = "Forbidden: bot was blocked by the user"
    await live.telegram.fault("error", "editMessageText", status=403, description=blocked, chat_id=ana.id)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await eventually(lambda: stale(live, ask))
    await live.door("reached", user=ana.id)
    gone.clear()
    await ana.until(lambda m: over(m) and not asks(m))
    people = (await live.world.do("human:bo", "people"))["people"]
    assert all(row.get("telegram") != "lost" for row in people)


async def stale(live: Together, ask: Result) -> bool:
    """Whether the bot has found that its card cannot be edited."""
    return [c.state for c in await copies(live, ask)] == ["unreachable"]


async def test_reasons_are_not_offered_under_a_card_that_shows_the_end(live: Together) -> None:
    """Reject was pressed when the ask was decided already: the card shows the verdict, and no reasons below it."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await ana.until(over)
    await ana.tap(card, "Reject")
    await settled(live)
    shown = await ana.last()
    assert over(shown)
    assert shown.labels == ("Take back",)


async def test_a_card_that_is_gone_is_sent_again_only_while_it_is_pending(live: Together) -> None:
    """The person deleted the chat's messages: on the next change a new card comes; once decided none does."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    gone = "Bad Request: message to edit not found"
    await live.telegram.fault("error", "editMessageText", status=400, description=gone, times=1)
    await live.world.do("human:bo", "ask_back", trail=ask["trail"], text="Which one?")
    new = await ana.until(lambda m: asks(m) and m.id != card.id)
    await live.telegram.fault("error", "editMessageText", status=400, description=gone, times=1)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="reject", reason="no")

    async def noticed() -> bool:
        return not any(c.live for c in await copies(live, ask))

    await eventually(noticed)
    assert (await ana.last()).id == new.id


async def test_a_flood_holds_up_its_own_chat_only(live: Together) -> None:
    """One person's chat is flooded for long: the other has the card at once, and a decision goes on."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.telegram.flood(retry_after=600, times=None, chat_id=ana.id)
    ask = await live.ask()
    card = await bo.until(asks)
    await bo.tap(card, "Approve")
    await bo.until(over)
    assert await status(live, ask) == "approved"
    (put_off,) = [c for c in await copies(live, ask) if c.to == "human:ana"]
    assert (put_off.state, put_off.message) == ("pending", 0)


async def test_what_was_put_off_is_sent_later_once(live: Together) -> None:
    """After a 429 the card comes when the time has passed, and once."""
    ana = await live.pair("ana")
    await live.telegram.flood(retry_after=1, times=1)
    await live.ask()
    await ana.until(asks)
    assert len(await ana.messages()) == 1


async def test_a_deadline_shows_without_anybody_doing_anything(live: Together) -> None:
    """When the deadline passes, in a space whose clock was moved too, the card says that nobody decided."""
    ana = await live.pair("ana")
    ask = await live.ask(expires_in="5 min")
    await ana.until(asks)
    await live.world.pass_time(5 * 60_000 + 1_000)
    await ana.until(lambda m: m.text.startswith("Expired") and not asks(m))
    assert await status(live, ask) == "expired"


async def test_it_is_offered_again_where_the_person_is(live: Together) -> None:
    """On demand the card comes anew, the old one loses its buttons, and a tap on the new one decides for both."""
    ana = await live.pair("ana")
    ask = await live.ask()
    card = await ana.until(asks)
    cards = Cards(*parts(live))
    await cards.offer(live.world.space, f"ask:{ask['trail']}", "human:ana")
    new = await ana.until(lambda m: asks(m) and m.id != card.id)

    async def old_is_bare() -> bool:
        return not any(asks(m) for m in await ana.messages() if m.id == card.id)

    await eventually(old_is_bare)
    await ana.tap(new, "Approve")
    await all_show([ana], over)


def parts(live: Together) -> Any:
    """What cards are made of."""
    assert live.app
    return live.app._telegram, live.app._door, live.store.outbox, live.store.copies


async def test_a_bot_that_is_killed_anywhere_leaves_nothing_undone(world: World, tmp_path: Path) -> None:
    """Killed while a card is under way: the next one sends another, and a tap on either decides for both."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        ana = await live.pair("ana")
        await live.telegram.fault("apply_then_hang", "sendMessage", seconds=60, times=1)
        bot.start()
        ask = await live.ask()
        try:
            await ana.until(asks)
            assert [c.state for c in await copies(live, ask)] == ["sending"]
            bot.end(signal.SIGKILL)
            bot.start()

            async def again() -> bool:
                return len([m for m in await ana.messages() if asks(m)]) == 2

            await eventually(again)
            first = (await ana.messages())[0]
            await ana.press(first, "Approve")
            await all_show([ana], over)
            assert await status(live, ask) == "approved"
        finally:
            bot.end()
        assert sorted(c.state for c in await copies(live, ask)) == ["sent", "sent"]
        assert await live.telegram.violations() == ()


async def test_after_a_long_absence_open_cards_are_offered_again(world: World, tmp_path: Path) -> None:
    """The last good poll is more than 150 s ago: presses were lost, so open cards come anew; decided ones do not."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        ana = await live.pair("ana")
        bot.start()
        try:
            await live.ask(summary="The first")
            done = await live.ask(summary="The second")
            await ana.until(lambda m: "The first" in m.text)
            await ana.tap(await ana.until(lambda m: "The second" in m.text), "Approve")
            await ana.until(lambda m: over(m) and "The second" in m.text)
            await settled(live)
            bot.end()
            await live.store.say(polled=1)
            bot.start()
            await ana.until(lambda m: m.id > 2 and "The first" in m.text and asks(m))

            async def one_left() -> bool:
                return len([m for m in await ana.messages() if asks(m)]) == 1

            await eventually(one_left)
            await settled(live)
        finally:
            bot.end()
        assert len([m for m in await ana.messages() if "The second" in m.text]) == 1
        assert await status(live, done) == "approved"


async def settled(live: Together) -> None:
    """Return once nothing is marked, and no update is in hand: a handler writes the copy that a press has changed."""

    async def look() -> bool:
        updates = live.store.updates
        return not (await live.store.outbox.dirty(live.world.space) or await updates.backlog())

    await eventually(look)


async def test_a_tap_while_the_api_is_away_is_kept_and_decided_later(world: World, tmp_path: Path) -> None:
    """The toast says that it is kept; when the API is back the decision is made and shown, without another tap."""
    known = {"LOGMEM_BOT_SECRET": BOT_SECRET}
    async with together(world, run=False) as live, served(world, tmp_path, env=known) as (api,):
        bot = Bot(world, live.telegram, api.url, tmp_path / "bot.log")
        ana = await live.pair("ana")
        bot.start()
        try:
            ask = await live.ask()
            card = await ana.until(asks)
            api.end(signal.SIGKILL)
            toast = await ana.tap(card, "Approve")
            assert toast.text.startswith("Kept, not yet decided")
            assert await status(live, ask) == "pending"
            await api.start()
            await ana.until(over)
            assert await status(live, ask) == "approved"
        finally:
            bot.end()


async def test_many_asks_at_once_reach_everybody(live: Together) -> None:
    """Forty asks of two agents to two people: each has each card once, and all come to show what was decided."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    agents = ["agent:grok", "agent:codex"]

    async def twenty(agent: str) -> list[Result]:
        return [await live.ask(agent, summary=f"ask {n}", payload={"n": n}) for n in range(20)]

    made = [ask for asked in await asyncio.gather(*map(twenty, agents)) for ask in asked]

    async def there(phone: Phone) -> bool:
        return len([m for m in await phone.messages() if asks(m)]) == len(made)

    for phone in (ana, bo):
        await eventually(lambda phone=phone: there(phone))
    for ask in made:
        verdict = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
        await live.world.do("human:ana", "decide", **verdict)
    await all_show([ana, bo], over)
    assert len(await ana.messages()) == len(made)
    assert await live.telegram.violations() == ()


async def test_a_chat_that_hangs_holds_up_nobody(live: Together) -> None:
    """Telegram does not answer for one chat: all others have their cards, and a decision is shown to them."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.telegram.fault("hang", "*", seconds=60, times=None, chat_id=ana.id)
    for n in range(5):
        await live.ask(summary=f"ask {n}", payload={"n": n})
    card = await bo.until(lambda m: "ask 4" in m.text)
    await bo.tap(card, "Approve")
    await bo.until(lambda m: "ask 4" in m.text and over(m))


async def test_a_group_has_a_notice_that_follows_it_when_it_moves(live: Together) -> None:
    """A notice without buttons to decide, edited when it is decided; after the group has moved, the next goes there."""
    ana = await live.pair("ana")
    group = await live.telegram.group("Team", ana)
    where = {"chat_type": "group", "title": "Team", "thread": 0, "space": live.world.space}
    await live.door("group", update=99, user=ana.id, chat=group.id, **where)
    ask = await live.ask()
    notice = await ana.until(lambda m: "deploy" in m.text, chat=group)
    assert notice.silent
    assert not asks(notice)
    card = await ana.until(asks)
    await ana.tap(card, "Approve")
    await ana.until(lambda m: m.id == notice.id and over(m), chat=group)
    assert await status(live, ask) == "approved"
    moved = await live.telegram.migrate(group)
    await live.ask(summary="And this?")
    await ana.until(lambda m: "And this?" in m.text, chat=moved)
    assert await live.telegram.violations() == ()
