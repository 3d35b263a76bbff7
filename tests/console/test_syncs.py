"""The syncs in a browser: today's windows and the last weeks, checking in, being expected, and when syncs are."""

from datetime import timedelta

import pytest
from playwright.async_api import expect

from store.domain.errors import Refused
from tests.console.syncing import WHOLE_TEST, at_work, checks_in, clock, fits, played, tick, until, window_of
from tests.console.window import DESK, PHONE, SCREENS, House, Screen
from tests.ticking import Scheduler, scheduling

__all__ = ["tick"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_today_and_the_last_weeks(house: House, tick: Scheduler, screen: Screen) -> None:
    """Who is in with what they said, who is not, how each window ended in words; and yesterday in the grid."""
    await played(house.world, tick)
    async with house.window(screen=screen) as window:
        page = window.page
        await window.follow("syncs")
        morning, midday, closeout = (window_of(window, slot) for slot in ("morning", "midday", "closeout"))
        await expect(morning.locator(".how")).to_have_text("Held")
        await expect(morning).to_contain_text("Morning was held: all 2 were in on time.")
        await morning.get_by_text("2 check-ins").click()
        await expect(morning.locator(".came li").first).to_contain_text("agent:grok Blocked")
        await expect(morning.locator(".came li").first).to_contain_text('"No token"')
        await expect(midday.locator(".how")).to_have_text("Overdue")
        await expect(midday).to_contain_text("1 of 2 in")
        await expect(midday.locator(".missing")).to_have_text("Not in: agent:codex")
        await expect(midday.locator(".came")).to_contain_text("agent:grok Attention")
        await expect(closeout.locator(".how")).to_have_text("Ahead")
        await expect(closeout).to_contain_text("Opens in 3 h")
        await fits(window, screen)
        await until(house.world, "00:01")
        await tick()
        await expect(page.locator(".grid tbody tr").nth(2).locator("td").nth(1)).to_have_text(
            "Missed 1 missing agent:codex"
        )
        await expect(closeout.locator(".how")).to_have_text("Ahead")
        await page.get_by_text("in words").last.click()
        await expect(page.locator(".accounts").last).to_contain_text("Midday was missed: agent:codex never came.")
        await page.locator(".grid a.cell").filter(has_text="Missed").first.click()
        await expect(page.locator("main")).to_contain_text("was missed: agent:codex never came.")
        await page.goto(f"{house.url}/s/{house.world.space}/syncs?weeks=8")
        await expect(page.locator("#weeks-8")).to_have_attribute("aria-current", "true")
        await fits(window, screen)


async def test_each_state_has_a_sign_and_a_word_of_its_own(house: House, tick: Scheduler) -> None:
    """Without any colour one state is not taken for another."""
    await played(house.world, tick)
    async with house.window() as window:
        await window.follow("syncs")
        shapes = await window.page.locator("symbol").evaluate_all("all => all.map(e => [e.id, e.innerHTML])")
        assert len({shape for _, shape in shapes}) == len(shapes)
        drawn = await window.page.locator(".how").evaluate_all(
            "all => all.map(e => [e.querySelector('use').getAttribute('href').slice(6), e.textContent.toLowerCase()])"
        )
        assert {name for name, word in drawn} >= {"held", "overdue", "ahead"}
        assert all(name == word for name, word in drawn)
        assert {f"sync-{name}" for name, _ in drawn} <= {id for id, _ in shapes}


async def test_it_is_live(house: House, tick: Scheduler) -> None:
    """Who checks in, who is overdue and what is accounted for comes by itself, and nothing that one types is lost."""
    world = house.world
    await at_work(world)
    await until(world, "09:02")
    await tick()
    async with house.window() as window:
        page = window.page
        await window.follow("syncs")
        await page.evaluate("document.body.dataset.mark = 'kept'")
        morning = window_of(window, "morning")
        await page.locator("#own-open").click()
        await page.get_by_label("Attention").check()
        await page.locator("#notes").fill("Half a thought")
        await checks_in(world, "agent:codex", "morning", notes="Here")
        await expect(morning.locator(".came")).to_contain_text('"Here"')
        await expect(morning).to_contain_text("1 of 2 in")
        await expect(page.locator("#notes")).to_have_value("Half a thought")
        await expect(page.get_by_label("Attention")).to_be_checked()
        await expect(page.locator("#notes")).to_be_focused()
        await until(world, "10:31")
        await tick()
        await expect(morning.locator(".how")).to_have_text("Overdue")
        await world.do("human:ana", "rhythm", times="09:00, 13:00, 18:15")
        await expect(window_of(window, "closeout")).to_contain_text("18:15 – 24:00")
        await until(world, "13:01")
        await tick()
        await expect(morning.locator(".how")).to_have_text("Missed")
        await expect(window_of(window, "midday").locator(".how")).to_have_text("Open")
        await expect(page.locator("body")).to_have_attribute("data-mark", "kept")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_person_is_expected_and_checks_in(house: House, tick: Scheduler, screen: Screen, script: bool) -> None:
    """Turned on, one is missing until one checks in by the form; turned off again, one is neither."""
    world = house.world
    await until(world, "09:02")
    await tick()
    async with house.window("bo", screen, java_script_enabled=script) as window:
        page = window.page
        await window.open("syncs")
        await expect(page.locator(".aside")).to_contain_text("You are neither expected nor reminded.")
        await window.button("Expect me in syncs").click()
        await expect(page.locator(".aside")).to_contain_text("You are expected in each window")
        morning = window_of(window, "morning")
        await expect(morning.locator(".missing")).to_contain_text("human:bo")
        await page.get_by_label("Blocked").check()
        await page.locator("#notes").fill("Waiting for\nthe bank")
        await window.button("Check in").click()
        await expect(morning.locator(".came")).to_contain_text(r'"Waiting for\nthe bank"')
        await expect(morning).to_contain_text("1 of 1 in")
        await expect(page.locator("#notes")).to_have_count(0)
        await window.button("Expect me no more").click()
        await expect(page.locator(".aside")).to_contain_text("You are neither expected nor reminded.")
        await fits(window, screen)
    found = await world.do("human:bo", "syncs")
    assert found["you"]["attend"] == "off"
    assert found["you"]["checked_in"] == {"morning": "blocked"}


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_late_form_says_so_and_keeps_the_words(house: House, tick: Scheduler, script: bool) -> None:
    """For a window that has closed, or where one is in already, nothing is written; what was typed can be copied."""
    world = house.world
    await world.do("human:bo", "attend", on=True)
    await until(world, "09:02")
    await tick()
    async with house.window("bo", java_script_enabled=script) as window:
        page = window.page
        await window.open("syncs")
        await page.get_by_label("Pass").check()
        await page.locator("#notes").fill("My morning")
        await until(world, "13:01")
        await window.button("Check in").click()
        await expect(page.locator("#refusal")).to_contain_text("window_closed")
        await expect(page.locator("#notes")).to_have_value("")
        await expect(page.get_by_label("What you had typed")).to_have_value("My morning")
        await checks_in(world, "human:bo", "midday")
        if not script:  # with it the form is gone by itself
            await page.get_by_label("Pass").check()
            await page.locator("#notes").fill("My midday")
            await window.button("Check in").click()
            await expect(page.locator("#refusal")).to_contain_text("already_checked_in")
        said = "My morning" if script else "My midday"
        await expect(page.get_by_label("What you had typed")).to_have_value(said)
        await expect(page.locator("#check-in")).to_have_count(0)


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_an_owner_sets_when_syncs_are(house: House, tick: Scheduler, screen: Screen, script: bool) -> None:
    """Times, days, zone and days off, each seen on the page then; what is wrong is told, and what was typed stays."""
    day = ((await clock(house.world)).date() + timedelta(days=9)).isoformat()
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page = window.page
        await window.open("syncs")
        await page.get_by_role("link", name="Change times or days off").click()
        await fits(window, screen)
        await page.get_by_label("Morning").fill("08:15")
        await page.get_by_label("Midday").fill("07:00")
        await page.get_by_label("Sat").uncheck()
        await page.get_by_label("Sun").uncheck()
        await window.button("Save").click()
        await expect(page.locator("#times-refused")).to_contain_text("each later than the one before")
        await expect(page.get_by_label("Morning")).to_have_value("08:15")
        await expect(page.get_by_label("Sat")).not_to_be_checked()
        await page.get_by_label("Midday").fill("12:45")
        await page.get_by_label("Time zone").fill("Asia/Kolkata")
        await window.button("Save").click()
        for words in ("08:15", "12:45", "17:30", "Mon to Fri", "Asia/Kolkata"):
            await expect(page.locator(".aside .facts")).to_contain_text(words)
        await page.get_by_role("link", name="Change times or days off").click()
        await page.get_by_label("Day", exact=True).fill(day)
        await page.get_by_label("Reason").fill("Moving <b>house")
        await window.button("Add the day off").click()
        await expect(page.locator(".phones")).to_contain_text('"Moving <b>house"')
        await window.open("syncs")
        await expect(page.locator(".aside .facts")).to_contain_text('"Moving <b>house"')
        await window.open("syncs/times")
        await page.locator(f"#on-{day}").click()
        await expect(page.locator(".phones")).to_have_count(0)
        await window.open("syncs/times")
        for name in ("Mon", "Tue", "Wed", "Thu", "Fri"):
            await page.get_by_label(name).uncheck()
        await window.button("Save").click()
        await expect(page.locator("#times-refused")).to_contain_text("at least one")


async def test_who_is_no_owner_sees_no_form(house: House, tick: Scheduler) -> None:
    """A member and an approver read when syncs are; a form of theirs is refused, and changes nothing."""
    world = house.world
    await world.human("cy", "member")
    for who in ("cy", "bo"):
        async with house.window(who) as window:
            await window.follow("syncs")
            await expect(window.page.locator("#to-times")).to_have_count(0)
            await expect(window.page.locator(".aside")).to_contain_text("Owners of the space change this.")
            await window.open("syncs/times")
            await expect(window.page.locator("main form")).to_have_count(0)
            with pytest.raises(Refused, match="owner"):
                await world.do(f"human:{who}", "rhythm", times="01:00, 02:00, 03:00")
    assert (await world.do("human:ana", "syncs"))["times"] == ["09:00", "13:00", "17:30"]


async def test_without_a_scheduler_the_page_says_so(house: House) -> None:
    """What that means and what to do; it goes by itself once one runs, and windows have been open all the same."""
    await until(house.world, "09:02")
    async with house.window() as window:
        await window.follow("syncs")
        await expect(window.page.locator("#leader")).to_contain_text("No scheduler runs.")
        await expect(window.page.locator("#leader")).to_contain_text("logmem up")
        await expect(window_of(window, "morning").locator(".how")).to_have_text("Open")
        await expect(window_of(window, "morning")).to_contain_text("Nobody is expected")
        async with scheduling(house.world.engine, life=WHOLE_TEST) as tick:
            await tick()
            await at_work(house.world)
            await checks_in(house.world, "agent:grok", "morning")
            await expect(window.page.locator("#leader")).to_be_hidden()


async def test_an_empty_space(house: House, tick: Scheduler) -> None:
    """Says what will stand here, and when the next window is, also on a day that has none."""
    async with house.window() as window:
        await window.follow("syncs")
        await expect(window.page.locator(".past-weeks .empty")).to_contain_text("Each window that ends stands here")
        tomorrow = ((await clock(house.world)) + timedelta(days=1)).strftime("%a").lower()
        await house.world.do("human:ana", "rhythm", days=tomorrow)
        await expect(window.page.locator(".today .empty")).to_contain_text(
            "No window opens today. The next is morning, tomorrow at 09:00."
        )
