"""The bot as a service: its token given once, its secrets its own, and the demo decided by a tap there."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.command.running import PATIENCE
from tests.engine.servers import needed
from tests.telegram.phone import Telegram
from tests.telegram.running import UNLIMITED, running

from .composed import Composed, composed, readable_by_others

WHY = "the services of docker-compose.yml are run with it"
T = TypeVar("T")


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    """An emulator without floods."""
    needed("redis-server", WHY)
    needed("redis-cli", WHY)
    async with running(**UNLIMITED) as made:
        yield made


async def later(work: Callable[..., T], *args: Any, **more: Any) -> T:
    """Something that blocks."""
    return await asyncio.to_thread(work, *args, **more)


def services(folder: Path, telegram: Telegram, **variables: str) -> Any:
    """The services with the profile, whose bot asks the emulator."""
    return composed(folder, "telegram", LOGMEM_TELEGRAM_API_URL=telegram.url, **variables)


def give_token(made: Composed, token: str) -> None:
    """As `docker compose run --rm -T users store-users /secrets/all --bot-token < token.txt` does."""
    words = made.command("users", "logmem", "store-users", "/secrets/all", "--bot-token")
    told = made.run("users", *words, said=f"{token}\n")
    assert told.code == 0, told.err
    assert token not in told.out + told.err


def said(made: Composed, *words: str) -> Any:
    """What a command prints with --json, as `docker compose exec api logmem …` runs it."""
    return made.run("api", *made.command("api", "logmem", *words, "--json")).json


async def post(made: Composed, session: httpx.AsyncClient, verb: str, space: str = "fleet", **args: Any) -> Any:
    """A verb, as somebody who is signed in."""
    head = {"Origin": made.url, "X-LogMem-CSRF": "1", "X-LogMem-Space": space}
    answer = await session.post(f"/api/tools/{verb}", json=args, headers=head)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_demo_is_decided_by_a_tap(tmp_path: Path, telegram: Telegram) -> None:
    """From the token to a paired owner to a tap, and a stop in order; token and credential are where they belong."""
    with services(tmp_path, telegram, LOGMEM_PUBLIC_URL="") as made:
        give_token(made, telegram.token)
        await later(made.up)
        await later(made.run, "api", *made.command("api", "logmem", "space", "fleet"))
        link = (await later(said, made, "human", "add", "ana", "--role", "owner"))["login_url"]
        async with httpx.AsyncClient(base_url=made.url, timeout=PATIENCE, trust_env=False) as session:
            assert (await session.post(link, headers={"Origin": made.url})).status_code == 303
            code = (await post(made, session, "pairing"))["code"]
            ana = await telegram.person("Ana")
            await ana.start(code)
            await ana.until(lambda m: m.by_bot)
            (claim,) = (await post(made, session, "claims"))["claims"]
            await post(made, session, "confirm", claim=claim["claim"], yes=True)
            await play(made, ana)
        seen = {
            path for path in (tmp_path / "secrets").rglob("*") if path.is_file() and telegram.token in path.read_text()
        }
        assert {str(path.relative_to(tmp_path / "secrets")) for path in seen} == {"all/bot-token", "bot/bot-token"}
        assert not readable_by_others(
            [path for path in (tmp_path / "secrets" / "bot").iterdir() if path.name != "lock"]
        )
        assert await later(made.down) == dict.fromkeys(("bot", "api", "scheduler", "redis", "users"), 0)
        logs = "".join(made.log(name) for name in made.names)
        assert telegram.token.partition(":")[2] not in logs
        assert (tmp_path / "secrets" / "bot" / "bot-secret").read_text().strip() not in logs
    assert await telegram.violations() == ()


async def play(made: Composed, ana: Any) -> None:
    """The demo in the space fleet's server, decided on Ana's phone."""
    environment = made.environment("api") | {"LOGMEM_SPACE": "fleet"}
    words = made.command("api", "logmem", "demo", "--json")
    process = await asyncio.create_subprocess_exec(
        *words, env=environment, cwd=made.folder, stdout=asyncio.subprocess.PIPE, limit=2**20
    )
    try:
        card = await ana.until(lambda m: "Publish release announcement" in m.text and "Approve" in m.labels)
        await ana.tap(card, "Approve")
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = [json.loads(line) for line in out.splitlines()]
    (turn,) = [event for event in found if "ask_url" in event]
    assert turn["bot"] == "logmem_test_bot"
    told = [e["result"] for e in found if e.get("verb") == "follow" and "decided_by" in e["result"]]
    assert [(each["decided_by"], each["via"]) for each in told] == [("human:ana", "telegram")]


async def test_the_bot_is_healthy_while_it_hears(tmp_path: Path, telegram: Telegram) -> None:
    """Its health check is well once it hears Telegram; a token that was wrong is given anew in the same way."""
    with services(tmp_path, telegram) as made:
        give_token(made, "12345:of-nobody-at-all")
        for name, condition in (("users", "service_completed_successfully"), ("redis", "service_healthy")):
            await later(made.start, name)
            await later(made.wait, name, condition)
        await later(made.start, "api")
        await later(made.wait, "api", "service_healthy")
        await later(made.start, "bot")
        await telegram.wait_until(lambda: telegram.calls("getMe"))
        give_token(made, telegram.token)
        await later(made.down)
        await later(made.up)
        assert await later(made.healthy, "bot")


async def test_without_the_profile_nothing_of_it_runs(tmp_path: Path, telegram: Telegram) -> None:
    """Without a token and the profile the services come up as before, and no bot is among them."""
    with composed(tmp_path) as made:
        await later(made.up)
        assert "bot" not in made.running
        assert not (tmp_path / "secrets" / "bot" / "bot-token").exists()
