"""Telegram at 100 asks a second: from an ask to its card at the emulator, and from a tap to the stored decision.

API, bot and emulator are processes of their own, with Telegram's limits switched off in the last two. Agents ask at a
steady rate, each ask of one person, who approves it as soon as the card is there. What is measured are the times that
store and emulator themselves note: of the `asked` entry and the call that brought the card, of the tap and the
`decided` entry. Beside them stands the smallest tool call, made in the same run before the load.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import httpx

from bench.measure import Row, p50, rounds
from bench.server import running
from bench.store import fleet
from bench.wire import OLD, Wire, request, tool_call
from store.engine.embedded import Embedded
from store.engine.reads import Head, Stretch
from tests.surfaces.server import BOT_SECRET
from tests.telegram.chaos.book import part
from tests.telegram.phone import Telegram
from tests.telegram.running import UNLIMITED, running_apart
from tests.telegram.together import Bot, Together
from tests.world import World

RATE, SECONDS, QUICK = 100, 20, 4  # asks a second, for so long
PEOPLE, AGENTS = 20, 100
WARM = 100  # asks that do not count
CARD, TAP = 1500.0, 150.0  # ms: the bars
LOOK = 0.02  # seconds between two looks at the phones
PATIENCE = 60.0  # seconds for what is left at the end
AT_ONCE = 500  # entries that are read together


@dataclass
class Load:
    """What is asked and tapped, by the number of the ask; times in ms."""

    world: World
    telegram: Telegram
    http: aiohttp.ClientSession
    api: str
    carded: dict[int, float] = field(default_factory=dict)
    tapped: dict[int, float] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    read: int = 0  # entries of the Log, and what they have told: asks by trail, when each was asked and decided
    numbers: dict[str, int] = field(default_factory=dict)
    times: dict[int, tuple[int, int]] = field(default_factory=dict)

    async def ask(self, n: int) -> None:
        """One ask, over HTTP."""
        body = {
            "where": "job:x", "summary": f"Shall I ship part {n:04}?", "payload": {"run": "ship", "part": n},
            "approvers": [f"human:p{n % PEOPLE:02}"],
        }  # fmt: skip
        token = self.world.tokens[f"agent:a{n % AGENTS}"]
        head = {"Authorization": f"Bearer {token}"}
        said = ""
        for _ in range(int(PATIENCE)):
            async with self.http.post(f"{self.api}/api/tools/ask", json=body, headers=head) as reply:
                said = await reply.text()
                if reply.status == 200:
                    return
            if '"busy"' not in said:
                break
            await asyncio.sleep(1)  # as the refusal asks for, on a machine that does more than this
        raise RuntimeError(said)

    async def asks(self, first: int, count: int, *, rate: float) -> None:
        """Asks at a steady rate, whatever becomes of them."""
        started = time.perf_counter()
        for n in range(count):
            await asyncio.sleep(started + n / rate - time.perf_counter())
            self.begin(self.ask(first + n))

    async def people(self) -> None:
        """Approve whatever comes, until cancelled."""
        version = 0
        while True:
            async with self.http.get(f"{self.telegram.url}/_/news", params={"since": version}) as reply:
                news = await reply.json()
            version = news["version"]
            for message in (each["message"] for each in news["messages"]):
                n = part(message.get("text", ""))
                if n not in self.tapped and (data := _approve(message)):
                    self.tapped[n] = time.time() * 1000
                    self.begin(self.tap(message, data))
            await asyncio.sleep(LOOK)

    async def tap(self, card: Mapping[str, Any], data: str) -> None:
        """One tap; nobody waits for its answer."""
        chat = card["chat"]["id"]
        body = {"chat_id": chat, "message_id": card["message_id"], "data": data}
        async with self.http.post(f"{self.telegram.url}/_/people/{chat}/press", json=body) as reply:
            await reply.read()

    def begin(self, work: Any) -> None:
        """Do it beside the rest."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def settled(self, count: int) -> dict[int, tuple[int, int]]:
        """When each was asked and decided, once all are; RuntimeError when they are not in time."""
        deadline = time.monotonic() + PATIENCE
        while True:
            times = await self._times()
            done = {n: (asked, decided) for n, (asked, decided) in times.items() if decided}
            if len(done) == count:
                return done
            if time.monotonic() > deadline:
                raise RuntimeError(f"{count - len(done)} of {count} asks were not decided")
            await asyncio.sleep(0.1)

    async def _times(self) -> dict[int, tuple[int, int]]:
        """What the Log says; 0 for what has not happened."""
        world, numbers, times = self.world, self.numbers, self.times
        _, (head,), _ = await world.store.fetch(world.keys, [Head()], pure=True)
        for low in range(self.read + 1, head + 1, AT_ONCE):
            some = tuple(range(low, min(head, low + AT_ONCE - 1) + 1))
            _, (lines,), _ = await world.store.fetch(world.keys, [Stretch(some)], pure=True)
            for line in lines:
                if line.entry and line.entry.kind == "asked":
                    n = numbers[line.entry.trail] = part(line.entry.summary)
                    times[n] = (line.ts, 0)
                elif line.entry and line.entry.kind == "decided":
                    n = numbers[line.entry.trail]
                    times[n] = (times[n][0], line.ts)
        self.read = head
        return times

    async def cards(self) -> dict[int, float]:
        """When the emulator took each card first."""
        first: dict[int, float] = {}
        for call in await self.telegram.calls("sendMessage"):
            n = part(str(call.params.get("text")))
            if call.status == 200 and n >= 0:
                first.setdefault(n, call.at * 1000)
        return first


async def telegram(engine: Embedded, *, quick: bool) -> list[Row]:
    """Ask to card, and tap to decision."""
    count = RATE * (QUICK if quick else SECONDS)
    world = await fleet(engine, agents=AGENTS)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(world.store.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logmem-bench-bot-")))
        server = await stack.enter_async_context(running(engine, {"LOGMEM_BOT_SECRET": BOT_SECRET}))
        url = f"http://127.0.0.1:{server.port}"
        emulator = await stack.enter_async_context(running_apart(**UNLIMITED))
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=30, trust_env=False))
        world.http = http
        await _pair(world, emulator)
        loader = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        load = Load(world, emulator, loader, url)
        bot = Bot(world, emulator, url, folder / "bot.log", {"LOGMEM_LOG_LEVEL": "error"})
        bot.start()
        stack.callback(bot.end)
        await emulator.polled()
        call = await _call(server.port, world, quick=quick)
        people = asyncio.create_task(load.people())
        try:
            await load.asks(0, WARM, rate=RATE / 2)
            await load.settled(WARM)
            pids = server.pid, bot.pid, engine.pid, emulator.pid, os.getpid()
            used = _used(*pids)
            await load.asks(WARM, count, rate=RATE)
            times = await load.settled(WARM + count)
            spent = [after - before for before, after in zip(used, _used(*pids), strict=True)]
        finally:
            people.cancel()
        return _rows(times, await load.cards(), load.tapped, call=call, spent=spent, count=count)


def _approve(message: Mapping[str, Any]) -> str:
    """What the button Approve of a message carries, '' where there is none."""
    rows = message.get("reply_markup", {}).get("inline_keyboard", ())
    return next((button["callback_data"] for row in rows for button in row if button["text"] == "Approve"), "")


async def _pair(world: World, emulator: Telegram) -> None:
    """People with phones of their own, paired."""
    live = Together(world, emulator, None, None)  # type: ignore[arg-type] # pairing needs neither store nor settings
    for n in range(PEOPLE):
        await world.human(f"p{n:02}")
        await live.pair(f"p{n:02}")


async def _call(port: int, world: World, *, quick: bool) -> float:
    """The smallest tool call in ms, while there is no load."""
    body, head = tool_call(OLD)
    wire = Wire(port, request(port, "/mcp", body, Authorization=f"Bearer {world.tokens['agent:a0']}", **head))
    got = await rounds({"call": wire}, count=2 if quick else 5, calls=100)
    wire.close()
    return p50(got["call"]) / 1000


def _used(*pids: int) -> list[float]:
    """Seconds of processor time that each has used."""
    ticks = os.sysconf("SC_CLK_TCK")
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return [(int(stat[11]) + int(stat[12])) / ticks for stat in stats]


def _rows(
    times: Mapping[int, tuple[int, int]],
    carded: Mapping[int, float],
    tapped: Mapping[int, float],
    *,
    call: float,
    spent: Sequence[float],
    count: int,
) -> list[Row]:
    counted = [n for n in times if n >= WARM]
    parts = zip(("API", "bot", "store", "emulator", "this"), spent, strict=True)
    cost = ", ".join(f"{name} {1000 * seconds / count:.1f}" for name, seconds in parts)
    print(f"     processor for each of {count} asks at {RATE}/s, in ms: {cost}", file=sys.stderr, flush=True)
    return [
        _row("ask made → card at the emulator, p99 / 1.5 s", [carded[n] - times[n][0] for n in counted], CARD, call),
        _row("tap → stored decision, p99 / 150 ms", [times[n][1] - tapped[n] for n in counted], TAP, call),
    ]


def _row(what: str, took: list[float], bar: float, call: float) -> Row:
    took.sort()
    half, most = took[len(took) // 2], took[int(len(took) * 0.99)]
    return Row(
        what, most / bar, 1.0, f"p50 {half:.0f}, p99 {most:.0f} ms: {most / call:.0f} tool calls of {call:.2f} ms"
    )
