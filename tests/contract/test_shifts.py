"""Shifts and slots: start, recap, bio, status."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from tests.contract.test_gate import DAY, HOUR, MINUTE, refused
from tests.world import Result, World

CODEX = "agent:codex"


async def log(world: World, who: str = CODEX, *kinds: str) -> list[Result]:
    """The last entries of an agent's Log, of some kinds."""
    seen = await world.do("agent:grok", "view", what=who)
    return [e for e in seen["log"] if not kinds or e["kind"] in kinds]


@asynccontextmanager
async def another_key(world: World) -> AsyncIterator[None]:
    """Inside, codex calls with another credential of its own."""
    token, badge = world.tokens[CODEX], world.badges[CODEX]
    await world.agent("codex")
    yield
    world.tokens[CODEX], world.badges[CODEX] = token, badge


async def test_start_gives_the_manual_s_shape(world: World) -> None:
    """Who, Now, last recap, handoffs and pending asks at the top; the rest in `brief`; nothing twice."""
    await world.do(CODEX, "bio", profile={"name": "Codex", "role": "Verification Lead"})
    await world.do(CODEX, "status", doing="Reviewing PR backlog")
    await world.do(CODEX, "recap", notes="Shipped PR 134.", next=["Review auth flow"])
    out = await world.do(CODEX, "start", agent="codex", model="m-1")
    assert list(out) == [
        "ok", "space", "caller", "simulated", "agent", "started", "who", "now", "last_recap", "handoffs",
        "pending_asks", "brief",
    ]  # fmt: skip
    assert out["agent"] == CODEX
    assert out["started"] == {"agent": CODEX, "shift": 2, "resumed": False}
    assert out["who"] == {"name": "Codex", "role": "Verification Lead"}
    assert (out["now"]["doing"], out["now"]["blocked"]) == ("Reviewing PR backlog", False)
    assert (out["last_recap"]["summary"], out["last_recap"]["next"]) == ("Shipped PR 134.", ["Review auth flow"])
    assert (out["handoffs"], out["pending_asks"], out["brief"]) == ([], [], {})


async def test_c13_the_same_credential_resumes_and_says_so(world: World) -> None:
    """A second start with the same key is the same shift, and writes nothing into the Log."""
    first = await world.do(CODEX, "start")
    before = await log(world)
    second = await world.do(CODEX, "start")
    assert (first["started"]["resumed"], second["started"]["resumed"]) == (False, True)
    assert first["started"]["shift"] == second["started"]["shift"] == 1
    assert await log(world) == before


async def test_c13_another_credential_recaps_the_open_shift_first(world: World) -> None:
    """Its recap is automatic, says why, comes right before the new shift begins, and is in the Brief."""
    await world.do(CODEX, "start")
    await world.do(CODEX, "status", doing="Halfway through the importer")
    async with another_key(world):
        out = await world.do(CODEX, "start")
        again = await world.do(CODEX, "start")
    assert out["started"] == {"agent": CODEX, "shift": 2, "resumed": False}
    recap, started = (await log(world, CODEX, "recap", "started"))[-2:]
    assert (recap["kind"], recap["payload"]["auto"], recap["payload"]["shift"]) == ("recap", True, 1)
    assert recap["why"] == "another credential of agent:codex began shift 2"
    assert "Halfway through the importer" in recap["summary"]
    assert int(started["id"].partition("-")[2]) == int(recap["id"].partition("-")[2]) + 1
    for shown in (out, again):
        assert (shown["last_recap"]["auto"], shown["last_recap"]["summary"]) == (True, recap["summary"])
    assert again["started"] == {"agent": CODEX, "shift": 2, "resumed": True}


async def test_c13_starts_at_once_make_one_shift_each(world: World) -> None:
    """Two credentials that start at once, again and again: every shift but the last is recapped once."""
    await world.do(CODEX, "start")
    async with another_key(world):
        await asyncio.gather(*(world.do(CODEX, "start") for _ in range(5)))
    await asyncio.gather(*(world.do(CODEX, "start") for _ in range(5)))
    recaps = await log(world, CODEX, "recap")
    assert [e["payload"]["shift"] for e in recaps] == [1, 2]
    assert (await world.do(CODEX, "start"))["started"] == {"agent": CODEX, "shift": 3, "resumed": True}


async def test_an_ended_shift_is_not_recapped_again(world: World) -> None:
    """After a recap another credential begins the next shift, with that recap in its Brief."""
    await world.do(CODEX, "start")
    await world.do(CODEX, "recap", notes="Done for today")
    async with another_key(world):
        out = await world.do(CODEX, "start")
    assert out["started"] == {"agent": CODEX, "shift": 2, "resumed": False}
    assert out["last_recap"]["summary"] == "Done for today"
    assert "auto" not in out["last_recap"]


@pytest.mark.parametrize("name", ["grok", "agent:grok", "Codex", "human:codex", "codex "])
async def test_c02_a_name_is_only_compared(world: World, name: str) -> None:
    """A name that is not the credential's is refused, saying who the caller is, and opens no shift."""
    no = await refused("identity_mismatch", world.do(CODEX, "start", agent=name))
    assert no.facts["caller"] == CODEX
    assert not await log(world, CODEX, "started")
    assert (await world.do(CODEX, "start", agent="codex"))["started"]["shift"] == 1
    assert (await world.do(CODEX, "start", agent=CODEX))["started"]["resumed"]


async def test_people_have_no_shifts(world: World) -> None:
    """A person's start or recap is refused, and says what to read instead."""
    for verb, args in (("start", {}), ("recap", {"notes": "x"})):
        no = await refused("invalid_argument", world.do("human:ana", verb, **args))
        assert "logmem_brief" in no.message


async def test_a_recap_ends_the_shift_and_a_later_write_opens_the_next(world: World) -> None:
    """After the recap the next write, of whatever kind, begins shift 2."""
    await world.do(CODEX, "start")
    out = await world.do(CODEX, "recap", notes="Done", next="Only one thing")
    assert out["shift"] == {"number": 1, "open": False}
    assert out["entry"]["payload"] == {"shift": 1, "next": ["Only one thing"]}
    await world.do(CODEX, "note", where="job:x", kind="memo", summary="one more thing")
    assert (await world.do(CODEX, "start"))["started"] == {"agent": CODEX, "shift": 2, "resumed": True}


async def test_a_recap_may_leave_the_shift_open(world: World) -> None:
    """With end: false the notes are kept, and the shift goes on."""
    await world.do(CODEX, "start")
    out = await world.do(CODEX, "recap", notes="So far", end=False)
    assert out["shift"] == {"number": 1, "open": True}
    out = await world.do(CODEX, "start")
    assert (out["started"]["resumed"], out["last_recap"]["summary"]) == (True, "So far")


async def test_a_recap_needs_no_open_shift(world: World) -> None:
    """Without a shift it begins one; after the end it is that shift's last word, and with end: false a new one's."""
    assert (await world.do(CODEX, "recap", notes="Only this"))["shift"] == {"number": 1, "open": False}
    assert (await world.do(CODEX, "recap", notes="And this"))["shift"] == {"number": 1, "open": False}
    assert (await world.do("agent:grok", "brief", agent="codex"))["last_recap"]["summary"] == "And this"
    assert (await world.do(CODEX, "recap", notes="New", end=False))["shift"] == {"number": 2, "open": True}
    assert [e["summary"] for e in await log(world, CODEX, "started")] == [
        "Shift 1 began with a recap.",
        "Shift 2 began with a recap.",
    ]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"notes": " "}, "invalid_argument"),
        ({"notes": "x" * 1001}, "too_long"),
        ({"notes": "x", "next": ["y"] * 11}, "too_long"),
        ({"notes": "x", "next": ["y" * 201]}, "too_long"),
    ],
)
async def test_a_recap_is_bounded(world: World, args: Result, code: str) -> None:
    """Empty or overlong notes, and too many or too long steps, are refused; the shift stays open."""
    await world.do(CODEX, "start")
    await refused(code, world.do(CODEX, "recap", **args))
    assert (await world.do(CODEX, "start"))["started"]["resumed"]


async def test_c08_a_bio_changes_who_and_the_log_keeps_the_old_one(world: World) -> None:
    """What is left out of a profile stays; other keys are kept in the entry; both versions stand in the Log."""
    one = await world.do(CODEX, "bio", profile={"name": "Codex", "role": "Lead", "skills": ["review", "review", "ops"]})
    assert one["who"] == {"name": "Codex", "role": "Lead", "skills": ["review", "ops"]}
    two = await world.do(CODEX, "bio", profile={"role": "Security Lead", "timezone": {"name": "UTC"}})
    assert two["who"] == {
        "name": "Codex", "role": "Security Lead", "skills": ["review", "ops"], "timezone": {"name": "UTC"},
    }  # fmt: skip
    who = (await world.do("agent:grok", "view", what=CODEX))["who"]
    assert (who["name"], who["role"], who["skills"]) == ("Codex", "Security Lead", ["review", "ops"])
    assert [e["payload"]["role"] for e in await log(world, CODEX, "bio")] == ["Lead", "Security Lead"]


@pytest.mark.parametrize(
    ("profile", "code"),
    [
        ({"name": ""}, "invalid_argument"),
        ({"name": 7}, "invalid_argument"),
        ({"name": "a\nb"}, "invalid_argument"),
        ({"name": "x" * 81}, "too_long"),
        ({"role": "x" * 121}, "too_long"),
        ({"skills": ["x"] * 31}, "too_long"),
        ({"skills": ["x" * 61]}, "too_long"),
        ({"skills": [["x"]]}, "invalid_argument"),
        ({"more": "x" * 4096}, "too_long"),
        ({"more": 2**53}, "payload_not_canonical"),
        ({"role": "Approver"}, "invalid_argument"),
    ],
)
async def test_a_profile_is_bounded(world: World, profile: Result, code: str) -> None:
    """What is too long, no line of text, or a person's role is refused, and Who stays as it was."""
    before = (await world.do("agent:grok", "view", what=CODEX))["who"]
    await refused(code, world.do(CODEX, "bio", profile=profile))
    assert (await world.do("agent:grok", "view", what=CODEX))["who"] == before


async def test_c08_a_now_that_was_seen_at_another_revision_is_stale(world: World) -> None:
    """A write that names the revision it saw goes through once; without it the last one wins."""
    one = await world.do(CODEX, "status", doing="One", if_revision=0)
    assert one["now"]["revision"] == 1
    no = await refused("stale", world.do(CODEX, "status", doing="Two", if_revision=0))
    assert no.facts["revision"] == 1
    assert (await world.do(CODEX, "status", doing="Two", if_revision=1))["now"]["revision"] == 2
    assert (await world.do(CODEX, "status", doing="Three"))["now"]["revision"] == 3
    assert [e["summary"] for e in await log(world, CODEX, "status")] == ["One", "Two", "Three"]


async def test_c08_of_many_who_saw_one_revision_one_wins(world: World) -> None:
    """Twenty writes at once that saw the same Now: one stands, the others are told that it is stale."""
    calls = (world.do(CODEX, "status", doing=f"n{n}", if_revision=0) for n in range(20))
    out = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(o, dict) for o in out) == 1
    assert {getattr(o, "code", "ok") for o in out} == {"ok", "stale"}


async def test_a_now_says_what_blocks_and_on_whom_one_waits(world: World) -> None:
    """Blocked is a text or false; each status replaces all of the one before."""
    out = await world.do(CODEX, "status", doing="A", blocked="no key", waiting_on="human:ana", where="job:auth")
    now = out["now"]
    assert (now["blocked"], now["waiting_on"], now["where"]) == ("no key", "human:ana", "job:auth")
    assert out["created"] is True
    assert (await world.do("agent:grok", "brief"))["brief"]["blockers"][0]["who"] == CODEX
    for free in (False, "false", "", "none"):
        now = (await world.do(CODEX, "status", doing="B", blocked=free))["now"]
        assert now["blocked"] is False
        assert not {"waiting_on", "where"} & now.keys()
    assert "blockers" not in (await world.do("agent:grok", "brief"))["brief"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"doing": " "}, "invalid_argument"),
        ({"doing": "x" * 1001}, "too_long"),
        ({"doing": "x", "blocked": True}, "invalid_argument"),
        ({"doing": "x", "waiting_on": "y" * 201}, "invalid_argument"),
        ({"doing": "x", "where": "agent:nobody"}, "not_found"),
        ({"blocked": "x"}, "invalid_argument"),
    ],
)
async def test_a_status_is_checked(world: World, args: Result, code: str) -> None:
    """What says nothing, too much or the wrong thing is refused, and Now stays."""
    await refused(code, world.do(CODEX, "status", **args))
    assert (await world.do("agent:grok", "view", what=CODEX))["now"]["revision"] == 0


async def test_c12_a_repeated_status_or_bio_gets_the_first_result(world: World) -> None:
    """A replay says what was set then, read again from the Log, though Now has moved on."""
    one = await world.do(CODEX, "status", doing="A", blocked="no key", action_id="s1")
    await world.do(CODEX, "status", doing="B")
    assert await world.do(CODEX, "status", doing="A", blocked="no key", action_id="s1") == {**one, "replayed": True}
    one = await world.do(CODEX, "bio", profile={"role": "Lead"}, action_id="b1")
    await world.do(CODEX, "bio", profile={"role": "Other"})
    assert await world.do(CODEX, "bio", profile={"role": "Lead"}, action_id="b1") == {**one, "replayed": True}


async def test_a_model_is_kept_with_who(world: World) -> None:
    """The model that an agent names stands in the entry that began the shift; a strange one is refused."""
    await world.do(CODEX, "start", model="sonnet-9")
    assert (await log(world, CODEX, "started"))[-1]["payload"] == {"model": "sonnet-9"}
    await refused("invalid_argument", world.do(CODEX, "start", model="x\ny"))


async def test_ages_and_staleness_follow_the_space_s_clock(world: World) -> None:
    """After half an hour Now is stale, after three days the recap is."""
    await world.do(CODEX, "status", doing="A")
    await world.do(CODEX, "recap", notes="B")
    await world.pass_time(31 * MINUTE)
    out = await world.do(CODEX, "brief")
    assert (out["now"]["stale"], out["now"]["age"]) == (True, "31m")
    assert "stale" not in out["last_recap"]
    await world.pass_time(3 * DAY + HOUR)
    out = await world.do(CODEX, "brief")
    assert (out["last_recap"]["stale"], out["last_recap"]["age"]) == (True, "3d")


async def test_what_start_only_shows_may_change_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another agent's status, and an item that is settled, do not make start begin anew; a verdict it marks does."""
    await world.do("agent:grok", "status", doing="A", blocked="no key")
    item = (await world.do("agent:grok", "handoff", to=CODEX, summary="Go on", where="job:x"))["item"]
    ask = await world.do(CODEX, "ask", where="job:x", summary="May I?")
    await world.do("human:ana", "decide", trail=ask["trail"], digest=ask["digest"], verdict="reject")
    meanwhile = [
        lambda: world.do("agent:grok", "status", doing="B", blocked="still no key"),
        lambda: world.do("agent:grok", "handoff", withdraw=item),
    ]
    commit, tries = world.store.commit, 0

    async def slow(*args: Any, **more: Any) -> Any:
        nonlocal tries
        tries += 1
        while meanwhile:
            await meanwhile.pop()()
        return await commit(*args, **more)

    monkeypatch.setattr(world.store, "commit", slow)
    out = await perform(world.store, world.badges[CODEX], ROWS["start"], {})
    assert (out["brief"]["blockers"][0]["blocked"], len(out["handoffs"]), tries) == ("no key", 1, 1)
    other = await world.do(CODEX, "ask", where="job:x", summary="And this?")
    await world.do("human:ana", "decide", trail=other["trail"], digest=other["digest"], verdict="reject")
    meanwhile.append(lambda: world.do(CODEX, "start"))
    tries = 0
    out = await perform(world.store, world.badges[CODEX], ROWS["start"], {})
    assert (out["brief"].get("verdicts", []), tries) == ([], 2)
