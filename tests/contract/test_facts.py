"""Facts: notes that hold until their review, or until a newer one takes their place."""

from datetime import datetime
from typing import Any

import pytest

from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.handing import race
from tests.contract.test_gate import DAY, HOUR, asked, decided, refused
from tests.surfaces.complete import missing
from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"


async def fact(world: World, who: str = GROK, **more: Any) -> Result:
    """A fact of grok's unless told otherwise."""
    args = {"where": "job:db", "kind": "fact", "summary": "Staging runs Postgres 16"}
    return await world.do(who, "note", **(args | more))


async def viewed(world: World, what: str, who: str = CODEX) -> Result:
    """A fact, or its entry, as somebody sees it."""
    return await world.do(who, "view", what=what)


def days(result: Result) -> float:
    """How long after it was written a fact is to be reviewed."""
    stamp = result["entry"]["at"]
    return (_ms(result["review_by"]) - _ms(stamp)) / DAY


def _ms(at: str) -> float:
    return datetime.fromisoformat(at).timestamp() * 1000


async def test_a_fact_is_a_note_with_an_id_and_a_review(world: World) -> None:
    """The entry carries both, so that every list shows them; it is looked at by either id."""
    out = await fact(world, tags=["db"], why="asked for in the console")
    assert out["fact"].startswith("fa_")
    assert days(out) == pytest.approx(90, abs=0.001)
    entry = out["entry"]
    assert (entry["fact"], entry["review_by"], entry["tags"], entry["why"]) == (
        out["fact"],
        out["review_by"],
        ["db"],
        "asked for in the console",
    )
    seen = await viewed(world, out["fact"])
    assert (seen["status"], seen["entry"], seen["review_by"]) == ("current", entry, out["review_by"])
    assert (await viewed(world, entry["id"]))["status"] == "current"
    log = (await world.do(CODEX, "view", what="job:db"))["log"]
    assert log[-1]["fact"] == out["fact"]


@pytest.mark.parametrize(
    ("review_by", "wanted"), [("1 day", 1), ("30d", 30), ("P2W", 14), ("5 years", None), ("1825 days", 1825)]
)
async def test_a_review_may_be_a_length(world: World, review_by: str, wanted: int | None) -> None:
    """From a day to five years, as lengths are written everywhere."""
    if wanted is None:
        await refused("invalid_argument", fact(world, review_by=review_by))
    else:
        assert days(await fact(world, review_by=review_by)) == pytest.approx(wanted, abs=0.001)


async def test_a_review_may_be_a_time_or_a_day_or_never(world: World) -> None:
    """A day begins at midnight UTC."""
    month = (await fact(world, review_by="30d"))["review_by"]
    assert (await fact(world, review_by=month))["review_by"] == month
    assert (await fact(world, review_by=month[:10]))["review_by"] == f"{month[:10]}T00:00:00.000Z"
    for never in ("never", "Never "):
        out = await fact(world, review_by=never)
        assert (out["review_by"], out["entry"]["review_by"]) == ("never", "never")


@pytest.mark.parametrize("review_by", ["1h", "6000 days", "2020-01-01", "soon", "2026-13-01", 60])
async def test_a_review_has_bounds(world: World, review_by: Any) -> None:
    """Too soon, too late, over or unreadable: named, and nothing is written."""
    before = await world.dump()
    no = await refused("invalid_argument", fact(world, review_by=review_by))
    assert no.facts["argument"] == "review_by"
    assert await world.dump() == before


async def test_a_decision_is_never_reviewed_unless_said(world: World) -> None:
    """A fact whose trail, origin or answers names an ask that was decided; not one that still waits or expired."""
    ask = await asked(world)
    for how in ("trail", "origin", "answers"):
        assert (await fact(world, **{how: ask["trail"]}))["review_by"] != "never"
    await decided(world, ask)
    for how in ("trail", "origin", "answers"):
        assert (await fact(world, **{how: ask["trail"]}))["review_by"] == "never"
    assert days(await fact(world, trail=ask["trail"], review_by="30d")) == pytest.approx(30, abs=0.001)
    late = await asked(world, summary="Too late?", expires_in="1h")
    await world.pass_time(2 * HOUR)
    assert (await fact(world, trail=late["trail"]))["review_by"] != "never"


@pytest.mark.parametrize("argument", ["review_by", "supersedes"])
async def test_only_facts_have_reviews(world: World, argument: str) -> None:
    """With another kind they would be ignored, so they are refused."""
    for kind in ("memo", "synthesis"):
        no = await refused("invalid_argument", fact(world, kind=kind, **{argument: "never"}))
        assert no.facts["argument"] == argument


async def test_c44_superseding_keeps_the_old_one_marked(world: World) -> None:
    """Each names the other; the old text stays to be read; anybody may say what is so now."""
    old = await fact(world)
    new = await fact(world, CODEX, summary="Staging runs Postgres 17", supersedes=old["fact"])
    assert (new["supersedes"], new["entry"]["supersedes"]) == (old["fact"], old["fact"])
    seen = await viewed(world, old["fact"])
    assert (seen["status"], seen["superseded_by"]) == ("superseded", new["fact"])
    assert seen["entry"] == old["entry"]
    assert seen["next"] == {"tool": "logmem_view", "args": {"what": new["fact"]}}
    marked = await viewed(world, old["entry"]["id"])
    assert (marked["status"], marked["superseded_by"]) == ("superseded", new["fact"])
    now = await viewed(world, new["fact"])
    assert (now["status"], now["supersedes"]) == ("current", old["fact"])
    for result in (seen, marked, now):
        assert missing(result, text(ROWS["view"], result)) == []


async def test_c44_a_fact_is_superseded_by_the_id_of_its_entry_too(world: World) -> None:
    """What a list shows of a fact is enough to supersede it."""
    old = await fact(world)
    new = await fact(world, supersedes=old["entry"]["id"])
    assert new["supersedes"] == old["fact"]


async def test_c44_what_was_superseded_is_stale(world: World) -> None:
    """The refusal names the newest, however many there were, by whichever id; nothing is written."""
    chain = [await fact(world)]
    for n in range(4):
        chain.append(await fact(world, summary=f"version {n}", supersedes=chain[-1]["fact"]))
    before = await world.dump()
    for old in chain[:-1]:
        for id in (old["fact"], old["entry"]["id"]):
            no = await refused("stale", fact(world, supersedes=id))
            assert no.facts["newest"] == chain[-1]["fact"]
            assert chain[-1]["fact"] in no.message
        assert (await viewed(world, old["fact"]))["next"]["args"] == {"what": chain[-1]["fact"]}
    assert await world.dump() == before


async def test_c44_of_many_at_once_one_supersedes(world: World) -> None:
    """One is the newest, and the others are told which."""
    old = await fact(world)
    won, lost = await race(*(fact(world, summary=f"version {n}", supersedes=old["fact"]) for n in range(16)))
    assert len(won) == 1
    assert {(no.code, no.facts["newest"]) for no in lost} == {("stale", won[0]["fact"])}


async def test_what_is_no_fact_is_not_superseded(world: World) -> None:
    """Unknown ids are not found; an entry of another kind is named; nothing is written."""
    memo = (await fact(world, kind="memo"))["entry"]["id"]
    before = await world.dump()
    for unknown in ("fa_0000000001", "1-1"):
        await refused("not_found", fact(world, supersedes=unknown))
    no = await refused("invalid_argument", fact(world, supersedes=memo))
    assert "memo" in no.message
    for malformed in ("ci_0000000001", "the old one"):
        await refused("malformed_id", fact(world, supersedes=malformed))
    await refused("not_found", viewed(world, "fa_0000000001"))
    assert await world.dump() == before


async def test_c12_a_repeated_fact_is_one(world: World) -> None:
    """The same action_id makes it once and gives the same answer."""
    args = {"where": "job:db", "kind": "fact", "summary": "So it is", "action_id": "f"}
    one = await world.do(GROK, "note", **args)
    assert await world.do(GROK, "note", **args) == {**one, "replayed": True}


async def test_an_expired_item_is_no_fact(world: World) -> None:
    """Handoffs and seats whose time is over leave nothing that is known: work does not become knowledge by itself."""
    await world.do(GROK, "handoff", to="codex", summary="The sky is green", where="job:db", deadline="1h")
    huddle = await world.do(GROK, "huddle", where="job:db", question="Green?", seats=["codex"], deadline="1h")
    await world.pass_time(2 * HOUR)
    await world.do(CODEX, "start")
    await world.do(
        GROK, "note", where="job:db", kind="synthesis", answers=huddle["huddle"], summary="Nobody said anything"
    )
    await world.do(GROK, "start")
    assert not [key for key in await world.dump() if ":doc:fact:" in key or ":ix:facts:" in key]
    log = (await world.do(GROK, "view", what="job:db"))["log"]
    assert not [entry for entry in log if entry["kind"] == "fact" or "fact" in entry]


async def test_the_brief_has_facts_that_are_due(world: World) -> None:
    """Past its review, to who wrote it, stale, with the call that renews it; until it is superseded."""
    due = await fact(world, review_by="2 days")
    await fact(world, review_by="never")
    await fact(world, CODEX, review_by="3 days")
    assert "facts_due" not in (await world.do(GROK, "brief"))["brief"]
    await world.pass_time(2 * DAY + 1)
    (line,) = (await world.do(GROK, "brief"))["brief"]["facts_due"]
    assert (line["fact"], line["summary"], line["age"], line["stale"]) == (
        due["fact"],
        "Staging runs Postgres 16",
        "2d",
        True,
    )
    args = {"where": "job:db", "kind": "fact", "supersedes": due["fact"]}
    assert line["next"] == {"tool": "logmem_note", "args": {**args, "summary": "…"}}
    seen = await viewed(world, due["fact"])
    assert (seen["status"], seen["stale"], seen["next"]["args"]) == ("due", True, {**args, "summary": "…"})
    assert "facts_due" not in (await world.do(CODEX, "brief"))["brief"]
    await world.do(GROK, "note", **args, summary="Staging still runs Postgres 16")
    assert "facts_due" not in (await world.do(GROK, "brief"))["brief"]


async def test_c53_looking_at_facts_writes_nothing(world: World) -> None:
    """View and Brief leave every key as it was, before a review and after."""
    old = await fact(world, review_by="2 days")
    new = await fact(world, supersedes=old["fact"], review_by="2 days")
    for _ in range(2):
        before = await world.dump()
        for what in (old["fact"], new["fact"], old["entry"]["id"]):
            await viewed(world, what)
        await world.do(GROK, "brief")
        assert await world.dump() == before
        await world.pass_time(3 * DAY)
