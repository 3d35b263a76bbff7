"""The indexes of a process over a real store: filled, kept up, shared, spoilt and made anew."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bench.store import fill
from store.domain.entry import sequence
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.keys import Keys
from store.engine.store import Store, open_store
from store.recall.file import IndexFile
from store.recall.indexes import PATIENCE, Indexes, Unusable
from store.recall.query import parse
from store.recall.search import Filter
from tests.recall.asking import GROK, ids, noted, searched
from tests.world import World

TRIES = 400  # looks at something that comes soon, 50 ms apart


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
