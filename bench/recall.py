"""Recall over a long Log: what a query takes and finds, how long the first build is, and what it costs others."""

import asyncio
import json
import random
import secrets
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Row, p50, p95, rounds
from bench.store import fleet
from store.domain.commit import Commit
from store.domain.entry import Entry, entry_of
from store.engine.backlog import TipRead
from store.engine.commit import Action
from store.engine.embedded import Embedded
from store.engine.reads import Head
from store.engine.store import open_store
from store.recall.query import parse
from store.recall.search import Filter
from store.verbs.canonical import ledger_line
from tests.recall.labelled import FROZEN, LABELLED, Question, entries, other, questions
from tests.world import World

SIZE, SIZE_QUICK = 100_000, 10_000
AT_ONCE = 250  # entries of one commit
WRITTEN = 40  # notes that are looked for at once
OTHERS = 10.0  # ms, of the 95th percentile of what others do beside it
BUILD = 600.0  # seconds that the first build may take
SETS = (LABELLED, FROZEN)
BAR = 50.0  # ms, of the 95th percentile


async def recall(engine: Embedded, *, quick: bool) -> list[Row]:
    """The row on recall, and what stands behind it."""
    with TemporaryDirectory(prefix="logmem-bench-index-") as folder:
        world = await fleet(engine)
        size = SIZE_QUICK if quick else SIZE
        numbers = await _filled(world, size)
        await world.store.close()
        world.store = open_store(world.store.target, index=Path(folder))
        built, busy, idle = await _build(world)
        rows = [
            Row(f"GET while the index is built: p95 / {OTHERS:.0f} ms", busy / OTHERS, 1.0,
                f"p95 {busy:.1f} ms, {idle:.1f} ms when it stands; built in {built:.0f} s"),
            *await _asked(world, size, quick=quick),
            *await _found(world, LABELLED, numbers[LABELLED], size),
            *await _found(world, FROZEN, numbers[FROZEN], size),
            await _written(world),
        ]  # fmt: skip
        await world.store.close()
    return rows


async def _filled(world: World, size: int) -> dict[Path, dict[int, int]]:
    """A Log of this length, the labelled sets in it; of each set the number of each of its entries in the ledger."""
    (head,) = (await world.store.across([world.space], Head()))[0]
    for lines in _batches(size):
        action = Action(world.keys.done("bench", secrets.token_hex(8)), "", "{}", 60_000)
        plan = Commit(result={}, entries=tuple(lines))
        await world.store.commit(world.keys, plan, seen={}, lines=[ledger_line(e) for e in lines], action=action)
    numbers: dict[Path, dict[int, int]] = {}
    at = head + size
    for data in reversed(SETS):
        at -= len(entries(data))
        numbers[data] = {n: at + n for n in range(1, len(entries(data)) + 1)}
    return numbers


def _batches(size: int) -> Iterator[list[Entry]]:
    """Entries that nothing is asked about, then the labelled sets: what is old is no harder to find."""
    rng = random.Random(7)
    sets = [body for data in SETS for body in entries(data)]
    bodies = [*(other(rng, 100_000 + n) for n in range(size - len(sets))), *sets]
    for n in range(0, size, AT_ONCE):
        yield [entry_of(json.loads(json.dumps(body))) for body in bodies[n : n + AT_ONCE]]


async def _build(world: World) -> tuple[float, float, float]:
    """Seconds until a new index has all, and the 95th percentile of a GET beside it and after it, in ms."""
    began = time.perf_counter()
    building = asyncio.create_task(_until_built(world))
    busy = await _gets(world, until=building)
    built = time.perf_counter() - began
    return built, busy, await _gets(world)


async def _until_built(world: World) -> None:
    tip = (await world.store.across([world.space], TipRead()))[0][0]
    nothing = parse("zebra"), Filter()
    answer = await world.store.indexes.search(world.space, tip, *nothing, limit=1, now=0, patience=BUILD)
    if answer.behind:
        raise RuntimeError(f"the index is not built after {BUILD:.0f} s: {answer.why}")


async def _gets(world: World, until: "asyncio.Task[None] | None" = None) -> float:
    """The 95th percentile of GETs one after another, in ms: 2,000 of them, or as many as there is time for."""
    took: list[float] = []
    while not until.done() if until else len(took) < 2000:
        start = time.perf_counter()
        await world.store.reader.get(world.keys.mail("bench"))
        took.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(0.001)
    return statistics.quantiles(took, n=20)[-1]


async def _asked(world: World, size: int, *, quick: bool) -> list[Row]:
    """What a query takes, through the verb; each of the labelled questions in turn."""
    asked = iter([q.query for q in questions()] * 100)

    async def get() -> object:
        return await world.store.reader.get(world.keys.mail("bench"))

    async def ask() -> object:
        return await world.do("agent:a0", "recall", query=next(asked))

    got = await rounds({"get": get, "recall": ask}, count=3 if quick else 9, calls=len(questions()))
    low, high, base = p50(got["recall"]) / 1000, p95(got["recall"]) / 1000, p50(got["get"])
    raw = f"p50 {low:.1f} ms, p95 {high:.1f} ms; a GET {base:.0f} µs (p50 {low * 1000 / base:.0f}×)"
    return [Row(f"recall at {size:,} entries: p95 / {BAR:.0f} ms", high / BAR, 1.0, raw)]


async def _found(world: World, data: Path, numbers: dict[int, int], size: int) -> list[Row]:
    """How much of what is asked for is among the first five."""
    shares: dict[str, list[float]] = {}
    for question in questions(data):
        hits = (await world.do("agent:a0", "recall", query=question.query, limit=5))["hits"]
        shares.setdefault(question.kind, []).append(_share(question, [h["id"] for h in hits], numbers))
    every = [share for each in shares.values() for share in each]
    raw = ", ".join(f"{kind} {statistics.mean(each):.3f}" for kind, each in shares.items())
    of = f"recall@5 among {size:,}, {data.stem} set"
    return [
        Row(of, statistics.mean(every), 0.95, raw, at_least=True),
        Row("… of names", statistics.mean(shares["name"]), 1.0, f"{len(shares['name'])} queries", at_least=True),
    ]


def _share(question: Question, found: list[str], numbers: dict[int, int]) -> float:
    wanted = {numbers[n] for n in question.answers}
    return len(wanted & {int(id.partition("-")[2]) for id in found}) / len(wanted)


async def _written(world: World) -> Row:
    """Notes that the query right after them does not find."""
    missed, took = 0, []
    for n in range(WRITTEN):
        note = await world.do("agent:a1", "note", where="job:x", kind="memo", summary=f"Quokka number{n} has arrived")
        start = time.perf_counter()
        hits = (await world.do("agent:a0", "recall", query=f"quokka number{n}"))["hits"]
        took.append((time.perf_counter() - start) * 1000)
        missed += not hits or hits[0]["id"] != note["entry"]["id"]
    return Row(
        "just written and not found", missed / WRITTEN, 0.0, f"{WRITTEN} notes, p50 {statistics.median(took):.1f} ms"
    )
