"""What axe-core finds on each page: nothing, on phone and desk, dark and light."""

from importlib.resources import files

import pytest
from playwright.async_api import Page, expect

from tests.console.window import SCREENS, House, Screen

pytestmark = pytest.mark.asyncio(loop_scope="session")

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


async def findings(page: Page) -> list[str]:
    """What axe finds on a page as it stands, each in a line."""
    await page.evaluate(AXE)
    found = await page.evaluate("tags => axe.run(document, {runOnly: tags})", RULES)
    assert len(found["passes"]) > 10  # it has looked
    return [f"{v['id']}: {n['html']} {n['failureSummary']}" for v in found["violations"] for n in v["nodes"]]


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing(house: House, screen: Screen) -> None:
    """The inbox empty and full, asks of each kind open and settled, a handoff, signing in, keys, menu, what failed."""
    world = house.world
    await world.agent("careful", responsible="bo")
    path = (await world.operate("link", name="ana"))["link_path"]
    async with house.window(screen=screen, signed_in=False) as window:
        for address in (path, "/", "/keyboard", "/sign-in/x"):
            await window.page.goto(f"{house.url}{address}")
            assert await findings(window.page) == []
    async with house.window(screen=screen) as window:
        await window.follow()
        assert await findings(window.page) == []
        asks = [
            await house.asked(),
            await house.asked(summary="choose", options=["Yes", "No"]),
            await house.asked(summary="say", allow=["answer"], risk="low"),
            await house.asked(
                "agent:careful", summary="harm\n\u202e", risk="high", payload={"deep": {"a": [1, {"b": ["x\ny"] * 5}]}}
            ),
            await house.asked(summary="for bo", approvers=["human:bo"]),
            await house.asked(summary="approved"),
            await house.asked(summary="rejected"),
        ]
        item = await world.do("agent:grok", "handoff", to="human:ana", where="job:a", summary="Take it")
        await world.do("human:bo", "ask_back", trail=asks[0]["trail"], text="Why?")
        await house.decided("ana", asks[5])
        await house.decided("bo", asks[6], "reject", reason="no")
        addresses = ["", *(f"ask/{a['trail']}" for a in asks), f"item/{item['trail']}", "nothing"]
        for address in addresses:
            await window.open(address)
            if address != "nothing":
                await window.live()
            assert await findings(window.page) == [], address
        await window.follow()
        await window.page.locator("#menu summary").click()
        assert await findings(window.page) == []
        await window.page.get_by_role("link", name="Keyboard").click()
        await expect(window.page.get_by_role("dialog")).to_be_visible()
        assert await findings(window.page) == []
