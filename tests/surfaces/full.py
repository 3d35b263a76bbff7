"""A space as full as a large fleet leaves it, with texts as long as they may be."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.world import World

HOUR = 3_600_000
AGENTS, JOBS, ITEMS, ASKS, NOTES, FACTS, HUDDLES, PEOPLE = 200, 300, 60, 20, 40, 20, 12, 12
AT_ONCE = 40
SAID = "Rebuilt v1.4.0 from release/2026-07 (commit 9f3c2e1); 2,431 of 2,431 tests pass on both runners, see #8812. "
LONG = (SAID * 10)[:1000]  # as long as a summary may be
LINE = (SAID * 2)[:200]
LABEL = LINE[:120]
OPTIONS = [f"{n}: {LINE[:190]}" for n in range(8)]
PAYLOAD = {"version": "1.4.0", "artifacts": [{"path": f"dist/pkg-{n}.tar.gz", "sha256": "0" * 64} for n in range(40)]}

Args = dict[str, Any]
Result = dict[str, Any]


@dataclass(slots=True)
class Full:
    """The space, and ids of what is there by a name for each."""

    world: World
    ids: dict[str, str] = field(default_factory=dict)

    async def do(self, who: str, verb: str, args: Mapping[str, Any]) -> Result:
        """Perform a verb as somebody, `<name>` in the arguments standing for the id of that name."""
        return await self.world.do(who, verb, **{key: self._meant(value) for key, value in args.items()})

    def _meant(self, value: Any) -> Any:
        return self.ids[value[1:-1]] if isinstance(value, str) and value[:1] == "<" and value[-1:] == ">" else value


def name(n: int) -> str:
    """The id of an agent or job, as long as ids may be."""
    return f"{n:03}-of-the-fleet-that-keeps-the-billing-pipeline-of-q3-going"[:63]


async def many(count: int, one: Callable[[int], Awaitable[Any]]) -> None:
    """Do it for each number, some at once."""
    for first in range(0, count, AT_ONCE):
        await asyncio.gather(*(one(n) for n in range(first, min(first + AT_ONCE, count))))


async def fill(world: World) -> Full:
    """Fill a world that has grok, codex, ana and bo; it is 10 h later then, with the morning's window open."""
    full, do = Full(world), world.do
    await many(AGENTS, lambda n: world.agent(name(n)))
    await many(AGENTS, lambda n: do(f"agent:{name(n)}", "bio", profile=_bio(n)))
    await many(AGENTS, lambda n: do(f"agent:{name(n)}", "status", doing=LINE, blocked=LINE, waiting_on=LABEL))
    await many(PEOPLE, lambda n: world.human(f"person-{n}-{'x' * 40}", signed_in=False))
    old = await do("agent:grok", "ask", where="job:big", summary=LONG, payload=PAYLOAD, expires_in="5m")
    dead = await do("agent:grok", "handoff", to="codex", summary=LONG, where="job:big", deadline="5m")
    await world.pass_time(10 * HOUR)
    full.ids |= {"old": old["trail"], "dead": dead["item"]}
    for agent in ("agent:grok", "agent:codex"):
        await do(agent, "bio", profile=_bio(0))
    await do("agent:grok", "status", doing=LONG, blocked=LONG, waiting_on=LABEL, where="job:big")
    await many(JOBS, lambda n: do("agent:codex", "assign", job=name(n), to="grok", **_job()))
    await do("agent:codex", "assign", job="big", to="grok", **_job())
    await do("agent:grok", "update", job="big", summary=LONG, doing=LONG, blocked=LONG, waiting_on=LABEL)
    await many(NOTES, lambda n: do("agent:grok", "note", where="job:big", kind="progress", summary=LONG, **_more(n)))
    await many(FACTS, lambda n: do("agent:grok", "note", where="job:big", kind="fact", summary=f"{n}: {LONG[:990]}"))
    await many(ITEMS, lambda n: do("agent:codex", "handoff", to="grok", summary=LONG, where="job:big"))
    seats = [f"agent:{name(n)}" for n in range(11)]
    await many(HUDDLES, lambda n: do("agent:codex", "huddle", where="big", question=LONG, seats=["agent:grok", *seats]))
    await many(ASKS - 4, lambda n: do("agent:grok", "ask", where="job:big", summary=f"{n}: {LONG[:990]}"))
    await many(8, lambda n: do("agent:codex", "handoff", to="anyone", text=LONG, label=LABEL))
    await _ids(full)
    return full


def _bio(n: int) -> Args:
    return {"name": LINE[:60], "role": f"Builder {n}", "skills": [f"skill-{n}-{m}" for m in range(12)], "about": LINE}


def _job() -> Args:
    lines = [LINE] * 10
    return {"title": LINE, "plan": "q3", "milestones": lines, "tracks": lines, "needs": ["skill-0-1"]}


def _more(n: int) -> Args:
    tags = [f"tag-{m}-{'x' * 60}" for m in range(20)]
    return {"payload": PAYLOAD, "why": LONG, "tags": tags, "trail": LABEL, "origin": LABEL, "action_id": f"note-{n}"}


async def _ids(full: Full) -> None:
    """Name one thing of each kind, with as much about it as there can be."""
    do = full.world.do
    await do("agent:grok", "recall", query="tests")  # the index has read all of it then, for the context of handoffs
    note = await do("agent:grok", "note", where="job:big", kind="fact", summary=LONG, **_more(NOTES))
    item = await do("agent:codex", "handoff", to="grok", summary=LONG, where="job:big")
    for number in range(30):
        await do("agent:grok", "note", where="job:big", kind="memo", summary=LONG, trail=item["item"], why=f"{number}")
    huddle = await do("agent:grok", "huddle", where="big", question=LONG, seats=["agent:codex", "human:ana"])
    ask = await do("agent:grok", "ask", where="job:big", summary=LONG, payload=PAYLOAD, options=OPTIONS)
    used, back = [
        await do("agent:grok", "ask", where="job:big", summary=f"{why}: {LONG[:900]}", payload=PAYLOAD)
        for why in ("used", "taken back")
    ]
    for each in (used, back):
        await do("human:ana", "decide", trail=each["trail"], digest=each["digest"], verdict="approve", reason=LONG)
    await do("human:ana", "ask_back", trail=ask["trail"], text=LONG)
    sent = await do("agent:codex", "handoff", to="grok", summary=LONG)
    mail = await do("agent:codex", "handoff", to="anyone", text=LONG, label=LABEL)
    full.ids |= {
        "entry": note["entry"]["id"],
        "fact": note.get("fact", note["entry"]["id"]),
        "item": item["item"],
        "sent": sent["item"],
        "huddle": huddle["huddle"],
        "seat": huddle["seats"][0]["item"],
        "ask": ask["trail"],
        "digest": ask["digest"],
        "used": used["trail"],
        "back": back["trail"],
        "mail": mail["note"],
    }
