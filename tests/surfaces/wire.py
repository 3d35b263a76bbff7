"""MCP by hand: one POST in either era, for what no client library would send."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from mcp.shared.inbound import encode_header_value

from tests.world import World

OLD, NEW = "2025-06-18", "2026-07-28"
PREFIX = "io.modelcontextprotocol"
ERAS = pytest.mark.parametrize("era", [OLD, NEW])
WAYS = pytest.mark.parametrize(("era", "minted"), [(OLD, False), (OLD, True), (NEW, False), (NEW, True)])
NOTE: dict[str, Any] = {"where": "job:x", "kind": "memo", "summary": "tick"}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def message(method: str, params: dict[str, Any], *, era: str, client: str = "by-hand") -> dict[str, Any]:
    """A JSON-RPC request in the form of an era."""
    said = dict(params)
    if era == NEW:
        said["_meta"] = {
            f"{PREFIX}/protocolVersion": NEW,
            f"{PREFIX}/clientInfo": {"name": client, "version": "1"},
            f"{PREFIX}/clientCapabilities": {},
            **params.get("_meta", {}),
        }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": said}


def headers(body: dict[str, Any], *, era: str) -> dict[str, str]:
    """The headers that an era wants with a request."""
    if era != NEW:
        return {**ACCEPT, "mcp-protocol-version": era}
    name = body["params"].get("uri" if body["method"] == "resources/read" else "name")
    named = {"mcp-name": encode_header_value(name)} if name else {}
    return {**ACCEPT, "mcp-protocol-version": NEW, "mcp-method": body["method"], **named}


@dataclass(frozen=True)
class Hand:
    """One credential's calls over one client, in one era, by bearer or by minted URL."""

    http: httpx.AsyncClient
    token: str
    era: str = OLD
    minted: bool = False
    query: str = ""

    @property
    def path(self) -> str:
        return (f"/k/{self.token}/mcp" if self.minted else "/mcp") + self.query

    async def post(self, raw: bytes | str, more: dict[str, str]) -> httpx.Response:
        """Send a body as it is."""
        proof = {"authorization": f"Bearer {self.token}"} if self.token and not self.minted else {}
        return await self.http.post(self.path, content=raw, headers={**proof, **more})

    async def ask(self, method: str, more: dict[str, str] | None = None, /, **params: Any) -> httpx.Response:
        """Send a request; `more` are headers."""
        body = message(method, params, era=self.era)
        return await self.post(json.dumps(body), {**headers(body, era=self.era), **(more or {})})

    async def call(self, verb: str, more: dict[str, str] | None = None, /, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call."""
        response = await self.ask("tools/call", more, name=f"logmem_{verb}", arguments=arguments)
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["result"]
        return result

    async def ask_raw(self, verb: str, arguments: str) -> httpx.Response:
        """The answer to a tool call with these arguments, character by character."""
        body = message("tools/call", {"name": f"logmem_{verb}", "arguments": "HERE"}, era=self.era)
        raw = json.dumps(body).replace('"HERE"', arguments)
        return await self.post(raw.encode(errors="surrogatepass"), headers(body, era=self.era))

    async def call_raw(self, verb: str, arguments: str) -> dict[str, Any]:
        """The result of a tool call with these arguments, character by character."""
        response = await self.ask_raw(verb, arguments)
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["result"]
        return result


def code(result: dict[str, Any]) -> str:
    """The code of a refusal, which stands at the head of its one text and in its structure alike."""
    assert result["isError"] is True
    (block,) = result["content"]
    error = result["structuredContent"]["error"]
    assert result["structuredContent"]["ok"] is False
    assert block["text"] == f"{error['code']}: {error['message']}"
    found: str = error["code"]
    return found


def said(result: dict[str, Any]) -> str:
    """The text of a result that is none of a refusal."""
    assert not result.get("isError"), result
    (block,) = result["content"]
    found: str = block["text"]
    return found


def hand(http: httpx.AsyncClient, world: World, who: str = "agent:grok", **how: Any) -> Hand:
    """The hand of a principal, grok's if no other."""
    return Hand(http, world.tokens[who], **how)


def told(response: httpx.Response, status: int) -> Any:
    """The JSON-RPC error of an answer with this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["jsonrpc"] == "2.0"
    return body["error"]
