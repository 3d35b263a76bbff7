"""C-33: the message of a day's syncs on phones, with the real scheduler: one a day, edited silently, and pressed."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.syncing import moved
from tests.telegram.phone import Message, Phone
from tests.telegram.test_deck import resting
from tests.telegram.together import Bot, Together, eventually, together
from tests.ticking import Scheduler, scheduling
from tests.world import Result, World

GROK = "agent:grok"


def of_day(message: Message) -> bool:
    """Whether it is the message of a day."""
    return message.text.startswith("Syncs of ")


@pytest.fixture
async def ticks(world: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun."""
    async with scheduling(world.engine) as made:
        await made()
        yield made


async def at(world: World, ticks: Scheduler, time: str, *, days: int = 0) -> None:
    """It becomes this time of the space's clock, and the scheduler does what that brings."""
    zone = (await world.do(GROK, "sync"))["zone"]
    await moved(world, time, zone=zone, days=days)
    await ticks()


async def check_in(world: World, **more: str) -> Result:
    """Grok is in."""
    return await world.do(GROK, "sync", receipt=True, **({"outcome": "pass", "notes": "Fine"} | more))


async def days(phone: Phone) -> list[Message]:
    """All messages of days on a phone."""
    return [message for message in await phone.messages() if message.by_bot and of_day(message)]


async def mine(world: World, who: str = "human:ana") -> list[Result]:
    """What somebody has checked in."""
    entries = (await world.operate("feed", where=who, kinds="checked_in", limit=20))["entries"]
    return [entry for entry in entries if entry["by"] == who]


async def test_one_message_a_day_edited_without_a_sound(live: Together, ticks: Scheduler) -> None:
    """Nothing waits: it comes silently, and shows what becomes of the day; the next day has another."""
    ana = await live.pair("ana")
    await at(live.world, ticks, "09:00:01")
    first = await ana.until(of_day)
    assert first.silent
    assert "morning is open" in first.text.splitlines()[0]
    assert first.labels == ("All good", "Attention…", "Show", "Stop these")
    await check_in(live.world)
    await ana.until(lambda m: of_day(m) and "one is in" in m.text)
    for time in ("10:30:01", "13:00:01", "17:30:01"):
        await at(live.world, ticks, time)
    await ana.until(lambda m: of_day(m) and "closeout is open" in m.text and "overdue" not in m.text)
    await at(live.world, ticks, "00:00:01", days=1)
    over = await ana.until(lambda m: of_day(m) and "These syncs are over." in m.text and "The day" in m.text)
    assert over.labels == ()
    assert "Morning held: the one expected was in on time" in over.text
    (only,) = await days(ana)
    assert only.id == first.id
    await at(live.world, ticks, "09:00:01")
    await ana.until(lambda m: of_day(m) and m.id != first.id)
    assert len(await days(ana)) == 2
    assert await live.telegram.violations() == ()


async def test_a_new_one_rings_when_something_waits(live: Together, ticks: Scheduler) -> None:
    """At each moment that is worth it: the old one loses its buttons and points on; nothing rings twice."""
    ana = await live.pair("ana")
    await live.world.do(GROK, "status", doing="Deploying", blocked="No access to <b>prod</b>")
    await at(live.world, ticks, "09:00:01")
    first = await ana.until(of_day)
    assert not first.silent
    assert first.text.splitlines()[0].endswith("grok is blocked.")
    assert '"No access to <b>prod</b>"' in first.text
    await at(live.world, ticks, "10:30:01")  # grok is expected, and not in
    second = await ana.until(lambda m: of_day(m) and m.id != first.id)
    assert (second.silent, "overdue, open until 13:00: grok is not in" in second.text) == (False, True)
    old = await ana.until(lambda m: m.id == first.id and m.labels == ())
    assert old.text.endswith(": there is a newer message of this day below.")
    await check_in(live.world)
    await ana.until(lambda m: m.id == second.id and "one is in" in m.text)
    await ticks()
    assert [m.id for m in await days(ana)] == [first.id, second.id]


async def test_quiet_hours_hold_nothing_back(live: Together, ticks: Scheduler) -> None:
    """A new message all the same, without a sound."""
    ana = await live.pair("ana")
    await live.world.do("human:ana", "quiet", hours="08:00-22:00")
    await live.world.do(GROK, "status", doing="Deploying", blocked="No access")
    await at(live.world, ticks, "09:00:01")
    first = await ana.until(of_day)
    await at(live.world, ticks, "13:00:01")
    second = await ana.until(lambda m: of_day(m) and m.id != first.id)
    assert (first.silent, second.silent) == (True, True)


async def test_all_good(live: Together, ticks: Scheduler) -> None:
    """Once for a window; a second press says what stands, and a late one that it is over. Nothing more is written."""
    ana = await live.pair("ana")
    await at(live.world, ticks, "09:00:01")
    card = await ana.until(of_day)
    toast = await ana.tap(card, "All good")
    assert (toast.alert, toast.text.startswith("You are in for morning of ")) == (False, True)
    after = await ana.until(lambda m: m.id == card.id and "Your check-ins: morning pass." in m.text)
    assert after.labels == ("Show", "Stop these")
    again = await ana.tap(card, "All good")
    assert (again.alert, "You checked in for morning" in again.text) == (True, True)
    assert len(await mine(live.world)) == 1
    await at(live.world, ticks, "13:00:01")
    midday = await ana.until(lambda m: m.id == card.id and "midday is open" in m.text and "All good" in m.labels)
    assert (await ana.tap(midday, data=midday.button("All good").callback_data)).text.startswith(
        "You are in for midday"
    )
    await at(live.world, ticks, "17:30:01")
    await ana.until(lambda m: m.id == card.id and "closeout is open" in m.text)
    await at(live.world, ticks, "00:00:01", days=1)
    last = await ana.until(lambda m: m.id == card.id and m.labels == ())
    late = await ana.tap(last, data=str(midday.button("All good").callback_data).replace("good1", "good2"))
    assert (late.alert, "closeout of" in late.text, "closed at" in late.text) == (True, True, True)
    assert "logmem" not in late.text
    assert len(await mine(live.world)) == 2
    assert await live.telegram.violations() == ()


async def test_attention_takes_a_reply(live: Together, ticks: Scheduler) -> None:
    """What is replied stands as the notes; once the window is over the reply, and the button, say so."""
    ana = await live.pair("ana")
    await at(live.world, ticks, "09:00:01")
    card = await ana.until(of_day)
    await ana.tap(card, "Attention…")
    prompt = await ana.until(lambda m: m.force_reply)
    assert await mine(live.world) == []
    await ana.say("Nobody reviews", reply_to=prompt)
    await ana.until(lambda m: m.text.startswith("You are in for morning of") and m.text.endswith("attention."))
    (entry,) = await mine(live.world)
    assert entry["summary"] == "Nobody reviews"
    await at(live.world, ticks, "13:00:01")
    midday = await ana.until(lambda m: of_day(m) and "midday is open" in m.text and "Attention…" in m.labels)
    await ana.tap(midday, "Attention…")
    prompt = await ana.until(lambda m: m.force_reply and m.id > prompt.id)
    await at(live.world, ticks, "17:30:01")
    await ana.say("Too late", reply_to=prompt)
    await ana.until(lambda m: "midday of" in m.text and "closed at" in m.text)
    toast = await ana.tap(midday, "Attention…")
    assert (toast.alert, "closed at" in toast.text) == (True, True)
    await ana.say("And a reply to the message itself", reply_to=midday)
    await ana.until(lambda m: "press Attention…" in m.text)
    assert len(await mine(live.world)) == 1


async def test_stop_these_and_on_again(live: Together, ticks: Scheduler) -> None:
    """The next day brings none; `/sync on` does, and says what it means."""
    ana = await live.pair("ana")
    await at(live.world, ticks, "09:00:01")
    card = await ana.until(of_day)
    await ana.tap(card, "Stop these")
    await ana.until(lambda m: f"and be expected: /sync on {live.world.space}" in m.text and not of_day(m))
    await ana.until(lambda m: m.id == card.id and m.labels == ())
    await at(live.world, ticks, "09:00:01", days=1)
    await ana.say("/sync")
    await ana.until(lambda m: "morning is open" in m.text and not of_day(m))
    assert len(await days(ana)) == 1
    await ana.say(f"/sync on {live.world.space}")
    await ana.until(lambda m: "You are expected in each window" in m.text)
    await ana.until(lambda m: of_day(m) and m.id != card.id and "All good" in m.labels)
    await ana.say(f"/sync off {live.world.space}")
    await ana.until(lambda m: "You are expected in no window" in m.text)
    assert len(await days(ana)) == 2


async def test_show_is_what_the_commands_answer(live: Together, ticks: Scheduler) -> None:
    """The windows and what waits, with its cards."""
    ana = await live.pair("ana")
    await live.ask(summary="Shall I deploy it?", expires_in="1d")
    await ana.until(lambda m: "Shall I deploy it?" in m.text)
    await at(live.world, ticks, "09:00:01")
    card = await ana.until(of_day)
    assert card.text.splitlines()[0].endswith("1 thing waits for you.")
    assert 'grok asks: "Shall I deploy it?"' in card.text
    await ana.tap(card, "Show")
    shown = await ana.until(lambda m: m.reply_to == card.id)
    assert "1 ask waits for you. The card follows." in shown.text
    assert "morning is open" in shown.text
    await ana.until(lambda m: m.id > shown.id and "Approve" in m.labels)
    assert len(await days(ana)) == 1


async def test_who_is_not_reached_gets_none_and_others_do(live: Together, ticks: Scheduler) -> None:
    """Ana has blocked the bot, bo has opted in; cards of asks have no such buttons, nor have days theirs."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.world.do("human:bo", "attend", on=True)
    await ana.block()
    await eventually(lambda: _lost(live, "human:bo"))
    await at(live.world, ticks, "09:00:01")
    card = await bo.until(of_day)
    assert await days(ana) == []
    data = str(card.button("All good").callback_data)
    await ana.unblock()
    for forged in (data.replace("good0", "approve"), data.replace("good0", "reject"), data.replace("good0", "good9")):
        toast = await bo.tap(card, data=forged)
        assert toast.alert
    ask = await live.ask(summary="Deploy?")
    asked = await bo.until(lambda m: "Deploy?" in m.text and "Approve" in m.labels)
    toast = await bo.tap(asked, data=str(asked.button("Approve").callback_data).replace("approve", "good0"))
    assert (toast.alert, "not in use" in toast.text) == (True, True)
    toast = await bo.tap(asked, data=data)  # the day's button on another message
    assert toast.alert
    assert await mine(live.world, "human:bo") == []
    assert (await live.world.do(GROK, "view", what=ask["trail"]))["status"] == "pending"


async def _lost(live: Together, but: str) -> bool:
    """Whether the door knows that nobody but one person is reached."""
    ref = f"day:{(await live.world.do(GROK, 'sync'))['day']}"
    view = await live.door("card", space=live.world.space, ref=ref, holding=[])
    return [to["who"] for to in view["to"]] == [but]


async def test_another_persons_press_changes_nothing(live: Together, ticks: Scheduler) -> None:
    """Bo presses what stands under ana's message, on a message of his own."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.world.do("human:bo", "attend", on=True)
    await at(live.world, ticks, "09:00:01")
    hers, his = await ana.until(of_day), await bo.until(of_day)
    toast = await bo.tap(his, data=hers.button("All good").callback_data)
    assert toast.alert
    toast = await bo.tap(his, data=hers.button("Stop these").callback_data)
    assert toast.alert
    assert (await mine(live.world), await mine(live.world, "human:bo")) == ([], [])
    assert (await live.world.do("human:ana", "attend", on=True))["attend"] == "on"


async def test_what_is_offered_again_is_no_day(live: Together, ticks: Scheduler) -> None:
    """After an outage in which presses were lost asks are sent anew, and the day's message stays where it is."""
    ana = await live.pair("ana")
    await live.world.do(GROK, "status", doing="Deploying", blocked="No access")
    await at(live.world, ticks, "09:00:01")
    first = await ana.until(of_day)
    ask = await live.ask(summary="Shall I deploy it?")
    asked = await ana.until(lambda m: "Shall I deploy it?" in m.text and "Approve" in m.labels)
    await resting(live, ask, ["sent"])
    assert live.app
    live.app.health.missed.set()
    await ana.until(lambda m: m.id > asked.id and "Approve" in m.labels)
    await check_in(live.world)
    await ana.until(lambda m: m.id == first.id and "one is in" in m.text)
    assert len(await days(ana)) == 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
async def test_a_restart_sends_nothing_twice(
    world: World, ticks: Scheduler, tmp_path: Path, how: signal.Signals
) -> None:
    """The bot ends in the middle of the day; what changed meanwhile is edited, and presses still count."""
    async with together(world, run=False) as live:
        assert world.http
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log")
        bot.start()
        try:
            ana = await live.pair("ana")
            await live.world.do(GROK, "status", doing="Deploying", blocked="No access")
            await at(world, ticks, "09:00:01")
            first = await ana.until(lambda m: of_day(m) and "All good" in m.labels)
            await live.telegram.polled()
            bot.end(how)
            await check_in(world)
            await at(world, ticks, "10:30:01")
            bot.start()
            await ana.until(lambda m: m.id == first.id and "one is in" in m.text)
            await ana.tap(first, "All good")
            await ana.until(lambda m: m.id == first.id and "Your check-ins: morning pass." in m.text)
            assert len(await days(ana)) == 1
            bot.end(how)
            await at(world, ticks, "13:00:01")
            bot.start()
            second = await ana.until(lambda m: of_day(m) and m.id != first.id)
            assert not second.silent
            await ana.until(lambda m: m.id == first.id and m.labels == ())
            assert [m.id for m in await days(ana)] == [first.id, second.id]
        finally:
            bot.end()
