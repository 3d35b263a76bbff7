"""One real API server for a whole session of tests; a test is isolated by its space.

Import it into a conftest: `from tests.surfaces.server import http, server, serving`.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import uvicorn

from api.app import create
from api.server import Server
from store.engine.client import Target
from store.engine.embedded import Embedded
from store.engine.store import Store, open_store
from store.listening import Bounded
from store.settings import load

PATIENCE = 30.0  # seconds to start, to end, and to answer
BOT_SECRET = "the-bot-of-the-tests-knows-this-secret"


class _Server(Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, store: Store) -> None:
        super().__init__(config, store)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


class Serving(threading.Thread):
    """An API server with a store of its own on an engine, in a thread with a loop of its own.

    `grace`: seconds that it gives at its end to what it serves; None for as long as that takes.
    """

    def __init__(self, engine: Embedded, *, grace: int | None = 1) -> None:
        super().__init__(name="api", daemon=True)
        self.engine, self.grace = engine, grace
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.server: _Server | None = None
        self.store: Store | None = None
        self.begun = threading.Event()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.store = store = open_store(Target.embedded(self.engine))
        try:
            config = uvicorn.Config(
                create(store, load(bot_secret=BOT_SECRET)), http=Bounded, ws="none", lifespan="on", log_config=None,
                access_log=False, server_header=False, timeout_graceful_shutdown=self.grace,
            )  # fmt: skip
            self.server = _Server(config, store)
            self.begun.set()
            await self.server.serve(sockets=[self.listener])
        finally:
            await store.close()

    def wait(self) -> None:
        """Return when it listens."""
        self.start()
        assert self.begun.wait(PATIENCE)
        assert self.server
        assert self.server.up.wait(PATIENCE)

    def stop(self) -> None:
        """End it."""
        assert self.server
        self.server.should_exit = True
        self.join(PATIENCE)
        assert not self.is_alive()


@pytest.fixture(scope="session")
def serving(engine: Embedded) -> Iterator[Serving]:
    """A server on the worker's engine."""
    made = Serving(engine)
    made.wait()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def server(serving: Serving) -> str:
    """Its address, such as `http://127.0.0.1:40123`."""
    return serving.url


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that server, with a cookie jar of its own."""
    async with httpx.AsyncClient(base_url=server, timeout=PATIENCE, trust_env=False) as client:
        yield client
