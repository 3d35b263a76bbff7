"""What the tests of the syncs' page share: a scheduler, a clock that is moved to a time of day, a day's check-ins."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest_asyncio
from playwright.async_api import Locator

from tests.console.window import House, Screen, Window
from tests.ticking import Scheduler, scheduling
from tests.world import World

__all__ = ["tick"]

MINUTE, HOUR = 60_000, 3_600_000
WHOLE_TEST = HOUR  # ms of a lease: it leads as long as a test may last


@pytest_asyncio.fixture(loop_scope="session")
async def tick(house: House) -> AsyncIterator[Scheduler]:
    """A scheduler that leads from the start, and does something when it is told to."""
    async with scheduling(house.world.engine, life=WHOLE_TEST) as made:
        await made()
        yield made


async def clock(world: World) -> datetime:
    """What a clock in the space's zone reads."""
    found = await world.do("human:ana", "syncs")
    return datetime.fromisoformat(found["local"])


async def until(world: World, wall: str) -> None:
    """Move the space's clock to the next time that it reads this, with half a minute to spare."""
    now = await clock(world)
    hour, minute = map(int, wall.split(":"))
    ahead = (hour * 60 + minute - now.hour * 60 - now.minute) % (24 * 60)
    await world.pass_time(ahead * MINUTE)


async def at_work(world: World, *agents: str) -> None:
    """They write something, so that they are expected at the next window."""
    for agent in agents or ("grok", "codex"):
        await world.do(f"agent:{agent}", "note", where="channel:general", kind="memo", summary="at it")


async def checks_in(world: World, who: str, slot: str, outcome: str = "pass", notes: str = "Nothing new") -> None:
    """Somebody checks in."""
    await world.do(who, "sync", receipt=True, slot=slot, outcome=outcome, notes=notes)


async def played(world: World, tick: Scheduler) -> None:
    """A day until the afternoon: morning is held with one who is blocked, midday overdue."""
    await at_work(world)
    await until(world, "09:02")
    await tick()
    await checks_in(world, "agent:codex", "morning", "pass", "The notes are in review")
    await checks_in(world, "agent:grok", "morning", "blocked", "No token")
    await until(world, "13:00")
    await tick()
    await checks_in(world, "agent:grok", "midday", "attention", "The error rate is up")
    await until(world, "14:31")
    await tick()


def window_of(window: Window, slot: str) -> Locator:
    """The card of one of today's windows."""
    return window.page.locator(f"#window-{slot}")


async def fits(window: Window, screen: Screen) -> None:
    """Nothing is wider than the screen."""
    assert await window.page.evaluate("document.documentElement.scrollWidth") == screen.size[0]
