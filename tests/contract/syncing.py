"""What the tests of syncs share: a space in a zone, at a moment of its day."""

import json
import secrets
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from store.domain.commit import Commit, put
from store.domain.space import Space
from store.engine.reads import Doc
from store.verbs.call import Call, Row
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from store.verbs.render import text
from tests.tokenizer import tokens
from tests.world import Result, World

ZONE = "America/New_York"
DONE = {"outcome": "pass", "notes": "Reviewed PRs, accepted review handoffs."}
GROK, CODEX = "agent:grok", "agent:codex"


async def space_at(world: World, at: str, *, zone: str = ZONE, day: date | None = None) -> World:
    """A space of its own in a zone, with grok and codex, on a day (the second from now) at a time of its wall clock."""
    made = World(world.engine, world.store, f"t{secrets.token_hex(6)}", http=world.http)
    await made.operate("space", simulated=True, zone=zone)
    await moved(made, at, zone=zone, day=day or datetime.now(ZoneInfo(zone)).date() + timedelta(days=2))
    for name in ("grok", "codex"):
        await made.agent(name)
    return made


async def moved(world: World, at: str, *, zone: str = ZONE, day: date | None = None, days: int = 0) -> None:
    """Move the clock on to a wall time of a day: of the one that it is, so many days on, or of a named one."""
    now = await clock(world)
    to = datetime.combine(day or now.astimezone(ZoneInfo(zone)).date(), time.fromisoformat(at), ZoneInfo(zone))
    to = (to + timedelta(days=days)).astimezone(UTC)
    assert to > now, f"{to} is past at {now}"
    await world.pass_time((to - now) // timedelta(milliseconds=1))


async def clock(world: World) -> datetime:
    """The space's clock."""
    return datetime.fromisoformat((await world.operate("connection"))["clock"])


async def set_space(world: World, **fields: Any) -> None:
    """Change what stands in the space."""

    async def change(call: Call) -> Commit:
        space = await call.read(Doc(Space, world.space))
        assert space
        return Commit(result={}, puts=(put(replace(space, **fields)),))

    await perform(world.store, world.operator, Row("change", "manage", change), {})


async def receipt(world: World, who: str = GROK, **more: Any) -> Result:
    """A check-in."""
    return await world.do(who, "sync", receipt=True, **(DONE | more))


def states(result: Result) -> dict[str, str]:
    """The state of each window of a day."""
    return {window["slot"]: window["state"] for window in result["windows"]}


def price(result: Result) -> int:
    """What an answer costs, in the dearer of its two forms."""
    structure = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return max(tokens(structure), tokens(text(ROWS["sync"], result)))
