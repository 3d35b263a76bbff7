"""What a real API process writes into its log, and how it says that its store is away."""

import asyncio
import json
from pathlib import Path

import httpx

from store.engine.client import Target, open_client
from tests.chaos.api import served
from tests.own_engine import own_engine
from tests.surfaces.wire import Hand, code
from tests.world import World, found, opened

PATIENCE = 30.0  # seconds


async def raw(port: int, request: bytes) -> bytes:
    """The answer to bytes that no client library would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read(65536)
    writer.close()
    await writer.wait_closed()
    return answer


async def test_no_secret_reaches_the_log(world: World, tmp_path: Path) -> None:
    """Neither keys in URLs nor bearers, sessions or one-time links, whatever fails and however a request is mangled."""
    token, session = world.tokens["agent:grok"], world.tokens["human:ana"]
    secrets = {token.rpartition("_")[2], session.rpartition("_")[2], "odd-Secret-Shape", "one-time-Link"}
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Publish?")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        await admin.hset(world.keys.doc("ask", ask["trail"]), "doc", b"\xff{")
    async with served(world, tmp_path) as (api,), httpx.AsyncClient(base_url=api.url, timeout=PATIENCE) as http:
        by_url = Hand(http, token, minted=True)
        assert code(await by_url.call("view", what=ask["trail"])) == "unconfirmed"
        await http.post("/api/tools/view", json={"what": ask["trail"]}, headers={"authorization": f"Bearer {token}"})
        for path in (f"/k/{token}/mcp", f"/k/{token}", f"/k/{token}/mcp/more", f"/K/{token}/mcp", f"//k/{token}/mcp"):
            await http.get(path, params={"key": token})
            await http.post(path, content="{", headers={"content-type": "application/json"})
        for path in ("/k/odd-Secret-Shape/mcp", "/k/odd-Secret-Shape/x", "/sign-in/one-time-Link", f"/{session}"):
            await http.post(path, json={}, headers={"cookie": f"logmem_session={session}"})
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
        )
        await raw(api.port, f"GET /k/{token}/mcp HTTP/1.1\r\nHost: localhost\r\n{upgrade}\r\n".encode())
        await raw(api.port, f"GET /k/{token}/mcp HTTP/9.9\r\n{token}\r\n\r\n".encode())
    log = (tmp_path / "api0.log").read_text()
    assert "tool_failed" in log
    assert "/k/…/mcp" in {json.loads(line).get("path") for line in log.splitlines()}
    assert [secret for secret in secrets if secret in log] == []


async def test_readiness_follows_the_store(tmp_path: Path) -> None:
    """With the store gone the process answers that it is not ready, and refuses calls saying when to retry."""
    with own_engine(tmp_path) as engine:
        store = opened(engine.embedded)
        world = await found(engine.embedded, store)
        token = await world.agent("grok")
        async with (
            served(world, tmp_path) as (api,),
            httpx.AsyncClient(base_url=api.url, timeout=PATIENCE) as http,
        ):
            grok = Hand(http, token)
            assert (await http.get("/readyz")).status_code == 200
            engine.end()
            away = await http.get("/readyz")
            assert (away.status_code, away.json()["error"]["code"]) == (503, "store_unavailable")
            assert away.headers["retry-after"]
            assert (await http.get("/livez")).status_code == 200
            assert code(await grok.call("note", where="job:x", kind="memo", summary="x")) == "store_unavailable"
            listed = await grok.ask("tools/list")
            assert (listed.status_code, listed.json()["error"]["data"]["code"]) == (503, "store_unavailable")
            engine.start()
            assert (await http.get("/readyz")).status_code == 200
            result = await grok.call("note", where="job:x", kind="memo", summary="x")
            assert result["structuredContent"]["ok"]
        await store.close()
