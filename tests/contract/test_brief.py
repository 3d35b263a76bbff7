"""The Brief over the real engine: what it finds, what start marks as surfaced, what it costs."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.test_gate import DAY, HOUR, MINUTE, asked, decided, refused
from tests.tokenizer import tokens
from tests.world import Result, World, found, opened

GROK, CODEX = "agent:grok", "agent:codex"


def verdicts(result: Result) -> dict[str, str]:
    """The status of each verdict in a Brief, by trail or item."""
    return {line.get("trail") or line["item"]: line["status"] for line in result["brief"].get("verdicts", ())}


def handoffs(result: Result) -> list[str]:
    """The items in a Brief."""
    return [line["item"] for line in result["handoffs"]]


async def handed(world: World, to: str = "codex", **more: Any) -> str:
    """An item of grok's."""
    item: str = (await world.do(GROK, "handoff", **({"to": to, "summary": "Review it", "where": "job:x"} | more)))[
        "item"
    ]
    return item


async def kinds(world: World, trail: str) -> list[str]:
    """What the Log has on a trail."""
    return [e["kind"] for e in (await world.do(GROK, "view", what=trail))["history"]]


async def test_approvals_stay_until_they_are_used(world: World) -> None:
    """Each start shows an approval with its call; once redeemed it is gone."""
    ask = await asked(world)
    await decided(world, ask)
    for _ in range(2):
        (line,) = (await world.do(GROK, "start"))["brief"]["verdicts"]
        assert (line["status"], line["by"], line["summary"]) == ("approved", "human:ana", "Publish v1?")
        assert line["next"] == {"tool": "logmem_redeem", "args": {"trail": ask["trail"]}}
    await world.do(GROK, "redeem", trail=ask["trail"])
    assert not verdicts(await world.do(GROK, "start"))


async def test_an_approval_that_was_taken_back_is_said_once(world: World) -> None:
    """With who did it and why; after that there is nothing left of it."""
    ask = await asked(world)
    await decided(world, ask)
    await world.do("human:bo", "take_back", trail=ask["trail"], reason="wrong version")
    (line,) = (await world.do(GROK, "start"))["brief"]["verdicts"]
    assert (line["status"], line["by"], line["reason"]) == ("taken_back", "human:bo", "wrong version")
    assert not verdicts(await world.do(GROK, "start"))


async def test_other_verdicts_are_said_until_a_start_has_surfaced_them_once(world: World) -> None:
    """Briefs show a rejection as often as they are asked; the first start is the last to show it."""
    ask = await asked(world)
    await decided(world, ask, "reject", reason="not now")
    for _ in range(2):
        assert verdicts(await world.do(GROK, "brief")) == {ask["trail"]: "rejected"}
    out = await world.do(GROK, "start")
    assert out["brief"]["verdicts"][0]["reason"] == "not now"
    for verb in ("brief", "start"):
        assert not verdicts(await world.do(GROK, verb))


async def test_c12_a_replayed_start_shows_what_the_first_surfaced(world: World) -> None:
    """An answer that was lost is given again with the verdict that it surfaced, and opens no second shift."""
    ask = await asked(world)
    await decided(world, ask, "reject")
    await world.do(GROK, "recap", notes="x")
    first = await world.do(GROK, "start", action_id="s1", budget=700)
    again = await world.do(GROK, "start", action_id="s1", budget=700)
    assert again == {**first, "replayed": True}
    assert verdicts(again) == {ask["trail"]: "rejected"}
    assert not verdicts(await world.do(GROK, "start"))
    await refused("action_conflict", world.do(GROK, "start", action_id="s1", budget=701))


async def test_c12_a_kept_start_holds_no_text(world: World) -> None:
    """What is kept for replays has ids and codes: none of what was asked, said or handed over."""
    await world.do(GROK, "status", doing="SECRET-now")
    await handed(world, "codex", summary="SECRET-item")
    await decided(world, await asked(world, summary="SECRET-ask"), "reject", reason="SECRET-why")
    await world.do(GROK, "start", action_id="s1")
    await world.do(CODEX, "start", action_id="s2")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        names = [n async for n in admin.scan_iter(match=f"lm:{{{world.space}}}:done:*")]
        records = [str(await admin.get(name)) for name in names]
    assert len(records) >= 4
    assert not [r for r in records if "SECRET" in r]


async def test_c28_what_nobody_decided_is_said_once_and_written_down(world: World) -> None:
    """Past its deadline an ask is a verdict, not pending; start writes the expiry into the Log, once."""
    ask = await asked(world, expires_in="10m")
    assert [line["trail"] for line in (await world.do(GROK, "brief"))["pending_asks"]] == [ask["trail"]]
    await world.pass_time(11 * MINUTE)
    before = await world.do(GROK, "brief")
    assert (verdicts(before), before["pending_asks"]) == ({ask["trail"]: "expired"}, [])
    assert "expired" not in await kinds(world, ask["trail"])
    out = await world.do(GROK, "start")
    assert out["brief"]["verdicts"][0]["next"] == {"tool": "logmem_ask", "args": {"again": ask["trail"]}}
    assert not verdicts(await world.do(GROK, "start"))
    assert (await kinds(world, ask["trail"])).count("expired") == 1


async def test_an_approval_that_lapsed_is_said_once(world: World) -> None:
    """It was approved and never used; who approved it is said, and that it can be asked again."""
    ask = await asked(world, valid_for="1h")
    await decided(world, ask)
    await world.pass_time(2 * HOUR)
    (line,) = (await world.do(GROK, "start"))["brief"]["verdicts"]
    assert (line["status"], line["by"], line["age"]) == ("lapsed", "human:ana", "60m")
    assert not verdicts(await world.do(GROK, "start"))
    assert (await kinds(world, ask["trail"])).count("lapsed") == 1


async def test_questions_and_pending_asks_are_two_things(world: World) -> None:
    """An ask that a person asked back about is a question until it is answered; the others just wait."""
    one, two = await asked(world), await asked(world, summary="Delete it?")
    await world.do("human:ana", "ask_back", trail=one["trail"], text="Which account?")
    out = await world.do(GROK, "brief")
    (question,) = out["brief"]["questions"]
    assert (question["trail"], question["question"], question["by"]) == (one["trail"], "Which account?", "human:ana")
    assert [line["trail"] for line in out["pending_asks"]] == [two["trail"]]
    assert question["next"]["tool"] == "logmem_note"
    await world.do(GROK, "note", **{**question["next"]["args"], "summary": "The test one"})
    out = await world.do(GROK, "brief")
    assert "questions" not in out["brief"]
    assert {line["trail"] for line in out["pending_asks"]} == {one["trail"], two["trail"]}


async def test_start_marks_the_items_that_it_shows_and_brief_does_not(world: World) -> None:
    """The sender sees queued, then surfaced: to whom and in which shift; a later start changes nothing."""
    item = await handed(world)
    assert handoffs(await world.do(CODEX, "brief")) == [item]
    assert (await world.do(GROK, "view", what=item))["delivery"] == "queued"
    await world.do(CODEX, "recap", notes="x")
    assert handoffs(await world.do(CODEX, "start")) == [item]
    seen = await world.do(GROK, "view", what=item)
    assert (seen["delivery"], seen["surfaced"]["to"], seen["surfaced"]["shift"]) == ("surfaced", CODEX, 2)
    await world.do(CODEX, "recap", notes="y")
    await world.do(CODEX, "start")
    assert (await world.do(GROK, "view", what=item))["surfaced"]["shift"] == 2


async def test_only_what_fitted_is_surfaced(world: World) -> None:
    """What a small budget left out is counted, stays queued or untold, and comes with the next start."""
    items = [
        await handed(world, summary=f"{n} " + "review the release notes " * 8, deadline=f"{n + 1}h") for n in range(5)
    ]
    ask = await world.do(CODEX, "ask", where="job:x", summary="Publish the release of today to the whole list? " * 4)
    await decided(world, ask, "reject")
    out = await world.do(CODEX, "start", budget=330)
    shown = handoffs(out)
    assert verdicts(out)
    assert 0 < len(shown) < 5
    assert shown == items[: len(shown)]
    assert out["brief"]["left_out"] == 5 - len(shown)
    states = [(await world.do(GROK, "view", what=item))["delivery"] for item in items]
    assert states == ["surfaced"] * len(shown) + ["queued"] * (5 - len(shown))
    tiny = await world.do(CODEX, "ask", where="job:x", summary="Another one? " * 20)
    await decided(world, tiny, "reject")
    assert not verdicts(await world.do(CODEX, "start", budget=100))
    assert verdicts(await world.do(CODEX, "start")) == {tiny["trail"]: "rejected"}


async def test_a_role_s_items_wait_for_all_who_have_it(world: World) -> None:
    """Whoever fills the role finds them, its sender and others do not; who accepts takes them out of all Briefs."""
    await world.agent("muse")
    for who in (CODEX, "agent:muse", GROK):
        await world.do(who, "bio", profile={"role": "QA Lead"})
    item = await handed(world, "role:qa-lead")
    assert [handoffs(await world.do(who, "brief")) for who in (CODEX, "agent:muse", GROK)] == [[item], [item], []]
    assert (await world.do(CODEX, "start"))["handoffs"][0]["to"] == "role:qa-lead"
    await world.do("agent:muse", "accept", item=item)
    assert not handoffs(await world.do(CODEX, "brief"))


async def test_c39_both_sides_are_told_of_a_dead_letter(world: World) -> None:
    """Its sender until it is dealt with, with the call for that; its recipient for three days."""
    item = await handed(world, deadline="1h")
    await world.pass_time(2 * HOUR)
    for _ in range(2):
        (line,) = (await world.do(GROK, "start"))["brief"]["verdicts"]
        assert (line["item"], line["status"], line["to"]) == (item, "dead letter", CODEX)
        assert line["next"] == {"tool": "logmem_handoff", "args": {"requeue": item}}
    (line,) = (await world.do(CODEX, "start"))["handoffs"]
    assert (line["item"], line["status"]) == (item, "expired")
    assert (await world.do(GROK, "view", what=item)).get("surfaced") is None
    await world.pass_time(3 * DAY)
    assert not handoffs(await world.do(CODEX, "brief"))
    await world.do(GROK, "handoff", withdraw=item)
    assert not verdicts(await world.do(GROK, "brief"))


async def test_a_handoff_that_was_declined_is_said_once_with_its_reason(world: World) -> None:
    """Its sender's next start says who declined it and why."""
    item = await handed(world)
    await world.do(CODEX, "accept", item=item, decline=True, reason="not mine")
    (line,) = (await world.do(GROK, "start", action_id="s1"))["brief"]["verdicts"]
    assert (line["item"], line["status"], line["by"], line["reason"]) == (item, "declined", CODEX, "not mine")
    assert verdicts(await world.do(GROK, "start", action_id="s1")) == {item: "declined"}
    assert not verdicts(await world.do(GROK, "start"))
    assert (await world.do(GROK, "view", what=item))["status"] == "declined"


async def test_the_mailbox_is_listed_without_text(world: World) -> None:
    """A note shows its label, who left it and how to read it, until its life ends."""
    note = await world.do(GROK, "handoff", to="anyone", text="SECRET", label="half done", deadline="1h")
    out = await world.do(CODEX, "start")
    (line,) = out["brief"]["mailbox"]
    assert (line["note"], line["label"], line["by"]) == (note["note"], "half done", GROK)
    assert "SECRET" not in json.dumps(out)
    assert (await world.do(CODEX, "view", what=line["next"]["args"]["what"]))["text"] == "SECRET"
    await world.pass_time(61 * MINUTE)
    assert "mailbox" not in (await world.do(CODEX, "brief"))["brief"]


async def test_accepted_jobs_are_listed(world: World) -> None:
    """Whoever accepted the handoff of a job finds it among its jobs."""
    item = await handed(world, where="job:auth")
    await world.do(CODEX, "accept", item=item)
    assert [line["job"] for line in (await world.do(CODEX, "brief"))["brief"]["jobs"]] == ["job:auth"]


async def test_the_brief_of_another_agent_can_be_read(world: World) -> None:
    """`agent` is whose Brief it is; one that is not here is refused, with who may have been meant."""
    item = await handed(world)
    out = await world.do(GROK, "brief", agent="codex")
    assert (out["caller"], out["agent"], handoffs(out)) == (GROK, CODEX, [item])
    assert handoffs(await world.do("human:ana", "brief", agent="agent:codex")) == [item]
    little = await world.do(GROK, "brief", agent="codex", budget=120)
    assert text(ROWS["brief"], little).endswith('left out -> logmem_brief {"agent":"agent:codex","budget":8000}')
    no = await refused("not_found", world.do(GROK, "brief", agent="codx"))
    assert CODEX in no.message
    await refused("malformed_id", world.do(GROK, "brief", agent="job:x"))


async def test_a_delta_has_what_changed_since(world: World) -> None:
    """Since a time in ISO or ms, or a while ago; its own `at` is what to give the next time."""
    old = await handed(world)
    await world.pass_time(2 * HOUR)
    new = await handed(world)
    out = await world.do(CODEX, "brief", since="1h")
    assert handoffs(out) == [new]
    assert "who" not in out
    assert handoffs(await world.do(CODEX, "brief", since="3h")) == [old, new]
    written = int((await world.do(CODEX, "view", what=new))["history"][0]["id"].partition("-")[0])
    for since in (written, str(written), out["since"]):
        assert handoffs(await world.do(CODEX, "brief", since=since)) == [new]
    await world.pass_time(1)
    for since in (written + 1, (await world.do(CODEX, "brief", since="1s"))["at"]):
        assert "handoffs" not in await world.do(CODEX, "brief", since=since)


@pytest.mark.parametrize("since", ["yesterday", "2999-01-01T00:00:00Z", "", 99_999_999_999_999])
async def test_a_since_that_is_no_time_gone_by_is_refused(world: World, since: Any) -> None:
    """What cannot be read, or lies ahead, is refused; none at all is the whole Brief."""
    if since == "":
        assert "who" in await world.do(CODEX, "brief", since=since)
    else:
        await refused("invalid_argument", world.do(CODEX, "brief", since=since))


async def busy(world: World, lines: int = 4) -> None:
    """Something of everything for codex."""
    await world.do(CODEX, "bio", profile={"name": "Codex", "role": "Security & Verification Lead"})
    await world.do(CODEX, "status", doing="Reviewing PR backlog")
    await world.do(CODEX, "recap", notes="Shipped PR 134.", next=["Review auth flow", "Close PRs"])
    for n in range(lines):
        await handed(world, summary=f"Review PR {n} for token leaks")
        await world.do(GROK, "handoff", to="anyone", text="t", label=f"note {n}")
        ask = await world.do(CODEX, "ask", where="job:x", summary=f"Publish v{n}?")
        await decided(world, ask, ("approve", "reject")[n % 2])
        await world.do(CODEX, "ask", where="job:x", summary=f"Delete v{n}?")


def price(verb: str, result: Mapping[str, Any]) -> int:
    """What an agent pays for an answer, whichever of its two forms its client shows."""
    structure = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return max(tokens(structure), tokens(text(ROWS[verb], dict(result))))


@pytest.mark.parametrize("budget", [100, 200, 400, 800, 8000])
async def test_c15_the_answer_as_it_comes_keeps_to_the_budget(world: World, budget: int) -> None:
    """Whole answers of start and brief, as text and as structure; what was left out is counted and said."""
    await busy(world, 6)
    for verb in ("brief", "start"):
        out = await world.do(CODEX, verb, budget=budget)
        assert price(verb, out) <= budget
        assert bool(out["brief"].get("left_out")) == (budget < 8000)
        assert ("left out" in text(ROWS[verb], out)) == (budget < 8000)


async def test_c15_an_empty_delta_is_small(world: World) -> None:
    """At most 150 tokens when nothing is new."""
    await busy(world)
    await world.pass_time(HOUR)
    assert price("brief", await world.do(CODEX, "brief", since="30m")) <= 150


@pytest.mark.parametrize("budget", [99, 8001])
async def test_c15_a_budget_has_bounds(world: World, budget: int) -> None:
    """Outside of them start is refused and opens no shift."""
    for verb in ("brief", "start"):
        await refused("invalid_argument", world.do(CODEX, verb, budget=budget))
    assert (await world.do(CODEX, "start"))["started"]["shift"] == 1


async def test_c15_what_was_not_read_is_counted_too(world: World) -> None:
    """Of thirty items twenty are read; those beyond count as left out."""
    await asyncio.gather(*(handed(world, summary=f"item {n}") for n in range(30)))
    out = await world.do(CODEX, "brief", budget=8000)
    assert len(out["handoffs"]) == 20
    assert out["brief"]["left_out"] == 10


async def test_the_dead_never_crowd_out_the_living(world: World) -> None:
    """However much has expired, what can still be done is there."""
    await asyncio.gather(*(handed(world, deadline="1h", summary=f"dead {n}") for n in range(25)))
    await world.pass_time(2 * HOUR)
    item, ask = await handed(world), await world.do(CODEX, "ask", where="job:x", summary="Live?")
    out = await world.do(CODEX, "brief", budget=8000)
    assert handoffs(out)[0] == item
    assert [line["trail"] for line in out["pending_asks"]] == [ask["trail"]]


async def test_c53_a_brief_writes_nothing(world: World) -> None:
    """Every key of the space is the same before and after, for one's own Brief, another's, and a delta."""
    await busy(world, 2)
    await world.do(CODEX, "brief")
    before = await world.dump()
    for args in ({}, {"agent": "grok"}, {"since": "1h"}, {"budget": 100}):
        await world.do(CODEX, "brief", **args)
    assert await world.dump() == before


async def spent(world: World, verb: str) -> tuple[Counter[str], int]:
    """The commands that one call takes in the store, and in how many pieces they come: what others do only adds."""
    return min([await counted(world, verb) for _ in range(5)], key=lambda call: (call[0].total(), call[1]))


async def counted(world: World, verb: str) -> tuple[Counter[str], int]:
    """What the store counted while one call was made."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:

        async def stand() -> tuple[Counter[str], int]:
            commands = {k: v["calls"] for k, v in (await admin.info("commandstats")).items()}
            return Counter(commands), int((await admin.info("stats"))["total_reads_processed"])

        before, reads = await stand()
        await world.do(CODEX, verb)
        after, more = await stand()
    return after - before, more - reads


async def test_c16_the_cost_does_not_grow_with_the_log(engine: Embedded) -> None:
    """At 10 and at 3,000 entries a start and a Brief take the same commands in the same number of round trips."""
    store = opened(engine)
    try:
        world = await found(engine, store)
        await world.human("ana", "owner")
        for name in ("grok", "codex"):
            await world.agent(name)
        await busy(world)
        await world.do(CODEX, "start")
        small = {verb: await spent(world, verb) for verb in ("start", "brief")}
        for some in range(30):
            await asyncio.gather(
                *(
                    world.do(
                        (CODEX, GROK)[n % 2], "note", where=("job:x", CODEX)[n % 3 == 0], kind="memo", summary=f"{n}"
                    )
                    for n in range(some * 100, some * 100 + 100)
                )
            )
        large = {verb: await spent(world, verb) for verb in ("start", "brief")}
    finally:
        await store.close()
    assert large == small
    for verb, trips in (("start", 5), ("brief", 4)):
        commands, reads = small[verb]
        assert reads <= trips + 2  # and two for looking at the counts
        assert not {"cmdstat_lrange", "cmdstat_xrange", "cmdstat_scan", "cmdstat_keys"} & commands.keys()
