"""The contract is driven through a real surface: what a test does goes over HTTP to a real server."""

from collections.abc import AsyncIterator

import httpx
import pytest

from store.engine.embedded import Embedded
from tests.surfaces.server import http, server, serving
from tests.world import World, found, opened, swept

__all__ = ["http", "server", "serving"]


@pytest.fixture
async def empty(engine: Embedded, http: httpx.AsyncClient) -> AsyncIterator[World]:
    """A new space with nobody in it, whose world speaks REST."""
    await swept(engine)
    store = opened(engine)
    world = await found(engine, store)
    world.http = http
    yield world
    await store.close()
