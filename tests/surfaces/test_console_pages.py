"""What every page of the console has, and what a verdict shows of what was said."""

import httpx
import pytest

from tests.surfaces.browser import Browser
from tests.surfaces.test_console import asked, browser
from tests.world import World


@pytest.mark.parametrize(
    "path", ["/nope", "/s/{space}/ask/ask_AAECAwQFBgcICQoLDA0ODw", "/s/elsewhere/", "/s/{space}/ask/x"]
)
async def test_a_page_that_says_no_keeps_its_head(http: httpx.AsyncClient, world: World, path: str) -> None:
    """Whose session it is, the way out and the way back stand also where something went wrong."""
    page = await browser(http, world).open(path.format(space=world.space), accept="text/html")
    assert page.status in (400, 403, 404)
    assert "human:ana" in page.root.one("header").words
    assert page.root.one("form", action="/sign-out").words == "Sign out"
    assert page.root.one("a", cls="button").attributes["href"] in ("/", f"/s/{world.space}/")


async def test_an_address_with_nothing_is_a_page_for_browsers_only(http: httpx.AsyncClient, world: World) -> None:
    """A browser gets a page, signed in or not; a program, and whoever asks the programs' side, gets JSON."""
    for accept, path, kind in (
        ("text/html,*/*", "/nope", "text/html"),
        ("text/html,*/*", "/api/nope", "application/json"),
        ("application/json", "/nope", "application/json"),
        ("*/*", "/nope", "application/json"),
    ):
        reply = await http.get(path, headers={"Accept": accept})
        assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (404, kind)
    assert "sign-out" not in (await Browser(http, world.space).open("/nope", accept="text/html")).response.text


async def test_nothing_is_quoted_that_nobody_said(http: httpx.AsyncClient, world: World) -> None:
    """What people and agents did without a word stands there in words of ours, without quotation marks."""
    ask, used = await asked(world), await asked(world, summary="Another")
    for one in (ask, used):
        await world.do("human:bo", "decide", trail=one["trail"], verdict="approve", digest=one["digest"])
    await world.do("human:bo", "take_back", trail=ask["trail"])
    await world.do("agent:grok", "redeem", trail=used["trail"])
    for one, says in ((ask, "No reason was given"), (used, "used this approval")):
        page = await browser(http, world).ask(one["trail"])
        assert says in page.root.one("div", cls="verdict").words
        for place in (page.root.one("section", cls="decide"), page.root.one("ol", cls="history")):
            assert '"' not in place.words
        assert "Who could decide" not in page.words


async def test_a_reason_for_taking_back_reaches_who_asked(http: httpx.AsyncClient, world: World) -> None:
    """It stands with the verdict; whoever waits for it, looks at it or comes to use the approval is told it."""
    ask = await asked(world)
    await world.do("human:bo", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"], reason="Go")
    await world.do("human:ana", "take_back", trail=ask["trail"], reason="Wrong build")
    verdict = (await browser(http, world).ask(ask["trail"])).root.one("div", cls="verdict").words
    assert 'Reason: "Wrong build"' in verdict
    assert "Go" not in verdict
    for verb in ("follow", "view"):
        told = await world.do("agent:grok", verb, what=ask["trail"])
        assert told["reason"] == "Wrong build"
        assert told["says"] == 'human:ana took the approval back just now: "Wrong build".'
    reply = await http.post(
        "/api/tools/redeem",
        json={"trail": ask["trail"]},
        headers={"Authorization": f"Bearer {world.tokens['agent:grok']}"},
    )
    error = reply.json()["error"]
    assert (error["code"], error["reason"]) == ("taken_back", "Wrong build")
    assert ': "Wrong build". Nothing ran.' in error["message"]


async def test_a_long_payload_is_shown_whole(http: httpx.AsyncClient, world: World) -> None:
    """Its lines are counted above it, and no box of its own scrolls any of them out of sight."""
    ask = await asked(world, payload={"rows": [{"id": n, "text": "a\nb"} for n in range(50)]})
    page = await browser(http, world).ask(ask["trail"])
    assert "251 lines, all of them here" in page.words  # rows:, and for each a number, id, text: and its two
    sheet = page.root.one("link", rel="stylesheet").attributes["href"]
    (rule,) = [line for line in (await http.get(sheet)).text.splitlines() if line.startswith(".payload {")]
    assert "height" not in rule.replace("line-height", "")
    assert page.root.one("a", cls="jump").attributes["href"] == "#decide"


async def test_time_left_is_told_to_the_nearest(http: httpx.AsyncClient, world: World) -> None:
    """An ask for a day that is seconds old has 24 h left."""
    ask = await asked(world)
    await world.pass_time(9_000)
    assert "24 h left" in (await browser(http, world).ask(ask["trail"])).root.one("p", cls="chips").words
