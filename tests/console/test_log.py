"""The Log in a browser: filtered, searched, page by page, followed live; and each entry on a page of its own."""

import secrets
from typing import Any

import httpx
import pytest
from playwright.async_api import expect

from store.domain.commit import Commit
from store.domain.entry import Entry
from store.domain.moments import DAY
from store.engine.commit import Action
from store.verbs.canonical import ledger_line
from tests.console.test_axe import findings
from tests.console.test_safety import FAKE
from tests.console.window import DESK, PHONE, SCREENS, House, Screen
from tests.surfaces.browser import Browser, Page
from tests.surfaces.test_console_safety import HOSTILE
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT = 300_000  # bytes of a page
SCRIPTS = [True, False]
NASTY = ("<&\u202e\n" * 250)[:1000]  # what takes most bytes to show


async def noted(house: House, summary: str, who: str = "agent:grok", where: str = "job:release", **more: Any) -> str:
    """The id of a new entry."""
    args = {"where": where, "kind": "progress", "summary": summary, **more}
    id: str = (await house.world.do(who, "note", **args))["entry"]["id"]
    return id


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_the_log_is_filtered_by_what_one_sees(house: House, screen: Screen, script: bool) -> None:
    """By the author and place of a row, by the fields, and back by taking each away; the newest is first."""
    await noted(house, "ready", "agent:codex", "job:docs")
    await noted(house, "built")
    await noted(house, "stuck here", kind="stuck")
    await noted(house, "checked", "agent:codex", "job:billing")
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page, titles = window.page, window.page.locator("#log .title")
        await window.open("log")
        await expect(titles.first).to_have_text('"checked"')
        await page.locator("#log .where", has_text="job:release").first.click()
        await expect(titles).to_have_text(['"stuck here"', '"built"'])
        await page.locator("#filters > summary").click()
        await page.get_by_label("Kind").select_option("Trouble and questions")
        await window.button("Show").click()
        await expect(titles).to_have_text(['"stuck here"'])
        await page.locator(".drop").first.click()
        await expect(page.locator(".drop")).to_have_count(1)
        await page.get_by_role("link", name="All, from the newest").click()
        await page.locator("#log .by", has_text="agent:codex").first.click()
        await expect(titles.filter(has_text='"checked"')).to_have_count(1)
        await expect(titles.filter(has_text='"built"')).to_have_count(0)
        await page.locator("#filters > summary").click()
        await page.get_by_label("Kind").select_option("Asks and decisions")
        await window.button("Show").click()
        await expect(page.locator(".empty")).to_contain_text("There is nothing of kind asked or decided")


async def test_a_filter_that_means_nothing_is_kept_beside_what_is_wrong(house: House) -> None:
    """What was typed stays in its field, the status is that of the refusal, and nothing is listed."""
    async with house.window(java_script_enabled=False) as window:
        for query, field, said in (
            ("where=no+place", "Place", "Did you mean channel:no-place?"),
            ("where=job:none", "Place", "job:none"),
            ("by=%3Cb%3E&kinds=fact", "Author", "by is"),
            ("kinds=nonsense", "Kind", "no entry is of that kind"),
            ("since=soon", "Written in", "since"),
            ("cursor=5", "Place", "cursor is"),
        ):
            answer = await window.page.goto(f"{house.url}/s/{house.world.space}/log?{query}")
            assert answer
            assert answer.status in (400, 404), query
            await expect(window.page.locator("#refusal")).to_contain_text(said)
            await expect(window.page.locator("#refusal")).not_to_contain_text("Nothing was")
            await expect(window.page.get_by_label(field)).to_be_visible()
            await expect(window.page.locator("#log li")).to_have_count(0)
        await window.open("log?where=no+place")
        await expect(window.page.get_by_label("Place")).to_have_value("no place")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_the_log_is_searched(house: House, script: bool) -> None:
    """Hits with why they matched, and what has become of facts; a place narrows it; nothing found is said."""
    world = house.world
    fact = {"where": "job:bank", "kind": "fact", "review_by": "2d"}
    old = await world.do("agent:grok", "note", summary="The bank closes at 16:00", **fact)
    new = await world.do("agent:grok", "note", summary="The bank closes at 17:00", supersedes=old["fact"], **fact)
    await noted(house, "Called the bank")
    await world.pass_time(3 * DAY)
    await world.sign_in("ana")
    await world.do("agent:codex", "recall", query="bank")  # once it has answered, the index holds what was written
    async with house.window(java_script_enabled=script) as window:
        page, rows = window.page, window.page.locator("#log .row")
        await window.open("log")
        await page.get_by_role("searchbox").fill("bank closes")
        await page.get_by_role("searchbox").press("Enter")
        await expect(page.locator(f"#row-{new['entry']['id']} .why")).to_contain_text("due for review")
        await expect(page.locator(f"#row-{new['entry']['id']} .why")).to_contain_text("closes")
        await expect(page.locator(f"#row-{old['entry']['id']} .why")).to_contain_text("superseded")
        await page.locator("#filters > summary").click()
        await page.get_by_label("Place").fill("job:release")
        await window.button("Show").click()
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text('"Called the bank"')
        await page.get_by_role("searchbox").fill("zeppelin")
        await window.button("Search").click()
        await expect(page.locator(".empty")).to_contain_text("Nothing was found among job:release")
        await page.get_by_role("searchbox").fill("?!")
        await window.button("Search").click()
        await expect(page.locator("#refusal")).to_contain_text("no word to look for")
        await expect(page.get_by_role("searchbox")).to_have_value("?!")


async def _all(browser: Browser, address: str) -> tuple[list[str], list[Page]]:
    """The ids of all rows from an address on, page by page."""
    seen: list[str] = []
    pages: list[Page] = []
    for _ in range(60):
        pages.append(await browser.open(address))
        rows = pages[-1].root.one("ol", id="log").all("li")
        seen += [row.attributes["id"].removeprefix("row-") for row in rows]
        older = list(pages[-1].root.all("a", id="older"))
        if not older:
            return seen, pages
        address = older[0].attributes["href"]
    raise AssertionError("the Log has no end")


async def filled(world: World, entries: int, summary: str, *, rare: int = 1000) -> None:
    """A Log of this length, many entries in one commit; one in `rare` is a fix."""
    for start in range(0, entries, 200):
        lines = [
            Entry(where=f"job:j{n % 4}", kind="progress" if n % rare else "fix", by="agent:grok", via="token",
                  client="test", summary=f"{n} {summary}"[:1000], trail=f"tr-{n % 50}")
            for n in range(start, min(entries, start + 200))
        ]  # fmt: skip
        action = Action(world.keys.done("test", secrets.token_hex(8)), "", "{}", 60_000)
        plan = Commit(result={}, entries=tuple(lines))
        await world.store.commit(world.keys, plan, seen={}, lines=[ledger_line(e) for e in lines], action=action)


async def test_pages_hold_each_entry_once(world: World, server: str) -> None:
    """Older and older to the first; of a rare kind, pages say how far they looked and go on."""
    await filled(world, 1300, "built and tested once more", rare=700)
    await filled(world, 200, NASTY, rare=300)
    async with httpx.AsyncClient(base_url=server, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        seen, pages = await _all(ana, f"/s/{world.space}/log")
        numbers = [int(id.partition("-")[2]) for id in seen]
        assert numbers == list(range(numbers[0], 0, -1))
        assert numbers[0] > 1500
        assert max(len(page.response.content) for page in pages) < LIMIT
        assert len(seen) / len(pages) > 35
        rare, pages = await _all(ana, f"/s/{world.space}/log?kinds=fix")
        assert len(rare) == 3
        assert "entries were looked through" in pages[0].words or len(pages) == 1


async def test_a_log_of_a_hundred_thousand_is_light(world: World, server: str) -> None:
    """Its first pages, filtered or not, and an entry are under 300 KB each, with text that takes most bytes to show."""
    await filled(world, 100_000, NASTY)
    big = await world.do(
        "agent:grok", "note", where="job:j0", kind="memo", summary=NASTY, payload={"x": "\u202e" * 10_000}
    )
    async with httpx.AsyncClient(base_url=server, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        for query in (
            "",
            "?where=job:j1",
            "?by=grok",
            "?kinds=fix",
            "?kinds=fix&by=grok&since=30d",
            "?where=trail:tr-7",
        ):
            page = await ana.open(f"/s/{world.space}/log{query}")
            assert page.status == 200
            assert len(page.response.content) < LIMIT, query
            assert len(list(page.root.one("ol", id="log").all("li"))) > 0
        page = await ana.open(f"/s/{world.space}/entry/{big['entry']['id']}")
        assert page.status == 200
        assert len(page.response.content) < LIMIT


async def test_new_entries_move_nothing(house: House) -> None:
    """They are counted above the list, also when there are more than a page has; and come when one asks for them."""
    first = await noted(house, "here before")
    async with house.window() as window:
        await window.follow("log")
        row = window.page.locator(f"#row-{first}")
        before = await row.bounding_box()
        await noted(house, "one")
        await noted(house, "two")
        show = window.button("2 new – show them")
        await expect(show).to_be_visible()
        assert await row.bounding_box() == before
        await show.click()
        await expect(window.page.locator("#log .title").first).to_have_text('"two"')
        await filled(house.world, 60, "many at once")
        await window.button("more than 50 new – show them").click()
        await expect(window.page.locator("#log .row")).to_have_count(50)
        await expect(window.page.locator("#log .title").first).to_contain_text("59 many at once")
        await expect(window.page.locator("#older")).to_be_visible()


async def test_the_first_entry_of_a_filter_comes_by_itself(house: House) -> None:
    """A filter with nothing to show fills as soon as there is something."""
    async with house.window(screen=PHONE) as window:
        await window.follow("log?kinds=fix")
        await expect(window.page.locator(".empty")).to_contain_text("There is nothing of kind fix")
        id = await noted(house, "mended", kind="fix")
        await expect(window.page.locator(f"#row-{id}")).to_be_visible()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_an_entry_shows_all_that_it_holds(house: House, script: bool) -> None:
    """Its payload as a tree, why, what it answers, and the others on its trail; each leads on."""
    ask = await house.asked()
    await house.world.do("human:bo", "ask_back", trail=ask["trail"], text="Which registry?")
    answer = await noted(house, "The main one", kind="answer", answers=ask["trail"], why="it is the only one")
    note = await noted(house, "built", payload={"tests": {"passed": 214}}, tags=["ci"])
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open(f"entry/{note}")
        await expect(page.locator(".payload")).to_contain_text("passed: 214")
        await expect(page.locator(".facts")).to_contain_text('"ci"')
        await expect(page.locator("#trail-of-it")).to_contain_text("It stands alone")
        await window.open(f"entry/{answer}")
        await expect(page.locator("h1")).to_have_text('"The main one"')
        await expect(page.get_by_role("region", name="Why")).to_contain_text('"it is the only one"')
        others = page.locator("#trail-of-it .title")
        await expect(others).to_have_text(['"The main one"', '"Which registry?"', '"Publish v1.4.0?"'])
        await page.locator(".facts").get_by_role("link", name=ask["trail"]).first.click()
        await expect(window.card).to_contain_text("What it would do")
        await window.open("entry/1-1")
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()


async def test_a_fact_says_at_once_that_it_was_superseded(house: House) -> None:
    """On its open page, without a reload; the way to what holds now leads there."""
    fact = {"where": "job:bank", "kind": "fact"}
    old = await house.world.do("agent:grok", "note", summary="Closes at 16:00", **fact)
    async with house.window() as window:
        await window.follow(f"fact/{old['fact']}")
        await expect(window.page.locator("#standing")).to_contain_text("Holds")
        await house.world.do("agent:codex", "note", summary="Closes at 17:00", supersedes=old["fact"], **fact)
        await expect(window.page.locator("#standing")).to_contain_text("Superseded")
        await window.page.get_by_role("link", name="What holds now").click()
        await expect(window.page.locator("h1")).to_have_text('"Closes at 17:00"')


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_text_that_wants_to_act_is_only_read(house: House, screen: Screen) -> None:
    """On a row and on the page of an entry: no element is added, nothing runs, and a row stays two lines high."""
    texts = [*HOSTILE, FAKE[:1000], "a" + "\n" * 999]
    plain = await noted(house, "plain", payload={"key": ["value"]}, why="why", tags=["tag"])
    async with house.window(screen=screen) as window:
        page = window.page
        page.on("dialog", lambda dialog: window.complaints.append(dialog.message))
        inside = "e => [...e.querySelectorAll('*:not(bdi, bdi *)')].map(x => x.tagName).join()"
        await window.open(f"entry/{plain}")
        usual = await page.locator("article").evaluate(inside)
        await window.open("log")
        row = await page.locator(f"#row-{plain}").evaluate(inside)
        for text in texts:
            nasty = await noted(house, text, payload={text: [text]}, why=text, tags=["tag"])
            await window.open("log")
            assert await page.locator(f"#row-{nasty}").evaluate(inside) == row
            box = await page.locator(f"#row-{nasty}").bounding_box()
            assert box
            assert box["height"] < 150
            await page.locator(f"#open-{nasty}").click()
            await expect(page.locator("h1")).to_be_visible()
            assert await page.locator("article").evaluate(inside) == usual
        for text in texts:
            await window.open("log")
            await page.get_by_role("searchbox").fill(text[:400].replace("\n", " "))
            await window.button("Search").click()
            await expect(page.get_by_role("heading", name="Log")).to_be_visible()


async def test_keys_go_through_the_log(house: House) -> None:
    """By j and k through the rows, Enter opens one, Esc leads back; Tab reaches search, rows and what is in them."""
    await noted(house, "first")  # begins a shift, which says so
    last = await noted(house, "last")
    async with house.window() as window:
        keys, page = window.page.keyboard, window.page
        await window.follow("log")
        await keys.press("j")
        await expect(page.locator(f"#open-{last}")).to_be_focused()
        await keys.press("Tab")
        await expect(page.locator(f"#row-{last} .by")).to_be_focused()
        await keys.press("j")
        await keys.press("k")
        await keys.press("Enter")
        await expect(page.locator("h1")).to_have_text('"last"')
        await keys.press("Escape")
        await expect(page.get_by_role("heading", name="Log")).to_be_visible()
        reached = []
        for _ in range(30):
            await keys.press("Tab")
            reached.append(await page.evaluate("document.activeElement.id"))
        order = [reached.index(id) for id in ("q", "search", f"open-{last}")]
        assert order == sorted(order)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing_in_the_log(house: House, screen: Screen) -> None:
    """The list, filtered, searched, refused and empty; entries of each kind, with all that one may hold."""
    world = house.world
    ask = await house.asked()
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Why?")
    await noted(house, "stuck\n\u202e", kind="stuck", payload={"a": {"b": [1, ["x\ny"] * 5]}}, why="so", tags=["ci"])
    answer = await noted(house, "so", kind="answer", answers=ask["trail"])
    fact = {"where": "job:bank", "kind": "fact", "review_by": "1d"}
    old = await world.do("agent:grok", "note", summary="Closes at 16:00", **fact)
    await world.do("agent:grok", "note", summary="Closes at 17:00", supersedes=old["fact"], **fact)
    await world.pass_time(2 * DAY)
    await world.sign_in("ana")
    await world.do("agent:codex", "recall", query="closes")
    entries = (await world.do("human:ana", "feed", limit=50))["entries"]
    queries = ("", "?by=grok&kinds=fact", "?q=closes", "?q=zeppelin", "?kinds=huddle", "?where=no+place")
    kinds = {e["kind"]: e["id"] for e in entries}
    async with house.window(screen=screen) as window:
        for path in (
            *(f"log{query}" for query in queries),
            f"entry/{answer}",
            *(f"entry/{id}" for id in kinds.values()),
        ):
            await window.open(path)
            assert await findings(window.page) == [], path
        await window.follow("log")
        await window.page.locator("#filters > summary").click()
        await noted(house, "new")
        await expect(window.page.locator("#show-new")).to_be_visible()
        assert await findings(window.page) == []
