"""The scheduler: what a look costs when nothing is due, and how long it takes to queue a fleet that has gone idle."""

import time
from typing import Any

from bench.measure import Row, p50, p50_ratio, rounds
from bench.store import fleet
from scheduler.leader import Leader
from scheduler.sweeps import idle, recap
from scheduler.tick import tick
from store.domain.shift import IDLE
from store.engine.client import Target
from store.engine.embedded import Embedded
from store.engine.reads import Range
from store.engine.store import SCHEDULER, open_store
from store.verbs.due import due
from tests.chaos.scheduled import at_work
from tests.world import World

SECONDS = 2.0  # for a hundred thousand


async def sweeps(engine: Embedded, *, quick: bool) -> list[Row]:
    """A look and a tick with nothing due, against one GET; a hundred thousand idle agents, against two seconds."""
    world = await fleet(engine)
    store = open_store(Target.embedded(engine), user=SCHEDULER)
    leader = Leader(store)
    epoch, spaces = await leader.lead(), [world.space]
    await tick(store, epoch=epoch, spaces=spaces)

    async def get() -> object:
        return await store.reader.get(world.keys.mail("bench"))

    async def look() -> object:
        return await due(store, spaces)

    async def ticked() -> object:
        return await tick(store, epoch=epoch, spaces=spaces)

    count, calls = (3, 60) if quick else (9, 200)
    got = await rounds({"get": get, "look": look, "tick": ticked}, count=count, calls=calls)
    raw = {name: f"{p50(s):.0f} µs" for name, s in got.items()}
    agents = 10_000 if quick else 100_000
    took, recapped = await _idle(world, store, epoch, agents)
    await store.close()
    await world.store.close()
    return [
        Row(
            "look at what is due, nothing is / GET",
            p50_ratio(got["look"], got["get"]),
            3.0,
            f"{raw['look']} / {raw['get']}",
        ),
        Row(
            "tick of the scheduler, nothing is due / GET",
            p50_ratio(got["tick"], got["get"]),
            4.0,
            f"{raw['tick']} / {raw['get']}",
        ),
        Row(
            f"{agents:,} idle agents claimed and queued / {SECONDS:.0f} s",
            took / (SECONDS * agents / 100_000),
            1.0,
            f"{took * 1000:.0f} ms; then {recapped:.0f} recaps/s",
        ),
    ]


async def _idle(world: World, store: Any, epoch: int, agents: int) -> tuple[float, float]:
    """The seconds that it took to queue so many, and how many were recapped in a second after that."""
    await at_work(world, agents)
    await world.pass_time(IDLE + 1)
    at = (await due(store, [world.space]))[world.space]
    begun = time.monotonic()
    moved = await idle(store, world.space, epoch, at)
    took = time.monotonic() - begun
    ((queue,),) = await store.across([world.space], Range("idle:queue", "", 1))
    if not moved == queue.size == agents:
        raise AssertionError(f"of {agents} agents {moved} were queued, and {queue.size} are")
    begun = time.monotonic()
    done = await recap(store, world.space, epoch, at)
    return took, done / (time.monotonic() - begun)
