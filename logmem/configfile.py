"""A file that belongs to another program, changed in place: whole or not at all, with what it was kept beside it."""

import codecs
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .fault import Fault

BACKUP = ".before-logmem"
TRIES = 5  # its own program may write it at the same time


class Unwritable(Fault):
    """The file stays as it is; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file: the one that was written (links followed), and where the former text is kept."""

    path: Path
    changed: bool
    backup: Path | None


def check(path: Path) -> None:
    """Unwritable: the file, or the folder that it is to be made in, is not to be written."""
    try:
        # One that its owner has locked is not replaced either, though the folder would let us.
        if path.exists() and not path.stat().st_mode & 0o200:
            raise Unwritable(f"{path} is read-only.")
        folder = next(each for each in path.parents if each.exists())
    except OSError as why:
        raise Unwritable(f"{path} cannot be written: {why}.") from None
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise Unwritable(f"{path} cannot be written: {folder} is not to be written.")


def text(path: Path) -> str:
    """What stands in the file; '' if there is none. Unwritable: it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as why:
        raise Unwritable(f"{path} cannot be read: {why}.") from None


def change(path: Path, edit: Callable[[str], str], *, secret: bool) -> Change:
    """Put `edit` of the file's text in its place; with a secret in it, nobody else may read it then.

    Unwritable: the system does not let us, or its own program writes it all the time.
    """
    path = path.resolve()
    check(path)
    for _ in range(TRIES):
        before = text(path)
        after = edit(before)
        if after == before:
            if secret and path.exists():
                path.chmod(path.stat().st_mode & 0o700)
            return Change(path, changed=False, backup=None)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            backup = _keep(path) if path.exists() else None
            if text(path) == before:
                mark = codecs.BOM_UTF8 if path.exists() and path.read_bytes().startswith(codecs.BOM_UTF8) else b""
                _replace(path, mark + after.encode(), secret=secret)
                return Change(path, changed=True, backup=backup)
        except OSError as why:
            raise Unwritable(f"{path} cannot be written: {why}.") from None
    raise Unwritable(f"{path} is changed by another program all the time.")


def _keep(path: Path) -> Path:
    """Keep the file as it is now; it may hold secrets of others, so nobody else may read that."""
    backup = path.with_name(path.name + BACKUP)
    _replace(backup, path.read_bytes(), secret=True)
    return backup


def _replace(path: Path, data: bytes, *, secret: bool) -> None:
    """The file with these bytes, at once."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            old = path.stat()
            fresh.chmod(0o600 if secret else old.st_mode & 0o777)
            if os.geteuid() != old.st_uid:
                os.chown(fresh, old.st_uid, old.st_gid)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
