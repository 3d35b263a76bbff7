"""The API process: MCP, REST and the console over one store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from store.engine.store import Store
from store.settings import Settings


def create(store: Store, settings: Settings) -> FastAPI:
    """The application over an open store; whoever opened the store closes it."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield

    app = FastAPI(title="LogMem", lifespan=life)
    app.state.store, app.state.settings = store, settings
    return app
