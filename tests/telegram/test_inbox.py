"""The inbox: every update is handled once, in order for each chat, and said until it is heard; none holds up another's.

What is said is what `handle` gives; here it stands for the handlers.
"""

import asyncio
import json
from typing import Any

import pytest

from bot import inbox as module
from bot.client import Telegram as Client
from bot.door import Away
from bot.inbox import IN_LINE, KEPT
from bot.incoming import Unreadable
from bot.speaker import IDLE
from bot.words import Words
from store.engine.botstore import USER, BotStore
from store.engine.client import Target, open_client
from store.engine.exchange import exchange
from store.engine.keys import of_bot
from tests.telegram.phone import Telegram
from tests.telegram.reading import CARD, Update, empty_inbox, message, reading, reply
from tests.telegram.together import eventually
from tests.world import World

pytestmark = pytest.mark.usefixtures("soon")


async def test_a_chat_keeps_its_order_and_holds_up_no_other(store: BotStore, client: Client) -> None:
    """While the first update of one chat is stuck, those behind it wait, and those of other chats are handled."""
    await store.updates.keep([message(n, chat=1 if n < 10 else n) for n in range(1, 30)])
    stuck, done = asyncio.Event(), []

    async def handle(update: Update) -> None:
        if update["update_id"] == 1:
            await stuck.wait()
        done.append(update["update_id"])

    async with reading(store, client, handle):
        await eventually(lambda: set(done) == set(range(10, 30)))

        async def others_are_done() -> bool:
            return await store.updates.backlog() == 9

        await eventually(others_are_done)
        stuck.set()
        await empty_inbox(store)
    assert done[-9:] == list(range(1, 10))


async def test_the_flood_of_a_chat_stays_in_the_store(
    store: BotStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of one chat than all that may be in hand hides no other's; all of it is handled in the end, in order."""
    monkeypatch.setattr(module, "IN_HAND", 2 * IN_LINE)
    flood = 12 * IN_LINE
    await store.updates.keep([message(n, 1) for n in range(flood)])
    await store.updates.keep([message(flood, 7), message(flood + 1, 1)])
    stuck, done = asyncio.Event(), []

    async def handle(update: Update) -> None:
        if update["update_id"] == 0:
            await stuck.wait()
        done.append(update["update_id"])

    async with reading(store, client, handle):
        await eventually(lambda: done == [flood])
        stuck.set()
        await eventually(lambda: len(done) > flood // 3)
        later = flood + 2
        await store.updates.keep([message(later + n, 1 + n % 2) for n in range(4 * IN_LINE)])
        await empty_inbox(store)
    of_the_flood = [n for n in done if n != flood and (n < later or n % 2 == later % 2)]
    assert of_the_flood == sorted(of_the_flood)
    assert sorted(done) == list(range(later + 4 * IN_LINE))


async def test_a_stranger_who_floods_makes_nobody_wait(store: BotStore, telegram: Telegram) -> None:
    """Telegram lets one message a second through to them; the answer to somebody else comes before that is at its end.

    They are told a few times, and then nothing for a while.
    """
    mallory, ana = [await telegram.person(name, started=True) for name in ("Mallory", "Ana")]
    paced = Client(telegram.token, api_url=telegram.url)
    await store.updates.keep([message(n, mallory.id) for n in range(1000)])
    await store.updates.keep([message(1000, ana.id)])

    async def handle(update: Update) -> Words:
        chat = update["message"]["chat"]["id"]
        return reply(chat, "Only commands do something here.", idle=chat == mallory.id)

    try:
        async with reading(store, paced, handle):
            await ana.until(lambda m: "Only commands" in m.text)
            sent = [call for call in await telegram.calls("sendMessage") if call.params["chat_id"] == mallory.id]
            assert len(sent) <= IDLE
            await empty_inbox(store)
            assert len(await store.updates.unsaid()) <= IDLE
    finally:
        await paced.close()


async def test_what_was_not_done_is_done_after_a_restart(store: BotStore, client: Client) -> None:
    """An update that was in the middle of being handled when the process died is handled again, before later ones."""
    await store.updates.keep([message(1, 7)])
    begun, seen = asyncio.Event(), []

    async def dies(update: Update) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def handle(update: Update) -> None:
        seen.append(update["update_id"])

    async with reading(store, client, dies):
        await begun.wait()
    await store.updates.keep([message(2, 7)])
    async with reading(store, client, handle):
        await empty_inbox(store)
    assert seen == [1, 2]


async def test_while_the_api_is_away_a_press_is_kept_and_says_so(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """The toast comes once; the press is tried until it is decided; others of that chat wait behind it in order."""
    ana = await telegram.person("Ana", started=True)
    await client.send(ana.id, CARD)
    card = await ana.last()
    press = await ana.press(card, "Approve")
    (update,) = [u for u in await client.updates(0, 0) if "callback_query" in u]
    await store.updates.keep([update, message(999_999_999, ana.id, "behind")])
    back, seen = asyncio.Event(), []

    async def handle(update: Update) -> None:
        seen.append(next(kind for kind in ("callback_query", "message") if kind in update))
        if not back.is_set():
            raise Away("card: ConnectError")

    async with reading(store, client, handle):
        assert (await ana.toast(press)).text == KEPT
        await eventually(lambda: len(seen) >= 3)
        assert set(seen) == {"callback_query"}
        back.set()
        await empty_inbox(store)
    assert seen[-2:] == ["callback_query", "message"]
    assert len(await telegram.calls("answerCallbackQuery")) == 1
    assert await store.updates.buried() == []


async def test_what_cannot_be_parsed_becomes_a_dead_letter(store: BotStore, client: Client) -> None:
    """Malformed updates are buried with why, and never handed on; the next one is handled."""
    bad: list[Any] = [
        {"message": {"chat": {"id": 1}}},
        {"update_id": "seven", "message": {"chat": {"id": 1}}},
        {"update_id": True, "message": {"chat": {"id": 1}}},
        {"update_id": 3},
        {"update_id": 4, "message": [1, 2, 3]},
        {"update_id": 5, "callback_query": None},
        {"update_id": 6, "callback_query": {"from": {}}},
        {"update_id": 7, "message": {"chat": {"id": "me"}}},
        {"update_id": 10, "message": {"chat": {"id": float("inf")}}},
        {"update_id": 11, "message": {"chat": {"id": 7.5}}},
        {"update_id": 12, "message": {"chat": {"id": True}}},
        {"update_id": float("inf"), "message": {"chat": {"id": 1}}},
        {"update_id": 8, "poll": {}},
        [],
        "text",
        None,
    ]
    await store.updates.keep([*bad, message(9, 1)])
    seen = []

    async def handle(update: Update) -> None:
        seen.append(update["update_id"])

    async with reading(store, client, handle):
        await empty_inbox(store)
    assert seen == [9]
    buried = await store.updates.buried(count=100)
    assert [json.loads(each.raw) for each in reversed(buried)] == bad
    assert all(each.why for each in buried)


async def test_what_is_nested_deeper_than_can_be_read_becomes_a_dead_letter(
    store: BotStore, client: Client, empty: World
) -> None:
    """Nothing that an update holds keeps the next one from being handled, in this term or in the next."""
    target = Target.embedded(empty.engine)
    raw = open_client(target, user=USER)
    await exchange(raw, [("XADD", of_bot("inbox"), "*", "u", "[" * 100_000)])
    await raw.aclose()
    await store.updates.keep([message(1, 7)])
    seen = []

    async def handle(update: Update) -> None:
        seen.append(update["update_id"])

    async with reading(store, client, handle):
        await empty_inbox(store)
    assert seen == [1]
    assert len(await store.updates.buried()) == 1


FATES: tuple[tuple[Exception, int], ...] = ((Unreadable("no text"), 1), (KeyError("a mistake"), module.TRIES))


@pytest.mark.parametrize(("fault", "tries"), FATES)
async def test_what_fails_for_good_is_given_up(store: BotStore, client: Client, fault: Exception, tries: int) -> None:
    """How often each failure is tried before it ends among the dead letters; the update behind it is handled."""
    await store.updates.keep([message(1, 7), message(2, 7)])
    seen = []

    async def handle(update: Update) -> None:
        seen.append(update["update_id"])
        if update["update_id"] == 1:
            raise fault

    async with reading(store, client, handle):
        await empty_inbox(store)
    assert seen == [1] * tries + [2]
    assert len(await store.updates.buried()) == 1


@pytest.mark.parametrize("fault", [Away("away"), ConnectionError("store")])
async def test_what_passes_is_waited_for(store: BotStore, client: Client, fault: Exception) -> None:
    """Twenty failures that are no fault of the update's: it is handled in the end, and is no dead letter."""
    await store.updates.keep([message(1, 7)])
    tries = 0

    async def handle(update: Update) -> None:
        nonlocal tries
        tries += 1
        if tries <= 20:
            raise fault

    async with reading(store, client, handle):
        await empty_inbox(store)
    assert tries == 21
    assert await store.updates.buried() == []
