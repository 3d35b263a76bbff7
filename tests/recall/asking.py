"""A space's index, asked as verbs do."""

from store.engine.store import Store
from store.recall.indexes import Answer
from store.recall.query import parse
from store.recall.search import Filter
from tests.world import World

GROK = "agent:grok"


async def noted(world: World, summary: str) -> str:
    """The id of an entry."""
    id: str = (await world.do(GROK, "note", where="channel:x", kind="memo", summary=summary))["entry"]["id"]
    return id


async def searched(world: World, store: Store, query: str, *, patience: float = 30.0) -> Answer:
    """What the indexes say."""
    tip = await store.indexes._ledger.tip(world.space)
    return await store.indexes.search(world.space, tip, parse(query), Filter(), limit=10, now=0, patience=patience)


async def ids(world: World, store: Store, query: str) -> list[str]:
    """The entries found."""
    return [hit.id for hit in (await searched(world, store, query)).found.hits]
