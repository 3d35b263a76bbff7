"""Jobs: opened, assigned by skill, and taken to their end."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from store.verbs.jobs import LATE_LIMIT
from tests.chaos.checks import sound_world
from tests.contract.handing import handed, seated, stands_in
from tests.contract.test_gate import HOUR, MINUTE, refused
from tests.contract.working import CODEX, GROK, ON, assigned, staged, viewed
from tests.world import Result, World

# C-17: opening


async def test_c17_a_job_is_opened_with_all_that_it_is(world: World) -> None:
    """The result and the view say title, plan, milestones, tracks, skills, assignee, stage, and who opened it."""
    await world.do(CODEX, "bio", profile={"skills": ["SQL", "Front-end work"]})
    given: dict[str, Any] = {"plan": "q3", "milestones": ["Draft", "Ship it"], "tracks": "web"}
    made = await assigned(world, title="Launch the site", to="codex", needs=["front end work", "sql"], **given)
    said = {k: made[k] for k in ("job", "title", "stage", "assignee", "plan", "needs", "created")}
    assert said == {
        "job": "job:launch",
        "title": "Launch the site",
        "stage": "todo",
        "assignee": CODEX,
        "plan": "q3",
        "needs": ["front-end-work", "sql"],
        "created": True,
    }
    who = (await viewed(world, "launch", CODEX))["who"]
    assert (who["title"], who["by"], who["stage"], who["assignee"]) == ("Launch the site", GROK, "todo", CODEX)
    assert (who["milestones"], who["tracks"]) == (["Draft", "Ship it"], ["web"])
    (line,) = (await world.do(CODEX, "brief"))["brief"]["jobs"]
    assert (line["job"], line["title"], line["stage"]) == ("job:launch", "Launch the site", "todo")
    assert line["next"] == {"tool": "logmem_view", "args": {"what": "job:launch"}}


async def test_c17_an_open_job_is_opened_anew_with_a_reason_alone(world: World) -> None:
    """Without one it is refused, saying who has it and in which stage, and nothing is written."""
    await assigned(world, to="codex")
    await staged(world, "launch", "in_progress")
    before = await world.dump()
    no = await refused("job_exists", assigned(world, to="human:bo"))
    assert no.facts == {"job": "job:launch", "stage": "in_progress", "assignee": CODEX}
    assert 'logmem_assign {job: "launch", title, reason}' in no.message
    await refused("job_exists", assigned(world, reason="  "))
    assert await world.dump() == before


async def test_c17_opening_anew_keeps_history_and_what_is_not_given(world: World) -> None:
    """What is given replaces what was; the stage is todo again; the Log has both openings and the reason."""
    await assigned(world, to="codex", plan="q3", milestones=["Draft"], tracks=["web", "mail"])
    await staged(world, "launch", *ON)
    anew = await assigned(world, title="Launch it wider", reason="The board wants more", milestones=["Draft", "Tour"])
    assert (anew["reopened"], anew["was"], anew["stage"]) == (True, "done", "todo")
    assert anew["says"] == "job:launch was done and is opened anew, so it begins at todo."
    seen = await viewed(world, "launch")
    who = seen["who"]
    assert (who["title"], who["stage"], who["assignee"], who["plan"]) == ("Launch it wider", "todo", CODEX, "q3")
    assert (who["milestones"], who["tracks"]) == (["Draft", "Tour"], ["web", "mail"])
    assert [e["kind"] for e in seen["log"]] == ["assigned", "staged", "staged", "staged", "assigned"]
    assert (seen["log"][-1]["why"], seen["log"][0]["summary"]) == ("The board wants more", "Do launch")
    assert [e["summary"] for e in seen["log"][1:4]] == [
        "todo to in_progress",
        "in_progress to review",
        "review to done",
    ]


async def test_c59_a_job_of_a_first_write_is_unopened_and_opened_without_a_reason(world: World) -> None:
    """The first write says that it made the job, and what it may have been meant for; assign then opens it."""
    await assigned(world)
    note = await world.do(GROK, "note", where="job:lunch", kind="memo", summary="a slip")
    assert (note["created"], note["near"]) == (True, ["job:launch"])
    step = await world.do(GROK, "update", job="launhc", summary="another")
    assert (step["created"], step["stage"]) == (True, "unopened")
    assert "job:launch" in step["near"]
    assert step["next"] == {"tool": "logmem_assign", "args": {"job": "launhc", "title": "…"}}
    for job in ("lunch", "launhc"):
        assert (await viewed(world, job))["who"]["stage"] == "unopened"
        no = await refused("invalid_argument", world.do(GROK, "stage", job=job, stage="in_progress"))
        assert f'logmem_assign {{job: "{job}", title, to}}' in no.message
    opened = await assigned(world, "lunch", to="codex")
    assert "created" not in opened
    assert opened["stage"] == "todo"
    assert (await viewed(world, "lunch"))["log_total"] == 2


async def test_c59_a_job_that_is_not_there_is_not_staged(world: World) -> None:
    """The refusal says what was searched and how much may be read there, names near ones, and how to open it."""
    await assigned(world)
    no = await refused("not_found", world.do(GROK, "stage", job="lanch", stage="done"))
    assert no.facts["near"] == ["job:launch"]
    assert no.facts["searched"] == world.space
    assert isinstance(no.facts["readable"], int)
    assert 'logmem_assign {job: "lanch", title}' in no.message


async def test_a_job_may_be_for_oneself_for_a_person_or_for_nobody(world: World) -> None:
    """A bare id means who is here; who is not here is refused with near matches."""
    mine = await assigned(world, "a", to="grok")
    assert mine["next"] == {"tool": "logmem_stage", "args": {"job": "a", "stage": "in_progress"}}
    assert (await assigned(world, "b", to="bo"))["assignee"] == "human:bo"
    assert "assignee" not in await assigned(world, "c")
    no = await refused("unknown_recipient", assigned(world, "d", to="codx"))
    assert no.facts["near"] == [CODEX]
    await refused("malformed_id", assigned(world, "d", to="role:approver"))
    await refused("malformed_id", assigned(world, "d", plan="the big one"))
    await refused("malformed_id", assigned(world, "agent:d"))
    assert (await assigned(world, "e", who="human:ana", to="codex"))["assignee"] == CODEX


# C-18: skills


async def test_c18_an_agent_without_the_skills_is_refused(world: World) -> None:
    """The refusal says which are missing and who has them, and nothing is written; people need none."""
    before = await world.dump()
    no = await refused("skill_missing", assigned(world, to="codex", needs=["SQL", "Front-end"]))
    assert (no.facts["missing"], no.facts["able"]) == (["sql", "front-end"], [])
    assert await world.dump() == before
    await world.do(CODEX, "bio", profile={"skills": ["sql"]})
    await world.do(GROK, "bio", profile={"skills": ["front end", "SQL", "c++"]})
    no = await refused("skill_missing", assigned(world, to="codex", needs=["SQL", "Front-end"]))
    assert (no.facts["missing"], no.facts["able"]) == (["front-end"], [GROK])
    assert "All of sql, front-end have agent:grok." in no.message
    assert (await assigned(world, to="grok", needs=["SQL", "Front-end"]))["assignee"] == GROK
    assert (await assigned(world, "b", to="bo", needs=["SQL"]))["assignee"] == "human:bo"
    assert "assignee" not in await assigned(world, "c", needs=["SQL"])


async def test_c18_skills_are_asked_for_again_when_a_job_changes_hands(world: World) -> None:
    """A handoff to one agent is refused at once; one to a role, to whoever accepts; who learns may accept."""
    await assigned(world, needs="sql")
    await refused("skill_missing", handed(world, CODEX, where="job:launch"))
    await world.do(CODEX, "bio", profile={"role": "builder"})
    item = await handed(world, "role:builder", where="job:launch")
    no = await refused("skill_missing", world.do(CODEX, "accept", item=item["item"]))
    assert (no.facts["who"], no.facts["missing"]) == (CODEX, ["sql"])
    await world.do(CODEX, "bio", profile={"skills": ["SQL"]})
    out = await world.do(CODEX, "accept", item=item["item"])
    assert (out["assignee"], (await viewed(world, "launch"))["who"]["assignee"]) == (CODEX, CODEX)


async def test_c18_who_lost_a_skill_gets_no_job_anew(world: World) -> None:
    """Opening anew with other needs is checked against who has it, and a requeue against whom it is for."""
    await world.do(CODEX, "bio", profile={"skills": ["sql"]})
    await assigned(world, to="codex", needs="sql")
    await refused("skill_missing", assigned(world, needs=["css"], reason="other work"))
    old = await handed(world, CODEX, where="job:launch", deadline="2h")
    await world.pass_time(3 * HOUR)
    await world.do(CODEX, "bio", profile={"skills": []})
    await refused("skill_missing", world.do(GROK, "handoff", requeue=old["item"]))


# C-19: stages


async def test_c19_a_job_goes_through_its_stages(world: World) -> None:
    """On without a reason; what there is no step to is refused with the steps that there are."""
    await assigned(world)
    no = await refused("invalid_argument", world.do(GROK, "stage", job="launch", stage="done"))
    assert no.facts["steps"] == ["in_progress"]
    step = await staged(world, "launch", "in_progress")
    assert (step["was"], step["stage"], step["title"]) == ("todo", "in_progress", "Do launch")
    assert step["next"] == {"tool": "logmem_update", "args": {"job": "launch", "summary": "…"}}
    no = await refused("invalid_argument", world.do(GROK, "stage", job="launch", stage="In progress"))
    assert "is so already" in no.message
    assert (await staged(world, "launch", "review"))["next"]["args"] == {"job": "launch", "stage": "done"}
    assert (await staged(world, "launch", "done"))["stage"] == "done"
    assert [e["kind"] for e in (await viewed(world, "launch"))["log"]] == ["assigned", "staged", "staged", "staged"]


@pytest.mark.parametrize(("way", "back"), [(1, "todo"), (2, "in_progress"), (3, "review"), (3, "in_progress")])
async def test_c19_back_takes_a_reason(world: World, way: int, back: str) -> None:
    """One step back, or from done to in_progress; the reason stands in the Log."""
    await assigned(world, to="codex")
    await staged(world, "launch", *ON[:way])
    no = await refused("reason_required", world.do(GROK, "stage", job="launch", stage=back))
    assert no.facts["argument"] == "reason"
    assert (await world.do(GROK, "stage", job="launch", stage=back, reason="It leaks"))["stage"] == back
    assert (await viewed(world, "launch"))["log"][-1]["why"] == "It leaks"
    assert [line["job"] for line in (await world.do(CODEX, "open"))["jobs"]] == ["job:launch"]


async def test_c19_done_waits_for_what_is_open(world: World) -> None:
    """Handoffs of the job are named with whom they are for and until when; once all are settled it is done."""
    await assigned(world, to="codex")
    await staged(world, "launch", *ON[:2])
    first = await handed(world, "human:bo", where="job:launch", deadline="2h")
    second = await handed(world, "human:ana", where="job:launch", deadline="1h")
    await handed(world, where="job:other")
    no = await refused("open_obligations", world.do(CODEX, "stage", job="launch", stage="done"))
    assert (no.facts["count"], no.facts["job"]) == (2, "job:launch")
    assert no.facts["open"] == [
        {"item": i["item"], "kind": "handoff", "to": i["to"], "from": GROK, "deadline": i["deadline"]}
        for i in (second, first)
    ]
    for item in (first, second):
        assert item["item"] in no.message
    assert [line["item"] for line in (await viewed(world, "launch"))["holds"]] == [second["item"], first["item"]]
    await world.do("human:bo", "accept", item=first["item"])
    await refused("open_obligations", world.do(CODEX, "stage", job="launch", stage="done"))
    await world.do(GROK, "handoff", withdraw=second["item"])
    assert (await world.do(CODEX, "stage", job="launch", stage="done"))["stage"] == "done"
    assert "holds" not in await viewed(world, "launch")


async def test_c19_what_is_past_its_deadline_is_not_open(world: World) -> None:
    """Whether anybody wrote that down or not; to the millisecond of the deadline it is."""
    await assigned(world)
    await staged(world, "launch", *ON[:2])
    await handed(world, "human:bo", where="job:launch", deadline="5m")
    await world.pass_time(4 * MINUTE)
    await refused("open_obligations", staged(world, "launch", "done"))
    await world.pass_time(MINUTE)
    assert (await staged(world, "launch", "done"))["stage"] == "done"


async def test_c19_what_is_late_is_written_down_with_the_step(world: World) -> None:
    """A late handoff is a dead letter as stored, a late seat expired, and neither stands in the job any more."""
    await assigned(world)
    await staged(world, "launch", *ON[:2])
    dead = await handed(world, "human:bo", where="job:launch", deadline="5m")
    huddle = await world.do(GROK, "huddle", where="launch", question="So?", seats=["codex", "ana"], deadline="5m")
    await world.pass_time(HOUR)
    assert len(await stands_in(world, "holds", "job:launch")) == 3
    await staged(world, "launch", "done")
    assert await stands_in(world, "holds", "job:launch") == []
    assert await stands_in(world, "dead", GROK) == [dead["item"]]
    assert {line["status"] for line in (await world.do(GROK, "view", what=huddle["huddle"]))["seats"]} == {"expired"}
    await world.do(GROK, "handoff", withdraw=dead["item"])
    await sound_world(world)


async def test_c19_a_job_is_done_however_much_is_late_in_it(world: World) -> None:
    """Over a thousand late seats, whose deadline nobody can bring back, hold it no longer; one that is open does."""
    await assigned(world)
    await staged(world, "launch", *ON[:2])
    seats = await seated(world, "job:launch", 1001)
    await world.pass_time(HOUR)
    last = await handed(world, "human:bo", where="job:launch")
    no = await refused("open_obligations", staged(world, "launch", "done"))
    assert (no.facts["count"], [line["item"] for line in no.facts["open"]]) == (1, [last["item"]])  # type: ignore[attr-defined]  # facts hold any value
    await world.do("human:bo", "accept", item=last["item"])
    assert (await staged(world, "launch", "done"))["stage"] == "done"
    assert len(await stands_in(world, "holds", "job:launch", limit=2000)) == seats - LATE_LIMIT
    assert "holds" not in await viewed(world, "launch")
    await refused("job_done", handed(world, "human:bo", where="job:launch"))
    await sound_world(world)


async def test_c19_a_seat_keeps_a_job_open(world: World) -> None:
    """It is named as a seat; its answer frees the job."""
    await assigned(world)
    await staged(world, "launch", *ON[:2])
    huddle = await world.do(GROK, "huddle", where="launch", question="Ship today?", seats=["codex"])
    seat = huddle["seats"][0]["item"]
    no = await refused("open_obligations", staged(world, "launch", "done"))
    assert [(line["item"], line["kind"]) for line in no.facts["open"]] == [(seat, "seat")]  # type: ignore[attr-defined]  # facts hold any value
    await world.do(CODEX, "note", where="job:launch", kind="answer", answers=seat, summary="Yes")
    assert (await staged(world, "launch", "done"))["stage"] == "done"


async def test_c19_a_done_job_takes_nothing_more(world: World) -> None:
    """A handoff, a requeue and a huddle are refused with the call that takes the job up again; notes go on."""
    await assigned(world)
    await staged(world, "launch", *ON[:2])
    old = await handed(world, "human:bo", where="job:launch", deadline="5m")
    await world.pass_time(HOUR)
    await staged(world, "launch", "done")
    calls: list[Callable[[], Awaitable[Result]]] = [
        lambda: handed(world, "human:bo", where="job:launch"),
        lambda: world.do(GROK, "handoff", requeue=old["item"]),
        lambda: world.do(GROK, "huddle", where="launch", question="Really?", seats=["codex"]),
    ]
    for call in calls:
        no = await refused("job_done", call())
        assert 'logmem_stage {job: "launch", stage: "in_progress", reason}' in no.message
    await world.do(GROK, "note", where="job:launch", kind="memo", summary="Went well")
    await world.do(GROK, "handoff", to="anyone", text="All is in the drawer", label="launch", where="job:launch")
    await world.do(GROK, "stage", job="launch", stage="in_progress", reason="It came back")
    assert (await handed(world, "human:bo", where="job:launch"))["status"] == "open"
    await sound_world(world)
