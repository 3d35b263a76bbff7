"""What listing the tools costs a model, in its own tokens."""

import json
import re
from typing import Any

import httpx
import pytest

from store.verbs.catalog import tools
from tests.surfaces.wire import NEW, OLD, Hand
from tests.tokenizer import tokens
from tests.world import World

BUDGETS = {"fleet": 3000, "core": 1000}
A_TOOL = 125  # tokens on average: so 24 tools fit
CORE = ("start", "note", "ask", "redeem", "handoff", "accept", "follow")
LISTED = {
    "core": CORE,
    "fleet": (
        *CORE, "bio", "recap", "assign", "update", "stage", "open", "status", "huddle", "sync", "brief", "view",
        "roster", "feed", "jobs", "recall", "spaces", "connection",
    ),
}  # fmt: skip


def price(tool: dict[str, Any]) -> int:
    """Tokens of what a model gets to see of a tool."""
    seen = {part: tool[part] for part in ("name", "description", "inputSchema")}
    return tokens(json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


@pytest.mark.parametrize("profile", BUDGETS)
@pytest.mark.parametrize("era", [OLD, NEW])
async def test_the_list_of_tools_keeps_its_budget(
    http: httpx.AsyncClient, world: World, era: str, profile: str
) -> None:
    """All tools of a profile together cost a model no more than was promised."""
    hand = Hand(http, world.tokens["agent:grok"], era=era, query=f"?profile={profile}")
    listed = (await hand.ask("tools/list")).json()["result"]["tools"]
    costs = {tool["name"]: price(tool) for tool in listed}
    assert len(costs) == len(tools(profile))
    assert sum(costs.values()) <= BUDGETS[profile], costs
    if profile == "fleet":
        assert sum(costs.values()) <= A_TOOL * len(costs), costs


@pytest.mark.parametrize("profile", BUDGETS)
def test_a_profile_has_its_tools(profile: str) -> None:
    """No more and no fewer than were promised: 24 for a fleet, seven for the small one."""
    assert len(LISTED["fleet"]) == 24
    assert {row.verb for row in tools(profile)} == set(LISTED[profile])


@pytest.mark.parametrize("profile", BUDGETS)
@pytest.mark.parametrize("era", [OLD, NEW])
async def test_the_instructions_are_short(http: httpx.AsyncClient, world: World, era: str, profile: str) -> None:
    """Every session pays for them, so they are few sentences."""
    hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hand = Hand(http, world.tokens["agent:grok"], era=era, query=f"?profile={profile}")
    response = await (hand.ask("server/discover") if era == NEW else hand.ask("initialize", **hello))
    said = response.json()["result"]["instructions"]
    assert tokens(said) <= 200
    assert {f"logmem_{verb}" for verb in LISTED[profile]} >= set(re.findall(r"logmem_\w+", said))
