"""Keys in a browser: minted, shown once, renewed, revoked; and what holds for all pages of keys and people."""

import asyncio
import re

import httpx
import pytest
from playwright.async_api import Error, expect

from api.auth import COOKIE
from store.domain.moments import DAY, HOUR
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge, read_token
from store.verbs.perform import perform
from tests.console.test_axe import findings
from tests.console.window import DESK, PHONE, SCREENS, House, Screen, Window
from tests.surfaces.browser import Browser, fields
from tests.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT = 300_000  # bytes of a page
SCRIPTS = [True, False]
KEY = re.compile(r"lmk_([0-9a-f]{12})_[0-9a-f]{40}")


async def works(house: House, token: str) -> str:
    """Whose key this is, by a call with it."""
    kind, via, id, secret = read_token(token)
    badge = Badge(kind, id, secret, via, "test", spaces=(("test", house.world.space),))
    who: str = (await perform(house.world.store, badge, ROWS["connection"], {}))["caller"]
    return who


async def mint(window: Window, name: str, **choices: bool) -> str:
    """Mint a key by its form; gives the secret that is shown."""
    await window.open("keys")
    await window.page.get_by_role("link", name="Mint a key").click()
    await window.page.get_by_label("Agent").fill(name)
    for right, wanted in choices.items():
        await window.page.locator(f"#right-{right}").set_checked(wanted)
    await window.button("Mint the key").click()
    return await window.page.locator("#secret-key").inner_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_key_is_minted_and_shown_once(house: House, screen: Screen, script: bool) -> None:
    """As URL, bearer and command; it works; by no way back, reload or second sending is it shown again."""
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page = window.page
        token = await mint(window, "muse", gate=False)
        assert await works(house, token) == "agent:muse"
        await expect(page.locator("#secret-url")).to_have_text(f"{house.url}/k/{token}/mcp")
        line = f"logmem connect claude-code --agent muse --space {house.world.space} --url {house.url} --token {token}"
        await expect(page.locator("#secret-line")).to_have_text(line)
        assert await page.locator("#secret-key").evaluate("e => getComputedStyle(e).userSelect") == "all"
        await expect(page.get_by_role("button", name="Copy")).to_have_count(3 if script else 0)
        assert token not in page.url
        await page.reload()
        await expect(page.locator("h1")).to_have_text("This key was shown")
        assert token not in await page.content()
        key = KEY.fullmatch(token)
        assert key
        await window.open(f"keys/{key[1]}")
        await expect(page.locator(".facts")).to_contain_text("human:ana")
        await expect(page.locator(".facts li")).to_have_count(2)
        await window.open("log")
        assert token not in await page.content()
        await window.open("keys/mint")
        await page.get_by_label("Agent").fill("muse")
        await window.button("Mint the key").click()
        await expect(page.locator("#secret-key")).to_be_visible()
        await page.get_by_role("link", name="I have it").click()
        with pytest.raises(Error, match="ERR_CACHE_MISS"):  # it would have to be sent again, and the browser asks
            await page.go_back()


async def test_what_was_shown_once_is_gone_when_one_leaves(house: House) -> None:
    """Copied by its button; after leaving, a page that the browser kept for going back is empty of it."""
    async with house.window() as window:
        page = window.page
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=house.url)
        token = await mint(window, "codex")
        await page.locator("#secret-key-copy").click()
        await expect(page.locator("#secret-key-copy")).to_have_text("Copied")
        assert await page.evaluate("navigator.clipboard.readText()") == token
        await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
        assert token not in await page.content()
        stored = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, history.state])")
        assert token not in stored


async def test_a_page_with_a_secret_is_kept_nowhere(world: World, server: str) -> None:
    """No-store, no referrer, no address that shows it; a form that is sent twice makes one key and shows it once."""
    async with httpx.AsyncClient(base_url=server, timeout=10, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        form = (await ana.open(f"/s/{world.space}/keys/mint")).form("keys/mint")
        sent = fields(form, name="muse", responsible="") | {"write": "on", "gate": "on"}
        one, two = await ana.post(form.attributes["action"], sent), await ana.post(form.attributes["action"], sent)
        assert (one.status, two.status) == (200, 200)
        for shown in (one, two):
            head = shown.response.headers
            assert (head["cache-control"], head["referrer-policy"]) == ("no-store", "no-referrer")
        token = one.root.one("code", id="secret-key").text
        assert KEY.fullmatch(token)
        assert token not in two.response.text
        assert "was shown with the first answer, once" in two.words
        keys = (await world.do("human:ana", "keys"))["keys"]
        assert [k["name"] for k in keys].count("muse") == 1
        path = f"/s/{world.space}/people/human%3Abo/link"
        form = (await ana.open(path)).form("/link")
        one, two = await ana.send(form), await ana.send(form)
        link = one.root.one("code", id="secret-link").text
        assert link.startswith(f"{server}/sign-in/")
        assert link.rpartition("/")[2] not in two.response.text
        assert one.response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_a_refused_key_is_not_typed_again(house: House, script: bool) -> None:
    """A name that is none, a person who is not there, too many days: the page says so, and keeps what was filled in."""
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        for name, who, said in (
            ("No Name", "", "Did you mean agent:no-name?"),
            ("muse", "nobody", "human:nobody is not in"),
            ("ana", "", "human:ana is in"),
        ):
            await window.open("keys/mint")
            await page.get_by_label("Agent").fill(name)
            await page.get_by_label("Person who answers for it").fill(who)
            await page.locator("#right-gate").uncheck()
            await page.get_by_label("core").check()
            await page.get_by_label("Good for").fill("7")
            await window.button("Mint the key").click()
            await expect(page.locator("#refusal")).to_contain_text(said)
            await expect(page.get_by_label("Agent")).to_have_value(name)
            await expect(page.get_by_label("Person who answers for it")).to_have_value(who)
            await expect(page.get_by_label("Good for")).to_have_value("7")
            await expect(page.locator("#right-gate")).not_to_be_checked()
            await expect(page.locator("#right-write")).to_be_checked()
            await expect(page.get_by_label("core")).to_be_checked()
    assert "muse" not in [k["name"] for k in (await house.world.operate("keys"))["keys"]]


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_key_is_renewed_and_revoked(house: House, screen: Screen, script: bool) -> None:
    """What ends soon is marked; renewing takes that away; revoking says what it means, and takes a second press."""
    made = await house.world.do("human:ana", "mint", name="muse", days=3)
    house.world.remember("agent:muse", made["token"])
    await house.world.do("agent:muse", "ask", where="job:x", summary="May I?")
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page, row = window.page, window.page.locator(f"#row-{made['key']}")
        await window.open("keys")
        await expect(row).to_contain_text("Ends soon")
        await row.get_by_role("link").click()
        await page.get_by_label("Good for").fill("30")
        await window.button("Renew").click()
        await expect(page.locator("#standing")).to_contain_text("30 d left")
        await page.get_by_role("link", name="Revoke this key").click()
        await expect(page.locator(".consequences")).to_contain_text(
            "agent:muse is out until somebody mints another key"
        )
        await expect(page.locator(".consequences")).to_contain_text("its 1 pending ask can still be decided")
        assert await works(house, made["token"])
        await page.get_by_role("link", name="Keep it").click()
        await page.get_by_role("link", name="Revoke this key").click()
        await window.button("Revoke the key").click()
        await expect(page.locator("#standing")).to_have_text("Revoked")
        await expect(page.get_by_role("button", name="Renew")).to_have_count(0)
        await window.open("keys")
        await expect(row).to_contain_text("Revoked")
    stands = await house.world.do("human:ana", "keys", key=made["key"])
    assert stands["state"] == "revoked"


async def test_what_was_revoked_elsewhere_is_not_renewed(house: House) -> None:
    """The form says that the key stays revoked; the list shows it at once, in its place."""
    key = house.world.tokens["agent:grok"].split("_")[1]
    async with house.window() as window, house.window(java_script_enabled=False) as other:
        await window.follow("keys")
        await other.open(f"keys/{key}")
        await house.world.do("human:ana", "revoke", name=key)
        await expect(window.page.locator(f"#row-{key}")).to_contain_text("Revoked")
        await other.button("Renew").click()
        await expect(other.page.locator("#refusal")).to_contain_text("was revoked")


async def test_forms_take_an_owner_and_their_own_page(world: World, server: str) -> None:
    """Sent by an approver, without the page's token, from another site, by GET: nothing is changed."""
    key = world.tokens["agent:grok"].split("_")[1]
    (session,) = (await world.do("human:ana", "sessions"))["sessions"]
    sent = {
        "keys/mint": {"name": "muse", "days": "9", "profile": "fleet"},
        f"keys/{key}/renew": {"days": "9"},
        f"keys/{key}/revoke": {},
        "people/add": {"name": "cy", "role": "owner"},
        "people/human%3Abo/role": {"role": "owner"},
        "people/human%3Abo/remove": {},
        "people/human%3Abo/link": {},
        "people/human%3Aana/end": {"session": session["session"]},
        "rules/four-eyes": {"rule": "off"},
    }
    async with httpx.AsyncClient(base_url=server, timeout=10, trust_env=False) as http:
        people = {name: Browser(http, world.space, world.tokens[f"human:{name}"]) for name in ("ana", "bo")}
        tokens = {
            name: next((await one.inbox()).root.all("input", name="token")).attributes["value"]
            for name, one in people.items()
        }
        before = await world.dump()
        for path, given in sent.items():
            address = f"/s/{world.space}/{path}"
            answer = await people["bo"].post(address, {**given, "token": tokens["bo"], "action": "a"})
            assert answer.status == 403, path
            assert "Not done." in answer.words or "Not for you" in answer.words
            for token in ("", tokens["bo"], "x"):
                assert (await people["ana"].post(address, {**given, "token": token})).status == 403, path
            foreign = {"Origin": "https://elsewhere.example", "Content-Type": "application/x-www-form-urlencoded"}
            own = {**given, "token": tokens["ana"]}
            assert (await people["ana"].post(address, own, foreign)).status == 403, path
            looked = await http.get(address, params=own, headers=people["ana"].cookie)
            assert looked.status_code in (200, 405), path
        assert await world.dump() == before


async def test_hundreds_of_keys_and_people_are_light(world: World, server: str) -> None:
    """Each page is under 300 KB, and together they hold each once; what is no cursor is refused."""
    for some in range(0, 240, 20):
        await asyncio.gather(*(world.operate("mint", name=f"{n:03}{'x' * 60}") for n in range(some, some + 20)))
        await asyncio.gather(
            *(
                world.operate("human", name=f"p{n:03}{'x' * 59}", role="member")
                for n in range(some // 2, some // 2 + 10)
            )
        )
    async with httpx.AsyncClient(base_url=server, timeout=30, trust_env=False) as http:
        ana = Browser(http, world.space, world.tokens["human:ana"])
        for path, list_, count in (("keys", "keyring", 242), ("people", "members", 122)):
            seen: list[str] = []
            address = f"/s/{world.space}/{path}"
            for _ in range(50):
                page = await ana.open(address)
                assert len(page.response.content) < LIMIT
                seen += [row.attributes["id"] for row in page.root.one("ol", id=list_).all("li")]
                onwards = [a.attributes["href"] for a in page.root.all("a", id="next-page")]
                if not onwards:
                    break
                address = onwards[0]
            assert len(seen) == len(set(seen)) == count
            assert (await ana.open(f"/s/{world.space}/{path}?cursor=%3Cb%3E")).status == 400


async def test_an_expired_key_is_brought_back(house: House) -> None:
    """It says since when; renewed it is live again, with the same secret."""
    made = await house.world.do("human:ana", "mint", name="muse", days=1)
    await house.world.pass_time(DAY + HOUR)
    await house.world.sign_in("ana")
    async with house.window(java_script_enabled=False) as window:
        await window.open(f"keys/{made['key']}")
        await expect(window.page.locator("#standing")).to_contain_text("expired 1 h ago")
        await window.button("Renew").click()
        await expect(window.page.locator("#standing")).to_contain_text("Live")
    assert await works(house, made["token"]) == "agent:muse"


async def test_keys_of_the_keyboard_reach_each_form(house: House) -> None:
    """By j to a key, Enter, and Tab alone to renewing and revoking it; Esc leads back to the list."""
    async with house.window() as window:
        keys, page = window.page.keyboard, window.page
        await window.follow("keys")
        await keys.press("j")
        await keys.press("Enter")
        await expect(page.locator("#what")).to_be_visible()
        reached = []
        for _ in range(25):
            await keys.press("Tab")
            reached.append(await page.evaluate("document.activeElement.id"))
        order = [reached.index(id) for id in ("back", "days", "renew", "to-revoke")]
        assert order == sorted(order)
        await page.evaluate("document.activeElement.blur()")
        await keys.press("Escape")
        await expect(page.get_by_role("heading", name="Keys")).to_be_visible()
        cookies = await page.context.cookies()
        assert {c["name"] for c in cookies} == {COOKIE}


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing_on_keys_and_people(house: House, screen: Screen) -> None:
    """Each list, page, form and confirmation; with what was refused; and what is shown once."""
    world = house.world
    await world.do("human:ana", "mint", name="soon", days=3)
    gone = await world.do("human:ana", "mint", name="gone")
    await world.do("human:ana", "revoke", name="gone")
    await world.sign_in("ana")
    key = world.tokens["agent:grok"].split("_")[1]
    paths = ["keys", f"keys/{key}", f"keys/{gone['key']}", f"keys/{key}/revoke", "keys/mint", "people", "people/add"]
    paths += [f"people/human%3A{end}" for end in ("ana", "bo", "bo/link", "bo/remove")]
    async with house.window(screen=screen) as window, house.window("bo", screen=screen) as bo:
        for path in paths:
            await window.follow(path)
            assert await findings(window.page) == [], path
            await bo.follow(path)
            assert await findings(bo.page) == [], path
        await window.open("keys/mint")
        await window.page.get_by_label("Agent").fill("No Name")
        await window.button("Mint the key").click()
        await expect(window.page.locator("#refusal")).to_be_visible()
        assert await findings(window.page) == []
        await mint(window, "muse")
        assert await findings(window.page) == []
        await window.open("people/human%3Abo/link")
        await window.button("Make the link").click()
        await expect(window.page.locator("#secret-link")).to_be_visible()
        assert await findings(window.page) == []
