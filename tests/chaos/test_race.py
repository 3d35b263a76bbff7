"""Sixty-four callers at two API processes settle one thing: one of them does, and every other is told who did."""

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from store.domain.errors import Refused
from tests.world import Result, World

from .api import CALLERS, Api, Lost, outcome, served
from .checks import sound_world
from .proxy import Fate, Proxy, proxy

SEED = 11
TRIES = 30  # of a caller who is told that the store is busy
SHORT, FULL = 8, 100  # things of each kind that are settled
COUNTS = [SHORT, pytest.param(FULL, marks=pytest.mark.long)]
RECIPIENTS = (
    ("role:approver", ("human:ana", "human:bo")),
    ("role:builder", ("agent:codex", "agent:muse")),
    ("agent:codex", ("agent:codex",)),
)
Call = tuple[str, str, dict[str, Any]]  # who, verb, arguments


@asynccontextmanager
async def two_processes(world: World, folder: Path) -> AsyncIterator[tuple[list[Api], Proxy]]:
    """Two API processes that reach the store through a proxy."""
    async with (
        proxy(world.engine.socket, folder) as way,
        served(world, folder, processes=2, socket=way.path) as apis,
    ):
        yield apis, way


async def told(api: Api, token: str, space: str, call: Call) -> Result | Refused | Lost:
    """How a call ends for a caller who does what `busy` says: the same again, with the same action_id."""
    _, verb, args = call
    action_id = args.get("action_id") or secrets.token_hex(8)
    rest = {name: value for name, value in args.items() if name != "action_id"}
    out: Result | Refused | Lost = Lost()
    for _ in range(TRIES):
        out = await outcome(api.do(token, verb, space=space, action_id=action_id, **rest))
        if not (isinstance(out, Refused) and out.code == "busy"):
            break
    return out


async def race(
    world: World, apis: Sequence[Api], way: Proxy, calls: Sequence[Call], *, gate: bool
) -> list[Result | Refused | Lost]:
    """All calls at once, spread over the processes; with `gate` all have decided before any of them commits."""
    held = way.next(Fate.GATE, times=len(calls)) if gate else None
    out = await asyncio.gather(
        *(told(apis[n % len(apis)], world.tokens[call[0]], world.space, call) for n, call in enumerate(calls))
    )
    assert held is None or held.opened.is_set()
    way.heal()
    return out


def one_winner(out: Sequence[Result | Refused | Lost], code: str) -> tuple[Result, list[Refused]]:
    """The one result, and the refusals of all others, which have this code."""
    won = [o for o in out if isinstance(o, dict)]
    lost = [o for o in out if isinstance(o, Refused)]
    assert (len(won), len(lost)) == (1, len(out) - 1), Counter(getattr(o, "code", type(o).__name__) for o in out)
    assert {no.code for no in lost} == {code}
    return won[0], lost


async def kinds(world: World, trail: str) -> Counter[str]:
    """How many entries of each kind a trail has."""
    seen = await world.do("agent:grok", "view", what=trail)
    return Counter(entry["kind"] for entry in seen["history"])


def mixed(draw: random.Random, calls: Sequence[Call]) -> list[Call]:
    """Sixty-four calls of these, in any order."""
    many = [calls[n % len(calls)] for n in range(CALLERS)]
    draw.shuffle(many)
    return many


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", COUNTS)
async def test_c21_asks_are_settled_once(world: World, tmp_path: Path, count: int) -> None:
    """Of 64 decisions on an ask one is taken, of 64 uses of an approval one; the others learn whose and when."""
    draw = random.Random(SEED)
    async with two_processes(world, tmp_path) as (apis, way):
        for number in range(count):
            grok = world.tokens["agent:grok"]
            ask = await apis[0].do(grok, "ask", where="job:x", summary=f"May I do {number}?", payload=number)
            shown = {"trail": ask["trail"], "digest": ask["digest"]}
            verdicts = [
                (who, "decide", {**shown, "verdict": verdict})
                for who in ("human:ana", "human:bo")
                for verdict in ("approve", "approve", "reject")
            ]
            out = await race(world, apis, way, mixed(draw, verdicts), gate=number % 2 == 0)
            won, lost = one_winner(out, "already_settled")
            for no in lost:
                assert {k: no.facts[k] for k in ("by", "status", "at")} == {k: won[k] for k in ("by", "status", "at")}
                assert no.message.startswith(f"{won['by']} {won['status']} this ")
            assert (await kinds(world, ask["trail"]))["decided"] == 1
            uses = [("agent:grok", "redeem", {"trail": ask["trail"]})] * CALLERS
            approved = won["status"] == "approved"
            out = await race(world, apis, way, uses, gate=approved and number % 2 == 1)
            if approved:
                used, lost = one_winner(out, "already_redeemed")
                assert used["payload"] == number
                assert {no.facts["closed_by"] for no in lost} == {"agent:grok"}
            else:
                assert {no.code for no in out if isinstance(no, Refused)} == {"not_approved"}
            assert (await kinds(world, ask["trail"]))["redeemed"] == (1 if approved else 0)
    await sound_world(world)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", COUNTS)
async def test_c37_items_are_settled_once(world: World, tmp_path: Path, count: int) -> None:
    """Of 64 who accept or decline what was handed to their role one does, and the others learn who and why."""
    draw = random.Random(SEED)
    await world.agent("muse")
    for name in ("agent:codex", "agent:muse"):  # which opens their shifts too: only the item is fought for
        await world.do(name, "bio", profile={"role": "builder"})
    async with two_processes(world, tmp_path) as (apis, way):
        for number in range(count):
            to, who = RECIPIENTS[number % len(RECIPIENTS)]
            grok = world.tokens["agent:grok"]
            item = (await apis[0].do(grok, "handoff", to=to, where=f"job:j{number}", summary="Take this"))["item"]
            answers: list[Call] = [
                (principal, "accept", {"item": item, **answer})
                for principal in who
                for answer in ({}, {"decline": True, "reason": f"{principal} has no time"})
            ]
            out = await race(world, apis, way, mixed(draw, answers), gate=number % 2 == 0)
            won, lost = one_winner(out, "already_settled")
            for no in lost:
                assert (no.facts["by"], no.facts["status"], no.facts["at"]) == (won["by"], won["status"], won["at"])
                assert no.message.startswith(f"{won['by']} {won['status']} {item} ")
                if won["status"] == "declined":
                    assert f"{won['by']} has no time" in no.message
            found = await kinds(world, item)
            assert found["accepted"] + found["declined"] == 1
    await sound_world(world)


async def test_c12_one_action_from_many_callers(world: World, tmp_path: Path) -> None:
    """Sixty-four calls with one action_id, at two processes, write once; every caller gets the same result."""
    args = {"where": "job:x", "kind": "memo", "summary": "once", "action_id": "a1"}
    await world.do("agent:grok", "note", where="job:x", kind="memo", summary="my shift is open")
    async with two_processes(world, tmp_path) as (apis, way):
        out = await race(world, apis, way, [("agent:grok", "note", args)] * CALLERS, gate=True)
    results = [{k: v for k, v in o.items() if k != "replayed"} for o in out if isinstance(o, dict)]
    assert len(results) == CALLERS
    assert all(result == results[0] for result in results)
    assert sum("replayed" in o for o in out if isinstance(o, dict)) == CALLERS - 1
    await sound_world(world)
