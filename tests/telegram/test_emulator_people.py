"""What people do, and how it reaches the bot."""

import asyncio
from typing import Any

import pytest

from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.phone import Chat, ControlError, NeverHappened, Phone, Telegram, Toast

STALE = (400, "Bad Request: query is too old and response timeout expired or query ID is invalid")


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot, where nothing is too fast."""
    await telegram.set_limits(per_chat=0)
    return await telegram.person("Ana", id=42, username="ana", language="de", started=True)


@pytest.fixture
async def ops(telegram: Telegram, ana: Phone) -> Chat:
    """A supergroup whose bot hears only what is meant for it."""
    return await telegram.supergroup("Ops", ana, topics={7: "Deploys"})


async def heard(bot: Bot) -> list[dict[str, Any]]:
    """The messages the bot got."""
    return [update["message"] for update in await bot.updates() if "message" in update]


async def test_saying(bot: Bot, ana: Phone) -> None:
    """A message says who, where, when and what, with the commands marked."""
    said = await ana.say("/pending now @somebody")
    message = (await heard(bot))[0]
    assert message["from"] == {"id": 42, "is_bot": False, "first_name": "Ana", "username": "ana", "language_code": "de"}
    assert message["chat"] == {"id": 42, "type": "private", "first_name": "Ana", "username": "ana"}
    assert [(one["type"], one["length"]) for one in message["entities"]] == [("bot_command", 8), ("mention", 9)]
    assert said.raw == message


async def test_starting(bot: Bot, telegram: Telegram) -> None:
    """A deep link arrives as `/start payload`, or without it where the client drops it."""
    bo = await telegram.person("Bo")
    await bo.start("A-z_9" * 12 + "abcd")
    await bo.start()
    assert [message["text"] for message in await heard(bot)] == ["/start " + "A-z_9" * 12 + "abcd", "/start"]
    for payload in ("x" * 65, "no blanks"):
        with pytest.raises(ControlError):
            await bo.start(payload)


async def test_editing(bot: Bot, ana: Phone) -> None:
    """A person's edit is an update of its own kind, and only of their own message."""
    said = await ana.say("/approve x")
    await ana.edit(said, "/approve y")
    edited = (await bot.updates())[-1]["edited_message"]
    assert (edited["message_id"], edited["text"]) == (said.id, "/approve y")
    assert "edit_date" in edited
    number = (await bot("sendMessage", chat_id=42, text="card")).result["message_id"]
    with pytest.raises(ControlError, match="did not write"):
        await ana.edit(next(one for one in await ana.messages() if one.id == number), "mine")


async def test_ways_that_are_not_quite_ones_own_words(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """Forwarded and sent through another bot: the message says so."""
    bo = await telegram.person("Bo", id=43, started=True)
    await ana.say("/start code", forwarded=True)
    await ana.say("/start code", forwarded=bo)
    await ana.say("/start code", forwarded=await bo.say("look"))
    await ana.say("/start code", via_bot="other_bot")
    messages = [message for message in await heard(bot) if message["from"]["id"] == 42]
    assert [one.get("forward_origin", {}).get("type") for one in messages] == ["hidden_user", "user", "user", None]
    assert messages[2]["forward_origin"]["sender_user"]["id"] == 43
    assert messages[3]["via_bot"]["username"] == "other_bot"


async def test_authors_that_stand_for_others(bot: Bot, ana: Phone, ops: Chat, telegram: Telegram) -> None:
    """An anonymous admin, a channel and Telegram itself have numbers that are nobody's."""
    news = await telegram.channel("News", ana)
    for how in ({"as_anonymous_admin": True}, {"as_channel": news}, {"as_service": True}):
        await ana.say("/approve x", chat=ops, **how)
    anonymous, channel, service = await heard(bot)
    assert (anonymous["from"]["id"], anonymous["from"]["is_bot"]) == (1087968824, True)
    assert anonymous["sender_chat"]["id"] == ops.id
    assert (channel["from"]["id"], channel["sender_chat"]["id"]) == (136817688, news.id)
    assert (service["from"]["id"], service["is_automatic_forward"]) == (777000, True)


async def test_channel_posts(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A post in a channel is from nobody."""
    news = await telegram.channel("News", ana)
    await ana.say("/approve x", chat=news)
    post = (await bot.updates())[-1]["channel_post"]
    assert ("from" in post, post["sender_chat"]["id"]) == (False, news.id)


async def test_privacy(bot: Bot, ana: Phone, ops: Chat, telegram: Telegram) -> None:
    """In a group the bot hears commands and replies to it; as an administrator, all."""
    number = (await bot("sendMessage", chat_id=ops.id, text="notice")).result["message_id"]
    notice = next(one for one in await ana.messages(ops) if one.id == number)
    await ana.say("chatter", chat=ops, topic=7)
    await ana.say("/fleet@other_bot", chat=ops)
    await ana.say("/fleet", chat=ops, topic=7)
    await ana.say("/fleet@logmem_test_bot", chat=ops)
    await ana.say("why?", chat=ops, reply_to=notice)
    assert [message["text"] for message in await heard(bot)] == ["/fleet", "/fleet@logmem_test_bot", "why?"]
    assert (await heard(bot))[0]["message_thread_id"] == 7
    await telegram.change_chat(ops, bot="administrator")
    await ana.say("more chatter", chat=ops)
    assert (await heard(bot))[-1]["text"] == "more chatter"


async def test_only_members_write(ops: Chat, telegram: Telegram) -> None:
    """Who is not in a group cannot write there."""
    bo = await telegram.person("Bo")
    with pytest.raises(ControlError, match="not a member"):
        await bo.say("hi", chat=ops)
    await telegram.change_chat(ops, join=[bo])
    await bo.say("hi", chat=ops)


async def card(bot: Bot, chat_id: int = 42) -> None:
    """A card with a button."""
    await bot("sendMessage", chat_id=chat_id, text="card", reply_markup=keyboard(APPROVE))


async def pressed(bot: Bot) -> dict[str, Any]:
    """The press the bot got last."""
    return dict((await bot.updates())[-1]["callback_query"])


async def test_tapping(bot: Bot, ana: Phone) -> None:
    """A tap reaches the bot with the message as it stood, and its answer reaches the person, once."""
    await card(bot)
    press = await ana.press(await ana.last(), "Approve")
    query = await pressed(bot)
    assert (query["data"], query["from"]["id"], query["message"]["text"]) == ("v1:approve:abc", 42, "card")
    answer = {"callback_query_id": query["id"], "text": "Approved", "show_alert": True}
    assert (await bot("answerCallbackQuery", **answer)).result is True
    assert await ana.toast(press) == Toast("Approved", alert=True, url=None)
    assert (await bot("answerCallbackQuery", **answer)).error == STALE


async def test_presses_expire(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A press is answered within the window, or not at all."""
    await card(bot)
    press = await ana.press(await ana.last(), "Approve")
    await telegram.pass_time(16)
    query = await pressed(bot)
    assert (await bot("answerCallbackQuery", callback_query_id=query["id"])).error == STALE
    assert (await bot("answerCallbackQuery", callback_query_id="1")).error == STALE
    with pytest.raises(NeverHappened):
        await ana.toast(press, timeout=0.05)
    await telegram.set_limits(callback_window=60)
    assert (await bot("answerCallbackQuery", callback_query_id=query["id"])).status == 200


async def test_toasts_have_200_characters(bot: Bot, ana: Phone) -> None:
    """A toast that is too long is refused, and the press can still be answered."""
    await card(bot)
    press = await ana.press(await ana.last(), "Approve")
    query = await pressed(bot)
    long = await bot("answerCallbackQuery", callback_query_id=query["id"], text="x" * 201)
    assert long.error == (400, "Bad Request: MESSAGE_TOO_LONG")
    await bot("answerCallbackQuery", callback_query_id=query["id"], text="x" * 200)
    assert (await ana.toast(press)).text == "x" * 200


async def test_taps_that_no_screen_offers(bot: Bot, ana: Phone) -> None:
    """Buttons that are gone, guessed data and deleted messages can be tapped all the same."""
    await card(bot)
    before = await ana.last()
    await bot("editMessageText", chat_id=42, message_id=before.id, text="used")
    await ana.press(before, "Approve")
    query = await pressed(bot)
    assert (query["data"], query["message"]["text"]) == ("v1:approve:abc", "used")
    await ana.press(before, data="v1:approve:guess")
    assert (await pressed(bot))["data"] == "v1:approve:guess"
    await bot("deleteMessage", chat_id=42, message_id=before.id)
    await ana.press(before, "Approve")
    gone = {"chat": query["message"]["chat"], "message_id": before.id, "date": 0}
    assert (await pressed(bot))["message"] == gone


async def test_taps_in_groups_are_by_the_person(bot: Bot, ana: Phone, ops: Chat, telegram: Telegram) -> None:
    """Any member can tap in a group, and the tap has their own number."""
    bo = await telegram.person("Bo", id=43)
    await telegram.change_chat(ops, join=[bo])
    await card(bot, ops.id)
    await bo.press((await bo.messages(ops))[-1], "Approve")
    query = await pressed(bot)
    assert (query["from"]["id"], query["message"]["chat"]["id"]) == (43, ops.id)


async def test_looking_for_buttons(bot: Bot, ana: Phone) -> None:
    """A button that is not there, and a link, cannot be tapped."""
    link = {"text": "Open", "url": "https://example.org"}
    await bot("sendMessage", chat_id=42, text="card", reply_markup=keyboard(APPROVE, link))
    with pytest.raises(LookupError, match="Reject"):
        await ana.press(await ana.last(), "Reject")
    with pytest.raises(LookupError, match="no button that the bot hears of"):
        await ana.press(await ana.last(), "Open")


async def test_waiting_for_messages(bot: Bot, ana: Phone) -> None:
    """A phone waits for a message that fits, new or edited."""
    with pytest.raises(LookupError):
        await ana.last()
    await card(bot)
    seen = await ana.until(lambda message: "Approve" in message.labels)
    await bot("editMessageText", chat_id=42, message_id=seen.id, text="approved")
    assert (await ana.until(lambda message: message.edited == 1)).text == "approved"


async def test_two_waits_on_one_phone(bot: Bot, ana: Phone) -> None:
    """Two tests' steps may wait on one phone, each for its own message."""
    first = asyncio.create_task(ana.until(lambda message: message.text == "a"))
    second = asyncio.create_task(ana.until(lambda message: message.text == "b"))
    for text in ("b", "c", "a"):
        await bot("sendMessage", chat_id=42, text=text)
    assert ((await first).text, (await second).text) == ("a", "b")
