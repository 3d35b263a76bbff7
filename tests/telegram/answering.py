"""A server that answers everything the same way, or does not: what stands where the bot asks, and is not what it is."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answering:
    """`url` is where it is; `requests` are those that came in whole."""

    url: str = ""
    requests: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def answering(
    answer: bytes | None, *, then_end: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Answering]:
    """`answer` is what is written for each request, None for nothing; `then_end`: then it hangs up."""
    made = Answering()
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                made.requests.append(head + await reader.readexactly(int(length.split(b":")[1])))
                if answer is not None:
                    writer.write(answer)
                if then_end:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    made.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()


def spelled(status: int, body: Any, headers: Mapping[str, str] | None = None) -> bytes:
    """An answer of HTTP: text as HTML, everything else as JSON."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    head = {"Content-Type": kind, "Content-Length": str(len(raw)), **(headers or {})}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in head.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw
