"""LogMem and Telegram together: engine, API, emulator and bot, with people whose phones are paired.

    async with together(world) as live:     the bot runs in this process
        phone = await live.pair("ana")
        ask = await live.world.do("agent:grok", "ask", …)
        card = await phone.until(lambda m: "…" in m.text)
        toast = await phone.tap(card, "Approve")

`Bot` is the bot as a process of its own, to be killed and started again.
"""

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.app import App, opened
from bot.door import Away, Door
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from store.settings import Limits, Settings, load
from tests.surfaces.server import BOT_SECRET
from tests.telegram.phone import Phone, Telegram
from tests.telegram.running import UNLIMITED, running
from tests.world import Result, World

PATIENCE = 30.0  # seconds for a process to start, to end, or for what it is to bring about
NO_LIMITS = Limits(all=0, chat=0, burst=0, group=0)
_UPDATES = itertools.count(1)

__all__ = ["Bot", "Together", "away", "eventually", "together"]


async def eventually(look: Any, *, what: str = "", timeout: float = PATIENCE) -> Any:
    """What `look` gives as soon as it is true; AssertionError when it has not become so in time."""
    async with asyncio.timeout(timeout):
        while True:
            found = look()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.01)
    raise AssertionError(what)


def away(monkeypatch: pytest.MonkeyPatch, what: str) -> list[bool]:
    """The API is away for these words of the bot, until the list is empty."""
    for_now, tell = [True], getattr(Door, what)

    async def told(door: Door, **about: Any) -> Any:
        if for_now:
            raise Away(f"{what}: ConnectError")
        return await tell(door, **about)

    monkeypatch.setattr(Door, what, told)
    return for_now


@dataclass
class Bot:
    """The bot as a process, told where everything is by its environment alone."""

    world: World
    telegram: Telegram
    api_url: str
    log: Path
    env: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting for anything."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOGMEM_")}
        env = kept | {
            "LOGMEM_REDIS_URI": f"unix://{self.world.engine.socket}",
            "LOGMEM_REDIS_SECRETS": str(self.world.engine.home / "secrets"),
            "LOGMEM_BOT_TOKEN": self.telegram.token,
            "LOGMEM_BOT_SECRET": BOT_SECRET,
            "LOGMEM_BOT_PORT": "0",
            "LOGMEM_API_URL": self.api_url,
            "LOGMEM_TELEGRAM_API_URL": self.telegram.url,
            "LOGMEM_TELEGRAM_LIMITS": "all=0,chat=0,burst=0,group=0",
        }
        with self.log.open("ab") as log:
            command = [sys.executable, "-I", "-m", "bot", "--stop-with-stdin"]
            self.process = subprocess.Popen(
                command, env=env | self.env, stdin=subprocess.PIPE, stdout=log, stderr=log
            )  # fmt: skip

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it, and wait until it is gone; gives its exit code."""
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        assert self.process.stdin
        self.process.stdin.close()
        return code

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


@dataclass
class Together:
    """Everything that runs; `app` is None where the bot is a process."""

    world: World
    telegram: Telegram
    store: BotStore
    settings: Settings
    app: App | None = None
    phones: dict[str, Phone] = field(default_factory=dict)

    async def pair(self, name: str, **how: Any) -> Phone:
        """Give a person of the space a phone whose account is theirs, as if they had confirmed it in the console."""
        phone = await self.telegram.person(name.title(), started=True, **how)
        code = (await self.world.do(f"human:{name}", "pairing"))["code"]
        claim = await self.door(
            "pair", update=next(_UPDATES), user=phone.id, name=phone.name, username="", chat=phone.id,
            chat_type="private", code=code, forwarded=False, via_bot=False, is_bot=False,
        )  # fmt: skip
        await self.world.do(f"human:{name}", "confirm", claim=claim["claim"], yes=True)
        self.phones[name] = phone
        return phone

    async def door(self, what: str, **body: Any) -> Result:
        """Ask at the bot's door."""
        assert self.world.http
        head = {"authorization": f"Bearer {BOT_SECRET}"}
        reply = await self.world.http.post(f"/internal/telegram/{what}", json=body, headers=head)
        assert reply.status_code == 200, reply.text
        found: Result = reply.json()
        return found

    async def ask(self, agent: str = "agent:grok", **how: Any) -> Result:
        """An agent asks something."""
        usual = {"where": "job:launch", "summary": "Shall I deploy?", "payload": {"run": "deploy"}}
        return await self.world.do(agent, "ask", **{**usual, **how})


@asynccontextmanager
async def together(
    world: World, *, run: bool = True, own: Limits = NO_LIMITS, **limits: Any
) -> AsyncIterator[Together]:  # fmt: skip
    """The emulator, without floods unless told otherwise, and the bot in this process unless `run` is False.

    `own` are the limits that the bot keeps by itself.
    """
    assert world.http, "this world has no server"
    async with running(**(limits or UNLIMITED)) as telegram:
        settings = load(
            bot_token=telegram.token,
            bot_secret=BOT_SECRET,
            bot_port=0,
            api_url=str(world.http.base_url).rstrip("/"),
            telegram_api_url=telegram.url,
            telegram_limits=own,
        )
        store = open_bot_store(Target.embedded(world.engine))
        live = Together(world, telegram, store, settings)
        try:
            if not run:
                yield live
                return
            async with opened(Target.embedded(world.engine), settings) as live.app:
                stop = asyncio.Event()
                work = asyncio.create_task(live.app.run(stop))
                try:
                    yield live
                finally:
                    stop.set()
                    await work
        finally:
            await store.close()


async def healthz(port: int) -> httpx.Response:
    """What a bot says of itself."""
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.get(f"http://127.0.0.1:{port}/healthz")
