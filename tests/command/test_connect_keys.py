"""`logmem connect`: which key and which server a client gets, and that none is made for nothing."""

import socket
from pathlib import Path

import pytest

from logmem.configs import CLIENTS

from .admin import pass_days
from .configured import file_of, live_keys
from .running import Command, Up, up


@pytest.fixture
def silent() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_whose_key(person: Command, operator: Command, space: str) -> None:
    """A key that is given says whose it is and which space it opens; one that does not fit is refused."""
    token = operator.json("mint", "grok", "--space", space)["token"]
    made = person.json("connect", "vscode", "--token", token)
    assert (made["agent"], made["space"], made["key_is"]) == ("agent:grok", space, "given")
    assert person.json("connect", "vscode", LOGMEM_REST_TOKEN=token)["agent"] == "agent:grok"
    assert person.json("connect", "vscode")["agent"] == "agent:grok"  # as the file says
    text = file_of(person, "vscode").read_text()
    for wrong, said in (
        (("--token", token, "--agent", "codex"), "identity_mismatch"),
        (("--token", token, "--agent", "codex", "--print"), "identity_mismatch"),
        (("--token", token, "--space", "fleet"), "scope_unknown"),
        (("--token", f"{token[:-4]}0000"), "unauthenticated"),
        (("--token", "lmk_ä_ö"), "characters"),
    ):
        told = person.run("connect", "vscode", *wrong)
        assert told.code in (1, 2), told
        assert said in told.err
        assert token.rpartition("_")[2] not in told.err
    assert file_of(person, "vscode").read_text() == text
    assert live_keys(person, space) == ["grok"]


def test_a_key_of_the_environment(person: Command, operator: Command, space: str, silent: str) -> None:
    """A key that stands in the environment is used only for its own agent; nothing is written, made or shown else."""
    person.json("connect", "codex", "--space", space)
    text = file_of(person, "codex").read_text()
    token = operator.json("mint", "grok", "--space", space)["token"]
    for client, wanted, more in (
        ("codex", "codex", ()),  # as its file says
        ("codex", "codex", ("--print",)),
        ("vscode", "vscode", ("--space", space)),  # its own name
        ("vscode", "muse", ("--agent", "muse")),
    ):
        told = person.run("connect", client, *more, LOGMEM_REST_TOKEN=token)
        assert (told.code, told.out) == (1, ""), told
        assert (
            f"LOGMEM_REST_TOKEN is the key of agent:grok, and {CLIENTS[client].label} is to be agent:{wanted}"
            in told.err
        )
        assert "Nothing was written. Connect it as that agent: --agent grok; or unset LOGMEM_REST_TOKEN" in told.err
        assert token.rpartition("_")[2] not in told.err
    assert file_of(person, "codex").read_text() == text
    assert not file_of(person, "vscode").exists()
    assert live_keys(person, space) == ["codex", "grok"]
    shown = person.json("connect", "vscode", "--print", "--token", token)["entry"]["headers"]
    assert (shown["X-LogMem-Agent"], shown["Authorization"]) == ("grok", f"Bearer {token}")
    away = person.run("connect", "vscode", "--print", "--url", silent, LOGMEM_REST_TOKEN=token)
    assert (away.code, token in away.out, "left out" in away.err) == (0, False, True)
    assert "lmk_…" in person.run("connect", "codex", "--print", "--agent", "muse").out  # not the key of codex
    made = person.json("connect", "vscode", "--agent", "grok", LOGMEM_REST_TOKEN=token)
    assert (made["agent"], made["key_is"]) == ("agent:grok", "given")


def test_a_key_of_few_tools(person: Command, operator: Command, space: str) -> None:
    """A key that has no tool to say whose it is connects when that is said."""
    token = operator.json("mint", "muse", "--space", space, "--profile", "core")["token"]
    assert "Give --agent, --space" in person.run("connect", "codex", "--token", token).err
    made = person.json("connect", "codex", "--token", token, "--agent", "muse", "--space", space)
    assert (made["agent"], made["space"]) == ("agent:muse", space)
    assert person.json("connect", "codex")["changed"] is False


def test_a_server_that_moved(person: Command, server: Up, space: str, silent: str) -> None:
    """Where the server here has another address now, the file gets that, and the key stays."""
    person.json("connect", "codex", "--space", space)
    file = file_of(person, "codex")
    file.write_text(file.read_text().replace(server.url, silent))
    made = person.json("connect", "codex")
    assert (made["url"], made["key_is"], made["changed"]) == (server.url, "kept", True)


def test_another_agent_gets_its_own_key(person: Command, space: str) -> None:
    """Another name gets another key, and what was written before for another agent is replaced."""
    person.json("connect", "cursor", "--space", space)
    made = person.json("connect", "cursor", "--agent", "muse")
    assert (made["agent"], made["space"], made["key_is"]) == ("agent:muse", space, "made")
    assert live_keys(person, space) == ["cursor", "muse"]


async def test_a_key_that_ends(person: Command, space: str, server: Up) -> None:
    """A key near its end, or past it, is renewed where it stands; one that was revoked is replaced."""
    person.json("connect", "codex", "--space", space)
    file = file_of(person, "codex")
    text = file.read_text()
    for days in (70, 100):
        await pass_days(server.home, space, days)
        made = person.json("connect", "codex")
        assert (made["key_is"], made["changed"]) == ("renewed", False)
    assert file.read_text() == text
    assert live_keys(person, space) == ["codex"]
    person.json("revoke", "codex", "--space", space)
    assert person.json("connect", "codex")["key_is"] == "made"
    assert file.read_text() != text
    assert live_keys(person, space) == ["codex"]


def test_a_server_that_is_not_there(person: Command, tmp_path: Path, space: str, silent: str) -> None:
    """Where no server answers, or it is elsewhere and no key was given, nothing is written and no key is made."""
    told = person.run("connect", "codex", "--space", space, "--url", silent)
    assert (told.code, told.out) == (5, "")
    assert "Start it: logmem up" in told.err
    told = person.run("connect", "codex", "--space", space, "--url", "https://logmem.example.com")
    assert (told.code, told.out) == (2, "")
    assert "Give it with --token" in told.err
    assert person.run("connect", "codex", "--url", "here").code == 2
    away = Command(tmp_path / "nowhere", person.env).run("connect", "codex")
    assert away.code == 5
    assert "logmem up" in away.err
    assert not file_of(person, "codex").exists()
    assert live_keys(person, space) == []


def test_a_server_of_another_store(person: Command, space: str, tmp_path: Path) -> None:
    """A key that the server does not know is not written, and is ended again."""
    with up(Command(tmp_path / "other")) as other:
        told = person.run("connect", "codex", "--space", space, "--url", other.url)
    assert (told.code, told.out) == (1, "")
    assert "a server of another store" in told.err
    assert not file_of(person, "codex").exists()
    assert live_keys(person, space) == []
