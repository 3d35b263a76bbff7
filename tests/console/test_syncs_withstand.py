"""What the syncs' page withstands: hostile texts, forged forms, eight weeks of a large fleet; axe, and keys alone."""

from datetime import timedelta

import httpx
import pytest
from playwright.async_api import expect

from tests.console.syncing import checks_in, clock, fits, played, tick, until, window_of
from tests.console.test_axe import findings
from tests.console.test_size import LIMIT, LONG
from tests.console.window import DESK, PHONE, SCREENS, House, Screen
from tests.surfaces.browser import Browser, fields
from tests.surfaces.test_console_safety import FOREIGN, HOSTILE
from tests.ticking import Scheduler

__all__ = ["tick"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGENTS = 50


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_hostile_texts_are_only_read(house: House, tick: Scheduler, screen: Screen) -> None:
    """Notes of check-ins and reasons of days off add no element and run nothing."""
    world = house.world
    await until(world, "09:02")
    await tick()
    inside = "e => [...e.querySelectorAll('*:not(bdi, bdi *)')].map(x => x.tagName).join()"
    texts = ["plain", *HOSTILE, "a" + "\n" * 999]
    today = await clock(world)
    usual: set[str] = set()
    async with house.window(screen=screen) as window:
        page = window.page
        page.on("dialog", lambda dialog: window.complaints.append(dialog.message))
        for n, text in enumerate(texts):
            await world.agent(f"a{n}")
            await checks_in(world, f"agent:a{n}", "morning", notes=text)
        for n, text in enumerate(texts[:10]):
            day = (today.date() + timedelta(days=n + 1)).isoformat()
            await world.do("human:ana", "rhythm", holiday=day, reason=text[:60])
        await window.open("syncs")
        await page.locator("#rest-morning-open").click()
        for row in await page.locator("#window-morning .came li").all():
            usual.add(await row.evaluate(inside))
            words = await row.inner_text()
            assert "\u202e" not in words
            assert "\u200b" not in words
            box = await row.bounding_box()
            assert box
            assert box["height"] < 200
        assert len(usual) == 1
        assert await page.locator(".aside .facts li").count() == 10
        await fits(window, screen)
        await window.open("syncs/times")
        await fits(window, screen)
        await world.do("human:ana", "rhythm", holiday=today.date().isoformat(), reason=HOSTILE[0])
        await window.open("syncs")
        await expect(window_of(window, "morning").locator(".sentence")).to_contain_text(f'skipped: "{HOSTILE[0]}"')
        assert await page.locator("main script").count() == 0


@pytest.mark.parametrize("width", [320, 360, 800])
async def test_the_longest_name_is_drawn_over_nothing(house: House, tick: Scheduler, width: int) -> None:
    """A name that takes two lines leaves its outcome and time to be read; each link is as large as a finger."""
    world, name = house.world, "a" * 60
    await world.agent(name)
    await world.do("human:ana", "attend", on=True)
    await until(world, "09:02")
    await checks_in(world, f"agent:{name}", "morning", "blocked", "No token")
    async with house.window(screen=Screen("narrow", (width, 740))) as window:
        await window.open("syncs")
        byline = window.page.locator("#window-morning .came .byline")
        drawn = await byline.locator(":scope > *").evaluate_all(
            """all => all.map(e => {
                const text = document.createRange();
                text.selectNodeContents(e);
                return [...text.getClientRects()].map(r => [r.left, r.top, r.right, r.bottom]);
            })"""
        )
        assert len(drawn[0]) > 1  # it does take two
        for (left, top, right, bottom), other in [(a, b) for a in drawn[0] for rest in drawn[1:] for b in rest]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] + 2 or other[3] <= top + 2
            assert apart, ((left, top, right, bottom), other)
        for high in await byline.locator("a").evaluate_all(
            "all => all.map(e => parseFloat(getComputedStyle(e, '::after').height))"
        ):
            assert high >= 43.5
        assert await window.page.evaluate("document.documentElement.scrollWidth") == width


async def test_what_is_cut_from_notes_is_counted_whole(house: House, tick: Scheduler) -> None:
    """However the text is cut on its way to the page: all that is not shown is counted, after the quotes."""
    await until(house.world, "09:02")
    await checks_in(house.world, "agent:grok", "morning", notes="\u202e" * 300)
    async with house.window() as window:
        await window.open("syncs")
        notes = await window_of(window, "morning").locator(".notes").inner_text()
        shown, _, cut = notes.rpartition('"')
        assert cut == f"… (+{300 - shown.count('u202e')} characters)"


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing(house: House, tick: Scheduler, screen: Screen) -> None:
    """Empty, open, overdue, missed; folds open, refused forms; and when syncs are, as an owner and as none."""
    world = house.world
    async with house.window(screen=screen) as window:
        page = window.page
        await window.follow("syncs")
        assert await findings(page) == []
        await world.do("human:ana", "attend", on=True)
        day = ((await clock(world)).date() + timedelta(days=3)).isoformat()
        await world.do("human:ana", "rhythm", holiday=day, reason="Moving house")
        await played(world, tick)
        await expect(window_of(window, "midday").locator(".how")).to_have_text("Overdue")
        await page.get_by_text("2 check-ins").click()
        await page.get_by_text("in words").first.click()
        await page.evaluate("scrollTo(0, 0)")  # nothing is half under the bar
        assert await findings(page) == []
        await window.follow("syncs/times")
        assert await findings(page) == []
        await page.get_by_label("Midday").fill("07:00")
        await window.button("Save").click()
        await expect(page.locator("#times-refused")).to_be_visible()
        assert await findings(page) == []
    async with house.window("bo", screen) as window:
        await window.follow("syncs/times")
        assert await findings(window.page) == []


async def test_keys_alone_do_all_of_it(house: House, tick: Scheduler) -> None:
    """From the top of the page by Tab: an outcome by the arrows, notes, the button; the focus is always to be seen."""
    await house.world.do("human:ana", "attend", on=True)
    await until(house.world, "09:02")
    await tick()
    async with house.window() as window:
        page, keys = window.page, window.page.keyboard
        await window.follow("syncs")
        reached = []
        for _ in range(40):
            await keys.press("Tab")
            reached.append(await page.evaluate("document.activeElement.id"))
            assert await page.evaluate(
                "(e => e === document.body || getComputedStyle(e).outlineStyle !== 'none')(document.activeElement)"
            ), reached[-1]
            if reached[-1] == "outcome-pass":
                break
        await keys.press("ArrowDown")
        await expect(page.get_by_label("Attention")).to_be_checked()
        await keys.press("Tab")
        await keys.type("a jar of keys?")
        await keys.press("Tab")
        await expect(page.locator("#check-in")).to_be_focused()
        await keys.press("Enter")
        await expect(window_of(window, "morning").locator(".came")).to_contain_text('"a jar of keys?"')
        await expect(page.locator("#what")).to_be_focused()
        await page.locator("#to-times").focus()
        await keys.press("Enter")
        await expect(page.locator("#morning")).to_be_visible()
        await keys.press("Escape")
        await expect(page.locator("#to-times")).to_be_visible()


@pytest.mark.parametrize("how", [*FOREIGN, "no token", "other token"])
async def test_a_forged_form_changes_nothing(house: House, tick: Scheduler, how: str) -> None:
    """Of another site, without its token or with another session's: nobody is in, expected, or elsewhere in time."""
    world = house.world
    await world.do("human:ana", "attend", on=True)
    await until(world, "09:02")
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        bo = Browser(http, world.space, world.tokens["human:bo"])
        page, other = [await who.open(f"/s/{world.space}/syncs") for who in (ana, bo)]
        settings = await ana.open(f"/s/{world.space}/syncs/times")
        forms = [page.form("/check-in"), page.form("/attend"), settings.form("/times"), settings.form("/day-off")]
        before = await world.dump()
        for form in forms:
            sent = fields(form, "no" if form.attributes["action"].endswith("attend") else "")
            sent |= {"outcome": "pass", "holiday": "2099-01-01", "reason": "x", "zone": "Asia/Kolkata"}
            if how == "no token":
                del sent["token"]
            elif how == "other token":
                sent["token"] = fields(other.form("/attend"), "yes")["token"]
            answer = await ana.post(form.attributes["action"], sent, FOREIGN.get(how))
            assert answer.status == 403
        assert await world.dump() == before


async def test_eight_weeks_of_fifty_agents_are_a_light_page(house: House, tick: Scheduler) -> None:
    """Under 300 KB, though none of the fifty came in eight weeks, and all of them today with the longest notes."""
    world = house.world
    for n in range(AGENTS):
        await world.agent(f"a{n}")
        await world.do("human:ana", "assign", job=f"j{n}", title="Always at work", to=f"agent:a{n}")
    for _ in range(55):
        for wall in ("09:02", "13:02", "17:32"):
            await until(world, wall)
            await tick()
    for slot, wall in (("morning", "09:02"), ("midday", "13:02"), ("closeout", "17:32")):
        await until(world, wall)
        await tick()
        for n in range(AGENTS):
            await checks_in(world, f"agent:a{n}", slot, "blocked", f"{n}{LONG}"[:1000])
    async with httpx.AsyncClient(base_url=house.url, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        page = await ana.open(f"/s/{world.space}/syncs?weeks=8")
        assert len(list(page.root.all("tr"))) > 56
        assert page.words.count("a49 Blocked") == 3
        assert len(page.response.content) < LIMIT
