"""The API as a process of its own, over the worker's engine: for what must hold in every process."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from store.engine.embedded import Embedded

PATIENCE = 20.0  # seconds to start, and to end


@dataclass(frozen=True, slots=True)
class Server:
    """A running API process: where it listens, and its process."""

    url: str
    process: "subprocess.Popen[bytes]"


@contextmanager
def serving(engine: Embedded, *, port: int = 0, **settings: str) -> Iterator[Server]:
    """An API process on the engine, ready when the block begins; `settings` are variables without their prefix."""
    given = {"REDIS_URI": f"unix://{engine.socket}", "REDIS_SECRETS": str(engine.home / "secrets"), **settings}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("LOGMEM_")}
    with socket.create_server(("127.0.0.1", port)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "api", "--fd", str(listening.fileno()), "--stop-with-stdin"],
            env={**plain, **{f"LOGMEM_{name}": value for name, value in given.items()}},
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
    try:
        _wait(url, process)
        yield Server(url, process)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        assert process.stdin
        process.stdin.close()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Until it is ready. The socket listens already, so the first request waits for the server itself."""
    answer = httpx.get(f"{url}/readyz", timeout=PATIENCE)
    assert answer.status_code == 200, (answer.text, process.poll())
