"""What goes wrong on demand, and floods."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.hook import hooked
from tests.telegram.phone import ControlError, Phone, Telegram


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot."""
    return await telegram.person("Ana", id=42, started=True)


def hi(**more: Any) -> dict[str, Any]:
    """What sendMessage takes."""
    return {"chat_id": 42, "text": "hi", **more}


async def words(ana: Phone) -> list[str]:
    """What stands on her phone."""
    return [message.text for message in await ana.messages()]


@pytest.mark.parametrize(
    ("status", "description"),
    [(500, "Internal Server Error: restart"), (403, "Forbidden: bot was blocked by the user"), (400, "Bad Request: x")],
)
async def test_any_error(bot: Bot, telegram: Telegram, ana: Phone, status: int, description: str) -> None:
    """Any status with any words, as often as set, and nothing is sent."""
    await telegram.fault("error", "sendMessage", times=2, status=status, description=description)
    assert (await bot("getMe")).status == 200
    assert (await bot("sendMessage", **hi())).error == (status, description)
    assert (await bot("sendMessage", **hi())).error == (status, description)
    assert await words(ana) == []
    assert (await bot("sendMessage", **hi())).status == 200


async def test_conflicts_and_lost_tokens(bot: Bot, telegram: Telegram) -> None:
    """409, 404 and 401 on getUpdates."""
    await telegram.conflict()
    await telegram.not_found()
    await telegram.unauthorized("getUpdates")
    conflict = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    assert (await bot("getUpdates")).error == (409, conflict)
    assert (await bot("getUpdates")).error == (404, "Not Found")
    assert (await bot("getUpdates")).error == (401, "Unauthorized")
    assert (await bot("getUpdates")).status == 200


async def test_floods_on_demand(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """A 429 for one chat says when, in the header and in the body; other chats go on."""
    await telegram.person("Bo", id=43, started=True)
    await telegram.flood(retry_after=7, times=None, chat_id=42)
    answer = await bot("sendMessage", **hi())
    assert answer.error == (429, "Too Many Requests: retry after 7")
    assert (answer.body["parameters"], answer.headers["Retry-After"]) == ({"retry_after": 7}, "7")
    assert (await bot("sendMessage", **hi(chat_id=43))).status == 200


async def test_a_page_instead_of_an_answer(bot: Bot, telegram: Telegram) -> None:
    """A gateway's page comes as HTML."""
    await telegram.fault("html", "getMe")
    answer = await bot.http.post(f"/bot{telegram.token}/getMe")
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (502, "text/html")
    assert "<h1>502 Bad Gateway</h1>" in answer.text


@pytest.mark.parametrize(("kind", "shown"), [("cut", []), ("apply_then_cut", ["hi"])])
async def test_connections_cut(bot: Bot, telegram: Telegram, ana: Phone, kind: str, shown: list[str]) -> None:
    """The connection ends without a word, before or after the call had its effect."""
    await telegram.fault(kind, "sendMessage")
    with pytest.raises(httpx.TransportError):
        await bot("sendMessage", **hi())
    assert await words(ana) == shown
    assert [call.fault for call in await telegram.calls("sendMessage")] == [kind]


@pytest.mark.parametrize(("kind", "shown"), [("hang", []), ("apply_then_hang", ["hi"])])
async def test_hanging(bot: Bot, telegram: Telegram, ana: Phone, kind: str, shown: list[str]) -> None:
    """A call hangs, before or after it had its effect; a client that gives up never learns which."""
    await telegram.fault(kind, "sendMessage", seconds=60)
    with pytest.raises(httpx.ReadTimeout):
        await bot.post("sendMessage", json=hi(), timeout=0.3)

    async def noticed() -> bool:
        return len(await telegram.calls("sendMessage")) == 1

    await telegram.wait_until(noticed)
    assert await words(ana) == shown


@pytest.mark.parametrize("kind", ["hang", "apply_then_hang"])
async def test_hanging_for_a_while(bot: Bot, telegram: Telegram, ana: Phone, kind: str) -> None:
    """A client that waits has its answer in the end, or as soon as the faults are cleared."""
    await telegram.fault(kind, "sendMessage", seconds=0.05)
    assert (await bot("sendMessage", **hi())).status == 200
    await telegram.fault(kind, "sendMessage", seconds=60)
    call = asyncio.create_task(bot("sendMessage", **hi()))

    async def struck() -> bool:
        return bool((await telegram.faults())[-1]["hits"])

    await telegram.wait_until(struck)
    await telegram.clear_faults()
    assert (await call).status == 200
    assert await words(ana) == ["hi", "hi"]


async def test_a_seed_decides(bot: Bot, telegram: Telegram) -> None:
    """A probability strikes alike for the same seed."""
    rows = []
    for _ in range(2):
        await telegram.fault("error", "getMe", times=None, probability=0.5, seed=4)
        rows.append([(await bot("getMe")).status for _ in range(20)])
        await telegram.clear_faults()
    assert rows[0] == rows[1]
    assert set(rows[0]) == {200, 500}


async def test_a_malformed_update(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """An update that nobody can parse comes with the sound ones, and stays until it is confirmed."""
    await telegram.fault("malformed")
    assert await bot.updates() == []
    await ana.say("a")
    sound, broken = await bot.updates()
    assert (sound["message"]["text"], broken["message"]["chat"]) == ("a", 7)
    assert await bot.updates(offset=sound["update_id"] + 1) == [broken]
    assert await bot.updates(offset=broken["update_id"] + 1) == []


async def test_duplicates(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """An update comes twice, and one that was confirmed comes again."""
    await ana.say("a")
    last = (await bot.updates())[0]["update_id"]
    await ana.say("b")
    await telegram.fault("duplicate")
    updates = await bot.updates(offset=last + 1)
    assert [update["message"]["text"] for update in updates] == ["a", "b", "b"]
    assert len(await bot.updates()) == 1


async def test_disorder(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """Updates come in another order than they happened."""
    await telegram.fault("reorder")
    await ana.say("a")
    assert len(await bot.updates()) == 1
    for text in "bcd":
        await ana.say(text)
    mixed = [update["message"]["text"] for update in await bot.updates()]
    assert (sorted(mixed), mixed == list("abcd")) == (list("abcd"), False)
    assert [update["message"]["text"] for update in await bot.updates()] == list("abcd")


async def test_pushes_are_spoiled_too(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """A webhook gets duplicates, disorder and malformed updates as a poll does."""
    for text in "ab":
        await ana.say(text)
    await telegram.fault("reorder")
    async with hooked() as hook:
        await bot("setWebhook", url=hook.url)
        assert [(await hook.next())[0]["message"]["text"] for _ in range(2)] == ["b", "a"]
        await telegram.fault("malformed")
        await telegram.fault("duplicate")
        await ana.say("c")
        came = [(await hook.next())[0]["message"] for _ in range(4)]
        assert came[0]["text"] == "c"
        assert [message["chat"] for message in came[2:]] == [7, 7]
        await bot("deleteWebhook")


async def test_faults_are_checked(telegram: Telegram) -> None:
    """A fault of no known kind is the test's own mistake."""
    with pytest.raises(ControlError, match="no fault 'explode'"):
        await telegram.fault("explode")
    with pytest.raises(ControlError, match="no limit speed"):
        await telegram.set_limits(speed=1)


async def test_one_chat_too_fast(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """One message a second in a private chat, after a short burst; the emulator's clock counts."""
    assert [(await bot("sendMessage", **hi())).status for _ in range(3)] == [200] * 3
    answer = await bot("sendMessage", **hi())
    assert answer.error == (429, "Too Many Requests: retry after 1")
    assert (answer.body["parameters"], answer.headers["Retry-After"]) == ({"retry_after": 1}, "1")
    await telegram.pass_time(1)
    assert (await bot("sendMessage", **hi())).status == 200
    await telegram.set_limits(per_chat=0)
    assert [(await bot("sendMessage", **hi())).status for _ in range(5)] == [200] * 5


async def test_edits_count_and_answers_do_not(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """An edit is a message to the limits; what is refused costs nothing, and an answer to a press is free."""
    number = (await bot("sendMessage", **hi(reply_markup=keyboard(APPROVE)))).result["message_id"]
    press = await ana.press(await ana.last(), "Approve")
    for text in ("", "one", "two"):
        await bot("editMessageText", chat_id=42, message_id=number, text=text)
    answer = await bot("editMessageText", chat_id=42, message_id=number, text="three")
    assert answer.status == 429
    assert (await bot("answerCallbackQuery", callback_query_id=press)).status == 200
    assert (await ana.last()).text == "two"


async def test_a_group_too_fast(bot: Bot, telegram: Telegram, ana: Phone) -> None:
    """Twenty a minute in a group."""
    group = await telegram.group("Ops", ana)
    statuses = [(await bot("sendMessage", chat_id=group.id, text="hi")).status for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    await telegram.pass_time(60)
    assert (await bot("sendMessage", chat_id=group.id, text="hi")).status == 200


async def test_all_chats_too_fast(bot: Bot, telegram: Telegram) -> None:
    """A limit for all chats together."""
    await telegram.set_limits(per_second=5)
    for number in range(6):
        await telegram.person("P", id=number + 1, started=True)
    answers = await asyncio.gather(*(bot("sendMessage", chat_id=number + 1, text="hi") for number in range(6)))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [429]
