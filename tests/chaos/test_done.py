"""A job is done while somebody adds to it, at two API processes: never is a done job left with something open."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from store.domain.errors import Refused
from store.domain.item import Item
from store.domain.job import Job
from store.engine.reads import Doc, Range
from tests.world import Result, World

from .api import Api, Lost, outcome
from .checks import sound_world
from .proxy import COMMIT, Fate, Proxy
from .test_race import Call, one_winner, race, two_processes

SEED = 19
SHORT, FULL = 10, 200  # rounds
COUNTS = [SHORT, pytest.param(FULL, marks=pytest.mark.long)]
ORDERS = (0, 1)  # which of both calls is through before the other commits, in the first rounds
MINUTE = 60_000
Outcomes = Sequence[Result | Refused | Lost]


@dataclass
class Field:
    """Where a round is fought: the world, its two processes, and the way between them and the store."""

    world: World
    apis: list[Api]
    way: Proxy

    async def do(self, who: str, verb: str, **args: Any) -> Result:
        """A call that nobody disturbs."""
        return await self.apis[0].do(self.world.tokens[who], verb, **args)

    async def ready(self, job: str) -> None:
        """A job that one step is missing from being done."""
        await self.do("agent:grok", "assign", job=job, title="Fight over me")
        for stage in ("in_progress", "review"):
            await self.do("agent:grok", "stage", job=job, stage=stage)

    async def fought(self, calls: Sequence[Call], *, gate: bool) -> Outcomes:
        """All calls at once; with `gate` all have decided before any of them commits."""
        return await race(self.world, self.apis, self.way, calls, gate=gate)

    async def overtaken(self, calls: Sequence[Call], *, first: int) -> Outcomes:
        """Both calls, one of which decides, and is held before its commit until the `first` one is done."""
        slow = calls[1 - first]
        held = self.way.next(Fate.GATE, match=COMMIT, times=2)  # the first waits for a second, which is us
        late = asyncio.create_task(outcome(self.apis[0].do(self.world.tokens[slow[0]], slow[1], **slow[2])))
        await held.begun.wait()
        who, verb, args = calls[first]
        early = await self.world.do(who, verb, **args)  # by a way of its own
        held.opened.set()
        out: list[Result | Refused | Lost] = [early, early]
        out[1 - first] = await late
        self.way.heal()
        return out

    async def left(self, job: str) -> tuple[str, list[str]]:
        """The stage of a job, and what is open in it, as stored."""
        store, keys = self.world.store, self.world.keys
        _, (found, page), _ = await store.fetch(keys, [Doc(Job, job), Range("holds", f"job:{job}", 100)], pure=True)
        _, items, _ = await store.fetch(keys, [Doc(Item, id) for id in page.ids(Item)], pure=True)
        now = max(item.made for item in items) if items else 0
        return found.stage, [item.id for item in items if item.as_of(now).state == "open"]


def done(job: str) -> Call:
    """The last step of a job."""
    return "agent:grok", "stage", {"job": job, "stage": "done"}


def handing(job: str) -> Call:
    """A handoff in the job."""
    return "agent:codex", "handoff", {"to": "human:bo", "summary": "One more thing", "where": f"job:{job}"}


def seating(job: str) -> Call:
    """A huddle on the job, with two seats."""
    return "agent:codex", "huddle", {"where": job, "question": "Really?", "seats": ["human:bo", "agent:grok"]}


def one_of_two(out: Outcomes, stage: str, still: Sequence[str], *, adds: int) -> str:
    """Which won, the step or what was added: the other was refused for it, and what is stored is the winner's."""
    ended, added = out[0], out[1]
    if isinstance(ended, dict):
        assert isinstance(added, Refused), added
        assert (added.code, stage, still) == ("job_done", "done", [])
        return "done"
    assert isinstance(ended, Refused), ended
    assert isinstance(added, dict), added
    assert (ended.code, ended.facts["count"], stage, len(still)) == ("open_obligations", adds, "review", adds)
    return "added"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("add", "adds"), [(handing, 1), (seating, 2)], ids=["handoff", "seat"])
async def test_c19_done_against_what_is_added(
    world: World, tmp_path: Path, add: Callable[[str], Call], adds: int, count: int
) -> None:
    """A handoff or seats come in while the job is done: one of both is refused, whoever was first.

    In the first rounds one of them is held before its commit until the other is through, each way; later ones are open.
    """
    draw = random.Random(SEED)
    winners: Counter[str] = Counter()
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        await field.do("agent:codex", "note", where="job:x", kind="memo", summary="my shift is open")
        for number in range(count):
            job = f"j{number}"
            await field.ready(job)
            calls = [done(job), add(job)]
            if number < len(ORDERS):
                first = ORDERS[number]
                out = await field.overtaken(calls, first=first)
                won = one_of_two(out, *await field.left(job), adds=adds)
                assert won == ("done", "added")[first]
                continue
            swap = draw.random() < 0.5  # who is asked first, and at which process
            out = await field.fought(calls[::-1] if swap else calls, gate=number % 2 == 0)
            stage, still = await field.left(job)
            winners[one_of_two(out[::-1] if swap else out, stage, still, adds=adds)] += 1
    assert winners.total() == count - len(ORDERS)
    await sound_world(world)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", COUNTS)
async def test_c19_done_while_one_goes_and_one_comes(world: World, tmp_path: Path, count: int) -> None:
    """A dead letter is put away and a handoff added at the same moment, so that as many stand there as before."""
    draw = random.Random(SEED)
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        jobs = [f"j{number}" for number in range(count)]
        dead: dict[str, str] = {}
        for job in jobs:
            await field.ready(job)
            _, verb, args = handing(job)
            dead[job] = (await field.do("agent:codex", verb, **args, deadline="5m"))["item"]
        await world.pass_time(6 * MINUTE)
        for number, job in enumerate(jobs):
            away: Call = ("agent:codex", "handoff", {"withdraw": dead[job]})
            calls = [done(job), handing(job), away]
            turns = draw.sample(range(3), 3)
            out = await field.fought([calls[n] for n in turns], gate=number % 2 == 0)
            by_call = [out[turns.index(n)] for n in range(3)]
            assert isinstance(by_call[2], dict), by_call[2]
            stage, still = await field.left(job)
            one_of_two(by_call, stage, still, adds=1)
    await sound_world(world)


@pytest.mark.parametrize("match", [b":doc:item:", COMMIT], ids=["while reading", "before the commit"])
async def test_c19_a_swap_is_seen(world: World, tmp_path: Path, match: bytes) -> None:
    """A dead letter goes and a handoff comes while done is on its way: it is decided anew, and refused."""
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        await field.ready("x")
        who, verb, args = handing("x")
        dead = (await field.do(who, verb, **args, deadline="5m"))["item"]
        await world.pass_time(6 * MINUTE)
        held = way.next(Fate.GATE, match=match, times=2)  # the first waits for a second, which is us
        ending = asyncio.create_task(outcome(field.do(*done("x")[:2], **done("x")[2])))
        await held.begun.wait()
        await world.do(who, "handoff", withdraw=dead)
        await world.do(who, verb, **args)
        held.opened.set()
        out = await ending
        assert isinstance(out, Refused), out
        assert (out.code, out.facts["count"]) == ("open_obligations", 1)
        assert await field.left("x") == ("review", [line["item"] for line in out.facts["open"]])  # type: ignore[attr-defined]  # facts hold any value
    await sound_world(world)


async def test_c17_of_two_who_open_a_job_at_once_one_does(world: World, tmp_path: Path) -> None:
    """Both have seen none; the other is told who has it by now, and its title stands nowhere."""
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        for who in ("agent:grok", "agent:codex"):
            await field.do(who, "note", where="job:x", kind="memo", summary="my shift is open")
        for number, gate in enumerate((True, True, False, False)):
            job = f"j{number}"
            calls: list[Call] = [
                (who, "assign", {"job": job, "title": f"{who} opens it", "to": who})
                for who in ("agent:grok", "agent:codex")
            ]
            won, (lost,) = one_winner(await field.fought(calls, gate=gate), "job_exists")
            assert (lost.facts["assignee"], lost.facts["stage"]) == (won["assignee"], "todo")
            seen = await world.do("agent:grok", "view", what=f"job:{job}")
            assert (seen["who"]["title"], seen["log_total"]) == (f"{won['assignee']} opens it", 1)
    await sound_world(world)


async def test_c18_a_skill_that_is_lost_on_the_way_is_missed(world: World, tmp_path: Path) -> None:
    """An agent gives a skill up after it was looked at and before the job is its own: the job is refused."""
    calls: list[Call] = [
        ("agent:grok", "assign", {"job": "x", "title": "Query it", "to": "codex", "needs": ["sql"]}),
        ("agent:grok", "handoff", {"to": "codex", "summary": "Query it", "where": "job:y"}),
        ("agent:codex", "accept", {"item": ""}),
    ]
    await world.do("agent:codex", "bio", profile={"skills": ["sql"], "role": "builder"})
    await world.do("agent:grok", "assign", job="y", title="Query that", needs=["sql"])
    item = (await world.do("agent:grok", "handoff", to="role:builder", summary="Query it", where="job:y"))["item"]
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        for who, verb, args in calls:
            await world.do("agent:codex", "bio", profile={"skills": ["sql"]})
            held = way.next(Fate.GATE, match=COMMIT, times=2)  # the first waits for a second, which is us
            given = args | ({"item": item} if "item" in args else {})
            asking = asyncio.create_task(outcome(field.do(who, verb, **given)))
            await held.begun.wait()
            await world.do("agent:codex", "bio", profile={"skills": []})
            held.opened.set()
            no = await asking
            assert isinstance(no, Refused), no
            assert (no.code, no.facts["missing"]) == ("skill_missing", ["sql"])
            way.heal()
    await sound_world(world)
