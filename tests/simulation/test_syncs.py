"""C-47 with the engine: round each change of the clocks, with three schedulers, restarts and a clock that jumps."""

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from scheduler.tick import Superseded
from store import invariants
from store.domain.calendar import SLOTS, windows_of
from store.domain.commit import Commit, put
from store.domain.errors import Refused
from store.domain.moments import HOUR, MINUTE
from store.domain.occurrence import SYNC, Occurrence, Rhythm, begun, is_no_news, occurrence_id
from store.domain.space import Space
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.reads import Doc, Log, Numbered
from store.verbs.call import Call, Row
from store.verbs.perform import perform
from tests.contract.scheduled import occurrences, rhythm
from tests.domain.calendars import TIMES, ZONES, every, noon
from tests.ticking import Scheduler, Waits, scheduling
from tests.world import World, opened, swept

SCHEDULERS = 3
AGENTS = ("agent:grok", "agent:codex")


def set_on(zone: str, *, back: bool) -> date:
    """The next day from the fourth on from now on which the zone's clocks are set forward, or back."""
    first = datetime.now(ZoneInfo(zone)).date() + timedelta(days=4)
    noons = [
        datetime(d.year, d.month, d.day, 12, tzinfo=ZoneInfo(zone)) for d in (first + timedelta(n) for n in range(400))
    ]
    found = ((b.date(), a.utcoffset(), b.utcoffset()) for a, b in pairwise(noons))
    return next(day for day, was, is_ in found if was and is_ and (is_ < was if back else is_ > was))


class Story:
    """A space whose clock jumps, its schedulers, and what its agents and time do in it."""

    def __init__(self, world: World, schedulers: list[Scheduler], *, seed: object) -> None:
        self.world, self.schedulers = world, schedulers
        self.chance = random.Random(str(seed))
        self.offset = 0
        self.waited = 0

    async def begin(self, times: tuple[str, ...], *, at: int) -> None:
        """The times of its syncs, accounted for from now on, at this moment."""

        async def change(call: Call) -> Commit:
            space, rhythm = await call.read(Doc(Space, self.world.space), Doc(Rhythm, SYNC))
            assert space
            assert rhythm
            new = replace(space, times=times)
            return Commit(result={}, puts=(put(new), put(begun(windows_of(new), now=call.now))))

        await self.move(at - await self.now())
        await perform(self.world.store, self.world.operator, Row("change", "manage", change), {})

    async def now(self) -> int:
        """What the space's clock shows, which goes back to no earlier than its last entry."""

        async def look(call: Call) -> dict[str, int]:
            await call.admit()
            return {"ms": call.now}

        return int((await perform(self.world.store, self.world.operator, Row("look", "read", look), {}))["ms"])

    async def move(self, ms: int) -> None:
        """Let the clock jump."""
        await self.world.pass_time(ms)

    async def step(self) -> None:
        """The clock jumps, agents do what they do, and schedulers tick: one, or several at once; some are killed."""
        chance = self.chance
        far = chance.choice((MINUTE, 20 * MINUTE, 2 * HOUR, 2 * HOUR, 5 * HOUR))
        await self.move(chance.choice((1, 1, 1, 1, -1)) * chance.randint(1, far))
        for agent in AGENTS:
            await self.act(agent)
        await asyncio.gather(*(self.tick(one) for one in chance.sample(self.schedulers, chance.choice((1, 1, 2, 3)))))

    async def act(self, agent: str) -> None:
        """Nothing, a note, an ask, or a check-in whose window may be closed."""
        match self.chance.randint(0, 9):
            case 0 | 1:
                await self.world.do(agent, "note", where="job:x", kind="memo", summary="At it")
            case 2:
                with suppress(Refused):
                    await self.world.do(
                        agent, "ask", where="job:x", summary=f"May I {self.chance.random()}?", expires_in="1h"
                    )
            case 3 | 4 | 5:
                with suppress(Refused):
                    await self.world.do(agent, "sync", receipt=True, outcome="pass", notes="Fine")

    async def tick(self, scheduler: Scheduler) -> None:
        """One tick of one of them, which may lose the lead on the way, or be killed and begin anew."""
        try:
            if self.chance.randint(0, 4):
                await scheduler.once()
            else:
                async with asyncio.timeout(self.chance.random() / 50):
                    await scheduler.once()
        except (Superseded, Waits):
            self.waited += 1
        except TimeoutError:
            scheduler.restart()


@pytest.mark.parametrize("back", [False, True], ids=["forward", "back"])
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("times", "seeds"),
    [(TIMES[2], 1), *(pytest.param(times, 3, marks=pytest.mark.long) for times in TIMES)],
)
async def test_c47_round_a_change_of_the_clocks_with_the_engine(
    engine: Embedded, zone: str, times: tuple[str, ...], seeds: int, back: bool
) -> None:
    """Each window is recorded once as held, late, missed or skipped with the reason, and no reminder comes twice."""
    for seed in range(seeds):
        await play(engine, zone, times, back=back, seed=(zone, times, back, seed))


async def play(engine: Embedded, zone: str, times: tuple[str, ...], *, back: bool, seed: object) -> None:
    """One story, from two days before the clocks are set to the day after."""
    await swept(engine)
    day = set_on(zone, back=back)
    store = opened(engine)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        world = World(engine, store, "sim")
        await world.operate("space", simulated=True, zone=zone)
        schedulers = [await stack.enter_async_context(scheduling(engine, life=1)) for _ in range(SCHEDULERS)]
        story = Story(world, schedulers, seed=seed)
        start, end = noon(day - timedelta(days=2)), noon(day + timedelta(days=1))
        await story.begin(times, at=start)
        for name in ("grok", "codex"):
            await world.agent(name)
        for _ in range(2000):
            if await story.now() >= end:
                break
            await story.step()
        await schedulers[0]()
        await check(world, zone, times, start=start, end=await story.now())


async def check(world: World, zone: str, times: tuple[str, ...], *, start: int, end: int) -> None:
    """Nothing is left out, nothing is there twice."""
    windows = windows_of(Space(id="sim", created=0, zone=zone, times=times))
    first, last = windows.today(start), windows.today(end) + timedelta(days=1)
    wanted = [w for w in every(windows, first, last) if start < w.opens <= end]
    found = await occurrences(world)
    assert sorted(found) == sorted(occurrence_id(w) for w in wanted)
    assert {id for id, each in found.items() if not each.ended} <= {occurrence_id(w) for w in wanted if w.closes > end}
    assert all(bool(each.reason) == (each.state == "skipped") for each in found.values())
    assert (await rhythm(world)).through >= max((w.opens for w in wanted), default=0)
    await check_told(world, found)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        assert await invariants.check(admin, world.space) == []


async def check_told(world: World, found: dict[str, Occurrence]) -> None:
    """Each end was told once, each who was overdue was once, and no ask was reminded of twice in the same way."""
    ((lines,),) = await world.store.across([world.space], Log("system:scheduler", 100_000))
    (logged,) = await world.store.across([world.space], *map(Numbered, lines.seqs))
    entries = [each.entry for each in logged]
    ends, overdue, reminders = Counter[str](), Counter[str](), Counter[tuple[str, int]]()
    for entry in entries:
        if entry.kind in ("accounted", "overdue"):
            key = f"{entry.payload['day']}:{entry.payload['slot']} {entry.where}"
            (ends if entry.kind == "accounted" else overdue)[key] += 1
        elif entry.kind == "reminded":
            reminders[entry.trail, entry.payload["reminded"]] += 1
    for counted in (ends, overdue, reminders):
        assert not [key for key, count in counted.items() if count > 1]
    told = {key.split()[0] for key in ends}
    assert told == {id for id, each in found.items() if each.accounted}
    untold = [each for each in found.values() if each.ended and not each.accounted]
    for each in untold:  # nobody is told a second time on a day that nobody was expected
        before = [found.get(f"{each.day}:{slot}") for slot in SLOTS[: SLOTS.index(each.slot)]]
        assert is_no_news(each, before)
    assert {key.split()[0] for key in overdue} == {id for id, each in found.items() if each.reminded}
    recaps = Counter((entry.where, entry.payload["shift"]) for entry in entries if entry.kind == "recap")
    assert all(count == 1 for count in recaps.values())
