"""Who asks back hears the answer: a message that pushes, below the card, once; and the card shows it as before."""

import signal
from pathlib import Path

from tests.telegram.phone import Message, Phone
from tests.telegram.test_handlers_taps import card
from tests.telegram.test_outbox import settled
from tests.telegram.together import Bot, Together, eventually, together
from tests.world import Result, World

TOLD = "answers you"


async def answered(live: Together, ask: Result, text: str) -> None:
    """The agent answers on its ask."""
    note = {"where": "job:launch", "kind": "answer", "answers": ask["trail"], "summary": text}
    await live.world.do("agent:grok", "note", **note)


async def told(phone: Phone) -> list[Message]:
    """What somebody was told of answers."""
    return [m for m in await phone.messages() if m.by_bot and TOLD in m.text]


async def asked_back(live: Together, phone: Phone, above: Message, text: str) -> None:
    """Somebody replies to a card, or to an answer."""
    said = await phone.say(text, reply_to=above)
    await phone.until(lambda m: m.reply_to == said.id and "is asked" in m.text)
    await settled(live)


async def test_who_asked_back_is_told_the_answer(live: Together) -> None:
    """Below their own card, with a sound; nobody else is; each answer once, and a reply to it asks back again."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    ask = await live.ask()
    above = await card(ana, "Shall I deploy?")
    await asked_back(live, ana, above, "Which one?")
    await answered(live, ask, "The \u202e first")
    first = await ana.until(lambda m: TOLD in m.text)
    assert first.text.startswith(r'grok answers you: "The \u202e first"')
    assert (first.reply_to, first.silent, first.buttons) == (above.id, False, ())
    await ana.until(lambda m: m.id == above.id and "grok answered" in m.text and "Approve" in m.labels)
    await asked_back(live, ana, first, "And then?")
    await answered(live, ask, "The second")
    await answered(live, ask, "Or the third")
    await ana.until(lambda m: TOLD in m.text and "The second" in m.text)
    await ana.until(lambda m: TOLD in m.text and "Or the third" in m.text)
    await settled(live)
    assert [m.text.count("The first") for m in await told(ana)][1:] == [0] * (len(await told(ana)) - 1)
    assert await told(bo) == []
    await bo.tap(await card(bo, "Shall I deploy?"), "Approve")
    await answered(live, ask, "Too late")
    await settled(live)
    assert not [m for m in await told(ana) if "Too late" in m.text]
    assert not await live.telegram.violations()


async def test_an_answer_about_a_handoff_is_told_too(live: Together) -> None:
    """Who was handed something and asked about it."""
    bo = await live.pair("bo")
    item = await live.world.do("agent:grok", "handoff", to="human:bo", summary="Look at this", where="job:x")
    above = await card(bo, "Look at this")
    said = await bo.say("Which part?", reply_to=above)
    await bo.until(lambda m: m.reply_to == said.id)
    await live.world.do("agent:grok", "note", where="job:x", kind="answer", summary="The end", trail=item["item"])
    heard = await bo.until(lambda m: TOLD in m.text)
    assert '"The end"' in heard.text
    assert heard.reply_to == above.id


async def test_an_answer_is_told_once_whatever_happens_to_the_bot(world: World, tmp_path: Path) -> None:
    """Telegram is busy, fails and may have taken it; the bot is killed before and after: one message in the end."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        ana = await live.pair("ana")
        bot.start()
        try:
            ask = await live.ask()
            above = await card(ana, "Shall I deploy?")
            await asked_back(live, ana, above, "Which one?")
            bot.end(signal.SIGKILL)
            await answered(live, ask, "The first")
            await live.telegram.flood(retry_after=1, times=1)
            bot.start()
            await ana.until(lambda m: TOLD in m.text)
            await eventually(lambda: heard(live, ask))
            bot.end(signal.SIGKILL)
            bot.start()
            await live.world.do("human:bo", "ask_back", trail=ask["trail"], text="And you?")
            await ana.until(lambda m: m.id == above.id and "And you?" in m.text)
            await settled(live)
            assert len(await told(ana)) == 1
        finally:
            bot.end()


async def heard(live: Together, ask: Result) -> bool:
    """Whether it is noted that an answer was told."""
    return any(copy.heard for copy in await live.store.copies.of(live.world.space, f"ask:{ask['trail']}"))
