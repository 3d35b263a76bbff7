"""What goes wrong in a run: calls of the Bot API, updates, people who block the bot, and processes that are killed."""

import asyncio
import itertools
import random
from collections import Counter
from typing import Any

from tests.telegram.chaos.stage import Stage

VICTIMS = ("bot", "store", "api")
DEAD = 1.0  # seconds at most that what was killed stays so
BOTH = 0.15  # how often two are killed at once

Fault = tuple[int, str, str, dict[str, Any]]  # how often among others, its kind, the method, and more

FAULTS: tuple[Fault, ...] = (
    (4, "error", "getUpdates", {"status": 409, "description": "Conflict: terminated by other getUpdates request"}),
    (2, "error", "getUpdates", {"status": 404, "description": "Not Found"}),
    (3, "error", "getUpdates", {"status": 502, "description": "Bad Gateway"}),
    (3, "html", "getUpdates", {}),
    (2, "cut", "getUpdates", {}),
    (5, "malformed", "getUpdates", {}),
    (6, "duplicate", "getUpdates", {"times": 2}),
    (6, "reorder", "getUpdates", {"times": 2}),
    (5, "error", "sendMessage", {"status": 429, "description": "Too Many Requests: retry after 1", "retry_after": 1}),
    (
        4,
        "error",
        "editMessageText",
        {"status": 429, "description": "Too Many Requests: retry after 1", "retry_after": 1},
    ),
    (4, "error", "sendMessage", {"status": 500, "description": "Internal Server Error", "times": 2}),
    (4, "error", "editMessageText", {"status": 504, "description": "Gateway Timeout", "times": 2}),
    (4, "html", "sendMessage", {"times": 2}),
    (4, "html", "editMessageText", {"times": 2}),
    (3, "html", "answerCallbackQuery", {"times": 2}),
    (3, "error", "answerCallbackQuery", {"status": 500, "description": "Internal Server Error", "times": 2}),
    (3, "hang", "*", {"seconds": 2.0, "times": 2}),
    (1, "hang", "sendMessage", {"seconds": 30.0}),
    (1, "apply_then_hang", "sendMessage", {"seconds": 30.0}),
    (1, "apply_then_hang", "editMessageText", {"seconds": 30.0}),
    (4, "apply_then_cut", "sendMessage", {"times": 2}),
    (4, "apply_then_cut", "editMessageText", {"times": 2}),
    (3, "apply_then_cut", "answerCallbackQuery", {"times": 2}),
    (3, "cut", "sendMessage", {"times": 2}),
)


class Gremlins:
    """All that goes wrong, until it is told to stop; then everything is up again."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._draw = random.Random(stage.load.seed + 4)
        self._stop = asyncio.Event()
        self.struck: Counter[str] = Counter()
        self.malformed = 0

    async def run(self) -> None:
        """Until `stop`."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._spoil())
            group.create_task(self._kill())
            group.create_task(self._block())
        for fault in await self._stage.telegram.clear_faults():
            self._count(fault)

    def stop(self) -> None:
        """Let nothing more go wrong."""
        self._stop.set()

    async def _pause(self, low: float, high: float) -> bool:
        """Wait; False when it is to stop."""
        try:
            async with asyncio.timeout(self._draw.uniform(low, high)):
                await self._stop.wait()
        except TimeoutError:
            return True
        return False

    async def _spoil(self) -> None:
        """Calls go wrong now and then, one fault of a method after another: a poller that is put off polls less."""
        telegram = self._stage.telegram
        while await self._pause(*self._stage.load.fault_every):
            ((_, kind, method, how),) = self._draw.choices(FAULTS, [fault[0] for fault in FAULTS])
            if any(fault["method"] == method and fault["times"] for fault in await telegram.faults()):
                continue
            await telegram.fault(kind, method, seed=self._draw.randrange(10**6), **how)

    def _count(self, fault: dict[str, Any]) -> None:
        name = f"{fault['kind']} {fault['status']}" if fault["kind"] == "error" else fault["kind"]
        self.struck[f"{fault['method']} {name}"] += fault["hits"]
        if fault["kind"] == "malformed":
            self.malformed += fault["hits"]

    async def _kill(self) -> None:
        """Processes die, one after another, sometimes two at once, and are started again."""
        stage = self._stage
        kills = iter(VICTIMS) if stage.load.once else itertools.cycle(VICTIMS)
        first = True
        while await self._pause(*((1.0, 2.0) if first else stage.load.kill_every)):
            first = False
            several = 2 if self._draw.random() < BOTH else 1
            dead = sorted(set(itertools.islice(kills, several)), reverse=True)  # the store first: others need it
            which = self._draw.randrange(len(stage.apis))
            for what in dead:
                await stage.kill(what, which)
            await asyncio.sleep(self._draw.uniform(0, DEAD))
            for what in dead:
                await stage.raise_again(what, which)

    async def _block(self) -> None:
        """Two people block the bot while they have cards; one of them comes back."""
        load, phones = self._stage.load, self._stage.phones
        if await self._pause(2, 4):
            await phones[load.gone].block()
            await phones[load.fickle].block()
        if await self._pause(3, 6):
            await phones[load.fickle].unblock()
            return
        await phones[load.fickle].unblock()
