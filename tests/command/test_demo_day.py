"""The demo's two days as they stand in the Log afterwards: each window accounted for, and what fell silent recapped."""

import json
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from secrets import token_hex
from zoneinfo import ZoneInfo

import httpx
import pytest

from store.domain.calendar import SLOTS
from store.engine.client import Target
from store.engine.embedded import ensure
from store.target import opened
from tests.contract.scheduled import log, occurrences
from tests.contract.syncing import clock, moved, set_space
from tests.world import World

from .running import PATIENCE, Command, Up, until
from .test_demo import AGENTS, Events, Waiting, events, processes, scratch, steps, turn

__all__ = ["scratch"]

CHANNEL, MUSE, CODEX, GROK = "channel:{}", "agent:muse", "agent:codex", "agent:grok"


@pytest.fixture(scope="module")
def played(server: Up) -> Events:
    """A demo on the server that is up, as JSON."""
    told = Command(server.home).run("demo", "--auto", "--json")
    assert told.code == 0, told.err
    return events(told)


@asynccontextmanager
async def space_of(home: Path, name: str) -> AsyncIterator[World]:
    """A space of the server that is up."""
    engine = ensure(home)
    async with opened(Target.embedded(engine)) as store:
        yield World(engine, store, name)


@pytest.fixture
async def world(played: Events, server: Up) -> AsyncIterator[World]:
    """The space that the demo has left."""
    async with space_of(server.home, played[-1]["space"]) as made:
        yield made


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Whether a server is ready there."""
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/readyz", timeout=PATIENCE, trust_env=False).status_code == 200
    return False


def told(found: Events, kind: str) -> list[str]:
    """What the demo has told of the scheduler's entries of a kind."""
    return [e["text"] for e in found if e.get("wrote", {}).get("kind") == kind]


def first(found: Events) -> str:
    """The day that is played."""
    day: str = next(e["result"]["day"] for e in steps(found, "sync") if e["args"].get("receipt"))
    return day


async def test_the_day_is_accounted_for(played: Events, world: World) -> None:
    """Morning held, midday late, closeout missed, each once and by name; the next morning is open."""
    day = first(played)
    accounted = {e["payload"]["slot"]: e for e in await log(world, CHANNEL.format(world.space), "accounted")}
    assert {slot: e["payload"]["state"] for slot, e in accounted.items()} == dict(
        zip(SLOTS, ("held", "late", "missed"), strict=True)
    )
    assert {e["by"] for e in accounted.values()} == {"system:scheduler"}
    assert accounted["morning"]["payload"] == {
        "slot": "morning", "day": day, "state": "held", "expected": len(AGENTS), "came": len(AGENTS), "late": 0,
    }  # fmt: skip
    assert [*accounted["midday"]["payload"]["late_by"]] == [MUSE]
    assert accounted["closeout"]["payload"]["missing"] == [CODEX]
    found = {id.partition(":")[2]: each for id, each in (await occurrences(world)).items() if each.day == day}
    assert {slot: each.state for slot, each in found.items()} == {
        "morning": "held",
        "midday": "late",
        "closeout": "missed",
    }
    *_, last = (await occurrences(world)).values()
    assert (last.slot, last.state, last.day > day) == ("morning", "open", True)


async def test_who_is_overdue_is_told_and_comes_late(played: Events, world: World) -> None:
    """Once to all and once to them, before they come; nobody else is told."""
    ((to_all,), (mine,)) = [await log(world, where, "overdue") for where in (CHANNEL.format(world.space), MUSE)]
    assert to_all["summary"] == f"midday of {first(played)} is overdue: {MUSE} is not in."
    assert "you are not in" in mine["summary"]
    (late,) = [e for e in steps(played, "sync") if e["args"].get("receipt") and e["result"]["late"]]
    assert (late["who"], late["result"]["slot"]) == (MUSE, "midday")
    assert mine["at"] < late["result"]["entry"]["at"]
    for who in AGENTS:
        assert bool(await log(world, f"agent:{who}", "overdue")) == (f"agent:{who}" == MUSE)


async def test_what_was_carried_over_is_there_in_the_morning(played: Events, world: World) -> None:
    """The closeout's notes and open work stand in the Log, and are what the next morning's sync and Brief show."""
    (closeout,) = [e for e in await log(world, GROK, "checked_in") if e["payload"]["slot"] == "closeout"]
    assert closeout["payload"]["carried"]["jobs"] == ["job:social-broadcast"]
    (shown,) = [e["result"]["carried"] for e in steps(played, "sync", GROK) if not e["args"]]
    assert (shown["entry"], shown["notes"], shown["day"]) == (closeout["id"], closeout["summary"], first(played))
    assert shown["open"] == ["job:social-broadcast"]
    brief = [e["result"]["brief"] for e in steps(played, "start", GROK)][-1]
    assert [job["job"] for job in brief["jobs"]] == ["job:social-broadcast"]


async def test_who_falls_silent_is_recapped(played: Events, world: World) -> None:
    """The shifts that nobody ended are ended by the scheduler, each once; their agents begin from those recaps."""
    auto = [e for who in AGENTS for e in await log(world, f"agent:{who}", "recap") if e["payload"].get("auto")]
    assert {e["where"].partition(":")[2] for e in auto} == set(AGENTS)
    assert {e["by"] for e in auto} == {"system:scheduler"}
    assert len({(e["where"], e["payload"]["shift"]) for e in auto}) == len(auto)
    assert all("ended by itself, after 30 min without a write" in e["summary"] for e in auto)
    back = [e["result"] for e in steps(played, "start", CODEX)][-1]
    assert back["last_recap"]["auto"]
    *_, last = [e["summary"] for e in auto if e["where"] == CODEX]
    assert (
        back["last_recap"]["summary"].partition("… (")[0]
        == last[: len(back["last_recap"]["summary"].partition("… (")[0])]
    )


async def test_it_is_told_as_it_happens(played: Events, world: World) -> None:
    """Each entry of the scheduler's that belongs to the story is told once, in its order, between what it is about."""
    assert [text.partition(" was ")[2].partition(":")[0] for text in told(played, "accounted")] == [
        "held",
        "late",
        "missed",
    ]
    assert len(told(played, "overdue")) == 2
    assert len(told(played, "digest")) == 1
    shown = [e["id"] for event in played for e in event.get("wrote", {}).get("entries", ())]
    assert len(shown) == len(set(shown))
    recaps = {e["id"] for who in AGENTS for e in await log(world, f"agent:{who}", "recap") if e["payload"].get("auto")}
    assert recaps <= set(shown)
    order = [e.get("wrote", {}).get("kind") or e.get("verb") for e in played]
    midday = [n for n, e in enumerate(played) if e.get("result", {}).get("slot") == "midday"]
    assert order.index("accounted") < midday[0] < order.index("overdue") < midday[-1]


async def test_who_owns_the_space_gets_the_digest_of_the_day(played: Events, world: World) -> None:
    """With how each of its syncs ended."""
    (said,) = await log(world, "human:demo-owner", "digest")
    assert said["payload"]["syncs"] == {"morning": "held", "midday": "late", "closeout": "missed"}


@pytest.fixture
def named(server: Up) -> str:
    """The name of a simulated space that a demo may play in."""
    name = f"demo-{token_hex(4)}"
    Command(server.home).json("space", name, "--simulated")
    return name


@pytest.mark.parametrize(
    ("times", "left_out"),
    [(("06:40", "15:15", "22:50"), False), (("07:00", "07:20", "07:40"), True)],
)
async def test_it_plays_by_the_calendar_of_its_space(
    server: Up, operator: Command, named: str, times: tuple[str, ...], left_out: bool
) -> None:
    """With its times, weekdays, zone and holidays; where a window is over before anybody is late, nobody is."""
    async with space_of(server.home, named) as world:
        zone = ZoneInfo("Pacific/Chatham")
        today = (await clock(world)).astimezone(zone).date()
        off = tuple(f"{today + timedelta(days=n)} Moving house" for n in range(1, 3))
        days = tuple(sorted({(today + timedelta(days=n)).weekday() for n in (1, 2, 4, 6)}))
        await set_space(world, zone=zone.key, times=times, days=days, holidays=off)
        ran = operator.run("demo", "--auto", "--json", "--space", named)
        assert ran.code == 0, ran.err
        found = events(ran)
        checked = [e for e in steps(found, "sync") if e["args"].get("receipt")]
        assert {e["result"]["day"] for e in checked} == {f"{today + timedelta(days=n)}" for n in (4, 6)}
        assert any("before anybody is late" in e.get("text", "") for e in found) == left_out
        opens = {slot: time.fromisoformat(at) for slot, at in zip(SLOTS, times, strict=True)}
        for each in checked:
            at = datetime.fromisoformat(each["at"]).astimezone(zone)
            assert (f"{at.date()}", at.time() >= opens[each["result"]["slot"]]) == (each["result"]["day"], True)
        states = [text.partition(" was ")[2].partition(":")[0] for text in told(found, "accounted")]
        assert states == (["held", "missed", "missed"] if left_out else ["held", "late", "missed"])


HOURS = [time(hour, 59, 57) for hour in range(1, 24, 2)]


@pytest.mark.parametrize("at", [HOURS[-1], *(pytest.param(at, marks=pytest.mark.long) for at in HOURS[:-1])])
async def test_it_plays_at_any_hour(server: Up, operator: Command, named: str, at: time) -> None:
    """Whatever its clock shows when it begins, also right before a window opens or the day ends; and once more."""
    async with space_of(server.home, named) as world:
        home = "America/New_York"
        day = (await clock(world)).astimezone(ZoneInfo(home)).date() + timedelta(days=1)
        await set_space(world, zone=home)
        await moved(world, at.isoformat(), zone=home, day=day)
        days: list[date] = []
        for _ in range(2):
            ran = operator.run("demo", "--auto", "--json", "--space", named)
            assert ran.code == 0, ran.err
            found = events(ran)
            days.append(date.fromisoformat(first(found)))
            states = [text.partition(" was ")[2].partition(":")[0] for text in told(found, "accounted")]
            assert states == ["held", "late", "missed"]
            assert json.loads(ran.out.splitlines()[-1])["verified"]["ok"]
        assert day < days[0] < days[1]


def test_it_brings_a_scheduler_where_none_is(command: Command, scratch: Path) -> None:
    """On a server that runs without one it starts one, which is gone with it; the day is accounted for all the same."""
    port = str(free_port())
    with command.started("serve", "api", "--port", port) as process:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), "the API does not start")
        ran = command.run("demo", "--auto", "--json", LOGMEM_REST_URL=url, TMPDIR=str(scratch))
        assert ran.code == 0, ran.err
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    found = events(ran)
    assert [text.partition(" was ")[2].partition(":")[0] for text in told(found, "accounted")] == [
        "held",
        "late",
        "missed",
    ]
    assert found[-1]["verified"]["ok"]


def test_the_scheduler_that_is_up_is_the_one(server: Up, operator: Command, scratch: Path) -> None:
    """Where one leads the demo starts none beside it."""
    with operator.started("demo", "--auto", "--json", TMPDIR=str(scratch)) as process:
        assert process.stdout
        for line in process.stdout:
            assert not [name for name in processes(scratch) if "-m scheduler" in name]
            if "wrote" in json.loads(line):
                break
        assert process.stdout.read()
        assert process.wait(PATIENCE) == 0
    assert server.scheduler


@pytest.mark.parametrize("hours", [3, 10])
async def test_a_person_takes_long(server: Up, operator: Command, hours: int) -> None:
    """Until the closeout has opened, or the day is over: it goes on with the next window that there is."""
    with operator.started("demo", "--json") as process:
        assert process.stdout
        waits = Waiting(server.url, process.stdout)
        async with space_of(server.home, waits.space) as world:
            await world.pass_time(hours * 3_600_000)
        await turn(waits, ask_back="Where does it go?", verdict="approve")
        rest = waits.rest()
        assert process.wait(PATIENCE) == 0, operator.errors.read_text()
    assert rest[-1]["verified"]["ok"]
    checked = [e["result"] for e in steps(rest, "sync") if e["args"].get("receipt")]
    assert Counter(each["slot"] for each in checked) == {"closeout": 3, "morning": 3}
    days = sorted({each["day"] for each in checked})
    first_day = first(waits.seen)
    assert [day > first_day for day in days] == ([False, True] if hours == 3 else [True, True])
