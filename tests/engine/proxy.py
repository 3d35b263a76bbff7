"""A way to the engine that can lose a reply, over TCP or TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Proxy:
    """Hands bytes to the engine and back; with `lose`, the next request arrives and its reply does not."""

    socket: Path
    port: int = 0
    lose: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, both ways, until either side ends it."""
        back, forth = await asyncio.open_unix_connection(self.socket)
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        answers = asyncio.create_task(self.hand_back(back, writer))
        try:
            while request := await reader.read(65536):
                forth.write(request)
        except ConnectionError:
            pass
        finally:
            forth.close()
            writer.close()
            answers.cancel()
            await asyncio.wait([answers])
            self.tasks.discard(task)

    async def hand_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Replies, until one is to be lost: then the connection breaks instead, once."""
        while (reply := await reader.read(65536)) and not self.lose:
            writer.write(reply)
        self.lose = False
        writer.close()


@asynccontextmanager
async def proxy(socket: Path, tls: ssl.SSLContext | None = None) -> AsyncIterator[Proxy]:
    """A proxy before the engine, on a free port of this machine."""
    way = Proxy(socket)
    server = await asyncio.start_server(way.serve, "127.0.0.1", 0, ssl=tls)
    way.port = server.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        server.close()
        for task in way.tasks:
            task.cancel()
        await asyncio.gather(*way.tasks, return_exceptions=True)
