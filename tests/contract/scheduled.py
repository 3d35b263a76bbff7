"""What the tests of the scheduler share: the documents that it writes, as they stand, and entries of a Log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from store import invariants
from store.domain.occurrence import SYNC, Occurrence, Rhythm
from store.engine.client import Target, open_client
from store.engine.reads import Doc, Log, Numbered, Range
from tests.ticking import Scheduler, scheduling
from tests.world import Result, World

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@asynccontextmanager
async def ticking(world: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun in a world; at the end the space is sound, and an inspection of it finds nothing."""
    async with scheduling(world.engine) as made:
        await made()
        yield made
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        assert await invariants.check(admin, world.space) == []


async def occurrences(world: World) -> dict[str, Occurrence]:
    """Every occurrence of a space, by its id, in the order in which they opened."""
    ((page,),) = await world.store.across([world.space], Range("occurrences", "", 1000))
    (found,) = await world.store.across([world.space], *(Doc(Occurrence, id) for id in page.ids(Occurrence)))
    return {each.id: each for each in found}


async def rhythm(world: World) -> Rhythm:
    """The rhythm of a space."""
    ((found,),) = await world.store.across([world.space], Doc(Rhythm, SYNC))
    assert isinstance(found, Rhythm)
    return found


async def log(world: World, where: str, kind: str) -> list[Result]:
    """The entries of one kind in a Log (of a place, or of a trail by its id), whole, oldest first."""
    place = where if ":" in where else f"trail:{where}"
    ((lines,),) = await world.store.across([world.space], Log(place, 1000))
    (found,) = await world.store.across([world.space], *map(Numbered, lines.seqs))
    return [entry.shown() for entry in found if entry.entry.kind == kind]
