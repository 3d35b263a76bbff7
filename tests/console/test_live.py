"""Pages that stay up to date: what happens elsewhere arrives in place, and takes nothing from who is typing."""

import os
import signal

import pytest
from playwright.async_api import expect

from tests.console.window import PHONE, House, Window
from tests.surfaces.process import serving
from tests.world import Result

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOUR = 3_600_000


async def _mark(window: Window) -> None:
    """Leave a mark on the page that a reload would lose."""
    await window.page.evaluate("document.body.dataset.mark = 'kept'")


async def _unmoved(window: Window) -> None:
    """The page was not loaded anew."""
    await expect(window.page.locator("body")).to_have_attribute("data-mark", "kept")


async def _place(window: Window, ask: Result) -> float:
    """How far down the window the row of an ask is."""
    box = await window.row(ask).bounding_box()
    assert box
    return box["y"]


async def test_a_decision_made_elsewhere_replaces_the_card(house: House) -> None:
    """The card says who, what, when and where; what was typed stays, to be copied; the focus is where it is told."""
    ask = await house.asked()
    async with house.window() as window:
        await window.follow(f"ask/{ask['trail']}")
        await _mark(window)
        await window.page.locator("#reason").fill("Half a thou")
        await house.decided("bo", ask, "reject", reason="Not this one")
        await expect(window.status).to_have_text("Rejected")
        await expect(window.page.locator(".verdict")).to_contain_text("human:bo rejected this just now in the console")
        await expect(window.page.locator(".verdict")).to_contain_text('"Not this one"')
        await expect(window.page.get_by_label("What you had typed")).to_have_value("Half a thou")
        await expect(window.status).to_be_focused()
        await expect(window.row(ask)).to_contain_text("Rejected")
        await expect(window.button("Approve, once")).to_have_count(0)
        await _unmoved(window)


async def test_another_s_decision_leaves_what_i_type(house: House) -> None:
    """A row changes in place; the text, the cursor in it and the focus of the open card stay as they are."""
    mine, theirs = await house.asked(), await house.asked(summary="theirs", expires_in="1h")
    async with house.window() as window:
        await window.follow(f"ask/{mine['trail']}")
        await _mark(window)
        before = await _place(window, mine)
        reason = window.page.locator("#reason")
        await reason.fill("Half a thought")
        await reason.press("ArrowLeft")
        await house.decided("bo", theirs)
        await expect(window.row(theirs)).to_contain_text("Approved")
        await house.world.do("human:bo", "ask_back", trail=mine["trail"], text="Which registry?")
        await expect(window.card.locator(".history")).to_contain_text("Which registry?")
        await expect(reason).to_have_value("Half a thought")
        await expect(reason).to_be_focused()
        await reason.press("X")
        await expect(reason).to_have_value("Half a thoughXt")
        assert await _place(window, mine) == before
        await _unmoved(window)


async def test_what_is_typed_is_there_when_one_comes_back(house: House) -> None:
    """From one ask to another and back, and over a reload, the words wait in their field; sent ones are gone."""
    one, two = await house.asked(), await house.asked(summary="two")
    async with house.window() as window:
        await window.follow(f"ask/{one['trail']}")
        await window.page.locator("#reason").fill("Later")
        await window.row(two).get_by_role("link").click()
        await expect(window.page.locator("h1#what")).to_have_text('"two"')
        await expect(window.page.locator("#reason")).to_have_value("")
        await window.row(one).get_by_role("link").click()
        await expect(window.page.locator("#reason")).to_have_value("Later")
        await window.page.reload()
        await expect(window.page.locator("#reason")).to_have_value("Later")
        await window.button("Reject").click()
        await expect(window.page.locator(".verdict")).to_contain_text('"Later"')
        await expect(window.page.get_by_label("What you had typed")).to_be_hidden()
        await window.page.go_back()
        assert (await house.stands(one))["status"] == "rejected"


async def test_new_asks_move_nothing(house: House) -> None:
    """One that would stand above others is counted and waits to be asked for; one that comes last is added."""
    ask = await house.asked(expires_in="2h")
    async with house.window() as window:
        await window.follow()
        before = await _place(window, ask)
        await window.row(ask).get_by_role("link").focus()
        later = await house.asked("agent:codex", summary="later", expires_in="20h")
        await expect(window.row(later)).to_be_visible()
        sooner = await house.asked("agent:codex", summary="sooner", expires_in="1h")
        await house.asked("agent:codex", summary="sooner still", expires_in="30m")
        show = window.button("2 new – show them")
        await expect(show).to_be_visible()
        await expect(window.row(sooner)).to_have_count(0)
        await expect(window.row(ask).get_by_role("link")).to_be_focused()
        await expect(window.page).to_have_title("(4) Inbox · LogMem")
        await expect(window.page.locator("#mine")).to_have_text("4 wait for you")
        assert await _place(window, ask) == before
        await show.click()
        await expect(window.page.locator("#waiting .row")).to_have_count(4)
        await expect(window.page.locator("#waiting .row .title").first).to_contain_text("sooner")
        await expect(show).to_have_count(0)


async def test_the_first_ask_comes_by_itself(house: House) -> None:
    """An empty inbox fills without being asked, on a phone too."""
    async with house.window(screen=PHONE) as window:
        await window.follow()
        await expect(window.page.get_by_text("Nothing waits for you. What").first).to_be_visible()
        ask = await house.asked()
        await expect(window.row(ask)).to_be_visible()
        await expect(window.page.get_by_text("Nothing waits for you. What").first).to_be_hidden()


async def test_what_expires_is_no_button_any_more(house: House) -> None:
    """Once the deadline has passed the page says so, though nobody wrote anything."""
    ask = await house.asked(expires_in="1h")
    async with house.window() as window:
        await window.follow(f"ask/{ask['trail']}")
        await house.world.pass_time(2 * HOUR)
        await house.asked(summary="something happens")
        await expect(window.status).to_have_text("Expired: nobody decided")
        await expect(window.button("Approve, once")).to_have_count(0)


async def test_a_killed_server_is_told_and_nothing_is_missed(house: House) -> None:
    """After kill -9 the page says that it is offline; once a server is back it shows all that happened, in place."""
    ask, other = await house.asked(), await house.asked(summary="other")
    with serving(house.world.engine) as first:
        port = int(first.url.rpartition(":")[2])
        async with house.window(url=first.url) as window:
            await window.follow(f"ask/{ask['trail']}")
            await _mark(window)
            await window.page.locator("#reason").fill("Half a thou")
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait(10)
            live = window.page.locator("#live")
            await expect(live).to_contain_text("Reconnecting")
            await house.decided("bo", other, "reject", reason="no")
            await house.asked("agent:codex", summary="meanwhile", expires_in="48h")
            await window.button("Reject").click()
            await expect(window.page.locator("#refusal")).to_contain_text("not known whether this was done")
            await expect(live).to_contain_text("Offline since")
            with serving(house.world.engine, port=port):
                await window.live()
                await expect(window.row(other)).to_contain_text("Rejected")
                await expect(window.page.locator("#waiting")).to_contain_text("meanwhile")
                await expect(window.page.locator("#reason")).to_have_value("Half a thou")
                await _unmoved(window)
                await window.button("Reject").click()
                await expect(window.page.locator(".verdict")).to_contain_text('"Half a thou"')


async def test_a_page_left_behind_catches_up(house: House) -> None:
    """What happens between the moment a page was read and the moment it begins to follow is not missed."""
    ask = await house.asked()
    async with house.window() as window:
        held = window.page.expect_request("**/api/events*")
        await window.page.route("**/api/events*", lambda route: route.abort())
        async with held:
            await window.open(f"ask/{ask['trail']}")
        await house.decided("bo", ask)
        await window.page.unroute("**/api/events*")
        await expect(window.status).to_have_text("Approved")


async def test_a_session_that_ended_elsewhere_says_so(house: House) -> None:
    """Signing out in another window ends this one's stream, and leads to signing in."""
    async with house.window() as window, house.window() as other:
        await window.follow()
        await other.follow()
        await other.page.locator("#menu summary").click()
        await other.button("Sign out").click()
        await expect(window.page.locator("#live")).to_contain_text("Signed out.")
        await window.page.get_by_role("link", name="Sign in").click()
        await expect(window.page.get_by_role("heading", name="Sign in to LogMem")).to_be_visible()
