"""Which chats the bot reaches, and the words when it does not."""

from typing import Any

import pytest

from tests.telegram.calling import Bot
from tests.telegram.phone import Phone, Telegram


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot."""
    return await telegram.person("Ana", id=42, started=True)


async def refused(bot: Bot, chat_id: Any) -> tuple[int, str]:
    """Why nothing can be sent there."""
    return (await bot("sendMessage", chat_id=chat_id, text="hi")).error


@pytest.mark.parametrize(
    ("chat_id", "description"),
    [
        (7, "chat not found"),
        (-1_001_234, "chat not found"),
        ("@nowhere", "chat not found"),
        ("", "chat_id is empty"),
    ],
)
async def test_no_such_chat(bot: Bot, chat_id: Any, description: str) -> None:
    """A chat that is not there is not found."""
    assert await refused(bot, chat_id) == (400, f"Bad Request: {description}")


async def test_the_chat_as_text(bot: Bot, ana: Phone) -> None:
    """A number in a string is a chat too."""
    assert (await bot("sendMessage", chat_id="42", text="hi")).status == 200


async def test_strangers(bot: Bot, telegram: Telegram) -> None:
    """A bot speaks to nobody first: neither to one it never met nor to a member of its group."""
    bo = await telegram.person("Bo", id=43)
    assert await refused(bot, 43) == (400, "Bad Request: private chat not found")
    await telegram.group("Ops", bo)
    assert await refused(bot, 43) == (403, "Forbidden: bot can't initiate conversation with a user")
    await bo.start()
    assert (await bot("sendMessage", chat_id=43, text="hi")).status == 200


async def test_blocked(bot: Bot, ana: Phone) -> None:
    """Who blocked the bot gets nothing, not even an edit, until they unblock it; the bot hears of both."""
    number = (await bot("sendMessage", chat_id=42, text="hi")).result["message_id"]
    await ana.block()
    blocked = (403, "Forbidden: bot was blocked by the user")
    assert await refused(bot, 42) == blocked
    assert (await bot("editMessageText", chat_id=42, message_id=number, text="other")).error == blocked
    await ana.unblock()
    assert (await bot("sendMessage", chat_id=42, text="hi")).status == 200
    moves = [update["my_chat_member"]["new_chat_member"]["status"] for update in await bot.updates()]
    assert moves == ["kicked", "member"]


async def test_starting_unblocks(bot: Bot, ana: Phone) -> None:
    """Opening the bot's link unblocks it."""
    await ana.block()
    await ana.start("abc")
    assert [next(key for key in update if key != "update_id") for update in await bot.updates()] == [
        "my_chat_member",
        "my_chat_member",
        "message",
    ]


async def test_deactivated(bot: Bot, ana: Phone) -> None:
    """A deleted account says so."""
    await ana.deactivate()
    assert await refused(bot, 42) == (403, "Forbidden: user is deactivated")


@pytest.mark.parametrize(
    ("kind", "status", "description"),
    [
        ("group", "kicked", "bot was kicked from the group chat"),
        ("supergroup", "kicked", "bot was kicked from the supergroup chat"),
        ("supergroup", "left", "bot is not a member of the supergroup chat"),
        ("channel", "member", "bot is not a member of the channel chat"),
    ],
)
async def test_groups_without_the_bot(bot: Bot, ana: Phone, *, kind: str, status: str, description: str) -> None:
    """A chat that threw the bot out, or that it left, refuses it."""
    chat = await getattr(bot.telegram, kind)("Ops", ana, bot=status)
    assert await refused(bot, chat.id) == (403, f"Forbidden: {description}")


async def test_kicked_and_left(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """The bot hears that it was thrown out; leaving is its own will."""
    ops, dev = await telegram.group("Ops", ana), await telegram.supergroup("Dev", ana)
    await bot.updates(offset=-1)
    assert (await bot("leaveChat", chat_id=dev.id)).result is True
    await telegram.kick(ops)
    assert (await telegram.chat(ops.id)).bot_status == "kicked"
    assert (await telegram.chat(dev.id)).bot_status == "left"
    moved = (await bot.updates())[-1]["my_chat_member"]
    assert (moved["chat"]["id"], moved["old_chat_member"]["status"], moved["new_chat_member"]["status"]) == (
        ops.id,
        "member",
        "kicked",
    )


async def test_migration(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """A group that became a supergroup refuses under its old number and tells the new one, twice over."""
    group = await telegram.group("Ops", ana)
    new = await telegram.migrate(group)
    answer = await bot("sendMessage", chat_id=group.id, text="hi")
    assert answer.error == (400, "Bad Request: group chat was upgraded to a supergroup chat")
    assert answer.body["parameters"] == {"migrate_to_chat_id": new.id}
    assert (await bot("sendMessage", chat_id=new.id, text="hi")).status == 200
    told = [update["message"] for update in await bot.updates() if "message" in update]
    assert [(one["chat"]["id"], one.get("migrate_to_chat_id"), one.get("migrate_from_chat_id")) for one in told] == [
        (group.id, new.id, None),
        (new.id, None, group.id),
    ]


async def test_chats_and_members(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """The bot can look at a chat and at who is in it."""
    group = await telegram.supergroup("Ops", ana, topics={7: "Deploys"})
    assert (await bot("getChat", chat_id=group.id)).result["is_forum"] is True
    assert (await bot("getChatMember", chat_id=group.id, user_id=42)).result["status"] == "member"
    await telegram.change_chat(group, leave=[ana])
    assert (await bot("getChatMember", chat_id=group.id, user_id=42)).result["status"] == "left"
    assert (await bot("getChatMember", chat_id=group.id, user_id=7)).error == (400, "Bad Request: user not found")
