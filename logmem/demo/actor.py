"""An agent's process as the stage sees it: started, told what to call, ended."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any

from ..fault import Fault
from ..importpath import environment

LONGEST = 1 << 20  # bytes of a line between us, in either direction
LOCAL = "127.0.0.1,localhost,::1"  # reached by no proxy
GRACE = 5.0  # seconds for a client to end when its input has
ANSWER = 75.0  # seconds for an answer, of which a call may wait 50


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answered: whether it refused and by which code, its text, its structure."""

    refused: str
    text: str
    result: Mapping[str, Any]


class Actor:
    """One agent; `tools` is how many it was shown, `protocol` the revision that it speaks."""

    def __init__(self, id: str, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self.id, self._process, self._errors = id, process, errors
        self.tools, self.protocol = 0, ""

    async def connect(self, *, url: str, token: str, version: str) -> None:
        """Have it connect. Fault: it cannot."""
        ready = await self._exchange({"url": url, "token": token, "client": self.id, "version": version})
        self.tools, self.protocol = ready["tools"], ready["ready"]

    async def call(self, verb: str, args: Mapping[str, Any]) -> Reply:
        """Have it call a tool. Fault: its process has ended or does not answer; a refusal is none."""
        said = await self._exchange({"tool": f"logmem_{verb}", "args": args})
        code = said["text"].partition(":")[0] if said["refused"] else ""
        return Reply(code, said["text"], said["result"])

    async def _exchange(self, line: Mapping[str, Any]) -> Any:
        reads, writes = self._process.stdout, self._process.stdin
        if not (reads and writes):
            raise Fault(f"agent:{self.id} has no pipes.")
        try:
            writes.write(json.dumps(line).encode() + b"\n")
            await writes.drain()
            async with asyncio.timeout(ANSWER):
                said = await reads.readline()
        except TimeoutError:
            raise Fault(f"agent:{self.id} had no answer for {ANSWER:.0f} s.") from None
        except OSError:  # it has ended
            said = b""
        if not said:
            await self._process.wait()
            raise Fault(f"The process of agent:{self.id} ended (exit code {self._process.returncode}). {self._last()}")
        return json.loads(said)

    def _last(self) -> str:
        """What it said last on stderr."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def end(self) -> None:
        """End it: by the end of its input, or else by a signal."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(GRACE):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def actor(id: str) -> AsyncIterator[Actor]:
    """A process for an agent, not connected yet; ended with the block."""
    env = {name: value for name, value in environment().items() if not name.startswith("LOGMEM_")}
    env |= {name: f"{env[name]},{LOCAL}" if env.get(name) else LOCAL for name in ("no_proxy", "NO_PROXY")}
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "logmem.demo.cast"),
            stdin=asyncio.subprocess.PIPE,  # its end tells the child that we are gone, however we went
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=env,
            cwd=os.sep,
            limit=LONGEST,
            start_new_session=True,  # Ctrl-C on the terminal is for us; we end it in good order
        )
        made = Actor(id, process, errors)
        try:
            yield made
        finally:
            await made.end()
