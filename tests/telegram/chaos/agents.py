"""Agents who ask, and do with the answers what agents do; and the Log, read as it grows."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

from store.domain.entry import Logged
from store.domain.errors import Refused
from store.engine.reads import Head, Stretch
from tests.telegram.chaos.book import ENDS, part
from tests.telegram.chaos.load import Wish
from tests.telegram.chaos.stage import STORE_ERRORS, Stage

LOOK = 0.25  # seconds between two looks at the Log
AT_ONCE = 500  # entries
BREATH = 0.2  # seconds between two asks of an agent, on average


class Ledger:
    """The Log as a reader follows it; every wait for it is bounded by whoever waits."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.lines: list[Logged] = []
        self.asked: dict[str, int] = {}  # the number of the ask by its trail
        self.ended: dict[int, str] = {}  # how each has ended
        self.verdicts: dict[int, str] = {}
        self.grown = asyncio.Condition()

    async def run(self) -> None:
        """Follow it until cancelled."""
        while True:
            with suppress(*STORE_ERRORS):  # it is being killed, too
                await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Read what is new."""
        world = self._stage.world
        while True:
            seen = self.lines[-1].seq if self.lines else 0
            _, (head,), _ = await world.store.fetch(world.keys, [Head()], pure=True)
            if head <= seen:
                return
            new = tuple(range(seen + 1, min(head, seen + AT_ONCE) + 1))
            _, (lines,), _ = await world.store.fetch(world.keys, [Stretch(new)], pure=True)
            assert len(lines) == len(new), "a number without an entry"
            async with self.grown:
                for line in lines:
                    self._take(line)
                self.grown.notify_all()

    def _take(self, line: Logged) -> None:
        self.lines.append(line)
        if line.entry is None:
            return
        if line.entry.kind == "asked":
            self.asked[line.entry.trail] = part(line.entry.summary)
        if line.entry.kind in ENDS and line.entry.trail in self.asked:
            n = self.asked[line.entry.trail]
            self.ended[n] = line.entry.kind
            if line.entry.kind == "decided":
                self.verdicts[n] = line.entry.payload["verdict"]


class Agents:
    """All agents: each asks its asks in turn, a few of them open at once."""

    def __init__(self, stage: Stage, ledger: Ledger, wishes: Sequence[Wish]) -> None:
        self._stage, self._ledger = stage, ledger
        self._draw = random.Random(stage.load.seed + 3)
        self._by_agent: dict[str, list[Wish]] = defaultdict(list)
        for wish in wishes:
            self._by_agent[wish.agent].append(wish)
        self.asked = 0
        self.redeemed = 0

    async def run(self) -> None:
        """Until everything was asked."""
        async with asyncio.TaskGroup() as group:
            for agent, wishes in self._by_agent.items():
                group.create_task(self._ask_all(agent, wishes))

    async def _ask_all(self, agent: str, wishes: Sequence[Wish]) -> None:
        await asyncio.sleep(self._draw.random() * BREATH)
        async with asyncio.TaskGroup() as after:
            for k, wish in enumerate(wishes):
                await self._room(wishes[:k])
                ask = await self._stage.do(agent, "ask", action_id=f"ask-{wish.n}", **wish.args)
                self.asked += 1
                if wish.withdrawn:
                    after.create_task(self._withdraw(wish, ask["trail"]))
                elif wish.redeemed:
                    after.create_task(self._redeem(wish, ask["trail"]))
                await asyncio.sleep(self._draw.expovariate(1 / BREATH))

    async def _room(self, before: Sequence[Wish]) -> None:
        """Wait until few enough of these are open."""
        ended = self._ledger.ended
        async with self._ledger.grown:
            await self._ledger.grown.wait_for(
                lambda: sum(not (wish.n in ended or wish.forlorn) for wish in before) < self._stage.load.pending
            )

    async def _withdraw(self, wish: Wish, trail: str) -> None:
        await asyncio.sleep(self._draw.random() * 2 * self._stage.load.think)
        try:
            await self._stage.do(wish.agent, "ask", action_id=f"withdraw-{wish.n}", withdraw=trail)
        except Refused as no:
            if no.code not in ("already_settled", "expired"):
                raise

    async def _redeem(self, wish: Wish, trail: str) -> None:
        """Use the approval, if it is one."""
        async with self._ledger.grown:
            await self._ledger.grown.wait_for(lambda: wish.n in self._ledger.ended)
        if self._ledger.verdicts.get(wish.n) != "approve":
            return
        try:
            await self._stage.do(wish.agent, "redeem", action_id=f"redeem-{wish.n}", trail=trail)
        except Refused as no:
            if no.code != "taken_back":
                raise
        else:
            self.redeemed += 1
