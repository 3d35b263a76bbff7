"""MCP by hand: who gets in, what is listed, and what is said to what is wrong."""

from typing import Any

import httpx
import pytest

from tests.surfaces.wire import NEW, OLD, Hand, code, said
from tests.world import World

ERAS = pytest.mark.parametrize("era", [OLD, NEW])


def hand(http: httpx.AsyncClient, world: World, who: str = "agent:grok", **how: Any) -> Hand:
    """Grok's hand, if nobody else's."""
    return Hand(http, world.tokens[who], **how)


@pytest.mark.parametrize("minted", [False, True])
@ERAS
async def test_a_note_is_written_over_each_way_in(
    http: httpx.AsyncClient, world: World, era: str, minted: bool
) -> None:
    """A call writes as the credential's agent, and its text and structure are both complete."""
    result = await hand(http, world, era=era, minted=minted).call("note", where="job:x", kind="memo", summary="tick")
    entry = result["structuredContent"]["entry"]
    print(said(result))
    assert entry["by"] == "agent:grok"
    assert entry["client"]
    assert all(part in said(result) for part in (entry["id"], "job:x", '"tick"', "agent:grok", world.space))
