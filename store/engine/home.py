"""The state folder of an embedded store: what lies in it, and who may start a server there."""

import fcntl
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import acl
from .problem import StoreProblem

LAYOUT = 1  # of the folder; a later layout must not be opened by this code
POLL = 0.005  # seconds between two looks at something that we wait for


@contextmanager
def usable(home: Path) -> Iterator[None]:
    """Say what to do when the system refuses something in the state folder."""
    try:
        yield
    except OSError as why:
        raise StoreProblem(
            f"The state folder {home} cannot be used: {why.strerror or why} ({why.filename or home}). "
            f"Set LOGMEM_HOME to a folder that this user can create and write."
        ) from why


def store_folder(home: Path) -> Path:
    """`home/store`, made if need be, and tried by writing: permission bits say nothing to root."""
    folder = home.expanduser().resolve() / "store"
    with usable(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
    return folder


def password(home: Path, user: str) -> str:
    """The password of a user of the store. StoreProblem: there is no such user."""
    known = acl.users()
    if user not in known:
        raise StoreProblem(f"The store has no user {user!r}: it has {', '.join(known)}.")
    with usable(home):
        return (home / "secrets" / user).read_text().strip()


def passwords(home: Path) -> dict[str, str]:
    """The password of every user; those that are missing are made."""
    (home / "secrets").mkdir(exist_ok=True, mode=0o700)
    for user in acl.users():
        if not (home / "secrets" / user).exists():
            write(home / "secrets" / user, secrets.token_hex(32) + "\n")
    return {user: password(home, user) for user in acl.users()}


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all, and for this user's eyes only."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600, exist_ok=False)
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def text(path: Path) -> str:
    """What a file says; nothing if it is not there."""
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def record(folder: Path) -> dict[str, Any]:
    """What was last started here; empty if nothing was. StoreProblem: by a version that we cannot follow."""
    said = text(folder / "server.json")
    try:
        found: dict[str, Any] = json.loads(said) if said else {}
    except ValueError:
        raise StoreProblem(
            f"{folder / 'server.json'} is damaged. Restore it from a backup, or take another LOGMEM_HOME."
        ) from None
    if found.get("layout", LAYOUT) != LAYOUT:
        raise StoreProblem(
            f"The data in {folder} have layout {found['layout']}, of another version of LogMem; this one "
            f"knows layout {LAYOUT}. Run the version that made them, or take another LOGMEM_HOME."
        )
    return found


def within(deadline: float, otherwise: str) -> None:
    """Sleep a little, before another look. StoreProblem: the deadline has passed."""
    if time.monotonic() > deadline:
        raise StoreProblem(otherwise)
    time.sleep(POLL)


def locked(fd: int) -> bool:
    """Take a lock that lasts until the last copy of the open file is closed, in whatever process."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def turn(folder: Path, deadline: float) -> Iterator[None]:
    """Hold the lock under which a server is started or stopped."""
    with (folder / "lock").open("a") as lock:
        while not locked(lock.fileno()):
            within(deadline, f"Another process keeps starting or stopping the store of {folder.parent}.")
        yield


def alive(folder: Path) -> bool:
    """Whether a server of this folder lives, serving or not."""
    with (folder / "alive").open("a") as held:
        return not locked(held.fileno())
