"""The clients' configuration files, and what stands in them."""

import json
import tomllib
from pathlib import Path
from typing import Any

from .admin import operated
from .running import Command

FILES = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
ROOTS = {"claude-code": "mcpServers", "codex": "mcp_servers", "cursor": "mcpServers", "vscode": "servers"}


def file_of(person: Command, client: str) -> Path:
    """The client's own file."""
    return Path(person.env["HOME"]) / FILES[client]


def laid(person: Command, client: str, text: str) -> Path:
    """The client's file with this text."""
    file = file_of(person, client)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def entry(client: str, file: Path) -> dict[str, Any]:
    """Our entry, from a file without comments."""
    text = file.read_text()
    said = tomllib.loads(text) if client == "codex" else json.loads(text)
    found: dict[str, Any] = said[ROOTS[client]]["logmem"]
    return found


def token_in(found: dict[str, Any]) -> str:
    """The key that an entry holds."""
    if "command" in found:
        return str(found["env"]["LOGMEM_REST_TOKEN"])
    headers = found.get("headers") or found["http_headers"]
    return str(headers["Authorization"].removeprefix("Bearer "))


def live_keys(person: Command, space: str) -> list[str]:
    """The agents that have a key now, one for each key."""
    keys = operated(person.home, "keys", space)["keys"]
    return sorted(key["name"] for key in keys if key["state"] == "live")
