"""A term of the bot: it ends when its lease may be another's, and what it has missed is made good by the next."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from bot import app, shelf
from bot.app import LIFE, _renewing
from bot.clock import now
from bot.health import PRESSES_LAST, Health
from bot.shelf import Held, Shelf
from store.domain.copy import Copy
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target, open_client
from store.engine.lease import LeaseLost
from tests.own_engine import OwnEngine, own_engine
from tests.telegram.together import Bot, Together, eventually, together
from tests.world import Result, World

SECOND = 1000
A = Copy(token="aaaaaaaaaaaa", ref="ask:a", to="human:ana", chat=7, message=1, state="sent", sent=1)


@pytest.fixture
def engine_of_its_own(tmp_path: Path) -> Iterator[OwnEngine]:
    """An engine that is stopped and killed."""
    with own_engine(tmp_path) as engine:
        yield engine


@pytest.fixture
async def store(empty: World) -> AsyncIterator[BotStore]:
    """The bot's part of an empty store."""
    store = open_bot_store(Target.embedded(empty.engine))
    yield store
    await store.close()


async def test_a_term_ends_when_its_lease_does_though_the_store_is_silent(
    engine_of_its_own: OwnEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that answers nothing lets nobody know who holds the lease: the term ends with its life, and no later."""
    monkeypatch.setattr(app, "RENEW", 60.0)  # one that waits for the store for long
    store = open_bot_store(engine_of_its_own.target)
    lease = store.lease(owner="a", life=int(LIFE * SECOND))
    loop = asyncio.get_running_loop()
    asked = loop.time()
    assert await lease.take()
    engine_of_its_own.send(signal.SIGSTOP)
    try:
        with pytest.raises(LeaseLost, match="longer"):
            await _renewing(lease, asked - LIFE + 0.05)
    finally:
        engine_of_its_own.send(signal.SIGCONT)
    await store.close()


async def test_a_term_goes_on_while_its_lease_is_renewed(store: BotStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renewed in time it goes on for many lives; it ends when somebody else has taken the lease."""
    monkeypatch.setattr(app, "RENEW", 0.01)
    monkeypatch.setattr(app, "LIFE", 1.0)
    lease = store.lease(owner="a", life=60_000)
    assert await lease.take()
    term = asyncio.create_task(_renewing(lease, asyncio.get_running_loop().time()))
    await asyncio.wait([term], timeout=1.5)
    assert not term.done()
    await store.lease(owner="a", life=60_000).take()  # whoever has another epoch
    with pytest.raises(LeaseLost, match="taken"):
        await asyncio.wait_for(term, 20)


async def test_who_was_asleep_writes_nothing(world: World, tmp_path: Path) -> None:
    """A bot is stopped, another takes over and shows the verdict; woken, the first gives way and changes nothing."""
    async with together(world, run=False) as live:
        first, second = (
            Bot(world, live.telegram, live.settings.api_url, tmp_path / f"{name}.log") for name in ("a", "b")
        )
        ana = await live.pair("ana")
        first.start()
        try:
            ask = await live.ask()
            card = await ana.until(lambda m: "Approve" in m.labels)
            (asked,) = await eventually(lambda: sent(live, ask))
            first.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr] # it was started
            second.start()
            await ana.tap(card, "Approve")
            await ana.until(lambda m: m.text.startswith("Approved"))

            async def written() -> list[Copy]:
                """What the second one has written of what it has shown."""
                return [copy for copy in await copies(live, ask) if copy.opened and copy.shown != asked.shown]

            before = await eventually(written)
            first.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr] # it was started
            await eventually(lambda: any("another process has the lease" in line["event"] for line in first.lines()))
            assert await copies(live, ask) == before
        finally:
            first.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr] # it was started
            first.end()
            second.end()
        assert len(await ana.messages()) == 1
        assert await live.telegram.violations() == ()


async def test_who_was_asleep_ends_when_it_is_told_to(world: World, tmp_path: Path) -> None:
    """Woken, a bot finds at once that it is to end and that its lease is another's: it does end."""
    async with together(world, run=False) as live:
        first, second = (
            Bot(world, live.telegram, live.settings.api_url, tmp_path / f"{name}.log") for name in ("a", "b")
        )
        first.start()
        try:
            await eventually(lambda: leads(first))
            first.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr] # it was started
            second.start()
            await eventually(lambda: leads(second))
            first.process.send_signal(signal.SIGTERM)  # type: ignore[union-attr] # it was started
            assert first.end(signal.SIGCONT) == 0
        finally:
            first.process.kill()  # type: ignore[union-attr] # it was started
            second.end()


async def test_who_loses_the_lease_waits_for_it(world: World) -> None:
    """Somebody else has taken it, and lets it go: the same process takes it again."""
    async with together(world) as live:
        assert live.app
        health, lease = live.app.health, live.store.lease(owner="somebody", life=60_000)
        await eventually(lambda: health.holding)
        async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
            await admin.hset(lease.key, "until", 0)
        assert await lease.take()
        await eventually(lambda: not health.holding)
        await lease.drop()
        await eventually(lambda: health.holding)


def leads(bot: Bot) -> bool:
    """Whether it has said that it polls as the one that has the lease."""
    return any(line["event"] == "polling" for line in bot.lines())


async def copies(live: Together, ask: Result) -> list[Copy]:
    """The records of an ask's copies."""
    return await live.store.copies.of(live.world.space, f"ask:{ask['trail']}")


async def sent(live: Together, ask: Result) -> list[Copy]:
    """Those of them of which it is written that they arrived."""
    return [copy for copy in await copies(live, ask) if copy.message]


@asynccontextmanager
async def held(store: BotStore, epoch: int) -> AsyncIterator[tuple[Shelf, Held]]:
    """A ref in hand, in a term."""
    made = Shelf(store.copies.under(epoch, bot=5))
    async with made.hold("w", A.ref) as ref:
        yield made, ref


async def test_an_earlier_term_is_told_that_a_later_one_has_begun(store: BotStore) -> None:
    """From when a later term has taken a ref in hand, what an earlier one holds cannot be written."""
    await store.copies.put("w", A)
    async with held(store, 1) as (early, mine), held(store, 2) as (late, its):
        with pytest.raises(LeaseLost):
            await early.put(mine, replace(A, opened=9))
        await late.put(its, replace(A, opened=5))
    assert await store.copies.of("w", A.ref) == [replace(A, opened=5)]


async def test_copies_of_another_bot_are_not_in_hand(store: BotStore) -> None:
    """Ours, and those of which that is not known, are; what was sent by another bot is left as it is."""
    others = [replace(A, token=f"{n:012}", bot=n, sent=n + 1) for n in (0, 4, 5)]
    await store.copies.put("w", *others)
    async with held(store, 1) as (_, mine):
        assert [copy.bot for copy in mine.copies.values()] == [0, 5]
    assert await store.copies.of("w", A.ref) == others


async def test_what_could_not_be_written_is_owed(engine_of_its_own: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is away for long: who holds the ref goes on with what is so, and the next change takes it along."""
    monkeypatch.setattr(shelf, "PAUSES", (0.0,))
    store = open_bot_store(engine_of_its_own.target)
    other = replace(A, token="bbbbbbbbbbbb", to="human:bo", chat=8, sent=2)
    await store.copies.put("w", A)
    async with held(store, 1) as (made, mine):
        engine_of_its_own.end()
        with pytest.raises(redis.ConnectionError):
            await made.put(mine, later := replace(A, message=9))
        async with made.hold("w", A.ref) as same:
            assert same is mine
            assert same.copies[A.token] == later
            engine_of_its_own.start()
            await made.put(same, other)
        assert await store.copies.of("w", A.ref) == [later, other]
    await store.close()


class Clock:
    """A time that is set."""

    def __init__(self) -> None:
        self.ms = now()

    def __call__(self) -> int:
        return self.ms


async def test_a_gap_between_two_good_polls_is_noticed(store: BotStore) -> None:
    """Within a term and after one: where presses may have been lost that is said in the store until it is made good."""
    clock = Clock()
    health = Health(store, clock=clock)
    await health.begin()
    await health.polled()
    clock.ms += PRESSES_LAST
    await health.polled()
    assert not health.missed.is_set()
    clock.ms += PRESSES_LAST + 1
    await health.polled()
    assert health.missed.is_set()
    assert (await store.state())["offering"] == "1"
    later = Health(store, clock=clock)  # the process has died before it was made good
    await later.begin()
    assert later.missed.is_set()
    await later.made_good()  # not while there is more
    assert (await store.state())["offering"] == "1"
    later.missed.clear()
    await later.made_good()
    assert (await store.state())["offering"] == "0"
    clock.ms += PRESSES_LAST + 1
    after = Health(store, clock=clock)
    await after.begin()
    assert not after.missed.is_set()
    await after.polled()
    assert after.missed.is_set()


async def test_presses_that_were_lost_within_a_term_are_asked_for_again(world: World) -> None:
    """The bot could not poll for longer than Telegram keeps a press, and never lost its lease: cards come anew."""
    async with together(world) as live:
        assert live.app
        ana = await live.pair("ana")
        await live.ask()
        card = await ana.until(lambda m: "Approve" in m.labels)
        health = live.app.health
        health._polled -= PRESSES_LAST + 60_000  # as it is after that long without a good poll
        await ana.say("/help")  # which ends the poll that goes on
        await ana.until(lambda m: m.id != card.id and "Approve" in m.labels)

        async def made_good() -> bool:
            return (await live.store.state()).get("offering") == "0"

        await eventually(made_good)
