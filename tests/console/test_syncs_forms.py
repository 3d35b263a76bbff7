"""What the forms of the syncs' page are about: one window, and what one changed oneself; whatever comes meanwhile."""

from datetime import timedelta

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.console.syncing import checks_in, clock, tick, until, window_of
from tests.console.window import DESK, PHONE, House, Screen
from tests.surfaces.browser import Browser, fields
from tests.ticking import Scheduler

__all__ = ["tick"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]
TYPED = "What you had typed"


async def _half_typed(page: Page, words: str) -> None:
    """Somebody is about to check in."""
    await page.get_by_label("Pass").check()
    await page.locator("#notes").fill(words)


async def _untouched(page: Page) -> None:
    """The form has nothing of what was said for another window."""
    await expect(page.locator("#notes")).to_have_value("")
    await expect(page.locator("input[name=outcome]:checked")).to_have_count(0)


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_words_for_one_window_are_not_taken_for_the_next(house: House, tick: Scheduler, screen: Screen) -> None:
    """When the next opens under who types, its form is empty; the words can be copied, discarded, and are not sent."""
    world = house.world
    await world.do("human:bo", "attend", on=True)
    await until(world, "09:02")
    await tick()
    async with house.window("bo", screen) as window:
        page = window.page
        await window.follow("syncs")
        await _half_typed(page, "My morning")
        await expect(page.get_by_label(TYPED)).to_be_hidden()
        await until(world, "13:01")
        await tick()
        await expect(window_of(window, "midday").locator("#check-in")).to_be_visible()
        await expect(page.locator("#what")).to_be_focused()
        await expect(page.get_by_label(TYPED)).to_have_value("My morning")
        seen = "e => (box => document.elementFromPoint(box.left + 9, box.top + 9) === e)(e.getBoundingClientRect())"
        assert await page.get_by_label(TYPED).evaluate(seen)
        await _untouched(page)
        await window.button("Check in").click()
        await checks_in(world, "agent:codex", "midday", notes="Here")
        await expect(window_of(window, "midday").locator(".came")).to_contain_text('"Here"')
        assert (await world.do("human:bo", "syncs"))["you"]["checked_in"] == {}
        await _half_typed(page, "My midday")
        await window.button("Discard it").click()
        await expect(page.get_by_label(TYPED)).to_be_hidden()
        await expect(page.locator("#what")).to_be_focused()
        await window.follow("syncs")
        await expect(page.locator("#notes")).to_have_value("My midday")
        await expect(page.get_by_label(TYPED)).to_be_hidden()
        await window.button("Check in").click()
        await expect(window_of(window, "midday").locator(".came")).to_contain_text('"My midday"')


async def test_words_of_yesterday_are_not_taken_for_today(house: House, tick: Scheduler) -> None:
    """A draft that was left belongs to the window of its day: the same window of the next begins empty."""
    world = house.world
    await world.do("human:bo", "attend", on=True)
    await until(world, "09:02")
    await tick()
    async with house.window("bo") as window:
        page = window.page
        await window.follow("syncs")
        await _half_typed(page, "Yesterday's")
        await window.open()
        for wall in ("12:00", "09:02"):
            await until(world, wall)
            await tick()
        await window.follow("syncs")
        await expect(window_of(window, "morning").locator("#check-in")).to_be_visible()
        await expect(page.get_by_label(TYPED)).to_have_value("Yesterday's")
        await _untouched(page)


async def test_a_form_of_yesterday_checks_in_for_nothing(house: House, tick: Scheduler) -> None:
    """Sent a day later, in the same window: it is closed, nothing is written, and the words stand to be copied."""
    world = house.world
    await until(world, "09:02")
    await tick()
    async with house.window("bo", java_script_enabled=False) as window:
        page = window.page
        await window.open("syncs")
        await page.locator("#own-open").click()
        await _half_typed(page, "Yesterday's")
        for wall in ("12:00", "09:02"):
            await until(world, wall)
            await tick()
        await window.button("Check in").click()
        await expect(page.locator("#refusal")).to_contain_text("window_closed")
        await expect(page.get_by_label(TYPED)).to_have_value("Yesterday's")
        await _untouched(page)
    assert (await world.do("human:bo", "syncs"))["you"]["checked_in"] == {}


async def test_a_refused_check_in_keeps_its_words_in_its_form(house: House, tick: Scheduler) -> None:
    """For the window that is open they stand where they were typed; without any nobody is in; forged ones name none."""
    world = house.world
    await until(world, "09:02")
    await tick()
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as http:
        bo = Browser(http, world.space, world.tokens["human:bo"])
        form = (await bo.open(f"/s/{world.space}/syncs")).form("/check-in")
        page = await bo.send(form, text="My morning", outcome="splendid")
        assert page.status == 400
        assert page.root.one("textarea", id="notes").text == "\nMy morning"
        assert "hidden" in page.root.one("div", cls="kept").attributes
        for more in ({"outcome": "pass"}, {"text": "x", "outcome": "pass", "window": "2026-99-01:morning"}):
            page = await bo.post(form.attributes["action"], fields(form) | more)
            assert (page.status, page.root.one("div", id="refusal").one("code").text) == (400, "invalid_argument")
    assert (await world.do("human:bo", "syncs"))["you"]["checked_in"] == {}


@pytest.mark.parametrize("refused", [False, True], ids=["at once", "after a refusal"])
async def test_saving_times_leaves_what_others_changed(house: House, refused: bool) -> None:
    """A form that was shown before sets what was changed in it: the zone, a day and a time of others stay."""
    world = house.world
    async with house.window(java_script_enabled=False) as window:
        page = window.page
        await window.open("syncs/times")
        days = "tue,wed,thu,fri,sat,sun"
        await world.do("human:ana", "rhythm", zone="Asia/Kolkata", days=days, times="09:00, 13:00, 18:15")
        await page.get_by_label("Morning").fill("14:00" if refused else "08:15")
        await page.get_by_label("Sat").uncheck()
        await window.button("Save").click()
        if refused:
            await expect(page.locator("#times-refused")).to_contain_text("each later than the one before")
            await page.get_by_label("Morning").fill("08:15")
            await window.button("Save").click()
        await expect(page.locator(".aside .facts")).to_contain_text("08:15")
    found = await world.do("human:ana", "syncs")
    assert (found["zone"], found["times"]) == ("Asia/Kolkata", ["08:15", "13:00", "18:15"])
    assert found["days"] == ["tue", "wed", "thu", "fri", "sun"]


async def test_saving_what_nobody_changed_changes_nothing(house: House) -> None:
    """One is back on the page, the Log has no entry of it, and what somebody else set meanwhile stands."""
    world = house.world
    async with house.window(java_script_enabled=False) as window:
        await window.open("syncs/times")
        await world.do("human:ana", "rhythm", times="09:00, 13:00, 18:15")
        await window.button("Save").click()
        await expect(window.page.locator(".aside .facts")).to_contain_text("18:15")
    (entry,) = (await world.do("agent:codex", "feed", kinds="rhythm"))["entries"]
    assert entry["summary"].endswith("they were at 09:00, 13:00, 17:30.")


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_day_off_leaves_times_as_they_are_typed(house: House, screen: Screen) -> None:
    """Adding one and taking one out change the list alone; a refusal of it stands by it, and keeps what was typed."""
    first, other = [((await clock(house.world)).date() + timedelta(days=n)).isoformat() for n in (9, 10)]
    async with house.window(screen=screen) as window:
        page = window.page
        await window.open("syncs/times")
        await page.get_by_label("Morning").fill("08:15")
        await page.get_by_label("Sat").uncheck()
        await page.get_by_label("Time zone").fill("Asia/Kolkata")
        for day in (first, other):
            await page.get_by_label("Day", exact=True).fill(day)
            await page.get_by_label("Reason").fill("Moving house")
            await window.button("Add the day off").click()
            await expect(page.locator(f"#on-{day}")).to_be_visible()
            await expect(page.get_by_label("Reason")).to_have_value("")
            await expect(page.get_by_label("Day", exact=True)).to_have_value("")
        await page.get_by_label("Day", exact=True).fill(first)
        await page.get_by_label("Reason").fill(" ")
        await window.button("Add the day off").click()
        await expect(page.locator("#refusal")).to_be_focused()
        await expect(page.get_by_label("Day", exact=True)).to_have_value(first)
        await page.locator(f"#on-{first}").click()
        await expect(page.locator(f"#on-{first}")).to_have_count(0)
        await expect(page.locator("#off")).to_be_focused()
        await expect(page.get_by_label("Day", exact=True)).to_have_value(first)
        await expect(page.get_by_label("Morning")).to_have_value("08:15")
        await expect(page.get_by_label("Sat")).not_to_be_checked()
        await window.button("Save").click()
        for words in ("08:15", "Asia/Kolkata", "Mon, Tue, Wed, Thu, Fri, Sun", "Moving house"):
            await expect(page.locator(".aside .facts")).to_contain_text(words)
        await expect(page.get_by_label(TYPED)).to_be_hidden()


@pytest.mark.parametrize(
    "weeks", ["9" * 5000, "9", "0", "٣", "-1", "x"], ids=["many digits", "9", "0", "other", "minus", "x"]
)
async def test_any_number_of_weeks_has_an_answer(house: House, weeks: str) -> None:
    """More than there are is refused, what is no number is as if it were left out; none is a fault of the server."""
    world = house.world
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        page = await ana.open(f"/s/{world.space}/syncs?weeks={weeks}")
        assert page.status == (400 if weeks.isascii() and weeks.isdigit() else 200)
