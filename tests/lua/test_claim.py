"""claim.lua: whoever has been idle for long is queued, the longest first, by the scheduler that leads and nobody else.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

from store.engine.claim import COUNT, Claim

from .script import Script

AGENTS = {"agent:a": 100, "agent:b": 200, "agent:c": 300, "agent:d": 301}


async def idle(script: Script, *, epoch: int | None = 7) -> None:
    """Four agents who wrote at their times, and the epoch of who leads."""
    await script.admin.zadd(script.keys.index("idle", ""), AGENTS)
    if epoch is not None:
        await script.admin.hset(script.keys.leader, "epoch", epoch)


async def stands(script: Script) -> tuple[dict[str, float], dict[str, float]]:
    """Who is idle, and who is queued, each with when they wrote."""
    keys = (script.keys.index("idle", ""), script.keys.index("idle:queue", ""))
    idle, queue = [await script.admin.zrange(key, 0, -1, withscores=True) for key in keys]
    return {name.decode(): at for name, at in idle}, {name.decode(): at for name, at in queue}


async def claim(script: Script, *, epoch: int = 7, before: int = 300, count: int = COUNT) -> int | None:
    """What the script says."""
    return await Claim(script.writer, script=script.text)(script.keys, epoch=epoch, before=before, count=count)


async def test_the_idle_are_queued(claiming: Script) -> None:
    """Whoever wrote by then is moved with when they wrote; who wrote later stays. What is queued stays queued."""
    await idle(claiming)
    assert await claim(claiming) == 3
    assert await stands(claiming) == ({"agent:d": 301}, {"agent:a": 100, "agent:b": 200, "agent:c": 300})
    assert await claim(claiming) == 0
    assert await claim(claiming, before=301) == 1
    assert await stands(claiming) == ({}, AGENTS)


async def test_so_many_at_once(claiming: Script) -> None:
    """No more than were asked for, those who have been idle longest first."""
    await idle(claiming)
    assert await claim(claiming, count=2) == 2
    assert await stands(claiming) == ({"agent:c": 300, "agent:d": 301}, {"agent:a": 100, "agent:b": 200})
    assert await claim(claiming, count=2) == 1


async def test_a_whole_thousand(claiming: Script) -> None:
    """As many as the wrapper asks for fit into one script."""
    await idle(claiming)
    await claiming.admin.zadd(claiming.keys.index("idle", ""), {f"agent:x{n}": n for n in range(COUNT + 10)})
    assert await claim(claiming, before=10_000) == COUNT
    assert await claim(claiming, before=10_000) == 14
    assert len((await stands(claiming))[1]) == COUNT + 14


async def test_nobody_is_idle(claiming: Script) -> None:
    """With nobody there, or nobody for so long, nothing is made."""
    await claiming.admin.hset(claiming.keys.leader, "epoch", 7)
    assert await claim(claiming) == 0
    await idle(claiming)
    assert await claim(claiming, before=99) == 0
    assert await stands(claiming) == (AGENTS, {})


async def test_only_the_leader(claiming: Script) -> None:
    """A scheduler of another epoch, earlier or later, or where nobody has said that it leads, moves nobody."""
    await idle(claiming, epoch=None)
    assert await claim(claiming) is None
    await idle(claiming)
    for epoch in (6, 8, 70):
        assert await claim(claiming, epoch=epoch) is None
    assert await stands(claiming) == (AGENTS, {})
