"""Whether the scheduler does its work: told at /healthz, for whoever watches it."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import structlog

__all__ = ["Health"]

STILL = 30.0  # seconds without a word with the store, or without a tick while it leads, after which it is not well
SLOWEST = 5.0  # seconds that a request has
REASONS = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}

log = structlog.get_logger(__name__)


class Health:
    """What one process knows of itself, and its answer to those who ask; `port` 0 takes any free one."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self.port = host, port
        self.epoch = 0
        self._spoke = self._ticked = time.monotonic()
        self._why = ""
        self._failed = 0

    def held(self, epoch: int) -> None:
        """The store was asked for the lease, and this is the epoch in which it leads (0: another does)."""
        if epoch != self.epoch:
            self._ticked = time.monotonic()
        self.epoch, self._spoke, self._why = epoch, time.monotonic(), ""

    def lost(self, why: str) -> None:
        """The store did not answer."""
        self._why = why

    def ticked(self, *, failed: int) -> None:
        """A tick has come to its end; so many of its jobs failed."""
        self._ticked, self._failed = time.monotonic(), failed

    def report(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether it is well, and the figures."""
        now = time.monotonic()
        silent, behind = now - self._spoke, now - self._ticked if self.epoch else 0.0
        well = silent <= STILL and behind <= STILL
        status = ("leads" if self.epoch else "waits") if well else "store away" if silent > STILL else "stuck"
        figures = {"status": status, "epoch": self.epoch, "last_tick_s": round(behind, 1), "failed": self._failed}
        return well, figures | ({"why": self._why} if self._why else {})

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Answer for as long as the block lasts."""
        server = await asyncio.start_server(self._answer, self._host, self.port)
        self.port = server.sockets[0].getsockname()[1]
        log.info("health", host=self._host, port=self.port)
        async with server:
            yield

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(SLOWEST):
                request = (await reader.readline()).split()
                while (await reader.readline()).strip():
                    pass
                writer.write(self._reply(request[1] if len(request) > 1 else b""))
                await writer.drain()
        writer.close()

    def _reply(self, path: bytes) -> bytes:
        well, figures = self.report() if path == b"/healthz" else (False, {"status": "not found"})
        status = 404 if path != b"/healthz" else 200 if well else 503
        body = json.dumps(figures).encode()
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\ncontent-type: application/json\r\n"
        return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
