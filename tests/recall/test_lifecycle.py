"""The indexes of a process: which are open, who closes them, and what goes on beside the loop."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from store.domain.entry import sequence
from store.engine.store import Store
from store.recall.indexes import Answer, Indexes, Tip, Unusable
from store.recall.query import parse
from store.recall.search import Filter
from tests.recall.asking import GROK, noted
from tests.world import World
from tests.world import found as world_of

TRIES = 400  # looks at something that comes soon, 50 ms apart


def opened_files(folder: Path) -> set[str]:
    """The databases below a folder that this process has open."""
    names = set()
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            path = each.readlink()
            if path.parent == folder and path.suffix == ".db":
                names.add(path.stem)
    return names


async def settled(indexes: Indexes) -> None:
    """When those that were left are closed."""
    await asyncio.wait_for(asyncio.gather(*indexes._closing), 30)


async def test_one_that_is_used_is_not_closed_and_the_others_are(
    world: World, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for one: many at once are each answered, and at the end one is open, watched by one task."""
    monkeypatch.setattr("store.recall.indexes.SPACES", 1)
    worlds = [world, *[await world_of(world.engine, world.store) for _ in range(5)]]
    tips = [await store.indexes._ledger.tip(each.space) for each in worlds]
    query = parse("space")

    async def ask(n: int) -> int:
        found = worlds[n % len(worlds)].space, tips[n % len(worlds)]
        return (await store.indexes.search(*found, query, Filter(), limit=5, now=0, patience=30)).behind

    for _ in range(4):
        assert await asyncio.gather(*(ask(n) for n in range(24))) == [0] * 24
    await settled(store.indexes)
    (left,) = store.indexes._spaces.values()
    assert opened_files(folder) == {left.space}
    watching = [t for t in asyncio.all_tasks() if "_keep_up" in repr(t)]
    assert watching == [left._watching]


async def test_who_gives_up_while_another_is_closed_leaves_nothing_open(
    world: World, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a handoff does that waits 150 ms."""
    monkeypatch.setattr("store.recall.indexes.SPACES", 1)
    other = await world_of(world.engine, world.store)
    for each in (world, other) * 3:
        tip = await store.indexes._ledger.tip(each.space)
        asked = asyncio.create_task(
            store.indexes.search(each.space, tip, parse("space"), Filter(), limit=5, now=0, patience=30)
        )
        for _ in range(3):
            await asyncio.sleep(0)  # into the middle of it
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    await store.indexes.close()
    assert opened_files(folder) == set()
    assert not [t for t in asyncio.all_tasks() if "_keep_up" in repr(t) or "_fill" in repr(t)]
    store.indexes = Indexes(store.indexes._ledger, folder)


async def test_who_asks_while_it_ends_leaves_nothing_open(world: World, store: Store, folder: Path) -> None:
    """Each is answered or told so, and no file or task is left."""
    tip = await store.indexes._ledger.tip(world.space)
    asked = [
        asyncio.create_task(
            store.indexes.search(world.space, tip, parse("space"), Filter(), limit=5, now=0, patience=30)
        )
        for _ in range(20)
    ]
    await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED, timeout=30)
    await store.indexes.close()
    told = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(each, Answer | Unusable) for each in told), told
    assert opened_files(folder) == set()
    assert not [t for t in asyncio.all_tasks() if "_keep_up" in repr(t) or "_fill" in repr(t)]
    store.indexes = Indexes(store.indexes._ledger, folder)


async def test_what_goes_wrong_while_it_is_kept_up_is_told_and_tried_again(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks, so nobody would hear of it but the log; what is written later is added all the same."""
    monkeypatch.setattr("store.recall.indexes.AGAIN", 0.01)
    ledger = store.indexes._ledger
    tips = 0

    class Faulty:
        unreachable = ledger.unreachable
        records, listen = ledger.records, ledger.listen

        async def tip(self, space: str) -> Tip:
            nonlocal tips
            tips += 1
            if tips <= 3:
                raise ValueError("a fault of ours")
            return await ledger.tip(space)

    indexes = Indexes(Faulty())
    with capture_logs() as logs:
        first = await ledger.tip(world.space)
        await indexes.search(world.space, first, parse("door"), Filter(), limit=5, now=0, patience=30)
        id = await noted(world, "The red door")
        for _ in range(TRIES):
            mark = indexes._spaces[world.space]._mark
            if mark and mark.seq >= sequence(id):
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("nobody fills it")
    assert [each["event"] for each in logs if each["log_level"] == "error"] == ["index_not_kept_up"] * 3
    await indexes.close()


async def test_a_query_is_taken_apart_once_and_beside_the_loop(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder is made: others wait for neither."""
    threads: list[tuple[str, bool]] = []

    def told(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **more: Any) -> Any:
            threads.append((name, threading.current_thread() is threading.main_thread()))
            return do(*args, **more)

        return wrapped

    monkeypatch.setattr("store.verbs.recall.parse", told("parse", parse))
    monkeypatch.setattr("tempfile.mkdtemp", told("folder", tempfile.mkdtemp))
    store.indexes = Indexes(store.indexes._ledger)
    await world.do(GROK, "recall", query="red door")
    assert sorted(threads) == [("folder", False), ("parse", False)]
    await store.indexes.close()
