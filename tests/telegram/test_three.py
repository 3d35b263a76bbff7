"""One ask, decided at once in the console and on two phones: one of them has decided, and all come to show it."""

import asyncio

import pytest

from tests.surfaces.browser import Browser, Page
from tests.telegram.phone import Message, Phone, Toast
from tests.telegram.together import Together

WAYS = (("human:ana", "console"), ("human:ana", "telegram"), ("human:bo", "telegram"))
OFTEN = 6  # races, so that each of the three comes first now and then


async def shown(phone: Phone, text: str) -> Message:
    """The card of an ask, ready to be decided."""
    return await phone.until(lambda m: text in m.text and "Approve" in m.labels)


async def settled(phone: Phone, card: Message, words: str) -> Message:
    """The same card, once it says how it ended and offers no decision any more."""
    return await phone.until(
        lambda m: m.id == card.id and words in m.text and not {"Approve", "Reject"} & {*m.labels},
        what=f"that says {words!r}",
    )


@pytest.mark.parametrize("n", range(OFTEN))
async def test_one_of_three_decides(live: Together, n: int) -> None:
    """The others hear who it was; the Log has one decision; every card and the console's page show the same.

    Taps take a way by Telegram and the bot, so in every other race they begin before the console does.
    """
    world = live.world
    ana, bo = await live.pair("ana"), await live.pair("bo")
    assert world.http
    browser = Browser(world.http, world.space, world.tokens["human:ana"])
    text = f"Deploy number {n}?"
    ask = await live.ask(summary=text)
    cards = await asyncio.gather(shown(ana, text), shown(bo, text))
    form = (await browser.ask(ask["trail"])).form("/decide")
    taps = [asyncio.create_task(phone.tap(card, "Approve")) for phone, card in zip((ana, bo), cards, strict=True)]
    for _ in range(n % 2 * OFTEN):
        await browser.inbox()
    console = await browser.send(form, "approve")
    first, second = await asyncio.gather(*taps)
    stands = await world.do("agent:grok", "view", what=ask["trail"])
    (decided,) = [entry for entry in stands["history"] if entry["kind"] == "decided"]
    assert stands["status"] == "approved"
    by, via = stands["decided_by"], stands["via"]
    assert decided["by"] == by
    assert WAYS[won(console, first, second)] == (by, via)
    name = by.partition(":")[2]
    assert f"{name} approved this" in first.text + second.text
    words = f"Approved by {name} {'on Telegram' if via == 'telegram' else 'in the console'}"
    await asyncio.gather(settled(ana, cards[0], words), settled(bo, cards[1], words))
    assert by in (await browser.ask(ask["trail"])).words
    assert await live.telegram.violations() == ()


def won(console: Page, first: Toast, second: Toast) -> int:
    """Which of the three was told that it was theirs: 0 the console, 1 or 2 a phone. Exactly one was."""
    theirs = [console.status == 303, *("Nothing changed" not in toast.text for toast in (first, second))]
    assert theirs.count(True) == 1, (console.status, first, second)
    return theirs.index(True)
