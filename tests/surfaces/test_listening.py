"""A port of ours hears whoever speaks, however many others have connected and say nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from store import listening
from store.listening import Bounded

PATIENCE = 20.0
MOST = 16  # connections
Talk = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """An app with one answer."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


@asynccontextmanager
async def port() -> AsyncIterator[int]:
    """A port that takes so many connections."""
    config = uvicorn.Config(hello, http=Bounded, lifespan="off", log_config=None, limit_concurrency=MOST)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(lambda: Bounded(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def half(port: int, said: bytes = b"POST / HTTP/1.1\r\nhost: a\r\n") -> Talk:
    """A connection that begins a request and goes no further."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    await writer.drain()
    return reader, writer


async def whole(port: int) -> bytes:
    """The first line of the answer to a whole request."""
    reader, writer = await half(port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    answer = await asyncio.wait_for(reader.readline(), PATIENCE)
    writer.close()
    return answer.strip()


@pytest.mark.parametrize(
    "said", [b"", b"POST / HT", b"POST / HTTP/1.1\r\nhost: a\r\n", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"]
)
async def test_who_says_nothing_keeps_nobody_out(said: bytes) -> None:
    """Of connections without a whole request, idle ones too, the oldest go: a request that comes whole is answered."""
    async with port() as number:
        silent = [await half(number, said) for _ in range(4 * MOST)]
        assert await whole(number) == b"HTTP/1.1 200 OK"
        for reader, _ in silent[: 2 * MOST]:
            assert b"503" not in await asyncio.wait_for(reader.read(), PATIENCE)
        for _, writer in silent:
            writer.close()


async def test_a_request_that_does_not_come_in_whole_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly its head or its body comes: after a time its connection is closed."""
    monkeypatch.setattr(listening, "REQUEST_TIME", 0.1)
    async with port() as number:
        for said in (b"", b"POST / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nx"):
            reader, writer = await half(number, said)
            await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
