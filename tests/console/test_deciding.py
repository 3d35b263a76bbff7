"""Signing in and deciding each way, on phone and desk, dark and light, with the script and without it."""

import pytest
from playwright.async_api import expect

from tests.console.window import DESK, PHONE, SCREENS, House, Screen, Window
from tests.world import Result

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_one_signs_in_by_a_link(house: House, screen: Screen) -> None:
    """Opening the link uses nothing up; its button leads to the inbox, with nothing waiting."""
    path = (await house.world.operate("link", name="ana"))["link_path"]
    async with house.window(screen=screen, signed_in=False) as window:
        for _ in range(2):
            await window.page.goto(f"{house.url}{path}")
        await window.button("Sign in as human:ana").click()
        await expect(window.page.get_by_role("heading", name="Inbox")).to_be_visible()
        await window.live()
        await window.page.goto(f"{house.url}{path}")
        await expect(window.page.get_by_role("heading", name="Inbox")).to_be_visible()


async def _opened(window: Window, ask: Result) -> None:
    """From the list to the one thing, by pressing it."""
    await window.open()
    await window.row(ask).get_by_role("link").click()
    await expect(window.page.locator("h1#what")).to_be_visible()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_an_ask_is_decided_each_way(house: House, screen: Screen, script: bool) -> None:
    """Approve, reject with a reason, answer by choice and in words, ask back and take back: as the store says after."""
    if not script and screen.look == "dark":
        screen = Screen(screen.name, screen.size)  # without the script nothing depends on the look
    approve, reject, free = (
        await house.asked(),
        await house.asked(summary="b"),
        await house.asked(summary="c", allow=["answer"]),
    )
    choose = await house.asked(summary="d", options=["Yes", "No, wait"])
    async with house.window(screen=screen, java_script_enabled=script) as window:
        await _opened(window, approve)
        await expect(window.card).to_contain_text("Approving lets agent:grok use this once, exactly as shown, until")
        await window.page.locator("#asking summary").click()
        await window.page.get_by_label("Your question").fill("Which registry?")
        await window.button("Send the question").click()
        await expect(window.card.locator(".history")).to_contain_text("Which registry?")
        await expect(window.page.locator("#text")).to_have_value("")
        await window.button("Approve, once").click()
        await expect(window.status).to_have_text("Approved")
        await expect(window.page.locator(".verdict")).to_contain_text("human:ana approved this")

        await _opened(window, reject)
        await window.page.locator("#reason").fill("Not on a Friday")
        await window.button("Reject").click()
        await expect(window.page.locator(".verdict")).to_contain_text('Reason: "Not on a Friday"')

        await _opened(window, free)
        await window.page.get_by_label("Your answer").fill("Blue")
        await window.button("Send this answer").click()
        await expect(window.page.locator(".verdict")).to_contain_text('Answer: "Blue"')

        await _opened(window, choose)
        await window.page.get_by_label("No, wait").check()
        await window.button("Send this answer").click()
        await expect(window.status).to_have_text("Answered")

        await window.open()
        await expect(window.page.locator("#waiting .row")).to_have_count(0)
        await window.row(approve).get_by_role("button").click()
        await expect(window.status).to_have_text("Approval taken back")
    states = {
        a: (await house.stands(one))["status"] for a, one in (("a", approve), ("r", reject), ("f", free), ("c", choose))
    }
    assert states == {"a": "taken_back", "r": "rejected", "f": "answered", "c": "answered"}
    assert (await house.stands(choose))["answer"] == "No, wait"


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_what_was_handed_over_is_settled(house: House, screen: Screen, script: bool) -> None:
    """Accepting a handoff and declining one with a reason; both are then gone from what waits."""
    one, two = [
        await house.world.do("agent:grok", "handoff", to="human:ana", where=f"job:{n}", summary=f"Take {n}")
        for n in "ab"
    ]
    async with house.window(screen=screen, java_script_enabled=script) as window:
        await _opened(window, one)
        await window.button("Accept").click()
        await expect(window.status).to_have_text("Accepted")
        await _opened(window, two)
        await window.page.get_by_label("Reason to decline").fill("I have no token")
        await window.button("Decline").click()
        await expect(window.page.locator(".verdict")).to_contain_text('Reason: "I have no token"')
        await window.open()
        await expect(window.page.locator("#waiting")).not_to_contain_text("Take")
    assert [(await house.stands(i))["status"] for i in (one, two)] == ["accepted", "declined"]


async def test_a_handoff_brings_what_is_known(house: House) -> None:
    """The facts that went along with it stand beside the decision, each with who said it and when."""
    world = house.world
    await world.do(
        "agent:codex", "note", where="job:billing", kind="fact", summary="The bank closes at 16:00", why="asked"
    )
    await world.do("agent:codex", "recall", query="bank")  # once it has answered, the index holds what was written
    item = await world.do(
        "agent:grok", "handoff", to="human:ana", where="job:billing", summary="Call the bank before it closes"
    )
    async with house.window() as window:
        await window.open(f"item/{item['trail']}")
        known = window.page.get_by_role("region", name="What is known about it")
        await expect(known).to_contain_text('"The bank closes at 16:00"')
        await expect(known).to_contain_text("agent:codex")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_seat_in_a_huddle_is_answered(house: House, script: bool) -> None:
    """It waits beside asks and handoffs; answering fills it once, and another is declined with a reason."""
    questions = ("Ship on Friday?", "Ship at all?")
    for question in questions:
        await house.world.do(
            "agent:grok", "huddle", where="job:release", question=question, seats=["human:ana", "codex"]
        )
    async with house.window(java_script_enabled=script) as window:
        for question in questions:
            await window.open()
            row = window.page.locator("#waiting .row", has_text=question)
            await expect(row).to_contain_text("Seat in a huddle")
            await row.get_by_role("link").click()
            await expect(window.card).to_contain_text("adds your answer to the huddle, once")
            if question == questions[0]:
                await window.page.get_by_label("Your answer").fill("On Thursday")
                await window.button("Send this answer").click()
                await expect(window.status).to_have_text("Answered")
                await expect(window.page.locator(".verdict")).to_contain_text("human:ana answered")
            else:
                await window.page.get_by_label("Reason to decline").fill("Ask bo")
                await window.button("Decline").click()
                await expect(window.page.locator(".verdict")).to_contain_text('Reason: "Ask bo"')
        await window.open()
        await expect(window.page.locator("#waiting .row")).to_have_count(0)


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_the_loser_of_a_race_sees_who_won(house: House, script: bool) -> None:
    """Two windows on one ask: who presses second is told who decided what, when and where; their words are kept."""
    ask = await house.asked()
    async with (
        house.window("ana", java_script_enabled=script) as ana,
        house.window("bo", java_script_enabled=False) as bo,
    ):
        await ana.open(f"ask/{ask['trail']}")
        await bo.open(f"ask/{ask['trail']}")
        await ana.button("Approve, once").click()
        await expect(ana.status).to_have_text("Approved")
        await bo.page.locator("#reason").fill("Not this one")
        await bo.button("Reject").click()
        told = bo.page.locator("#refusal")
        await expect(told).to_contain_text("human:ana approved this just now in the console")
        await expect(bo.page.get_by_label("What you had typed")).to_have_value("Not this one")
        await expect(bo.button("Reject")).to_have_count(0)


async def test_a_choice_of_looks_is_remembered(house: House) -> None:
    """Dark chosen on a light system stays over pages and reloads, also without the script; system brings it back."""
    light, dark = "rgb(244, 244, 240)", "rgb(17, 19, 21)"
    async with house.window(java_script_enabled=False) as window:
        await window.open()
        body = window.page.locator("body")
        await expect(body).to_have_css("background-color", light)
        await window.page.locator("#menu summary").click()
        await window.button("Dark").click()
        for _ in range(2):
            await expect(body).to_have_css("background-color", dark)
            await window.page.reload()
        await window.page.locator("#menu summary").click()
        await expect(window.button("Dark")).to_have_attribute("aria-pressed", "true")
        await window.button("System").click()
        await expect(body).to_have_css("background-color", light)


@pytest.mark.parametrize("width", [360, 768, 1024, 1440, 2560])
async def test_no_width_scrolls_sideways(house: House, width: int) -> None:
    """From a small phone to a wide desk nothing is wider than the window, however long the words."""
    ask = await house.asked(summary="w" * 300, payload={"k" * 60: "x" * 2000, "a b": ["y" * 400]})
    async with house.window(screen=Screen("any", (width, 800))) as window:
        for path in ("", f"ask/{ask['trail']}"):
            await window.follow(path)
            assert await window.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_targets_are_as_large_as_a_finger(house: House) -> None:
    """On a phone each link and button is at least 44 px high, but for links within a sentence."""
    ask = await house.asked()
    done = await house.asked(summary="done")
    await house.decided("ana", done)
    async with house.window(screen=PHONE) as window:
        for path in ("", f"ask/{ask['trail']}", f"ask/{done['trail']}"):
            await window.follow(path)
            small = await window.page.evaluate(
                """[...document.querySelectorAll("a, button, summary, textarea, label.choice")]
                .filter(e => e.offsetParent && !e.closest(".skip, .payload, .note, .empty"))
                .filter(e => e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML)"""
            )
            assert small == []


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_link_to_an_ask_is_followed_after_signing_in(house: House, script: bool) -> None:
    """Who opens an ask without a session and signs in by a link in that browser is at the ask; the next time not."""
    ask = await house.asked()
    async with house.window(signed_in=False, java_script_enabled=script) as window:
        await window.open(f"ask/{ask['trail']}")
        await expect(window.page.get_by_role("heading", name="Sign in to LogMem")).to_be_visible()
        for heading in (window.page.locator("h1#what"), window.page.get_by_role("heading", name="Inbox")):
            path = (await house.world.operate("link", name="ana"))["link_path"]
            await window.page.goto(f"{house.url}{path}")
            await window.button("Sign in as human:ana").click()
            await expect(heading).to_be_visible()
