"""A fleet of 500 and 2,000 jobs: light pages, all of it there page by page, and no more trips than for a few."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any

import httpx
import pytest

from tests.console.test_size import LIMIT, LONG
from tests.surfaces.browser import Browser, Page
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGENTS, JOBS = 500, 2000
LINE = "<&\u202e" * 70  # of a label, which has no line ends


async def _all(doing: Iterable[Awaitable[Any]]) -> None:
    """A few at a time."""
    few = asyncio.Semaphore(8)

    async def one(each: Awaitable[Any]) -> None:
        async with few:
            await each

    await asyncio.gather(*map(one, doing))


async def _agent(world: World, n: int) -> None:
    """An agent who says as much as one may, every fifth blocked."""
    await world.agent(f"a{n}")
    blocked = {"blocked": LONG[:1000]} if n % 5 == 0 else {}
    await world.do(f"agent:a{n}", "status", doing=LONG[:1000], waiting_on=LINE[:200], where="job:j0", **blocked)


async def _job(world: World, n: int) -> None:
    """A job with the longest texts, every other of one plan."""
    more = {"plan": "half"} if n % 2 else {}
    lines = [LONG[:200]] * 20 if n == 0 else []
    await world.do("agent:grok", "assign", job=f"j{n}", title=LONG[:200], to="agent:grok", milestones=lines, **more)


async def _trips(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often each of the pages goes to the store."""
    counts: list[int] = []
    fetch = world.store.fetch

    async def counted(*args: Any, **more: Any) -> Any:
        counts[-1] += 1
        return await fetch(*args, **more)

    asked: list[tuple[str, dict[str, str]]] = [
        ("fleet", {}),
        ("fleet", {"principal": "agent:grok"}),
        ("board", {}),
        ("board", {"stage": "todo"}),
        ("board", {"job": "j0"}),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(world.store, "fetch", counted)
        for verb, args in asked:
            counts.append(0)
            await world.do("human:ana", verb, **args)
    return counts


async def _walked(ana: Browser, path: str) -> list[str]:
    """The rows of a list, page by page, each under the limit."""
    seen: list[str] = []
    for _ in range(100):
        page = await ana.open(path)
        assert page.status == 200
        assert len(page.response.content) < LIMIT, path
        seen += [row.attributes["id"].removeprefix("row-") for row in page.root.all("li", cls="row")]
        onwards = list(page.root.all("a", id="onwards"))
        if not onwards:
            return seen
        path = onwards[0].attributes["href"]
    raise AssertionError("it does not end")


async def test_five_hundred_agents_and_two_thousand_jobs(
    world: World, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is under 300 KB with the longest texts; each row is there once, in order; trips stay as few."""
    await _agent(world, 0)
    await _job(world, 0)
    await world.do("agent:grok", "update", job="j0", summary=LONG[:1000], blocked=LONG[:1000])
    for n in range(25):
        await world.do("agent:grok", "handoff", to="agent:codex", where="job:j0", summary=f"{n}{LONG}"[:1000])
    few = await _trips(world, monkeypatch)
    await _all(_agent(world, n) for n in range(1, AGENTS))
    await _all(_job(world, n) for n in range(1, JOBS))
    assert await _trips(world, monkeypatch) == few
    assert max(few) <= 8
    async with httpx.AsyncClient(base_url=server, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        home = f"/s/{world.space}/"
        names = await _walked(ana, f"{home}fleet")
        assert len(names) == len(set(names)) == AGENTS + 4
        assert {int(name[7:]) % 5 for name in names[:100]} == {0}
        found = await _walked(ana, f"{home}fleet?find=a49")
        assert sorted(found[:2]) == ["agent:a490", "agent:a495"]
        assert sorted(found) == ["agent:a49", *(f"agent:a{n}" for n in range(490, 500))]
        board = await _page(ana, f"{home}jobs")
        assert f"All {JOBS}" in board.words
        jobs = await _walked(ana, f"{home}jobs?stage=todo")
        assert len(jobs) == len(set(jobs)) == JOBS
        assert len(await _walked(ana, f"{home}jobs?stage=todo&plan=half")) == JOBS // 2
        more = ("fleet/agent:codex", "fleet/agent:a0", "jobs/new", "fleet/note", "syncs", "syncs/times")
        for path in ("job/j0", "fleet/agent:grok", *more):
            await _page(ana, f"{home}{path}")


async def _page(ana: Browser, path: str) -> Page:
    page = await ana.open(path)
    assert page.status == 200
    assert len(page.response.content) < LIMIT, (path, len(page.response.content))
    return page
