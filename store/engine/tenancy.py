"""Who uses an embedded engine: it lives as long as it has a user, and longer only when it is to be kept.

    with tenancy(home) as server          for a short use: the last such user to leave stops what they started
    with tenancy(home, keep=True)         for `up`: stopped when it leaves (or by whoever leaves last, after it)
    keep_running(home) -> Embedded        what `up` does when its server has died

A keeper that is killed leaves the server running, for the next one to join. In the state folder's `store/`:

    users     held (shared) by every process that uses the server
    passing   the pid of a server that nobody keeps: the last user to leave stops it
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from . import home as state
from .embedded import Embedded, ensure, stop

__all__ = ["keep_running", "tenancy"]

STARTING = 60.0  # seconds for another process to stop its server, and for a large ledger to load


@contextmanager
def tenancy(home: Path, *, fsync: str = "always", keep: bool = False, wait: float = STARTING) -> Iterator[Embedded]:
    """A running server of `home` for as long as the block lasts; `fsync` is that of one started here.

    StoreProblem: it cannot be made to serve, with what to do.
    """
    folder = state.store_folder(home)
    users = _enter(folder, time.monotonic() + wait)
    with users:
        try:
            server = keep_running(home, fsync=fsync, wait=wait) if keep else ensure(home, fsync=fsync, wait=wait)
            if server.started and not keep:
                _pass(folder)
            yield server
        finally:
            if keep:  # also of a start that was broken off
                _pass(folder)
            _leave(folder, users)


def keep_running(home: Path, *, fsync: str = "always", wait: float = STARTING) -> Embedded:
    """Start the server or join the one that runs, and have it outlive its short users. StoreProblem as `ensure`."""
    server = ensure(home, fsync=fsync, wait=wait)
    with state.usable(server.home):
        (server.home / "store" / "passing").unlink(missing_ok=True)
    return server


def _enter(folder: Path, deadline: float) -> IO[str]:
    """Be one of the users; waits for a last one that is just stopping the server."""
    with state.usable(folder.parent):
        users = (folder / "users").open("a")
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(users.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
            return users
        state.within(deadline, f"Another process is still stopping the store of {folder.parent}.")


def _pass(folder: Path) -> None:
    """Note that nobody keeps the server that runs now."""
    with state.usable(folder.parent):
        state.write(folder / "passing", state.text(folder / "server.pid"))


def _leave(folder: Path, users: IO[str]) -> None:
    """Stop the server if nobody keeps it and nobody else uses it: then the shared lock becomes an exclusive one."""
    with state.usable(folder.parent):
        noted = state.text(folder / "passing").strip()
        if noted and noted == state.text(folder / "server.pid").strip() and state.locked(users.fileno()):
            stop(folder.parent)
            (folder / "passing").unlink(missing_ok=True)
