"""kill -9 in a burst of writers: what was acknowledged is there, once, and the ledger verifies."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from store.engine.embedded import ensure, stop
from tests.world import World, found, opened

from .api import Api, served
from .book import Book, Mark, plain
from .checks import logged, sound_world

WRITERS = 16
KILLS = 3
SEED = 3
PATIENCE = 120.0  # seconds for a burst


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[World]:
    """A world on an embedded engine of its own."""
    home = tmp_path / "home"
    store = opened(ensure(home))
    try:
        world = await found(ensure(home), store)
        await world.human("ana", "owner")
        await world.agent("grok")
        yield world
    finally:
        await store.close()
        stop(home)


async def write(world: World, apis: Sequence[Api], book: Book, number: int) -> None:
    """Write notes, one after another, until the book is closed; with every fourth an ask that is decided and used."""
    grok, ana = world.tokens["agent:grok"], world.tokens["human:ana"]
    turn = 0

    async def do(token: str, mark: Mark, verb: str, **args: Any) -> Any:
        api = apis[(number + turn) % len(apis)]
        return await book.enter(mark, api.do(token, verb, space=world.space, action_id="-".join(mark), **args))

    while not book.closed:
        turn += 1
        tag = f"w{number}-{turn}"
        await do(grok, ("memo", tag), "note", where=f"job:j{number}", kind="memo", summary=tag)
        ask = await do(grok, ("asked", tag), "ask", where="job:x", summary=tag) if turn % 4 == 0 else None
        if ask:
            trail = ask["trail"]
            how = {"trail": trail, "digest": ask["digest"], "verdict": "approve"}
            if await do(ana, ("decided", trail), "decide", **how):
                await do(grok, ("redeemed", trail), "redeem", trail=trail)


async def burst(
    world: World, apis: Sequence[Api], kill: Callable[[], Awaitable[None]], again: Callable[[], Awaitable[None]]
) -> Book:
    """Sixteen writers, and three kills among their writes."""
    draw, book = random.Random(SEED), Book()
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as writers:
        for number in range(WRITERS):
            writers.create_task(write(world, apis, book, number))
        for _ in range(KILLS):
            await book.acknowledged(draw.randrange(30, 90))
            await kill()
            await again()
        await book.acknowledged(40)
        book.closed = True
    return book


async def settled(world: World, api: Api, book: Book) -> None:
    """The book agrees with the ledger; what was unknown is asked again, and then it is there, once."""
    await sound_world(world)
    lines = await logged(world.store, world)
    book.check(lines)
    assert len(book.ok) > KILLS * 30
    for kind, tag in [mark for mark in book.unknown if mark[0] == "memo"]:
        where = f"job:j{tag[1:].partition('-')[0]}"
        args = {"where": where, "kind": "memo", "summary": tag}
        action = f"{kind}-{tag}"
        first = await api.do(world.tokens["agent:grok"], "note", space=world.space, action_id=action, **args)
        second = await api.do(world.tokens["agent:grok"], "note", space=world.space, action_id=action, **args)
        assert plain(first) == plain(second)
        book.unknown.discard((kind, tag))
        book.ok[kind, tag] = first
    book.check(await logged(world.store, world))
    await sound_world(world)


@pytest.mark.timeout(240)
async def test_kill_of_the_store(own: World, tmp_path: Path) -> None:
    """The store is killed three times under sixteen writers, and started again each time."""

    async def kill() -> None:
        os.kill(ensure(own.engine.home).pid, signal.SIGKILL)

    async def again() -> None:
        assert (await asyncio.to_thread(ensure, own.engine.home)).started

    async with served(own, tmp_path, processes=2) as apis:
        book = await burst(own, apis, kill, again)
        await settled(own, apis[0], book)
    assert book.failed | book.unknown, "no call was hit"


@pytest.mark.timeout(240)
async def test_kill_of_an_api_process(own: World, tmp_path: Path) -> None:
    """One of two API processes is killed three times under sixteen writers, and started again each time."""
    async with served(own, tmp_path, processes=2) as apis:
        victims = [apis[n % 2] for n in range(KILLS)]

        async def kill() -> None:
            victims[0].end(signal.SIGKILL)

        async def again() -> None:
            await victims.pop(0).start()

        book = await burst(own, apis, kill, again)
        await settled(own, apis[0], book)
