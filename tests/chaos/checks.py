"""What must be true afterwards, whatever happened."""

from redis.asyncio import Redis

from store import invariants
from store.domain.entry import Logged
from store.engine.client import Target, open_client
from store.engine.reads import Head, Numbered
from store.engine.store import Store
from store.ledger.verify import verify
from tests.world import World


async def logged(store: Store, world: World) -> list[Logged]:
    """Every entry of the space, in order."""
    _, (head,), _ = await store.fetch(world.keys, [Head()], pure=True)
    _, found, _ = await store.fetch(world.keys, [Numbered(n) for n in range(1, head + 1)], pure=True)
    return found


async def sound(store: Store, admin: Redis, space: str) -> int:
    """The ledger verifies and the invariants hold; gives the number of entries."""
    report = await verify(store, space)
    assert report.ok, str(report.fault)
    assert await invariants.check(admin, space) == []
    return report.entries


async def sound_world(world: World) -> int:
    """`sound` of the space of a world, on its own engine."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        return await sound(world.store, admin, world.space)
