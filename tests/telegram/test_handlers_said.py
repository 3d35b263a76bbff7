from typing import Any

import pytest

from bot.handlers.commands import COMMANDS
from bot.speaker import IDLE
from tests.telegram.phone import Phone
from tests.telegram.shown import Message
from tests.telegram.together import Together, eventually
from tests.world import World, found


async def answer(phone: Phone, text: str, **how: Any) -> Message:
    """Say something, and what the bot answers to it."""
    said = await phone.say(text, **how)
    return await phone.until(lambda m: m.reply_to == said.id, what=f"that answers {text!r}")


async def test_every_command_is_answered(live: Together) -> None:
    """With what it found, or with what it looked for."""
    ana = await live.pair("ana")
    for name, _ in COMMANDS:
        found = await answer(ana, f"/{name}")
        assert "!" not in found.text
        assert "logmem_" not in found.text
    assert "Nothing waits for you" in (await answer(ana, "/pending")).text
    assert "grok" in (await answer(ana, "/fleet")).text
    assert "no job" in (await answer(ana, "/jobs")).text
    assert "ana" in (await answer(ana, "/whoami")).text
    assert "/approve CODE" in (await answer(ana, "/help")).text
    assert not await live.telegram.violations()


async def test_a_command_is_found_however_it_is_typed(live: Together) -> None:
    """In capitals, with blanks, with this bot's name; another bot's commands are none of ours."""
    ana = await live.pair("ana")
    assert "You are" in (await answer(ana, "/WhoAmI")).text
    me = (await live.telegram.state())["bot"]["username"]
    assert "You are" in (await answer(ana, f"/whoami@{me}   ")).text
    assert "no such command" in (await answer(ana, "/explode")).text
    other = await ana.say("/whoami@another_bot")
    await answer(ana, "/help")
    assert not [m for m in await ana.messages() if m.reply_to == other.id]


async def test_an_edited_message_does_nothing(live: Together) -> None:
    """What was said stays said."""
    ana = await live.pair("ana")
    said = await ana.say("/help")
    await ana.until(lambda m: m.reply_to == said.id)
    await ana.edit(said, "/unpair yes")
    assert "You are" in (await answer(ana, "/whoami")).text


async def test_pending_offers_the_cards_again(live: Together) -> None:
    """New ones below; the old ones lose their buttons and say so."""
    ana = await live.pair("ana")
    await live.ask()
    first = await ana.until(lambda m: "Shall I deploy?" in m.text and m.buttons)
    assert "1 ask waits for you" in (await answer(ana, "/pending")).text
    again = await ana.until(lambda m: "Shall I deploy?" in m.text and m.buttons and m.id > first.id)
    await ana.until(lambda m: m.id == first.id and not m.buttons and "newer card" in m.text)
    assert "approved" in (await ana.tap(again, "Approve")).text


async def test_pending_says_what_waits_before_its_cards(live: Together) -> None:
    """The heading first, and then the cards by their deadlines; each counts and decides as ever."""
    ana = await live.pair("ana")
    for hours in (3, 1, 2):
        await live.ask(summary=f"In {hours} h?", expires_in=f"{hours}h")

    async def all_there() -> bool:
        return len([m for m in await ana.messages() if m.by_bot and m.buttons]) == 3

    await eventually(all_there)
    heading = await answer(ana, "/pending")
    assert "3 asks wait for you. The cards follow." in heading.text

    async def anew() -> bool:
        return len([m for m in await ana.messages() if m.by_bot and m.id > heading.id and m.buttons]) == 3

    await eventually(anew)
    cards = [m for m in await ana.messages() if "asks:" in m.text]
    assert [m.text[12:17] for m in cards if m.id > heading.id] == ["In 1 ", "In 2 ", "In 3 "]
    assert not [m for m in cards if m.id < heading.id and m.buttons]


async def test_pending_is_for_those_who_are_not_on_call_too(live: Together) -> None:
    """They asked for the cards, so they get them."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    assert "You are on call" in (await answer(ana, "/oncall on")).text
    await live.ask()
    await ana.until(lambda m: "Shall I deploy?" in m.text and m.buttons)
    assert "The card follows" in (await answer(bo, "/pending")).text
    await bo.until(lambda m: "Shall I deploy?" in m.text and m.buttons)


async def test_on_call_snooze_and_quiet_hours(live: Together) -> None:
    """Each says what stands now; words that make no sense are refused with what would."""
    ana = await live.pair("ana")
    assert "You are on call" in (await answer(ana, "/oncall on")).text
    assert "You are not on call" in (await answer(ana, "/oncall off")).text
    assert "Nothing changed" in (await answer(ana, "/oncall banana")).text
    assert "without a sound until" in (await answer(ana, "/snooze 2h")).text
    assert "with a sound" in (await answer(ana, "/snooze off")).text
    assert "Nothing was written" in (await answer(ana, "/snooze banana")).text
    assert "From 22:00 to 07:00" in (await answer(ana, "/quiet 22:00-07:00")).text
    assert "From 22:00 to 07:00" in (await answer(ana, "/quiet")).text
    assert "No quiet hours" in (await answer(ana, "/quiet off")).text


async def test_alone_they_show_what_stands_and_change_nothing(live: Together) -> None:
    """On call, snoozed and quiet hours; /whoami and /help say all of it, with the zone."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    for text, words in (("/oncall", "You are not on call. Nobody is"), ("/snooze", "with a sound"), ("/quiet", "No q")):
        before = await live.world.dump()
        assert words in (await answer(ana, text)).text
        after = {name: value for name, value in (await live.world.dump()).items() if ":done:" not in name}
        changed = [n for n in after if ":tg" not in n and "{g:" not in n and after[n] != before.get(n)]
        assert changed == []
    for text in ("/whoami", "/help"):
        assert "On call: nobody. Cards come with a sound." in (await answer(ana, text)).text
    await answer(bo, "/oncall on")
    await answer(ana, "/oncall on")
    await answer(ana, "/snooze 2h")
    await answer(ana, "/quiet 22:00-07:00")
    assert "You are on call" in (await answer(ana, "/oncall")).text
    assert "without a sound until" in (await answer(ana, "/snooze")).text
    for text in ("/whoami", "/help"):
        said = (await answer(ana, text)).text
        assert "On call: you, bo. Cards come without a sound until" in said
        assert "each day from 22:00 to 07:00 (" in said
    dee = await live.telegram.person("Dee", started=True)
    assert "On call" not in (await answer(dee, "/help")).text


async def test_unpairing_asks_once(live: Together) -> None:
    """Then this account is nobody's."""
    ana = await live.pair("ana")
    assert "/unpair yes" in (await answer(ana, "/unpair")).text
    assert "not paired any more" in (await answer(ana, "/unpair yes")).text
    assert "paired with nobody" in (await answer(ana, "/pending")).text


async def test_what_is_no_command_and_no_reply_gets_a_hint(live: Together) -> None:
    """So do replies to what is not known, and what is no text."""
    ana = await live.pair("ana")
    hint = await answer(ana, "deploy it")
    assert "/help" in hint.text
    said = await ana.say("yes", reply_to=hint)
    assert "not clear" in (await ana.until(lambda m: m.reply_to == said.id)).text


@pytest.mark.parametrize("way", ["/start {}", "{}", "/START   {}"])
async def test_a_code_pairs_after_it_was_confirmed(live: Together, way: str) -> None:
    """Sent as a command or alone; the answer says where to confirm it, and until then nothing comes."""
    ana = await live.telegram.person("Ana", started=True)
    code = (await live.world.do("human:ana", "pairing"))["code"]
    told = await answer(ana, way.format(code))
    assert "ana" in told.text
    assert "in the console" in told.text
    assert str(ana.id) in told.text
    assert "paired with nobody" in (await answer(ana, "/pending")).text
    (claim,) = (await live.world.do("human:ana", "claims"))["claims"]
    assert claim["account"] == ana.id
    await live.world.do("human:ana", "confirm", claim=claim["claim"], yes=True)
    await live.ask()
    await ana.until(lambda m: "Shall I deploy?" in m.text)


async def test_a_deep_link_brings_the_code(live: Together) -> None:
    """As Telegram sends it."""
    ana = await live.telegram.person("Ana")
    code = (await live.world.do("human:ana", "pairing"))["code"]
    said = await ana.start(code)
    assert "ana" in (await ana.until(lambda m: m.reply_to == said.id)).text
    hello = await ana.start()
    assert "paired with nobody" in (await ana.until(lambda m: m.reply_to == hello.id)).text


async def test_a_code_that_was_not_sent_by_its_person_is_refused(live: Together) -> None:
    """Forwarded, or through another bot; then it still counts for who it is for. Five wrong ones lock."""
    ana, other = [await live.telegram.person(name, started=True) for name in ("Ana", "Mallory")]
    code = (await live.world.do("human:ana", "pairing"))["code"]
    for how in ({"forwarded": True}, {"via_bot": "helper_bot"}):
        assert "Nothing changed" in (await answer(other, f"/start {code}", **how)).text
    for left in (4, 3, 2, 1):
        assert f"{left} more" in (await answer(other, "/start aaaaa-bbbbb")).text
    await answer(other, "/start aaaaa-bbbbb")
    assert "in an hour" in (await answer(other, f"/start {code}")).text
    assert "ana" in (await answer(ana, f"/start {code}")).text
    assert "not known" in (await answer(ana, f"/start {code}")).text


async def test_a_group_gets_notices_and_decides_nothing(live: Together) -> None:
    """An owner turns them on; who writes without a name, and other members, do not."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    group = await live.telegram.supergroup("Team", ana, bo, topics={7: "Ops"})

    async def said(phone: Phone, text: str, **how: Any) -> Message:
        message = await phone.say(text, chat=group, topic=7, **how)
        return await phone.until(lambda m: m.reply_to == message.id, chat=group)

    assert "under their own name" in (await said(ana, "/notices", as_anonymous_admin=True)).text
    assert "owner" in (await said(bo, "/notices")).text
    on = await said(ana, "/notices")
    assert on.thread == 7
    await live.ask()
    notice = await ana.until(lambda m: "Shall I deploy?" in m.text, chat=group)
    assert not notice.buttons
    assert notice.thread == 7
    assert "deploy" not in notice.text.replace("Shall I deploy?", "")
    shown = await ana.until(lambda m: "Shall I deploy?" in m.text and m.buttons)
    await ana.tap(shown, "Approve")
    await ana.until(lambda m: m.text.startswith("Approved"), chat=group)
    await said(ana, "/notices off")


async def test_a_group_that_puts_the_bot_out_gets_no_notices_any_more(live: Together) -> None:
    """Whoever did it, also somebody who is nobody here; when the bot is back, an owner would have to ask for them."""
    mallory = await live.telegram.person("Mallory", started=True)
    ana = await live.pair("ana")
    group = await live.telegram.supergroup("Team", mallory, ana)

    async def said(text: str) -> Message:
        message = await ana.say(text, chat=group)
        return await ana.until(lambda m: m.reply_to == message.id, chat=group)

    assert "go here" in (await said("/notices")).text
    await live.telegram.change_chat(group, leave=[ana])
    await live.telegram.kick(group)
    await live.telegram.change_chat(group, bot="member", join=[ana])
    assert "No notices of" in (await said("/notices off")).text


async def test_what_is_refused_in_one_space_is_said_beside_what_was_done_in_another(live: Together) -> None:
    """Each under its space, and nothing says that nothing changed where something did."""
    other = await found(live.world.engine, live.world.store)
    await other.human("ana", role="member", signed_in=False)
    ana = await live.pair("ana")
    text = (await answer(ana, "/oncall on")).text
    here, there = (text.index(space) for space in (live.world.space, other.space))
    done, refused = text.index("You are on call"), text.index("Nothing")
    assert (here < done) == (there > done or there < here)
    assert max(at for at in (here, there) if at < done) == here
    assert max(at for at in (here, there) if at < refused) == there
    assert "human:" not in text
    whoami = (await answer(ana, "/whoami")).text
    assert live.world.space in whoami
    assert other.space in whoami


async def test_real_spaces_come_before_simulated_ones(live: Together) -> None:
    """Whatever their names are; and those are marked, once each."""
    real = World(live.world.engine, live.world.store, "z-real")
    await real.operate("space")
    await real.human("ana", role="owner", signed_in=False)
    ana = await live.pair("ana")
    simulated = f"{live.world.space} (simulated)"
    for name in ("pending", "fleet", "jobs", "sync", "sync on", "oncall", "snooze", "quiet", "whoami", "help"):
        said = (await answer(ana, f"/{name}")).text
        assert 0 <= said.index(real.space) < said.index(simulated)
        assert said.count("(simulated)") == 1
    assert f"Spaces to enter: {live.world.space}, z-real." in (await answer(ana, "/sync foo")).text


async def test_an_account_that_may_enter_no_space_is_told_so(live: Together) -> None:
    """Whatever it sends; and in words that say nothing of arguments and headers."""
    bo = await live.pair("bo")
    await live.world.operate("human", name="bo", role="none")
    for text in ("/start", "/pending", "/whoami"):
        said = (await answer(bo, text)).text
        assert "no space" in said
        assert not [word for word in ("argument", "header", "X-LogMem", "human:") if word in said]


async def test_a_wrong_code_counts_once_however_often_its_answer_fails(live: Together) -> None:
    """Telegram fails when the answer is sent, and the message is not handled again because of it."""
    mallory = await live.telegram.person("Mallory", started=True)
    await live.telegram.fault("error", "sendMessage", times=2, status=409, description="Conflict")
    assert "4 more" in (await answer(mallory, "/start aaaaa-bbbbb")).text
    assert "3 more" in (await answer(mallory, "/start aaaaa-bbbbb")).text


async def test_strangers_are_told_a_few_times(live: Together) -> None:
    """Then nothing for a while, whatever they send; somebody of the space is answered as ever."""
    mallory = await live.telegram.person("Mallory", started=True)
    ana = await live.pair("ana")
    for text in ("/pending", "hello", "/explode", "/help") * 6:
        await mallory.say(text)
    last = await mallory.say("/fleet")
    assert "grok" in (await answer(ana, "/fleet")).text
    await eventually(lambda: _handled(live))
    told = [m for m in await mallory.messages() if m.by_bot]
    assert 0 < len(told) <= IDLE
    assert last.id not in [m.reply_to for m in told]


async def _handled(live: Together) -> bool:
    return not await live.store.updates.backlog() and not await live.store.updates.unsaid()


async def test_whoever_blocks_the_bot_is_not_reached_until_they_come_back(live: Together) -> None:
    """The agent is told at once, and what waits comes when they are back."""
    ana = await live.pair("ana")
    await ana.block()
    await live.telegram.wait_until(lambda: _lost(live), what="ana is not reached")
    await live.ask()
    await ana.unblock()
    await ana.until(lambda m: "Shall I deploy?" in m.text and m.buttons)


async def _lost(live: Together) -> bool:
    found = await live.world.do("human:ana", "people")
    return any(row.get("telegram") == "lost" for row in found["people"])
