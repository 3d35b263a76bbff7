"""Keys alone: through the list, into one thing, and every decision; and what single keys must never do."""

import pytest
from playwright.async_api import expect

from tests.console.window import DESK, PHONE, House, Screen

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_keys_go_through_the_inbox_and_decide(house: House) -> None:
    """j, k, Enter, a; the next with r, a reason and Enter on the button; without a pointer from end to end."""
    asks = [await house.asked(summary=f"ask {n}", expires_in=f"{n + 1}h") for n in range(3)]
    async with house.window() as window:
        keys = window.page.keyboard
        await window.follow()
        for key, at in (("j", 0), ("j", 1), ("j", 2), ("j", 2), ("k", 1), ("k", 0)):
            await keys.press(key)
            await expect(window.row(asks[at]).get_by_role("link")).to_be_focused()
        await keys.press("Enter")
        await expect(window.page.locator("h1#what")).to_be_focused()
        await keys.press("a")
        await expect(window.status).to_have_text("Approved")
        await keys.press("j")
        await keys.press("Enter")
        await expect(window.page.locator("h1#what")).to_have_text('"ask 1"')
        await keys.press("r")
        await expect(window.page.locator("#reason")).to_be_focused()
        await keys.type("a jar of reasons?")
        await keys.press("Escape")
        await keys.press("r")
        await keys.press("Tab")
        await keys.press("Tab")
        await expect(window.button("Reject")).to_be_focused()
        await keys.press("Enter")
        await expect(window.page.locator(".verdict")).to_contain_text('"a jar of reasons?"')
    states = [(await house.stands(a))["status"] for a in asks]
    assert states == ["approved", "rejected", "pending"]


async def test_a_decides_nothing_that_was_not_in_view(house: House) -> None:
    """In a long ask it first goes down to its end; with the list alone it does nothing; in a field it only writes."""
    long = await house.asked(payload={f"line {n}": "x" for n in range(200)})
    async with house.window() as window:
        keys = window.page.keyboard
        await window.follow()
        await keys.press("j")
        await keys.press("a")
        await keys.press("Enter")
        await expect(window.page.locator("h1#what")).to_be_focused()
        await keys.press("a")
        await expect(window.page.locator("section[data-fixed] .end-of-it")).to_be_in_viewport()
        assert (await house.stands(long))["status"] == "pending"
        await keys.press("r")
        await keys.type("a")
        await keys.press("Escape")
        assert (await house.stands(long))["status"] == "pending"
        await keys.press("a")
        await expect(window.status).to_have_text("Approved")


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_at_high_risk_a_only_leads_to_the_button(house: House, screen: Screen) -> None:
    """The key never approves what may do harm: Enter on the button does."""
    await house.world.agent("careful", responsible="bo")
    ask = await house.asked("agent:careful", risk="high")
    async with house.window(screen=screen) as window:
        keys = window.page.keyboard
        await window.follow(f"ask/{ask['trail']}")
        for _ in range(4):
            await keys.press("a")
        await expect(window.button("Approve the high risk, once")).to_be_focused()
        assert (await house.stands(ask))["status"] == "pending"
        await keys.press("Enter")
        await expect(window.status).to_have_text("Approved")


async def test_single_keys_can_be_turned_off(house: House) -> None:
    """Turned off they do nothing, on every page; the list of keys is a page of its own too."""
    await house.asked()
    async with house.window() as window:
        await window.follow()
        await window.page.keyboard.press("?")
        await window.page.get_by_role("dialog").get_by_role("button", name="Turn single keys off").click()
        await window.live()
        await window.page.keyboard.press("j")
        await window.page.keyboard.press("?")
        await expect(window.page.get_by_role("dialog")).to_have_count(0)
        await expect(window.page.locator("#waiting a").first).not_to_be_focused()
        await window.page.goto(f"{house.url}/keyboard")
        await window.button("Turn single keys on").click()
        await expect(window.button("Turn single keys off")).to_be_visible()


async def test_the_tab_key_reaches_every_decision(house: House) -> None:
    """From the top of the page, by Tab alone, in an order that makes sense, with the focus always to be seen."""
    ask = await house.asked()
    async with house.window(screen=PHONE) as window:
        await window.follow(f"ask/{ask['trail']}")
        reached = []
        for _ in range(40):
            await window.page.keyboard.press("Tab")
            reached.append(await window.page.evaluate("document.activeElement.id"))
            seen = await window.page.evaluate(
                "(e => e === document.body || getComputedStyle(e).outlineStyle !== 'none')(document.activeElement)"
            )
            assert seen, reached[-1]
        order = [reached.index(id) for id in ("back", "reason", "approve", "reject")]
        assert order == sorted(order)
