"""What the tests of huddles and seats share: a huddle, its seats, answers and synthesis."""

from typing import Any

from tests.world import Result, World

GROK, CODEX, MUSE, ANA = "agent:grok", "agent:codex", "agent:muse", "human:ana"


async def opened(world: World, *seats: str, who: str = GROK, **more: Any) -> Result:
    """A huddle of grok's, with codex and muse unless told otherwise."""
    args = {"where": "job:db", "question": "Postgres or SQLite?", "seats": list(seats or (CODEX, MUSE))}
    return await world.do(who, "huddle", **(args | more))


def seat(huddle: Result, who: str = CODEX) -> str:
    """The seat that somebody holds."""
    (item,) = (s["item"] for s in huddle["seats"] if s["to"] == who)
    return str(item)


async def answer(world: World, huddle: Result, who: str = CODEX, **more: Any) -> Result:
    """Somebody answers their seat."""
    args = {"where": "job:db", "kind": "answer", "answers": seat(huddle, who), "summary": f"{who} says Postgres"}
    return await world.do(who, "note", **(args | more))


async def closed(world: World, huddle: Result, who: str = GROK, **more: Any) -> Result:
    """The closer's synthesis."""
    args = {"where": "job:db", "kind": "synthesis", "answers": huddle["huddle"], "summary": "Postgres it is"}
    return await world.do(who, "note", **(args | more))


async def viewed(world: World, huddle: Result, who: str = GROK) -> Result:
    """The huddle as somebody sees it."""
    return await world.do(who, "view", what=huddle["huddle"])
