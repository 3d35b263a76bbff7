"""What axe-core finds on each page: nothing, on phone and desk, dark and light."""

from importlib.resources import files

import pytest
from playwright.async_api import Page, expect

from tests.console.window import SCREENS, House, Screen

pytestmark = pytest.mark.asyncio(loop_scope="session")

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TRIED = {
    "label-content-name-mismatch": {"enabled": True}
}  # an experiment of axe: who speaks to a page says what they see


async def findings(page: Page) -> list[str]:
    """What axe finds on a page as it stands, each in a line."""
    await page.evaluate(AXE)
    found = await page.evaluate("how => axe.run(document, how)", {"runOnly": RULES, "rules": TRIED})
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


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing_in_the_fleet_and_the_jobs(house: House, screen: Screen) -> None:
    """Lists, pages of an agent, a person and jobs of each stage, the two forms, and each fold with a refusal in it."""
    world = house.world
    await world.agent("muse")
    await world.do("agent:muse", "recap", notes="done")
    await world.do("agent:grok", "bio", profile={"role": "release manager", "skills": ["python"]})
    await world.do("agent:grok", "status", doing="a\nb", blocked="No token", waiting_on="bo", where="job:a")
    for job, steps in (("a", 0), ("b", 1), ("c", 2), ("d", 3)):
        await world.do("human:bo", "assign", job=job, title=f"The {job}", to="grok", plan="q4", milestones=["x", "y"])
        for stage in ("in_progress", "review", "done")[:steps]:
            await world.do("human:bo", "stage", job=job, stage=stage)
    await world.do("agent:grok", "update", job="b", summary="s", blocked="No token")
    await world.do("human:ana", "handoff", to="agent:grok", where="job:b", summary="Take it")
    await world.do("agent:grok", "huddle", where="job:b", question="Ship?", seats=["codex", "ana"])
    await world.do("agent:grok", "note", where="job:loose", kind="question", summary="s")
    await house.asked(risk="high")
    addresses = [
        "fleet",
        "fleet?find=o",
        "fleet/agent:grok",
        "fleet/human:ana",
        "fleet/note",
        "jobs",
        "jobs?stage=todo",
    ]
    addresses += ["jobs?plan=q4", "jobs/new", "job/a", "job/b", "job/c", "job/d", "job/loose"]
    async with house.window(screen=screen) as window:
        for address in addresses:
            await window.follow(address)
            assert await findings(window.page) == [], address
        for address, folds in (
            ("job/b", ("send-back", "update", "assign", "handoff")),
            ("fleet/agent:grok", ("note", "job", "handoff")),
        ):
            await window.follow(address)
            for fold in folds:
                await window.page.locator(f"#{fold}-open").click()
                await window.page.evaluate("scrollTo(0, 0)")  # nothing is half under the bar
                assert await findings(window.page) == [], (address, fold)
        await window.page.locator("#handoff-summary").fill("Take it")
        await window.page.locator("#handoff-where").fill("job:d")
        await window.page.locator("#handoff-send").click()
        await expect(window.page.locator("#handoff #refusal")).to_be_visible()
        assert await findings(window.page) == []
