"""A command over a fresh state folder, and one server for the tests that only talk to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.engine.embedded import stop

from .running import Command, Up, up


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
