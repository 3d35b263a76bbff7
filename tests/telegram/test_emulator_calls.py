"""Calls as such: tokens, bodies, methods, parameters."""

import asyncio
import re
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.telegram.calling import Bot
from tests.telegram.phone import Telegram

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("spelled", ["getMe", "getme", "GETME"])
async def test_method_names_know_no_case(bot: Bot, spelled: str) -> None:
    """A method is found however it is spelled."""
    assert (await bot(spelled)).result["username"] == "logmem_test_bot"


@pytest.mark.parametrize(
    ("token", "description"),
    [
        ("7000000001:" + "A" * 35, "Unauthorized"),
        ("secret", "Unauthorized: invalid token specified"),
        ("0:" + "A" * 35, "Unauthorized: invalid token specified"),
    ],
)
async def test_wrong_tokens(bot: Bot, token: str, description: str) -> None:
    """Another bot's token is unauthorized, and what is no token says so."""
    assert (await bot.post("getMe", token=token)).error == (401, description)


@pytest.mark.parametrize("path", ["/", "/bot", "/bot7000000001:x", "/file/bot7:x/photo.jpg"])
async def test_other_paths_are_not_found(bot: Bot, path: str) -> None:
    """A path that is no call is plainly not found."""
    answer = await bot.http.post(path)
    assert answer.status_code in (404, 405)
    assert answer.json()["ok"] is False


async def test_unknown_methods(bot: Bot, telegram: Telegram) -> None:
    """A method that Telegram lacks is not found, and is a violation."""
    assert (await bot("sendCard")).error == (404, "Not Found: method not found")
    assert [(one.method, one.problem) for one in await telegram.violations()] == [("sendCard", "no such method")]


async def test_methods_that_are_not_built(bot: Bot, telegram: Telegram) -> None:
    """A method of the Bot API that the emulator lacks says so, visibly."""
    assert (await bot("sendDice", chat_id=1)).error == (501, "Not Implemented: sendDice is not built in the emulator")
    assert [one.problem for one in await telegram.violations()] == ["not built in the emulator"]


async def test_parameters_whose_effect_is_not_built(bot: Bot, telegram: Telegram) -> None:
    """A parameter of the Bot API whose effect the emulator lacks is not passed over in silence."""
    answer = await bot("sendMessage", chat_id=1, text="hi", business_connection_id="b")
    assert answer.error == (501, "Not Implemented: business_connection_id is not built in the emulator")
    assert len(await telegram.violations()) == 1


BODIES: dict[str, dict[str, Any]] = {
    "json": {"json": {"chat_id": 42, "text": "hi", "reply_markup": {"inline_keyboard": []}}},
    "json in json": {"json": {"chat_id": 42, "text": "hi", "reply_markup": '{"inline_keyboard": []}'}},
    "form": {"data": {"chat_id": "42", "text": "hi", "disable_notification": "true", "entities": "[]"}},
    "multipart": {"files": {"chat_id": (None, "42"), "text": (None, "hi")}},
    "query": {"params": {"chat_id": "42", "text": "hi"}},
    "query of a GET": {"params": {"chat_id": "42", "text": "hi"}, "verb": "GET"},
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_every_kind_of_body(bot: Bot, telegram: Telegram, body: dict[str, Any]) -> None:
    """JSON, form, multipart and query say the same."""
    await telegram.person("Ana", id=42, started=True)
    assert (await bot.post("sendMessage", **body)).result["text"] == "hi"
    assert await telegram.violations() == ()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"chat_id": 1, "text": "hi", "colour": "red"}, "unknown parameter colour"),
        ({"chat_id": 1, "text": "hi", "disable_web_page_preview": True}, "unknown parameter disable_web_page_preview"),
        ({"chat_id": 1, "text": 5}, "text: expected string"),
        ({"chat_id": 1, "text": "hi", "protect_content": "yes"}, "protect_content: expected boolean"),
        ({"chat_id": 1, "text": "hi", "entities": {}}, "entities: expected a list"),
        ({"chat_id": 1, "text": "hi", "entities": "nonsense"}, "entities: is not JSON"),
        (
            {"chat_id": 1, "text": "hi", "entities": [{"type": "bold", "offset": 0}]},
            "entities[0]: missing field length",
        ),
        (
            {"chat_id": 1, "text": "hi", "entities": [{"type": "loud", "offset": 0, "length": 1}]},
            "entities[0].type: 'loud' is not one of the values allowed",
        ),
        (
            {"chat_id": 1, "text": "hi", "reply_markup": {"inline_keyboard": [[{"text": "x", "colour": 1}]]}},
            "reply_markup.inline_keyboard[0][0]: unknown field colour",
        ),
        ({"chat_id": 1, "text": "hi", "message_thread_id": "x"}, "message_thread_id: expected number"),
        ({"chat_id": True, "text": "hi"}, "chat_id: expected number"),
    ],
)
async def test_parameters_are_checked(bot: Bot, telegram: Telegram, given: dict[str, Any], problem: str) -> None:
    """What the schema does not know is refused, and is a violation."""
    assert (await bot("sendMessage", **given)).error == (400, f"Bad Request: {problem}")
    assert [(one.method, one.problem) for one in await telegram.violations()] == [("sendMessage", problem)]


async def test_missing_parameters(bot: Bot, telegram: Telegram) -> None:
    """What is missing is named in Telegram's words, where it has some."""
    assert (await bot("sendMessage", text="hi")).error == (400, "Bad Request: chat_id is empty")
    assert (await bot("sendMessage", chat_id=1)).error == (400, "Bad Request: message text is empty")
    missing = await bot("answerCallbackQuery")
    assert missing.error == (400, "Bad Request: missing parameter callback_query_id")
    assert len(await telegram.violations()) == 3


@pytest.mark.parametrize("body", [b"{", b"[1]"])
async def test_broken_json(bot: Bot, telegram: Telegram, body: bytes) -> None:
    """A body that is no JSON object is refused."""
    headers = {"content-type": "application/json"}
    assert (await bot.post("sendMessage", content=body, headers=headers)).status == 400
    assert len(await telegram.violations()) == 1


async def test_parse_mode_is_a_violation(bot: Bot, telegram: Telegram) -> None:
    """Text is marked up by entities only."""
    await telegram.person("Ana", id=42, started=True)
    await bot("sendMessage", chat_id=42, text="<b>hi</b>", parse_mode="HTML")
    assert [one.problem for one in await telegram.violations()] == ["parse_mode is not to be used"]


async def test_calls_are_kept(bot: Bot, telegram: Telegram) -> None:
    """A test sees what the bot called, with the answers, and never the token."""
    await bot("getMe")
    await bot("sendMessage", chat_id=1, text="hi")
    me, send = await telegram.calls()
    assert (me.method, me.status, me.error) == ("getMe", 200, None)
    assert (send.params, send.status, send.error) == (
        {"chat_id": 1, "text": "hi"},
        400,
        "Bad Request: chat not found",
    )
    assert await telegram.calls("sendMessage", after=me.n) == (send,)
    assert telegram.token not in str(me) + str(send)


async def test_commands(bot: Bot) -> None:
    """The menu of commands is kept by scope and language."""
    menu = [{"command": "pending", "description": "What waits for you"}]
    assert (await bot("setMyCommands", commands=menu)).result is True
    assert (await bot("getMyCommands")).result == menu
    assert (await bot("getMyCommands", scope={"type": "all_group_chats"})).result == []
    assert (await bot("deleteMyCommands")).result is True
    assert (await bot("getMyCommands")).result == []
    broken = [{"command": "/Pending", "description": "What waits for you"}]
    assert (await bot("setMyCommands", commands=broken)).error == (400, "Bad Request: BOT_COMMAND_INVALID")


async def test_by_hand() -> None:
    """The command prints its address and a token that works, and ends on an interrupt without a word."""
    command = (sys.executable, "-m", "tests.telegram.emulator", "--port", "0")
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE, cwd=ROOT)
    assert process.stdout is not None
    said = (await process.stdout.readuntil(b"it forgets people and messages.\n")).decode()
    url, token = re.findall(r"LOGMEM_(?:TELEGRAM_API_URL|BOT_TOKEN)=(\S+)", said)
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        assert (await client.post(f"{url}/bot{token}/getMe")).status_code == 200
    process.send_signal(signal.SIGINT)
    rest = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, *rest) == (0, b"", b"")
