"""Schedulers that are paused, killed and replaced: what time brings is written once, by whoever leads."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.domain.errors import Refused
from store.domain.shift import Shift
from store.engine.client import Target
from store.engine.commit import Committer, Outcome
from store.engine.embedded import Embedded
from store.engine.reads import Doc, Head, Range
from store.verbs.sweeping import sweep
from store.verbs.sweeps_due import EXPIRE
from store.verbs.sweeps_idle import RECAP, action
from tests.contract.handing import handed
from tests.ticking import scheduling
from tests.world import World

from .scheduled import Process, at_work, recaps, until

HALF_HOUR, HOUR = 1_860_000, 3_600_000
AGENTS = 300
SEED = 6


@pytest.fixture
async def two(engine: Embedded, tmp_path: Path) -> AsyncIterator[tuple[Process, Process]]:
    """Two scheduler processes that are to be started."""
    made = [Process(Target.embedded(engine), tmp_path / f"scheduler-{n}.log") for n in range(2)]
    yield made[0], made[1]
    for each in made:
        if each.process and each.process.poll() is None:
            each.end(signal.SIGKILL)


async def queued(world: World) -> int:
    """How many agents wait to be recapped, or still to be queued."""
    ((queue, idle),) = await world.store.across([world.space], Range("idle:queue"), Range("idle"))
    return int(queue.size + idle.size)


async def test_a_leader_that_was_paused_writes_nothing(world: World, two: tuple[Process, Process]) -> None:
    """Stopped in the middle of its work past its lease, another goes on; when it wakes, none of its writes lands."""
    one, other = two
    names = await at_work(world, AGENTS)
    await one.start()
    await one.status("leads")
    await other.start()
    await other.status("waits")
    await world.pass_time(HALF_HOUR)

    async def begun() -> bool:
        return 0 < len(await recaps(world)) < AGENTS

    await until(begun, why=one.log.read_text)
    one.send(signal.SIGSTOP)
    before = sum((await recaps(world)).values())
    await other.status("leads")

    async def done() -> bool:
        return await queued(world) == 0

    await until(done, why=other.log.read_text)
    ((stands,),) = await world.store.across([world.space], Head())
    assert before < AGENTS
    one.send(signal.SIGCONT)
    await one.status("waits")
    ((after,),) = await world.store.across([world.space], Head())
    assert after == stands
    assert await recaps(world) == dict.fromkeys(names, 1)
    assert (await one.told())["epoch"] == 0
    assert (await other.told())["epoch"] == 2
    assert (one.end(), other.end()) == (0, 0), one.log.read_text()[-3000:] + other.log.read_text()[-3000:]
    codes = {line.get("code") or line.get("why") for line in one.lines() if line["level"] == "error"}
    assert codes <= {"store_unavailable", "unconfirmed"}  # of the answers that it has slept through
    assert not [line for line in other.lines() if line["level"] == "error"]


async def test_what_is_on_its_way_is_refused_once_another_leads(world: World) -> None:
    """A commit that was decided on before the new leader came is refused by the script; a claim and a try anew too."""
    item = await handed(world, deadline="2h")
    (agent,) = await at_work(world, 1)
    async with scheduling(world.engine, life=1) as old, scheduling(world.engine, life=1) as new:
        await old()
        await world.pass_time(3 * HOUR)
        await old.once()
        await handed(world, deadline="2h")
        await world.pass_time(3 * HOUR)
        epoch = await old.lead()
        held = Held(old.store.writer)
        old.store.commit = held
        late = asyncio.create_task(sweep(old.store, EXPIRE, world.space, epoch=epoch))
        await held.reached.wait()
        assert await new.lead() > epoch
        did = await new()
        assert did["expire"] == 1
        ((stands,),) = await world.store.across([world.space], Head())
        held.go.set()
        with pytest.raises(Refused, match=r"^stale: "):
            await late
        assert held.outcomes == ["again"]
        for row, args in ((EXPIRE, {}), (RECAP, {"agent": agent, "seen": 1})):
            with pytest.raises(Refused, match=r"^stale: "):
                await sweep(old.store, row, world.space, epoch=epoch, action_id=action(agent, 1), args=args)
        ((after,),) = await world.store.across([world.space], Head())
        assert after == stands
        assert (await world.do("agent:grok", "view", what=item["item"]))["status"] == "expired"


class Held(Committer):
    """commit.lua, once it may go: as the process is that is stopped right before it."""

    def __init__(self, client: object) -> None:
        super().__init__(client)  # type: ignore[arg-type] # the store's own client
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        self.outcomes: list[str] = []

    async def __call__(self, *args: object, **more: object) -> Outcome:
        self.reached.set()
        await self.go.wait()
        out = await super().__call__(*args, **more)  # type: ignore[arg-type] # handed on as they are
        self.outcomes.append(out.what)
        return out


@pytest.mark.parametrize("kills", [4, pytest.param(25, marks=pytest.mark.long)])
async def test_killed_at_any_point_everything_is_accounted_for(
    world: World, two: tuple[Process, Process], kills: int
) -> None:
    """Kill -9 again and again in the middle of a queue of idle agents: each is recapped once, nobody is left out."""
    chance = random.Random(SEED)
    names = await at_work(world, AGENTS)
    await world.pass_time(HALF_HOUR)
    for n in range(kills):
        one = two[n % 2]
        await one.start()
        done, wanted = sum((await recaps(world)).values()), chance.randint(1, max(1, AGENTS // kills))

        async def far(done: int = done, wanted: int = wanted) -> bool:
            return sum((await recaps(world)).values()) >= min(AGENTS, done + wanted)

        await until(far, why=one.log.read_text)
        one.end(signal.SIGKILL)
    await two[0].start()

    async def empty() -> bool:
        return await queued(world) == 0

    await until(empty, why=two[0].log.read_text)
    assert two[0].end() == 0
    assert await recaps(world) == dict.fromkeys(names, 1)
    (shifts,) = await world.store.across([world.space], *(Doc(Shift, name) for name in names))
    assert all(shift.ended and shift.auto and shift.recap for shift in shifts)


async def test_who_ends_makes_room_at_once(world: World, two: tuple[Process, Process]) -> None:
    """A clean end lets go of the lease; the other leads in a later epoch."""
    one, other = two
    await one.start()
    await one.status("leads")
    await other.start()
    await other.status("waits")
    assert one.end() == 0
    await other.status("leads")
    assert (await other.told())["epoch"] == 2
