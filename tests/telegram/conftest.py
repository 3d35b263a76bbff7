"""An emulator of its own for each test, and the Bot API called bare."""

from collections.abc import AsyncIterator

import pytest

from bot import inbox, speaker
from bot.client import Telegram as Client
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from tests.console.conftest import chromium
from tests.contract.conftest import empty
from tests.surfaces.server import http, server, serving
from tests.telegram.calling import Bot
from tests.telegram.phone import Telegram
from tests.telegram.running import running
from tests.telegram.together import NO_LIMITS, Together, together
from tests.world import World

__all__ = ["chromium", "empty", "http", "server", "serving"]


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    """The emulator with Telegram's own limits."""
    async with running() as telegram:
        yield telegram


@pytest.fixture
async def bot(telegram: Telegram) -> AsyncIterator[Bot]:
    """A bot that calls the emulator by hand."""
    async with Bot(telegram) as bot:
        yield bot


@pytest.fixture
async def live(world: World) -> AsyncIterator[Together]:
    """Engine, API, emulator and bot, all running, without floods; a space with ana, bo, grok and codex."""
    async with together(world) as live:
        yield live


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here."""
    for each in (inbox, speaker):
        monkeypatch.setattr(each, "SOON", 0.01)
        monkeypatch.setattr(each, "LATE", 0.02)


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


@pytest.fixture
async def client(telegram: Telegram) -> AsyncIterator[Client]:
    """Our client, at the emulator."""
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    yield client
    await client.close()
