"""Whom a bare id means: the agent or the person that has it, wherever somebody is named; never two of them [C-01]."""

from typing import Any

import pytest

from tests.contract.test_gate import refused
from tests.contract.working import GROK, assigned
from tests.world import World

# Each verb that takes somebody: its arguments but the name, that argument, and the code for who is not there.
NAMED: list[tuple[str, str, dict[str, Any], str]] = [
    ("assign", "to", {"job": "j", "title": "Do it"}, "unknown_recipient"),
    ("handoff", "to", {"summary": "Go on"}, "unknown_recipient"),
    ("huddle", "seats", {"where": "j", "question": "So?"}, "unknown_recipient"),
    ("huddle", "closer", {"where": "j", "question": "So?", "seats": ["codex"]}, "unknown_recipient"),
    ("open", "agent", {}, "not_found"),
    ("brief", "agent", {}, "not_found"),
]
named = pytest.mark.parametrize(("verb", "argument", "args", "code"), NAMED, ids=lambda value: str(value)[:20])


@named
async def test_c01_a_bare_id_is_an_agent_s_or_a_person_s(
    world: World, verb: str, argument: str, args: dict[str, Any], code: str
) -> None:
    """Both are found without their kind; who has the other kind is not who was named."""
    for number, who in enumerate(("codex", "ana", "agent:codex", "human:ana")):
        fresh = {"job": f"j{number}"} if verb == "assign" else {}
        assert (await world.do(GROK, verb, **{**args, **fresh, argument: who}))["ok"]
    for who in ("human:codex", "agent:ana"):
        await refused(code, world.do(GROK, verb, **args, **{argument: who}))


@named
async def test_c01_who_is_not_there_is_refused_with_who_may_have_been_meant(
    world: World, verb: str, argument: str, args: dict[str, Any], code: str
) -> None:
    """Agents and people alike, and what is no id is told so with what was probably meant."""
    for typo, near in (("codx", "agent:codex"), ("anna", "human:ana"), ("agent:codx", "agent:codex")):
        no = await refused(code, world.do(GROK, verb, **args, **{argument: typo}))
        assert no.facts["near"] == [near]
        assert f"Did you mean {near}?" in no.message
    no = await refused("malformed_id", world.do(GROK, verb, **args, **{argument: " Codex"}))
    assert (no.facts["near"], no.facts["argument"]) == (["codex"], argument)
    assert "(or the id alone, for agent or human)" in no.message


async def test_c01_who_left_is_found_by_those_who_only_look(world: World) -> None:
    """Their Brief and their jobs are there to be read; nothing can be given to them any more."""
    await assigned(world, "j", to="bo")
    await world.operate("human", name="bo", role="none")
    assert [line["job"] for line in (await world.do(GROK, "open", agent="bo"))["jobs"]] == ["job:j"]
    assert (await world.do(GROK, "brief", agent="bo"))["agent"] == "human:bo"
    await refused("unknown_recipient", world.do(GROK, "handoff", to="bo", summary="Go on"))
