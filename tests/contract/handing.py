"""What the tests of handoffs share: an item, who fills a role, what a start shows, and races."""

import asyncio
import secrets
from typing import Any

from store.domain.commit import Commit, put
from store.domain.errors import Refused
from store.domain.huddle import Huddle
from store.domain.ids import new_huddle, new_item
from store.domain.item import DEADLINE, Item, Mark
from store.domain.slot import Who
from store.engine.reads import Doc, Range
from store.verbs.call import Call, Row
from store.verbs.perform import perform
from tests.world import Result, World

ANSWERS: tuple[dict[str, Any], ...] = ({}, {"decline": True, "reason": "no"})


async def handed(world: World, to: str = "agent:codex", who: str = "agent:grok", **more: Any) -> Result:
    """An open item, of grok's to codex unless told otherwise."""
    return await world.do(who, "handoff", **({"to": to, "summary": "Run the migration"} | more))


async def viewed(world: World, item: Result, who: str = "agent:grok") -> Result:
    """The item as somebody sees it."""
    return await world.do(who, "view", what=item["item"])


async def filled(world: World, name: str, role: str) -> None:
    """A new agent that fills a role."""

    async def fill(call: Call) -> Commit:
        await call.read(Doc(Who, call.me))
        return Commit(result={}, puts=(put(Who(id=call.me, name=name, role=role, since=call.now)),))

    await world.agent(name)
    await perform(world.store, world.badges[f"agent:{name}"], Row("fill", "write", fill, ("fleet",)), {})


async def surfaced(world: World, item: Result, to: str) -> None:
    """Somebody's start shows the item to them."""

    async def surface(call: Call) -> Commit:
        await call.read(Doc(Mark, item["item"]))
        return Commit(result={}, puts=(put(Mark(id=item["item"], at=call.now, by=call.me, shift=7)),))

    await perform(world.store, world.badges[to], Row("surface", "write", surface, ("fleet",)), {})


async def seated(world: World, where: str, count: int) -> int:
    """So many open seats in a job, as many huddles had made them, with the nearest deadline that there may be."""

    async def seat(call: Call) -> Commit:
        await call.admit()
        id = new_huddle(secrets.token_bytes(7))
        at: dict[str, Any] = {"where": where, "made": call.now, "deadline": call.now + DEADLINE[0]}
        ids = [new_item(secrets.token_bytes(7)) for _ in range(count)]
        seats = [Item(id=each, sender=call.me, to=call.me, huddle=id, **at) for each in ids]
        one = Huddle(id=id, by=call.me, closer=call.me, seats=tuple(ids), **at)
        return Commit(result={}, puts=(put(one), *map(put, seats)))

    await perform(world.store, world.badges["agent:grok"], Row("seat", "write", seat, ("fleet",)), {})
    return count


async def stands_in(world: World, index: str, owner: str, *, limit: int = 20) -> list[str]:
    """The items in an index, as stored."""
    _, (page,), _ = await world.store.fetch(world.keys, [Range(index, owner, limit)], pure=True)
    ids: list[str] = page.ids(Item)
    return ids


async def race(*calls: Any) -> tuple[list[Result], list[Refused]]:
    """Who won and who lost of calls that are made at once."""
    out = await asyncio.gather(*calls, return_exceptions=True)
    won, lost = [o for o in out if isinstance(o, dict)], [o for o in out if isinstance(o, Refused)]
    assert len(won) + len(lost) == len(calls), out
    return won, lost
