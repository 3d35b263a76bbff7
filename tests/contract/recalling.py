"""What tests of recall write and find."""

from typing import Any

from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"


async def noted(world: World, summary: str, who: str = GROK, **more: Any) -> Result:
    """An entry of grok's in channel:x unless told otherwise."""
    args = {"where": "channel:x", "kind": "memo", "summary": summary}
    result: Result = (await world.do(who, "note", **(args | more)))["entry"]
    return result


async def recalled(world: World, query: str, who: str = CODEX, **more: Any) -> Result:
    """What somebody finds; asked again while the index says that it is behind, as on a machine that is very busy."""
    for _ in range(50):
        result = await world.do(who, "recall", query=query, **more)
        if not result.get("behind"):
            return result
    raise AssertionError("the index never gets there")


async def found(world: World, query: str, **more: Any) -> list[str]:
    """The ids of what codex finds, best first."""
    return [h["id"] for h in (await recalled(world, query, **more))["hits"]]


async def chain(world: World, count: int, *, where: str = "job:y") -> list[Result]:
    """Facts of which each supersedes the one before, and only the first has the words; the last stands elsewhere."""
    said = ["Sessions of the console end after 20 minutes", *[f"It is number {n} now" for n in range(2, count + 1)]]
    facts: list[Result] = []
    for n, summary in enumerate(said):
        more = {"supersedes": facts[-1]["fact"]} if facts else {}
        place = "channel:elsewhere" if n == count - 1 else where
        facts.append(await world.do(GROK, "note", where=place, kind="fact", summary=summary, **more))
    return facts
