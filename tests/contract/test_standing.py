"""Those who wait are asked about once a second, all at once: whether what they were let in by still stands."""

import asyncio
import json
from typing import Any

import pytest

from store.domain.errors import Refused
from store.domain.grant import Grant
from store.engine.client import Target, open_client
from store.verbs.events import events
from store.verbs.standing import WINDOW, Rounds, Stand, rounds
from tests.world import World

HOUR = 3_600_000
PATIENCE = 10  # seconds


async def quiet(world: World, who: str) -> Any:
    """A stream of somebody's, which has told all that there was."""
    stream = events(world.store, world.badges[who])
    assert (await anext(stream))[0]["open"]
    assert await asyncio.wait_for(anext(stream), PATIENCE) == []
    return stream


async def ended(stream: Any) -> Refused:
    """What ends a stream on which nothing happens any more."""

    async def rest() -> None:
        async for batch in stream:
            assert batch == []

    with pytest.raises(Refused) as no:
        await asyncio.wait_for(rest(), PATIENCE)
    return no.value


async def test_what_no_event_tells_ends_a_stream_too(world: World) -> None:
    """A grant that was changed in the store without a commit is seen within a second or two."""
    stream, other = await quiet(world, "agent:grok"), await quiet(world, "agent:codex")
    key = world.keys.doc(Grant.kind, world.tokens["agent:grok"].split("_")[1])
    admin: Any  # redis-py types its commands for both its clients at once
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        grant = json.loads(await admin.hget(key, "doc"))
        await admin.hset(key, mapping={"doc": json.dumps({**grant, "revoked": 1}), "rev": "elsewhere"})
    assert (await ended(stream)).code == "key_revoked"
    assert await asyncio.wait_for(anext(other), PATIENCE) == []
    await other.aclose()


async def test_time_alone_ends_a_stream(world: World) -> None:
    """A key runs out while nothing happens."""
    await world.agent("brief", days=1)
    stream = await quiet(world, "agent:brief")
    await world.pass_time(25 * HOUR)
    assert (await ended(stream)).code == "key_expired"


async def test_many_are_asked_about_in_one_trip(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred who wait in a space cost one; what differs for one of them differs for that one alone."""
    stands = [Stand({world.keys.doc("grant", f"none{n}"): "" if n else "5"}, 0, "") for n in range(100)]
    feed = (await world.store.feed.since(world.space, "")).cursor
    asked = [Stand(s.revisions, s.ends, feed) for s in stands]
    trips = 0
    fetch = world.store.fetch

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal trips
        trips += 1
        return await fetch(*args, **more)

    monkeypatch.setattr(world.store, "fetch", counted)
    mine = Rounds(world.store)
    found = await asyncio.gather(*(mine.still(world.space, stand) for stand in asked))
    assert found == [False, *[True] * 99]
    assert trips == 1
    assert not await mine.still(world.space, Stand({}, 1, feed))
    assert not await mine.still(world.space, Stand({}, 0, "1-1"))
    gone = asyncio.create_task(mine.still(world.space, asked[1]))
    await asyncio.sleep(0)
    gone.cancel()
    assert await mine.still(world.space, asked[1])
    assert rounds(world.store) is rounds(world.store)
    assert WINDOW < 1
