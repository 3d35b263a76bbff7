"""Who uses an embedded server: the last one out stops what nobody keeps."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.engine.embedded import ensure, stop
from store.engine.tenancy import keep_running, tenancy

ROOT = Path(__file__).parents[2]
USER = """
import sys
import time
from pathlib import Path
from store.engine.tenancy import tenancy
with tenancy(Path(sys.argv[1]), keep=sys.argv[2] == "keep") as server:
    print(server.pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A state folder; what runs in it is stopped at the end."""
    yield tmp_path / "home"
    stop(tmp_path / "home")


class User:
    """A process that uses the server until told to leave."""

    def __init__(self, home: Path, how: str = "short") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", USER, str(home), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout
        self.server = int(self._process.stdout.readline())

    def leave(self) -> None:
        self._process.communicate(timeout=60)

    def die(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=60)


def test_the_last_one_stops_it(home: Path) -> None:
    """A server that was started for a short use ends with the last of its users, whoever started it."""
    first = User(home)
    second = User(home)
    assert first.server == second.server
    first.leave()
    assert ensure(home).pid == second.server
    second.leave()
    assert stop(home) is False


def test_a_kept_one_outlives_short_users(home: Path) -> None:
    """While somebody keeps it the others leave it running; it stops when the keeper leaves, or those after it."""
    short = User(home)
    keeper = User(home, "keep")
    short.leave()
    assert ensure(home).pid == keeper.server
    late = User(home)
    keeper.leave()
    assert ensure(home).pid == late.server
    late.leave()
    assert stop(home) is False


def test_a_killed_keeper_leaves_it_running(home: Path) -> None:
    """A server whose keeper was killed stays, through short uses, for the next keeper."""
    keeper = User(home, "keep")
    keeper.die()
    User(home).leave()
    server = ensure(home)
    assert (server.pid, server.started) == (keeper.server, False)
    again = User(home, "keep")
    assert again.server == keeper.server
    again.leave()
    assert stop(home) is False


def test_one_that_ran_before_is_left_alone(home: Path) -> None:
    """A server that somebody started without this is nobody's to stop."""
    server = ensure(home)
    User(home).leave()
    assert ensure(home).pid == server.pid


def test_a_killed_short_user_is_tidied_up_after(home: Path) -> None:
    """What a killed command has left running, the next one stops."""
    User(home).die()
    User(home).leave()
    assert stop(home) is False


def test_kept_again_after_it_died(home: Path) -> None:
    """A keeper starts a server that was killed, and it is kept like the first."""
    with tenancy(home, keep=True) as first:
        os.kill(first.pid, signal.SIGKILL)
        give_up = time.monotonic() + 60
        while (again := keep_running(home)).pid == first.pid:  # the kernel may take a moment to end it
            assert time.monotonic() < give_up
        User(home).leave()
        assert ensure(home).pid == again.pid
    assert stop(home) is False


def test_a_failure_in_the_block_is_passed_on(home: Path) -> None:
    """What goes wrong while the server is used is not taken for a fault of its folder."""
    with pytest.raises(FileNotFoundError, match="elsewhere"), tenancy(home):
        raise FileNotFoundError("elsewhere")
    assert stop(home) is False
