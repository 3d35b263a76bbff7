"""The inbox: every update is handled once, in order for each chat, and said until it is heard; none holds up another's.

What is said is what `handle` gives; here it stands for the handlers.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot import inbox as module
from bot import speaker as saying
from bot.client import Telegram as Client
from bot.clock import now
from bot.deck import Cards
from bot.door import Away, Door
from bot.inbox import FAILED, IN_LINE, KEPT, Inbox
from bot.incoming import Unreadable
from bot.message import Message
from bot.speaker import IDLE, Speaker
from bot.words import Reply, Toast, Words
from store.engine.botstore import USER, BotStore, open_bot_store
from store.engine.client import Target, open_client
from store.engine.exchange import exchange
from store.engine.keys import of_bot
from tests.telegram.phone import Telegram
from tests.telegram.together import NO_LIMITS, eventually
from tests.world import World

Update = dict[str, Any]
CARD = Message(text="card", rows=(({"text": "Approve", "callback_data": "v1:approve:abcdefghijkl"},),))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here."""
    for each in (module, saying):
        monkeypatch.setattr(each, "SOON", 0.01)
        monkeypatch.setattr(each, "LATE", 0.02)


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


@pytest.fixture
async def client(telegram: Telegram) -> AsyncIterator[Client]:
    """Our client, at the emulator."""
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    yield client
    await client.close()


@asynccontextmanager
async def reading(
    store: BotStore, client: Client, handle: Callable[[Update], Awaitable[Words | None]]
) -> AsyncIterator[None]:
    """The inbox at work, ended with the block as if the process had died."""

    async def given(update: Update) -> Words:
        return await handle(update) or ()

    door = Door("http://127.0.0.1:9", "no secret")
    cards = Cards(client, door, store.outbox, store.copies)
    speaker = Speaker(client, cards, store.copies, store.updates, clock=now)
    task = asyncio.create_task(Inbox(store.updates, speaker, given, clock=now).run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await door.close()


def message(number: int, chat: int, text: str = "") -> Update:
    """A message of a chat."""
    return {"update_id": number, "message": {"message_id": 1, "chat": {"id": chat, "type": "private"}, "text": text}}


def reply(chat: int, text: str, **how: Any) -> Words:
    """A message to a chat."""
    return (Reply(chat=chat, text=text, **how),)


async def empty_inbox(store: BotStore) -> None:
    """Return once nothing waits to be handled any more."""

    async def look() -> bool:
        return not await store.updates.backlog()

    await eventually(look)


async def all_said(store: BotStore) -> None:
    """Return once nothing waits to be handled or to be said any more."""

    async def look() -> bool:
        return not await store.updates.backlog() and not await store.updates.unsaid()

    await eventually(look)


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


async def test_an_answer_that_fails_is_sent_again_and_nothing_is_done_again(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """What comes behind is handled meanwhile; the words come in order, each once."""
    ana = await telegram.person("Ana", started=True)
    await telegram.flood(retry_after=1)
    await telegram.fault("error", "sendMessage", status=409, description="Conflict")
    await store.updates.keep([message(1, ana.id), message(2, ana.id)])
    seen = []

    async def handle(update: Update) -> Words:
        seen.append(update["update_id"])
        return reply(ana.id, f"answer {update['update_id']}")

    async with reading(store, client, handle):
        await empty_inbox(store)
        assert not [m for m in await ana.messages() if m.by_bot]
        await all_said(store)
    assert seen == [1, 2]
    assert [m.text for m in await ana.messages() if m.by_bot] == ["answer 1", "answer 2"]


async def test_a_chat_that_telegram_pauses_holds_up_no_other(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """However long that is; its own updates are handled too, and what is to be said there waits."""
    ana, bo = [await telegram.person(name, started=True) for name in ("Ana", "Bo")]
    await telegram.flood(retry_after=3000, chat_id=ana.id)
    await store.updates.keep([message(n, ana.id) for n in range(60)])
    await store.updates.keep([message(60, bo.id)])
    seen = []

    async def handle(update: Update) -> Words:
        seen.append(update["update_id"])
        return reply(update["message"]["chat"]["id"], "answer")

    async with reading(store, client, handle):
        await bo.until(lambda m: m.text == "answer")
        await empty_inbox(store)
    assert sorted(seen) == list(range(61))
    assert 0 < len(await store.updates.unsaid()) <= saying.IN_LINE + 1


async def test_what_was_not_said_is_said_after_a_restart(store: BotStore, client: Client, telegram: Telegram) -> None:
    """The process dies between what was done and its answer: the next one says it, and does nothing again."""
    ana = await telegram.person("Ana", started=True)
    await telegram.flood(retry_after=3000)
    await store.updates.keep([message(1, ana.id)])
    seen = []

    async def handle(update: Update) -> Words:
        seen.append(update["update_id"])
        meaning = {"kind": "reason", "token": "abcdefghijkl"}
        return reply(ana.id, "Your reason?", placeholder="Your reason", meaning=meaning)

    async with reading(store, client, handle):
        await empty_inbox(store)
    fresh = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    try:
        async with reading(store, fresh, handle):
            asked = await ana.until(lambda m: m.force_reply)
            await all_said(store)
    finally:
        await fresh.close()
    assert seen == [1]
    assert await store.copies.prompted(ana.id, asked.id) == {"kind": "reason", "token": "abcdefghijkl"}


async def test_words_that_may_have_arrived_are_not_repeated_for_ever(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """After some tries of which Telegram may have taken each, it ends, and the log says so."""
    ana = await telegram.person("Ana", started=True)
    await telegram.fault("apply_then_cut", "sendMessage", times=None)
    await store.updates.keep([message(1, ana.id)])

    async def handle(update: Update) -> Words:
        return reply(ana.id, "answer")

    with capture_logs() as lines:
        async with reading(store, client, handle):
            await all_said(store)
    assert len([m for m in await ana.messages() if m.by_bot]) == saying.UNSURE
    assert [line["chat"] for line in lines if "not known whether words arrived" in line["event"]] == [ana.id]


async def test_what_can_be_said_to_nobody_for_too_long_is_given_up(
    store: BotStore, client: Client, telegram: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says so, and nothing of it is left."""
    monkeypatch.setattr(saying, "TOO_LATE", 1)
    ana = await telegram.person("Ana", started=True)
    await telegram.flood(retry_after=3000)
    await store.updates.keep([message(1, ana.id)])

    async def handle(update: Update) -> Words:
        return reply(ana.id, "answer")

    with capture_logs() as lines:
        async with reading(store, client, handle):
            await all_said(store)
    assert [line["chat"] for line in lines if "not said in time" in line["event"]] == [ana.id]


async def pressed(store: BotStore, client: Client, telegram: Telegram) -> Any:
    """Somebody who has pressed a card, the card, the press, and the update that says so, which is kept."""
    ana = await telegram.person("Ana", started=True)
    await client.send(ana.id, CARD)
    card = await ana.last()
    press = await ana.press(card, "Approve")
    (update,) = [u for u in await client.updates(0, 0) if "callback_query" in u]
    await store.updates.keep([update])
    return ana, card, press


def refused(update: Update, *, alert: bool = True) -> Words:
    """The answer to a press."""
    query = update["callback_query"]
    under = query["message"]
    words = 'Nothing changed: "no" was said.'
    return (
        Toast(query=query["id"], chat=under["chat"]["id"], message=under["message_id"], text=words, alert=alert),
    )  # fmt: skip


async def test_a_refusal_that_comes_too_late_is_said_to_the_card(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """As a reply to it, with what it quotes where nothing acts; that something was done, the card itself shows."""
    ana, card, _ = await pressed(store, client, telegram)
    await telegram.pass_time(100)

    async def handle(update: Update) -> Words:
        return (*refused(update), *refused(update, alert=False))

    async with reading(store, client, handle):
        await all_said(store)
    (_, late) = [m for m in await ana.messages() if m.by_bot]
    assert late.text == 'Nothing changed: "no" was said.'
    assert late.reply_to == card.id
    assert [entity.type for entity in late.entities] == ["code"]


async def test_what_was_kept_and_then_refused_is_said_to_the_card(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """The press was answered already, with that it is kept."""
    ana, card, press = await pressed(store, client, telegram)
    back = asyncio.Event()

    async def handle(update: Update) -> Words:
        if not back.is_set():
            raise Away("tap: ConnectError")
        return refused(update)

    async with reading(store, client, handle):
        assert (await ana.toast(press)).text == KEPT
        back.set()
        late = await ana.until(lambda m: m.reply_to == card.id)
        await all_said(store)
    assert "Nothing changed" in late.text


async def test_presses_that_wait_behind_another_are_told_that_they_are_kept(
    store: BotStore, client: Client, telegram: Telegram
) -> None:
    """Also those that come while the first one waits."""
    ana, card, press = await pressed(store, client, telegram)

    async def handle(update: Update) -> Words:
        raise Away("tap: ConnectError")

    async with reading(store, client, handle):
        assert (await ana.toast(press)).text == KEPT
        later = await ana.press(card, "Approve")
        (update,) = [u for u in await client.updates(0, 0) if u.get("callback_query", {}).get("id") == later]
        await store.updates.keep([update])
        assert (await ana.toast(later)).text == KEPT


async def test_whoever_pressed_hears_that_it_went_wrong(store: BotStore, client: Client, telegram: Telegram) -> None:
    """A press that ends among the dead letters does not end in silence."""
    ana, _, press = await pressed(store, client, telegram)

    async def handle(update: Update) -> Words:
        raise KeyError("a mistake of ours")

    async with reading(store, client, handle):
        toast = await ana.toast(press)
    assert toast.alert
    assert toast.text == FAILED
    assert len(await store.updates.buried()) == 1
