"""Jobs in lists: whose, of which plan, in which stage, and page by page; a view is as small."""

from typing import Any

from tests.chaos.checks import sound_world
from tests.contract.handing import handed
from tests.contract.test_gate import DAY, refused
from tests.contract.working import CODEX, GROK, ON, assigned, small, staged, viewed
from tests.world import Result, World


async def walked(world: World, verb: str, who: str = GROK, *, cursor: str = "", **args: Any) -> list[list[Result]]:
    """All pages of a list, or those from a cursor on."""
    pages: list[list[Result]] = []
    for _ in range(100):
        result = await world.do(who, verb, **args, **({"cursor": cursor} if cursor else {}))
        small(verb, result)
        pages.append(result["jobs"])
        cursor = result.get("cursor", "")
        if not cursor:
            return pages
    raise AssertionError("a list without end")


async def test_open_lists_what_somebody_has_or_a_plan_has(world: World) -> None:
    """The caller's own unless said; jobs that are done are not among them."""
    await assigned(world, "a", to="codex", plan="q3", title="First")
    await assigned(world, "b", to="codex")
    await assigned(world, "c", to="bo", plan="q3")
    await assigned(world, "d", to="codex", plan="q3")
    await staged(world, "a", "in_progress")
    await staged(world, "d", *ON)
    assert [line["job"] for line in (await world.do(CODEX, "open"))["jobs"]] == ["job:a", "job:b"]
    assert [line["job"] for line in (await world.do(GROK, "open", plan="q3"))["jobs"]] == ["job:c", "job:a"]
    assert [line["job"] for line in (await world.do(GROK, "open", agent="bo"))["jobs"]] == ["job:c"]
    both = await world.do(GROK, "open", agent="codex", plan="q3")
    assert both["jobs"] == [
        {"job": "job:a", "title": "First", "stage": "in_progress", "assignee": CODEX, "plan": "q3", "age": "now"}
    ]
    await refused("not_found", world.do(GROK, "open", agent="nobody"))


async def test_jobs_lists_all_by_stage(world: World) -> None:
    """todo, in_progress, review, done, then unopened ones; a stage or a plan narrows it."""
    for job, way in (("a", 3), ("b", 0), ("c", 2), ("d", 1), ("e", 0)):
        await assigned(world, job, plan="q3" if job in "ad" else "")
        await staged(world, job, *ON[:way])
    await world.do(GROK, "note", where="job:f", kind="memo", summary="here")
    listed = await world.do(CODEX, "jobs")
    assert [line["job"].partition(":")[2] for line in listed["jobs"]] == ["b", "e", "d", "c", "a", "f"]
    assert [line["stage"] for line in listed["jobs"]][-2:] == ["done", "unopened"]
    assert listed["total"] == 6
    assert [line["job"] for line in (await world.do(CODEX, "jobs", stage="todo"))["jobs"]] == ["job:b", "job:e"]
    assert [line["job"] for line in (await world.do(CODEX, "jobs", plan="q3"))["jobs"]] == ["job:d", "job:a"]
    assert [line["job"] for line in (await world.do(CODEX, "jobs", plan="q3", stage="Done"))["jobs"]] == ["job:a"]
    await refused("invalid_argument", world.do(CODEX, "jobs", stage="later"))


async def test_a_list_that_finds_nothing_says_what_was_searched(world: World) -> None:
    """And how many entries the caller may read there, and which call opens a job."""
    for verb, args, what in (
        ("open", {}, "open jobs of agent:grok"),
        ("open", {"plan": "q3", "agent": "bo"}, "open jobs of human:bo in plan q3"),
        ("jobs", {"stage": "review", "plan": "q3"}, "jobs in stage review in plan q3"),
        ("jobs", {}, "jobs"),
    ):
        result = await world.do(GROK, verb, **args)
        assert (result["jobs"], result["searched"]) == ([], world.space)
        assert result["readable"] > 0
        assert result["says"].startswith(f"There are no {what} in {world.space}, ")
        assert "logmem_assign {job, title, to}" in result["says"]


async def test_what_somebody_has_in_a_plan_is_one_list(world: World) -> None:
    """Counted, and begun at the first of it, however many others the plan has and however many they have besides."""
    for n in range(60):
        await assigned(world, f"theirs-{n}", to="bo", plan="q3")
        await assigned(world, f"other-{n}", to="codex")
    for job in ("first", "last"):
        await assigned(world, job, to="codex", plan="q3")
    listed = await world.do(GROK, "open", agent="codex", plan="q3")
    assert ([line["job"] for line in listed["jobs"]], listed["total"]) == (["job:first", "job:last"], 2)
    await staged(world, "first", *ON)
    await assigned(world, "last", plan="q4", reason="Later")
    assert (await world.do(GROK, "open", agent="codex", plan="q3"))["jobs"] == []
    await sound_world(world)


async def test_a_page_of_which_nothing_is_left_says_what_was_searched(world: World) -> None:
    """All that came after the cursor is done by now."""
    for n in range(60):
        await assigned(world, f"j{n:03}", to="codex", title="x" * 150)
    first = await world.do(CODEX, "open")
    for n in range(len(first["jobs"]), 60):
        await staged(world, f"j{n:03}", *ON)
    rest = await world.do(CODEX, "open", cursor=first["cursor"])
    assert (rest["jobs"], rest["searched"], "cursor" in rest) == ([], world.space, False)
    assert rest["says"].startswith(f"There are no more open jobs of agent:codex in {world.space}, of which you may ")


async def test_a_view_of_a_place_says_where_the_rest_of_its_log_is(world: World) -> None:
    """Of a job, a channel and a principal alike; where all of it is shown, nothing more is to be called."""
    for place in ("job:a", "channel:a", CODEX):
        await world.do(GROK, "note", where=place, kind="memo", summary="0")
        seen = await world.do(GROK, "view", what=place)
        assert "next" not in seen
        for n in range(1, 12):
            await world.do(GROK, "note", where=place, kind="memo", summary=f"{n}")
        seen = await world.do(GROK, "view", what=place)
        assert len(seen["log"]) < seen["log_total"]
        assert seen["next"] == {"tool": "logmem_feed", "args": {"where": place}}
        small("view", seen)
        more = await world.do(GROK, "feed", **seen["next"]["args"])
        assert len(more["entries"]) == seen["log_total"]


async def test_a_view_of_a_bare_id_names_the_places_that_are_there(world: World) -> None:
    """Which of them was meant it cannot know; one that is nearly there is named too, and else the forms of ids."""
    await assigned(world, "j")
    await world.do(GROK, "note", where="channel:j", kind="memo", summary="here")
    no = await refused("malformed_id", world.do(GROK, "view", what="j"))
    assert no.facts == {"argument": "what", "near": ["channel:j", "job:j"]}
    assert no.message.endswith('Did you mean channel:j, job:j? logmem_view {what: "channel:j"}')
    assert (await refused("malformed_id", world.do(GROK, "view", what="ana"))).facts["near"] == ["human:ana"]
    assert (await refused("malformed_id", world.do(GROK, "view", what="codx"))).facts["near"] == [CODEX]
    for nothing in ("zzzzzz", "No such thing", ""):
        no = await refused("malformed_id", world.do(GROK, "view", what=nothing))
        assert "ci_ and 10 characters" in no.message
        assert "near" not in no.facts


async def test_lists_page_by_cursor(world: World) -> None:
    """Every job is on one page, in order, however long the names and titles; each page has room in a result."""
    names = [f"job-{'k7' * 25}-{n}" for n in range(60)]
    for n, name in enumerate(names):
        await assigned(world, name, to="codex", plan="q" * 60, title=("\u4e2d\u6587\u2728" * 60, "Short")[n % 2])
        await staged(world, name, *ON[: n % 3])
    for verb, who, args in (("jobs", GROK, {}), ("open", CODEX, {}), ("open", GROK, {"plan": "q" * 60})):
        pages = await walked(world, verb, who, **args)
        seen = [line["job"].partition(":")[2] for page in pages for line in page]
        assert sorted(seen) == sorted(names)
        assert len(pages) > 1
        if verb == "jobs":
            order = [line["stage"] for page in pages for line in page]
            assert order == sorted(order, key=("todo", "in_progress", "review").index)


async def test_a_page_goes_on_where_it_was_though_jobs_come_and_go(world: World) -> None:
    """What the cursor names, and others before it, leave the list; nothing else is left out or said twice."""
    for n in range(80):
        await assigned(world, f"j{n:03}", to="codex")
    first = await world.do(CODEX, "open")
    read = [line["job"] for line in first["jobs"]]
    for job in (read[-1], read[0], read[3]):  # done, so that they are in the list no more
        await staged(world, job.partition(":")[2], *ON)
    await assigned(world, "new", to="codex")
    rest = await walked(world, "open", CODEX, cursor=first["cursor"])
    later = [line["job"] for page in rest for line in page]
    assert sorted(read + later) == [*(f"job:j{n:03}" for n in range(80)), "job:new"]


async def test_a_cursor_of_something_else_is_refused(world: World) -> None:
    """Cut, changed, invented, or of another list."""
    for n in range(60):
        await assigned(world, f"j{n:03}", to="codex", title="x" * 150)
    cursor = (await world.do(CODEX, "open"))["cursor"]
    for bad in ("x", cursor[:-4], cursor[1:], f"{cursor}AA", "\u4e2d" * 10, cursor.swapcase(), "0" * 500):
        no = await refused("invalid_argument", world.do(CODEX, "open", cursor=bad))
        assert no.facts["argument"] == "cursor"
    await refused("invalid_argument", world.do(CODEX, "jobs", cursor=cursor))
    await refused("invalid_argument", world.do(GROK, "open", cursor=cursor))


async def test_a_view_of_a_job_is_small_however_much_there_is(world: World) -> None:
    """Long texts are cut, lists say how much they leave out, and the entry that has all of it is named."""
    long = "\u4e2d\u6587\u2728" * 60
    needs = [f"{n}{long}"[:60] for n in range(10)]
    given: dict[str, Any] = {"milestones": [long] * 20, "tracks": [long] * 10, "needs": needs, "plan": "p" * 63}
    job = "k7" * 31
    small("assign", await assigned(world, job, title=long, **given))
    await world.do(GROK, "update", job=job, summary=long, doing=long * 5, blocked=long * 5, waiting_on=long)
    for n in range(8):
        await handed(world, "human:bo", where=f"job:{job}", summary=f"{n} {long}")
    seen = await viewed(world, job)
    small("view", seen)
    assert seen["holds_left_out"] == 3
    who = seen["who"]
    assert len(who["milestones"]) + who["milestones_left_out"] == 20
    whole = await world.do(GROK, "view", what=who["opened"])
    assert whole["entry"]["payload"]["milestones"] == given["milestones"]
    await world.pass_time(2 * DAY)
    assert "holds" not in await viewed(world, job)
