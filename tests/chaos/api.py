"""API processes as `logmem` starts them, and callers who speak HTTP to them."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from store.domain.errors import STATUS, Refused
from tests.world import Result, World

PATIENCE = 60.0  # seconds to start, or for one answer
CALLERS = 64
LIMITS = httpx.Limits(max_connections=CALLERS, max_keepalive_connections=CALLERS)
DECISIONS = {"decide": "/api/decide", "ask_back": "/api/ask-back", "take_back": "/api/take-back"}


class Lost(Exception):
    """No answer came: what was asked may or may not have been done."""


@dataclass
class Api:
    """One API process over a store, on a port of its own."""

    socket: Path  # the engine's, or that of a proxy before it
    secrets: Path  # folder of the passwords of the engine's users
    log: Path
    port: int = 0
    env: Mapping[str, str] = field(default_factory=dict)  # further settings
    process: subprocess.Popen[bytes] | None = None
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=PATIENCE, limits=LIMITS))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start the process, again on the same port if it had one; returns when it is ready."""
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen(512)
            self.port = listener.getsockname()[1]
            self.process = self._spawn(listener.fileno())
        async with asyncio.timeout(PATIENCE):
            while not await self._ready():
                assert self.process.poll() is None, self.log.read_text()[-2000:]
                await asyncio.sleep(0.02)

    def _spawn(self, listener: int) -> subprocess.Popen[bytes]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOGMEM_")}
        env = kept | {"LOGMEM_REDIS_URI": f"unix://{self.socket}", "LOGMEM_REDIS_SECRETS": str(self.secrets)}
        command = [sys.executable, "-I", "-m", "api", "--fd", str(listener)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, env=env | dict(self.env), pass_fds=[listener], stdout=log, stderr=log)

    async def _ready(self) -> bool:
        try:
            return (await self.client.get(f"{self.url}/readyz", timeout=2)).status_code == 200
        except httpx.HTTPError:
            return False

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process, and wait until it is gone."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    async def do(self, token: str, verb: str, *, action_id: str = "", space: str = "", **args: Any) -> Result:
        """A call with this credential. Raises Refused as the process does, and Lost when it does not answer."""
        headers = {"Idempotency-Key": action_id} if action_id else {}
        if space:
            headers["X-LogMem-Space"] = space
        if token.startswith("lms_"):
            headers |= {"Cookie": f"logmem_session={token}", "Origin": self.url, "X-LogMem-CSRF": "1"}
        else:
            headers["Authorization"] = f"Bearer {token}"
        path = DECISIONS.get(verb, f"/api/tools/{verb}")
        try:
            answer = await self.client.post(f"{self.url}{path}", json=args, headers=headers)
        except httpx.TransportError as lost:
            raise Lost(str(lost)) from None
        body: Result = answer.json()
        if answer.status_code == 200:
            return body
        said = dict(body["error"])
        code, message = said.pop("code"), said.pop("message")
        assert answer.status_code == STATUS.get(code), (answer.status_code, body)
        raise Refused(code, message, **said)


@asynccontextmanager
async def served(
    world: World, folder: Path, *, processes: int = 1, socket: Path | None = None, env: Mapping[str, str] | None = None
) -> AsyncIterator[list[Api]]:
    """API processes over the store of a world, their logs in `folder`; ended with the block."""
    where, secrets = socket or world.engine.socket, world.engine.home / "secrets"
    apis = [Api(where, secrets, folder / f"api{n}.log", env=env or {}) for n in range(processes)]
    try:
        await asyncio.gather(*(api.start() for api in apis))
        yield apis
    finally:
        for api in apis:
            api.end(signal.SIGKILL)
            await api.client.aclose()


async def outcome(call: Any) -> Result | Refused | Lost:
    """How a call ended, whichever way."""
    try:
        result: Result = await call
    except (Refused, Lost) as no:
        return no
    return result
