"""What is wrong with one card, or in one space, keeps no other card from its people."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot import looking, sweeping
from store.engine.client import Target, open_client
from store.engine.keys import Keys
from store.verbs import cards
from tests.telegram.test_outbox import asks
from tests.telegram.together import Together, eventually

BAD_SPACE = "a0"  # which comes before every other


@pytest.fixture(autouse=True)
async def _swept(live: Together) -> AsyncIterator[None]:
    """No bad space is left behind."""
    yield
    async with open_client(Target.embedded(live.world.engine), user="lm-admin") as admin:
        await admin.delete(*(getattr(Keys(BAD_SPACE), name) for name in ("outbox", "open_cards")))


@asynccontextmanager
async def failing(monkeypatch: pytest.MonkeyPatch, *refs: str) -> AsyncIterator[list[str]]:
    """The API fails at the cards of these refs; gives those that it has failed at."""
    original, failed = cards.card, list[str]()

    async def card(store: Any, *, space: str, ref: str, holding: Any) -> Any:
        if ref in refs:
            failed.append(ref)
            raise RuntimeError("a mistake of the API's")
        return await original(store, space=space, ref=ref, holding=holding)

    with monkeypatch.context() as patched:
        patched.setattr(cards, "card", card)
        yield failed


async def test_a_card_that_the_api_fails_at_is_put_aside(live: Together, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few looks its mark is gone and it is looked at later; when the API is well again the card comes."""
    monkeypatch.setattr(looking, "AGAIN", 3_000)
    ana = await live.pair("ana")
    ask = await live.ask(expires_in="1 h", summary="The first")
    await ana.until(asks)
    ref, space = f"ask:{ask['trail']}", live.world.space
    async with failing(monkeypatch, ref) as failed:
        await live.store.outbox.mark(space, ref)

        async def aside() -> bool:
            return not await live.store.outbox.dirty(space)

        await eventually(aside)
        assert len(failed) == looking.TRIES
        assert ref in await live.store.outbox.opened(space)
        await live.ask(summary="The second")
        await ana.until(lambda m: "The second" in m.text and asks(m))
        await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
        await eventually(lambda: len(failed) > 2 * looking.TRIES)
    await ana.until(lambda m: "The first" in m.text and m.text.startswith("Approved"))


async def test_cards_that_fail_do_not_fill_the_batch(live: Together, monkeypatch: pytest.MonkeyPatch) -> None:
    """More refs than are read at once, all of which the API fails at, and one behind them: it comes all the same."""
    ana = await live.pair("ana")
    monkeypatch.setattr(sweeping, "BATCH", 5)
    bad = [f"ask:bad{n}" for n in range(12)]
    async with failing(monkeypatch, *bad):
        await live.store.outbox.mark(live.world.space, *bad)
        await live.ask()
        await ana.until(asks)


async def test_a_bad_space_is_passed_over(live: Together) -> None:
    """What stands in one space is not what it should be: the cards of all others come, at once and at a start."""
    ana = await live.pair("ana")
    async with open_client(Target.embedded(live.world.engine), user="lm-admin") as admin:
        for name in ("outbox", "open_cards"):
            await admin.set(getattr(Keys(BAD_SPACE), name), "odd")
    await live.store.outbox.add_space(BAD_SPACE)
    assert live.app
    ask = await live.ask()
    card = await ana.until(asks)
    await live.world.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="approve")
    await ana.until(lambda m: m.id == card.id and m.text.startswith("Approved"))
    await live.ask(summary="Again?")
    await ana.until(lambda m: "Again?" in m.text)
    live.app.health._polled = 1
    await ana.say("/help")  # presses may have been lost: all is offered again
    await ana.until(lambda m: "Again?" in m.text and asks(m) and m.id > card.id + 2)
    async with open_client(Target.embedded(live.world.engine), user="lm-admin") as admin:
        await admin.srem("lm:{g:tg}:spaces", BAD_SPACE)
