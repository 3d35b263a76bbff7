"""The console's door: whose form signs a browser in, under which names pages answer, and a store that does not."""

from pathlib import Path

import httpx
import pytest

from api.auth import COOKIE
from store.engine.embedded import ensure, stop
from tests.surfaces.browser import FORM, Browser
from tests.surfaces.browser import page as read
from tests.surfaces.process import serving
from tests.surfaces.test_console import browser, link
from tests.surfaces.test_console_safety import FOREIGN
from tests.world import World


@pytest.mark.parametrize("how", [*FOREIGN, "null over http"])
async def test_no_other_site_signs_a_browser_in(http: httpx.AsyncClient, world: World, how: str) -> None:
    """A link is not used up, and no session is kept, by a form of another site, also where browsers say less."""
    path = await link(world)
    null = {"Origin": "null", "Content-Type": FORM}  # of a page without a referrer, over http to another machine
    before = await world.dump()
    page = await Browser(http, world.space).post(path, {}, FOREIGN.get(how, null))
    assert page.status == 403
    assert "set-cookie" not in page.response.headers
    assert await world.dump() == before


@pytest.mark.parametrize("names", [("Origin",), ("Origin", "Sec-Fetch-Site"), ()])
async def test_its_own_page_signs_in(http: httpx.AsyncClient, world: World, names: tuple[str, ...]) -> None:
    """What browsers say of the link's own form, over http or https, lets it pass; so does a program's silence."""
    own = str(http.base_url).rstrip("/")
    said = {"Origin": own, "Sec-Fetch-Site": "same-origin"}
    headers = {"Content-Type": FORM, **{name: said[name] for name in names}}
    assert (await Browser(http, world.space).post(await link(world), {}, headers)).status == 303


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80", "127.0.0.2", ""])
async def test_a_name_that_somebody_points_here_reaches_nothing(
    http: httpx.AsyncClient, world: World, host: str
) -> None:
    """Pages and REST answer under their own names only; a probe is answered under any."""
    ana = browser(http, world)
    before = await world.dump()
    for method, path in (("GET", "/"), ("GET", f"/s/{world.space}/"), ("POST", await link(world)), ("GET", "/api/x")):
        before = await world.dump()
        reply = await http.request(method, path, headers={**ana.cookie, "Host": host})
        assert (reply.status_code, reply.json()["error"]["code"]) == (421, "unknown_host")
    reply = await http.post(
        "/api/tools/note", json={}, headers={"Host": host, "Authorization": f"Bearer {world.tokens['agent:grok']}"}
    )
    assert reply.status_code == 421
    assert await world.dump() == before
    assert (await http.get("/readyz", headers={"Host": host})).status_code == 200


async def test_who_comes_by_https_stays_with_it(http: httpx.AsyncClient, world: World) -> None:
    """Where the public address is https, every answer says so; where it is not, none does."""
    with serving(world.engine, PUBLIC_URL="https://logmem.example") as server:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as there:
            for path in ("/", "/livez", "/api/x", "/static/mark.svg", "/mcp"):
                for host in ("logmem.example", "evil.example"):
                    reply = await there.get(path, headers={"Host": host})
                    assert reply.headers["strict-transport-security"] == "max-age=31536000"
    assert "strict-transport-security" not in (await http.get("/")).headers


async def test_pages_say_that_the_store_does_not_answer(tmp_path: Path) -> None:
    """Without its store every page that asks it answers 503 and says when to retry; none fails."""
    own = ensure(tmp_path / "home", fsync="no")
    nobody = {"Cookie": f"{COOKIE}=lms_{'a' * 12}_{'b' * 40}"}
    with serving(own) as server:
        stop(own.home)
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=20) as http:
            for method, path in (
                ("GET", "/"),
                ("GET", "/s/x/"),
                ("GET", "/sign-in/x"),
                ("POST", "/sign-in/x"),
                ("GET", "/s/x/ask/y"),
            ):
                reply = await http.request(method, path, headers=nobody)
                assert (reply.status_code, reply.headers["retry-after"]) == (503, "5"), path
                assert "The store does not answer" in read(reply).words
