"""The emulator's page, in a browser: a person can try the bot with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from tests.console.test_axe import findings
from tests.console.window import PHONE, SCREENS, Screen
from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.phone import Telegram
from tests.telegram.running import running

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "grok asks 😀 when\nquoted twice"
ENTITIES = [
    {"type": "bold", "offset": 0, "length": 4},
    {"type": "code", "offset": 10, "length": 2},
    {"type": "date_time", "offset": 13, "length": 4, "unix_time": 1_800_000_000, "date_time_format": "DT"},
    {"type": "expandable_blockquote", "offset": 18, "length": 12},
    {"type": "text_link", "offset": 18, "length": 6, "url": "https://example.org/x"},
]


@asynccontextmanager
async def shown(chromium: Browser, telegram: Telegram, screen: Screen = PHONE) -> AsyncIterator[Page]:
    """The page, whose console must have had nothing to complain of and which loads nothing from elsewhere."""
    width, height = screen.size
    context = await chromium.new_context(viewport={"width": width, "height": height}, color_scheme=screen.look)
    page, complaints = await context.new_page(), list[str]()
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda fault: complaints.append(str(fault)))
    page.on("request", lambda asked: None if asked.url.startswith(telegram.url) else complaints.append(asked.url))
    await page.goto(telegram.url)
    try:
        yield page
    finally:
        await context.close()
    assert complaints == []


async def test_a_person_can_try_the_bot(chromium: Browser) -> None:
    """Add oneself, say something, see the card with its entities, reply, tap, block."""
    async with running() as telegram, Bot(telegram) as bot, shown(chromium, telegram) as page:
        await page.get_by_label("Name").fill("Ana")
        await page.get_by_role("button", name="Add a person").click()
        await page.get_by_role("button", name="/start").click()
        hello = (await bot.updates(timeout=20))[0]
        chat = hello["message"]["chat"]["id"]
        assert hello["message"]["text"] == "/start"
        await bot("sendMessage", chat_id=chat, text=TEXT, entities=ENTITIES, reply_markup=keyboard(APPROVE))
        card = page.locator("#messages .bot").last
        await expect(card.locator("b")).to_have_text("grok")
        await expect(card.locator("code")).to_have_text("😀")
        await expect(card.locator("time")).to_have_attribute("datetime", "2027-01-15T08:00:00.000Z")
        await expect(card.locator("blockquote a")).to_have_text("quoted")
        tapped = asyncio.create_task(bot.updates(timeout=20, offset=hello["update_id"] + 1))
        await card.get_by_role("button", name="Approve").click()
        press = (await tapped)[0]
        await bot("answerCallbackQuery", callback_query_id=press["callback_query"]["id"], text="Approved")
        await expect(page.locator("#toast")).to_have_text("Approved")
        answered = asyncio.create_task(bot.updates(timeout=20, offset=press["update_id"] + 1))
        await card.get_by_role("button", name="Reply").click()
        await page.get_by_label("Message", exact=True).fill("why?")
        await page.get_by_role("button", name="Send").click()
        reply = (await answered)[0]["message"]
        assert (reply["text"], reply["reply_to_message"]["text"]) == ("why?", TEXT)
        await bot(
            "editMessageText", chat_id=chat, message_id=press["callback_query"]["message"]["message_id"], text="ok"
        )
        await expect(page.locator("#messages .bot")).to_contain_text("edited 1×")
        await page.get_by_role("button", name="Block the bot").click()
        await expect(page.get_by_role("button", name="Unblock the bot")).to_be_visible()
        assert (await bot("sendMessage", chat_id=chat, text="hi")).status == 403


async def test_faults_and_violations_show(chromium: Browser) -> None:
    """Set a fault by hand; what a correct bot never does stands on the page."""
    async with running() as telegram, Bot(telegram) as bot, shown(chromium, telegram) as page:
        await page.get_by_text("Faults").click()
        await page.get_by_label("Method").fill("getMe")
        await page.get_by_role("button", name="Set the fault").click()
        await expect(page.locator("#faults")).to_contain_text("error in getMe: 1 left, struck 0×")
        assert (await bot("getMe")).status == 500
        await bot("sendMessage", chat_id=1, text="hi", colour="red")
        await expect(page.locator("#violations")).to_contain_text("sendMessage: unknown parameter colour")
        await expect(page.locator("#violation-count")).to_have_text("1")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
async def test_axe_finds_nothing(chromium: Browser, screen: Screen) -> None:
    """Readable for all, dark and light, on a phone and wide, and nothing runs out of the screen."""
    async with running() as telegram, Bot(telegram) as bot, shown(chromium, telegram, screen) as page:
        ana = await telegram.person("Ana", started=True)
        await telegram.group("Ops", ana)
        await bot("sendMessage", chat_id=ana.id, text=TEXT, entities=ENTITIES, reply_markup=keyboard(APPROVE))
        await page.get_by_role("button", name="Ana").click()
        await expect(page.locator("#messages .bot")).to_be_visible()
        assert await findings(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
