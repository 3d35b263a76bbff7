"""The emulator as python-telegram-bot sees it."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from telegram import Bot, BotCommand, ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, Update
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from tests.telegram.phone import Phone, Telegram

CARD = InlineKeyboardMarkup([[InlineKeyboardButton("Approve", callback_data="v1:approve:abc")]])


@pytest.fixture
async def library(telegram: Telegram) -> AsyncIterator[Bot]:
    """The library's bot, which has said hello."""
    async with Bot(telegram.token, base_url=f"{telegram.url}/bot", request=HTTPXRequest(read_timeout=5)) as bot:
        yield bot


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot."""
    return await telegram.person("Ana", id=42, started=True)


async def test_from_ask_to_decision(library: Bot, ana: Phone, telegram: Telegram) -> None:
    """A card is sent, tapped, answered, edited: nothing of it strains the schema."""
    bold = MessageEntity("bold", 0, 4)
    when = MessageEntity("date_time", 5, 5, unix_time=dt.datetime(2027, 1, 1, tzinfo=dt.UTC), date_time_format="wDT")
    await library.send_message(42, "grok 12:00", entities=[bold, when], reply_markup=CARD, disable_notification=True)
    press = await ana.press(await ana.last(), "Approve")
    (update,) = await library.get_updates(timeout=5, allowed_updates=["message", "callback_query"])
    query = update.callback_query
    assert query is not None
    assert (query.data, query.from_user.id) == ("v1:approve:abc", 42)
    await query.answer("Approved")
    await query.edit_message_text("approved by Ana", reply_markup=None)
    assert (await ana.toast(press)).text == "Approved"
    assert (await ana.last()).text == "approved by Ana"
    await library.send_message(42, "why?", reply_markup=ForceReply(), reply_to_message_id=(await ana.last()).id)
    await library.set_my_commands([BotCommand("pending", "What waits for you")])
    assert (await library.get_my_commands())[0].command == "pending"
    assert await telegram.violations() == ()


async def test_every_kind_of_update_can_be_parsed(library: Bot, ana: Phone, telegram: Telegram) -> None:
    """What people do arrives as the library's own objects."""
    group = await telegram.group("Ops", ana)
    await ana.start("abc")
    await ana.say("/fleet", chat=group, as_anonymous_admin=True)
    await ana.edit(await ana.say("hi", forwarded=True), "ho")
    await telegram.migrate(group)
    await ana.block()
    updates = await library.get_updates(allowed_updates=Update.ALL_TYPES)
    kinds = [next(key for key in update.to_dict() if key != "update_id") for update in updates]
    assert kinds == [
        "my_chat_member", "message", "message", "message", "edited_message", "message", "message", "my_chat_member",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "description", "raised"),
    [
        (400, "Bad Request: chat not found", BadRequest),
        (403, "Forbidden: bot was blocked by the user", Forbidden),
        (401, "Unauthorized", InvalidToken),
        (404, "Not Found", InvalidToken),
        (409, "Conflict: terminated by other getUpdates request", Conflict),
        (500, "Internal Server Error: restart", NetworkError),
    ],
)
async def test_errors_by_class(
    library: Bot, telegram: Telegram, *, status: int, description: str, raised: type[TelegramError]
) -> None:
    """The library raises its own class for each status."""
    await telegram.fault("error", "sendMessage", status=status, description=description)
    with pytest.raises(raised):
        await library.send_message(42, "hi")


async def test_floods_migrations_pages_and_silence(
    library: Bot, ana: Phone, telegram: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waits, new numbers, pages and time-outs arrive as what they are."""
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    await telegram.flood(retry_after=7)
    with pytest.raises(RetryAfter) as flood:
        await library.send_message(42, "hi")
    assert flood.value.retry_after == dt.timedelta(seconds=7)
    group = await telegram.group("Ops", ana)
    new = await telegram.migrate(group)
    with pytest.raises(ChatMigrated) as migrated:
        await library.send_message(group.id, "hi")
    assert migrated.value.new_chat_id == new.id
    await telegram.fault("html", "sendMessage")
    with pytest.raises(NetworkError):
        await library.send_message(42, "hi")
    await telegram.fault("apply_then_hang", "sendMessage", seconds=60)
    with pytest.raises(TimedOut):
        await library.send_message(42, "sent all the same", read_timeout=0.3)
    assert (await ana.last()).text == "sent all the same"


async def test_the_bots_own_poller(library: Bot, ana: Phone, telegram: Telegram) -> None:
    """Raw updates come through `do_api_request`; a malformed one breaks only the library's parsing."""
    await ana.say("a")
    await telegram.fault("malformed")
    raw = await library.do_api_request("getupdates", api_kwargs={"timeout": 5, "allowed_updates": ["message"]})
    assert [update["message"].get("text") for update in raw] == ["a", None]
    assert await telegram.violations() == ()
    with pytest.raises(Exception, match=r".+"):
        await library.get_updates(offset=raw[1]["update_id"])
