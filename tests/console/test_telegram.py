"""Telegram in a browser: a phone is paired, confirmed, put on call, made quiet and unpaired; whose claims wait."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import expect

from store.engine.botstore import BEAT, open_bot_store
from store.engine.client import Target
from tests.console.test_axe import findings
from tests.console.window import DESK, PHONE, SCREENS, House, Screen, Window
from tests.surfaces.server import BOT_SECRET

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPTS = [True, False]
ANA = 4455


@pytest_asyncio.fixture(loop_scope="session")
async def heart(house: House) -> AsyncIterator[asyncio.Task[None]]:
    """Gives signs of life, as a bot that runs does."""
    task = asyncio.create_task(beat(house))
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def beat(house: House) -> None:
    """Until it is cancelled."""
    store = open_bot_store(Target.embedded(house.world.engine))
    try:
        while True:
            await store.live()
            await asyncio.sleep(BEAT)
    finally:
        await store.close()


@pytest_asyncio.fixture(loop_scope="session")
async def bot(house: House, heart: asyncio.Task[None]) -> str:
    """The user name of a bot that is at work; what it says of itself is all that the console knows of it."""
    await says(house, username="our_logmem_bot", state="polling")
    await says(house, alive=await house.world.store.shared.clock())
    return "our_logmem_bot"


async def says(house: House, **fields: str | int) -> None:
    """What the bot notes about itself."""
    store = open_bot_store(Target.embedded(house.world.engine))
    await store.say(**fields)
    await store.close()


async def starts(house: House, code: str, *, user: int = ANA, name: str = "Ana", update: int = 1) -> str:
    """Somebody sends the code to the bot, which brings it to its door; gives the id of the claim."""
    said = {
        "update": update, "user": user, "name": name, "username": name.lower(), "chat": user, "chat_type": "private",
        "code": code, "forwarded": False, "via_bot": False, "is_bot": False,
    }  # fmt: skip
    async with httpx.AsyncClient(base_url=house.url, headers={"Authorization": f"Bearer {BOT_SECRET}"}) as bot:
        answer = await bot.post("/internal/telegram/pair", json=said)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["claim"])


async def code_on(window: Window) -> str:
    """The code that is shown."""
    line = await window.page.locator("#pair-line").inner_text()
    return line.removeprefix("/start ")


async def paired(house: House, who: str, *, user: int, name: str) -> None:
    """Pair somebody by the verbs alone."""
    made = await house.world.do(f"human:{who}", "pairing")
    found = await starts(house, made["code"], user=user, name=name)
    await house.world.do(f"human:{who}", "confirm", claim=found, yes=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=str)
async def test_a_phone_is_paired(house: House, bot: str, screen: Screen, script: bool) -> None:
    """A code with link, picture and line; who used it is asked about, here and while one waits; yes pairs it."""
    async with house.window(screen=screen, java_script_enabled=script) as window:
        page = window.page
        await window.open("telegram")
        await expect(page.locator("#bot")).to_contain_text(f"@{bot} is at work")
        await window.button("Pair your phone").click()
        code = await code_on(window)
        link = await page.locator("#open-link").get_attribute("href")
        assert link == f"https://t.me/{bot}?start={code}"
        await expect(page.get_by_role("img", name="Code for a camera")).to_be_visible()
        assert await page.locator("svg.qr").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
        await starts(house, code, name='Ana <b>"x')
        if not script:
            await page.locator("#look").click()
        question = page.locator("form.claim")
        await expect(question).to_contain_text('"Ana <b>\\"x"')
        await expect(question).to_contain_text(f"id {ANA}: is this you?")
        if script:
            await expect(page.locator(".qr")).to_be_hidden()
        assert [p.get("telegram") for p in (await house.world.operate("people"))["people"]] == [None, None]
        await window.button("Yes, that is me").click()
        await expect(page.locator("#mine")).to_contain_text(f"id {ANA}")
        await expect(page.locator("#mine .state.yes")).to_have_text("Delivered")
        await window.open("telegram/pair")
        assert code not in await page.content()
        await expect(page.locator("#claim")).to_contain_text(f"id {ANA}")


async def test_a_wrong_account_is_sent_away(house: House, bot: str) -> None:
    """No pairs nothing, and the code is used up."""
    made = await house.world.do("human:ana", "pairing")
    await starts(house, made["code"], user=999, name="Mallory")
    async with house.window() as window:
        await window.follow("telegram")
        await expect(window.page.locator("form.claim")).to_contain_text("id 999")
        await window.button("No").click()
        await expect(window.page.locator("form.claim")).to_have_count(0)
        await expect(window.page.locator("#mine")).not_to_contain_text("999")
    assert (await house.world.do("human:ana", "people", person="ana")).get("account") is None


async def test_an_owner_confirms_who_was_invited(house: House, bot: str) -> None:
    """The claim of a code that the command made waits for an owner; another person is shown nothing of it."""
    made = await house.world.operate("pairing", person="bo", life="24h")
    await starts(house, made["code"], user=77, name="Bo")
    async with house.window("ana") as window:
        await window.follow("telegram")
        await expect(window.page.locator("#asked form.claim")).to_contain_text("is this human:bo?")
        await window.button("Yes, it is").click()
        await expect(window.page.locator("#asked form.claim")).to_have_count(0)
        await expect(window.page.locator("#claimed")).to_contain_text("human:bo")
        await expect(window.page.locator("#claimed")).to_contain_text('"Bo" @bo, id 77')
        await window.page.locator("#unpair-human-bo").click()
        await expect(window.page.locator("h1")).to_have_text("Unpair the phone of human:bo?")
        await window.button("Unpair it").click()
        await expect(window.page.locator("#claimed")).to_contain_text("Nobody is paired yet")


async def test_others_are_not_confirmed_by_who_does_not_own(house: House, bot: str) -> None:
    """An approver sees no claim of another person's, and no button to unpair one."""
    await paired(house, "ana", user=ANA, name="Ana")
    made = await house.world.operate("pairing", person="ana", life="24h")
    await starts(house, made["code"])
    async with house.window("bo") as window:
        await window.follow("telegram")
        await expect(window.page.locator("#claimed")).to_contain_text("human:ana")
        await expect(window.page.locator("#claimed .state.yes")).to_have_text("Delivered")
        await expect(window.page.locator("#claimed")).not_to_contain_text(str(ANA))
        await expect(window.page.locator("form.claim")).to_have_count(0)
        await expect(window.page.get_by_role("link", name="Unpair")).to_have_count(0)
        await window.open("telegram/human:ana/unpair")
        await expect(window.page.locator("main")).to_contain_text("Owners of the space unpair others.")


@pytest.mark.parametrize("script", SCRIPTS, ids=["script", "plain"])
async def test_on_call_and_quiet(house: House, bot: str, script: bool) -> None:
    """On call and off again, quiet hours and a snooze; what cannot be is told and what was typed stays."""
    await paired(house, "ana", user=ANA, name="Ana")
    async with house.window(java_script_enabled=script) as window:
        page = window.page
        await window.open("telegram")
        await window.button("Go on call").click()
        await expect(page.locator("#mine")).to_contain_text("You are on call.")
        await window.button("Leave call").click()
        await expect(page.locator("#mine")).to_contain_text("You are not on call.")
        await page.get_by_label("Each day").fill("22:00-07:00")
        await page.get_by_label("From now on").fill("2h")
        await window.button("Set it").click()
        await expect(page.get_by_label("Each day")).to_have_value("22:00-07:00")
        await expect(page.locator(".quiet")).to_contain_text("on until")
        await page.get_by_label("Each day").fill("late")
        await window.button("Set it").click()
        await expect(page.locator("#refusal")).to_contain_text("Not done")
        await expect(page.get_by_label("Each day")).to_have_value("late")


async def test_no_bot_has_run(house: House) -> None:
    """Without a bot no code is offered that nobody would hear of, and it is said how a bot is set up."""
    async with house.window() as window:
        await window.open("telegram")
        await expect(window.page.locator("#bot")).to_contain_text("logmem telegram")
        await expect(window.page.locator("#mine")).to_contain_text("once the bot is at work")
        await expect(window.page.locator("#pair")).to_have_count(0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "not running"}, "is not at work now. Nothing is sent."),
        ({"state": "unauthorized"}, "not at work now: Telegram does not know its token."),
        ({"alive": 1}, "is not at work now. Nothing is sent."),
    ],
    ids=["stopped", "unauthorized", "killed"],
)
async def test_a_bot_that_is_not_at_work(
    house: House, bot: str, heart: asyncio.Task[None], fields: dict[str, str | int], said: str
) -> None:
    """A bot that was stopped, was killed or is refused by Telegram is not said to be at work, and offers no code."""
    if "alive" in fields:
        heart.cancel()
        await asyncio.gather(heart, return_exceptions=True)
    await says(house, **fields)
    async with house.window() as window:
        await window.open("telegram")
        await expect(window.page.locator("#bot")).to_contain_text(said)
        await expect(window.page.locator("#bot")).to_contain_text("presses for 150 seconds and messages for a day")
        await expect(window.page.locator("#pair")).to_have_count(0)


async def test_the_inbox_tells_whose_phone_waits(house: House, bot: str) -> None:
    """Who may say so reads in the inbox that a phone waits for that, until it is said."""
    made = await house.world.operate("pairing", person="bo", life="24h")
    await starts(house, made["code"], user=77, name="Bo")
    async with house.window("bo") as window:
        await window.open("")
        await expect(window.page.locator("#to-pairings")).to_have_count(1)  # it is theirs, so they may
    async with house.window("ana") as window:
        await window.open("")
        await expect(window.page.locator("#pairings")).to_contain_text("human:bo")
        await window.page.locator("#to-pairings").click()
        await window.button("No").click()
        await window.open("")
        await expect(window.page.locator("#to-pairings")).to_have_count(0)


async def test_a_phone_opens_telegram_first(house: House, bot: str) -> None:
    """On a phone the button that opens Telegram stands before the code for another phone's camera; on a desk after."""
    for screen, first in ((PHONE, True), (DESK, False)):
        async with house.window(screen=screen) as window:
            await window.open("telegram")
            await window.button("Pair your phone").click()
            link, code = window.page.locator("#open-link"), window.page.locator("svg.qr")
            boxes = await link.bounding_box(), await code.bounding_box()
            assert boxes[0]
            assert boxes[1]
            assert (boxes[0]["y"] < boxes[1]["y"]) is first


async def test_a_page_without_script_says_nothing_by_halves(house: House, bot: str) -> None:
    """On a phone without script the header has no time and no word that announces one, and you are asked, not told."""
    async with house.window(screen=PHONE, java_script_enabled=False) as window:
        await window.open("telegram")
        await window.button("Pair your phone").click()
        await expect(window.page.get_by_text("As of")).to_be_hidden()
        await expect(window.page.locator("#live a")).to_have_text("Look again")
        await expect(window.page.locator("#claim")).not_to_contain_text("this page asks")


async def test_quiet_hours_name_their_zone(house: House, bot: str) -> None:
    """By whose clock the quiet hours are is said where they are set."""
    await paired(house, "ana", user=ANA, name="Ana")
    async with house.window() as window:
        await window.open("telegram")
        await expect(window.page.locator(".quiet")).to_contain_text("by the clock in ")
        await expect(window.page.locator(".quiet")).to_contain_text("/")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing(house: House, bot: str, screen: Screen) -> None:
    """Unpaired, a code, a claim, paired, others' claims, and what unpairing means."""
    await paired(house, "bo", user=77, name="Bo")
    async with house.window(screen=screen) as window:
        await window.follow("telegram")
        assert await findings(window.page) == []
        await window.button("Pair your phone").click()
        await window.live()
        assert await findings(window.page) == []
        await starts(house, await code_on(window))
        await expect(window.page.locator("form.claim")).to_be_visible()
        assert await findings(window.page) == []
        await window.button("Yes, that is me").click()
        await window.live()
        assert await findings(window.page) == []
        for address in ("telegram", "telegram/human:bo/unpair", "telegram/pair"):
            await window.follow(address)
            assert await findings(window.page) == [], address
