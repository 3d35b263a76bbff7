"""The SDK's client in both eras, each in a process of its own, through the main job."""

import asyncio
import json
import sys
from typing import Any

import httpx
import pytest

from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import World

PATIENCE = 60.0  # seconds for the whole story
WAYS = [("legacy", False), ("legacy", True), ("auto", False), ("auto", True)]


@pytest.mark.parametrize(("mode", "minted"), WAYS)
async def test_an_agent_asks_a_person_decides_and_the_agent_goes_on(
    server: str, http: httpx.AsyncClient, world: World, mode: str, minted: bool
) -> None:
    """Start, note, ask, decided over REST by a person's session, follow, redeem: each step complete and small."""
    token = world.tokens["agent:grok"]
    where = [f"{server}/k/{token}/mcp", mode] if minted else [f"{server}/mcp", mode, token]
    steps: dict[str, Any] = {}
    async with asyncio.timeout(PATIENCE):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.surfaces.agent", *where, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        async for line in process.stdout:
            step = json.loads(line)
            steps.setdefault(step["step"], []).append(step)
            if step["step"] == "redeem" and step["refused"]:
                asked = steps["ask"][0]["structure"]
                verdict = {"trail": asked["trail"], "digest": asked["digest"], "verdict": "approve"}
                head = {"cookie": f"logmem_session={world.tokens['human:ana']}", "x-logmem-csrf": "1", "origin": server}
                reply = await http.post("/api/decide", json=verdict, headers=head | {"x-logmem-space": world.space})
                assert reply.status_code == 200, reply.text
        assert await process.wait() == 0
    _check(steps, world, mode)


def _check(steps: dict[str, Any], world: World, mode: str) -> None:
    (connected,), (listed,) = steps.pop("connected"), steps.pop("tools")
    assert connected["version"] == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
    assert connected["instructions"].startswith(f"You are agent:grok in space {world.space}. ")
    assert {"logmem_note", "logmem_ask", "logmem_redeem", "logmem_follow"} <= set(listed["names"])
    (started,) = steps.pop("start")
    assert started["text"].startswith(f"agent:grok in {world.space}")
    assert started["structure"]["started"] == {"agent": "agent:grok", "shift": 1, "resumed": False}
    for step in (step for taken in steps.values() for step in taken if not step["refused"]):
        shown, text = step["structure"], step["text"]
        assert (shown["ok"], shown["space"], shown["caller"]) == (True, world.space, "agent:grok")
        assert missing(shown, text) == []
        assert tokens(text) <= 2000
        assert tokens(json.dumps(shown, separators=(",", ":"))) <= 2000
    early, used = steps["redeem"]
    assert early["text"].startswith("not_approved: ")
    assert early["structure"]["error"]["code"] == "not_approved"
    assert steps["note"][0]["structure"]["entry"]["client"] == "test-agent"
    assert "\n-> approve" not in steps["note"][0]["text"]
    assert steps["follow"][-1]["structure"]["status"] == "approved"
    assert "-> logmem_redeem" in steps["follow"][-1]["text"]
    assert used["structure"]["payload"] == {"version": "1.4.0", "channel": "stable", "notes": None}
    assert '{"channel":"stable","notes":null,"version":"1.4.0"}' in used["text"]  # in the form that the digest binds
    assert used["structure"]["decision"]["by"] == "human:ana"
