"""The state folder and the settings: what cannot be used is one sentence, and commands leave nothing running."""

import json
import os
import threading
from pathlib import Path

import pytest

from store.engine.embedded import ensure, stop

from .running import Command, lives

COMMANDS = (("up", "--port", "0"), ("space", "lab"), ("serve", "api"))


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: a[0])
def test_a_folder_that_cannot_be_used(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A file in the folder's place and a place that takes no folder are named, with what to do; also to root."""
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", Path("/proc/logmem")):
        told = Command(tmp_path / "home", {"LOGMEM_HOME": str(home)}).run(*arguments)
        assert (told.code, told.out) == (5, "")
        assert f"The state folder {home} cannot be used" in told.err
        assert "Set LOGMEM_HOME" in told.err


SETTINGS = (
    ("LOGMEM_PORT", "70000", 2),
    ("LOGMEM_FSYNC", "sometimes", 2),
    ("LOGMEM_PUBLIC_URL", "example", 2),
    ("LOGMEM_REDIS_URI", "http://x", 5),
)


@pytest.mark.parametrize(("name", "value", "code"), SETTINGS)
def test_a_setting_that_cannot_be_used(command: Command, name: str, value: str, code: int) -> None:
    """A bad setting is one sentence that names it; nothing is started."""
    for arguments in (("up",), ("space", "lab")):
        told = command.run(*arguments, LOGMEM_HOST="127.0.0.1", **{"LOGMEM_PORT": "0", name: value})
        assert (told.code, told.out) == (code, "")
        assert name in told.err
    assert not (command.home / "store").exists()


def test_an_address_that_is_not_ours(command: Command) -> None:
    """An address that this machine does not have is one sentence and exit code 2."""
    told = command.run("up", "--port", "0", LOGMEM_HOST="192.0.2.1")
    assert (told.code, told.out) == (2, "")
    assert "cannot listen on 192.0.2.1" in told.err


def test_a_command_alone_stops_what_it_started(command: Command) -> None:
    """Where nothing is up a command starts the store for itself, and what it did is kept."""
    assert command.json("space", "lab")["made"] == "lab"
    assert stop(command.home) is False
    minted = command.json("mint", "grok")
    assert minted["mcp_url"].startswith("http://127.0.0.1:8765/k/lmk_")
    assert [k["name"] for k in command.json("keys")["keys"]] == ["grok"]
    assert stop(command.home) is False
    assert command.home.stat().st_mode & 0o777 == 0o700


def test_a_command_leaves_a_running_store_alone(command: Command) -> None:
    """A store that ran before goes on after the command."""
    server = ensure(command.home)
    assert command.json("space", "lab")["made"] == "lab"
    assert lives(server.pid)


def test_commands_at_once_share_one_store(command: Command) -> None:
    """Of commands that run at once none stops the store under another; the last one to leave stops it."""
    command.json("space", "lab")
    codes: list[int] = []

    def mint(name: str) -> None:
        codes.append(command.run("mint", name).code)

    running = [threading.Thread(target=mint, args=(f"a{n}",)) for n in range(5)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert codes == [0] * 5
    assert stop(command.home) is False
    assert len(command.json("keys")["keys"]) == 5


def test_the_public_address(command: Command) -> None:
    """Links carry the address under which people reach the server."""
    command.json("space", "lab")
    minted = command.json("mint", "grok", LOGMEM_PUBLIC_URL="https://logmem.example.com/")
    assert minted["mcp_url"] == f"https://logmem.example.com/k/{minted['token']}/mcp"
    added = command.json("human", "add", "ana", LOGMEM_PUBLIC_URL="https://logmem.example.com")
    assert added["login_url"].startswith("https://logmem.example.com/sign-in/")


def test_files_are_for_the_owner_only(command: Command) -> None:
    """Whatever the umask, what the command writes is for its user alone."""
    before = os.umask(0)
    try:
        command.json("space", "lab")
    finally:
        os.umask(before)
    folders = [command.home, command.home / "store", command.home / "secrets"]
    assert {each.stat().st_mode & 0o777 for each in folders} == {0o700}


def test_json_is_one_line_of_ascii(command: Command) -> None:
    """Every command that lists or shows prints one line of JSON in ASCII, also where nothing is there to list."""
    ensure(command.home)
    assert json.loads(command.run("space", "--json").out) == {"spaces": []}
    assert "There is no space yet" in command.run("space").out
    assert command.json("verify") == {"ok": True, "spaces": []}
    command.json("space", "lab")
    for arguments in (("space",), ("human", "list"), ("keys",), ("verify",), ("version",)):
        told = command.run(*arguments, "--json")
        assert told.out.isascii()
        assert told.json
    assert "Nobody is in lab yet" in command.run("human", "list").out
    assert "There is no key in lab yet" in command.run("keys").out


READERS = (
    ("space",), ("verify",), ("keys",), ("mint", "grok"), ("renew", "grok"), ("revoke", "grok"),
    ("human", "list"), ("human", "add", "bo"), ("human", "link", "bo"), ("human", "remove", "bo"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_only_what_makes_a_space_makes_a_store(command: Command, arguments: tuple[str, ...]) -> None:
    """Where the state folder was forgotten, commands name the one that they looked in and leave nothing there."""
    told = command.run(*arguments)
    assert (told.code, told.out) == (1, "")
    assert f"There is no LogMem yet in {command.home}" in told.err
    assert "set LOGMEM_HOME" in told.err
    assert not command.home.exists()


EMPTY = [("space",), ("verify",), ("doctor",), ("sync", "status"), ("keys",), ("keys", "--space", "fleet")]


@pytest.mark.parametrize("arguments", EMPTY, ids=" ".join)
def test_a_log_without_a_space_is_named(command: Command, arguments: tuple[str, ...]) -> None:
    """Where the state folder was forgotten and another one lies there, nobody is sent to make a second log unasked."""
    ensure(command.home)
    told = command.run(*arguments)
    said = told.out + told.err
    assert f"This was looked for in {command.home}. If yours is in another folder, set LOGMEM_HOME to that." in said
    assert all(
        line.endswith(("logmem space NAME", "logmem space fleet")) for line in said.splitlines() if "To make" in line
    )


def test_a_space_that_is_not_there(command: Command) -> None:
    """A space that is missing is told with the folder that was looked in, and a malformed one with who said it."""
    command.json("space", "lab")
    told = command.run("keys", "--space", "fleet")
    assert f"This was looked for in {command.home}" in told.err
    assert told.err.endswith("set LOGMEM_HOME to that. To make it there: logmem space fleet\n")
    assert f"This was looked for in {command.home}" in command.run("verify", "--space", "fleet").err
    assert "LOGMEM_SPACE is " in command.run("keys", LOGMEM_SPACE="No Such").err
    assert "--space is " in command.run("keys", "--space", "No Such").err
    assert "Nothing was written" not in command.run("keys", LOGMEM_SPACE="No Such").err
