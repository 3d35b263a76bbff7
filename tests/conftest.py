"""What all tests share: the engine, and a space with a small fleet."""

from collections.abc import AsyncIterator

import pytest

from store.engine.embedded import Embedded
from tests.engine_fixture import engine
from tests.world import World, found, opened, swept

__all__ = ["engine"]


@pytest.fixture
async def empty(engine: Embedded) -> AsyncIterator[World]:
    """A new space with nobody in it."""
    await swept(engine)
    store = opened(engine)
    yield await found(engine, store)
    await store.close()


@pytest.fixture
async def world(empty: World) -> World:
    """A space with agents grok and codex, owner ana and approver bo, both signed in."""
    await empty.human("ana", "owner")
    await empty.human("bo", "approver")
    await empty.agent("grok")
    await empty.agent("codex")
    return empty
