"""A way to the server that can lose an answer (the request is done, and the connection breaks), or say it is away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

PIECE = 1 << 20


@dataclass
class Way:
    """Hands bytes on, both ways, but for requests that hold `match`.

    The next `away` of them are answered as a proxy does whose server is away; of the next `lose` the answer is lost;
    while `hold` is set, no answer comes.
    """

    port: int
    url: str = ""
    match: bytes = b"\0"
    away: int = 0
    lose: int = 0
    lost: int = 0
    hold: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)  # a request that holds `match` was handed on
    held: asyncio.Event = field(default_factory=asyncio.Event)  # the server has answered, and the answer is held back
    left: asyncio.Event = field(default_factory=asyncio.Event)  # a client has closed a connection
    _holding: set[asyncio.StreamWriter] = field(default_factory=set)
    _links: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it."""
        task = asyncio.current_task()
        assert task
        self._links.add(task)
        with suppress(ConnectionError, asyncio.CancelledError):
            back, forth = await asyncio.open_connection("127.0.0.1", self.port, limit=PIECE)
            losing = asyncio.Event()
            answers = asyncio.create_task(self._hand_back(back, writer, losing))
            try:
                while request := await reader.read(PIECE):
                    if self.match in request:
                        if self.away:
                            self.away -= 1
                            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                            break  # the head of the request may have been handed on already
                        if self.lost < self.lose:
                            self.lost += 1
                            losing.set()
                        self._holding |= {writer} if self.hold else set()
                        self.asked.set()
                    forth.write(request)
                self.left.set()
            finally:
                forth.close()
                answers.cancel()
        writer.close()
        self._links.discard(task)

    async def end(self) -> None:
        """End all connections."""
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _hand_back(self, back: asyncio.StreamReader, writer: asyncio.StreamWriter, losing: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while (reply := await back.read(PIECE)) and not losing.is_set():
                if writer in self._holding:
                    self.held.set()
                else:
                    writer.write(reply)
        writer.close()


@asynccontextmanager
async def way_to(port: int) -> AsyncIterator[Way]:
    """A way to the server that listens on this port."""
    way = Way(port)
    server = await asyncio.start_server(way.serve, "127.0.0.1", 0, limit=PIECE)
    way.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield way
    finally:
        server.close()
        await way.end()
