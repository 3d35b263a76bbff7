"""Scheduler processes as `logmem` starts them, and agents for them to look after."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from store.domain.commit import Commit, put
from store.domain.document import Index
from store.domain.shift import opened
from store.engine.client import Target
from store.engine.reads import Log, Numbered
from store.verbs.call import Call, Row
from store.verbs.due import WAKES, due
from store.verbs.perform import perform
from tests.world import World

PATIENCE = 60.0  # seconds for anything at all
LEASE = 1.0  # seconds


@dataclass
class Process:
    """One scheduler process over an engine."""

    target: Target
    log: Path
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it, or start it again; returns when it tells its health."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOGMEM_")}
        where = {"LOGMEM_REDIS_URI": f"unix://{dict(self.target.where)['path']}"}
        where |= {"LOGMEM_REDIS_SECRETS": str(self.target.secrets), "LOGMEM_SCHEDULER_PORT": "0"}
        self.log.unlink(missing_ok=True)
        self.process = self._spawn(kept | where)
        await until(self.told, why=self.log.read_text)

    def _spawn(self, env: dict[str, str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", "-m", "scheduler", "--lease", str(LEASE)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, env=env, stdout=log, stderr=log)

    async def told(self) -> dict[str, Any]:
        """What it says at /healthz; nothing while it does not listen."""
        port = next((line["port"] for line in self.lines() if line["event"] == "health"), 0)
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(trust_env=False) as client:
                reply = await client.get(f"http://127.0.0.1:{port}/healthz", timeout=2)
                return {"well": reply.status_code == 200, **reply.json()}
        return {}

    def lines(self) -> list[dict[str, Any]]:
        """Its log."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    async def status(self, wanted: str) -> None:
        """Return once it says that it leads, or waits."""

        async def said() -> bool:
            return (await self.told()).get("status") == wanted

        await until(said, why=self.log.read_text)

    @property
    def lives(self) -> bool:
        """Whether it runs, or is paused."""
        return self.process is not None and self.process.poll() is None

    def send(self, how: signal.Signals) -> None:
        """Send it a signal."""
        assert self.process
        self.process.send_signal(how)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it, and wait until it is gone; its exit code."""
        assert self.process
        with suppress(ProcessLookupError):
            self.send(signal.SIGCONT)
            self.send(how)
        return self.process.wait(PATIENCE)


async def until(holds: Callable[[], Awaitable[Any]], *, why: Callable[[], str] = str) -> None:
    """Return once something holds, which it must in the end."""
    bound = time.monotonic() + PATIENCE
    while not await holds():
        assert time.monotonic() < bound, why()[-3000:]
        await asyncio.sleep(0.01)


async def rests(world: World) -> bool:
    """Whether the space has a scheduler, and nothing is due there that it has not done."""
    at = (await due(world.store, [world.space]))[world.space]
    return at.epoch > 0 and not [w for w in WAKES if w.job != "inspect" and 0 < at.at(w) <= at.now]


async def at_work(world: World, count: int) -> list[str]:
    """So many agents, each with a shift in which it has written just now; who they are."""
    names = [f"agent:w{n:05}" for n in range(count)]

    async def begin(call: Call, *, first: int) -> Commit:
        await call.admit()
        some = names[first : first + 500]
        return Commit(
            result={},
            puts=tuple(put(opened(None, agent=name, credential="k", now=call.now)) for name in some),
            touches=tuple((Index(index, "", call.now), name) for name in some for index in ("idle", "active")),
        )

    row = Row("at_work", "manage", begin)
    for first in range(0, count, 500):
        await perform(world.store, world.operator, row, {"first": first})
    return names


async def recaps(world: World) -> Counter[str]:
    """How many recaps the scheduler has written, by agent."""
    ((lines,),) = await world.store.across([world.space], Log("system:scheduler", 100_000))
    found = []
    for n in range(0, len(lines.seqs), 2000):
        found += (await world.store.across([world.space], *map(Numbered, lines.seqs[n : n + 2000])))[0]
    return Counter(each.entry.where for each in found if each.entry.kind == "recap")
