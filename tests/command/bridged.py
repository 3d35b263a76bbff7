"""`logmem stdio` as a client starts it: lines in, lines out, answers found by their id."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .admin import operated
from .running import LOGMEM, PATIENCE, Command, environment

VARIABLES = ("LOGMEM_SPACE", "LOGMEM_AGENT", "LOGMEM_REST_URL", "LOGMEM_REST_TOKEN")


def variables(command: Command, url: str, space: str, agent: str = "grok") -> dict[str, str]:
    """The four variables of an agent, with a new key."""
    token = operated(command.home, "mint", space, name=agent)["token"]
    return dict(zip(VARIABLES, (space, agent, url, token), strict=True))


@dataclass
class Bridged:
    """A bridge that runs."""

    process: asyncio.subprocess.Process
    errors: Path
    _answers: dict[str, "asyncio.Future[Any]"] = field(default_factory=dict)
    _next: int = 0
    _reading: "asyncio.Task[None] | None" = None

    def begin(self) -> None:
        """Read what it says."""
        self._reading = asyncio.create_task(self._read())

    async def send(self, *lines: bytes) -> None:
        """Write lines as they are."""
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def ask(self, method: str, **params: Any) -> Any:
        """One request; its result. AssertionError: it was answered by an error."""
        said = await self.answer(*await self.post(method, **params))
        assert "result" in said, said
        return said["result"]

    async def call(self, verb: str, **arguments: Any) -> Any:
        """Call a tool; the whole result."""
        return await self.ask("tools/call", name=f"logmem_{verb}", arguments=arguments)

    async def post(self, method: str, **params: Any) -> tuple[int]:
        """Send a request; its id."""
        self._next += 1
        said = {"jsonrpc": "2.0", "id": self._next, "method": method} | ({"params": params} if params else {})
        await self.send(json.dumps(said).encode())
        return (self._next,)

    async def answer(self, id: object) -> Any:
        """The answer with this id."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.shield(self._waited(id))

    def has(self, id: object) -> bool:
        """Whether an answer with this id has come."""
        return self._waited(id).done()

    def forget(self, id: object) -> None:
        """Let another answer with this id come."""
        assert self._answers.pop(json.dumps(id)).done()

    async def end(self) -> int:
        """Close its stdin and wait for its end; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def stop(self) -> None:
        """End it if it runs, and reading from it."""
        if self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()
        if self._reading:
            await self._reading

    def _waited(self, id: object) -> "asyncio.Future[Any]":
        return self._answers.setdefault(json.dumps(id), asyncio.get_running_loop().create_future())

    async def _read(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            said = json.loads(line)
            waited = self._waited(said["id"])
            assert not waited.done(), f"answered twice: {line!r}"
            waited.set_result(said)


@asynccontextmanager
async def bridge(
    home: Path, env: Mapping[str, str], *options: str, folder: Path | None = None
) -> AsyncIterator[Bridged]:
    """A bridge with these variables, in the era of the handshake once `initialize` was asked."""
    errors = home.with_name("bridge.err")
    with errors.open("a") as log:
        process = await asyncio.create_subprocess_exec(
            LOGMEM,
            "stdio",
            *options,
            env=environment(home, **env),
            cwd=folder or home.parent,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            limit=1 << 24,
        )
    made = Bridged(process, errors)
    made.begin()
    try:
        yield made
    finally:
        await made.stop()
