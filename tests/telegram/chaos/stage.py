"""The processes of a run: store, API, bot and emulator, and the space with its people and agents."""

import asyncio
import itertools
import random
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import redis

from store.domain.errors import Refused
from store.engine.botstore import BotStore, open_bot_store
from tests.chaos.api import Api, Lost
from tests.chaos.book import FAILED, UNKNOWN
from tests.own_engine import OwnEngine, own_engine
from tests.surfaces.server import BOT_SECRET
from tests.telegram.chaos.load import Load
from tests.telegram.phone import Phone, Telegram
from tests.telegram.running import running_apart
from tests.telegram.together import Bot
from tests.world import Result, World, found, opened

AGAIN = 0.3  # seconds before what failed is asked again
TRIES = 400
PORTS = range(20_000, 32_000)  # below those that the system gives to callers, one of whom might take ours meanwhile
STORE_ERRORS = (redis.RedisError, OSError, TimeoutError)

T = TypeVar("T")


@dataclass
class Stage:
    """All that runs."""

    load: Load
    engine: OwnEngine
    world: World
    apis: list[Api]
    telegram: Telegram
    bot: Bot
    store: BotStore
    health: int  # the port on which the bot says how it does
    phones: dict[str, Phone] = field(default_factory=dict)
    deaths: dict[str, int] = field(default_factory=lambda: {"bot": 0, "api": 0, "store": 0})

    async def do(self, who: str, verb: str, *, action_id: str, **args: Any) -> Result:
        """A call, made again with the same action_id until it is answered. Refused for what is decided."""
        names = sorted(self.world.tokens)
        api = self.apis[names.index(who) % len(self.apis)]
        for _ in range(TRIES):
            try:
                return await api.do(self.world.tokens[who], verb, space=self.world.space, action_id=action_id, **args)
            except Lost:
                pass
            except Refused as no:
                if no.code not in UNKNOWN | FAILED:
                    raise
            await asyncio.sleep(AGAIN)
        raise AssertionError(f"{who} got no answer to {verb} in {TRIES} tries")

    async def kill(self, what: str, which: int = 0) -> None:
        """SIGKILL."""
        self.deaths[what] += 1
        match what:
            case "bot":
                await asyncio.to_thread(self.bot.end, signal.SIGKILL)
            case "api":
                await asyncio.to_thread(self.apis[which].end, signal.SIGKILL)
            case "store":
                await asyncio.to_thread(self.engine.end, signal.SIGKILL)

    async def raise_again(self, what: str, which: int = 0) -> None:
        """Start it again."""
        match what:
            case "bot":
                self.bot.start()
            case "api":
                await self.apis[which].start()
            case "store":
                await asyncio.to_thread(self.engine.start)

    async def watch(self) -> None:
        """Start the bot again when it has ended by itself, as whoever runs it would."""
        while True:
            await asyncio.sleep(AGAIN)
            process = self.bot.process
            if process and process.poll() not in (None, -signal.SIGKILL):
                self.bot.start()

    async def healthy(self) -> bool:
        """Whether the bot says that it is well."""
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(trust_env=False) as http:
                return (await http.get(f"http://127.0.0.1:{self.health}/healthz")).status_code == 200
        return False


async def whatever(read: Callable[[], Awaitable[T]]) -> T | None:
    """What a read of the store gives, or None while there is none."""
    try:
        return await read()
    except STORE_ERRORS:
        return None


@asynccontextmanager
async def staged(load: Load, folder: Path) -> AsyncIterator[Stage]:
    """Everything up, and everybody paired."""
    draw = random.Random(load.seed + 1)
    async with AsyncExitStack() as stack:
        engine = stack.enter_context(own_engine(folder))
        telegram = await stack.enter_async_context(running_apart(**load.emulated))
        store = opened(engine.embedded)
        stack.push_async_callback(store.close)
        world = await found(engine.embedded, store)
        apis = [_api(engine, folder / f"api{n}.log", port=free(draw)) for n in range(2)]
        for api in apis:
            stack.push_async_callback(_ended, api)
        await asyncio.gather(*(api.start() for api in apis))
        health = free(draw)
        bot = Bot(
            world, telegram, apis[0].url, folder / "bot.log",
            {"LOGMEM_BOT_PORT": str(health), "LOGMEM_TELEGRAM_LIMITS": load.kept},
        )  # fmt: skip
        bot_store = open_bot_store(engine.target)
        stack.push_async_callback(bot_store.close)
        stage = Stage(load, engine, world, apis, telegram, bot, bot_store, health)
        await _peopled(stage)
        bot.start()
        stack.callback(bot.end, signal.SIGKILL)
        yield stage


def _api(engine: OwnEngine, log: Path, *, port: int) -> Api:
    return Api(engine.socket, engine.secrets, log, port=port, env={"LOGMEM_BOT_SECRET": BOT_SECRET})


async def _ended(api: Api) -> None:
    api.end(signal.SIGKILL)
    await api.client.aclose()


def free(draw: random.Random) -> int:
    """A port that nobody uses."""
    while True:
        port = draw.choice(PORTS)
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port


async def _peopled(stage: Stage) -> None:
    """People with phones, some of them on call, and agents."""
    load, world = stage.load, stage.world
    updates = itertools.count(1)
    for name in load.names:
        await world.human(name, "owner" if name in load.owners else "approver")
    for n in range(load.agents):
        await world.agent(f"a{n:02}")
    for name in load.names:
        phone = stage.phones[name] = await stage.telegram.person(name.upper(), started=True)
        code = (await world.do(f"human:{name}", "pairing"))["code"]
        claim = await _door(
            stage, "pair", update=next(updates), user=phone.id, name=phone.name, username="", chat=phone.id,
            chat_type="private", code=code, forwarded=False, via_bot=False, is_bot=False,
        )  # fmt: skip
        await world.do(f"human:{name}", "confirm", claim=claim["claim"], yes=True)
    for name in load.names[: load.on_call]:
        await world.do(f"human:{name}", "oncall", on=True)


async def _door(stage: Stage, what: str, **body: Any) -> Result:
    head = {"authorization": f"Bearer {BOT_SECRET}"}
    api = stage.apis[0]
    reply = await api.client.post(f"{api.url}/internal/telegram/{what}", json=body, headers=head)
    assert reply.status_code == 200, reply.text
    said: Result = reply.json()
    return said
