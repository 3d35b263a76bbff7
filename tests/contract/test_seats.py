"""Seats of huddles: answered once, by their holder, in time; declined or taken back; never handoffs."""

import pytest

from tests.contract.handing import race, stands_in
from tests.contract.huddling import ANA, CODEX, GROK, MUSE, answer, closed, opened, seat, viewed
from tests.contract.test_gate import HOUR, refused
from tests.world import Result, World


@pytest.fixture
async def world(world: World) -> World:
    """The fleet with one agent more."""
    await world.agent("muse")
    return world


@pytest.mark.parametrize("kind", ["answer", "memo", "fix", "problem", "progress", "stuck", "fact"])
async def test_c40_a_note_answers_a_seat(world: World, kind: str) -> None:
    """Of any kind that says something; the answer stands on the job and on the huddle's trail."""
    huddle = await opened(world)
    said = await answer(world, huddle, kind=kind, where="db")
    assert (said["status"], said["item"], said["huddle"]) == ("answered", seat(huddle), huddle["huddle"])
    assert (said["entry"]["where"], said["entry"]["trail"]) == ("job:db", huddle["huddle"])
    seen = await viewed(world, huddle)
    assert seen["seats"][0] == {"item": seat(huddle), "to": CODEX, "status": "answered", "entry": said["entry"]["id"]}
    assert [e["id"] for e in seen["history"]] == [said["entry"]["id"]]
    for index, owner in (("open", CODEX), ("holds", "job:db"), ("due", "")):
        assert seat(huddle) not in await stands_in(world, index, owner)
    one = await world.do(GROK, "view", what=seat(huddle))
    assert (one["status"], one["huddle"], one["by"], one["summary"]) == (
        "answered",
        huddle["huddle"],
        CODEX,
        "Postgres or SQLite?",
    )
    assert one["history"][-1]["id"] == said["entry"]["id"]


async def test_c40_of_64_answers_at_once_one_wins(world: World) -> None:
    """One stands; every other is told who answered and when, and nothing of theirs is written."""
    huddle = await opened(world)
    won, lost = await race(*(answer(world, huddle, summary=f"answer {n}") for n in range(64)))
    assert len(won) == 1
    assert {(no.code, no.facts["by"], no.facts["entry"]) for no in lost} == {
        ("already_settled", CODEX, won[0]["entry"]["id"])
    }
    assert all(f"{CODEX} answered {seat(huddle)} " in no.message and no.facts["at"] for no in lost)
    assert [e["id"] for e in (await viewed(world, huddle))["history"]] == [won[0]["entry"]["id"]]


async def test_c40_answering_and_declining_at_once_settle_it_once(world: World) -> None:
    """Whichever comes first stands, and the other is told."""
    huddle = await opened(world)
    decline = world.do(CODEX, "accept", item=seat(huddle), decline=True, reason="no idea")
    won, lost = await race(answer(world, huddle), decline, world.do(GROK, "handoff", withdraw=seat(huddle)))
    assert len(won) == 1
    assert {no.code for no in lost} == {"already_settled"}
    assert {no.facts["status"] for no in lost} == {won[0]["status"]}


async def test_c40_a_seat_is_not_answered_past_its_deadline(world: World) -> None:
    """Nobody wrote it down, and the answer comes too late; the refusal says where what is still to be said goes."""
    huddle = await opened(world, deadline="2h")
    await world.pass_time(2 * HOUR + 1)
    before = await world.dump()
    no = await refused("expired", answer(world, huddle))
    assert f'trail: "{huddle["huddle"]}"' in no.message
    assert "requeue" not in no.message
    assert await world.dump() == before
    said = {"where": "job:db", "kind": "memo", "trail": huddle["huddle"], "summary": "Sorry, I was away"}
    entry = (await world.do(CODEX, "note", **said))["entry"]
    assert [e["id"] for e in (await viewed(world, huddle))["history"]] == [entry["id"]]


async def test_c41_only_its_holder_answers_a_seat(world: World) -> None:
    """Neither another holder nor who opened the huddle, whatever its state; the refusal says whose it is."""
    huddle = await opened(world)
    mine = {"where": "job:db", "kind": "answer", "answers": seat(huddle), "summary": "mine now"}
    for settled in (False, True):
        if settled:
            await answer(world, huddle)
        for who in (MUSE, GROK, ANA):
            no = await refused("not_yours", world.do(who, "note", **mine))
            assert no.facts["to"] == CODEX
            await refused("not_yours", world.do(who, "accept", item=seat(huddle), decline=True, reason="no"))
    assert [e["by"] for e in (await viewed(world, huddle))["history"]] == [CODEX]


async def test_c41_a_seat_may_be_ones_own(world: World) -> None:
    """Who asks may hold a seat too, and answers it like any other."""
    huddle = await opened(world, GROK, CODEX)
    said = await answer(world, huddle, GROK)
    assert said["status"] == "answered"


async def test_a_person_holds_a_seat(world: World) -> None:
    """It waits in their inbox, they answer it, and they may close too."""
    huddle = await opened(world, ANA, closer="bo")
    assert huddle["closer"] == "human:bo"
    (line,) = (await world.do(ANA, "inbox"))["handed"]
    assert (line["trail"], line["summary"]) == (seat(huddle, ANA), "Postgres or SQLite?")
    await answer(world, huddle, ANA)
    assert (await world.do(ANA, "inbox"))["handed"] == []
    assert (await closed(world, huddle, "human:bo"))["status"] == "closed"


async def test_a_seat_is_declined_with_a_reason(world: World) -> None:
    """Its holder may turn it down; accepting it is no answer, and the refusal has the call that is."""
    huddle = await opened(world)
    before = await world.dump()
    no = await refused("invalid_argument", world.do(CODEX, "accept", item=seat(huddle)))
    assert f'logmem_note {{where: "job:db", kind: "answer", answers: "{seat(huddle)}", summary}}' in no.message
    assert await world.dump() == before
    await refused("reason_required", world.do(CODEX, "accept", item=seat(huddle), decline=True))
    out = await world.do(CODEX, "accept", item=seat(huddle), decline=True, reason="I know neither")
    assert (out["status"], out["huddle"]) == ("declined", huddle["huddle"])
    assert (out["entry"]["summary"], out["entry"]["trail"]) == ("I know neither", huddle["huddle"])
    assert [e["summary"] for e in (await viewed(world, huddle))["history"]] == ["I know neither"]
    # The closer sees it in the huddle; it is no refusal of a handoff.
    assert "verdicts" not in (await world.do(GROK, "brief"))["brief"]


async def test_a_seat_is_no_dead_letter(world: World) -> None:
    """Who opened the huddle takes an open seat back; an expired one is neither requeued nor put away."""
    huddle = await opened(world, deadline="2h")
    out = await world.do(GROK, "handoff", withdraw=seat(huddle, MUSE))
    assert (out["status"], out["huddle"]) == ("withdrawn", huddle["huddle"])
    no = await refused("invalid_argument", world.do(GROK, "handoff", requeue=seat(huddle)))
    assert "logmem_huddle {" in no.message
    await world.pass_time(3 * HOUR)
    await refused("invalid_argument", world.do(GROK, "handoff", requeue=seat(huddle)))
    await refused("expired", world.do(GROK, "handoff", withdraw=seat(huddle)))
    brief = await world.do(GROK, "brief")
    assert "verdicts" not in brief["brief"]
    assert (await world.do(CODEX, "brief"))["handoffs"] == []
    for index, owner in (("dead", GROK), ("missed", CODEX), ("sent", GROK)):
        assert await stands_in(world, index, owner) == []


@pytest.mark.parametrize("kind", ["answer", "memo", "question"])
async def test_only_a_synthesis_answers_the_whole(world: World, kind: str) -> None:
    """Another note is refused: a holder is told their seat, everybody else the trail."""
    huddle = await opened(world)
    no = await refused("invalid_argument", closed(world, huddle, CODEX, kind=kind))
    assert no.facts["item"] == seat(huddle)
    no = await refused("invalid_argument", closed(world, huddle, ANA, kind=kind))
    assert f'trail: "{huddle["huddle"]}"' in no.message


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"kind": "question"}, "kind"),
        ({"kind": "synthesis"}, "kind"),
        ({"where": "job:other"}, "where"),
        ({"where": "channel:db"}, "where"),
        ({"trail": "elsewhere"}, "trail"),
    ],
)
async def test_what_is_no_answer_is_refused(world: World, more: Result, argument: str) -> None:
    """A question would use the seat up; elsewhere nobody would look for it. Nothing is written."""
    huddle = await opened(world)
    before = await world.dump()
    no = await refused("invalid_argument", answer(world, huddle, **more))
    assert no.facts["argument"] == argument
    assert await world.dump() == before
    assert (await answer(world, huddle, trail=huddle["huddle"]))["status"] == "answered"


async def test_a_handoff_is_not_answered_by_a_note(world: World) -> None:
    """The refusal names what settles it; a label of one's own may stand in answers as ever."""
    item = (await world.do(GROK, "handoff", to="codex", summary="Do it", where="job:db"))["item"]
    args = {"where": "job:db", "kind": "answer", "summary": "done"}
    no = await refused("invalid_argument", world.do(CODEX, "note", answers=item, **args))
    assert f'logmem_accept {{item: "{item}"}}' in no.message
    entry = (await world.do(CODEX, "note", answers="RFC 7", **args))["entry"]
    assert entry["answers"] == "RFC 7"
    for unknown in ("ci_0000000001", "hd_0000000001"):
        await refused("not_found", world.do(CODEX, "note", answers=unknown, **{**args, "kind": "synthesis"}))
        await refused("not_found", world.do(CODEX, "view", what=unknown))
        await refused("not_found", world.do(CODEX, "follow", what=unknown, wait=0))
