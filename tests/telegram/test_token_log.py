"""No line of any log holds the bot's token or its credential, at whatever level and whatever happens."""

import asyncio
import io
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog

from bot.client import Telegram as Client
from bot.failures import SAID, Failure
from bot.message import Message
from store import telemetry
from tests.surfaces.server import BOT_SECRET
from tests.telegram.phone import Telegram
from tests.telegram.together import NO_LIMITS, Bot, eventually, together
from tests.world import World

DEBUG = {"LOGMEM_LOG_LEVEL": "debug"}
LEVELS = ("debug", "info", "warning", "error")
SECRET = "a-webhook-secret-that-only-telegram-knows"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The log of this process as it was, afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    levels = {name: logging.getLogger(name).level for name in telemetry.LOUD}
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, was in levels.items():
        logging.getLogger(name).setLevel(was)
    structlog.reset_defaults()


@pytest.mark.parametrize("level", LEVELS)
async def test_no_level_of_a_running_bot_shows_a_secret(world: World, tmp_path: Path, level: str) -> None:
    """Cards, taps, and every fault of Telegram and of the API: the token and the credential are in no line."""
    async with together(world, run=False) as live:
        assert world.http
        env = {"LOGMEM_LOG_LEVEL": level}
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log", env)
        for kind, method, how in (*FAULTS, *echoes(live.telegram.token)):
            await live.telegram.fault(kind, method, **how)
        ana = await live.pair("ana")
        bot.start()
        try:
            await live.ask()
            card = await ana.until(lambda m: "deploy" in m.text)
            await ana.tap(card, "Approve")
            await ana.until(lambda m: m.text.startswith("Approved"))
        finally:
            bot.end()
        said = bot.log.read_text()
        assert said or level == "error"
        for secret in (live.telegram.token, live.telegram.token.partition(":")[2], BOT_SECRET):
            assert secret not in said


FAULTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("error", "getMe", {"status": 401, "description": "Unauthorized: invalid token specified"}),
    ("html", "getMe", {"status": 502}),
    ("error", "getUpdates", {"status": 404, "description": "Not Found", "times": 2}),
    ("html", "getUpdates", {"status": 200}),
    ("cut", "getUpdates", {}),
    ("apply_then_cut", "sendMessage", {}),
    ("error", "setMyCommands", {"status": 400, "description": "Bad Request: can't parse entities"}),
)


def spellings(token: str) -> tuple[str, ...]:
    """What a server between us may answer that says what it was asked, in every spelling of the token."""
    once, secret = quote(f"/bot{token}/x", safe=""), token.partition(":")[2]
    cut = f"{'x' * (SAID - len(token) + 5)} {token}"  # where a description ends for us
    return f"Cannot POST /bot{token}/x", f"no /bot{quote(token)}/x", f"key {secret} bad", once, quote(once), cut


def echoes(token: str) -> tuple[tuple[str, str, dict[str, Any]], ...]:
    """The same, some of it in an answer to each method that may fail here."""
    methods = ("getMe", *("setMyCommands",) * 5)
    return tuple(
        ("error", method, {"status": 404, "description": said})
        for method, said in zip(methods, spellings(token), strict=True)
    )


async def test_no_record_holds_the_token(world: World, tmp_path: Path) -> None:
    """Whatever a server between us echoes, why the bot does not hear and why a card was not sent name no secret."""
    async with together(world, run=False) as live:
        assert world.http
        token = live.telegram.token
        bot = Bot(world, live.telegram, str(world.http.base_url).rstrip("/"), tmp_path / "bot.log", DEBUG)
        ana = await live.pair("ana")
        bot.start()
        try:
            for n, said in enumerate(spellings(token)):
                await live.telegram.fault("error", "sendMessage", times=2, status=400, description=said)
                ask = await live.ask(summary=f"Shall I deploy {n}?")

                async def why(ref: str = f"ask:{ask['trail']}") -> str:
                    return " ".join([copy.why for copy in await live.store.copies.of(world.space, ref)])

                assert token.partition(":")[2][:10] not in await eventually(why)
            await live.telegram.fault("error", "getUpdates", times=None, status=500, description=spellings(token)[2])
            await ana.say("/whoami")  # which ends the poll that goes on

            async def deaf() -> str:
                return (await live.store.state())["why"]

            assert await eventually(deaf) == "key … bad"
        finally:
            bot.end()
        assert "telegram refuses a call" in bot.log.read_text()
        assert token.partition(":")[2][:10] not in bot.log.read_text()


def spoken(root: logging.Logger) -> io.StringIO:
    """What is logged from here on, on every level and by every library."""
    heard = io.StringIO()
    was, sys.stderr = sys.stderr, heard
    try:
        telemetry.configure("debug")
    finally:
        sys.stderr = was
    for name in telemetry.LOUD:  # even where somebody has made them speak
        logging.getLogger(name).setLevel(logging.DEBUG)
    assert root.level == logging.DEBUG
    return heard


async def test_not_even_the_libraries_own_words_and_tracebacks_show_it(
    telegram: Telegram, root: logging.Logger
) -> None:
    """With every library at DEBUG, and with tracebacks of all that can fail: the token is masked wherever it stands."""
    heard = spoken(root)
    log = structlog.get_logger("test")
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS, patience=0.3)
    for fault, how in (("cut", {}), ("hang", {"seconds": 5}), ("html", {"status": 502}), ("error", {"status": 401})):
        await telegram.fault(fault, "*", times=1, **how)
        try:
            await client.me()
        except Failure:
            log.exception("a call failed")
    await client.me()
    await client.set_webhook("https://127.0.0.1:1/hook", SECRET)
    try:
        await client._bot.initialize()  # what the library itself would do, whose error names the token
        raise RuntimeError(f"POST {telegram.url}/bot{telegram.token}/getMe said no to {telegram.token}")
    except RuntimeError:
        log.exception("in an error's own text", address=f"{telegram.url}/bot{telegram.token}/getMe")
        logging.getLogger("httpx").exception("as a library would say it: %s", f"/bot{telegram.token}/getMe")
    await client.close()
    said = heard.getvalue()
    assert "getMe" in said
    assert "Traceback" in said
    assert telegram.token.partition(":")[2] not in said


async def test_what_goes_wrong_at_the_start_says_no_secret(world: World, tmp_path: Path) -> None:
    """A bot whose token Telegram does not know stays up and says so; one without a token ends with a sentence."""
    async with together(world, run=False) as live:
        wrong = "123456789:" + "A" * 35
        bot = Bot(world, live.telegram, "http://127.0.0.1:1", tmp_path / "wrong.log", {"LOGMEM_BOT_TOKEN": wrong})
        bot.start()
        try:

            async def said() -> bool:
                return (await live.store.state()).get("state") == "unauthorized"

            await eventually(said)
        finally:
            assert bot.end() == 0
        assert wrong not in bot.log.read_text()
        none = Bot(world, live.telegram, "http://127.0.0.1:1", tmp_path / "none.log", {"LOGMEM_BOT_TOKEN": ""})
        none.start()
        assert none.process
        assert await asyncio.to_thread(none.process.wait, 30) == 2
        none.end()
        assert none.log.read_text().startswith("LOGMEM_BOT_TOKEN is not set")


async def test_text_of_a_card_is_in_no_line(telegram: Telegram, root: logging.Logger) -> None:
    """At the levels that a bot logs at, what agents wrote stays out of the log."""
    heard = spoken(root)
    logging.getLogger("telegram").setLevel(logging.WARNING)  # as `configure` leaves it
    logging.getLogger("httpx").setLevel(logging.WARNING)
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    ana = await telegram.person("Ana", started=True)
    await client.send(ana.id, Message(text="between us"))
    with pytest.raises(Failure):
        await client.send(ana.id, Message(text="between us" * 1000))
    await client.close()
    assert "between us" not in heard.getvalue()
