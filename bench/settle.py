"""Settling under contention: 64 callers from two API processes on each of 1,000 items and 1,000 asks."""

import asyncio
import time
from collections import Counter
from typing import Any

import httpx

from bench.measure import Row
from bench.server import serving
from bench.store import fleet
from store.engine.embedded import Embedded
from tests.world import World

CALLERS, AT_ONCE = 64, 4  # callers on one thing; things that are settled at the same time
PEOPLE = 8


async def contention(engine: Embedded, *, quick: bool) -> list[Row]:
    """One winner each, every loser told who won."""
    things = 50 if quick else 1000
    world = await fleet(engine, agents=9)  # a8 hands out, and is none of those who may take
    for n in range(PEOPLE):
        await world.human(f"p{n}", "approver")
    for n in range(8):
        await world.do(f"agent:a{n}", "bio", profile={"name": f"a{n}", "role": "reviewer"})
    async with serving(engine) as one, serving(engine) as two:
        limits = httpx.Limits(max_connections=CALLERS * AT_ONCE)
        async with httpx.AsyncClient(timeout=60, limits=limits, trust_env=False) as http:
            ports = [f"http://127.0.0.1:{port}" for port in (one, two)]
            rows = [
                await _race("items", things, _Items(world, http, ports)),
                await _race("asks", things, _Asks(world, http, ports)),
            ]
    await world.store.close()
    return rows


class _Items:
    """Handoffs to a role that eight agents have."""

    def __init__(self, world: World, http: httpx.AsyncClient, ports: list[str]) -> None:
        self.world, self.http, self.ports = world, http, ports

    async def make(self, n: int) -> Any:
        return (await self.world.do("agent:a8", "handoff", to="role:reviewer", where="channel:x", summary=f"Item {n}"))[
            "item"
        ]

    async def settle(self, thing: Any, caller: int) -> httpx.Response:
        auth = {"Authorization": f"Bearer {self.world.tokens[f'agent:a{caller % 8}']}"}
        url = f"{self.ports[caller % 2]}/api/tools/accept"
        return await self.http.post(url, json={"item": thing}, headers=auth)


class _Asks:
    """Asks to eight people, half of whom approve and half reject."""

    def __init__(self, world: World, http: httpx.AsyncClient, ports: list[str]) -> None:
        self.world, self.http, self.ports = world, http, ports

    async def make(self, n: int) -> Any:
        where = {"where": "job:x", "summary": f"Publish {n}?"}
        return await self.world.do(f"agent:a{n % 8}", "ask", **where)

    async def settle(self, thing: Any, caller: int) -> httpx.Response:
        base, person = self.ports[caller % 2], f"human:p{caller // 2 % PEOPLE}"
        head = {"X-LogMem-CSRF": "1", "Origin": base, "X-LogMem-Space": self.world.space}
        head["Cookie"] = f"logmem_session={self.world.tokens[person]}"
        body = {"trail": thing["trail"], "digest": thing["digest"], "verdict": ("approve", "reject")[caller // 2 % 2]}
        return await self.http.post(f"{base}/api/decide", json=body, headers=head)


async def _race(name: str, things: int, race: _Items | _Asks) -> Row:
    start, wins, told, other = time.monotonic(), 0, 0, Counter[str]()
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(n: int) -> tuple[int, int]:
        async with gate:
            thing = await race.make(n)
            answers = await asyncio.gather(*(race.settle(thing, c) for c in range(CALLERS)))
        won = [a.json() for a in answers if a.status_code == 200]
        lost = [a.json()["error"] for a in answers if a.status_code != 200]
        other.update(e["code"] for e in lost if e["code"] != "already_settled")
        winner = won[0].get("by") or won[0].get("settled_by") if won else ""
        return len(won), sum(e.get("by", e.get("settled_by")) == winner for e in lost if e["code"] == "already_settled")

    for batch in range(0, things, 16):
        for won, knew in await asyncio.gather(*(one(n) for n in range(batch, min(things, batch + 16)))):
            if won > 1:
                raise RuntimeError(f"{name}: something was settled {won} times")
            wins, told = wins + won, told + knew
    took = time.monotonic() - start
    losers = things * (CALLERS - 1)
    raw = f"{things:,} {name}, {CALLERS} callers each, {took:.0f} s; losers told who won: {told:,} of {losers:,}"
    return Row(
        f"one winner each, {name}",
        wins / things,
        1.0,
        raw + (f"; others {dict(other)}" if other else ""),
        at_least=True,
    )
