"""People in a browser: added, linked, given another role, removed; their sessions, which are ended; and four eyes."""

import pytest
from playwright.async_api import expect

from tests.console.window import DESK, PHONE, House, Screen

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_person_is_added_linked_changed_and_removed(house: House, screen: Screen, script: bool) -> None:
    """With a link that signs them in elsewhere, a role that is changed, and then taken away on a second press."""
    async with (
        house.window(screen=screen, java_script_enabled=script) as window,
        house.window("", signed_in=False, java_script_enabled=script) as theirs,
    ):
        page = window.page
        await window.open("people")
        await page.get_by_role("link", name="Add a person").click()
        await page.get_by_label("Name").fill("Cy Cy")
        await page.get_by_label("member").check()
        await window.button("Add them").click()
        await expect(page.locator("#refusal")).to_contain_text("Did you mean human:cy-cy?")
        await expect(page.get_by_label("Name")).to_have_value("Cy Cy")
        await expect(page.get_by_label("member")).to_be_checked()
        await page.get_by_label("Name").fill("cy")
        await window.button("Add them").click()
        await expect(page.locator("#standing")).to_contain_text("member")
        await page.get_by_role("link", name="Make a sign-in link").click()
        await window.button("Make the link").click()
        await expect(page.locator(".alert")).to_contain_text("10 min left")
        link = await page.locator("#secret-link").inner_text()
        await theirs.page.goto(link)
        await theirs.button("Sign in as human:cy").click()
        await expect(theirs.page.get_by_role("heading", name="Inbox")).to_be_visible()
        await page.get_by_role("link", name="Done").click()
        await expect(page.locator("#sessions-of")).to_contain_text("by a link of human:ana")
        await page.get_by_label("owner").check()
        await page.get_by_label("Approves nothing").check()
        await window.button("Change it").click()
        await expect(page.locator("#standing")).to_contain_text("approves nothing")
        await page.get_by_role("link", name="Take the role away").click()
        await expect(page.locator(".consequences")).to_contain_text("also in sessions that are open now")
        await window.button("Take the role away").click()
        await expect(page.locator("#members")).not_to_contain_text("human:cy")
        await theirs.open()
        await expect(theirs.page.locator("#problem")).to_contain_text("has no space")
        await window.open("people/human%3Acy")
        await expect(page.locator("#standing")).to_contain_text("no role any more")
        theirs.complaints.clear()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_sessions_are_ended(house: House, script: bool) -> None:
    """One's own but for this one, and as an owner another's, whose open page says so at once."""
    mine = house.world.tokens["human:ana"]
    await house.world.sign_in("ana")
    async with house.window(java_script_enabled=script) as window, house.window("bo") as bo:
        page = window.page
        await bo.follow()
        await window.open("people")
        await page.get_by_role("link", name="Your sessions").click()
        await expect(page.locator(".sessions li")).to_have_count(2)
        await expect(page.locator(".sessions")).to_contain_text("This browser")
        await expect(page.get_by_role("button", name="End session")).to_have_count(1)
        await page.get_by_role("button", name=f"End session {mine.split('_')[1]}").click()
        await expect(page.locator(".sessions li")).to_have_count(1)
        await window.open("people/human%3Abo")
        await page.get_by_role("button", name="End session").click()
        await expect(page.locator("#sessions-of")).to_contain_text("There is none now")
        await expect(bo.page.locator("#live")).to_contain_text("Signed out.")


async def test_the_rule_of_four_eyes_is_set(house: House) -> None:
    """An owner sets it; others read what it means."""
    async with house.window() as window, house.window("bo") as bo:
        await bo.follow("people")
        await expect(bo.page.locator("#rule")).to_contain_text("Where several people approve")
        await window.open("people")
        await window.page.locator("#rule-on").check()
        await window.button("Set the rule").click()
        await expect(window.page.locator("#eyes")).to_have_text("Four eyes: on")
        await expect(bo.page.locator("#eyes")).to_have_text("Four eyes: on")


async def test_the_last_owner_stays(house: House) -> None:
    """Neither by another role nor by taking it away; the page says why, with the role that was chosen."""
    async with house.window(java_script_enabled=False) as window:
        await window.open("people/human%3Aana")
        await window.page.get_by_label("member").check()
        await window.button("Change it").click()
        await expect(window.page.locator("#refusal")).to_contain_text("is the only owner")
        await expect(window.page.get_by_label("member")).to_be_checked()
        await window.open("people/human%3Aana/remove")
        await window.button("Take the role away").click()
        await expect(window.page.locator("#refusal")).to_contain_text("is the only owner")


async def test_who_is_no_owner_looks_only(house: House) -> None:
    """Lists and pages without a form; and their own sessions, which they end."""
    await house.world.sign_in("bo")
    key = house.world.tokens["agent:grok"].split("_")[1]
    async with house.window("bo") as window:
        page = window.page
        paths = ("keys", f"keys/{key}", f"keys/{key}/revoke", "keys/mint", "people", "people/add")
        others = ("people/human%3Aana", "people/human%3Aana/link", "people/human%3Aana/remove")
        for path in (*paths, *others):
            await window.open(path)
            await expect(page.locator("h1")).to_be_visible()
            await expect(page.locator("main form")).to_have_count(0)
            await expect(page.locator("main .button.danger, #to-mint, #to-add")).to_have_count(0)
        await window.open("people/human%3Abo")
        await page.get_by_role("button", name="End session").click()
        await expect(page.get_by_role("button", name="End session")).to_have_count(0)
