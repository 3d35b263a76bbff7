from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.engine.client import Target
from store.engine.store import Store, open_store
from tests.world import World


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Where the indexes of a test stand."""
    return tmp_path / "index"


@pytest.fixture
async def store(world: World, folder: Path) -> AsyncIterator[Store]:
    """A store with its indexes there."""
    opened = open_store(Target.embedded(world.engine), index=folder)
    world.store, before = opened, world.store
    yield opened
    world.store = before
    await opened.close()
