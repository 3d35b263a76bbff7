"""What each client's configuration looks like: where its file is, and how an entry of it says what we say.

A row in CLIENTS is a client whose file `connect` writes; STEPS are those that people set up by hand.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import jsontext, tomltext
from .jsontext import Odd

NAME = "logmem"  # of our entry
RULE = "mcp__logmem"  # allows all our tools in Claude Code
HELD = ("LOGMEM_SPACE", "LOGMEM_AGENT", "LOGMEM_REST_URL", "LOGMEM_REST_TOKEN")

Entry = dict[str, Any]
Transport = Literal["http", "stdio"]


@dataclass(frozen=True, slots=True)
class Link:
    """What an entry says, whichever client it is of."""

    transport: Transport
    url: str
    agent: str
    space: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request over HTTP; the server compares space and agent with the key."""
        return {
            "Authorization": f"Bearer {self.token}",
            "X-LogMem-Space": self.space,
            "X-LogMem-Agent": self.agent,
        }

    @property
    def env(self) -> dict[str, str]:
        """The variables of `logmem stdio`."""
        return dict(zip(HELD, (self.space, self.agent, self.url, self.token), strict=True))


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its file for each scope, the form of that, and the names that it has for what an entry says."""

    name: str
    label: str
    user: Callable[[], Path]
    project: str | None
    form: Literal["json", "json with comments", "toml"]
    root: str
    headers: str = "headers"
    typed: bool = True  # an entry says its transport in a member `type`
    extra: Mapping[str, Any] | None = None  # of a new entry, beside what connects it
    prefers: Transport = "http"
    after: str = ""
    asks: str = ""  # what it asks of whoever works in a project with such a file

    @property
    def path(self) -> tuple[str, str]:
        return self.root, NAME

    def parse(self, text: str) -> dict[str, Any]:
        """What the file says. Odd: it cannot be read."""
        if self.form == "toml":
            return tomltext.parse(text)
        return jsontext.parse(text, comments=self._comments)

    def found(self, text: str) -> Entry | None:
        """Our entry in the file. Odd: it cannot be read."""
        held = self.parse(text).get(self.root, {})
        if not isinstance(held, dict):
            raise Odd(f"{self.root} in it is none of the client's forms")
        entry = held.get(NAME)
        return entry if isinstance(entry, dict) else None

    def put(self, text: str, entry: Entry) -> str:
        """The file with this entry. Odd: it cannot be edited."""
        if self.form == "toml":
            return tomltext.put(text, self.path, entry)
        return jsontext.put(text, self.path, entry, comments=self._comments)

    def drop(self, text: str) -> str:
        """The file without our entry. Odd: it cannot be edited."""
        if self.form == "toml":
            return tomltext.drop(text, self.path)
        return jsontext.drop(text, self.path, comments=self._comments)

    def entry(self, link: Link, command: list[str], *, old: Entry | None = None) -> Entry:
        """The entry for a link; what somebody has added to an old one, such as time limits, stays."""
        old = old or dict(self.extra or {})
        theirs = {k: v for k, v in old.items() if k not in {"type", "url", "command", "args", "env", *_HEADERS}}
        if link.transport == "http":
            new: Entry = {"type": "http", "url": f"{link.url}/mcp", self.headers: link.headers}
        else:
            env = {k: v for k, v in _texts(old.get("env")).items() if k not in HELD}
            new = {"type": "stdio", "command": command[0], "args": [*command[1:], "stdio"], "env": env | link.env}
        if not self.typed:
            del new["type"]
        return new | theirs

    def link(self, entry: Entry) -> Link:
        """What an entry says; '' for what it does not."""
        headers, env = _texts(entry.get(self.headers)), _texts(entry.get("env"))
        if "command" in entry:
            space, agent, url, token = (env.get(name, "") for name in HELD)
            return Link("stdio", url, agent, space, token)
        url, bearer = str(entry.get("url", "")), headers.get("Authorization", "")
        url, _, key = url.removesuffix("/").removesuffix("/mcp").partition("/k/")
        token = key or bearer.removeprefix("Bearer ")
        return Link("http", url, headers.get("X-LogMem-Agent", ""), headers.get("X-LogMem-Space", ""), token)

    def shown(self, entry: Entry) -> str:
        """The entry as it would stand in a file of its own, to be pasted."""
        return self.put("", entry).rstrip("\n")

    @property
    def _comments(self) -> bool:
        return self.form == "json with comments"


_HEADERS = ("headers", "http_headers", "env_http_headers", "bearer_token_env_var", "http_headers_helper")


def _texts(value: object) -> dict[str, str]:
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}


def claude_folder() -> Path:
    """Where Claude Code keeps the settings of a user."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def _claude() -> Path:
    own = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(own) if own else Path.home()) / ".claude.json"


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _cursor() -> Path:
    return Path.home() / ".cursor" / "mcp.json"


def _vscode() -> Path:
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "Code" / "User" / "mcp.json"


CLIENTS: Mapping[str, Client] = {
    each.name: each
    for each in (
        Client(
            "claude-code",
            "Claude Code",
            _claude,
            ".mcp.json",
            "json",
            "mcpServers",
            extra={"alwaysLoad": True},
            after="Start a new session of Claude Code; `claude mcp list` shows it.",
            asks="There it asks once whether to use the server of this folder: say yes.",
        ),
        Client(
            "codex",
            "Codex",
            _codex,
            None,
            "toml",
            "mcp_servers",
            headers="http_headers",
            typed=False,
            # As Claude Code's allow rules: `codex exec`, which cannot ask anybody, refuses tools that write otherwise.
            extra={"default_tools_approval_mode": "approve"},
            after="Start a new session of Codex; /mcp in it shows logmem: connected.",
        ),
        Client(
            "cursor",
            "Cursor",
            _cursor,
            ".cursor/mcp.json",
            "json with comments",
            "mcpServers",
            typed=False,
            # It ignores headers of ours where a server offers a way to sign in.
            prefers="stdio",
            after="Switch it on in Cursor under Settings, MCP.",
        ),
        Client(
            "vscode",
            "VS Code",
            _vscode,
            ".vscode/mcp.json",
            "json with comments",
            "servers",
            after="In VS Code run the command MCP: List Servers, and start logmem there.",
        ),
    )
}

_WAIT = (
    "{label} reaches a server from the internet only, and is to sign in with OAuth. This version of LogMem has no "
    "sign-in for agents yet, so {label} cannot be connected as it should be.",
    "What works today, for a trial: serve LogMem under https with LOGMEM_PUBLIC_URL, and make a key of few days: "
    "logmem mint {agent} --days 2",
    "{where}, with the MCP URL that mint printed{how}.",
    "That URL is the key: whoever sees it in {label}'s settings can act as agent:{agent}. End it after the trial: "
    "logmem revoke {agent}",
)
STEPS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {  # label, usual agent, what to do
    name: (label, name, tuple(each.format(label=label, agent=name, where=where, how=how) for each in _WAIT))
    for name, label, where, how in (
        ("claude-ai", "Claude.ai", "In Claude.ai open Settings, Connectors, Add custom connector", ""),
        (
            "chatgpt",
            "ChatGPT",
            "In ChatGPT switch developer mode on (Settings, Apps & Connectors, Advanced) and create a connector",
            ", and authentication: none",
        ),
    )
}
