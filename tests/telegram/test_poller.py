"""The poller: what Telegram sends is kept before Telegram is told, and nothing makes it deaf."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot import poller as module
from bot.client import ALLOWED
from bot.client import Telegram as Client
from bot.clock import now
from bot.health import Health
from bot.poller import Poller
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from store.engine.lease import LeaseLost
from tests.telegram.phone import Phone, Telegram
from tests.telegram.together import NO_LIMITS, eventually
from tests.world import World


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


@pytest.fixture
async def phone(telegram: Telegram) -> Phone:
    """Somebody who has begun a chat, whose first message was taken."""
    return await telegram.person("Ana", started=True)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here; that they are longer elsewhere is no matter of these tests."""
    monkeypatch.setattr(module, "FIRST", 0.01)
    monkeypatch.setattr(module, "LAST", 0.02)
    monkeypatch.setattr(module, "CONFLICT", 0.02)


@asynccontextmanager
async def polling(store: BotStore, telegram: Telegram, *, owner: str = "one") -> AsyncIterator[Poller]:
    """A poller under a lease, ended with the block; it must not have ended before."""
    lease = store.lease(owner=owner, life=60_000)
    epoch = await lease.take()
    assert epoch
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS, patience=1)
    poller = Poller(client, store.updates, Health(store, clock=now), epoch=epoch, wait=1)
    task = asyncio.create_task(poller.run())
    try:
        yield poller
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()


async def kept(store: BotStore) -> list[dict[str, Any]]:
    """What is in the inbox."""
    return [json.loads(each.raw) for each in await store.updates.waiting(count=1000)]


async def heard(store: BotStore, text: str) -> dict[str, Any]:
    """The update with this text, once it is kept."""

    async def look() -> list[dict[str, Any]]:
        messages = [(u, u.get("message")) for u in await kept(store)]
        return [u for u, message in messages if isinstance(message, dict) and message.get("text") == text]

    found: dict[str, Any] = (await eventually(look))[0]
    return found


async def test_what_is_sent_is_kept_once_and_then_confirmed(store: BotStore, telegram: Telegram, phone: Phone) -> None:
    """Messages and presses come in, in order; Telegram has none left; the store says when the last good poll was."""
    began = now()
    async with polling(store, telegram):
        for text in ("one", "two", "three"):
            await phone.say(text)
            await heard(store, text)

        async def confirmed() -> bool:
            return not (await telegram.state())["webhook"]["pending_update_count"]

        await eventually(confirmed)
    assert [u["message"]["text"] for u in await kept(store)] == ["one", "two", "three"]
    state = await store.state()
    assert state["state"] == "polling"
    assert int(state["polled"]) >= began
    polls = await telegram.calls("getUpdates")
    assert all(set(poll.params["allowed_updates"]) == set(ALLOWED) for poll in polls)
    assert await telegram.violations() == ()


FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("error", {"status": 409, "description": "Conflict: terminated by other getUpdates request", "times": 3}),
    ("error", {"status": 401, "description": "Unauthorized", "times": 3}),
    ("error", {"status": 404, "description": "Not Found", "times": 1}),
    ("error", {"status": 404, "description": "Not Found", "times": 4}),
    ("error", {"status": 500, "times": 4}),
    ("error", {"status": 429, "description": "Too Many Requests: retry after 1", "retry_after": 1, "times": 1}),
    ("html", {"status": 502, "times": 4}),
    ("html", {"status": 200, "times": 1}),
    ("hang", {"seconds": 60, "times": 1}),
    ("apply_then_hang", {"seconds": 60, "times": 1}),
    ("apply_then_cut", {"times": 3}),
    ("cut", {"times": 4}),
)


@pytest.mark.parametrize(("kind", "how"), FAULTS)
async def test_it_hears_again_whatever_happened(
    store: BotStore, telegram: Telegram, phone: Phone, kind: str, how: dict[str, Any]
) -> None:
    """After each fault the next message is kept, once, and the fault was said in the store while it lasted."""
    await telegram.fault(kind, "getUpdates", **how)
    async with polling(store, telegram):
        await phone.say("can you hear me?")
        await heard(store, "can you hear me?")

        async def says_so() -> bool:
            return (await store.state())["state"] == "polling"

        await eventually(says_so)
    assert (await telegram.faults())[0]["hits"] == how["times"]
    assert len(await kept(store)) == 1


async def test_a_malformed_update_is_kept_and_does_not_stop_it(
    store: BotStore, telegram: Telegram, phone: Phone
) -> None:
    """What nobody can parse goes into the inbox like all else, to be buried there; the next message is heard."""
    async with polling(store, telegram):
        await telegram.fault("malformed", "getUpdates")
        await phone.say("before")
        await heard(store, "before")
        await telegram.push("message", [1, 2, 3])
        await telegram.push("callback_query", None)
        await phone.say("after")
        await heard(store, "after")
    assert len(await kept(store)) == 5


async def test_what_comes_twice_or_in_another_order_is_kept_once(
    store: BotStore, telegram: Telegram, phone: Phone
) -> None:
    """Duplicates and reordered updates: each is kept once, and none is missing."""
    async with polling(store, telegram):
        for text in ("a", "b", "c"):
            await telegram.fault("duplicate", "getUpdates")
            await phone.say(text)
            await heard(store, text)
    await telegram.fault("reorder", "getUpdates")
    for text in ("d", "e", "f"):
        await phone.say(text)
    async with polling(store, telegram):
        await heard(store, "f")
        await heard(store, "d")
    texts = [u["message"]["text"] for u in await kept(store)]
    assert sorted(texts) == ["a", "b", "c", "d", "e", "f"]


async def test_numbers_that_begin_anew_are_heard(store: BotStore, telegram: Telegram, phone: Phone) -> None:
    """After a quiet week update numbers may be lower than before: they are kept all the same."""
    async with polling(store, telegram):
        await phone.say("high")
        high = await heard(store, "high")
        await telegram.renumber(5)
        await phone.say("low")
        low = await heard(store, "low")
    assert low["update_id"] < high["update_id"]


async def test_what_was_kept_but_not_confirmed_comes_again_and_is_kept_once(
    store: BotStore, telegram: Telegram, phone: Phone
) -> None:
    """A bot that dies between keeping and telling Telegram: the next one gets the update again, and keeps it once."""
    await phone.say("hello")
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    batch = await client.updates(0, 0)
    await client.close()
    assert await store.updates.keep(batch) == 1
    async with polling(store, telegram):
        await phone.say("again")
        await heard(store, "again")
    assert [u["message"]["text"] for u in await kept(store)] == ["hello", "again"]


async def test_a_webhook_in_the_way_is_taken_away(store: BotStore, telegram: Telegram, phone: Phone) -> None:
    """A webhook that somebody set answers every poll with 409: it goes, and what waited for it is heard."""
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    await client.set_webhook("https://127.0.0.1:1/hook", "s" * 40)
    await phone.say("hello")
    async with polling(store, telegram):
        await heard(store, "hello")
    assert (await client.webhook())["url"] == ""
    await client.close()
    assert all("drop_pending_updates" not in call.params for call in await telegram.calls("deleteWebhook"))


async def test_who_has_lost_the_lease_keeps_nothing(store: BotStore, telegram: Telegram, phone: Phone) -> None:
    """A poller that was asleep while another took the lease ends with LeaseLost, and Telegram still has the update."""
    lease = store.lease(owner="one", life=60_000)
    old = await lease.take()
    assert old
    await lease.drop()
    assert await store.lease(owner="two", life=60_000).take()
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS)
    await phone.say("for the other one")
    poller = Poller(client, store.updates, Health(store, clock=now), epoch=old, wait=1)
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(20):
            await poller.run()
    assert await kept(store) == []
    assert len(await client.updates(0, 0)) == 1
    await client.close()


async def test_a_fault_of_our_own_does_not_end_it(
    store: BotStore, telegram: Telegram, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a mistake in our own code is logged and tried again."""
    original = module._after
    faults = iter([RuntimeError("a mistake"), KeyError("another")])

    def mistaken(batch: Any) -> int:
        if fault := next(faults, None):
            raise fault
        return original(batch)

    monkeypatch.setattr(module, "_after", mistaken)
    async with polling(store, telegram):
        await phone.say("hello")
        await heard(store, "hello")
