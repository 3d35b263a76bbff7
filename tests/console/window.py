"""A person's window into the console: a real browser's page that notices what its console complains of."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Locator, Page, expect

from api.auth import COOKIE
from tests.world import Result, World

PATIENCE = 10_000  # ms that a test waits for what must come
WIDE, NARROW = (1280, 800), (360, 740)
PAYLOAD = {"version": "1.4.0", "files": ["a", "b"], "dry": False}
EXPECTED = (
    "Failed to load resource"  # the browser's own line for each answer that is a refusal, or a server that is away
)

expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True, slots=True)
class Screen:
    """A size and a look of the person's system."""

    name: str
    size: tuple[int, int]
    look: Literal["light", "dark"] = "light"

    def __str__(self) -> str:
        return f"{self.name}-{self.look}"


DESK, PHONE = Screen("desk", WIDE), Screen("phone", NARROW)
SCREENS = [Screen(s.name, s.size, look) for s in (DESK, PHONE) for look in ("light", "dark")]


@dataclass
class Window:
    """A page, whose it is, and what its console complained of."""

    page: Page
    url: str
    world: World
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            self.complaints.append(message.text)

    async def open(self, path: str = "") -> None:
        """Go to an address in the space; with the script, until it follows what happens."""
        await self.page.goto(f"{self.url}/s/{self.world.space}/{path}")

    async def follow(self, path: str = "") -> None:
        """Open it and wait until it is live."""
        await self.open(path)
        await self.live()

    async def live(self) -> None:
        await expect(self.page.locator("#live")).to_have_text("Live")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def row(self, ask: Result) -> Locator:
        """The row of an ask or item on the list."""
        return self.page.locator(f"#row-{ask['trail']}")

    @property
    def card(self) -> Locator:
        """The one thing that is open."""
        return self.page.locator("article.one")

    @property
    def status(self) -> Locator:
        """How it stands, or that it waits."""
        return self.page.locator("#decision")


@dataclass(frozen=True, slots=True)
class House:
    """The console of a space, and the browser that opens windows into it."""

    browser: Browser
    world: World
    url: str

    @contextlib.asynccontextmanager
    async def window(
        self, who: str = "ana", screen: Screen = DESK, *, signed_in: bool = True, url: str = "", **more: Any
    ) -> AsyncIterator[Window]:
        """A window of a person; when it closes, its console must have had nothing to complain of."""
        context = await self.browser.new_context(
            viewport={"width": screen.size[0], "height": screen.size[1]}, color_scheme=screen.look, **more
        )
        context.set_default_timeout(PATIENCE)
        if signed_in:
            token = self.world.tokens[f"human:{who}"]
            await context.add_cookies([{"name": COOKIE, "value": token, "url": url or self.url}])
        window = Window(await context.new_page(), url or self.url, self.world)
        try:
            yield window
        finally:
            await context.close()
        assert window.complaints == []

    async def asked(self, who: str = "agent:grok", **more: Any) -> Result:
        """A pending ask."""
        args: dict[str, Any] = {"where": "job:release", "summary": "Publish v1.4.0?", "payload": PAYLOAD} | more
        return await self.world.do(who, "ask", **args)

    async def decided(self, who: str, ask: Result, verdict: str = "approve", **more: Any) -> None:
        """Somebody decides an ask elsewhere than in a window."""
        await self.world.do(f"human:{who}", "decide", trail=ask["trail"], verdict=verdict, digest=ask["digest"], **more)

    async def stands(self, ask: Result) -> Result:
        """How an ask or item stands, as its requester sees it."""
        return await self.world.do("agent:grok", "view", what=ask["trail"])
