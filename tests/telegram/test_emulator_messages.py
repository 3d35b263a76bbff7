"""Sending, editing, replying, forwarding, deleting."""

from typing import Any

import pytest

from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.phone import Chat, Phone, Telegram

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a "
    "current content and reply markup of the message"
)


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot, where nothing is too fast."""
    await telegram.set_limits(per_chat=0)
    return await telegram.person("Ana", id=42, started=True)


async def sent(bot: Bot, **more: Any) -> int:
    """A card in Ana's chat; gives its number."""
    params = {"chat_id": 42, "text": "card", "reply_markup": keyboard(APPROVE), **more}
    return int((await bot("sendMessage", **params)).result["message_id"])


async def test_sent(bot: Bot, ana: Phone) -> None:
    """What is sent is answered and shown."""
    silent = await sent(bot, disable_notification=True)
    shown = await ana.last()
    assert (shown.id, shown.text, shown.labels, shown.silent, shown.by_bot) == (
        silent,
        "card",
        ("Approve",),
        True,
        True,
    )


async def test_editing_without_a_keyboard_removes_it(bot: Bot, ana: Phone) -> None:
    """An edit that leaves the keyboard out takes it away."""
    await bot("editMessageText", chat_id=42, message_id=await sent(bot), text="approved")
    shown = await ana.last()
    assert (shown.text, shown.labels, shown.edited) == ("approved", (), 1)


async def test_editing_the_keyboard_alone(bot: Bot, ana: Phone) -> None:
    """A keyboard is replaced or removed without the text."""
    number = await sent(bot)
    later = keyboard({"text": "Take back", "callback_data": "v1:back:abc"})
    await bot("editMessageReplyMarkup", chat_id=42, message_id=number, reply_markup=later)
    assert (await ana.last()).labels == ("Take back",)
    await bot("editMessageReplyMarkup", chat_id=42, message_id=number)
    assert (await ana.last()).labels == ()
    again = await bot("editMessageReplyMarkup", chat_id=42, message_id=number)
    assert again.error == (400, NOT_MODIFIED)


@pytest.mark.parametrize("change", [{"text": "other"}, {"entities": []}, {"reply_markup": keyboard()}])
async def test_not_modified_is_text_entities_and_keyboard(bot: Bot, ana: Phone, change: dict[str, Any]) -> None:
    """An edit to exactly what stands is refused; any difference of the three is one."""
    same = {"text": "card", "entities": [{"type": "bold", "offset": 0, "length": 4}], "reply_markup": keyboard(APPROVE)}
    number = await sent(bot, **same)
    assert (await bot("editMessageText", chat_id=42, message_id=number, **same)).error == (400, NOT_MODIFIED)
    assert (await bot("editMessageText", chat_id=42, message_id=number, **{**same, **change})).status == 200


@pytest.mark.parametrize(
    "markup", [{"force_reply": True}, {"keyboard": [[{"text": "yes"}]]}, {"remove_keyboard": True}]
)
async def test_messages_that_cannot_be_edited(bot: Bot, ana: Phone, markup: dict[str, Any]) -> None:
    """What was sent with ForceReply or a reply keyboard stays as it is."""
    number = await sent(bot, reply_markup=markup)
    assert (await ana.last()).force_reply is ("force_reply" in markup)
    answer = await bot("editMessageText", chat_id=42, message_id=number, text="other")
    assert answer.error == (400, "Bad Request: message can't be edited")


async def test_edits_refused(bot: Bot, ana: Phone) -> None:
    """Only the bot's own messages that are there are edited, and only with an inline keyboard."""
    theirs = await ana.say("hello")
    answer = await bot("editMessageText", chat_id=42, message_id=theirs.id, text="other")
    assert answer.error == (400, "Bad Request: message can't be edited")
    answer = await bot("editMessageText", chat_id=42, message_id=999, text="other")
    assert answer.error == (400, "Bad Request: message to edit not found")
    number = await sent(bot)
    answer = await bot("editMessageText", chat_id=42, message_id=number)
    assert answer.error == (400, "Bad Request: message text is empty")
    answer = await bot("editMessageText", chat_id=42, text="other")
    assert answer.error == (400, "Bad Request: message identifier is not specified")
    answer = await bot("editMessageReplyMarkup", chat_id=42, message_id=number, reply_markup={"force_reply": True})
    assert answer.status == 400


async def test_inline_keyboard_expected(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """An edit takes no other markup than an inline keyboard: the schema says so first."""
    number = await sent(bot)
    answer = await bot("editMessageText", chat_id=42, message_id=number, text="x", reply_markup={"force_reply": True})
    assert answer.error == (400, "Bad Request: inline keyboard expected")
    assert len(await telegram.violations()) == 1


async def test_edits_have_no_time_limit(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A bot edits its own message after a month."""
    number = await sent(bot)
    await telegram.pass_time(30 * 86_400)
    assert (await bot("editMessageText", chat_id=42, message_id=number, text="lapsed")).status == 200


async def test_replies(bot: Bot, ana: Phone) -> None:
    """A reply names a message that is there, unless it may go without."""
    question = await ana.say("what is it?")
    await sent(bot, reply_parameters={"message_id": question.id})
    assert (await ana.last()).reply_to == question.id
    gone = {"chat_id": 42, "text": "hi", "reply_parameters": {"message_id": 999}}
    assert (await bot("sendMessage", **gone)).error == (400, "Bad Request: message to be replied not found")
    gone["reply_parameters"] = {"message_id": 999, "allow_sending_without_reply": True}
    assert "reply_to_message" not in (await bot("sendMessage", **gone)).result


async def test_a_reply_to_the_bot_carries_the_card(bot: Bot, ana: Phone) -> None:
    """A person's reply shows the bot what it answers, one level deep."""
    number = await sent(bot, reply_parameters={"message_id": (await ana.say("first")).id})
    await ana.say("why?", reply_to=await ana.last())
    replied = (await bot.updates())[-1]["message"]["reply_to_message"]
    assert (replied["message_id"], replied["text"]) == (number, "card")
    assert "reply_to_message" not in replied


async def test_deleting(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A message goes within 48 hours, once."""
    number, old = await sent(bot), await sent(bot)
    assert (await bot("deleteMessage", chat_id=42, message_id=number)).result is True
    assert [message.id for message in await ana.messages()] == [old]
    again = await bot("deleteMessage", chat_id=42, message_id=number)
    assert again.error == (400, "Bad Request: message to delete not found")
    answer = await bot("editMessageText", chat_id=42, message_id=number, text="other")
    assert answer.error == (400, "Bad Request: message to edit not found")
    await telegram.pass_time(172_801)
    answer = await bot("deleteMessage", chat_id=42, message_id=old)
    assert answer.error == (400, "Bad Request: message can't be deleted for everyone")


async def test_deleting_several(bot: Bot, ana: Phone) -> None:
    """Several go at once; those that are not there do not matter."""
    numbers = [await sent(bot), await sent(bot)]
    assert (await bot("deleteMessages", chat_id=42, message_ids=[*numbers, 999])).result is True
    assert await ana.messages() == ()


async def test_forwarding(bot: Bot, ana: Phone) -> None:
    """A forward says where it came from and cannot be edited; protected content stays."""
    theirs = await ana.say("secret")
    forwarded = (await bot("forwardMessage", chat_id=42, from_chat_id=42, message_id=theirs.id)).result
    assert forwarded["forward_origin"]["sender_user"]["id"] == 42
    answer = await bot("editMessageText", chat_id=42, message_id=forwarded["message_id"], text="x")
    assert answer.error == (400, "Bad Request: message can't be edited")
    kept = await sent(bot, protect_content=True)
    answer = await bot("forwardMessage", chat_id=42, from_chat_id=42, message_id=kept)
    assert answer.error == (400, "Bad Request: the message can't be forwarded")


@pytest.fixture
async def forum(telegram: Telegram, ana: Phone) -> Chat:
    """A supergroup with topics."""
    return await telegram.supergroup("Ops", ana, topics={7: "Deploys"})


async def test_topics(bot: Bot, forum: Chat, telegram: Telegram) -> None:
    """A message goes into a topic that is there; General is written to without a number."""
    await bot("sendMessage", chat_id=forum.id, text="in the topic", message_thread_id=7)
    await bot("sendMessage", chat_id=forum.id, text="in General")
    assert [message.thread for message in await telegram.messages(forum)] == [7, None]
    for thread in (1, 8):
        answer = await bot("sendMessage", chat_id=forum.id, text="x", message_thread_id=thread)
        assert answer.error == (400, "Bad Request: message thread not found")
        answer = await bot("sendChatAction", chat_id=forum.id, action="typing", message_thread_id=thread)
        assert answer.error == (400, "Bad Request: message thread not found")


async def test_chat_actions(bot: Bot, ana: Phone) -> None:
    """A chat action is taken where a message would be, and is one of Telegram's."""
    assert (await bot("sendChatAction", chat_id=42, action="typing")).result is True
    assert (await bot("sendChatAction", chat_id=42, action="dancing")).status == 400
    assert (await bot("sendChatAction", chat_id=43, action="typing")).status == 400
