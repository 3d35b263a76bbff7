"""What the tests in a browser share: Debian's Chromium, started once, and a space with its API.

All of it lives on one event loop, since a browser belongs to the loop that it was started on.
"""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from store.engine.embedded import Embedded
from tests.console.window import House
from tests.surfaces.server import server, serving
from tests.world import World, found, opened, swept

__all__ = ["server", "serving"]

NAMES = ("chromium", "chromium-browser")
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
# A page that a test made up counts as one of the public network, which may not reach this machine: then it would be the
# browser that keeps it out, and not what we say of our pages.
OPEN = ["--disable-features=LocalNetworkAccessChecks"]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser. Without one the tests that need it are skipped; with CI=true they fail."""
    path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if path is None:
        missing = "no Chromium on this machine (Debian, Ubuntu: apt install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, headless=True, args=[*QUIET, *OPEN])
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def world(engine: Embedded) -> AsyncIterator[World]:
    """A space with agents grok and codex, owner ana and approver bo, both signed in."""
    await swept(engine)
    store = opened(engine)
    made = await found(engine, store)
    await made.human("ana", "owner")
    await made.human("bo", "approver")
    await made.agent("grok")
    await made.agent("codex")
    yield made
    await store.close()


@pytest.fixture
def house(chromium: Browser, world: World, server: str) -> House:
    """The console of the space, and windows of people into it."""
    return House(chromium, world, server)
