"""`logmem connect`: each client's file, fresh or full, broken or locked; and what was written is what connects."""

import json
import os
import stat
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from logmem.configs import CLIENTS, Link

from .configured import FILES, ROOTS, entry, file_of, laid, live_keys, token_in
from .running import LOGMEM, Command, Up

EVERY = pytest.mark.parametrize("client", FILES)

JSON_BEFORE = '{\n  "numStartups": 7,\n  "mcpServers": {\n    "other": {"command": "x", "env": {"K": "v"}}\n  }\n}\n'
COMMENTS_BEFORE = '{\n\t// mine\n\t"%s": {\n\t\t"other": { "command": "x" }, // why\n\t},\n}\n'
TOML_BEFORE = '# mine\nmodel = "o3" # why\n\n[mcp_servers.other]\ncommand = "x"\n\n# the end\n'
BEFORE = {
    "claude-code": JSON_BEFORE,
    "codex": TOML_BEFORE,
    "cursor": COMMENTS_BEFORE % "mcpServers",
    "vscode": COMMENTS_BEFORE % "servers",
}
MALFORMED = {"claude-code": '{"mcpServers": {', "codex": "[mcp_servers", "cursor": "[]", "vscode": '{"servers": 1}'}


@EVERY
def test_a_fresh_file(person: Command, server: Up, space: str, client: str) -> None:
    """The file is made, for its owner only; start is called through it; a second time changes nothing."""
    told = person.run("connect", client, "--space", space, "--transport", "http")
    assert (told.code, told.err) == (0, "")
    file = file_of(person, client)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found, text = entry(client, file), file.read_text()
    assert found["url"] == f"{server.url}/mcp"
    assert f"is connected: agent:{client} in space {space}." in told.out
    assert f"agent:{client} in {space} (simulated), shift 1 begun" in told.out
    again = person.json("connect", client)
    assert (again["agent"], again["space"], again["via"]) == (f"agent:{client}", space, "token")
    assert (again["transport"], again["changed"], again["key_is"]) == ("http", False, "kept")
    assert again["tools"] > 10
    assert again["brief"][0].startswith(f"agent:{client} in {space} (simulated), shift 1 resumed")
    assert token_in(found) not in json.dumps(again) + told.out
    assert file.read_text() == text
    bridged = person.json("connect", client, "--transport", "stdio")
    assert (bridged["transport"], bridged["changed"], bridged["key_is"]) == ("stdio", True, "kept")
    assert bridged["brief"][0] == again["brief"][0]
    started = entry(client, file)
    assert (started["command"], started["args"]) == (str(LOGMEM), ["stdio"])
    assert started["env"] == {
        "LOGMEM_SPACE": space,
        "LOGMEM_AGENT": client,
        "LOGMEM_REST_URL": server.url,
        "LOGMEM_REST_TOKEN": token_in(found),
    }
    assert live_keys(person, space) == [client]


@EVERY
def test_a_file_that_is_in_use(person: Command, space: str, client: str) -> None:
    """What else stands in the file stays, with its comments; what it was is kept; ours goes again without a trace."""
    before = BEFORE[client]
    file = laid(person, client, before)
    file.chmod(0o644)
    made = person.json("connect", client, "--space", space)
    backup = Path(made["backup"])
    assert backup.read_text() == before
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o600
    after = file.read_text()
    left = iter(after.splitlines())
    for line in before.splitlines():  # each line stands there still, in this order
        assert any(line.rstrip(",") == each.rstrip(",") for each in left), line
    assert "logmem" in after
    gone = person.json("connect", client, "--remove")
    assert (gone["changed"], gone["key"]) == (True, made["key"])
    now = file.read_text()
    if client in ("claude-code", "codex"):
        assert now == before
    else:
        assert "logmem" not in now
        assert "// mine" in now
        assert '"other": { "command": "x" } // why' in now
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"does not stand in {file}" in person.run("connect", client, "--remove").out
    assert backup.read_text() == before


@EVERY
def test_a_file_that_is_not_written(person: Command, space: str, client: str) -> None:
    """A file that cannot be read, or is locked, is left as it is; what to paste is said, and no key is made."""
    file = laid(person, client, MALFORMED[client])
    told = person.run("connect", client, "--space", space)
    assert (told.code, told.out) == (1, "")
    assert "is left as it is" in told.err
    assert "logmem mint NAME" in told.err
    assert "lmk_…" in told.err
    assert ROOTS[client] in told.err.partition(":\n")[2]
    assert file.read_text() == MALFORMED[client]
    assert not [each for each in file.parent.iterdir() if each.is_file() and each != file]
    laid(person, client, BEFORE[client]).chmod(0o400)
    told = person.run("connect", client, "--space", space)
    assert (told.code, told.out) == (1, "")
    assert "is read-only. Nothing was written." in told.err
    assert file.read_text() == BEFORE[client]
    assert live_keys(person, space) == []


def test_a_file_without_a_place(person: Command, space: str) -> None:
    """Where no folder can be made for the file, this is said before a key is made; --remove leaves odd files alone."""
    file = laid(person, "codex", MALFORMED["codex"])
    assert person.run("connect", "codex", "--remove").code == 1
    assert file.read_text() == MALFORMED["codex"]
    told = person.run("connect", "codex", "--space", space, "--config", str(file / "below"))
    assert (told.code, told.out) == (1, "")
    assert "cannot be" in told.err
    assert live_keys(person, space) == []


def test_what_is_no_file(person: Command, space: str, tmp_path: Path) -> None:
    """A pipe, a device, a folder or a path into nothing is refused at once, stays what it is, and costs no key."""
    pipe, missing = tmp_path / "pipe", tmp_path / "none" / "any.json"
    os.mkfifo(pipe)
    odd = {pipe: "a pipe", tmp_path: "a folder", missing: f"there is no folder {missing.parent}"}
    with suppress(PermissionError):  # which only root may make
        os.mknod(tmp_path / "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        odd[tmp_path / "device"] = "a device"
    for path, said in odd.items():
        before = path.lstat() if path.exists() else None
        told = person.run("connect", "cursor", "--space", space, "--config", str(path))
        assert (told.code, told.out) == (1, "")
        assert said in told.err.partition("\n")[0]
        assert "Nothing was written." in told.err
        assert (path.lstat() if path.exists() else None) == before
    assert person.run("connect", "cursor", "--config", str(pipe), "--remove").code == 1
    assert person.run("connect", "cursor", "--config", str(pipe), "--print", "--space", space).code == 0
    assert live_keys(person, space) == []


def test_toml_of_another_form(person: Command, space: str) -> None:
    """Of TOML that is right and not edited here it is said that it is that; what to do fits what was asked for."""
    before = 'model = "o3"\nmcp_servers.logmem.http_headers.Authorization = "Bearer lmk_0_1"\n'
    file = laid(person, "codex", before)
    told = person.run("connect", "codex", "--space", space)
    assert (told.code, told.out) == (1, "")
    first, _, snippet = told.err.partition(":\n")
    assert f"{file} is left as it is: it is TOML, but" in first
    assert not [wrong for wrong in ("not TOML", "Mend", "line 4") if wrong in first]
    assert tomllib.loads(snippet)["mcp_servers"]["logmem"]
    told = person.run("connect", "codex", "--remove")
    assert (told.code, told.out) == (1, "")
    assert "it is TOML, but" in told.err
    assert "Take what it says of mcp_servers.logmem out yourself" in told.err
    assert "logmem revoke 0" in told.err
    assert "lmk_" not in told.err
    assert file.read_text() == before
    assert live_keys(person, space) == []


def test_a_link_is_followed(person: Command, space: str, tmp_path: Path) -> None:
    """Where the file is a link, the file that it leads to is written, and the link stays."""
    kept = tmp_path / "dotfiles.toml"
    kept.write_text(TOML_BEFORE)
    file = file_of(person, "codex")
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)
    assert person.json("connect", "codex", "--space", space)["config"] == str(kept)
    assert file.is_symlink()
    assert kept.read_text().startswith(TOML_BEFORE)


def test_what_its_owner_added_stays(person: Command, space: str) -> None:
    """Limits and variables that somebody has added to our entry outlive another run and another transport."""
    file = laid(person, "codex", TOML_BEFORE)
    kept = person.json("connect", "codex", "--space", space, "--transport", "stdio")["backup"]
    text = file.read_text().replace("env = {", 'tool_timeout_sec = 90\nenabled = false\nenv = { EXTRA = "1",')
    file.write_text(text)
    again = person.json("connect", "codex")
    assert (again["changed"], again["switched_off"]) == (False, True)
    assert person.json("connect", "codex", "--agent", "muse")["changed"] is True
    assert entry("codex", file)["tool_timeout_sec"] == 90
    assert entry("codex", file)["env"]["EXTRA"] == "1"
    told = person.run("connect", "codex", "--transport", "http")
    assert f"{file}; what stood there at first is in {kept}" in told.out
    assert f"It is switched off in {file}" in told.out
    assert entry("codex", file)["tool_timeout_sec"] == 90
    assert "command" not in entry("codex", file)
    assert Path(kept).read_text() == TOML_BEFORE
    assert [each.name for each in file.parent.iterdir() if each != file] == [Path(kept).name]


def test_print(person: Command, operator: Command, space: str) -> None:
    """--print shows what would be written, with the key where one is known, and changes nothing."""
    told = person.run("connect", "codex", "--print", "--space", space)
    assert told.code == 0
    assert "lmk_…" in told.out
    assert f"logmem mint codex --space {space}" in told.err
    token = operator.json("mint", "codex", "--space", space)["token"]
    shown = person.run("connect", "codex", "--print", "--space", space, "--token", token)
    assert token in shown.out
    assert not file_of(person, "codex").exists()
    pasted = laid(person, "codex", shown.out)
    assert person.json("connect", "codex")["changed"] is False
    pasted.chmod(0o400)
    assert person.json("connect", "codex", "--print")["entry"] == entry("codex", pasted)
    assert stat.S_IMODE(pasted.stat().st_mode) == 0o400
    broken = laid(person, "cursor", "{")
    told = person.run("connect", "cursor", "--print", "--space", space)
    assert (told.code, "lmk_…" in told.out, "it is not JSON" in told.err) == (0, True, True)
    assert broken.read_text() == "{"
    assert person.run("connect", "codex", "--print", "--remove").code == 2
    assert live_keys(person, space) == ["codex"]


@EVERY
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_what_is_shown_can_be_pasted(client: str, transport: Any) -> None:
    """What is shown for a client is a file of its form, in which the entry is found and says what it should."""
    link = Link(transport, "http://127.0.0.1:1", "grok", "fleet", "lmk_a_b")
    row = CLIENTS[client]
    made = row.entry(link, ["logmem"])
    text = row.shown(made)
    assert row.found(text) == made
    assert row.link(made) == link
    assert json.loads(text) if client != "codex" else tomllib.loads(text)
    minted = {"url": "http://127.0.0.1:1/k/lmk_a_b/mcp"}  # as somebody may have pasted it
    assert row.link(minted) == Link("http", "http://127.0.0.1:1", "", "", "lmk_a_b")


def test_print_without_a_server(person: Command, tmp_path: Path) -> None:
    """--print needs neither server nor store."""
    told = Command(tmp_path / "nowhere", person.env).run("connect", "codex", "--print", "--space", "lab")
    assert (told.code, told.out.count("lmk_…")) == (0, 1)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("client", ["claude-ai", "chatgpt"])
def test_clients_that_are_set_up_by_hand(person: Command, client: str) -> None:
    """For a client that signs in, the steps say what is not there yet, what works, and that its URL is a key."""
    told = person.run("connect", client)
    assert told.code == 0
    assert "OAuth" in told.out
    assert f"logmem revoke {client}" in told.out
    assert "That URL is the key" in told.out
    assert len(person.json("connect", client, "--agent", "muse")["steps"]) == 4
    assert "agent:muse" in person.run("connect", client, "--agent", "muse").out


def test_claude_code_is_let_call(person: Command, space: str) -> None:
    """Claude Code shows our tools from the start and calls them without asking; other rules stay; all goes again."""
    rules = Path(person.env["HOME"]) / ".claude" / "settings.json"
    rules.parent.mkdir(parents=True)
    rules.write_text('{\n  "permissions": {"allow": ["Bash(ls)"], "deny": ["Read(x)"]}\n}\n')
    person.json("connect", "claude-code", "--space", space)
    allowed = json.loads(rules.read_text())["permissions"]
    assert allowed == {"allow": ["Bash(ls)", "mcp__logmem"], "deny": ["Read(x)"]}
    assert entry("claude-code", file_of(person, "claude-code"))["alwaysLoad"] is True
    person.json("connect", "claude-code", "--remove")
    assert json.loads(rules.read_text())["permissions"]["allow"] == ["Bash(ls)"]
    rules.write_text("{")
    told = person.run("connect", "claude-code", "--space", space)
    assert told.code == 0
    assert f"{rules} is left as it is" in told.err
    assert rules.read_text() == "{"


def test_in_a_project(person: Command, space: str) -> None:
    """--scope project writes this folder's file, which is to be kept private; --config writes any file."""
    assert person.folder
    told = person.run("connect", "claude-code", "--space", space, "--scope", "project", "--agents-md")
    assert told.code == 0, told.err
    assert "keep it out of version control" in told.out
    assert "asks once whether to use the server" in told.out
    assert entry("claude-code", person.folder / ".mcp.json")["type"] == "http"
    local = json.loads((person.folder / ".claude" / "settings.local.json").read_text())
    assert local == {"permissions": {"allow": ["mcp__logmem"]}}
    assert not file_of(person, "claude-code").exists()
    assert person.run("connect", "codex", "--scope", "project").code == 2
    person.json("connect", "vscode", "--space", space, "--scope", "project")
    assert entry("vscode", person.folder / ".vscode" / "mcp.json")["type"] == "http"
    person.json("connect", "cursor", "--space", space, "--config", "any.json")
    assert entry("cursor", person.folder / "any.json")["args"] == ["stdio"]


def test_agents_md(person: Command, space: str) -> None:
    """AGENTS.md gets a short block, once, and what else stands there stays; --remove takes the block out."""
    assert person.folder
    guide = person.folder / "AGENTS.md"
    guide.write_text("# Rules\n\nBe kind.\n")
    for _ in range(2):
        person.json("connect", "codex", "--space", space, "--agents-md")
    said = guide.read_text()
    assert said.startswith("# Rules\n\nBe kind.\n\n<!-- logmem -->\n")
    assert said.count("logmem_start") == 1
    person.json("connect", "codex", "--remove", "--agents-md")
    assert guide.read_text() == "# Rules\n\nBe kind.\n"


def test_what_does_not_connect_is_said(person: Command, space: str) -> None:
    """When start fails through what was written, the words of what failed are given, and the file says what it said."""
    person.json("connect", "codex", "--space", space, "--transport", "stdio")
    file = file_of(person, "codex")
    text = file.read_text().replace("env = {", 'env = { LOGMEM_LOG_LEVEL = "loud",')
    file.write_text(text)
    told = person.run("connect", "codex")
    assert (told.code, told.out) == (1, "")
    assert "LOGMEM_LOG_LEVEL is 'loud'" in told.err
