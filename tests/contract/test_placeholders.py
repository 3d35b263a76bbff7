"""What a call that we print leaves to its caller: a placeholder, which is never taken for a text."""

import pytest

from tests.contract.test_gate import refused
from tests.world import Result, World

GROK = "agent:grok"


@pytest.mark.parametrize("written", ["…", "...", " … "])
@pytest.mark.parametrize(
    ("verb", "args", "argument"),
    [
        ("note", {"where": "job:db", "kind": "memo"}, "summary"),
        ("ask", {"where": "job:db"}, "summary"),
        ("assign", {"job": "db"}, "title"),
        ("huddle", {"where": "db", "seats": ["codex"]}, "question"),
        ("sync", {"receipt": True, "outcome": "pass"}, "notes"),
        ("status", {}, "doing"),
        ("stage", {"job": "db", "stage": "todo"}, "reason"),
        ("recap", {"notes": "done"}, "next"),
    ],
)
async def test_a_placeholder_is_nothing_that_was_written(
    world: World, verb: str, args: Result, argument: str, written: str
) -> None:
    """Who sends a call of ours without filling it in is told so, and nothing is written."""
    before = await world.dump()
    whole: Result = {**args, argument: [written] if argument == "next" else written}
    no = await refused("invalid_argument", world.do(GROK, verb, **whole))
    assert (no.facts["argument"], "a placeholder; write what it is" in no.message) == (argument, True)
    assert await world.dump() == before
