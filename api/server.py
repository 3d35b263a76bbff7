"""The HTTP server. When it is to end, whoever waits for something is answered at once rather than cut off."""

import asyncio
import socket

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from store.engine.store import Store

HEAD_LIMIT = 64 * 1024  # bytes of a request's line and headers
REQUEST_TIME = 30.0  # seconds for a request to come in whole, and for a new connection to begin one


class Bounded(HttpToolsProtocol):
    """Hangs up on a request whose head is too large or that does not come in whole: both cost us and nobody else."""

    _in_head, _head, _heads = True, 0, 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library's own
        super().connection_made(transport)
        self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        heads, in_head = self._heads, self._in_head
        super().data_received(data)
        if in_head and heads == self._heads:  # all of it was head, and there is more to come
            self._head += len(data)
            if self._head > HEAD_LIMIT:
                self.send_400_response("The headers of a request may have 64 KiB.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        self._time()

    def on_headers_complete(self) -> None:
        self._in_head, self._heads = False, self._heads + 1
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._done()
        self._in_head, self._head = True, 0
        super().on_message_complete()

    def _time(self) -> None:
        self._done()
        self._timer = self.loop.call_later(REQUEST_TIME, self.transport.close)

    def _done(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """Serves one application over one store."""

    def __init__(self, config: uvicorn.Config, store: Store) -> None:
        super().__init__(config)
        self.store = store

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams of events are over, those who follow get what stands now, calls in progress get their time.

        The application hears of it only after all its connections have closed, which is too late for that.
        """
        self.store.feed.end()
        await super().shutdown(sockets)
