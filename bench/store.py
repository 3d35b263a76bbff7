"""The store alone: a read against a GET; a note and a settle against a SET; the Brief of a small and a large Log."""

import secrets
from collections.abc import Iterator
from typing import Any

from bench.measure import Row, p50, p50_ratio, p95, rounds
from store.domain.commit import Commit
from store.domain.entry import Entry
from store.engine.commit import Action
from store.engine.embedded import Embedded
from store.verbs.canonical import ledger_line
from tests.world import World, found, opened

NOTE: dict[str, Any] = {"where": "job:x", "kind": "progress", "summary": "Tokens are now checked in constant time"}


async def fleet(engine: Embedded, *, agents: int = 2) -> World:
    """A space with agents a0, a1, … and one approver."""
    world = await found(engine, opened(engine))
    await world.human("ana", "owner")
    for n in range(agents):
        await world.agent(f"a{n}")
    return world


async def kernel(engine: Embedded, *, quick: bool) -> list[Row]:
    """Rows 3 and 4 of the budgets."""
    world = await fleet(engine)
    store, count, calls = world.store, (3 if quick else 9), (60 if quick else 200)
    await store.writer.set(world.keys.mail("bench"), "v" * 100)
    waiting = await _handed(world, (count + 1) * calls)

    async def get() -> object:
        return await store.reader.get(world.keys.mail("bench"))

    async def set_() -> object:
        return await store.writer.set(world.keys.mail("bench"), "v" * 100)

    async def read() -> object:
        return await world.do("agent:a0", "connection")

    async def note() -> object:
        return await world.do("agent:a0", "note", **NOTE)

    async def settle() -> object:
        return await world.do("agent:a1", "accept", item=next(waiting))

    got = await rounds(
        {"get": get, "set": set_, "read": read, "note": note, "settle": settle}, count=count, calls=calls
    )
    raw = {name: f"{p50(s):.0f} µs" for name, s in got.items()}
    await store.close()
    return [
        Row("store read / GET", p50_ratio(got["read"], got["get"]), 3.0, f"{raw['read']} / {raw['get']}"),
        Row("note / SET, appendfsync always", p50_ratio(got["note"], got["set"]), 3.5, f"{raw['note']} / {raw['set']}"),
        Row("settle / SET", p50_ratio(got["settle"], got["set"]), 3.5, f"{raw['settle']} / {raw['set']}"),
    ]


async def _handed(world: World, count: int) -> Iterator[str]:
    items = [
        (await world.do("agent:a0", "handoff", to="agent:a1", where="channel:x", summary="Review"))["item"]
        for _ in range(count)
    ]
    return iter(items)


async def brief(engine: Embedded, *, quick: bool) -> list[Row]:
    """Row 5: the Brief over a large Log against one over a small."""
    size = 20_000 if quick else 1_000_000
    small, large = await _worked(engine, 20, 1_000), await _worked(engine, 200, size)

    def of(world: World) -> Any:
        async def work() -> object:
            return await world.do("agent:a0", "brief")

        return work

    count, calls = (3, 60) if quick else (9, 150)
    got = await rounds({"small": of(small), "large": of(large)}, count=count, calls=calls)
    await small.store.close()
    await large.store.close()
    times = f"{p50(got['large']):.0f} / {p50(got['small']):.0f} µs, p95 {p95(got['large']) / 1000:.2f} ms"
    return [Row(f"Brief at {size:,} entries / at 1,000", p50_ratio(got["large"], got["small"]), 1.1, times)]


async def _worked(engine: Embedded, agents: int, entries: int) -> World:
    """A space with a Log of this length, and things that wait on a0."""
    world = await fleet(engine, agents=agents)
    await world.do("agent:a0", "status", doing="Reviewing the backlog")
    await world.do("agent:a0", "recap", notes="Shipped the contract", next=["Review auth flow"], end=False)
    for n in range(6):
        await world.do("agent:a1", "handoff", to="agent:a0", where="job:j0", summary=f"Review change {n}")
    for n in range(3):
        ask = await world.do("agent:a0", "ask", where="job:j1", summary=f"Publish release {n}?", payload={"v": n})
        await world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"])
    await fill(world, entries, agents=agents)
    return world


async def fill(world: World, entries: int, *, agents: int, batch: int = 200) -> None:
    """Entries by all agents, many in one commit: the Log's length is what is wanted, not the time to write it."""
    written = 0
    while written < entries:
        lines = [
            Entry(where=f"job:j{n % 4}", kind="progress", by=f"agent:a{n % agents}", via="token", client="bench",
                  summary=NOTE["summary"], trail=f"tr-{n % 50}")
            for n in range(written, min(entries, written + batch))
        ]  # fmt: skip
        action = Action(world.keys.done("bench", secrets.token_hex(8)), "", "{}", 60_000)
        plan = Commit(result={}, entries=tuple(lines))
        await world.store.commit(world.keys, plan, seen={}, lines=[ledger_line(e) for e in lines], action=action)
        written += len(lines)
