"""The indexes of a process over a real store: filled, kept up, shared, spoilt and made anew."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bench.store import fill
from store.domain.entry import sequence
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.keys import Keys
from store.engine.store import Store, open_store
from store.recall.file import IndexFile
from store.recall.indexes import PATIENCE, Answer, Indexes, Tip, Unusable
from store.recall.query import parse
from store.recall.search import Filter
from tests.world import World
from tests.world import found as world_of

GROK = "agent:grok"
TRIES = 400  # looks at something that comes soon, 50 ms apart


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Where the indexes of a test stand."""
    return tmp_path / "index"


@pytest.fixture
async def store(world: World, folder: Path) -> AsyncIterator[Store]:
    """A store with its indexes there."""
    opened = open_store(Target.embedded(world.engine), index=folder)
    world.store, before = opened, world.store
    yield opened
    world.store = before
    await opened.close()


async def noted(world: World, summary: str) -> str:
    """The id of an entry."""
    id: str = (await world.do(GROK, "note", where="channel:x", kind="memo", summary=summary))["entry"]["id"]
    return id


async def searched(world: World, store: Store, query: str, *, patience: float = 30.0) -> Answer:
    """What the indexes say."""
    tip = await store.indexes._ledger.tip(world.space)
    return await store.indexes.search(world.space, tip, parse(query), Filter(), limit=10, now=0, patience=patience)


async def ids(world: World, store: Store, query: str) -> list[str]:
    """The entries found."""
    return [hit.id for hit in (await searched(world, store, query)).found.hits]


async def redact(world: World, id: str) -> None:
    """Erase the text of an entry."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        key, seq = Keys(world.space).segment(0), id.partition("-")[2]
        raw: Any = await admin.hget(key, seq)
        await admin.hset(key, seq, b" ".join((*raw.split(b" ")[:3], b"-", b"")))


def _texts(folder: Path) -> list[bytes]:
    return [each.read_bytes() for each in folder.iterdir()]


def _delete(folder: Path) -> None:
    for each in folder.glob("*.db*"):
        each.unlink()


def _spoil(folder: Path) -> None:
    (path,) = folder.glob("*.db")
    path.write_bytes(b"no database " * 10_000)


async def test_an_index_that_is_behind_says_so_and_catches_up(world: World, store: Store) -> None:
    """A query that does not wait gets what is there, and how many entries are not; then it is filled without it."""
    id = await noted(world, "The red door")
    await fill(world, 3000, agents=1)
    answer = await searched(world, store, "red door", patience=0)
    assert answer.behind > 2500
    said = await world.do(GROK, "recall", query="red door")
    assert said.get("behind", 0) == 0 or str(said["behind"]) in said["says"]
    assert await ids(world, store, "red door") == [id]
    assert (await searched(world, store, "red door", patience=0)).behind == 0


async def test_others_go_on_while_an_index_is_filled(world: World, store: Store) -> None:
    """Filling is done in threads: the loop answers many other calls until it is done."""
    await fill(world, 4000, agents=1)
    filling = asyncio.create_task(searched(world, store, "zebra"))
    calls = 0
    while not filling.done():
        await world.do(GROK, "connection")
        calls += 1
    assert calls > 20
    assert filling.result().behind == 0


async def test_an_index_is_kept_up_while_it_is_asked(world: World, store: Store, folder: Path) -> None:
    """What is written after a query is there before the next one asks."""
    await ids(world, store, "red door")
    id = await noted(world, "The red door")
    file = IndexFile(folder / f"{world.space}.db")
    for _ in range(TRIES):
        if (await asyncio.to_thread(file.mark)).seq >= sequence(id):
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("nobody fills it")
    file.close()


async def test_processes_share_a_folder(world: World, store: Store, folder: Path) -> None:
    """Two stores with one folder find the same, and neither adds what the other has."""
    other = open_store(Target.embedded(world.engine), index=folder)
    written = [await noted(world, f"Door number{n}") for n in range(40)]
    for n in range(10):
        written.append(await noted(world, f"Gate number{n}"))
        found = await asyncio.gather(ids(world, store, f"gate number{n}"), ids(world, other, f"gate number{n}"))
        assert [each[0] for each in found] == [written[-1]] * 2
    await other.close()
    file = IndexFile(folder / f"{world.space}.db")
    with file.reading() as db:
        assert db.execute("SELECT count(*) FROM entry").fetchone() == (file.mark().seq,)
    file.close()


async def test_the_index_of_another_ledger_is_made_anew(world: World, store: Store) -> None:
    """A space of the same name in an emptied store: nothing of the old one is found."""
    await noted(world, "The old zebra")
    assert await ids(world, store, "zebra")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        names = await admin.keys(f"lm:{{{world.space}}}*")
        await admin.delete(*names)
    await world.operate("space")
    await world.agent("newcomer")
    for n in range(30):
        await world.do("agent:newcomer", "note", where="channel:x", kind="memo", summary=f"A new giraffe {n}")
    assert await ids(world, store, "zebra") == []
    assert len(await ids(world, store, "giraffe")) == 10


async def test_what_was_redacted_is_forgotten(world: World, store: Store, folder: Path) -> None:
    """At once in results, which are read from the ledger; and in the file when it is made anew."""
    id = await noted(world, "The secret zebrafish")
    assert await ids(world, store, "zebrafish") == [id]
    await redact(world, id)
    found = await world.do(GROK, "recall", query="zebrafish")
    assert found["hits"] == []
    await store.indexes.forget(world.space)
    assert await ids(world, store, "zebrafish") == []
    assert not any(b"zebrafish" in text for text in _texts(folder))


async def test_what_is_read_while_it_is_redacted_is_forgotten_too(world: World, store: Store, folder: Path) -> None:
    """A batch that was on its way into the file when it was made anew never gets there."""
    id = await noted(world, "The secret zebrafish")
    ledger = store.indexes._ledger
    read, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        unreachable = ledger.unreachable
        tip, listen = ledger.tip, ledger.listen

        async def records(self, space: str, first: int, count: int) -> list[bytes]:
            found = await ledger.records(space, first, count)
            read.set()
            await go_on.wait()
            return found

    store.indexes = Indexes(Slow(), folder)
    asked = asyncio.create_task(searched(world, store, "zebrafish"))
    await asyncio.wait_for(read.wait(), 30)
    await redact(world, id)
    await store.indexes.forget(world.space)
    go_on.set()
    assert (await asked).found.hits == []
    assert await ids(world, store, "zebrafish") == []
    assert not any(b"zebrafish" in text for text in _texts(folder))
    await store.indexes.close()
    store.indexes = Indexes(ledger, folder)


@pytest.mark.parametrize("how", ["deleted", "garbage"])
async def test_a_file_spoilt_underneath_is_made_anew(world: World, store: Store, folder: Path, how: str) -> None:
    """The next query finds everything."""
    id = await noted(world, "The red door")
    assert await ids(world, store, "red door") == [id]
    if how == "deleted":
        _delete(folder)
    else:
        await store.indexes.close()  # so that all of it stands in one file
        store.indexes = Indexes(store.indexes._ledger, folder)
        _spoil(folder)
    assert await ids(world, store, "red door") == [id]


async def test_a_folder_that_cannot_be_used_hurts_nobody_else(world: World, store: Store, folder: Path) -> None:
    """Recall says what is so and what helps; notes, handoffs and the feed go on."""
    await asyncio.to_thread(folder.write_text, "a file where a folder should be")
    with pytest.raises(Refused) as no:
        await world.do(GROK, "recall", query="door")
    assert no.value.code == "store_unavailable"
    assert "logmem_feed" in no.value.message
    assert no.value.facts["retry_after"]
    assert str(folder) not in no.value.message
    await world.do(GROK, "note", where="channel:x", kind="fact", summary="Doors are red")
    item = await world.do(GROK, "handoff", to="agent:codex", summary="Paint the doors red")
    assert "context" not in item
    assert (await world.do(GROK, "feed"))["entries"]
    await asyncio.to_thread(folder.unlink)
    assert (await world.do(GROK, "recall", query="doors"))["hits"]


async def test_an_index_of_its_own_is_gone_at_the_end(world: World) -> None:
    """Where no folder is set, one is made for the process and removed with it."""
    store = open_store(Target.embedded(world.engine))
    await noted(world, "The red door")
    assert await ids(world, store, "red door")
    assert store.indexes._making
    made = store.indexes._making.result()
    assert list(made.glob("*.db"))
    await store.close()
    assert not made.exists()


async def test_a_folder_that_nobody_waits_for_any_more_is_gone_too(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who asks first may give up before it is made; one that cannot be made is told, and made when it can be."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    store = open_store(Target.embedded(world.engine))
    with pytest.raises(Unusable):
        await searched(world, store, "door")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tip = await store.indexes._ledger.tip(world.space)
    asked = asyncio.create_task(store.indexes.search(world.space, tip, parse("x"), Filter(), limit=5, now=0))
    await asyncio.sleep(0)
    assert store.indexes._making
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await store.close()
    made = await store.indexes._making
    assert made.parent == tmp_path
    assert not made.exists()


async def test_an_end_in_the_middle_loses_nothing(world: World, folder: Path) -> None:
    """A process that ends while it fills leaves a file from which the next goes on."""
    await fill(world, 3000, agents=1)
    first = open_store(Target.embedded(world.engine), index=folder)
    await searched(world, first, "door", patience=PATIENCE)
    await first.close()
    file = IndexFile(folder / f"{world.space}.db")
    begun = file.mark()
    file.close()
    second = open_store(Target.embedded(world.engine), index=folder)
    assert (await searched(world, second, "door")).behind == 0
    await second.close()
    assert file.mark().seq >= max(3000, begun.seq)
    file.close()


async def test_a_lost_store_is_told_and_come_back_to(world: World, store: Store) -> None:
    """Filling that cannot read the ledger ends, and the next query begins it again."""
    await noted(world, "The red door")
    ledger = store.indexes._ledger

    class Lost:
        unreachable = ledger.unreachable
        tip, listen = ledger.tip, ledger.listen

        async def records(self, space: str, first: int, count: int) -> list[bytes]:
            raise ConnectionError("lost")

    other = Indexes(Lost())
    tip = await ledger.tip(world.space)
    answer = await other.search(world.space, tip, parse("red door"), Filter(), limit=5, now=0, patience=5)
    assert (answer.behind, answer.found.hits) == (tip.seq, [])
    assert "does not answer" in answer.why
    await other.close()


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
