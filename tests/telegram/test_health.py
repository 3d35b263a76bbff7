"""/healthz: it tells who watches whether the bot hears, and how much it has to do."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.clock import now
from bot.health import Health
from bot.webhook import serving
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from tests.own_engine import own_engine
from tests.telegram.together import Bot, eventually, together
from tests.world import World


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


async def asked(health: Health) -> tuple[int, Any]:
    """Status and body of /healthz."""
    app: Any = serving(health)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as http:
        reply = await http.get("/healthz")
        assert (await http.get("/elsewhere")).status_code == 404
        return reply.status_code, reply.json()


async def test_it_is_well_after_a_good_poll_and_deaf_without_one(store: BotStore) -> None:
    """A poll just now: 200. The last one too long ago: 503, with how long. Figures of what waits stand beside it."""
    health = Health(store, clock=now, deaf=60)
    health.holding = True
    await health.polled()
    await store.updates.keep([{"update_id": 1}, {"update_id": 2}])
    (first, _) = await store.updates.waiting()
    await store.updates.bury(first, "odd")
    await store.outbox.add_space("w")
    await store.outbox.mark("w", "ask:a")
    status, body = await asked(health)
    assert status == 200
    assert body["lease"] is True
    assert (body["status"], body["state"], body["inbox"], body["dead_letters"]) == ("ok", "polling", 1, 1)
    assert 0 <= body["last_good_poll_s"] < 60
    assert body["outbox_age_s"] >= 0
    await store.say(polled=now() - 61_000)
    status, body = await asked(health)
    assert (status, body["status"]) == (503, "deaf")
    assert body["last_good_poll_s"] >= 61


async def test_a_start_is_given_time(store: BotStore) -> None:
    """Before the first good poll it is well for a while, and deaf after that."""
    assert (await asked(Health(store, clock=now, deaf=60)))[0] == 200
    assert (await asked(Health(store, clock=now, deaf=0)))[0] == 503


async def test_without_a_store_it_is_not_well(tmp_path: Path) -> None:
    """503 that says so; it is no error of the page."""
    with own_engine(tmp_path) as engine:
        store = open_bot_store(engine.target)
        health = Health(store, clock=now)
        await health.polled()
        engine.end()
        status, body = await asked(health)
        assert (status, body["status"]) == (503, "store away")
        await health.polled()  # and saying so is no error either
        await store.close()


async def test_two_processes_one_works_and_the_other_takes_over(world: World, tmp_path: Path) -> None:
    """Of two bots one has the lease; both say that all is well; when it dies the other hears what is said next."""
    async with together(world, run=False) as live:
        assert world.http
        ports = [free_port() for _ in range(2)]
        url = str(world.http.base_url).rstrip("/")
        bots = [
            Bot(world, live.telegram, url, tmp_path / f"bot{n}.log", {"LOGMEM_BOT_PORT": str(port)})
            for n, port in enumerate(ports)
        ]
        ana = await live.pair("ana")
        try:
            for bot in bots:
                bot.start()
            reports = await eventually(lambda: reporting(ports))
            working = [report["lease"] for report in reports].index(True)
            assert sorted(report["lease"] for report in reports) == [False, True]
            bots[working].process.kill()  # type: ignore[union-attr] # it was started
            await live.ask()
            card = await ana.until(lambda m: "deploy" in m.text)
            await ana.tap(card, "Approve")
            await ana.until(lambda m: m.text.startswith("Approved"))
        finally:
            for bot in bots:
                bot.end()
        assert await live.telegram.violations() == ()


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def reporting(ports: list[int]) -> list[dict[str, Any]] | None:
    """What both say, once both are well and one of them works."""
    async with httpx.AsyncClient(trust_env=False) as http:
        asked = (http.get(f"http://127.0.0.1:{port}/healthz") for port in ports)
        replies = await asyncio.gather(*asked, return_exceptions=True)
    if any(isinstance(reply, BaseException) for reply in replies):
        return None  # it does not listen yet
    answers = [reply for reply in replies if isinstance(reply, httpx.Response)]
    found = [reply.json() for reply in answers]
    well = all(reply.status_code == 200 for reply in answers)
    return found if well and any(report["lease"] and report["state"] == "polling" for report in found) else None
