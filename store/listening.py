"""How every port of ours hears requests: within bounds of size, time and number, which cost us and nobody else."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Bounded"]

HEAD_LIMIT = 64 * 1024  # bytes of a request's line and headers
REQUEST_TIME = 30.0  # seconds for a request to come in whole, and for a new connection to begin one


class Bounded(HttpToolsProtocol):
    """Hangs up on a request whose head is too large or that does not come in whole.

    Where connections are limited (`limit_concurrency`), half as many may wait without a whole request: of more than
    that the one goes that has waited longest, so that nobody keeps others out by saying nothing.
    """

    _in_head, _head, _heads, _since = True, 0, 0, 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library's own
        super().connection_made(transport)
        self._time()
        self._make_room()

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
        self._since = self.loop.time()
        self._timer = self.loop.call_later(REQUEST_TIME, self.transport.close)

    def _done(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _make_room(self) -> None:
        """Close whoever waits longest, if too many do."""
        most = (self.limit_concurrency or 0) // 2
        if not most or len(self.connections) <= most:
            return
        waiting = [each for each in self.connections if isinstance(each, Bounded) and each._waits]
        if len(waiting) > most:
            min(waiting, key=lambda each: each._since).transport.close()

    @property
    def _waits(self) -> bool:
        """Whether there is no whole request in hand, and none is being answered."""
        answered = self.cycle is None or self.cycle.response_complete
        return (self._timer is not None or answered) and not self.transport.is_closing()
