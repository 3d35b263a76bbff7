"""The jobs in a browser: the board, one job with all that is open in it, and every step that a person can take."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.console.window import DESK, PHONE, SCREENS, House, Screen, Window
from tests.surfaces.test_console_safety import HOSTILE
from tests.world import Result, World

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]


async def _opened(world: World, job: str = "release", *, stage: str = "todo", **more: str) -> None:
    """A job at a stage."""
    await world.do(
        "human:bo", "assign", **{"job": job, "title": f"The {job}", "to": "agent:codex", "plan": "q4"} | more
    )
    for step in ("in_progress", "review", "done")[: ("todo", "in_progress", "review", "done").index(stage)]:
        await world.do("human:bo", "stage", job=job, stage=step)


async def _job(house: House, job: str = "release") -> Result:
    return await house.world.do("human:ana", "board", job=job)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_jobs_stand_by_stage(house: House, screen: Screen) -> None:
    """Columns on a desk, sections on a phone; each with title, assignee, plan, age and what blocks it."""
    world = house.world
    for stage in ("todo", "in_progress", "review", "done"):
        await _opened(world, f"j-{stage.replace('_', '-')}", stage=stage)
    await world.do("agent:codex", "update", job="j-review", summary="Halfway", blocked="No reviewer")
    await world.do("agent:codex", "note", where="job:loose", kind="memo", summary="x")
    async with house.window(screen=screen) as window:
        page = window.page
        await window.follow("jobs")
        columns = page.locator(".column:has(.row)")
        titles = ['"The j-todo"', '"The j-in-progress"', '"The j-review"', '"The j-done"', "job:loose"]
        await expect(columns.locator(".title")).to_have_text(titles)
        review = columns.nth(2)
        for words in ('Blocked: "No reviewer"', "agent:codex", "q4", "moved just now"):
            await expect(review).to_contain_text(words)
        places = [await columns.nth(n).bounding_box() for n in range(4)]
        tops = {round(place["y"]) for place in places if place}
        assert len(tops) == (1 if screen.name == "desk" else 4)
        assert await page.evaluate("document.documentElement.scrollWidth") == screen.size[0]


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_plan_narrows_the_board(house: House, script: bool) -> None:
    """Only its jobs are shown and counted, also on the page of one stage; all come back."""
    await _opened(house.world, "one", plan="docs")
    await _opened(house.world, "two")
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open("jobs")
        await page.locator("#plan-docs").click()
        await expect(page.locator(".row .title")).to_have_text(['"The one"'])
        await expect(page.locator("#column-todo .count")).to_have_text("1")
        await page.locator("#plan-all").click()
        await expect(page.locator(".row .title")).to_have_count(2)
        await window.open("jobs?plan=Docs%20&stage=todo")
        await expect(page.locator(".row .title")).to_have_text(['"The one"'])
        await window.open("jobs?stage=nonsense")
        await expect(page.locator("#problem")).to_contain_text("stage is one of todo")


async def test_the_board_is_live(house: House) -> None:
    """A job that goes on elsewhere moves to its column, and the focus with it."""
    await _opened(house.world)
    async with house.window() as window:
        page = window.page
        await window.follow("jobs")
        link = page.locator('[id="open-job:release"]')
        await link.focus()
        await house.world.do("agent:codex", "stage", job="release", stage="in_progress")
        await expect(page.locator("#column-in_progress .row")).to_have_count(1)
        await expect(page.locator("#column-todo .row")).to_have_count(0)
        await house.world.do("agent:codex", "update", job="release", summary="x", blocked="No token")
        await expect(page.locator("#column-in_progress")).to_contain_text('Blocked: "No token"')


async def _fold(window: Window, name: str, **typed: str) -> None:
    """Open a form, fill it in and send it."""
    page = window.page
    if await page.locator(f"#{name}").get_attribute("open") is None:
        await page.locator(f"#{name}-open").click()
    for field, text in typed.items():
        await page.locator(f"#{name}-{field}").fill(text)
    if name != "send-back":
        await page.locator(f"#{name}-send").click()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_job_goes_every_way(house: House, screen: Screen, script: bool) -> None:
    """On, back with a reason, a report, blocked and not, handed off and taken back, done, taken up, assigned anew."""
    await _opened(house.world)
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page = window.page
        stage = page.locator(".chips .state").first
        await window.open("jobs")
        await page.locator('[id="open-job:release"]').click()
        await expect(page.locator("h1#what")).to_have_text('"The release"')
        await window.button("Start it").click()
        await expect(stage).to_have_text("In progress")

        await _fold(window, "send-back", reason="Not yet")
        await window.button("Back to to do").click()
        await expect(stage).to_have_text("To do")
        await expect(page.locator(".newest li").first).to_contain_text('Reason: "Not yet"')
        await window.button("Start it").click()
        await expect(stage).to_have_text("In progress")

        await _fold(window, "update", summary="Half of it is there", blocked="No token")
        await expect(page.locator(".now")).to_contain_text('"Half of it is there"')
        await expect(page.locator(".now")).to_contain_text('Blocked: "No token"')
        if await page.locator("#update").get_attribute("open") is None:
            await page.locator("#update-open").click()
        await page.get_by_label("Nothing blocks it any more").check()
        await _fold(window, "update", summary="Got one")
        await expect(page.locator(".now")).to_contain_text('"Got one"')
        await expect(page.locator(".now")).not_to_contain_text("Blocked")

        await _fold(window, "handoff", to="agent:grok", summary="Write the notes")
        held = page.locator("section", has=page.get_by_role("heading", name="Handed over"))
        await expect(held).to_contain_text("Write the notes")
        await window.button("Send it to review").click()
        await expect(stage).to_have_text("In review")
        await expect(page.locator("#decide")).to_contain_text(
            "It can be marked done once what is open in it is settled"
        )
        await expect(window.button("Mark it done")).to_have_count(0)
        await held.get_by_role("button").click()
        await expect(held).to_have_count(0)
        await window.button("Mark it done").click()
        await expect(stage).to_have_text("Done")

        await _fold(window, "send-back", reason="A typo")
        await window.button("Back to in progress").click()
        await expect(stage).to_have_text("In progress")
        await _fold(window, "assign", to="agent:grok", reason="Codex is away")
        await expect(stage).to_have_text("To do")
        await expect(page.locator(".chips")).to_contain_text("agent:grok")
        await expect(page.locator("h1#what")).to_have_text('"The release"')
    assert (await _job(house))["assignee"] == "agent:grok"


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_refusal_stands_at_its_form(house: House, script: bool) -> None:
    """An unknown recipient, and an end that something came in between of: told where it was sent, words kept."""
    await _opened(house.world, stage="review")
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        if script:  # so that the page cannot see what comes in between
            await page.route("**/api/events*", lambda route: route.abort())
        await window.open("job/release")
        await _fold(window, "handoff", to="agent:grock", summary="Write the notes")
        await expect(page.locator("#handoff #refusal")).to_contain_text("Did you mean agent:grok?")
        await expect(page.locator("#handoff-to")).to_have_value("agent:grock")
        await expect(page.locator("#handoff-summary")).to_have_value("Write the notes")
        await house.world.do("agent:codex", "handoff", to="agent:grok", where="job:release", summary="x")
        await window.button("Mark it done").click()
        await expect(page.locator("#refusal")).to_contain_text("job:release has 1 open")
        await expect(page.locator("#decide")).to_contain_text("once what is open in it is settled")
        if script:
            window.complaints.clear()  # of the stream that it did not get
    assert (await _job(house))["stage"] == "review"


async def test_what_comes_meanwhile_leaves_what_i_type(house: House) -> None:
    """A report from elsewhere changes the page; text, line, choice, open form and focus stay as they are."""
    await _opened(house.world)
    async with house.window() as window:
        page = window.page
        await window.follow("job/release")
        await page.locator("#handoff-open").click()
        await page.locator("#handoff-to").fill("agent:grok")
        await page.locator("#handoff-deadline").select_option("7d")
        summary = page.locator("#handoff-summary")
        await summary.fill("Half a thought")
        await summary.press("ArrowLeft")
        await house.world.do("agent:codex", "update", job="release", summary="Something happened")
        await expect(page.locator(".now")).to_contain_text("Something happened")
        await house.world.do("agent:grok", "note", where="job:release", kind="memo", summary="Only in the Log")
        await expect(page.locator(".newest li").first).to_contain_text("Only in the Log")
        await expect(summary).to_be_focused()
        await summary.press("X")
        await expect(summary).to_have_value("Half a thoughXt")
        await expect(page.locator("#handoff-to")).to_have_value("agent:grok")
        await expect(page.locator("#handoff-deadline")).to_have_value("7d")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_huddle_is_read_and_closed(house: House, script: bool) -> None:
    """Its question, who answered what, and once all have, its synthesis by who is to close it."""
    world = house.world
    await _opened(world)
    made = await world.do(
        "agent:codex", "huddle", where="job:release", question="Ship on Friday?", seats=["grok"], closer="human:ana"
    )
    (seat,) = (await world.do("agent:grok", "view", what=made["huddle"]))["seats"]
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open("job/release")
        huddle = page.locator(".huddle")
        await expect(huddle).to_contain_text('"Ship on Friday?"')
        await expect(huddle).to_contain_text("has not answered yet")
        await expect(window.button("Close the huddle")).to_have_count(0)
        await world.do("agent:grok", "note", where="job:release", kind="answer", answers=seat["item"], summary="Yes")
        if not script:
            await page.reload()
        await expect(huddle).to_contain_text('"Yes"')
        await page.get_by_label("Synthesis").fill("We ship")
        await window.button("Close the huddle").click()
        await expect(huddle.get_by_role("heading")).to_have_text("Huddle – closed")
        await expect(huddle).to_contain_text('"We ship"')


async def test_words_for_one_huddle_are_not_taken_for_another(house: House) -> None:
    """Of two in a job that wait for a synthesis each has its own, also when the page is fetched anew."""
    world = house.world
    await _opened(world)
    of: dict[str, Any] = {"where": "job:release", "seats": ["grok"], "closer": "human:ana"}
    made = [await world.do("agent:codex", "huddle", question=question, **of) for question in ("Ship?", "Tell?")]
    for each in made:
        (seat,) = (await world.do("agent:grok", "view", what=each["huddle"]))["seats"]
        await world.do("agent:grok", "note", where="job:release", kind="answer", answers=seat["item"], summary="Yes")
    async with house.window() as window:
        await window.follow("job/release")
        first, second = (window.page.locator(".huddle textarea").nth(n) for n in (0, 1))
        for again in (False, True):
            if again:
                await window.follow("job/release")
            else:
                await second.fill("We tell them")
                await world.do("agent:grok", "note", where="job:release", kind="memo", summary="Ready")
                await expect(window.page.locator(".history.newest")).to_contain_text("Ready")
            await expect(second).to_have_value("We tell them")
            await expect(first).to_have_value("")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_job_is_opened(house: House, script: bool) -> None:
    """With its milestones, by an id of its own or one made from the title; one that is there already is told."""
    await _opened(house.world)
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open("jobs")
        await page.get_by_role("link", name="Open a job").click()
        await page.locator("#job-title").fill("Release")
        await page.get_by_label("Milestones").fill("Notes\n\nTag\n")
        await window.button("Open").click()
        await expect(page.locator("#refusal")).to_contain_text("job:release is there already")
        await expect(page.get_by_label("Milestones")).to_have_value("Notes\n\nTag\n")
        await page.locator("#job-job").fill("release-2")
        await page.locator("#job-to").fill("human:bo")
        await window.button("Open").click()
        await expect(page.locator("h1#what")).to_have_text('"Release"')
        await expect(page.locator(".numbered li")).to_have_text(['"Notes"', '"Tag"'])
        await window.open("job/nothing")
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_what_agents_write_into_a_job_is_only_read(house: House, screen: Screen) -> None:
    """Titles, milestones, reports, handoffs and huddles with hostile text add no element and run nothing."""
    world = house.world
    inside = "e => [...e.querySelectorAll('*:not(bdi, bdi *)')].map(x => x.tagName).join()"
    usual: dict[str, str] = {}
    async with house.window(screen=screen) as window:
        page = window.page
        page.on("dialog", lambda dialog: window.complaints.append(dialog.message))
        for n, text in enumerate(("plain", *HOSTILE, "a" + "\n" * 190)):
            job = f"j{n}"
            await world.do("agent:codex", "assign", job=job, title=text, milestones=[text], tracks=[text], plan=f"p{n}")
            await world.do("agent:codex", "update", job=job, summary=text, blocked=text)
            await world.do("agent:codex", "handoff", to="human:ana", where=f"job:{job}", summary=text)
            await world.do("agent:codex", "huddle", where=f"job:{job}", question=text, seats=["human:ana"])
            for path, part in ((f"jobs?plan=p{n}", "#column-todo"), (f"job/{job}", "article.one")):
                await window.open(path)
                found = await page.locator(part).evaluate(inside)
                assert found == usual.setdefault(part, found), text
                assert "\u202e" not in await page.locator(part).inner_text()
        await window.open("jobs")
        for height in await page.locator(".row").evaluate_all(
            "rows => rows.map(r => r.getBoundingClientRect().height)"
        ):
            assert height < 220


async def test_keys_go_through_the_board(house: House) -> None:
    """Single keys lead to a job, Tab and Enter send its forms, Escape leads back."""
    await _opened(house.world)
    async with house.window() as window:
        page, keys = window.page, window.page.keyboard
        await window.follow("jobs")
        await keys.press("j")
        await keys.press("Enter")
        await expect(page.locator("h1#what")).to_have_text('"The release"')
        await page.locator("#stage-send").focus()
        await keys.press("Enter")
        await expect(page.locator(".chips .state").first).to_have_text("In progress")
        await page.locator("#send-back-open").focus()
        await keys.press("Enter")
        await keys.press("Tab")
        await keys.type("a reason, just so")
        await keys.press("Tab")
        await keys.press("Enter")
        await expect(page.locator(".chips .state").first).to_have_text("To do")
        await keys.press("Escape")
        await expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
