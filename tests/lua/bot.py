"""A script of the bot's on an engine where the bot has nothing yet, whatever the script's text."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from store.engine.client import open_client
from store.engine.keys import of_bot
from tests.own_engine import OwnEngine


@dataclass
class BotScript:
    """The script's text, a client of lm-bot that runs it, and lm-admin to look at what it did."""

    engine: OwnEngine
    text: str
    client: Redis
    admin: Any

    async def now(self) -> int:
        """The server's own time in ms."""
        seconds, micros = await self.admin.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def everything(self, pattern: str = of_bot("*")) -> dict[bytes, bytes]:
        """DUMP of every key that the bot keeps for itself, or of those of a space."""
        return {name: await self.admin.dump(name) for name in await self.admin.keys(pattern)}


@asynccontextmanager
async def bot_script(engine: OwnEngine, text: str) -> AsyncIterator[BotScript]:
    """A script with this text; what an earlier one left is gone."""
    async with (
        open_client(engine.target, user="lm-bot") as client,
        open_client(engine.target, user="lm-admin") as admin,
    ):
        made = BotScript(engine, text, client, admin)
        if left := await made.everything():
            await admin.delete(*left)
        yield made
