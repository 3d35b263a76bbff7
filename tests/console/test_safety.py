"""What the console withstands in a real browser: other sites' pages, injected code, and text that wants to act."""

import pytest
from playwright.async_api import Page, Route, expect

from tests.console.window import DESK, PAYLOAD, PHONE, House, Screen
from tests.surfaces.test_console_safety import HOSTILE

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAKE = 'ok"\n\nApproved\nhuman:ana approved this just now in the console.\n\nYour decision\n' + "\n" * 900


async def _elsewhere(house: House, page: Page, html: str) -> None:
    """Go to a page of another site: another name, but not another machine, which browsers keep out by themselves."""
    site = house.url.replace("127.0.0.1", "localhost")

    async def answer(route: Route) -> None:
        await route.fulfill(body=html, content_type="text/html")

    await page.route(f"{site}/**", answer)
    await page.goto(f"{site}/elsewhere")


async def test_no_other_site_frames_a_page(house: House) -> None:
    """In a frame of another page nothing of the console is shown."""
    ask = await house.asked()
    async with house.window() as window:
        here = f"{house.url}/s/{house.world.space}/ask/{ask['trail']}"
        async with window.page.expect_console_message(lambda said: "frame-ancestors" in said.text):
            await _elsewhere(house, window.page, f'<iframe src="{here}"></iframe>')
        frame = window.page.frame_locator("iframe")
        await expect(window.page.locator("iframe")).to_be_visible()
        await expect(frame.get_by_role("button", name="Approve, once")).to_have_count(0)
        assert all("ask_" not in f.url or f.url.startswith("chrome-error:") for f in window.page.frames)
        window.complaints.clear()  # it was to complain


async def test_no_other_site_sends_a_form(house: House) -> None:
    """A form that another page sends to an ask's address decides nothing, though the browser has a session."""
    ask = await house.asked()
    async with house.window() as window:
        action = f"{house.url}/s/{house.world.space}/ask/{ask['trail']}/decide"
        fields = "".join(
            f'<input name="{name}" value="{value}">'
            for name, value in (("verdict", "approve"), ("digest", ask["digest"]), ("token", "x"))
        )
        await _elsewhere(
            house, window.page, f'<form method="post" action="{action}">{fields}<button>Win</button></form>'
        )
        async with window.page.expect_response(action) as sent:
            await window.button("Win").click()
        assert (await sent.value).status in (401, 403)
    assert (await house.stands(ask))["status"] == "pending"


async def test_the_policy_of_a_page_lets_no_code_in(house: House) -> None:
    """Markup with code in it, put into a page by whatever means, runs nothing and loads nothing."""
    async with house.window() as window:
        await window.follow()
        await window.page.evaluate(
            """() => {
                document.body.insertAdjacentHTML("beforeend", '<img src="/nope" onerror="window.ran = 1">');
                for (const src of ["", "http://elsewhere.example/x.js"]) {
                    const script = document.createElement("script");
                    src ? (script.src = src) : (script.textContent = "window.ran = 2");
                    document.body.append(script);
                }
                const style = document.createElement("style");
                style.textContent = "body { display: none }";
                document.body.append(style);
            }"""
        )
        await expect(window.page.locator("#live")).to_be_visible()
        assert await window.page.evaluate("window.ran") is None
        assert len(window.complaints) >= 4
        assert all("Content Security Policy" in said for said in window.complaints)
        window.complaints.clear()  # it was to complain


@pytest.mark.parametrize("back", ["//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example", "x", ""])
async def test_a_choice_of_looks_leads_nowhere_else(house: House, back: str) -> None:
    """Where to go back to is an address of ours, or the first page."""
    async with house.window() as window:
        await window.follow()
        await window.page.evaluate("to => { document.querySelector('[name=back]').value = to; }", back)
        await window.page.locator("#menu summary").click()
        await window.button("Dark").click()
        await expect(window.page.locator("html")).to_have_attribute("data-look", "dark")
        assert window.page.url == f"{house.url}/s/{house.world.space}/"


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_text_that_wants_to_act_is_only_read(house: House, screen: Screen) -> None:
    """Hostile summaries, payloads, options and answers add no element and run nothing, nor do they when they arrive."""
    texts = [*HOSTILE, FAKE[:1000], "a" + "\n" * 999]
    plain = await house.asked(summary="plain", payload={"key": ["value"]}, options=["yes"])
    async with house.window(screen=screen) as window:
        page = window.page
        page.on("dialog", lambda dialog: window.complaints.append(dialog.message))
        await window.follow(f"ask/{plain['trail']}")
        inside = "e => [...e.querySelectorAll('*:not(bdi, bdi *, .whole, .exactly)')].map(x => x.tagName).join()"
        usual = await page.locator("article.one").evaluate(inside)
        for text in texts:
            nasty = await house.asked("agent:codex", summary=text, payload={text: [text]}, options=[text[:200]])
            await window.open(f"ask/{nasty['trail']}")
            await expect(window.button("Send this answer")).to_be_visible()
            assert await page.locator("article.one").evaluate(inside) == usual
            assert await page.locator("h1#what").inner_text() != ""
            await house.decided("bo", nasty, "answer", answer=text[:200])
            await expect(window.status).to_have_text("Answered")
            await expect(page.locator(".verdict")).to_contain_text("human:bo answered this")


async def test_a_text_cannot_pass_for_a_line_of_ours(house: House) -> None:
    """Each line of a text stands in its quotes; a row of the list shows two lines of it, however many it has."""
    ask = await house.asked(summary=FAKE[:1000], payload={"note": FAKE})
    async with house.window(screen=PHONE) as window:
        await window.follow()
        box = await window.row(ask).bounding_box()
        assert box
        assert box["height"] < 120
        await window.row(ask).get_by_role("link").click()
        title = await window.page.locator("h1#what").inner_text()
        assert title.startswith(r'"ok\"\n\nApproved\nhuman:ana')
        assert "\n" not in title
        await expect(window.status).to_have_text("Your decision")
        lines = window.page.locator(".payload .line")
        assert await lines.count() > 900
        assert await lines.nth(2).inner_text() == "Approved\\n"
        left = await window.page.evaluate(
            """[".payload .line", "#decision"].map(s => document.querySelector(s).getBoundingClientRect().left)"""
        )
        assert left[0] > left[1]  # it stands further in than any line of ours


async def test_the_tree_folds_and_is_open_at_first(house: House) -> None:
    """Each part of a payload that holds more can be folded, also without the script; nothing is folded at first."""
    payload = {"a": {f"key{n}": n for n in range(9)}, **PAYLOAD}
    ask = await house.asked(payload=payload)
    async with house.window(java_script_enabled=False) as window:
        await window.open(f"ask/{ask['trail']}")
        await expect(window.page.locator(".payload details:not([open])")).to_have_count(0)
        await expect(window.page.get_by_text("key8:")).to_be_visible()
        await window.page.locator(".payload summary").click()
        await expect(window.page.get_by_text("key8:")).to_be_hidden()
