"""getUpdates and webhooks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.emulator.state import State
from tests.telegram.hook import Hook, hooked
from tests.telegram.phone import NeverHappened, Phone, Telegram

OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot."""
    return await telegram.person("Ana", id=42, started=True)


def texts(updates: list[dict[str, Any]]) -> list[str]:
    """The words in some updates."""
    return [update["message"]["text"] for update in updates]


async def test_offset_confirms(bot: Bot, ana: Phone) -> None:
    """Updates come again until the offset has passed them."""
    for text in "abc":
        await ana.say(text)
    first = await bot.updates()
    assert texts(first) == ["a", "b", "c"]
    assert await bot.updates() == first
    assert texts(await bot.updates(offset=first[1]["update_id"])) == ["b", "c"]
    assert texts(await bot.updates()) == ["b", "c"]
    assert await bot.updates(offset=first[2]["update_id"] + 1) == []


async def test_limit_and_negative_offset(bot: Bot, ana: Phone) -> None:
    """The limit cuts an answer; a negative offset keeps the last of that number and forgets the rest."""
    for text in "abcd":
        await ana.say(text)
    assert texts(await bot.updates(limit=2)) == ["a", "b"]
    assert texts(await bot.updates(offset=-2)) == ["c", "d"]
    assert texts(await bot.updates()) == ["c", "d"]


@pytest.mark.parametrize("given", [{"timeout": 51}, {"limit": 0}, {"limit": 101}, {"timeout": -1}])
async def test_ranges(bot: Bot, telegram: Telegram, ana: Phone, given: dict[str, int]) -> None:
    """A time-out of 0 to 50 and a limit of 1 to 100 are in range."""
    await ana.say("a")
    assert texts(await bot.updates(**given)) == ["a"]
    assert [one.problem for one in await telegram.violations()] == [f"{next(iter(given))} is out of range"]


async def test_long_polls_end_with_the_first_update(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A poll that waits answers as soon as there is something."""
    poll = asyncio.create_task(bot.updates(timeout=50))
    await telegram.polled()
    await ana.say("a")
    assert texts(await poll) == ["a"]


async def test_an_empty_poll_ends_by_itself(bot: Bot) -> None:
    """A poll with nothing to tell answers an empty list in the end."""
    assert await bot.updates(timeout=1) == []


async def test_a_newer_poll_ends_the_older_one(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """Of two polls the older is told of the conflict, and the newer gets the update."""
    older = asyncio.create_task(bot("getUpdates", timeout=50))
    await telegram.polled()
    newer = asyncio.create_task(bot("getUpdates", timeout=50))
    assert (await older).error == (409, OTHER_POLL)
    await ana.say("a")
    assert texts((await newer).result) == ["a"]


async def test_a_poll_that_hung_up_takes_nothing(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A client that is gone has got no update."""
    poll = asyncio.create_task(bot("getUpdates", timeout=50))
    await telegram.polled()
    poll.cancel()

    async def noticed() -> bool:
        return [call.error for call in await telegram.calls("getUpdates")] == ["the client hung up"]

    await telegram.wait_until(noticed)
    await ana.say("a")
    assert texts(await bot.updates()) == ["a"]


async def test_allowed_updates_persist(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """What the bot asked for stays until it asks for something else; an empty list is the defaults."""
    await bot.updates(allowed_updates=["callback_query"])
    await ana.say("unheard")
    assert await bot.updates() == []
    await bot.updates(allowed_updates=[])
    await ana.say("heard")
    assert texts(await bot.updates()) == ["heard"]


@pytest.mark.parametrize("kind", ["chat_member", "message_reaction", "message_reaction_count"])
async def test_defaults_leave_some_out(telegram: Telegram, kind: str) -> None:
    """Some kinds come only to a bot that asks for them."""
    updates = State().updates
    assert updates.add(kind, {}) is None
    assert updates.add("message", {}) is not None
    updates.allow([kind])
    assert updates.add(kind, {}) is not None


async def test_how_long_updates_are_kept(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """For a bot that is away a press is kept for 150 s and a message for a day."""
    await bot("sendMessage", chat_id=42, text="card", reply_markup=keyboard(APPROVE))
    await ana.press(await ana.last(), "Approve")
    await ana.say("a")
    await telegram.pass_time(149)
    assert len(await bot.updates()) == 2
    await telegram.pass_time(2)
    assert texts(await bot.updates()) == ["a"]
    await telegram.pass_time(86_400)
    assert await bot.updates() == []


def test_no_two_emulators_number_alike() -> None:
    """The first number is random, so that another start's updates are not taken for those that came before."""
    assert len({State().updates.next_id for _ in range(4)}) == 4


async def test_numbers_may_start_anew(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """After a quiet week the numbers may be lower than before."""
    await ana.say("a")
    high = (await bot.updates())[0]["update_id"]
    await bot.updates(offset=high + 1)
    await telegram.renumber(7)
    await ana.say("b")
    assert [update["update_id"] for update in await bot.updates()] == [7]


async def test_updates_of_ones_own(bot: Bot, telegram: Telegram) -> None:
    """A test can queue any update, sound or not."""
    number = await telegram.push("message", "nonsense", update_id=77)
    assert await bot.updates() == [{"update_id": number, "message": "nonsense"}]


@asynccontextmanager
async def hook(bot: Bot, **params: Any) -> AsyncIterator[Hook]:
    """A webhook that is set."""
    async with hooked() as taken:
        assert (await bot("setWebhook", url=taken.url, **params)).result is True
        yield taken


async def test_webhook(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """Updates are pushed with the secret, in order, and each once."""
    async with hook(bot, secret_token="s" * 32, allowed_updates=["message"]) as taken:
        for text in "abc":
            await ana.say(text)
        pushed = [await taken.next() for _ in range(3)]
        assert texts([update for update, _ in pushed]) == ["a", "b", "c"]
        assert {secret for _, secret in pushed} == {"s" * 32}

        async def taken_all() -> bool:
            return bool((await bot("getWebhookInfo")).result["pending_update_count"] == 0)

        await telegram.wait_until(taken_all)
        info = (await bot("getWebhookInfo")).result
        assert (info["url"], info["allowed_updates"]) == (taken.url, ["message"])
        assert (await bot("getUpdates")).error == (409, WEBHOOK_ACTIVE)
        assert (await bot("deleteWebhook")).result is True
        await ana.say("d")
        assert texts(await bot.updates()) == ["d"]


async def test_a_webhook_that_fails_is_tried_again(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """An update that was not taken comes again, and the failure stands in the info."""
    await telegram.set_limits(webhook_retry=0.01)
    async with hook(bot) as taken:
        taken.statuses += [500, 403]
        await ana.say("a")
        assert texts([(await taken.next())[0] for _ in range(3)]) == ["a", "a", "a"]
        info = (await bot("getWebhookInfo")).result
        assert info["last_error_message"] == "Wrong response from the webhook: 403"


async def test_a_poll_ends_when_a_webhook_is_set(bot: Bot, telegram: Telegram) -> None:
    """Setting a webhook ends the poll that waits."""
    poll = asyncio.create_task(bot("getUpdates", timeout=50))
    await telegram.polled()
    async with hook(bot):
        assert (await poll).error == (409, "Conflict: terminated by setWebhook request")


@pytest.mark.parametrize(
    ("given", "description"),
    [
        ({"url": "http://example.org/hook"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        ({"url": "https://example.org/", "secret_token": "no blanks"}, "secret token contains unallowed characters"),
    ],
)
async def test_webhooks_refused(bot: Bot, given: dict[str, str], description: str) -> None:
    """A webhook is https or this machine, and its secret is plain."""
    assert (await bot("setWebhook", **given)).error == (400, f"Bad Request: {description}")


async def test_forged_pushes(bot: Bot, telegram: Telegram) -> None:
    """An attacker's push has no secret or a wrong one, and the test sees the answer."""
    forged = {"update_id": 1, "message": {}}
    async with hook(bot, secret_token="s" * 32) as taken:
        taken.statuses += [403, 403]
        assert await telegram.forge(forged) == 403
        assert await telegram.forge(forged, secret="guess") == 403
        assert [(await taken.next())[1] for _ in range(2)] == [None, "guess"]


async def test_dropping_what_waits(bot: Bot, ana: Phone) -> None:
    """A bot that asks for it loses what waited."""
    await ana.say("a")
    await bot("deleteWebhook", drop_pending_updates=True)
    assert await bot.updates() == []


async def test_waits_give_up(telegram: Telegram, ana: Phone) -> None:
    """What never happens is an error with words, not an endless wait."""
    with pytest.raises(NeverHappened, match="a card"):
        await ana.until(lambda message: True, timeout=0.05, what="a card")
    with pytest.raises(NeverHappened, match="pigs fly"):
        await telegram.wait_until(lambda: False, timeout=0.05, what="pigs fly")
