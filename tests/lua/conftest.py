"""An engine whose settings the tests of the scripts may change."""

from collections.abc import AsyncIterator, Iterator

import pytest

from store.engine.commit import SCRIPT
from tests.own_engine import OwnEngine, own_engine

from .script import Script, script

# Nodes of a stream are trimmed whole: small ones show early that it is done.
SMALL_NODES = ("--stream-node-max-entries", "5")


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnEngine]:
    """An engine of this folder's own."""
    with own_engine(tmp_path_factory.mktemp("lua"), SMALL_NODES) as engine:
        yield engine


@pytest.fixture
async def commit(own: OwnEngine) -> AsyncIterator[Script]:
    """commit.lua as it is."""
    async with script(own, SCRIPT) as made:
        yield made
