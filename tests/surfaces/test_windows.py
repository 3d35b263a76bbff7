"""C-49 at the surfaces: a check-in outside its window tells the window's times, in the space's zone and in UTC."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.contract.syncing import DONE, GROK, clock, moved, set_space, space_at
from tests.surfaces.wire import ERAS, code, hand
from tests.world import Result, World

ZONES = ("America/New_York", "Pacific/Chatham")
SET = {"times": ("06:15", "12:00", "21:45"), "days": (0, 1, 2, 3, 4)}  # of a space that has others than are usual


def utc(day: date, at: str, zone: str) -> str:
    """A wall time in UTC, as results have it."""
    return (
        datetime.combine(day, time.fromisoformat(at), ZoneInfo(zone)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    )


def friday_from(day: date) -> date:
    """That day, or the next one that is a Friday."""
    return day + timedelta(days=(4 - day.weekday()) % 7)


@pytest.fixture(params=ZONES)
async def early(world: World, http: httpx.AsyncClient, request: pytest.FixtureRequest) -> tuple[World, str, date]:
    """A space in a zone with times and days of its own, early on a Friday; the zone and that day."""
    zone = request.param
    day = friday_from((await clock(world)).astimezone(ZoneInfo(zone)).date() + timedelta(days=2))
    made = await space_at(World(world.engine, world.store, world.space, http=http), "00:30", zone=zone, day=day)
    await set_space(made, **SET)
    await moved(made, "05:00", zone=zone)
    return made, zone, day


async def over_http(http: httpx.AsyncClient, world: World, slot: str) -> Result:
    """The refusal of a check-in over REST, code and all."""
    body = {"receipt": True, "slot": slot, **DONE}
    head = {"Authorization": f"Bearer {world.tokens[GROK]}"}
    reply = await http.post("/api/tools/sync", json=body, headers=head)
    assert reply.status_code == 409, reply.text
    error: Result = reply.json()["error"]
    return error


@ERAS
async def test_c49_both_surfaces_tell_the_times_of_a_window(
    http: httpx.AsyncClient, early: tuple[World, str, date], era: str
) -> None:
    """Too early, too late, on a day without: the same code and times over HTTP and MCP, and nothing is written."""
    world, zone, day = early
    agent = hand(http, world, era=era)

    async def both(slot: str, wanted: str) -> Result:
        before = await world.dump()
        error = await over_http(http, world, slot)
        result = await agent.call("sync", receipt=True, slot=slot, **DONE)
        assert code(result) == error["code"] == wanted
        told = result["structuredContent"]["error"]
        exact = {name for name in error if name not in ("now", "message")}
        assert {name: told[name] for name in exact} == {name: error[name] for name in exact}
        for text in (error["message"], told["message"]):
            assert zone in text
            assert "Nothing was written." in text
        assert await world.dump() == before
        return {**error, "said": told["message"]}

    no = await both("morning", "window_not_open")
    assert (no["day"], no["zone"], no["opens"]) == (f"{day}", zone, utc(day, "06:15", zone))
    assert no["local"] == "06:15, late from 07:45, closes 12:00"
    assert f"morning of {day} opens at {day} 06:15 {zone} ({no['opens']})" in no["said"]
    await moved(world, "12:00:01", zone=zone)
    no = await both("morning", "window_closed")
    assert (no["closes"], no["local"]) == (utc(day, "12:00", zone), "06:15, late from 07:45, closes 12:00")
    assert f"closed at {day} 12:00 {zone} ({no['closes']})" in no["said"]
    assert 'slot: "midday"' in no["said"]
    no = await both("closeout", "window_not_open")
    assert (no["opens"], no["closes"]) == (utc(day, "21:45", zone), utc(day + timedelta(days=1), "00:00", zone))
    await moved(world, "09:00", zone=zone, days=1)  # a Saturday, which has no windows
    no, monday = await both("", "window_not_open"), day + timedelta(days=3)
    assert (no["day"], no["opens"]) == (f"{monday}", utc(monday, "06:15", zone))
