"""An owner who changes when the syncs are, again and again, while time goes on: each window is accounted for once."""

import random
from collections import Counter
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

import pytest

from store.domain.errors import Refused
from store.domain.occurrence import ENDS
from store.verbs.syncs import STATES
from tests.contract.scheduled import HOUR, MINUTE, log, occurrences, rhythm, ticking
from tests.ticking import Scheduler
from tests.world import World

STEPS = 120
ZONES = ("Europe/Berlin", "America/New_York", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Pago_Pago")
AGENTS = ("agent:grok", "agent:codex")


class Owner:
    """One who cannot make up their mind, in a space in which two agents are at work."""

    def __init__(self, world: World, ticks: Scheduler, *, seed: int) -> None:
        self.world, self.ticks, self.chance = world, ticks, random.Random(f"rhythm {seed}")
        self.changes = 0

    async def step(self) -> None:
        """Time passes; somebody does something; the scheduler may tick; all the while it can be read."""
        chance = self.chance
        await self.world.pass_time(chance.randint(1, chance.choice((MINUTE, 40 * MINUTE, 3 * HOUR, 9 * HOUR))))
        if chance.random() < 0.4:
            await self.change()
        for agent in AGENTS:
            await self.act(agent)
        if chance.random() < 0.7:
            await self.ticks()
        await self.look()

    async def change(self) -> None:
        """Other times, days or zone, or a holiday more or less: what is refused changes nothing."""
        day = date.fromisoformat((await self.world.do("human:ana", "syncs", weeks=1))["local"][:10])
        near = (day + timedelta(days=self.chance.choice((-1, 0, 0, 0, 1)))).isoformat()
        marks = sorted(self.chance.sample(range(24 * 12), 3))
        times = ", ".join(f"{m // 12:02}:{m % 12 * 5:02}" for m in marks)
        days = self.chance.choice(("mon-sun", "mon-fri", "sat, sun", "wed - fri"))
        forms: tuple[dict[str, Any], ...] = (
            {"times": times},
            {"times": times},
            {"times": times, "days": days},
            {"zone": self.chance.choice(ZONES)},
            {"holiday": near, "reason": "Off"},
            {"holiday": near, "remove": True},
        )
        with suppress(Refused):
            done = await self.world.do("human:ana", "rhythm", **self.chance.choice(forms))
            self.changes += bool(done["changed"])

    async def act(self, agent: str) -> None:
        """A note, a check-in that may come too early or too late, or nothing."""
        match self.chance.randint(0, 3):
            case 0:
                await self.world.do(agent, "note", where="job:x", kind="memo", summary="At it")
            case 1 | 2:
                with suppress(Refused):
                    await self.world.do(agent, "sync", receipt=True, outcome="pass", notes="Fine")

    async def look(self) -> None:
        """What is shown has a state and a sentence for each window, and no day twice."""
        found = await self.world.do("human:ana", "syncs", weeks=2)
        cells = [cell for row in found["grid"] for cell in row["slots"].values()]
        assert {cell["state"] for cell in (*cells, *found["today"])} <= set(STATES)
        assert all(cell["says"] for cell in (*cells, *found["today"]))
        assert len({row["day"] for row in found["grid"]}) == len(found["grid"])
        assert len({one["slot"] for one in found["today"]}) == len(found["today"]) <= 3


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 40))])
async def test_c47_whatever_an_owner_changes_each_window_is_accounted_for_once(world: World, seed: int) -> None:
    """Nothing ends twice or is overdue twice; what has ended stays so; once time is over, all of it has ended."""
    async with ticking(world) as ticks:
        owner = Owner(world, ticks, seed=seed)
        ended: dict[str, Any] = {}
        await world.pass_time(40 * HOUR)
        await ticks()
        for _ in range(STEPS):
            await owner.step()
            now = await occurrences(world)
            assert ended.items() <= {id: one for id, one in now.items() if one.state in ENDS}.items()
            ended = {id: one for id, one in now.items() if one.state in ENDS}
        assert owner.changes > STEPS // 10
        await world.pass_time(40 * HOUR)
        await ticks()
        now = await occurrences(world)
        assert [id for id, one in now.items() if one.state not in ENDS and one.closes <= one.opens] == []
        assert sum(one.state not in ENDS for one in now.values()) <= 1
        through = await rhythm(world)
        assert through.next == 0 or through.next > through.through
        for kind in ("overdue", "accounted"):
            told = await log(world, f"channel:{world.space}", kind)
            names = Counter((each["payload"]["day"], each["payload"]["slot"]) for each in told)
            assert max(names.values(), default=1) == 1, names.most_common(1)
        changed = await log(world, f"channel:{world.space}", "rhythm")
        assert len(changed) == owner.changes
