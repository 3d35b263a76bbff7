"""Who is not reached: the agent is told, the next one is asked, and what was pressed in vain is offered again."""

import asyncio
import signal
import time
from pathlib import Path

from tests.telegram.phone import Message, Phone
from tests.telegram.together import Bot, Together, eventually, together
from tests.world import Result, World

SOON = 5.0  # seconds: the bound of the requirement
BLOCKED = "Forbidden: bot was blocked by the user"
PRESSES_LAST = 150  # seconds that Telegram keeps a press


def asks(message: Message) -> bool:
    """Whether it can be approved."""
    return "Approve" in message.labels


async def signed_out(world: World, *people: str) -> None:
    """These have no session any more, so that Telegram is all that reaches them."""
    for who in people:
        for each in (await world.operate("sessions", person=who))["sessions"]:
            await world.operate("end_session", session=each["session"])


async def alone(live: Together) -> Phone:
    """Ana has a phone, and nobody is signed in: she is all there is."""
    ana = await live.pair("ana")
    await signed_out(live.world, "human:ana", "human:bo")
    return ana


async def follows(live: Together, ask: Result) -> Result:
    """What the agent's follow gives."""
    return await live.world.do("agent:grok", "follow", what=ask["trail"], wait=20)


async def test_who_asks_is_told_within_five_seconds_that_nobody_is_reached(live: Together) -> None:
    """The only approver blocks the bot while an agent waits: the follow returns, with the warning."""
    ana = await alone(live)
    ask = await live.ask()
    assert "warning" not in ask
    await ana.until(asks)
    waiting = asyncio.create_task(follows(live, ask))
    await ana.block()
    async with asyncio.timeout(SOON):
        told = await waiting
    assert told["status"] == "pending"
    assert told["warning"] == "no_approver_reachable"
    assert (await live.ask(summary="And this?"))["warning"] == "no_approver_reachable"
    assert await live.telegram.violations() == ()


async def test_the_same_where_it_shows_only_when_the_card_is_sent(live: Together) -> None:
    """Telegram had told nobody of the block: the card itself comes back, and the agent hears of it as fast."""
    ana = await alone(live)
    await live.telegram.fault("error", "sendMessage", status=403, description=BLOCKED, chat_id=ana.id, times=None)
    ask = await live.ask()
    async with asyncio.timeout(SOON):
        told = await follows(live, ask)
    assert (told["status"], told["warning"]) == ("pending", "no_approver_reachable")


async def test_the_next_one_is_asked_within_five_seconds(live: Together) -> None:
    """The person on call has blocked the bot: the next approver has the card, decides, and the agent sees both."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.world.do("human:ana", "oncall", on=True)
    await live.telegram.fault("error", "sendMessage", status=403, description=BLOCKED, chat_id=ana.id, times=None)
    ask = await live.ask()
    card = await bo.until(asks, timeout=SOON)
    assert not await ana.messages()
    reached = {each["who"]: each for each in (await live.world.do("human:bo", "inbox", trail=ask["trail"]))["asked"]}
    assert reached["human:ana"]["delivery"] == "unreachable"
    await bo.tap(card, "Approve")
    assert (await follows(live, ask))["status"] == "approved"


async def test_a_press_that_was_lost_while_the_bot_was_away_can_be_made_again(world: World, tmp_path: Path) -> None:
    """After more than 150 s away the press is gone at Telegram: the card comes anew, and decides."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        ana = await live.pair("ana")
        bot.start()
        try:
            ask = await live.ask()
            card = await ana.until(asks)
            await eventually(lambda: polled(live))
            bot.end(signal.SIGKILL)
            await ana.press(card, "Approve")
            away = PRESSES_LAST + 10
            await live.telegram.pass_time(away)  # at Telegram; here the last good poll is as long ago
            await live.store.say(polled=time.time_ns() // 1_000_000 - away * 1000)
            bot.start()
            new = await ana.until(lambda m: asks(m) and m.id != card.id)
            await ana.until(lambda m: m.id == card.id and not m.buttons)
            assert (await live.world.do("agent:grok", "follow", what=ask["trail"], wait=0))["status"] == "pending"
            toast = await ana.tap(new, "Approve")
            assert "approved" in toast.text
            await ana.until(lambda m: m.id == card.id and m.text.startswith("Approved"))
        finally:
            bot.end()
        assert await live.telegram.violations() == ()


async def polled(live: Together) -> bool:
    """Whether the bot has said that it polls."""
    return (await live.store.state()).get("state") == "polling"
