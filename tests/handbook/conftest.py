"""What is recorded and probed goes over HTTP to a real server."""

from collections.abc import AsyncIterator

import httpx
import pytest

from store.engine.embedded import Embedded
from store.engine.store import Store
from tests.surfaces.server import http, server, serving
from tests.world import opened, swept

__all__ = ["http", "server", "serving"]


@pytest.fixture
async def store(engine: Embedded, http: httpx.AsyncClient) -> AsyncIterator[Store]:
    """An engine on which nobody was before, and a store of its own for the operator."""
    await swept(engine)
    made = opened(engine)
    yield made
    await made.close()
