"""The human gate."""

import asyncio
from typing import Any

import pytest

from store.domain.errors import Refused
from tests.world import Result, World


async def asked(world: World, **more: Any) -> Result:
    """A pending ask of grok's."""
    args: dict[str, Any] = {"where": "job:release", "summary": "Publish v1?", "payload": {"version": 1}} | more
    return await world.do("agent:grok", "ask", **args)


async def test_c31_a_hundred_redeems_one_succeeds(world: World) -> None:
    """Of a hundred redeems at once one gets the payload, the others are told it was used."""
    ask = await asked(world)
    await world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"])
    out = await asyncio.gather(
        *(world.do("agent:grok", "redeem", trail=ask["trail"]) for _ in range(100)), return_exceptions=True
    )
    won = [o for o in out if isinstance(o, dict)]
    assert len(won) == 1
    assert won[0]["payload"] == {"version": 1}
    assert {o.code for o in out if isinstance(o, Refused)} == {"already_redeemed"}


async def test_c12_a_repeated_action_gets_the_first_result(world: World) -> None:
    """The same action_id and arguments give the first result, marked; others conflict."""
    note = {"where": "job:x", "kind": "memo", "summary": "a", "action_id": "n1"}
    one = await world.do("agent:grok", "note", **note)
    two = await world.do("agent:grok", "note", **note)
    assert two == {**one, "replayed": True}
    with pytest.raises(Refused) as no:
        await world.do("agent:grok", "note", **{**note, "summary": "b"})
    assert no.value.code == "action_conflict"
