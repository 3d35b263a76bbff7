"""The page of an ask whose text was altered or redacted: it says so, shows nothing of it, and approves nothing."""

from collections.abc import Callable

import httpx
import pytest

from tests.contract.test_asking import altered, another_text, redacted
from tests.surfaces.test_console import asked, browser
from tests.world import World


@pytest.mark.parametrize(
    ("change", "word", "says"),
    [(another_text, "altered", "is not what was asked"), (redacted, "redacted", "was redacted or is missing")],
)
async def test_an_ask_that_is_not_what_was_asked_can_only_be_rejected(
    http: httpx.AsyncClient, world: World, change: Callable[[bytes], bytes], word: str, says: str
) -> None:
    """No button approves it, and why stands beside the others; rejecting works."""
    ask = await asked(world, summary="Publish v1?")
    await altered(world, ask["trail"], change)
    page = await browser(http, world).ask(ask["trail"])
    assert page.status == 200
    decision = page.root.one("section", cls="decide")
    assert says in decision.words
    assert "Approve" not in decision.words
    assert f"[{word}]" in page.root.one("h1").words
    assert "Delete all?" not in page.root.words
    done = await browser(http, world).send(page.form("/decide"), "reject")
    assert done.status == 303
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["status"] == "rejected"
