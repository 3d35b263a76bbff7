"""The fleet in a browser: who needs a look first, one of them with their slots, and what a person can give them."""

import pytest
from playwright.async_api import expect

from tests.console.window import DESK, PHONE, SCREENS, House, Screen
from tests.surfaces.test_console_safety import HOSTILE
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

MINUTE = 60_000
SCRIPTS = [True, False]
ORDER = "rows => rows.map(row => row.id)"


async def _at_work(world: World) -> None:
    """Grok is blocked, scout stale, codex at work, muse has ended its shift."""
    for name in ("muse", "scout"):
        await world.agent(name)
    await world.do("agent:muse", "recap", notes="Drew three headlines")
    await world.do("agent:scout", "status", doing="Watching the error rate", where="job:release")
    await world.do("agent:grok", "status", doing="Testing the upgrade", blocked="No token", waiting_on="bo")
    await world.pass_time(40 * MINUTE)
    await world.do("agent:scout", "note", where="channel:general", kind="memo", summary="flat")
    await world.do("agent:codex", "status", doing="Writing the release notes")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_who_needs_a_look_stands_first(house: House, screen: Screen) -> None:
    """Blocked, stale, at work, idle; each with what they do, what blocks them, how old that is and what they owe."""
    await _at_work(house.world)
    await house.world.do("agent:codex", "handoff", to="agent:grok", where="job:release", summary="Look at this")
    await house.asked()
    async with house.window(screen=screen) as window:
        page = window.page
        await window.follow("fleet")
        order = await page.locator("#fleet .row").evaluate_all(ORDER)
        assert order[:3] == ["row-agent:grok", "row-agent:scout", "row-agent:codex"]
        assert order[-1] == "row-agent:muse"
        assert {"row-human:ana", "row-human:bo"} <= set(order[3:-1])
        grok = page.locator('[id="row-agent:grok"]')
        for words in ('Blocked: "No token"', '"Testing the upgrade"', 'Waiting on "bo"', "said 40 min ago"):
            await expect(grok).to_contain_text(words)
        await expect(grok).to_contain_text("1 handoff or seat")
        await expect(grok).to_contain_text("1 ask pending")
        await expect(page.locator('[id="row-agent:scout"] .state')).to_have_text("Stale")
        await expect(page.locator(".group.look .count")).to_have_text("2")
        assert await page.evaluate("document.documentElement.scrollWidth") == screen.size[0]
        await expect(page.get_by_text("Simulated space: its clock can be moved")).to_be_visible()


async def test_the_fleet_is_live(house: House) -> None:
    """Who becomes blocked elsewhere goes to the front by itself, and the focus stays with whom it was."""
    await house.world.do("agent:codex", "status", doing="Writing")
    async with house.window() as window:
        page = window.page
        await window.follow("fleet")
        link = page.locator('[id="open-agent:codex"]')
        await link.focus()
        await house.world.do("agent:codex", "status", doing="Writing", blocked="The disk is full")
        await expect(page.locator("#fleet .row").first).to_contain_text("The disk is full")
        await expect(link).to_be_focused()
        await house.world.do("agent:codex", "status", doing="Writing", blocked=False)
        await expect(page.locator(".group.look")).to_have_count(0)


async def test_one_of_them_shows_all_that_is_theirs(house: House) -> None:
    """Now, what waits for them, their asks, jobs, what they gave to others, their Log and profile; people too."""
    world = house.world
    await world.do("agent:grok", "bio", profile={"role": "release manager", "skills": ["python"]})
    await world.do("agent:grok", "status", doing="Testing", blocked="No token")
    await world.do("human:ana", "assign", job="release", title="Release 2.4", to="agent:grok", plan="q4")
    ask = await house.asked()
    owed = await world.do("agent:codex", "handoff", to="agent:grok", where="job:release", summary="Look at this")
    given = await world.do("agent:grok", "handoff", to="human:ana", where="job:release", summary="Sign this")
    async with house.window() as window:
        page = window.page
        await window.follow("fleet")
        await page.locator('[id="open-agent:grok"]').click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("agent:grok")
        await expect(page.locator(".now")).to_contain_text('Blocked: "No token"')
        for heading, text in (
            ("Waits for agent:grok", "Look at this"),
            ("Asked of people", "Publish v1.4.0?"),
            ("Open jobs", "Release 2.4"),
            ("Given to others", "Sign this"),
            ("Log", "Testing"),
        ):
            await expect(page.locator("section", has=page.get_by_role("heading", name=heading))).to_contain_text(text)
        await expect(page.locator(".facts")).to_contain_text('"release manager"')
        for trail in (ask["trail"], owed["trail"], f"{given['trail']}-given"):
            await expect(page.locator(f"#open-{trail}")).to_be_visible()
        await page.locator('[id="open-job:release"]').click()
        await expect(page.get_by_role("heading", level=1)).to_have_text('"Release 2.4"')
        await window.follow("fleet/human:ana")
        await expect(page.get_by_role("heading", name="Waits for you")).to_be_visible()
        await expect(page.get_by_text("Hand off work")).to_have_count(0)
        await window.open("fleet/agent:nobody")
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_person_gives_work_notes_and_jobs(house: House, screen: Screen, script: bool) -> None:
    """Handing off, writing a note and opening a job from an agent's page; each can be seen there right after."""
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page = window.page
        await window.open("fleet/agent:codex")
        await page.locator("#handoff-open").click()
        await page.get_by_label("What they should do").fill("Write the release notes")
        await page.get_by_label("They accept or decline within").select_option("4h")
        await expect(page.locator("#handoff")).to_contain_text("If nobody settles it it expires and comes back to you.")
        await page.locator("#handoff-send").click()
        waits = page.locator("section", has=page.get_by_role("heading", name="Waits for agent:codex"))
        await expect(waits).to_contain_text("Write the release notes")
        await expect(waits).to_contain_text("from human:ana")

        await page.locator("#note-open").click()
        await page.get_by_label("Your note").fill("Nice work")
        await page.locator("#note-send").click()
        await expect(page.locator(".newest li").first).to_contain_text('"Nice work"')

        await page.locator("#job-open").click()
        await page.locator("#job-title").fill("Announce: version 2.4!")
        await page.locator("#job-send").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text('"Announce: version 2.4!"')
        assert page.url.endswith("/job/announce-version-2-4")
        await expect(page.locator(".chips")).to_contain_text("agent:codex")
    found = await house.world.do("agent:codex", "brief")
    assert "Write the release notes" in repr(found)


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_refusal_stands_at_its_form(house: House, script: bool) -> None:
    """What was typed is kept, also the choice; the fold is open, and other forms say nothing of it."""
    await house.world.do("agent:codex", "assign", job="old", title="Old")
    for stage in ("in_progress", "review", "done"):
        await house.world.do("agent:codex", "stage", job="old", stage=stage)
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open("fleet/agent:codex")
        await page.locator("#handoff-open").click()
        await page.locator("#handoff-summary").fill("Once more\nplease")
        await page.locator("#handoff-where").fill("job:old")
        await page.locator("#handoff-deadline").select_option("7d")
        await page.locator("#handoff-send").click()
        await expect(page.locator("#handoff #refusal")).to_contain_text("job:old is done")
        await expect(page.locator("#handoff-summary")).to_have_value("Once more\nplease")
        await expect(page.locator("#handoff-where")).to_have_value("job:old")
        await expect(page.locator("#handoff-deadline")).to_have_value("7d")
        await expect(page.locator("#refusal")).to_have_count(1)
        await page.locator("#handoff-where").fill("")
        await page.locator("#handoff-send").click()
        await expect(page.get_by_role("heading", name="Waits for agent:codex")).to_be_visible()
        await expect(page.locator("#refusal")).to_have_count(0)


async def test_a_note_goes_anywhere(house: House) -> None:
    """Into a channel or a job that it makes, whose page comes then; a place that is not there is told at the form."""
    async with house.window(java_script_enabled=False) as window:
        page = window.page
        await window.open("fleet")
        await page.get_by_role("link", name="Write a note").click()
        await page.get_by_label("Your note").fill("Who knows the bank?")
        await page.get_by_label("Place").fill("agent:nobody")
        await page.get_by_label("What it is").select_option("question")
        await window.button("Write").click()
        await expect(page.locator("#refusal")).to_contain_text("agent:nobody is not in")
        await expect(page.get_by_label("Your note")).to_have_value("Who knows the bank?")
        await expect(page.get_by_label("What it is")).to_have_value("question")
        await page.get_by_label("Place").fill("job:bank")
        await window.button("Write").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("job:bank")
        await expect(page.locator(".newest")).to_contain_text('"Who knows the bank?"')


async def test_an_empty_fleet_says_how_to_connect_the_first(house: House) -> None:
    """The command, with the space, until an agent is here: it then comes by itself."""
    quiet = World(house.world.engine, house.world.store, "quiet")
    await quiet.operate("space", simulated=True)
    await quiet.human("ana", "owner")
    quiet_house = House(house.browser, quiet, house.url)
    async with quiet_house.window() as window:
        await window.follow("fleet")
        await expect(window.page.locator(".command")).to_have_text("logmem connect claude-code --space quiet")
        await quiet.agent("claude-code")
        await quiet.do("agent:claude-code", "start")
        await expect(window.page.locator('[id="row-agent:claude-code"]')).to_be_visible()
        await expect(window.page.locator(".command")).to_have_count(0)


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_what_agents_say_of_themselves_is_only_read(house: House, screen: Screen) -> None:
    """Names, roles, Now and Logs with hostile text add no element and run nothing, on the list and on a page."""
    world = house.world
    inside = "e => [...e.querySelectorAll('*:not(bdi, bdi *)')].map(x => x.tagName).join()"
    usual: dict[str, str] = {}
    async with house.window(screen=screen) as window:
        page = window.page
        page.on("dialog", lambda dialog: window.complaints.append(dialog.message))
        for text in ("plain", *HOSTILE, "a" + "\n" * 999):
            line = "".join(c for c in text if ord(c) >= 32)
            await world.do("agent:codex", "bio", profile={"name": line[:80], "role": line[:100], "skills": [line[:60]]})
            await world.do("agent:codex", "status", doing=text, blocked=text, waiting_on=line[:200])
            for path, part in (
                ("fleet", '[id="row-agent:codex"]'),
                ("fleet/agent:codex", ".now"),
                ("fleet/agent:codex", ".newest li"),
            ):
                await window.open(path)
                found = await page.locator(part).first.evaluate(inside)
                assert found == usual.setdefault(part, found), text
                words = await page.locator(part).first.inner_text()
                assert "\u202e" not in words
                assert "\u200b" not in words
        box = await page.locator(".newest li").first.bounding_box()
        assert box
        assert box["height"] < 400


async def test_keys_go_through_the_fleet(house: House) -> None:
    """Single keys lead to one; Tab and Enter open a form and send it; Escape leads back."""
    async with house.window() as window:
        page, keys = window.page, window.page.keyboard
        await window.follow("fleet")
        first = (await page.locator("#fleet .card").evaluate_all(ORDER))[0]
        await keys.press("j")
        await expect(page.locator(f'[id="{first}"]')).to_be_focused()
        await keys.press("Enter")
        await expect(page.locator("#back")).to_be_visible()
        await page.locator("#note-open").focus()
        await keys.press("Enter")
        await keys.press("Tab")
        await expect(page.locator("#note-text")).to_be_focused()
        await keys.type("a jar of notes?")
        await keys.press("Tab")
        await keys.press("Tab")
        await expect(page.locator("#note-send")).to_be_focused()
        await keys.press("Enter")
        await expect(page.locator(".newest")).to_contain_text('"a jar of notes?"')
        await keys.press("Escape")
        await expect(page.get_by_role("heading", name="Fleet", level=1)).to_be_visible()
