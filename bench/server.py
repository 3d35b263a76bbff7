"""Servers for the benchmarks: real processes with one worker each, and a bare endpoint beside the product's own."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import uvicorn
import uvloop

from api.app import create
from store import telemetry
from store.engine.client import Target
from store.engine.embedded import Embedded, ensure
from store.engine.store import open_store
from store.settings import Settings

HOME = "LOGMEM_BENCH_HOME"
BARE_KEY = "lm:{bench}:mail:bare"


async def serve(listener: socket.socket) -> None:
    """Serve the product's application, and `/bare`: an endpoint that does one GET and nothing else."""
    store = open_store(Target.embedded(ensure(Path(os.environ[HOME]))))
    app = create(store, Settings())

    @app.post("/bare")
    async def bare() -> dict[str, str]:
        return {"value": str(await store.reader.get(BARE_KEY))}

    config = uvicorn.Config(
        app, http="httptools", lifespan="on", access_log=False, log_level="warning", timeout_keep_alive=600
    )
    await uvicorn.Server(config).serve(sockets=[listener])
    await store.close()


def main() -> None:
    """Serve on the listening socket with the descriptor that was given."""
    telemetry.configure("warning")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(socket.socket(fileno=int(sys.argv[1]))))


class Running(NamedTuple):
    """A server process."""

    port: int
    pid: int


@contextlib.asynccontextmanager
async def serving(engine: Embedded) -> AsyncIterator[int]:
    """The port of a server process on this engine, for as long as the block lasts."""
    async with running(engine) as server:
        yield server.port


@contextlib.asynccontextmanager
async def running(engine: Embedded, env: Mapping[str, str] | None = None) -> AsyncIterator[Running]:
    """A server process on this engine, with further settings in `env`, for as long as the block lasts."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        port: int = listener.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "ignore", "-m", "bench.server", str(listener.fileno()),
            env={**os.environ, HOME: str(engine.home), **(env or {})}, pass_fds=[listener.fileno()],
        )  # fmt: skip
    try:
        await _ready(port)
        yield Running(port, process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _ready(port: int) -> None:
    """Wait until the server answers; the listening socket queues the request until then."""
    reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 30)
    writer.write(f"GET /livez HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    await asyncio.wait_for(reader.read(), 30)
    writer.close()


if __name__ == "__main__":
    main()
