"""The console: the Inbox and the Log of a large fleet against a bare tool call; and what open pages cost at rest.

"In the class of a tool call" is two ratios here, taken in turn in the same run. One is a page over the tool call that
tells an agent the same of the same space: the Log over `logmem_feed`, the Inbox over `logmem_brief`, an entry over
`logmem_view`. The other is a page over the smallest tool call (one trip to the store, one line): a page shows 50 rows,
their texts checked and escaped, and takes five or six trips whatever the size of the space, so its bar is some ten such
calls. What grows with the space shows at once: it goes through both bars.
"""

import asyncio
import os
import time
from pathlib import Path

from bench.measure import Row, p50, p50_ratio, rounds
from bench.server import running
from bench.store import fill, fleet
from bench.wire import OLD, Wire, request, tool_call
from store.engine.embedded import Embedded
from tests.world import World

ASKS, ENTRIES = 2_000, 100_000
EACH = 20  # asks that an agent may have pending
LIMIT = 300_000  # bytes of a page
STREAMS, PER_KEY = 200, 10
# Over the tool call that tells the same; of one entry, two lines, the page round it is most.
SAME = {"inbox": 2.0, "log": 2.0, "filtered": 2.0, "entry": 6.0}
# Measured on two cores that others used too: 9 to 12, 6 to 7, 7 to 9 and 4.5 to 5.5 tool calls.
BARS = {"inbox": 14.0, "log": 10.0, "filtered": 12.0, "entry": 8.0}
REST = 10.0  # seconds that the streams are watched, while nothing happens


async def console(engine: Embedded, *, quick: bool) -> list[Row]:
    """Pages, their sizes, and streams at rest."""
    asks, entries = (200, 20_000) if quick else (ASKS, ENTRIES)
    world = await fleet(engine, agents=asks // EACH)
    await _ask(world, asks)
    await fill(world, entries, agents=asks // EACH)
    rows = []
    async with running(engine) as server:
        rows += await _pages(world, server.port, asks=asks, entries=entries, quick=quick)
        rows.append(await _streams(world, server.port, server.pid))
    await world.store.close()
    return rows


async def _ask(world: World, count: int) -> None:
    for n in range(count):
        until = f"{1 + n % 70}h"
        await world.do(f"agent:a{n // EACH}", "ask", where="job:j0", summary=f"Publish release {n}?", expires_in=until)


async def _pages(world: World, port: int, *, asks: int, entries: int, quick: bool) -> list[Row]:
    body, head = tool_call(OLD)
    call = request(port, "/mcp", body, Authorization=f"Bearer {world.tokens['agent:a0']}", **head)
    space, cookie = f"/s/{world.space}", f"logmem_session={world.tokens['human:ana']}"
    newest = await _newest(world)

    def tool(name: str, **arguments: str) -> Wire:
        body, head = tool_call(OLD, f"logmem_{name}", **arguments)
        auth = f"Bearer {world.tokens['agent:a0']}"
        return Wire(port, request(port, "/mcp", body, Authorization=auth, **head))

    wires = {
        "call": Wire(port, call),
        "brief": tool("brief"),
        "feed": tool("feed"),
        "feed of one": tool("feed", where="job:j1", by="a1"),
        "view": tool("view", what=newest),
        "inbox": Wire(port, look(port, f"{space}/", cookie)),
        "log": Wire(port, look(port, f"{space}/log", cookie)),
        "filtered": Wire(port, look(port, f"{space}/log?where=job:j1&by=a1", cookie)),
        "entry": Wire(port, look(port, f"{space}/entry/{newest}", cookie)),
    }
    sizes = {name: len(await wire()) for name, wire in wires.items()}
    count, calls = (3, 20) if quick else (7, 60)
    got = await rounds(wires, count=count, calls=calls)
    for wire in wires.values():
        wire.close()
    rows = []
    for name, what, tool_name in (
        ("inbox", f"Inbox at {asks:,} pending asks", "brief"),
        ("log", f"Log at {entries:,} entries", "feed"),
        ("filtered", "the same, of one place and author", "feed of one"),
        ("entry", "an entry", "view"),
    ):
        for base, bar in ((tool_name, SAME[name]), ("call", BARS[name])):
            times = f"{p50(got[name]) / 1000:.1f} / {p50(got[base]) / 1000:.2f} ms"
            with_what = "smallest tool call" if base == "call" else f"logmem_{base}"
            rows.append(Row(f"{what} / {with_what}", p50_ratio(got[name], got[base]), bar, times))
        if name in ("inbox", "log"):
            rows.append(Row(f"bytes of that page / {LIMIT:,}", sizes[name] / LIMIT, 1.0, f"{sizes[name]:,} bytes"))
    return rows


async def _newest(world: World) -> str:
    id: str = (await world.do("human:ana", "feed", limit=1))["entries"][0]["id"]
    return id


def look(port: int, path: str, cookie: str) -> bytes:
    """A GET of a page as bytes."""
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Accept: text/html", f"Cookie: {cookie}", "", ""]
    return "\r\n".join(lines).encode()


async def _streams(world: World, port: int, pid: int) -> Row:
    """CPU of the server with many pages open, less what it takes with none, as a share of a core."""
    alone = await _cpu(pid, seconds=REST / 2)
    while len(world.tokens) - 1 < STREAMS // PER_KEY:
        await world.agent(f"s{len(world.tokens)}")
    keys = [token for who, token in world.tokens.items() if who.startswith("agent:")][: STREAMS // PER_KEY]
    open_ = [await _opened(port, token) for token in keys for _ in range(PER_KEY)]
    await asyncio.sleep(2)  # until all have settled
    share = await _cpu(pid, seconds=REST)
    dead = sum(reader.at_eof() for reader, _ in open_)
    for _, writer in open_:
        writer.close()
    if dead:
        raise RuntimeError(f"{dead} streams ended by themselves")
    raw = f"{share:.1%} of a core, {alone:.1%} without them"
    return Row(f"CPU of {len(open_)} open streams at rest / a core", share - alone, 0.05, raw)


async def _opened(port: int, token: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = ["GET /api/events HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}", "", ""]
    writer.write("\r\n".join(head).encode())
    first = await reader.readuntil(b"event: open")
    if b" 200 " not in first[:20]:
        raise RuntimeError(repr(first[:300]))
    return reader, writer


async def _cpu(pid: int, *, seconds: float) -> float:
    """Share of a core that a process takes."""

    def spent() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before, start = spent(), time.monotonic()
    await asyncio.sleep(seconds)
    return (spent() - before) / (time.monotonic() - start)
