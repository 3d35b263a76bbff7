"""A command over a fresh state folder, and one server for the tests that only talk to it."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.engine.embedded import stop

from .admin import operated
from .bridged import variables
from .running import Command, Up, up
from .warm import Warm


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """A command whose state folder does not exist yet; what runs there at the end is stopped."""
    made = Command(tmp_path / "home")
    yield made
    if made.home.is_dir():
        stop(made.home)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One `up` for a module."""
    with up(Command(tmp_path_factory.mktemp("up") / "home")) as ready:
        yield ready


@pytest.fixture
def operator(server: Up) -> Command:
    """The command beside the server that is up."""
    return Command(server.home)


@pytest.fixture
def space(operator: Command) -> str:
    """A new space, simulated so that its clock can be moved."""
    name = f"t{secrets.token_hex(4)}"
    operated(operator.home, "space", name, simulated=True)
    return name


@pytest.fixture
def given(operator: Command, server: Up, space: str) -> dict[str, str]:
    """The four variables of an agent of that space."""
    return variables(operator, server.url, space)


@pytest.fixture
def person(server: Up, tmp_path: Path) -> Command:
    """The command of somebody with a home of their own, in a folder of their own."""
    folder = tmp_path / "project"
    folder.mkdir()
    plain = {"HOME": str(tmp_path / "user"), "XDG_CONFIG_HOME": "", "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": ""}
    return Warm(server.home, plain, folder)
