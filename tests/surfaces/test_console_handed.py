"""What was handed to a person, in the console: in their inbox, on a page of its own, accepted or declined there."""

import asyncio
from typing import Any

import httpx
import pytest

from api.console.inert import exactly, said
from tests.contract.handing import handed
from tests.surfaces.browser import Browser, Page
from tests.surfaces.test_console import browser
from tests.surfaces.test_console_safety import HOSTILE
from tests.world import Result, World


async def given(world: World, **more: Any) -> Result:
    """An open item of grok's to ana."""
    return await handed(world, **({"to": "human:ana", "where": "job:release", "summary": "Type the code"} | more))


async def opened(person: Browser, item: Result) -> Page:
    """The page of an item."""
    return await person.open(f"/s/{person.space}/item/{item['trail']}")


async def stands(world: World, item: Result) -> Result:
    """How an item stands, as its sender sees it."""
    return await world.do("agent:grok", "view", what=item["trail"])


async def test_the_inbox_shows_what_was_handed_to_me(http: httpx.AsyncClient, world: World) -> None:
    """By name and by role, nearest deadline first, until it is settled or its deadline passed; nobody else's."""
    late = await given(world)
    soon = await given(world, to="role:approver", deadline="2h")
    gone = await given(world, deadline="10m")
    bos = await given(world, to="human:bo")
    await world.pass_time(3_600_000)
    ana = browser(http, world)
    page = await ana.inbox()
    assert "2 wait for you" in page.words
    section = page.root.one("ol", id="waiting")
    assert section.words.count("Handoff") == 2
    paths = [card.attributes["href"] for card in section.all("a", cls="card")]
    assert paths == [f"/s/{world.space}/item/{item['trail']}" for item in (soon, late)]
    assert [(await opened(ana, item)).actions for item in (soon, late, gone, bos)] == [["accept", "decline"]] * 2 + [
        [],
        [],
    ]


async def test_an_item_is_accepted_by_its_form(http: httpx.AsyncClient, world: World) -> None:
    """Its sender learns who took it over and where; the job is theirs; the page says so and has no form any more."""
    item = await given(world)
    ana = browser(http, world)
    page = await opened(ana, item)
    assert page.root.one("h1").text == '"Type the code"'
    done = await ana.send(page.form("/accept"))
    assert (done.status, done.response.headers["location"]) == (303, f"/s/{world.space}/item/{item['trail']}")
    after = await opened(ana, item)
    assert "human:ana accepted" in after.root.one("div", cls="verdict").words
    assert after.actions == []
    seen = await stands(world, item)
    assert (seen["status"], seen["by"], seen["via"]) == ("accepted", "human:ana", "console")
    assert (await world.do("agent:grok", "view", what="job:release"))["who"]["assignee"] == "human:ana"
    assert "Nothing waits for you" in (await ana.inbox()).root.words


async def test_declining_takes_a_reason(http: httpx.AsyncClient, world: World) -> None:
    """Without one nothing changes and the page says why; with one its sender reads it."""
    item = await given(world)
    ana = browser(http, world)
    form = (await opened(ana, item)).form("/decline")
    empty = await ana.send(form, reason=" ")
    assert empty.status == 400
    assert "Say why" in empty.root.one("div", cls="alert").words
    assert (await ana.send(empty.form("/decline"), reason="I have no token")).status == 303
    assert 'Reason: "I have no token"' in (await opened(ana, item)).root.one("div", cls="verdict").words
    assert (await stands(world, item))["reason"] == "I have no token"


async def test_of_two_who_settle_a_role_s_item_one_wins(http: httpx.AsyncClient, world: World) -> None:
    """The other's page says who was first."""
    item = await given(world, to="role:approver")
    people = [browser(http, world, name) for name in ("ana", "bo")]
    forms = [(await opened(p, item)).form(f"/{end}") for p, end in zip(people, ("accept", "decline"), strict=True)]
    pages = await asyncio.gather(people[0].send(forms[0]), people[1].send(forms[1], reason="not mine"))
    assert sorted(p.status for p in pages) == [303, 409]
    lost = next(p for p in pages if p.status == 409)
    assert (await stands(world, item))["by"] in lost.root.one("div", cls="alert").words
    assert lost.actions == []


async def test_a_form_for_somebody_else_s_item_is_refused(http: httpx.AsyncClient, world: World) -> None:
    """Whoever it is not for sees it and why they cannot settle it; their form changes nothing."""
    item = await given(world, to="human:bo")
    mine = await given(world)
    ana = browser(http, world)
    assert "It is for human:bo" in (await opened(ana, item)).words
    form = (await opened(ana, mine)).form("/accept")
    form.attributes["action"] = f"/s/{world.space}/item/{item['trail']}/accept"
    before = await world.dump()
    assert (await ana.send(form)).status == 403
    assert await world.dump() == before


async def test_an_ask_and_an_item_lead_to_their_own_pages(http: httpx.AsyncClient, world: World) -> None:
    """An id under the other's address leads to where it is."""
    item = await given(world)
    wrong = await browser(http, world).ask(item["trail"])
    assert (wrong.status, wrong.response.headers["location"]) == (303, f"/s/{world.space}/item/{item['trail']}")


@pytest.mark.parametrize("text", HOSTILE)
async def test_what_is_handed_over_is_inert(http: httpx.AsyncClient, world: World, text: str) -> None:
    """The words of a handoff and of a reason are there to be read, whole, as text."""
    item = await given(world, summary=text, to="role:approver")
    ana = browser(http, world)
    assert exactly(text) in (await ana.inbox()).root.text
    page = await opened(ana, item)
    assert page.root.one("h1").text == said(text)
    assert page.actions == ["accept", "decline"]
    await ana.send(page.form("/decline"), reason=text)
    assert exactly(text) in (await opened(ana, item)).root.one("div", cls="verdict").text
