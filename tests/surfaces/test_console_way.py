"""The way back to the page that one wanted, over a sign-in: kept by us, of our own pages only, and for once."""

from urllib.parse import quote, unquote

import httpx
import pytest

from api.console.way import COOKIE
from tests.surfaces.browser import FORM, Browser
from tests.surfaces.test_console import asked, browser, link
from tests.world import World


def _kept(reply: httpx.Response) -> str:
    """The page that the answer has the browser keep, '' for none."""
    said = [c for c in reply.headers.get_list("set-cookie") if c.startswith(f"{COOKIE}=") and "Max-Age=0" not in c]
    if not said:
        return ""
    (cookie,) = said
    value, *how = cookie.split("; ")
    assert {"HttpOnly", "Max-Age=900", "Path=/", "SameSite=lax"} <= set(how)
    return unquote(value.partition("=")[2])


async def _signed_in(http: httpx.AsyncClient, world: World, kept: str) -> httpx.Response:
    """What the button of a link answers to a browser that has kept this."""
    headers = {"Content-Type": FORM, "Cookie": f"{COOKIE}={kept}"}
    return (await Browser(http, world.space).post(await link(world), {}, headers)).response


@pytest.mark.parametrize("end", ["ask/{trail}", "", "log?where=job:release&by=grok", "job/release"])
async def test_a_sign_in_leads_to_what_one_wanted(http: httpx.AsyncClient, world: World, end: str) -> None:
    """The page of who is not signed in keeps the address; the link's button leads there and has it forgotten."""
    wanted = f"/s/{world.space}/{end.format(trail=(await asked(world))['trail'])}"
    page = await Browser(http, world.space).open(wanted)
    assert page.status == 401
    assert "leads on to the page that you wanted" in page.words
    assert _kept(page.response) == wanted
    done = await _signed_in(http, world, quote(wanted, safe=""))
    assert (done.status_code, done.headers["location"]) == (303, wanted)
    assert any(c.startswith(f'{COOKIE}="";') for c in done.headers.get_list("set-cookie"))


@pytest.mark.parametrize("kind", ["POST", "HEAD"])
async def test_only_a_look_at_a_page_is_kept(http: httpx.AsyncClient, world: World, kind: str) -> None:
    """Neither a form's address nor one outside a space, nor anything but a GET, is gone back to."""
    ask = await asked(world)
    reply = await http.request(kind, f"/s/{world.space}/ask/{ask['trail']}/decide", headers={"Content-Type": FORM})
    assert _kept(reply) == ""
    for path in ("/", "/?all", "/sign-in/x"):
        assert _kept(await http.get(path)) == ""


FOREIGN = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/s/x",
    "http:evil.example",
    "javascript:alert(1)",
    "/s/x//evil.example",
    "/s//evil.example",
    "/s/x/\\evil.example",
    "/s/x?\r\nLocation: https://evil.example",
    "/s/x\nSet-Cookie: a=b",
    "/s/x\t/evil",
    "/s/x#@evil.example",
    "/s/<script>",
    "/s/\u202ex",
    "/sign-out",
    "/?next=//evil.example",
    "s/x",
    "",
    f"/s/{'x' * 1000}",
]


@pytest.mark.parametrize("kept", FOREIGN)
async def test_no_kept_address_leads_elsewhere(http: httpx.AsyncClient, world: World, kept: str) -> None:
    """Whatever somebody has put into the cookie, also with its signs in percents once more: the first page it is."""
    for value in (quote(kept, safe=""), quote(quote(kept, safe=""), safe="")):
        done = await _signed_in(http, world, value)
        assert (done.status_code, done.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    "path", ["/s//evil.example", "/s/%2F%2Fevil.example", "/s/x%5C%5Cevil", "/s/x%0d%0aX:y", "/s/x%00", "/s/%E2%80%AEx"]
)
async def test_no_strange_address_is_kept(http: httpx.AsyncClient, path: str) -> None:
    """An address that is no page's own spelling is not kept at all."""
    assert _kept(await http.get(f"{http.base_url}".rstrip("/") + path, headers={"Accept": "text/html"})) == ""


async def test_who_has_to_sign_in_is_told_the_command_for_them(http: httpx.AsyncClient, world: World) -> None:
    """With the name of whose session it was, where it is known; else how to find one's name."""
    bo = browser(http, world, "bo")
    await world.do("human:ana", "end_session", session=bo.token.split("_")[1])
    page = await bo.inbox()
    assert page.status == 401
    assert "logmem human link bo" in page.words
    assert "Keys & people" in page.words
    nobody = await Browser(http, world.space).inbox()
    assert "logmem human link NAME" in nobody.words
    assert "logmem human list" in nobody.words
    id = bo.token.split("_")[1]
    forger = await Browser(http, world.space, f"lms_{id}_{'0' * 40}").inbox()
    assert "link bo" not in forger.words
