"""C-48: what a sync that only reads says, and that it leaves everything alone; and the line of the Brief."""

import asyncio
import json
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from store.domain.sentences import compact
from store.engine.client import Target, open_client
from store.verbs.arguments import schema
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.syncing import CODEX, DONE, GROK, ZONE, moved, price, receipt, space_at, states
from tests.contract.test_gate import DAY, HOUR, MINUTE
from tests.surfaces.complete import missing
from tests.world import World

BERLIN, CHATHAM, HOWE = "Europe/Berlin", "Pacific/Chatham", "Australia/Lord_Howe"


@pytest.fixture
async def morning(empty: World) -> World:
    """A space in New York at 9:20."""
    return await space_at(empty, "09:20")


async def test_c48_a_read_changes_nothing(morning: World) -> None:
    """Whoever asks, before the check-in and after it: not a byte of any key, and no shift begins."""
    await morning.human("ana", "owner")
    await morning.do(CODEX, "handoff", to="grok", summary="Go on", where="job:x")
    for checked in (False, True):
        if checked:
            await receipt(morning, CODEX)
        before = await morning.dump()
        for who in (GROK, CODEX, "human:ana"):
            for args in ({}, {"receipt": False}, {"receipt": "no"}, {"slot": "", "outcome": "", "notes": ""}):
                assert (await morning.do(who, "sync", **args))["ok"]
        await morning.operate("sync")
        assert await morning.dump() == before
    assert (await morning.do(GROK, "start"))["started"] == {"agent": GROK, "shift": 1, "resumed": False}


async def test_c48_a_read_says_the_windows_and_what_to_call(morning: World) -> None:
    """Each window with its state and times in UTC and in the zone, what is asked for now, and the check-in to send."""
    out = await morning.do(GROK, "sync")
    assert states(out) == {"morning": "on_time", "midday": "upcoming", "closeout": "upcoming"}
    assert (out["zone"], out["checked_in"]) == (ZONE, False)
    first, second, third = out["windows"]
    opens = datetime.fromisoformat(first["opens"]).astimezone(ZoneInfo(ZONE))
    assert (opens.date().isoformat(), f"{opens:%H:%M}") == (out["day"], "09:00")
    assert first["local"] == "09:00, late from 10:30, closes 13:00"
    assert (first["closes"], second["closes"]) == (second["opens"], third["opens"])
    assert out["says"].startswith("morning is open: on time for 69 min more. You are not in. It asks for your active")
    args = {"receipt": True, "slot": "morning", "outcome": "pass|attention|blocked", "notes": "…"}
    assert out["next"] == {"tool": "logmem_sync", "args": args}
    assert missing(out, text(ROWS["sync"], out)) == []


async def test_c48_a_day_goes_by(empty: World) -> None:
    """From midnight to midnight: which window is open, until when it is on time, and what it asks for."""
    world = await space_at(empty, "00:10")
    out = await world.do(GROK, "sync")
    for at, state, says in (
        ("00:11", "UUU", "No window is open. morning of "),
        ("08:59", "UUU", "opens at "),
        ("09:01", "IUU", "your active work"),
        ("10:31", "LUU", "morning is open: late, over in 2 h 28 min. "),
        ("12:59", "LUU", "late"),
        ("13:01", "OIU", "progress, and answers in urgent huddle seats"),
        ("14:31", "OLU", "midday is open: late"),
        ("17:31", "OOI", "what you carry over"),
        ("19:01", "OOL", "closeout is open: late, over in 4 h 58 min. "),
        ("23:59", "OOL", "late"),
    ):
        await moved(world, at)
        out = await world.do(GROK, "sync")
        words = {"U": "upcoming", "I": "on_time", "L": "late", "O": "over"}
        assert list(states(out).values()) == [words[letter] for letter in state], at
        assert says in out["says"], at
        assert ("next" in out) == (at > "09:00")
        assert ("next_window" in out) == (at < "09:00")
    await moved(world, "00:01", days=1)
    after = await world.do(GROK, "sync")
    assert date.fromisoformat(after["day"]) == date.fromisoformat(out["day"]) + timedelta(days=1)
    assert set(states(after).values()) == {"upcoming"}


async def test_c48_what_is_owed_is_listed(morning: World) -> None:
    """Open items by deadline, a question on an ask, asks that wait and unfinished jobs, each with its id, texts cut."""
    await morning.human("ana", "owner")
    late = await morning.do(CODEX, "handoff", to="grok", summary="x" * 500, deadline="20h")
    soon = await morning.do(CODEX, "handoff", to="grok", summary="Soon", deadline="2h")
    gone = await morning.do(CODEX, "handoff", to="grok", summary="Gone", deadline="5m")
    done = await morning.do(CODEX, "handoff", to="grok", summary="Do it", where="job:auth")
    await morning.do(GROK, "accept", item=done["item"])
    await morning.do(CODEX, "handoff", to="human:ana", summary="Not grok's")
    ask, other = [await morning.do(GROK, "ask", where="job:x", summary=said) for said in ("May I?", "And this?")]
    await morning.do("human:ana", "ask_back", trail=other["trail"], text="Why?")
    await morning.pass_time(6 * MINUTE)
    out = await morning.do(GROK, "sync")
    assert [line["item"] for line in out["handoffs"]] == [soon["item"], late["item"]]
    assert out["handoffs"][1]["summary"] == "x" * 80 + "… (+420 characters)"
    assert gone["item"] not in json.dumps(out)
    assert [line["trail"] for line in out["pending_asks"]] == [ask["trail"]]
    assert [line["trail"] for line in out["questions"]] == [other["trail"]]
    assert [line["job"] for line in out["jobs"]] == ["job:auth"]
    assert missing(out, text(ROWS["sync"], out)) == []


async def test_c48_who_of_the_people_is_not_expected_is_told_that_they_may_check_in(morning: World) -> None:
    """Until they say that they take part."""
    await morning.human("ana", "owner")
    says = (await morning.do("human:ana", "sync"))["says"]
    assert "You are not in, nor expected; you may check in all the same. It asks for" in says
    await morning.do("human:ana", "attend", on=True)
    assert "You are not in. It asks for" in (await morning.do("human:ana", "sync"))["says"]


async def test_c48_who_has_no_key_any_more_is_not_expected(morning: World) -> None:
    """An agent that wrote and whose keys were revoked since cannot check in, and nobody waits for it."""
    for who in (GROK, CODEX):
        await morning.do(who, "note", where="job:x", kind="memo", summary="hello")
    assert (await morning.operate("sync"))["awaited"] == [CODEX, GROK]
    await morning.operate("revoke", name="grok")
    assert (await morning.operate("sync"))["awaited"] == [CODEX]


async def test_c48_who_is_expected_in_and_overdue(empty: World) -> None:
    """Who wrote since the last window, has an open item or a job; overdue once the window is late.

    People who are in are named apart, and count for none of those who are expected.
    """
    world = await space_at(empty, "17:40")
    for name in ("wrote", "owes", "works", "idle", "settled"):
        await world.agent(name)
    await world.human("ana", "owner")
    for name in ("idle", "settled", "works"):
        await world.do(f"agent:{name}", "note", where="job:x", kind="memo", summary="before")
    await world.do(GROK, "handoff", to="owes", summary="Owed", deadline="3 days")
    job = await world.do(GROK, "handoff", to="works", summary="Work", where="job:y")
    await world.do("agent:works", "accept", item=job["item"])
    item = await world.do(GROK, "handoff", to="settled", summary="Settle")
    await world.do("agent:settled", "accept", item=item["item"])
    await moved(world, "12:50", days=1)
    await world.do("agent:wrote", "note", where="job:x", kind="memo", summary="late in the morning")
    await moved(world, "13:05")
    out = await world.do(CODEX, "sync")
    assert out["fleet"] == {"expected": 3, "in": 0, "awaited": 3}
    assert (out["in"], out["awaited"]) == ([], ["agent:owes", "agent:works", "agent:wrote"])
    await receipt(world, "agent:owes")
    await world.sign_in("ana")
    await receipt(world, "human:ana")
    out = await world.do("agent:owes", "sync")
    assert out["fleet"] == {"expected": 3, "in": 1, "awaited": 2, "others": 1}
    await receipt(world, "agent:idle")
    await moved(world, "14:40")
    await receipt(world, "agent:works")
    out = await world.do("agent:owes", "sync")
    assert out["fleet"] == {"expected": 4, "in": 3, "overdue": 1, "others": 1}  # who checks in has written
    assert out["in"] == ["agent:owes", "agent:idle", "agent:works"]
    assert (out["also_in"], out["overdue"]) == (["human:ana"], ["agent:wrote"])
    assert {k: out["checked_in"][k] for k in ("outcome", "late", "notes")} == {**DONE, "late": False}
    assert "next" not in out
    assert out["next_window"]["slot"] == "closeout"


async def test_c48_two_hundred_agents_fit_into_a_result(morning: World) -> None:
    """However many are expected, however long their names and hard their words: counted, bounded, in a few trips."""
    names = [f"a{n:03}-" + "qx7-zk9."[n % 3 :] * 7 for n in range(198)]
    for some in range(0, len(names), 20):
        await asyncio.gather(*(morning.agent(name) for name in names[some : some + 20]))
    hard = "\U000e0041\u202e日本語🏽qz" * 100
    for name in names[:12]:
        item = await morning.do(f"agent:{name}", "handoff", to="grok", summary=hard, where=f"job:{name}", deadline="9h")
        if name in names[:4]:
            await morning.do(GROK, "accept", item=item["item"])
            await morning.do(GROK, "ask", where=f"job:{name}", summary=hard + name)
    await asyncio.gather(*(morning.do(f"agent:{name}", "note", where="x", kind="memo", summary="x") for name in names))
    await asyncio.gather(*(receipt(morning, f"agent:{name}") for name in names[:60]))
    await receipt(morning, GROK, notes=hard)
    await moved(morning, "10:40")
    out = await morning.do(GROK, "sync")
    assert out["fleet"] == {"expected": 199, "in": 61, "overdue": 138}
    assert 0 < len(out["in"]) < 61
    assert 0 < len(out["overdue"]) < 138
    assert out["left_out"] > 0
    assert out["handoffs"]
    assert price(out) <= 2000
    assert await round_trips(morning) <= 12


async def round_trips(world: World) -> int:
    """In how many pieces the commands of a read come to the store, at least: the server reads beside it."""
    counts = []
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        for _ in range(3):
            before = int((await admin.info("stats"))["total_reads_processed"])
            await world.do(GROK, "sync")
            counts.append(int((await admin.info("stats"))["total_reads_processed"]) - before)
    return min(counts)


def test_both_rows_take_the_same_arguments() -> None:
    """What is listed is what either takes, and the tool is none that only reads."""
    row = ROWS["sync"]
    assert row.turns
    argument, other = row.turns
    assert schema(row) == schema(other)
    assert (argument, row.effect, other.effect, row.pure, other.pure) == ("receipt", "read", "write", False, False)
    assert (other.verb, other.profiles) == (row.verb, row.profiles)


async def test_a_brief_says_that_a_check_in_is_due(morning: World) -> None:
    """While the window is open and the agent is not in, with its call; late when it is; nothing before and after."""
    (line,) = (await morning.do(GROK, "start"))["brief"]["sync"]
    assert (line["slot"], line["status"]) == ("morning", "on_time")
    args = {"receipt": True, "slot": "morning", "outcome": "pass|attention|blocked", "notes": "…"}
    assert line["next"] == {"tool": "logmem_sync", "args": args}
    brief = await morning.do(GROK, "brief")
    said = next(each for each in text(ROWS["brief"], brief).split("\n") if "sync" in each)
    assert said.startswith("morning sync opened 20m ago, on time, 6")
    assert said.endswith("you are not in -> logmem_sync " + compact(args))
    assert "sync" not in (await morning.do(GROK, "brief", since="10m"))["brief"]
    await moved(morning, "10:31")
    assert (await morning.do(GROK, "brief"))["brief"]["sync"][0]["status"] == "late"
    await receipt(morning)
    for verb in ("start", "brief"):
        assert "sync" not in (await morning.do(GROK, verb))["brief"]
    assert "sync" in (await morning.do(GROK, "brief", agent="codex"))["brief"]
    await morning.human("ana", "owner")
    assert "sync" not in (await morning.do("human:ana", "brief"))["brief"]
    await moved(morning, "00:30", days=1)
    assert "sync" not in (await morning.do(CODEX, "brief"))["brief"]
    await morning.pass_time(DAY - HOUR)
    assert (await morning.do(CODEX, "brief"))["brief"]["sync"][0]["slot"] == "closeout"
