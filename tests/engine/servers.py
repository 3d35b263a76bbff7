"""Plain servers for what the embedded engine must never be: without our users, or with bad settings."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.engine import binary


def needed(name: str, why: str) -> Path:
    """A program of the system; where it is absent the test is skipped, on CI it fails."""
    found = shutil.which(name)
    if found:
        return Path(found)
    reason = f"{name} is not installed: {why}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def bundled() -> Path:
    """The server program that the embedded engine takes by itself."""
    return binary.find().path


def oldest() -> Path:
    """The oldest kind of server that LogMem supports, where the system has one."""
    return needed("redis-server", "the users and the engine are tried on Redis 7 too")


def connect(socket: Path, user: str | None = None, password: str | None = None) -> redis.Redis:
    """A plain client; one command, one try."""
    return redis.Redis(
        unix_socket_path=str(socket),
        username=user,
        password=password,
        retry=Retry(NoBackoff(), 0),
        driver_info=None,
        decode_responses=True,
        socket_timeout=10,
    )


def ask(client: redis.Redis, *words: str) -> Any:
    """The server's own reply to a command."""
    execute: Callable[..., Any] = client.execute_command  # untyped in the library
    return execute(*words)


@contextmanager
def plain(program: Path, folder: Path, options: Sequence[str] = ()) -> Iterator[Path]:
    """A server of its own with these options; its socket, once it answers. Ends with the block."""
    socket = folder / "plain.sock"
    fixed = ["--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""]
    server = subprocess.Popen([str(program), *fixed, *options], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        with connect(socket) as client:
            while not _answers(client):
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.005)
        yield socket
    finally:
        server.terminate()
        server.wait(20)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
