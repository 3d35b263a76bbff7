"""A bot's end of a webhook: takes what is pushed, and answers as it is told to."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.telegram.emulator.server import listening

Pushed = tuple[dict[str, Any], str | None]


@dataclass(slots=True)
class Hook:
    """Where it is, what it will answer (200 once these are used up), and what came."""

    url: str
    statuses: deque[int] = field(default_factory=deque)
    came: asyncio.Queue[Pushed] = field(default_factory=asyncio.Queue)

    async def next(self) -> Pushed:
        """The next push: the update, and the secret that came with it."""
        return await asyncio.wait_for(self.came.get(), 20)

    async def take(self, request: Request) -> Response:
        """One push."""
        await self.came.put((await request.json(), request.headers.get("X-Telegram-Bot-Api-Secret-Token")))
        return Response(status_code=self.statuses.popleft() if self.statuses else 200)


@asynccontextmanager
async def hooked() -> AsyncIterator[Hook]:
    """A webhook that listens."""
    listener = listening()
    hook = Hook(f"http://127.0.0.1:{listener.getsockname()[1]}/hook")
    app = Starlette(routes=[Route("/hook", hook.take, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield hook
    finally:
        server.should_exit = server.force_exit = True
        await serving
