"""Webhook mode: Telegram's word is taken only with the secret, and only once it is kept."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.client import Telegram as Client
from bot.clock import now
from bot.health import Health
from bot.webhook import LONGEST, RECENT, Proof, Webhook, serving
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from tests.own_engine import own_engine
from tests.telegram.phone import Telegram
from tests.telegram.together import NO_LIMITS, Bot, Together, eventually, together
from tests.world import World

SECRET = "telegram-alone-knows-this-webhook-secret"
HEAD = "X-Telegram-Bot-Api-Secret-Token"
UPDATE = {"update_id": 7, "message": {"message_id": 1, "chat": {"id": 7, "type": "private"}, "text": "hi"}}


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


@asynccontextmanager
async def hook(store: BotStore) -> AsyncIterator[httpx.AsyncClient]:
    """The app that listens, called without a network."""
    health = Health(store, clock=now)
    app: Any = serving(health, Webhook(store.updates, health, path="/telegram", secret=SECRET))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://bot") as http:
        yield http


async def test_with_the_secret_an_update_is_kept_once(store: BotStore) -> None:
    """200 means kept; the same update again is 200 and kept once."""
    async with hook(store) as http:
        for _ in range(3):
            assert (await http.post("/telegram", json=UPDATE, headers={HEAD: SECRET})).status_code == 200
    assert await store.updates.backlog() == 1


@pytest.mark.parametrize("given", [None, "", SECRET[:-1], SECRET + "x", SECRET.upper(), "ü" * 40])
async def test_without_or_with_a_wrong_secret_nothing_is_kept_and_the_log_says_why(
    store: BotStore, given: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """403, nothing in the inbox, a line in the log, and the secret in none of it."""
    async with hook(store) as http:
        head = {} if given is None else {HEAD: given.encode()}
        reply = await http.post("/telegram", json=UPDATE, headers=head)  # type: ignore[arg-type] # bytes are headers too
    assert reply.status_code == 403
    assert await store.updates.backlog() == 0
    said = capsys.readouterr().out
    assert "webhook refused" in said
    assert SECRET not in said


async def test_what_is_no_update_is_kept_for_the_dead_letters(store: BotStore) -> None:
    """Telegram would send it for ever: it is taken, and can be looked at."""
    async with hook(store) as http:
        for body in (b"{", b"[]", b"\xff", b"[" * 100_000):
            assert (await http.post("/telegram", content=body, headers={HEAD: SECRET})).status_code == 200
        long = b'"' + b"x" * LONGEST + b'"'
        assert (await http.post("/telegram", content=long, headers={HEAD: SECRET})).status_code == 413
        assert (await http.get("/telegram", headers={HEAD: SECRET})).status_code == 405
        assert (await http.post("/elsewhere", json=UPDATE, headers={HEAD: SECRET})).status_code == 404
    assert await store.updates.backlog() == 4


def test_a_short_secret_is_refused() -> None:
    """Under 32 characters there is no webhook."""
    with pytest.raises(ValueError, match="32"):
        Webhook(None, None, path="/", secret="x" * 31)  # type: ignore[arg-type] # it gets no further


async def test_what_is_not_kept_is_not_taken(tmp_path: Path) -> None:
    """While the store is away the answer is 503, so that Telegram sends it again; then it is kept."""
    with own_engine(tmp_path) as engine:
        store = open_bot_store(engine.target)
        async with hook(store) as http:
            engine.end()
            assert (await http.post("/telegram", json=UPDATE, headers={HEAD: SECRET})).status_code == 503
            engine.start()
            assert (await http.post("/telegram", json=UPDATE, headers={HEAD: SECRET})).status_code == 200
        assert await store.updates.backlog() == 1
        await store.close()


async def test_a_bot_in_webhook_mode_decides_by_tap_and_believes_no_forgery(world: World, tmp_path: Path) -> None:
    """The whole way: the bot tells Telegram where it is, a tap comes in and decides; a forged one changes nothing."""
    async with together(world, run=False) as live:
        bot = hooked(live, tmp_path)
        bot.start()
        try:
            ana = await live.pair("ana")
            ask = await live.ask()
            card = await ana.until(lambda m: "deploy" in m.text)
            forged = {
                "update_id": 1,
                "callback_query": {
                    "id": "1", "from": {"id": ana.id, "is_bot": False, "first_name": "Ana"}, "chat_instance": "1",
                    "data": card.button("Approve").callback_data, "message": card.raw,
                },
            }  # fmt: skip
            for secret in (None, "a" * 40):
                assert await live.telegram.forge(forged, secret=secret) == 403
            assert (await world.do("agent:grok", "follow", what=ask["trail"], wait=0))["status"] == "pending"
            await ana.tap(card, "Approve")
            assert (await world.do("agent:grok", "follow", what=ask["trail"], wait=5))["status"] == "approved"
        finally:
            bot.end()
        refused = [line for line in bot.lines() if line["event"] == "webhook refused"]
        assert [line["why"] for line in refused] == ["no secret", "a wrong secret"]
        assert SECRET not in bot.log.read_text()
        assert await live.telegram.violations() == ()


def hooked(live: Together, folder: Path) -> Bot:
    """A bot that Telegram sends updates to."""
    assert live.world.http
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        "LOGMEM_BOT_PORT": str(port),
        "LOGMEM_WEBHOOK_URL": f"http://127.0.0.1:{port}/telegram",
        "LOGMEM_WEBHOOK_SECRET": SECRET,
    }
    return Bot(live.world, live.telegram, str(live.world.http.base_url).rstrip("/"), folder / "bot.log", env)


async def test_connections_that_say_nothing_do_not_silence_it(world: World, tmp_path: Path) -> None:
    """With more of them than the bot takes at all, an update is kept and its health can be asked."""
    async with together(world, run=False) as live:
        bot = hooked(live, tmp_path)
        bot.start()
        url, silent = bot.env["LOGMEM_WEBHOOK_URL"], []
        try:
            async with httpx.AsyncClient(trust_env=False) as http:

                async def well() -> bool:
                    with contextlib.suppress(httpx.TransportError):
                        return (await http.get(url.replace("/telegram", "/healthz"))).status_code == 200
                    return False

                await eventually(well)
                for _ in range(300):
                    _, writer = await asyncio.open_connection("127.0.0.1", int(bot.env["LOGMEM_BOT_PORT"]))
                    writer.write(b"POST /telegram HTTP/1.1\r\nhost: a\r\n")
                    silent.append(writer)
                assert (await http.post(url, json=UPDATE, headers={HEAD: SECRET})).status_code == 200
                assert await well()
        finally:
            for writer in silent:
                writer.close()
            bot.end()


async def test_that_telegram_means_to_bring_updates_is_not_enough(telegram: Telegram) -> None:
    """Set and silent it is well, and not once an update could not be brought; it is again when one has come since."""
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    proof = Proof("http://127.0.0.1:1/hook", SECRET)
    assert await proof.look(client, heard=0) == ""
    assert (await client.webhook())["url"] == "http://127.0.0.1:1/hook"
    assert await proof.look(client, heard=0) == ""
    await (await telegram.person("Ana", started=True)).say("hello")

    async def failed() -> bool:
        return bool((await client.webhook()).get("last_error_date"))

    await eventually(failed)
    assert await proof.look(client, heard=0) == "Connection refused"
    assert await proof.look(client, heard=now() + 60_000) == ""
    await client.close()


class Told:
    """Telegram's word about a webhook, as it is given."""

    def __init__(self, **said: object) -> None:
        self.said = {"url": "https://bot.example/hook", **said}

    async def webhook(self) -> dict[str, object]:
        """What it says."""
        return self.said

    async def set_webhook(self, url: str, secret: str) -> None:
        """It is told."""


async def test_updates_that_wait_are_brought_or_it_is_not_well() -> None:
    """Something that waits is well when something has come since the last look; an error of long ago is over."""
    proof = Proof("https://bot.example/hook", SECRET)
    waits: Any = Told(pending_update_count=3, last_error_date=now() // 1000 - RECENT - 60, last_error_message="old")
    empty: Any = Told(pending_update_count=0)
    assert await proof.look(waits, heard=0) == ""
    assert await proof.look(waits, heard=0) == ""
    assert await proof.look(waits, heard=0) == "updates wait, and none comes"
    assert await proof.look(waits, heard=now() + 1) == ""
    assert await proof.look(empty, heard=0) == ""
    assert await proof.look(waits, heard=0) == ""
    elsewhere: Any = Told(url="https://elsewhere.example/", pending_update_count=3)
    assert await proof.look(elsewhere, heard=0) == ""


async def test_health_of_a_bot_in_webhook_mode(world: World, tmp_path: Path) -> None:
    """It is well while Telegram knows its address."""
    async with together(world, run=False) as live:
        bot = hooked(live, tmp_path)
        bot.start()
        try:

            async def told() -> bool:
                return bool((await live.telegram.state())["webhook"]["url"])

            await eventually(told)
            async with httpx.AsyncClient(trust_env=False) as http:
                url = bot.env["LOGMEM_WEBHOOK_URL"].replace("/telegram", "/healthz")

                async def well() -> bool:
                    return (await http.get(url)).status_code == 200

                await eventually(well)
        finally:
            bot.end()
