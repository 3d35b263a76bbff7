"""What one sees of what is settled: where its row goes, who said what and when, and what high risk looks like."""

import pytest
from playwright.async_api import Locator, expect

from tests.console.window import DESK, PAYLOAD, PHONE, House, Screen, Window
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]


def _in(window: Window, list: str, of: dict[str, str]) -> Locator:
    """The row of an ask or item in one of the inbox's lists."""
    return window.page.locator(f"#{list} #row-{of.get('trail') or of['item']}")


async def test_what_one_decides_goes_where_it_belongs(house: House) -> None:
    """At once its row stands under what one decided; one that was handed over and taken is on no list any more."""
    one, two = await house.asked(summary="one", expires_in="1h"), await house.asked(summary="two")
    item = await house.world.do("agent:grok", "handoff", to="human:ana", where="job:a", summary="Take it")
    async with house.window() as window:
        await window.follow(f"ask/{one['trail']}")
        await expect(window.page.locator("#mine")).to_have_text("3 wait for you")
        await window.button("Approve, once").click()
        await expect(_in(window, "decided", one)).to_contain_text("Approved")
        await expect(_in(window, "waiting", one)).to_have_count(0)
        await expect(window.page.locator("#mine")).to_have_text("2 wait for you")
        await expect(window.status).to_be_focused()
        await window.page.keyboard.press("j")
        first = window.page.locator("#waiting .row").first.get_by_role("link")
        await expect(first).to_be_focused()
        await _in(window, "waiting", item).get_by_role("link").click()
        await window.button("Accept").click()
        await expect(window.status).to_have_text("Accepted")
        await expect(window.page.locator("#waiting .row")).to_have_count(1)
        await expect(_in(window, "waiting", two)).to_be_visible()


async def test_what_others_settle_moves_nobody_s_aim(house: House) -> None:
    """Where one points at the list a row says what has become of it and stays; then it goes where it belongs."""
    first, settled = (
        await house.asked(summary="first", expires_in="2h"),
        await house.asked(summary="s", expires_in="1h"),
    )
    item = await house.world.do(
        "agent:grok", "handoff", to="human:ana", where="job:a", summary="Take it", deadline="3h"
    )
    async with house.window() as window:
        await window.follow()
        await window.row(first).hover()
        await house.decided("bo", settled, "reject", reason="no")
        await expect(_in(window, "waiting", settled)).to_contain_text("Rejected")
        await house.world.do("agent:grok", "handoff", withdraw=item["item"])
        await expect(_in(window, "waiting", item)).to_contain_text("waits for you no longer")
        await expect(window.page.locator("#mine")).to_have_text("1 waits for you")
        await expect(_in(window, "waiting", settled)).to_be_visible()
        await window.page.mouse.move(1000, 600)
        await house.asked("agent:codex", summary="later", expires_in="20h")
        await expect(_in(window, "settled", settled)).to_contain_text("Rejected")
        await expect(_in(window, "waiting", settled)).to_have_count(0)
        await expect(_in(window, "waiting", item)).to_have_count(0)
        await expect(window.page.locator("#waiting .row")).to_have_count(2)


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_the_result_names_who_and_when(house: House, script: bool) -> None:
    """Approved, used, taken back, rejected: each says by whom, with its time."""
    used, back, no = [await house.asked(summary=word) for word in ("used", "back", "no")]
    await house.decided("bo", used)
    await house.world.do("agent:grok", "redeem", trail=used["trail"], payload=PAYLOAD)
    await house.decided("bo", back)
    await house.world.do("human:ana", "take_back", trail=back["trail"])
    await house.decided("bo", no, "reject", reason="no")
    said = {
        used["trail"]: ("Approved by human:bo,", "Used by agent:grok,"),
        back["trail"]: ("Approved by human:bo,", "Taken back by human:ana,"),
        no["trail"]: ("Rejected by human:bo,",),
    }
    async with house.window(java_script_enabled=script) as window:
        for trail, words in said.items():
            await window.open(f"ask/{trail}")
            verdict = window.page.locator(".verdict")
            for word in words:
                line = verdict.locator(".note", has_text=word)
                await expect(line.locator("time[datetime]")).to_have_count(1)
            await expect(verdict.locator(".note time")).to_have_count(len(words))


async def test_how_long_an_approval_holds_is_said_where_there_can_be_one(house: House) -> None:
    """An ask for an answer has none; one that may be approved says it."""
    fact = "An approval holds"
    approve = await house.asked()
    answers = [await house.asked(summary="b", allow=["answer"]), await house.asked(summary="c", options=["Yes", "No"])]
    async with house.window() as window:
        await window.open(f"ask/{approve['trail']}")
        await expect(window.card).to_contain_text(fact)
        for ask in answers:
            await window.open(f"ask/{ask['trail']}")
            await expect(window.card).to_contain_text("Send this answer")
            await expect(window.card).not_to_contain_text(fact)


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_high_risk_looks_like_what_it_is(house: House, screen: Screen) -> None:
    """Its button has other words and another colour than everyday's, and what may come of it stands before it."""
    await house.world.agent("careful", responsible="bo")
    usual, high = await house.asked(), await house.asked("agent:careful", risk="high")
    colour = "e => getComputedStyle(e).backgroundColor"
    async with house.window(screen=screen) as window:
        await window.open(f"ask/{usual['trail']}")
        green = await window.button("Approve, once").evaluate(colour)
        await expect(window.card).not_to_contain_text("High risk:")
        await window.open(f"ask/{high['trail']}")
        await expect(window.button("Approve, once")).to_have_count(0)
        button = window.button("Approve the high risk, once")
        assert await button.evaluate(colour) != green
        warning = window.page.locator(".consequences li").first
        await expect(warning).to_contain_text("High risk: by the agent's word this can do harm")
        assert await warning.evaluate("(w) => w.getBoundingClientRect().bottom") <= await button.evaluate(
            "(b) => b.getBoundingClientRect().top"
        )
        await button.click()
        await expect(window.status).to_have_text("Approved")
        await expect(window.page.locator(".grave")).to_have_count(0)


async def test_what_comes_next_is_said(house: House) -> None:
    """After one is settled the next is a link, and after the last that nothing else waits."""
    one, two = await house.asked(summary="one", expires_in="1h"), await house.asked(summary="two")
    async with house.window(screen=PHONE, java_script_enabled=False) as window:
        await window.open(f"ask/{one['trail']}")
        await expect(window.page.locator("#then")).to_have_count(0)
        await window.button("Approve, once").click()
        await expect(window.card.get_by_role("link", name="To taking it back ↓")).to_have_count(1)
        await window.page.get_by_role("link", name='Next: "two"').click()
        await expect(window.page.locator("h1#what")).to_have_text('"two"')
        await window.button("Reject").click()
        await expect(window.page.locator("#then")).to_have_text("Nothing else waits for you.")
        await window.open()
        await expect(window.page.locator("#waiting + .empty")).to_be_visible()
    assert (await house.stands(two))["status"] == "rejected"


async def test_a_long_inbox_says_what_is_shown(house: House) -> None:
    """A page of 50 says so and leads to the next; the last page says that there is no more."""
    for n in range(3):
        await house.world.agent(f"a{n}")
        for k in range(18):
            await house.asked(f"agent:a{n}", summary=f"{n}/{k}", expires_in=f"{1 + n}h")
    async with house.window(screen=PHONE, java_script_enabled=False) as window:
        await window.open()
        await expect(window.page.locator("#mine")).to_have_text("54 wait for you")
        await expect(window.page.locator("#onwards")).to_contain_text("The 50 with the nearest deadlines are shown.")
        await window.page.get_by_role("link", name="The next ones").click()
        await expect(window.page.locator("#waiting .row")).to_have_count(4)
        await expect(window.page.locator("#mine")).to_have_text("about 54 wait for you")
        first = window.page.locator("#waiting .row a.card").first
        await first.click()
        await window.button("Reject").click()
        await window.page.get_by_role("link", name="← Inbox").click()
        await expect(window.page.locator("#waiting .row")).to_have_count(3)


async def test_a_space_whose_clock_can_be_moved_is_marked(house: House) -> None:
    """On the list of one's spaces it has a mark that stands out from its name."""
    other = World(house.world.engine, house.world.store, f"{house.world.space}-b")
    await other.operate("space", simulated=True)
    await other.human("ana", "member", signed_in=False)
    async with house.window() as window:
        await window.page.goto(f"{house.url}/?all")
        mark = window.page.locator(".rows .state", has_text="simulated")
        await expect(mark).to_have_count(2)
        plain, marked = [
            await at.evaluate("e => getComputedStyle(e).backgroundColor")
            for at in (window.page.locator(".rows .title").first, mark.first)
        ]
        assert marked != plain


async def test_words_for_one_verdict_are_not_taken_for_another(house: House) -> None:
    """A reason to reject what somebody else has approved by then can be copied, and is none to take that back."""
    ask = await house.asked()
    async with house.window(java_script_enabled=False) as window:
        await window.open(f"ask/{ask['trail']}")
        await window.page.locator("#reason").fill("Not on a Friday")
        await house.decided("bo", ask)
        await window.button("Reject").click()
        await expect(window.button("Take the approval back")).to_be_visible()
        await expect(window.page.locator("#why")).to_have_value("")
        await expect(window.page.get_by_label("What you had typed")).to_have_value("Not on a Friday")
        await window.page.locator("#why").fill("x" * 900)
        await window.page.locator("#why").evaluate("e => { e.value += 'x'.repeat(200) }")
        await window.button("Take the approval back").click()
        await expect(window.page.locator("#why")).to_have_value("x" * 1100)
