"""At Telegram's own limits: what one agent pours into a chat keeps neither another's cards nor changes from it."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from store.settings import Limits
from tests.telegram.phone import Phone
from tests.telegram.shown import Message
from tests.telegram.test_outbox import asks
from tests.telegram.together import Together, eventually, together
from tests.world import World

WAITING = 6  # asks of the flood that stand at a time
EVERY = 0.15  # seconds between two of them: several times as fast as a chat takes anything
AT_MOST = 6  # messages to the chat before a change of another agent's card: at one a second, the seconds that it takes


@asynccontextmanager
async def flood(live: Together) -> AsyncIterator[list[str]]:
    """An agent asks and withdraws without end; gives the trails of what still stands."""
    standing: list[str] = []

    async def pour() -> None:
        for n in itertools.count():
            ask = await live.ask(agent="agent:evil", summary=f"spam {n}")
            standing.append(ask["trail"])
            if len(standing) > WAITING:
                await live.world.do("agent:evil", "ask", withdraw=standing.pop(0))
            await asyncio.sleep(EVERY)

    pouring = asyncio.create_task(pour())
    try:
        yield standing
    finally:
        pouring.cancel()
        await asyncio.gather(pouring, return_exceptions=True)


async def said(live: Together, *, after: int = 0) -> list[str]:
    """What the bot has said and changed, in order."""
    calls = await live.telegram.calls(after=after)
    return [call.method for call in calls if call.method in ("sendMessage", "editMessageText")]


async def many(phone: Phone) -> bool:
    """Whether the flood has come to a phone: what the chat takes at once is used up."""
    return len([m for m in await phone.messages() if "spam" in m.text]) > Limits().burst


async def test_a_flood_keeps_no_card_from_changing(world: World) -> None:
    """A card that was decided elsewhere loses its buttons after a few messages, and another agent's ask comes."""
    await world.agent("evil")
    async with together(world, own=Limits(), per_chat=1) as live:
        ana = await live.pair("ana")
        good = await live.ask(summary="Good?")
        card = await ana.until(lambda m: "Good?" in m.text and asks(m))
        async with flood(live):
            await eventually(lambda: many(ana))
            before = len(await said(live))
            await world.do("human:bo", "decide", trail=good["trail"], verdict="reject", digest=good["digest"])
            over = await ana.until(lambda m: m.id == card.id and "Rejected" in m.text)
            assert not [button for row in over.buttons for button in row if button.text == "Approve"]
            between = len(await said(live)) - before
            assert between <= AT_MOST
            before = len(await said(live))
            await live.ask(summary="Another?")
            await ana.until(lambda m: "Another?" in m.text)
            assert len(await said(live)) - before <= AT_MOST
            spam = [m for m in await ana.messages() if "spam" in m.text]
        assert len([m for m in spam if asks(m)]) <= 2 * WAITING
        assert not await live.telegram.violations()


async def test_what_was_withdrawn_before_its_turn_is_not_sent(world: World) -> None:
    """Where the chat takes nothing for a moment, what is over by then is never a card."""
    async with together(world, own=Limits(), per_chat=1) as live:
        ana = await live.pair("ana")
        await live.telegram.flood(retry_after=2, times=1, chat_id=ana.id)
        trails = [(await live.ask(summary=f"{name}?"))["trail"] for name in ("First", "Second", "Third")]
        for trail in trails[:2]:
            await world.do("agent:grok", "ask", withdraw=trail)
        await ana.until(lambda m: "Third?" in m.text)
        seen: list[Message] = [m for m in await ana.messages() if "First?" in m.text or "Second?" in m.text]
        assert seen == []
