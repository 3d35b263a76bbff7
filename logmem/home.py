"""The state folder as the command sees it: one `up` at a time, and where that one is reached.

run/up.lock   held by the `up` that runs
run/up.json   who that is and where; believed only while the lock is held
logs/         what the children say
"""

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from store.engine import home as state

from .fault import Fault

PATIENCE = 1.0  # seconds: others hold the lock for a moment, to see whether it is held


@dataclass(frozen=True, slots=True)
class Running:
    """An `up` that runs: its process, and the address that it listens on."""

    pid: int
    url: str
    space: str


def running(home: Path) -> Running | None:
    """The `up` of this state folder, if one runs and has come to tell where."""
    folder = home / "run"
    with state.usable(home):
        if not (folder / "up.lock").exists() or not _held(folder / "up.lock"):
            return None
        return _recorded(folder)


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Be the one `up` of this state folder. Fault: another one runs, and where."""
    folder = home / "run"
    with state.usable(home):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        for each in (folder, home / "logs"):
            each.mkdir(exist_ok=True, mode=0o700)
        lock = (folder / "up.lock").open("a")
    with lock:
        give_up = time.monotonic() + PATIENCE
        while not state.locked(lock.fileno()):
            if time.monotonic() > give_up:
                raise Fault(_other(home, _recorded(folder)))
            time.sleep(state.POLL)
        try:
            yield
        finally:
            (folder / "up.json").unlink(missing_ok=True)


def record(home: Path, me: Running) -> None:
    """Tell where this `up` is reached."""
    with state.usable(home):
        state.write(home / "run" / "up.json", json.dumps(asdict(me)) + "\n")


def used(home: Path) -> bool:
    """Whether an `up` was ever begun from this state folder."""
    return (home / "run").exists()


def left_over(home: Path) -> bool:
    """Whether the last `up` was killed, so that what it started may still be ending."""
    return (home / "run" / "up.json").exists()


def _recorded(folder: Path) -> Running | None:
    with suppress(ValueError, TypeError):
        return Running(**json.loads(state.text(folder / "up.json")))
    return None


def _other(home: Path, other: Running | None) -> str:
    who = f" (process {other.pid}, at {other.url})" if other else ""
    return (
        f"LogMem is up already from {home}{who}. Stop that one with Ctrl-C or SIGTERM, "
        f"or set LOGMEM_HOME to another folder for a second one."
    )


def _held(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
