"""One run: asks, taps, faults and kills; then quiet, until everything is settled and shown; then the checks."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from store.domain.ask import Ask
from store.engine.client import Target, open_client
from store.engine.reads import Doc
from tests.chaos.checks import sound
from tests.telegram.chaos.agents import Agents, Ledger
from tests.telegram.chaos.book import Book, check, part, shows_end, stories, told_so
from tests.telegram.chaos.crowd import Crowd
from tests.telegram.chaos.gremlins import Gremlins
from tests.telegram.chaos.load import Load, wishes
from tests.telegram.chaos.stage import STORE_ERRORS, Stage, staged
from tests.telegram.shown import Message

LATER = 6 * 60_000  # ms, after which an ask of five minutes has expired
TELL = 10.0  # seconds between two words of how far it is
LOOK = 0.1  # seconds between two looks at what is waited for

Figures = dict[str, Any]


async def chaos(load: Load, folder: Path) -> Figures:
    """Run it; gives the figures. AssertionError: something that was said is not so, or something never came."""
    started = time.monotonic()
    _say(f"seed {load.seed}: {load.asks} asks of {load.agents} agents to {load.people} people")
    async with staged(load, folder) as stage:
        ledger, book = Ledger(stage), Book()
        crowd = Crowd(load, stage.phones, book, done=ledger.ended)
        gremlins, agents = Gremlins(stage), Agents(stage, ledger, wishes(load))
        async with _beside(ledger.run(), crowd.run(), stage.watch(), _telling(agents, ledger, book)):
            busy = time.monotonic()
            await _storm(stage, agents, gremlins)
            busy = time.monotonic() - busy
            await _calm(stage, ledger, crowd)
            figures = await _checked(stage, ledger, book, gremlins)
        assert not crowd.failures, crowd.failures
    return {
        "seed": load.seed, "asks": load.asks, "seconds": round(time.monotonic() - started, 1),
        "storm": round(busy, 1), "deaths": stage.deaths, "redeemed": agents.redeemed, **figures,
    }  # fmt: skip


@asynccontextmanager
async def _beside(*works: Any) -> AsyncIterator[None]:
    """These go on while the block lasts; one that fails ends it."""
    me = asyncio.current_task()
    tasks = [asyncio.create_task(work) for work in works]
    broken: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (why := task.exception()):
            broken.append(why)
            if me:
                me.cancel()

    for task in tasks:
        task.add_done_callback(ended)
    try:
        yield
    except asyncio.CancelledError:
        if broken:
            raise broken[0] from None
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _telling(agents: Agents, ledger: Ledger, book: Book) -> None:
    """Say from time to time how far it is."""
    started = time.monotonic()
    while True:
        await asyncio.sleep(TELL)
        open_ = sorted(set(ledger.asked.values()) - ledger.ended.keys())
        took = time.monotonic() - started
        waits = sum(tap.toast is None for tap in book.taps.values())
        _say(
            f"{took:4.0f} s: {agents.asked} asked, {len(ledger.ended)} ended, {len(book.taps)} taps, {waits} of them "
            f"not answered; open: {open_[:8]}"
        )


async def _storm(stage: Stage, agents: Agents, gremlins: Gremlins) -> None:
    """Everything at once, until everything was asked."""
    asking, trouble = asyncio.create_task(agents.run()), asyncio.create_task(gremlins.run())
    try:
        async with asyncio.timeout(10 * stage.load.patience):
            await asyncio.wait([asking, trouble], return_when=asyncio.FIRST_COMPLETED)
            if trouble.done():
                await trouble
            await asking
            gremlins.stop()
            await trouble
    finally:
        for task in (asking, trouble):
            task.cancel()
        await asyncio.gather(asking, trouble, return_exceptions=True)


async def _calm(stage: Stage, ledger: Ledger, crowd: Crowd) -> None:
    """Nothing goes wrong any more: all is decided that somebody has a card of, the rest expires, and cards show it."""
    load, store, space = stage.load, stage.store, stage.world.space
    forlorn = {wish.n for wish in wishes(load) if wish.forlorn}

    def waiting() -> list[int]:
        return sorted(set(range(load.asks)) - {*ledger.ended, *forlorn})

    async def decided() -> bool:
        return not waiting()

    await _until(stage, decided, lambda: f"never ended: {waiting()[:20]}")
    await stage.world.pass_time(LATER)

    async def still() -> bool:
        heard = not await store.updates.backlog() and not await store.updates.unsaid()
        return heard and not await store.outbox.dirty(space)

    await _until(stage, still, lambda: "the inbox or the outbox is never empty")
    await _until(stage, lambda: _shown(stage, crowd), lambda: _strange(_left(stage, crowd)))


async def _shown(stage: Stage, crowd: Crowd) -> bool:
    """Whether every card shows the end; one that Telegram took without our hearing of it is pressed, to be known."""
    left = _left(stage, crowd)
    for card in left[:20]:
        person = crowd.people[card.chat_id]
        token = next((b.callback_data for row in card.buttons for b in row if b.callback_data), "").rpartition(":")[2]
        found = await stage.store.copies.by_token(token) if token else None
        if found and not found[1].message and part(card.text) not in person.busy:
            crowd.book.strays.add((card.chat_id, card.id))
            await crowd.press(person, card, f"v1:why3:{token}")
    return not left


def _left(stage: Stage, crowd: Crowd) -> list[Message]:
    """The cards that do not show the end, but for those of somebody whom no edit reaches."""
    away = stage.phones[stage.load.gone].id
    return [card for (chat, _), card in crowd.book.cards.items() if chat != away and not shows_end(card)]


def _strange(left: list[Message]) -> str:
    """Cards as somebody would tell of them."""
    told = [f"{card.chat_id}/{card.id} {card.text[:150]!r} {card.labels}" for card in left[:8]]
    return "\n".join([f"{len(left)} cards never showed the end, such as", *told])


async def _until(stage: Stage, holds: Any, what: Any) -> None:
    try:
        async with asyncio.timeout(stage.load.patience):
            while True:
                try:
                    if await holds():
                        return
                except STORE_ERRORS:
                    pass
                await asyncio.sleep(LOOK)
    except TimeoutError:
        raise AssertionError(str(what())[:4000]) from None


async def _checked(stage: Stage, ledger: Ledger, book: Book, gremlins: Gremlins) -> Figures:
    """All that must be true now."""
    world, telegram = stage.world, stage.telegram
    await ledger.look()
    told = stories(ledger.lines)
    now = time.time_ns() // 1_000_000 + LATER
    trails = [story.trail for story in told.values()]
    _, found, _ = await world.store.fetch(world.keys, [Doc(Ask, trail) for trail in trails], pure=True)
    docs = {ask.id: ask.as_of(now) for ask in found}
    check(book, told, docs, count=stage.load.asks)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        entries = await sound(world.store, admin, world.space)
    assert await telegram.violations() == ()
    letters = await stage.store.updates.buried(count=1000)
    assert len(letters) == gremlins.malformed, [letter.why for letter in letters]
    assert await stage.healthy()
    await _answers(stage)
    return {
        "entries": entries, "taps": len(book.taps), **told_so(book), "words": len(book.words),
        "cards": len(book.cards), "strays": len(book.strays), "claims": book.claims.total(),
        "ends": _counted(docs), "faults": dict(sorted(gremlins.struck.items())), "calls": await _calls(stage),
    }  # fmt: skip


async def _answers(stage: Stage) -> None:
    """The bot still hears: somebody asks who they are, and is told."""
    phone = stage.phones[stage.load.names[0]]
    said = await phone.say("/whoami")
    await phone.until(lambda m: m.reply_to == said.id, what="an answer to /whoami")


def _counted(docs: Mapping[str, Ask]) -> Figures:
    states = sorted({ask.state for ask in docs.values()})
    return {state: sum(ask.state == state for ask in docs.values()) for state in states}


async def _calls(stage: Stage) -> int:
    calls = await stage.telegram.calls()
    return calls[-1].n if calls else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
