"""The emulator as an application, and as a server on a loopback port."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tests.telegram.emulator.botapi import CUT, BotApi
from tests.telegram.emulator.control import routes
from tests.telegram.emulator.deliveries import push_to_webhook
from tests.telegram.emulator.state import State

PAGE = Path(__file__).with_name("page")


class CuttingProtocol(HttpToolsProtocol):
    """HTTP whose application can end the connection in the middle of a call."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast("dict[str, object]", self.scope)[CUT] = self.transport.abort


def application(state: State) -> Starlette:
    """The Bot API under `/bot<token>/`, the control under `/_/`, the page at `/`."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        pushing = asyncio.create_task(push_to_webhook(state))
        yield
        pushing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pushing

    async def page(_: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def not_found(_: Request, raised: Exception) -> Response:
        status = raised.status_code if isinstance(raised, HTTPException) else 404
        words = raised.detail if isinstance(raised, HTTPException) else "Not Found"
        return JSONResponse({"ok": False, "error_code": status, "description": words}, status_code=status)

    bot_api = BotApi(state)
    app = Starlette(
        routes=[
            Route("/bot{token}/{method}", bot_api),
            Route("/", page),
            *routes(state),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        exception_handlers={HTTPException: not_found},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def listening(port: int = 0) -> socket.socket:
    """A loopback socket that listens already, so that nobody has to wait for the server."""
    # The protocol is named since asyncio switches Nagle's delays off only where it is.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(512)
    return listener


class Server(uvicorn.Server):
    """uvicorn without its pauses of a tenth of a second: it ends at once, and with it all that waits."""

    def __init__(self, state: State) -> None:
        super().__init__(
            uvicorn.Config(
                application(state), http=CuttingProtocol, ws="none", log_level="warning", access_log=False,
                date_header=False, lifespan="on", timeout_keep_alive=75,
            )
        )  # fmt: skip
        self._state = state
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        if not await self.on_tick(0):
            await self._ending.wait()
        self._state.close()

    def end(self) -> None:
        """End; from any thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ending.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.end()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self.servers:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if self.server_state.tasks:  # what hung is let go, and has its answer in a moment
            await asyncio.wait(list(self.server_state.tasks), timeout=2)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await self.lifespan.shutdown()
