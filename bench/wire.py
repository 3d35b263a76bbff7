"""Rows 1 and 2: a tool call with one read over HTTP against a bare endpoint with the same GET."""

import asyncio
import json
from typing import Any

from bench.measure import Row, p50, p50_ratio, rate, rate_ratio, rounds
from bench.server import BARE_KEY, serving
from bench.store import fleet
from store.engine.embedded import Embedded

OLD, NEW = "2025-06-18", "2026-07-28"
TOOL = "logmem_connection"


class Wire:
    """Keep-alive connections that send one request over and over, with as little of a client as can be."""

    def __init__(self, port: int, raw: bytes) -> None:
        self.port, self.raw = port, raw
        self.free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __call__(self) -> bytes:
        """One exchange; raises for any answer but a good one."""
        reader, writer = self.free.pop() if self.free else await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self.raw)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        if b" 200 " not in head[:20] or b'"isError":true' in body:
            raise RuntimeError(f"{head[:200]!r} {body[:500]!r}")
        self.free.append((reader, writer))
        return body

    def close(self) -> None:
        """Close the connections."""
        for _, writer in self.free:
            writer.close()


def request(port: int, path: str, body: Any, **headers: str) -> bytes:
    """A POST as bytes; header names with `_` for `-`."""
    raw = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json"]
    lines += ["Accept: application/json, text/event-stream", f"Content-Length: {len(raw)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + raw


def tool_call(era: str, name: str = TOOL, **arguments: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Body and headers of one tools/call in an era of the protocol; of the smallest tool unless named."""
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    head = {"MCP_Protocol_Version": era}
    if era == NEW:
        client = {"name": "bench", "version": "1"}
        meta = {"protocolVersion": era, "clientInfo": client, "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}
        head |= {"Mcp_Method": "tools/call", "Mcp_Name": name}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, head


async def calls(engine: Embedded, *, quick: bool) -> list[Row]:
    """Latency at 1 connection and throughput at 16, in both eras."""
    world = await fleet(engine)
    await world.store.writer.set(BARE_KEY, "v" * 100)
    auth = {"Authorization": f"Bearer {world.tokens['agent:a0']}"}
    rows = []
    async with serving(engine) as port:
        wires = {"bare": Wire(port, request(port, "/bare", {}, **auth))}
        for name, era in (("2025", OLD), ("2026", NEW)):
            body, head = tool_call(era)
            wires[name] = Wire(port, request(port, "/mcp", body, **auth, **head))
        count = 3 if quick else 9
        one = await rounds(wires, count=count, calls=100 if quick else 400)
        many = await rounds(wires, count=count, calls=320 if quick else 960, width=16)
        for name, latency, throughput in (("2025", 1.8, 0.4), ("2026", 2.1, 0.33)):
            raw = f"{p50(one[name]):.0f} / {p50(one['bare']):.0f} µs"
            rows.append(
                Row(f"tool call / bare GET, {name} era, p50 at 1", p50_ratio(one[name], one["bare"]), latency, raw)
            )
            raw = f"{rate(many[name]):.0f} / {rate(many['bare']):.0f} per s"
            what, ratio = f"the same, {name} era, throughput at 16", rate_ratio(many[name], many["bare"])
            rows.append(Row(what, ratio, throughput, raw, at_least=True))
        for wire in wires.values():
            wire.close()
    await world.store.close()
    return rows
