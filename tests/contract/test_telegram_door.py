"""Forgery at the bot's door: nothing changes, and a line of the log says why."""

import secrets
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from api.app import create
from api.internal import PATH, SIGN, WAYS
from store.domain.ids import short_code
from store.domain.pairing import NOBODY
from store.settings import load
from tests.contract.phoning import ACCOUNTS, ANA, BO, CY, Card, card, carded, door, pair, private, said, unchanged
from tests.contract.test_gate import asked, refused
from tests.surfaces.server import BOT_SECRET
from tests.world import Result, World

ANONYMOUS = 1087968824
GROUP = -1001234567890


@pytest.fixture
async def phones(world: World) -> World:
    """The world with ana and bo paired."""
    await pair(world, ANA)
    await pair(world, BO)
    return world


@pytest.fixture
async def it(phones: World) -> Card:
    """The card of a pending ask on bo's phone."""
    return await carded(phones, await asked(phones), BO)


async def forged(world: World, code: str, call: Any, *, why: str) -> None:
    """The call is refused with this code, every key stays as it was, and the log says `why`, without any secret."""
    with capture_logs() as logs:
        await unchanged(world, code, call)
    lines = [line for line in logs if line["event"] == "telegram_refused"]
    assert [line["code"] for line in lines] == [code]
    assert why in lines[0]["why"]
    assert BOT_SECRET not in str(logs)


@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("secret", ["", "wrong", BOT_SECRET[:-1], f"{BOT_SECRET}x", "ü"])
async def test_c24_without_the_credential_the_door_is_shut(world: World, what: str, secret: str) -> None:
    """Whatever is asked, nothing is said of it and nothing done."""
    head = [(b"authorization", f"Bearer {secret}".encode())] if secret else []
    body = {"space": world.space, "ref": "ask:x", "user": ACCOUNTS[BO], **private(BO)}

    async def knock() -> Result:
        assert world.http
        return said(await world.http.post(f"{PATH}{what}", json=body, headers=head))

    await forged(world, "unauthenticated", knock(), why="its credential did not come")


async def test_c24_no_credential_of_anybody_opens_it(world: World) -> None:
    """Neither an agent's key nor a person's session, nor the right one said twice or in another way."""
    assert world.http
    key, session = world.tokens["agent:grok"], world.tokens[ANA]
    right = f"Bearer {BOT_SECRET}"
    for head in (
        [("authorization", f"Bearer {key}")],
        [("cookie", f"logmem_session={session}"), ("x-logmem-csrf", "1")],
        [("authorization", right), ("authorization", right)],
        [("authorization", BOT_SECRET)],
        [("authorization", f"Basic {BOT_SECRET}")],
    ):
        reply = await world.http.post(f"{PATH}spaces", json={}, headers=head)
        assert reply.status_code == 401, head
    assert (await world.http.post(f"{PATH}spaces?secret={BOT_SECRET}", json={})).status_code == 401
    assert (await world.http.get(f"{PATH}spaces", headers={"authorization": right})).status_code == 405
    assert PATH not in (await world.http.get("/openapi.json")).text


async def test_the_door_says_that_it_is_the_door(world: World) -> None:
    """Answers and refusals of all kinds bear its sign, and nothing else does: what has none has decided nothing."""
    assert world.http
    right = {"authorization": f"Bearer {BOT_SECRET}"}
    asked_ = {"space": world.space, "ref": "ask:none", "holding": []}
    for status, path, body, head in (
        (200, "spaces", {}, right),
        (404, "card", asked_, right),
        (400, "card", {}, right),
        (401, "spaces", {}, {}),
    ):
        reply = await world.http.post(f"{PATH}{path}", json=body, headers=head)
        assert (reply.status_code, reply.headers.get(SIGN)) == (status, "1")
    others = [
        await world.http.get(f"{PATH}spaces", headers=right),
        await world.http.post(f"{PATH}nothing", json={}, headers=right),
        await world.http.post("/api/tools/fleet", json={}, headers=right),
        await world.http.get("/livez"),
    ]
    assert [SIGN in reply.headers for reply in others] == [False] * 4


@pytest.mark.parametrize(
    "head",
    [
        {"forwarded": "for=1.2.3.4"},
        {"x-forwarded-for": "1.2.3.4"},
        {"x-forwarded-host": "x"},
        {"x-forwarded-proto": "https"},
        {"x-real-ip": "1.2.3.4"},
        {"via": "1.1 caddy"},
        {"host": "logmem.example.com"},
        {"host": "LogMem.example.com:443"},
    ],
)
async def test_the_door_opens_to_nobody_from_outside(world: World, head: dict[str, str]) -> None:
    """What came through a proxy, or by the name that people use, finds no such path, whatever it knows."""
    app = create(world.store, load(bot_secret=BOT_SECRET, public_url="https://logmem.example.com"))
    right = {"authorization": f"Bearer {BOT_SECRET}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        with capture_logs() as logs:
            reply = await http.post(f"{PATH}spaces", json={}, headers={**right, **head})
        assert (reply.status_code, reply.json()["error"]["code"], SIGN in reply.headers) == (404, "not_found", False)
        assert [line["event"] for line in logs] == ["telegram_refused"]
        assert (await http.post(f"{PATH}spaces", json={}, headers=right)).status_code == 200


async def test_the_door_opens_by_the_name_that_the_bot_has_for_us(world: World) -> None:
    """Also where that is what people call us, as on a machine of one's own."""
    own = "http://127.0.0.1:8765"
    for public, api in ((own, own), ("http://box:8765", "http://box:8765"), (None, "http://api:8765")):
        app = create(world.store, load(bot_secret=BOT_SECRET, public_url=public, api_url=api))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=api) as http:
            reply = await http.post(f"{PATH}spaces", json={}, headers={"authorization": f"Bearer {BOT_SECRET}"})
            assert reply.status_code == 200


async def test_a_phone_hears_nothing_of_programs(phones: World, it: Card) -> None:
    """Each refusal has a sentence for people beside the one for programs, and so has each answer."""
    assert (await it.tap("reject"))["says"].startswith("You rejected this")
    no = await refused("already_settled", it.tap("approve"))
    assert str(no.facts["says"]).startswith("You rejected this")
    assert "human:bo" in no.message
    no = await refused("already_settled", door(phones, "typed", **private(ANA, verb="approve", code=code(it))))
    assert str(no.facts["says"]).startswith("bo rejected this")
    assert (await (await carded(phones, await asked(phones, summary="And?"), BO)).tap("approve"))["says"].startswith(
        "You approved this just now on Telegram. grok can use it once, until "
    )
    alone = private(BO, verb="inbox", args={})
    await phones.operate("human", name="bo", role="none")
    no = await refused("scope_undeclared", door(phones, "verb", **alone))
    assert "no space now" in str(no.facts["says"])
    no = await refused("unauthenticated", door(phones, "verb", **private(CY, verb="inbox", args={})))
    assert "/start CODE" in str(no.facts["says"])


def code(it: Card) -> str:
    """The short code that stands on a card."""
    return short_code(it.copy.ref.partition(":")[2])


async def test_a_code_that_is_handed_over_again_tells_the_first_result(phones: World) -> None:
    """Whoever decided by a code hears that they have, also where the first answer was lost on its way."""
    for verb, seen, status in (
        ("approve", (0, 1), "approved"),
        ("reject", (0, 1), "rejected"),
        ("reject", (0,), "rejected"),
    ):
        it = await carded(phones, await asked(phones, summary=f"{verb} {seen}"), BO, pages=2, seen=seen)
        line = private(BO, verb=verb, code=code(it))
        first = await door(phones, "typed", **line)
        assert first["status"] == status
        assert await door(phones, "typed", **line) == {**first, "replayed": True}


async def test_a_code_of_what_is_over_says_who_decided(phones: World, it: Card) -> None:
    """To whoever could have decided it, with a card of theirs or without; to others nothing is said of it."""
    await phones.human("cy", "member")
    await pair(phones, CY)
    await it.tap("reject", text="Not now")
    for who, by in ((BO, "You"), (ANA, "bo")):
        for verb in ("approve", "reject"):
            typed = door(phones, "typed", **private(who, verb=verb, code=code(it)))
            no = await unchanged(phones, "already_settled", typed)
            assert str(no.facts["says"]).startswith(f'{by} rejected this just now on Telegram: "Not now".')
    typed = door(phones, "typed", **private(CY, verb="reject", code=code(it)))
    await forged(phones, "not_found", typed, why="Nothing that waits for you")


async def test_without_the_setting_there_is_no_door(world: World) -> None:
    """Where no secret is set, no credential is right, and the paths are not there."""
    app = create(world.store, load())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        for secret in ("", "None", BOT_SECRET):
            reply = await http.post(f"{PATH}spaces", json={}, headers={"authorization": f"Bearer {secret}"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
            assert SIGN not in reply.headers


async def test_a_card_leads_to_its_page(phones: World) -> None:
    """Where people reach us by https, high risk has a link in place of its button; without an address there is none."""
    ask = await asked(phones, risk="high")
    body = {"space": phones.space, "ref": f"ask:{ask['trail']}", "holding": []}
    page = f"/s/{phones.space}/ask/{ask['trail']}"
    for address, url, link in (
        ("https://logmem.example.com", f"https://logmem.example.com{page}", f"https://logmem.example.com{page}"),
        ("http://localhost:8765", f"http://localhost:8765{page}", None),
        (None, "", None),
    ):
        app = create(phones.store, load(bot_secret=BOT_SECRET, public_url=address))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
            head = {"authorization": f"Bearer {BOT_SECRET}"}
            view = said(await http.post(f"{PATH}card", json=body, headers=head))
        assert (view["url"], view["to"][0].get("link")) == (url, link)


async def test_the_bot_may_find_us_under_another_name(world: World) -> None:
    """In a network of containers the API has a name of its own there; pages of that name are not for browsers."""
    assert world.http
    head = {"authorization": f"Bearer {BOT_SECRET}", "host": "api:8765"}
    assert (await world.http.post(f"{PATH}spaces", json={}, headers=head)).status_code == 200
    assert (await world.http.get("/", headers={"host": "api:8765"})).status_code == 421


async def test_c21_a_button_is_its_persons_alone(phones: World, it: Card) -> None:
    """Another member who presses it, or has it pressed for them, decides nothing."""
    press = it.pressing("approve")
    theirs = "was sent to somebody else"
    for other in (ANA, CY):
        user = ACCOUNTS[other]
        await forged(phones, "not_yours", door(phones, "tap", **press | {"user": user, "chat": user}), why=theirs)
        await forged(phones, "not_yours", door(phones, "tap", **press | {"user": user}), why="own chat")
    assert (await it.tap("approve"))["status"] == "approved"


async def test_c21_a_button_is_of_one_message(phones: World, it: Card) -> None:
    """On another message, or with a token that was guessed, it is no button of ours."""
    press = it.pressing("approve")
    gone = "not in use"
    await forged(phones, "not_found", door(phones, "tap", **press | {"message": it.copy.message + 1}), why=gone)
    for token in (secrets.token_hex(6), "", "x", "x" * 5000, f"{it.copy.token}x", "../../etc", "a b c d e f "):
        await forged(phones, "not_found", door(phones, "tap", **press | {"token": token}), why=gone)


async def test_c21_a_button_whose_message_is_not_known_is_no_other_cards(phones: World, it: Card) -> None:
    """A copy that may have arrived is pressed on its own message, and never on one that is another card."""
    other = await carded(phones, await asked(phones, summary="Another?"), BO)
    unsure = await it.now(message=0, state="uncertain")
    press = unsure.pressing("approve")
    await forged(phones, "not_found", door(phones, "tap", **press | {"message": other.copy.message}), why="not in use")
    assert (await door(phones, "tap", **press | {"message": 99_999}))["status"] == "approved"


async def test_each_bot_has_update_numbers_of_its_own(phones: World, it: Card) -> None:
    """Told again by the same bot it is the same reply; by the bot of another token it is another one."""
    reply = it.pressing("reply", text="Which one?")
    for bot in (7, 7, 8):
        await door(phones, "tap", **reply, bot=bot)
    thread = (await card(phones, it.copy.ref))["thread"]
    assert [turn["kind"] for turn in thread] == ["question", "question"]


async def test_c21_nobody_decides_in_a_group(phones: World, it: Card) -> None:
    """Neither members nor anonymous administrators, channels or Telegram itself, whatever the chat claims to be."""
    press = it.pressing("approve")
    ways: tuple[Result, ...] = (
        {"chat": GROUP, "chat_type": "supergroup"},
        {"chat_type": "supergroup"},
        {"chat_type": "channel"},
        {"chat": GROUP},
        *({"user": nobody, "chat": nobody} for nobody in NOBODY),
        {"user": -5, "chat": -5},
        {"user": 0, "chat": 0},
    )
    for more in ways:
        await forged(phones, "not_yours", door(phones, "tap", **press | more), why="own chat")


async def test_c21_an_account_that_is_nobodys(phones: World) -> None:
    """A card that reached somebody who is paired no more, or never was: their press is nobody's."""
    await phones.human("cy")
    ask = await asked(phones)
    never, once = await carded(phones, ask, CY), await carded(phones, ask, BO)
    await forged(phones, "unauthenticated", never.tap("approve"), why="nobody's here")
    await phones.do(BO, "unpair")
    await forged(phones, "unauthenticated", once.tap("approve"), why="nobody's here")
    typed = door(phones, "typed", **private(BO, verb="approve", code="x"))
    await forged(phones, "unauthenticated", typed, why="nobody's here")


async def test_c21_an_account_that_is_somebody_elses_now(phones: World, it: Card) -> None:
    """A card of bo's on a phone that is cy's now is nobody's to press."""
    await phones.human("cy")
    await phones.do(BO, "unpair")
    was, ACCOUNTS[CY] = ACCOUNTS[CY], ACCOUNTS[BO]
    try:
        await pair(phones, CY)
    finally:
        ACCOUNTS[CY] = was
    await forged(phones, "not_yours", it.tap("approve"), why="was sent to somebody else")


async def test_c21_a_card_that_shows_something_else(phones: World) -> None:
    """What the bot noted as shown is not what is asked: nothing is decided by it."""
    ask = await asked(phones)
    it = await carded(phones, ask | {"digest": "0" * 64}, BO)
    for verb, why in (("approve", "does not show what is asked"), ("reject", "is not what is asked")):
        await forged(phones, "digest_mismatch", it.tap(verb), why=why)
    await forged(phones, "digest_required", (await it.now(digest="")).tap("reject"), why="digest")


@pytest.mark.parametrize(
    "broken",
    [
        {"user": "4000000002"},
        {"user": True},
        {"user": None},
        {"user": 1.5},
        {"token": 7},
        {"token": None},
        {"verb": ["approve"]},
        {"update": "1"},
        {"option": "0"},
        {"text": 3},
        {"text": None},
    ],
)
async def test_a_body_of_another_form_is_refused(phones: World, it: Card, broken: Result) -> None:
    """What is no number, no text or not there is named, and nothing is done."""
    press = it.pressing("approve") | broken
    no = await unchanged(phones, "invalid_argument", door(phones, "tap", **press))
    assert no.facts["argument"] in broken


async def test_what_is_no_object_is_refused(world: World) -> None:
    """A body that is no JSON, or no object, is said to be that."""
    assert world.http
    head = {"authorization": f"Bearer {BOT_SECRET}"}
    for body in (b"[]", b"7", b'"x"', b"{", b'{"a": 1, "a": 2}', b"\xff"):
        reply = await world.http.post(f"{PATH}tap", content=body, headers=head)
        assert reply.status_code == 400, body


async def test_commands_are_those_of_the_table(phones: World) -> None:
    """The bot reads a person's lists for them, and does nothing that no command is for."""
    mine = await door(phones, "verb", **private(BO, verb="inbox", args={}))
    assert (mine["caller"], mine["count"]) == (BO, 0)
    assert (await door(phones, "verb", **private(BO, verb="connection", args={})))["via"] == "telegram"
    for verb in ("decide", "mint", "human", "link", "revoke", "keys", "confirm", "pairing", "note", "", "x"):
        call = door(phones, "verb", **private(ANA, verb=verb, args={"name": "bo"}))
        await forged(phones, "invalid_argument", call, why="nothing for the bot")
    for more in ({"chat": GROUP, "chat_type": "group"}, {"chat": ACCOUNTS[ANA]}):
        await forged(phones, "not_yours", door(phones, "verb", **private(BO, verb="fleet", args={}) | more), why="own")
    await forged(
        phones, "unauthenticated", door(phones, "verb", **private(CY, verb="fleet", args={})), why="nobody's here"
    )
    others: list[tuple[str, Result]] = [
        ("fleet", {"x": 1}), ("inbox", {"trail": "ask_x"}), ("sync", {"window": "am"}), ("sync", {"receipt": {}}),
        ("unpair", {"person": "bo"}), ("oncall", {"on": True, "action_id": "x"}), ("quiet", {"person": "bo"}),
    ]  # fmt: skip
    for name, args in others:
        await unchanged(phones, "unknown_argument", door(phones, "verb", **private(ANA, verb=name, args=args)))


async def test_the_bot_itself_has_no_voice(world: World) -> None:
    """What it reads for cards it reads as nobody, and no row of the catalogue is reached without a person."""
    for body in ({"user": 0, "chat": 0}, {"user": 5, "chat": 5}):
        call = door(world, "verb", **private(BO, verb="fleet", args={}) | body)
        with pytest.raises(Exception, match=r"not_yours|unauthenticated"):
            await call


async def test_no_line_of_the_log_quotes_anybody(phones: World, it: Card) -> None:
    """What people and agents wrote stands in the Log of the space alone."""
    await it.tap("reject", text="the secret reason")
    with capture_logs() as logs:
        no = await refused("already_settled", it.tap("approve"))
    assert "the secret reason" in no.message
    assert "the secret reason" not in str(logs)
    assert it.copy.token not in str(logs)
