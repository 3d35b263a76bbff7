"""An engine whose settings the tests of the scripts may change."""

from collections.abc import AsyncIterator, Iterator

import pytest

from store.engine.script import text_of
from tests.own_engine import OwnEngine, own_engine

from .bot import BotScript, bot_script
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
    async with script(own, text_of("commit")) as made:
        yield made


@pytest.fixture
async def claiming(own: OwnEngine) -> AsyncIterator[Script]:
    """claim.lua as it is."""
    async with script(own, text_of("claim"), user="lm-scheduler") as made:
        yield made


@pytest.fixture
async def owning(own: OwnEngine) -> AsyncIterator[Script]:
    """own.lua as it is."""
    async with script(own, text_of("own")) as made:
        yield made


@pytest.fixture
async def reaching(own: OwnEngine) -> AsyncIterator[Script]:
    """reach.lua as it is."""
    async with script(own, text_of("reach")) as made:
        yield made


@pytest.fixture
async def lease(own: OwnEngine) -> AsyncIterator[BotScript]:
    """lease.lua as it is."""
    async with bot_script(own, text_of("lease")) as made:
        yield made


@pytest.fixture
async def keep(own: OwnEngine) -> AsyncIterator[BotScript]:
    """keep.lua as it is."""
    async with bot_script(own, text_of("keep")) as made:
        yield made


@pytest.fixture
async def card(own: OwnEngine) -> AsyncIterator[BotScript]:
    """card.lua as it is."""
    async with bot_script(own, text_of("card")) as made:
        yield made


@pytest.fixture
async def settled(own: OwnEngine) -> AsyncIterator[BotScript]:
    """settled.lua as it is."""
    async with bot_script(own, text_of("settled")) as made:
        yield made
