"""What is said: words come in order, each once, and are sent again until they are heard or past use."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot import speaker as saying
from bot.client import Telegram as Client
from bot.door import Away
from bot.inbox import FAILED, KEPT
from bot.words import Offer, Show, Toast, Words, spoken
from store.engine.botstore import BotStore
from tests.telegram.phone import Telegram
from tests.telegram.reading import CARD, Update, all_said, empty_inbox, message, reading, reply
from tests.telegram.together import NO_LIMITS, eventually

pytestmark = pytest.mark.usefixtures("soon")


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


async def test_no_word_for_a_chat_is_without_bounds(store: BotStore, client: Client, telegram: Telegram) -> None:
    """Where Telegram pauses it, cards that it has asked for wait once each, and of what is pressed some is refused."""
    ana = await telegram.person("Ana", started=True)
    await telegram.flood(retry_after=3000, chat_id=ana.id)
    offers = tuple(Offer(chat=ana.id, space="s", ref=f"ask:{n}", who="human:ana") for n in range(20))
    turn = Show(query="", chat=ana.id, message=1, space="s", token="abcdefghijkl", page=1)
    await store.updates.keep([message(n, ana.id) for n in range(100)])

    async def handle(update: Update) -> Words:
        number = update["update_id"]
        return (*reply(ana.id, "These wait:"), *offers) if number < 10 else (replace(turn, query=f"{number}"),)

    async with reading(store, client, handle):
        await eventually(lambda: client.limiter.wait(ana.id))
        await empty_inbox(store)
        kept = [word for kept in await store.updates.unsaid() for word in spoken(kept.raw)[0]]
    assert [word for word in kept if isinstance(word, Offer)] == list(offers)
    assert len([word for word in kept if isinstance(word, Show)]) == saying.IN_LINE - len(offers) - 10


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
        await eventually(lambda: client.limiter.wait(ana.id))  # Telegram has refused the answer
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
