"""Huddles: one question to several on a job, closed by the synthesis of one when all have answered or time is over."""

import asyncio
import json

import pytest

from store import invariants
from store.engine.client import Target, open_client
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.handing import race, stands_in
from tests.contract.huddling import ANA, CODEX, GROK, MUSE, answer, closed, opened, seat, viewed
from tests.contract.test_gate import DAY, HOUR, refused
from tests.tokenizer import tokens
from tests.world import Result, World


@pytest.fixture
async def world(world: World) -> World:
    """The fleet with one agent more."""
    await world.agent("muse")
    return world


async def test_a_huddle_stands_on_a_job_with_its_seats(world: World) -> None:
    """One commit: the question on the job, which may be new, and a seat for each, which stands where items stand."""
    huddle = await opened(world, "codex", "ana", GROK, urgent=True, deadline="2h")
    assert huddle["huddle"].startswith("hd_")
    assert (huddle["where"], huddle["closer"], huddle["created"], huddle["status"]) == ("job:db", GROK, True, "open")
    assert [s["to"] for s in huddle["seats"]] == [CODEX, ANA, GROK]
    assert huddle["next"] == {"tool": "logmem_follow", "args": {"what": huddle["huddle"]}}
    seen = await viewed(world, huddle, MUSE)
    assert (seen["question"], seen["from"], seen["urgent"]) == ("Postgres or SQLite?", GROK, True)
    assert seen["seats"] == [{**s, "status": "open"} for s in huddle["seats"]]
    assert seen["history"] == []
    assert sorted(await stands_in(world, "holds", "job:db")) == sorted(s["item"] for s in huddle["seats"])
    for who in (CODEX, ANA, GROK):
        assert await stands_in(world, "open", who) == [seat(huddle, who)]
    (entry,) = [e for e in (await world.do(GROK, "view", what="job:db"))["log"] if e["kind"] == "huddle"]
    assert (entry["summary"], entry["trail"]) == ("Postgres or SQLite?", huddle["huddle"])
    assert entry["payload"]["seats"] == {s["to"]: s["item"] for s in huddle["seats"]}


@pytest.mark.parametrize(
    ("args", "code", "argument"),
    [
        ({"where": "channel:x"}, "malformed_id", "where"),
        ({"where": CODEX}, "malformed_id", "where"),
        ({"question": " "}, "invalid_argument", "question"),
        ({"question": "x" * 1001}, "too_long", "question"),
        ({"seats": []}, "invalid_argument", "seats"),
        ({"seats": [CODEX, "codex"]}, "invalid_argument", "seats"),
        ({"seats": ["role:approver"]}, "malformed_id", "seats"),
        ({"seats": [f"agent:a{n}" for n in range(13)]}, "too_long", "seats"),
        ({"closer": "role:approver"}, "malformed_id", "closer"),
        ({"deadline": "4m"}, "invalid_argument", "deadline"),
        ({"deadline": "31 days"}, "invalid_argument", "deadline"),
    ],
)
async def test_what_a_huddle_cannot_be_is_refused(world: World, args: Result, code: str, argument: str) -> None:
    """Elsewhere than on a job, without a question or holders, out of bounds: named, and nothing is written."""
    before = await world.dump()
    no = await refused(code, opened(world, **args))
    assert no.facts["argument"] == argument
    assert await world.dump() == before


@pytest.mark.parametrize(
    ("args", "near"),
    [
        ({"seats": [CODEX, "agent:mus"]}, [MUSE]),
        ({"seats": ["codx"]}, [CODEX]),
        ({"seats": ["agent:ana"]}, [ANA]),
        ({"closer": "human:an"}, [ANA]),
    ],
)
async def test_who_is_not_here_holds_no_seat_and_closes_nothing(world: World, args: Result, near: list[str]) -> None:
    """Refused at once with near matches, and nothing is written."""
    before = await world.dump()
    no = await refused("unknown_recipient", opened(world, **args))
    assert no.facts["near"] == near
    assert await world.dump() == before


async def test_a_job_that_is_done_takes_no_huddle(world: World) -> None:
    """Nothing more can be asked in it, and the refusal says how to take it up again."""
    await world.do(GROK, "assign", job="db", title="Choose a database", to="grok")
    for stage in ("in_progress", "review", "done"):
        await world.do(GROK, "stage", job="db", stage=stage)
    no = await refused("job_done", opened(world))
    assert "logmem_stage" in no.message


async def test_c19_a_huddle_opened_while_its_job_ends_leaves_no_open_seat(world: World) -> None:
    """Whichever comes first, a job that is done has nobody who still has to answer."""
    for n in range(6):
        job = f"race-{n}"
        await world.do(GROK, "assign", job=job, title="Choose", to="grok")
        for stage in ("in_progress", "review"):
            await world.do(GROK, "stage", job=job, stage=stage)
        done = world.do(GROK, "stage", job=job, stage="done")
        won, (no,) = await race(*((opened(world, where=job), done) if n % 2 else (done, opened(world, where=job))))
        if "huddle" in won[0]:
            assert no.code == "open_obligations"
        else:
            assert (no.code, await stands_in(world, "holds", f"job:{job}")) == ("job_done", [])


async def test_c12_a_repeated_huddle_is_one(world: World) -> None:
    """The same action_id opens it once and gives the same answer; so do answering and closing."""
    args = {"where": "job:db", "question": "Which?", "seats": ["codex"]}
    one = await world.do(GROK, "huddle", action_id="h", **args)
    assert await world.do(GROK, "huddle", action_id="h", **args) == {**one, "replayed": True}
    said = {"where": "job:db", "kind": "answer", "answers": seat(one), "summary": "this"}
    first = await world.do(CODEX, "note", action_id="n", **said)
    assert await world.do(CODEX, "note", action_id="n", **said) == {**first, "replayed": True}
    end = {"where": "job:db", "kind": "synthesis", "answers": one["huddle"], "summary": "this"}
    last = await world.do(GROK, "note", action_id="s", **end)
    assert await world.do(GROK, "note", action_id="s", **end) == {**last, "replayed": True}


async def test_c42_the_closer_s_synthesis_closes_it_when_all_are_settled(world: World) -> None:
    """Refused while a seat is open, naming it; then it closes, once, and stands in the Log with what it answers."""
    huddle = await opened(world)
    await answer(world, huddle)
    before = await world.dump()
    no = await refused("open_obligations", closed(world, huddle))
    assert no.facts["open"] == [{"item": seat(huddle, MUSE), "to": MUSE}]
    assert f"{MUSE} ({seat(huddle, MUSE)})" in no.message
    assert await world.dump() == before
    await world.do(MUSE, "accept", item=seat(huddle, MUSE), decline=True, reason="no idea")
    said = await closed(world, huddle)
    assert (said["huddle"], said["status"]) == (huddle["huddle"], "closed")
    assert (said["entry"]["kind"], said["entry"]["answers"]) == ("synthesis", huddle["huddle"])
    seen = await viewed(world, huddle, MUSE)
    assert (seen["status"], seen["synthesis"]) == ("closed", said["entry"]["id"])
    assert [e["kind"] for e in seen["history"]] == ["answer", "declined", "synthesis"]
    assert "next" not in seen
    for _ in range(2):
        no = await refused("already_settled", closed(world, huddle))
        assert (no.facts["by"], no.facts["synthesis"]) == (GROK, said["entry"]["id"])
        assert no.facts["at"]
        assert f"{GROK} closed {huddle['huddle']} " in no.message


async def test_c42_past_the_deadline_it_closes_without_those_who_are_silent(world: World) -> None:
    """Their seats have expired, which the closing commit writes down; nothing of the job is held up any more."""
    huddle = await opened(world, deadline="2h")
    await answer(world, huddle)
    await refused("open_obligations", closed(world, huddle))
    await world.pass_time(2 * HOUR + 1)
    seen = await viewed(world, huddle)
    assert (seen["status"], seen["ready"], [s["status"] for s in seen["seats"]]) == (
        "open",
        True,
        ["answered", "expired"],
    )
    assert (await closed(world, huddle))["status"] == "closed"
    assert (await viewed(world, huddle))["seats"][1]["status"] == "expired"
    for index, owner in (("open", MUSE), ("holds", "job:db"), ("due", "")):
        assert await stands_in(world, index, owner) == []
    await refused("expired", answer(world, huddle, MUSE))


async def test_c42_nobody_but_the_closer_closes_it(world: World) -> None:
    """Not even who opened it, if that is somebody else; before and after it was closed."""
    huddle = await opened(world, CODEX, closer=MUSE)
    await answer(world, huddle)
    for over in (False, True):
        if over:
            assert (await closed(world, huddle, MUSE))["status"] == "closed"
        for who in (GROK, CODEX, ANA):
            no = await refused("not_yours", closed(world, huddle, who))
            assert no.facts["closer"] == MUSE


async def test_c42_of_many_syntheses_at_once_one_closes_it(world: World) -> None:
    """The others are told who closed it, and write nothing."""
    huddle = await opened(world, CODEX)
    await answer(world, huddle)
    won, lost = await race(*(closed(world, huddle, summary=f"synthesis {n}") for n in range(16)))
    assert len(won) == 1
    assert {(no.code, no.facts["by"], no.facts["synthesis"]) for no in lost} == {
        ("already_settled", GROK, won[0]["entry"]["id"])
    }
    assert [e["kind"] for e in (await viewed(world, huddle))["history"]] == ["answer", "synthesis"]


async def test_c42_closing_and_answering_at_once_agree(world: World) -> None:
    """A synthesis that races the last answer comes after it, or is refused for the open seat: never in between."""
    for n in range(6):
        huddle = await opened(world, CODEX, where=f"job:r{n}")
        place = {"where": f"job:r{n}"}
        said, end = await asyncio.gather(
            answer(world, huddle, **place), closed(world, huddle, **place), return_exceptions=True
        )
        assert isinstance(said, dict)
        seen = await viewed(world, huddle)
        if isinstance(end, dict):
            assert [e["kind"] for e in seen["history"]] == ["answer", "synthesis"]
        else:
            assert (getattr(end, "code", end), seen["status"]) == ("open_obligations", "open")
            assert (await closed(world, huddle, **place))["status"] == "closed"


async def test_the_brief_tells_holders_and_closer_their_turn(world: World) -> None:
    """A seat with who asks, where, what, how long; to the closer nothing until it can be closed; each with its call."""
    huddle = await opened(world, urgent=True)
    handed = (await world.do(GROK, "handoff", to="codex", summary="Review it", deadline="1h"))["item"]
    brief = await world.do(CODEX, "start")
    (line,) = brief["brief"]["seats"]
    assert {k: line[k] for k in ("item", "from", "where", "question", "urgent")} == {
        "item": seat(huddle),
        "from": GROK,
        "where": "job:db",
        "question": "Postgres or SQLite?",
        "urgent": True,
    }
    args = {"where": "job:db", "kind": "answer", "answers": seat(huddle), "summary": "…"}
    assert line["next"] == {"tool": "logmem_note", "args": args}
    assert [h["item"] for h in brief["handoffs"]] == [handed]
    seen = await world.do(GROK, "view", what=seat(huddle))
    assert (seen["delivery"], seen["surfaced"]["to"]) == ("surfaced", CODEX)
    await answer(world, huddle)
    assert "seats" not in (await world.do(CODEX, "brief"))["brief"]
    assert "huddles" not in (await world.do(GROK, "brief"))["brief"]
    await answer(world, huddle, MUSE)
    (line,) = (await world.do(GROK, "start"))["brief"]["huddles"]
    assert (line["huddle"], line["answered"], line["seats"]) == (huddle["huddle"], 2, 2)
    args = {"where": "job:db", "kind": "synthesis", "answers": huddle["huddle"], "summary": "…"}
    assert line["next"] == {"tool": "logmem_note", "args": args}
    await closed(world, huddle)
    assert "huddles" not in (await world.do(GROK, "brief"))["brief"]


async def test_a_huddle_is_followed_until_it_is_closed(world: World) -> None:
    """Pending while nothing is said; each answer is a change; who may close it is told when all have answered."""
    huddle = await opened(world)
    what = huddle["huddle"]
    first = await world.do(GROK, "follow", what=what, wait=0)
    assert first["pending"] is True
    waiting = asyncio.create_task(world.do(GROK, "follow", what=what, since=first["cursor"], wait=20))
    said = await answer(world, huddle)
    out = await waiting
    assert [e["id"] for e in out["changes"]] == [said["entry"]["id"]]
    assert out["next"] == {"tool": "logmem_follow", "args": {"what": what, "since": out["cursor"]}}
    again = await world.do(GROK, "follow", what=what, since=out["cursor"], wait=0)
    assert again["pending"] is True
    await answer(world, huddle, MUSE)
    ready = await world.do(GROK, "follow", what=what, wait=0)
    assert "pending" not in ready
    assert ready["next"]["args"] == {"where": "job:db", "kind": "synthesis", "answers": what, "summary": "…"}
    assert (await world.do(CODEX, "follow", what=what, wait=0))["pending"] is True
    waiting = asyncio.create_task(world.do(CODEX, "follow", what=what, wait=20))
    await closed(world, huddle)
    out = await waiting
    assert (out["status"], out["changes"][-1]["summary"]) == ("closed", "Postgres it is")
    assert (await world.do(CODEX, "follow", what=seat(huddle), wait=0))["status"] == "answered"


async def test_who_convened_a_huddle_closes_it_when_its_closer_has_not(world: World) -> None:
    """Before the deadline its closer alone; after it the convener too, whose Brief, `follow` and refusal say so."""
    huddle = await opened(world, CODEX, closer="muse")
    end = {"where": "job:db", "kind": "synthesis", "answers": huddle["huddle"], "summary": "…"}
    await answer(world, huddle)
    no = await refused("not_yours", closed(world, huddle))
    assert f"can close it too after {huddle['deadline']}" in no.message
    assert "huddles" not in (await world.do(GROK, "brief"))["brief"]
    await world.pass_time(DAY + 1)
    no = await refused("not_yours", closed(world, huddle, CODEX))
    assert no.message.startswith(f"{MUSE} or {GROK} closes")
    for who in (GROK, MUSE):
        (line,) = (await world.do(who, "brief"))["brief"]["huddles"]
        assert line["next"] == {"tool": "logmem_note", "args": end}
        assert (await world.do(who, "follow", what=huddle["huddle"], wait=0))["next"]["args"] == end
    assert f"{MUSE} or {GROK} can close it" in (await viewed(world, huddle))["says"]
    await closed(world, huddle)
    seen = await viewed(world, huddle, MUSE)
    assert (seen["status"], seen["says"].split()[0]) == ("closed", GROK)
    no = await refused("already_settled", closed(world, huddle, MUSE))
    assert no.facts["by"] == GROK
    for who in (GROK, MUSE):
        assert "huddles" not in (await world.do(who, "brief"))["brief"]


async def test_each_is_told_what_to_call_next(world: World) -> None:
    """A holder answers, the closer sums up, everybody else waits; the same from the huddle and from a seat."""
    huddle = await opened(world)
    call = {"where": "job:db", "kind": "answer", "answers": seat(huddle), "summary": "…"}
    follow = {"tool": "logmem_follow", "args": {"what": huddle["huddle"]}}
    assert (await viewed(world, huddle, CODEX))["next"] == {"tool": "logmem_note", "args": call}
    assert (await world.do(CODEX, "view", what=seat(huddle)))["next"] == {"tool": "logmem_note", "args": call}
    assert (await viewed(world, huddle, GROK))["next"] == follow
    assert (await world.do(GROK, "view", what=seat(huddle)))["next"] == follow
    await world.pass_time(DAY + 1)
    end = {"where": "job:db", "kind": "synthesis", "answers": huddle["huddle"], "summary": "…"}
    assert (await viewed(world, huddle, GROK))["next"] == {"tool": "logmem_note", "args": end}
    assert (await viewed(world, huddle, CODEX))["next"] == follow


async def test_a_full_huddle_keeps_to_the_budget(world: World) -> None:
    """Twelve long answers: each result within 2,000 tokens in both forms, and what is left out is counted."""
    names = [f"reviewer-{n}" for n in range(12)]
    for name in names:
        await world.agent(name)
    long = "Built v1.4.0 from the release branch; all 2,431 tests pass. " * 16
    huddle = await opened(world, *names, question=long[:1000])
    said = [await answer(world, huddle, f"agent:{name}", summary=long[:900]) for name in names]
    results = [("huddle", huddle), *(("note", answered) for answered in said)]
    for verb in ("view", "follow"):
        args: Result = {"what": huddle["huddle"], **({"wait": 0} if verb == "follow" else {})}
        results.append((verb, await world.do(GROK, verb, **args)))
    results.append(("note", await closed(world, huddle, summary=long[:900])))
    for verb in ("view", "follow"):
        args = {"what": huddle["huddle"], **({"wait": 0, "since": "1-1"} if verb == "follow" else {})}
        results.append((verb, await world.do(GROK, verb, **args)))
    for verb, result in results:
        shown = text(ROWS[verb], result)
        assert tokens(shown) <= 2000, verb
        assert tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))) <= 2000, verb
    seen = await viewed(world, huddle)
    assert len(seen["history"]) + seen["left_out"] == 13
    assert all(seat["entry"] for seat in seen["seats"])
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        assert await invariants.check(admin, world.space) == []


async def test_c53_looking_at_a_huddle_writes_nothing(world: World) -> None:
    """View, follow and Brief of each side leave every key as it was, before its deadline and after."""
    huddle = await opened(world)
    await answer(world, huddle)
    for _ in range(2):
        await world.sign_in("ana")
        before = await world.dump()
        for who in (GROK, CODEX, MUSE, ANA):
            await world.do(who, "view", what=huddle["huddle"])
            await world.do(who, "view", what=seat(huddle))
            await world.do(who, "follow", what=huddle["huddle"], wait=0)
            await world.do(who, "brief")
        assert await world.dump() == before
        await world.pass_time(2 * DAY)


async def test_who_nobody_can_act_as_now_is_warned_of(world: World) -> None:
    """Given a seat, a job or a handoff, an agent whose keys are all revoked or expired is named; no other is."""
    await world.agent("brief", days=1)
    await world.operate("revoke", name="agent:muse")
    both = {"warning": "no_live_key", "keyless": [MUSE, "agent:brief"]}
    assert "warning" not in await opened(world, CODEX, "agent:brief")
    await world.pass_time(DAY + 1)
    huddle = await opened(world, CODEX, MUSE, ANA, closer="brief")
    assert {k: huddle.get(k) for k in both} == both
    assert "nobody can act as these agents now" in text(ROWS["huddle"], huddle)
    one, two = {"job": "one", "title": "Do it"}, {"job": "two"}
    for verb, more, other in (("assign", one, two), ("handoff", {"summary": "Do it"}, {})):
        given: Result = {"to": "muse", **more}
        assert (await world.do(GROK, verb, **given))["keyless"] == [MUSE]
        assert "warning" not in await world.do(GROK, verb, **{**given, **other, "to": "codex"})
    await world.agent("muse")
    assert "warning" not in await opened(world, MUSE)


async def test_a_bare_place_is_the_one_that_is_there(world: World) -> None:
    """A note goes to the job of that id where no channel has it; to the channel where one does, or nothing has."""
    await world.do(GROK, "assign", job="rel", title="Release", to="grok")

    async def noted() -> Result:
        return await world.do(GROK, "note", where="rel", kind="memo", summary="Tagged")

    there = await noted()
    assert (there["entry"]["where"], there["says"].split()[0], "created" in there) == ("job:rel", "job:rel", False)
    await world.do(GROK, "note", where="channel:rel", kind="memo", summary="Both now")
    assert (await noted())["entry"]["where"] == "channel:rel"
    new = await world.do(GROK, "note", where="new", kind="memo", summary="Neither")
    assert (new["entry"]["where"], new["created"]) == ("channel:new", True)
