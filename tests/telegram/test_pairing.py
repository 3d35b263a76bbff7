"""The phone hears what became of its code: that it is paired or not, once, also after a restart of the bot."""

import signal
from pathlib import Path

from tests.telegram.phone import Phone
from tests.telegram.shown import Message
from tests.telegram.together import Bot, Together, eventually, together
from tests.world import World

PAIRED, NOT, LATE = "You are paired", "not the right account", "Nobody has confirmed"


async def claimed(live: Together, name: str) -> tuple[Phone, str]:
    """A phone that has sent somebody's code, and the claim."""
    phone = await live.telegram.person(name.title(), started=True)
    code = (await live.world.do(f"human:{name}", "pairing"))["code"]
    said = await phone.say(f"/start {code}")
    await phone.until(lambda m: m.reply_to == said.id and "asks to be" in m.text)
    (claim,) = (await live.world.do(f"human:{name}", "claims"))["claims"]
    return phone, claim["claim"]


async def heard(phone: Phone, words: str) -> list[Message]:
    """The messages that hold these words."""
    return [m for m in await phone.messages() if m.by_bot and words in m.text]


async def all_said(live: Together) -> None:
    """Return once nothing is to be said any more."""

    async def look() -> bool:
        return not await live.store.updates.unsaid()

    await eventually(look)


async def test_the_phone_hears_that_it_is_paired(live: Together) -> None:
    """As soon as it was confirmed, as an answer to its code; what else it sends is answered meanwhile."""
    ana, claim = await claimed(live, "ana")
    help_ = await ana.say("/help")
    await ana.until(lambda m: m.reply_to == help_.id)
    assert await heard(ana, PAIRED) == []
    await live.world.do("human:ana", "confirm", claim=claim, yes=True)
    told = await ana.until(lambda m: PAIRED in m.text)
    assert told.reply_to == (await ana.messages())[0].id
    await all_said(live)
    assert len(await heard(ana, PAIRED)) == 1


async def test_the_phone_hears_that_it_was_refused(live: Together) -> None:
    """Somebody has said that it is not theirs."""
    ana, claim = await claimed(live, "ana")
    await live.world.do("human:ana", "confirm", claim=claim, yes=False)
    await ana.until(lambda m: NOT in m.text)
    await all_said(live)


async def test_it_hears_of_it_after_a_restart_too(world: World, tmp_path: Path) -> None:
    """The bot was killed while nobody had said anything: the next one tells it, and says nothing twice."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        bot.start()
        try:
            ana, claim = await claimed(live, "ana")

            async def noted() -> bool:
                (row,) = await live.store.updates.unsaid()
                return "asks to be" not in row.raw

            await eventually(noted)
            bot.end(signal.SIGKILL)
            await world.do("human:ana", "confirm", claim=claim, yes=True)
            bot.start()
            await ana.until(lambda m: PAIRED in m.text)
            await all_said(live)
            assert (len(await heard(ana, PAIRED)), len(await heard(ana, "asks to be"))) == (1, 1)
        finally:
            bot.end()
