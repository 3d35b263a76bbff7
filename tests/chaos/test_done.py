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
from .test_race import Call, race, two_processes

SEED = 19
SHORT, FULL = 10, 200  # rounds
COUNTS = [SHORT, pytest.param(FULL, marks=pytest.mark.long)]
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
    """A handoff or seats come in while the job is done: one of both is refused, whoever was first."""
    draw = random.Random(SEED)
    winners: Counter[str] = Counter()
    async with two_processes(world, tmp_path) as (apis, way):
        field = Field(world, apis, way)
        await field.do("agent:codex", "note", where="job:x", kind="memo", summary="my shift is open")
        for number in range(count):
            job = f"j{number}"
            await field.ready(job)
            calls = [done(job), add(job)]
            swap = draw.random() < 0.5  # who is asked first, and at which process
            out = await field.fought(calls[::-1] if swap else calls, gate=number % 2 == 0)
            stage, still = await field.left(job)
            winners[one_of_two(out[::-1] if swap else out, stage, still, adds=adds)] += 1
    assert set(winners) == {"done", "added"} or count == SHORT, winners
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
