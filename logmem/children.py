"""What `up` keeps alive: the API process and the embedded store. What dies is started again, later each time."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from store.engine.client import StoreProblem
from store.engine.tenancy import keep_running
from store.settings import Settings

from .fault import UNREACHABLE, Fault
from .importpath import environment
from .show import say

FIRST_DELAY, LAST_DELAY = 0.1, 10.0  # seconds before a child is started again
STEADY = 30.0  # seconds of life after which a child counts as well again
TRIES = 3  # starts of an API that has never been ready
GRACE = 6.0  # seconds that the API has to end, of which it takes up to 4 for calls in progress
LOG_LIMIT = 5 << 20  # bytes of a child's log; one older piece of that size is kept
LOG_LOOK = 5.0  # seconds between two looks at its length
LAST_WORDS = 5  # lines of a log that are quoted


class Delay:
    """How long to wait before the next start: longer each time, from the beginning after a steady life."""

    def __init__(self) -> None:
        self._next, self._started = FIRST_DELAY, time.monotonic()

    def started(self) -> None:
        self._started = time.monotonic()

    async def wait(self) -> None:
        if time.monotonic() - self._started > STEADY:
            self._next = FIRST_DELAY
        await asyncio.sleep(self._next)
        self._next = min(2 * self._next, LAST_DELAY)


class Api:
    """The API process over a listening socket that outlives it, so that its port stays and calls wait meanwhile.

    `env` is what it inherits, instead of our own environment.
    """

    def __init__(
        self, settings: Settings, listener: socket.socket, log: Path, *, env: Mapping[str, str] | None = None
    ) -> None:
        self._listener, self._log = listener, log
        self._host, self._port = listener.getsockname()[:2]
        self._env = {
            **(environment() if env is None else env),
            "LOGMEM_HOME": str(settings.home),
            "LOGMEM_HOST": settings.host,
            "LOGMEM_PORT": str(self._port),
        }
        for name in ("LOGMEM_REST_TOKEN", "LOGMEM_REST_TOKEN_FILE"):  # an agent's key: none of the server's business
            self._env.pop(name, None)
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = self._ready = False

    async def keep(self) -> None:
        """Run it until `stop`. Fault: it has never come to be ready."""
        delay = Delay()
        for attempt in range(1, sys.maxsize):
            delay.started()
            code = await self._run()
            if self._stopping:
                return
            if not self._ready and attempt >= TRIES:
                raise Fault(f"The API does not start (exit code {code}). {last_words(self._log)}", code=UNREACHABLE)
            say(f"The API ended (exit code {code}): starting it again. Its log: {self._log}")
            await delay.wait()

    async def _run(self) -> int:
        command = [sys.executable, "-I", "-m", "api", "--fd", str(self._listener.fileno()), "--stop-with-stdin"]
        with self._log.open("ab") as log:
            os.fchmod(log.fileno(), 0o600)
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,  # its end tells the child that we are gone, however we went
                stdout=log,
                stderr=log,
                pass_fds=[self._listener.fileno()],
                env=self._env,
                start_new_session=True,  # Ctrl-C on the terminal is for us; we stop it in good order
            )
        if self._stopping:
            self._signal(signal.SIGTERM)
        return await self._process.wait()

    async def ready(self) -> None:
        """Return once /readyz answers 200. It is asked at once: the socket takes the call before the child does."""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if await self._answers():
                    self._ready = True
                    return
            await asyncio.sleep(FIRST_DELAY)

    async def _answers(self) -> bool:
        local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - called, not bound
        reader, writer = await asyncio.open_connection(local, self._port)
        try:
            host = f"[{local}]" if ":" in local else local
            writer.write(f"GET /readyz HTTP/1.1\r\nHost: {host}:{self._port}\r\nConnection: close\r\n\r\n".encode())
            return (await reader.readline()).split()[1:2] == [b"200"]
        finally:
            writer.close()

    async def stop(self) -> None:
        """End it: calls in progress get a few seconds, then it is killed."""
        self._stopping = True
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), GRACE)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._process.wait()

    def _signal(self, sign: signal.Signals) -> None:
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(sign)


async def keep_store(home: Path, *, fsync: str) -> None:
    """Start the embedded store again whenever it dies."""
    delay = Delay()
    while True:
        try:
            server = await asyncio.to_thread(keep_running, home, fsync=fsync)
        except StoreProblem as why:
            say(str(why))
        else:
            if server.started:
                say(f"The store had ended and was started again. What it said last: {home / 'store' / 'server.log.1'}")
            delay.started()
            await ended(server.pid)
        await delay.wait()


async def ended(pid: int) -> None:
    """Return when the process has ended, or if there is none (that we can see)."""
    if not hasattr(os, "pidfd_open"):
        while _lives(pid):  # noqa: ASYNC110 - where the system tells nobody, one has to look
            await asyncio.sleep(FIRST_DELAY)
        return
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def last_words(log: Path) -> str:
    """What a child said last."""
    lines = [each for each in log.read_text(errors="replace").splitlines() if each.strip()][-LAST_WORDS:]
    return "\n".join([f"{log} ends with:", *lines])


async def bound(log: Path) -> None:
    """Keep a log from growing for ever. It is cut in place: the child goes on writing at its end."""
    while True:
        await asyncio.sleep(LOG_LOOK)
        await asyncio.to_thread(cut, log)


def cut(log: Path, limit: int = LOG_LIMIT) -> None:
    """Where a log is longer than `limit` bytes, move that much of its end away and begin anew."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > limit:
            old = log.with_name(log.name + ".1")
            old.touch(mode=0o600)
            with log.open("rb") as file:
                file.seek(-limit, os.SEEK_END)
                old.write_bytes(file.read())
            os.truncate(log, 0)
