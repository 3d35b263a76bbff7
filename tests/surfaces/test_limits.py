"""What nobody may take of the server: endless headers, requests that never come in whole, streams without number."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx

from api.events import STREAMS
from store import listening as bounds
from tests.world import World

PATIENCE = 20.0


async def told(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, data: bytes, times: int) -> bytes:
    """What the server says before it hangs up on this."""
    with contextlib.suppress(ConnectionError):
        for _ in range(times):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(ConnectionError):
        return await asyncio.wait_for(reader.read(), PATIENCE)
    return b""


async def test_headers_without_end_are_hung_up_on(server: str) -> None:
    """A request whose head grows past its bound is refused long before it is in memory."""
    host, port = server.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /livez HTTP/1.1\r\nHost: {host}\r\nX-Long: ".encode())
    answer = await told(writer, reader, b"x" * 16_384, 64)
    assert answer[:12] in (b"", b"HTTP/1.1 400")
    writer.close()


async def test_a_request_with_a_large_body_is_not_taken_for_a_large_head(http: httpx.AsyncClient, world: World) -> None:
    """A body of many chunks is read as ever: only the head has that bound."""
    note = {"where": "job:x", "kind": "memo", "summary": "a", "payload": "x" * 30_000}
    for _ in range(3):
        reply = await http.post(
            "/api/tools/note", json=note, headers={"authorization": f"Bearer {world.tokens['agent:grok']}"}
        )
        assert reply.status_code == 200
    assert bounds.HEAD_LIMIT >= 8 * 1024


async def test_who_has_no_key_is_sent_away_before_the_body_is_read(server: str) -> None:
    """A caller without a credential gets the answer although the body never comes."""
    host, port = server.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /api/tools/note HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 1000000\r\n"
    writer.write(f"{head}Authorization: Bearer lmk_0123456789ab_0123\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
    assert answer.startswith(b"HTTP/1.1 401")
    writer.close()


async def test_streams_of_one_credential_have_a_bound(http: httpx.AsyncClient, world: World) -> None:
    """The stream too many is refused; when one ends there is room again."""
    head = {"authorization": f"Bearer {world.tokens['agent:grok']}"}
    lines: list[AsyncIterator[str]] = []
    async with contextlib.AsyncExitStack() as open_:
        for _ in range(STREAMS):
            reply = await open_.enter_async_context(http.stream("GET", "/api/events", headers=head))
            assert reply.status_code == 200
            lines.append(reply.aiter_lines())  # kept: a reader that is thrown away closes its stream
            await anext(lines[-1])
        over = await http.get("/api/events", headers=head)
        assert (over.status_code, over.json()["error"]["code"]) == (429, "rate_limited")

    async def again() -> int:
        async with http.stream("GET", "/api/events", headers=head) as reply:
            return reply.status_code

    for _ in range(int(PATIENCE / 0.05)):
        if await again() == 200:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("there is no room again")
