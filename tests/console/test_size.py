"""An inbox with as much in it as a large fleet asks: its pages stay light, and all of it is there, page by page."""

import asyncio
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from tests.surfaces.browser import Browser
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT = 300_000  # bytes of a page
AGENTS, EACH = 100, 20  # an agent may have 20 pending
LONG = "<&\u202e\n" * 250  # what takes most bytes to show: each character is an escape, marked as one


async def _fleet(world: World, agents: Iterable[int]) -> list[str]:
    """Agents who each have asked as much as one may; the trails of their asks."""
    few = asyncio.Semaphore(8)

    async def one(n: int) -> list[str]:
        async with few:
            await world.agent(f"a{n}")
            said = [(f"{n}/{k} {LONG}"[:1000], f"{1 + k}h") for k in range(EACH)]
            made = [
                await world.do(f"agent:a{n}", "ask", where=f"job:{n}", summary=summary, expires_in=until)
                for summary, until in said
            ]
            return [ask["trail"] for ask in made]

    return [trail for trails in await asyncio.gather(*map(one, agents)) for trail in trails]


async def _trips(world: World, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the inbox goes to the store."""
    count = 0
    fetch = world.store.fetch

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        return await fetch(*args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "fetch", counted)
        await world.do("human:ana", "inbox")
    return count


async def test_two_thousand_asks_wait_on_light_pages(
    world: World, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is under 300 KB, also with the longest summaries; together they hold each ask once, soonest first."""
    trails = await _fleet(world, range(1))
    trips = await _trips(world, monkeypatch)
    trails += await _fleet(world, range(1, AGENTS))
    assert await _trips(world, monkeypatch) == trips
    async with httpx.AsyncClient(base_url=server, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        page = await ana.inbox()
        assert f"about {len(trails)} wait for you" in page.words
        seen: list[str] = []
        for _ in range(100):
            assert len(page.response.content) < LIMIT
            rows = list(page.root.one("ol", id="waiting").all("li"))
            seen += [row.attributes["id"].removeprefix("row-") for row in rows]
            onwards = [a.attributes["href"] for a in page.root.one("div", id="onwards").all("a")]
            if not onwards:
                break
            page = await ana.open(onwards[0])
        assert sorted(seen) == sorted(trails)
        one = await ana.ask(seen[0])
        assert len(one.response.content) < LIMIT
