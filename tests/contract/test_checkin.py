"""C-49: the one check-in of a principal for a window, and what it is refused for."""

import asyncio
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store import invariants
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from tests.contract.handing import race
from tests.contract.syncing import CODEX, DONE, GROK, ZONE, moved, price, receipt, space_at, states
from tests.contract.test_gate import refused
from tests.world import Result, World

BERLIN, CHATHAM, HOWE = "Europe/Berlin", "Pacific/Chatham", "Australia/Lord_Howe"


@pytest.fixture
async def morning(empty: World) -> World:
    """A space in New York at 9:20."""
    return await space_at(empty, "09:20")


def first(no: Refused) -> Result:
    """The check-in that a refusal tells of."""
    told = no.facts["checked_in"]
    assert isinstance(told, dict)
    return told


async def entries(world: World, who: str = GROK) -> list[Result]:
    """The check-ins in somebody's Log."""
    return [e for e in (await world.do(CODEX, "view", what=who))["log"] if e["kind"] == "checked_in"]


async def test_c49_a_check_in_is_written_once(morning: World) -> None:
    """One entry in the principal's Log, with slot, day, outcome and whether it was late; a second gets the first."""
    out = await receipt(morning, slot="morning")
    assert (out["slot"], out["outcome"], out["late"]) == ("morning", "pass", False)
    assert "carried" not in out
    (entry,) = await entries(morning)
    said = {"slot": "morning", "day": out["day"], "outcome": "pass", "late": False}
    assert entry == {k: v for k, v in {**out["entry"], "payload": said}.items() if k in entry}
    assert "payload" not in out["entry"]  # it stands beside it
    assert (entry["by"], entry["where"], entry["summary"]) == (GROK, GROK, DONE["notes"])
    assert entry["payload"] == said
    before = await morning.dump()
    for args in ({}, {"slot": "morning"}, {"outcome": "blocked", "notes": "Something else"}):
        no = await refused("already_checked_in", receipt(morning, **args))
        kept = first(no)
        assert (kept["entry"], kept["outcome"], kept["notes"]) == (entry["id"], "pass", DONE["notes"])
        assert DONE["notes"] in no.message
    assert await morning.dump() == before
    assert (await morning.do(GROK, "sync"))["checked_in"]["entry"] == entry["id"]
    assert (await morning.do(CODEX, "sync"))["checked_in"] is False
    async with open_client(Target.embedded(morning.engine), user="lm-admin") as admin:
        assert await invariants.check(admin, morning.space) == []


async def test_c49_of_64_at_once_one_is_written(morning: World) -> None:
    """The others are told of the one that was; another principal is in nobody's way."""
    calls = [receipt(morning, notes=f"run {n}") for n in range(64)]
    won, lost = await race(*calls, receipt(morning, CODEX))
    (mine,) = [each for each in won if each["caller"] == GROK]
    assert len(won) == 2
    assert Counter(no.code for no in lost) == {"already_checked_in": 63}
    assert {first(no)["entry"] for no in lost} == {mine["entry"]["id"]}
    assert [e["summary"] for e in await entries(morning)] == [mine["entry"]["summary"]]


async def test_c49_two_credentials_of_one_principal_make_one_check_in(morning: World) -> None:
    """At once: one wins. In the next window the other waits until the first one's lease of 120 s is over."""
    one = morning.tokens[GROK]
    two = await morning.agent("grok")

    async def by(token: str, **more: Any) -> Result:
        morning.remember(GROK, token)
        return await receipt(morning, **more)

    out = await asyncio.gather(*(by((one, two)[n % 2]) for n in range(32)), return_exceptions=True)
    assert sum(isinstance(o, dict) for o in out) == 1
    assert {o.code for o in out if isinstance(o, Refused)} == {"already_checked_in"}
    await moved(morning, "17:29:30")
    assert (await by(one))["late"]
    await moved(morning, "17:30:05")
    before = await morning.dump()
    no = await refused("busy", by(two))
    assert 60 < int(str(no.facts["retry_after"])) <= 85
    assert await morning.dump() == before
    await morning.pass_time(120_000)
    assert (await by(two))["slot"] == "closeout"
    await refused("already_checked_in", by(one))


async def test_c49_a_window_that_is_not_open_is_refused_with_its_times(morning: World) -> None:
    """Too early and too late, with the times in UTC and in the zone and the call that helps; nothing is written."""
    before = await morning.dump()
    no = await refused("window_not_open", receipt(morning, slot="midday"))
    assert f"midday of {no.facts['day']} opens at {no.facts['day']} 13:00 {ZONE} ({no.facts['opens']})" in no.message
    assert 'logmem_sync {receipt: true, slot: "morning", outcome, notes}' in no.message
    assert no.facts["zone"] == ZONE
    assert await morning.dump() == before
    await moved(morning, "13:01")
    no = await refused("window_closed", receipt(morning, slot="morning"))
    assert f"closed at {no.facts['day']} 13:00 {ZONE} ({no.facts['closes']})" in no.message
    assert no.facts["local"] == "09:00, late from 10:30, closes 13:00"
    assert (await receipt(morning))["slot"] == "midday"


async def test_c49_across_midnight_the_day_is_another(empty: World) -> None:
    """Closeout is late until midnight and closed after it; what was written belongs to the day before."""
    world = await space_at(empty, "23:58")
    out = await receipt(world)
    assert (out["slot"], out["late"]) == ("closeout", True)
    await moved(world, "00:00:05", days=1)
    before = await world.dump()
    no = await refused("window_closed", receipt(world, CODEX, slot="closeout"))
    assert (no.facts["slot"], no.facts["day"]) == ("closeout", out["day"])
    assert "just now" in no.message or " s ago" in no.message
    early = await refused("window_not_open", receipt(world, CODEX))
    assert early.facts["day"] == (date.fromisoformat(out["day"]) + timedelta(days=1)).isoformat()
    assert "No window is open now. morning of " in early.message
    no = await refused("already_checked_in", receipt(world, slot="closeout"))
    assert first(no)["day"] == out["day"]
    assert await world.dump() == before
    await moved(world, "09:01")
    assert (await receipt(world))["day"] == early.facts["day"]


def turn_of(zone: str) -> date:
    """The next day from the second on from now on which the zone sets its clocks."""
    first = datetime.now(ZoneInfo(zone)).date() + timedelta(days=2)
    noons = [datetime(d.year, d.month, d.day, 12, tzinfo=ZoneInfo(zone)) for d in map(first.__add__, weeks())]
    return next(b.date() for a, b in pairwise(noons) if a.utcoffset() != b.utcoffset())


def weeks() -> list[timedelta]:
    """Each day of a year."""
    return [timedelta(days=n) for n in range(366)]


@pytest.mark.parametrize("zone", [ZONE, BERLIN, HOWE, CHATHAM])
async def test_c49_on_the_day_that_clocks_are_set(empty: World, zone: str) -> None:
    """The day before, on it and after it a check-in at 9:05 by the wall is on time, for its own local day."""
    turn = turn_of(zone)
    world = await space_at(empty, "09:05", zone=zone, day=turn - timedelta(days=1))
    opened = []
    for n in range(3):
        if n:
            await moved(world, "08:59", zone=zone, days=1)
            await refused("window_not_open", receipt(world, slot="morning"))
            await moved(world, "09:05", zone=zone)
        out = await world.do(GROK, "sync")
        opened.append(datetime.fromisoformat(out["windows"][0]["opens"]))
        done = await receipt(world)
        assert (done["slot"], done["late"]) == ("morning", False)
        assert done["day"] == (turn + timedelta(days=n - 1)).isoformat()
    before, after = (b - a for a, b in pairwise(opened))
    assert before != timedelta(days=1)
    assert after == timedelta(days=1)
    assert {at.astimezone(ZoneInfo(zone)).hour for at in opened} == {9}
    assert {at.astimezone(UTC).minute for at in opened} <= {0, 15, 30}


async def test_c49_a_closeout_carries_over_what_is_owned(empty: World) -> None:
    """Its open items and unfinished jobs as they stood, with its notes: the next morning has them, settled or not."""
    world = await space_at(empty, "18:00")
    item = await world.do(CODEX, "handoff", to="grok", summary="Go on", deadline="2 days")
    job = await world.do(CODEX, "handoff", to="grok", summary="Do it", where="job:auth")
    await world.do(GROK, "accept", item=job["item"])
    out = await receipt(world, outcome="attention", notes="Auth is half done")
    assert out["carried"] == {"items": [item["item"]], "jobs": ["job:auth"]}
    assert (await entries(world))[0]["payload"]["carried"] == out["carried"]
    assert "carried" not in await world.do(GROK, "sync")
    await world.do(GROK, "accept", item=item["item"])
    for at, days in (("06:00", 1), ("09:10", 0)):
        await moved(world, at, days=days)
        then = (await world.do(GROK, "sync"))["carried"]
        assert {k: then[k] for k in ("day", "outcome", "notes", "open")} == {
            "day": out["day"],
            "outcome": "attention",
            "notes": "Auth is half done",
            "open": [item["item"], "job:auth"],
        }
    assert "carried" not in await world.do(CODEX, "sync")
    await moved(world, "13:10")
    assert "carried" not in await world.do(GROK, "sync")


async def test_a_closeout_with_much_to_carry_counts_the_rest(empty: World) -> None:
    """It names twenty items and says how many more there are; the morning after shows what has room."""
    world = await space_at(empty, "18:00")
    for n in range(23):
        await world.do(CODEX, "handoff", to="grok", summary=f"{n}", deadline="2 days")
    out = await receipt(world)
    assert (len(out["carried"]["items"]), out["carried"]["left_out"]) == (20, 3)
    await moved(world, "09:10", days=1)
    morning = await world.do(GROK, "sync")
    assert len(morning["carried"]["open"]) + morning["carried"]["left_out"] == 23
    assert price(morning) <= 2000


@pytest.mark.parametrize(
    ("args", "code", "argument"),
    [
        ({"receipt": True, "notes": "x"}, "invalid_argument", "outcome"),
        ({"receipt": True, "outcome": "fine", "notes": "x"}, "invalid_argument", "outcome"),
        ({"receipt": True, "outcome": "pass"}, "invalid_argument", "notes"),
        ({"receipt": True, "outcome": "pass", "notes": "x" * 1001}, "too_long", "notes"),
        ({"receipt": True, **DONE, "slot": "noon"}, "invalid_argument", "slot"),
        ({"receipt": "perhaps", **DONE}, "invalid_argument", "receipt"),
        ({"receipt": False, "outcome": "pass"}, "invalid_argument", "outcome"),
        ({"outcome": "pass", "notes": "x", "slot": "morning"}, "invalid_argument", "slot"),
        ({"summary": "x"}, "unknown_argument", "summary"),
        ({"receipt": True, "outcome": "pass", "summary": "x"}, "unknown_argument", "summary"),
    ],
)
async def test_what_a_sync_cannot_be_is_refused(morning: World, args: Result, code: str, argument: str) -> None:
    """What a check-in lacks is named; what says something to a read names the receipt. Nothing is written."""
    before = await morning.dump()
    no = await refused(code, morning.do(GROK, "sync", **args))
    assert no.facts["argument"] == argument
    if not args.get("receipt") and code == "invalid_argument":
        assert "logmem_sync {receipt: true, " in no.message
    assert await morning.dump() == before


async def test_a_receipt_may_be_said_as_models_do(morning: World) -> None:
    """A flag as text, a slot in capitals, arguments that are left empty."""
    out = await morning.do(GROK, "sync", receipt="true", slot=" Morning ", **DONE)
    assert out["slot"] == "morning"
    assert (await morning.do(CODEX, "sync", receipt=1, slot="", **DONE))["slot"] == "morning"


async def test_c12_a_repeated_check_in_is_the_same(morning: World) -> None:
    """Under one action_id it is given again; what is kept of it holds no text."""
    first = await receipt(morning, action_id="s1", notes="SECRET")
    again = await receipt(morning, action_id="s1", notes="SECRET")
    assert again == {**first, "replayed": True}
    await refused("action_conflict", receipt(morning, action_id="s1", notes="other"))
    async with open_client(Target.embedded(morning.engine), user="lm-admin") as admin:
        names = [n async for n in admin.scan_iter(match=f"lm:{{{morning.space}}}:do*")]
        kept = [await (admin.get if ":done:" in n.decode() else admin.hgetall)(n) for n in names]
    assert len(kept) >= 5
    assert "SECRET" not in str(kept)


async def test_rights_are_those_of_what_the_call_does(morning: World) -> None:
    """A key that may only read sees the windows and checks in nowhere; one without the tool does neither."""
    await morning.agent("looker", may="read")
    await morning.agent("small", profile="core")
    assert (await morning.do("agent:looker", "sync"))["windows"]
    no = await refused("scope_denied", receipt(morning, "agent:looker"))
    assert no.facts["rule"] == "rights-of-the-credential"
    for call in (morning.do("agent:small", "sync"), receipt(morning, "agent:small")):
        assert (await refused("scope_denied", call)).facts["rule"] == "profile-of-the-key"


async def test_a_check_in_opens_a_shift_as_every_write_does(morning: World) -> None:
    """An agent's only; a person may check in, and nobody expects it."""
    await receipt(morning)
    assert (await morning.do(GROK, "start"))["started"]["resumed"]
    await morning.human("ana", "member")
    assert (await morning.do("human:ana", "sync"))["fleet"] == {"expected": 1, "in": 1, "awaited": 0}
    out = await receipt(morning, "human:ana", outcome="blocked")
    assert (out["entry"]["where"], out["entry"]["via"]) == ("human:ana", "console")


async def test_the_operator_looks_and_does_not_check_in(morning: World) -> None:
    """There is nothing that the system could check in."""
    out = await morning.operate("sync")
    assert states(out)["morning"] == "on_time"
    assert not {"checked_in", "next"} & out.keys()
    await refused("invalid_argument", morning.operate("sync", receipt=True, **DONE))
