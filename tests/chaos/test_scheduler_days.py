"""Scheduler processes through days of a fleet: all down, killed at any point of a sweep, several at once."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from store.domain.errors import Refused
from store.domain.moments import HOUR, MINUTE
from store.domain.space import SYNC_TIMES, Space
from store.engine.claim import QUEUE
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.reads import Doc, Head, Log, Numbered
from store.verbs.due import due
from tests.contract.handing import handed
from tests.contract.scheduled import log, occurrences
from tests.contract.syncing import CODEX, GROK, ZONE, moved, receipt, space_at
from tests.simulation.test_syncs import check
from tests.world import World

from .scheduled import Process, at_work, recaps, rests, until

SEED = 47
MANY = 100_000  # agents
FEW = 12  # of them, where it is about the points of a sweep
LONG = [pytest.mark.long, pytest.mark.timeout(600)]  # a process is started in each round


@pytest.fixture
async def three(engine: Embedded, tmp_path: Path) -> AsyncIterator[list[Process]]:
    """Three scheduler processes that are to be started."""
    made = [Process(Target.embedded(engine), tmp_path / f"scheduler-{n}.log") for n in range(3)]
    yield made
    for each in made:
        if each.lives:
            each.end(signal.SIGKILL)


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00, with grok and codex, and an owner."""
    world = await space_at(empty, "06:00")
    await world.human("ana", "owner")
    return world


async def at_rest(world: World, processes: list[Process]) -> None:
    """Return once nothing is due that was not done."""
    await until(lambda: rests(world), why=lambda: "\n".join(each.log.read_text()[-2000:] for each in processes))


async def started(processes: list[Process]) -> None:
    """Start those that do not run."""
    await asyncio.gather(*(each.start() for each in processes if not each.lives))


async def now(world: World) -> int:
    """What the space's clock shows."""
    return (await due(world.store, [world.space]))[world.space].now


async def entries(world: World) -> int:
    """How many entries the ledger has."""
    ((stands,),) = await world.store.across([world.space], Head())
    return int(stands)


@pytest.mark.parametrize("again", [1, 3])
async def test_all_down_over_two_windows_and_up_again(early: World, three: list[Process], again: int) -> None:
    """What is still due runs once, the rest is accounted for with the reason; one comes back, or three at once."""
    await started(three)
    await at_rest(early, three)
    await moved(early, "09:00:10")
    await at_rest(early, three)
    await handed(early, deadline="3 days")  # by grok, to codex: who is expected as long as it is open
    item = await handed(early, deadline="2h")
    ask = await early.do(GROK, "ask", where="job:x", summary="May I?", expires_in="3 days")
    over = await early.do(GROK, "ask", where="job:x", summary="And this?", expires_in="5h")
    await early.do(CODEX, "note", where="job:x", kind="memo", summary="At it")
    await receipt(early)
    for each in three:
        each.end(signal.SIGKILL)
    await moved(early, "15:00", days=1)
    await started(three[:again])
    await at_rest(early, three[:again])
    *_, morning = [each for each in (await occurrences(early)).values() if each.slot == "morning"][:-1]
    found = [each for each in (await occurrences(early)).values() if each.opens >= morning.opens]
    assert [each.reason or each.state for each in found] == ["missed", "down", "down", "down", "overdue"]
    assert (found[0].missing, found[0].came, found[-1].missing) == ((CODEX,), 1, (CODEX,))
    channel = f"channel:{early.space}"
    told = [e["payload"] for e in await log(early, channel, "accounted") if e["payload"]["day"] >= morning.day]
    assert Counter(each["state"] for each in told) == {"missed": 1, "skipped": 3}
    assert [e["payload"]["slot"] for e in await log(early, channel, "overdue")] == ["midday"]
    assert [len(await log(early, who, "overdue")) for who in (CODEX, GROK)] == [1, 0]
    assert [e["payload"]["reminded"] for e in await log(early, ask["trail"], "reminded")] == [2]
    assert not await log(early, over["trail"], "reminded")
    assert [len(await log(early, it, "expired")) for it in (item["item"], over["trail"], ask["trail"])] == [1, 1, 0]
    assert await recaps(early) == {CODEX: 1}  # grok waits for a decision
    before = await entries(early)
    await started(three)
    assert await rests(early)
    assert [each.end() for each in three] == [0, 0, 0]
    assert await entries(early) == before


class Days:
    """A fleet at work over some days, while scheduler processes are killed and paused in the middle of what they do."""

    def __init__(self, world: World, processes: list[Process], *, seed: object) -> None:
        self.world, self.processes = world, processes
        self.chance = random.Random(str(seed))
        self.paused: list[Process] = []
        self.hit = 0

    async def work(self) -> None:
        """Agents write, check in, ask and hand over, some of it for a short time only; then hours pass."""
        chance, world = self.chance, self.world
        for who in chance.sample(sorted(each for each in world.badges if each.startswith("agent:")), FEW):
            await world.do(who, "note", where="job:x", kind="memo", summary="At it")
            with suppress(Refused):
                await receipt(world, who)
        await world.do(GROK, "ask", where="job:x", summary=f"May I {chance.random()}?", expires_in="90 min")
        await handed(world, deadline=chance.choice(("1h", "20h")))
        await world.pass_time(chance.randint(40 * MINUTE, 9 * HOUR))

    async def strike(self) -> None:
        """Kill or pause one of them, the leader if it is known, once so many entries more have been written."""
        before, wanted = await entries(self.world), self.chance.randint(0, 2 * FEW)

        async def far() -> bool:
            return await entries(self.world) >= before + wanted or await rests(self.world)

        await until(far, why=self.processes[0].log.read_text)
        self.hit += not await rests(self.world)
        awake = [each for each in self.processes if each not in self.paused]
        leading = [each for each in awake if (await each.told()).get("status") == "leads"]
        victim = self.chance.choice(leading or awake)
        if len(awake) > 1 and self.chance.random() < 0.3:
            victim.send(signal.SIGSTOP)
            self.paused.append(victim)
        else:
            victim.end(signal.SIGKILL)

    async def play(self, rounds: int) -> None:
        """So many rounds; at the end all of them run, and what is due is done."""
        await started(self.processes)
        await at_rest(self.world, self.processes)
        for _ in range(rounds):
            await self.work()
            await started(self.processes)
            await self.strike()
            while self.paused and self.chance.random() < 0.5:
                self.paused.pop().send(signal.SIGCONT)
        for each in self.paused:
            each.send(signal.SIGCONT)
        await started(self.processes)
        await at_rest(self.world, self.processes)


@pytest.mark.parametrize(
    ("at_once", "rounds"),
    [(1, 4), (3, 4), *(pytest.param(n, 25, marks=LONG) for n in (1, 3))],
)
async def test_killed_at_any_point_of_a_sweep(early: World, three: list[Process], at_once: int, rounds: int) -> None:
    """Whenever it is, and of how many: each window, deadline, reminder and silent agent is accounted for once."""
    ((space,),) = await early.store.across([early.space], Doc(Space, early.space))
    for n in range(FEW):
        await early.agent(f"w{n}")
    days = Days(early, three[:at_once], seed=(SEED, at_once, rounds))
    await days.play(rounds)
    assert days.hit  # some were struck with work before them
    await check(early, ZONE, SYNC_TIMES, start=space.created, end=await now(early))
    await check_once(early)
    assert [each.end() for each in three[:at_once]] == [0] * at_once


async def check_once(world: World) -> None:
    """What is over was said to be once, on its trail; a shift was recapped once; a day was digested once."""
    ((lines,),) = await world.store.across([world.space], Log("system:scheduler", 100_000))
    (found,) = await world.store.across([world.space], *map(Numbered, lines.seqs))
    said = Counter[tuple[str, str, str, str]]()
    for entry in (each.entry for each in found):
        if entry.kind in ("expired", "lapsed", "digest", "recap"):
            facts = entry.payload if isinstance(entry.payload, dict) else {}
            said[entry.kind, entry.where, entry.trail, f"{facts.get('day', '')}{facts.get('shift', '')}"] += 1
    assert not [key for key, count in said.items() if count > 1]
    kinds = {kind for kind, *_ in said}
    assert {"expired", "recap"} <= kinds


async def members(admin: Any, key: str) -> set[str]:
    """Who stands in an index."""
    return {name.decode() for name in await admin.zrange(key, 0, -1)}


@pytest.mark.long
async def test_100_000_idle_agents_and_a_consumer_that_is_killed(world: World, three: list[Process]) -> None:
    """Killed amid queueing them, and amid their recaps: each still waits, is queued, or was recapped; none twice."""
    chance, one = random.Random(SEED), three[0]
    names = set(await at_work(world, MANY))
    await world.pass_time(31 * MINUTE)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        idle, queue = (world.keys.index(name, "") for name in ("idle", QUEUE))

        async def queueing() -> bool:
            return bool(await admin.zcard(queue) > claimed)

        claimed = chance.randint(0, MANY // 2)
        await one.start()
        await until(queueing, why=one.log.read_text)
        one.end(signal.SIGKILL)
        assert await admin.zcard(idle) + await admin.zcard(queue) + len(await recaps(world)) == MANY
        for _ in range(4):
            left = await admin.zcard(idle) + await admin.zcard(queue) - chance.randint(1, 2000)

            async def fewer(left: int = left) -> bool:
                return bool(await admin.zcard(idle) + await admin.zcard(queue) <= left)

            await one.start()
            await until(fewer, why=one.log.read_text)
            one.end(signal.SIGKILL)
            still, queued = [await members(admin, key) for key in (idle, queue)]
            done = await recaps(world)
            assert not still & queued
            assert not (still | queued) & done.keys()
            assert still | queued | done.keys() == names
            assert set(done.values()) == {1}
        assert not await admin.zcard(idle)
