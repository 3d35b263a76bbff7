"""A file that belongs to another program, changed in place: whole or not at all, with what it was kept beside it.

Only a regular file of one's own is changed. Behind a name may be a device, which a change would replace, or a pipe, at
which an opening waits for ever; so nothing waits, and what a file is is asked of the file that was opened.
"""

import codecs
import os
import pwd
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .fault import Fault

BACKUP = ".before-logmem"
COPIES = 20  # of one file
TRIES = 5  # its own program may write it at the same time
LARGEST = 64 << 20  # bytes of a file that somebody may call a configuration

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Unwritable(Fault):
    """The file stays as it is; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file: the one that was written (links followed), and where its first text is kept."""

    path: Path
    changed: bool
    backup: Path | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was read. `which` tells it from another of the same name; None: there is none."""

    data: bytes = b""
    which: tuple[int, int] | None = None
    mode: int = 0


def check(path: Path, *, folders: bool = True) -> None:
    """Unwritable: the file is not to be written, or not to be made there; missing folders are, if `folders`."""
    path = _real(path)
    try:
        with _opened(path) as descriptor:
            _check_owned(path, os.fstat(descriptor))
    except FileNotFoundError:
        pass
    folder = path.parent
    try:
        while folders and not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise Unwritable(f"{path} cannot be written: there is no folder {folder}.")
        # To try it is the only proof: of a system that is read-only or made up, permissions say nothing.
        probe = folder / _fresh(path).name
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink()
    except OSError as why:
        raise Unwritable(f"{path} cannot be written: in {folder} nothing can be made ({why.strerror}).") from None


def text(path: Path) -> str:
    """What stands in the file; '' if there is none. Unwritable: it cannot be read."""
    path = _real(path)
    return _decoded(path, _seen(path).data)


def change(
    path: Path, edit: Callable[[str], str], *, keep: Callable[[str], bool], secret: bool, folders: bool = True
) -> Change:
    """Put `edit` of the file's text in its place; with a secret in it, nobody else may read it then.

    `keep` says of a text whether a copy of it is to be kept. No copy is ever overwritten.
    Unwritable: the system does not let us, or its own program writes it all the time.
    """
    path = _real(path)
    for _ in range(TRIES):
        seen = _seen(path)
        before = _decoded(path, seen.data)
        after = edit(before)
        try:
            if after == before:
                if secret and seen.mode & 0o077:
                    with _opened(path) as descriptor:
                        os.fchmod(descriptor, seen.mode & 0o700)
                return Change(path, changed=False, backup=None)
            check(path, folders=folders)
            path.parent.mkdir(parents=True, exist_ok=True)
            backup = _kept(path, seen.data, keep(before)) if seen.which else None
            mark = codecs.BOM_UTF8 if seen.data.startswith(codecs.BOM_UTF8) else b""
            if _replaced(path, seen, mark + after.encode(), secret=secret):
                return Change(path, changed=True, backup=backup)
        except OSError as why:
            raise Unwritable(f"{path} cannot be written: {why}.") from None
    raise Unwritable(f"{path} is changed by another program all the time.")


def _real(path: Path) -> Path:
    """Where the name leads."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as why:  # links in a circle, among others
        raise Unwritable(f"{path} cannot be found: {why}.") from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The regular file, open for reading. FileNotFoundError; Unwritable: it is something else, or cannot be opened."""
    try:
        _check_regular(path, path.stat())  # not even opened: that alone does something to some devices
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as why:
        raise Unwritable(f"{path} cannot be read: {why.strerror}.") from None
    try:
        _check_regular(path, os.fstat(descriptor))  # by now the name may be of something else
        yield descriptor
    finally:
        os.close(descriptor)


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "of an unknown kind")
        raise Unwritable(f"{path} is {kind}, and no file.")
    if found.st_size > LARGEST:
        raise Unwritable(f"{path} has {found.st_size >> 20} MB, which no configuration has.")


def _check_owned(path: Path, found: os.stat_result) -> None:
    """What takes its place is a file of ours with one name; whoever wants that must have had such a one."""
    if found.st_uid != os.geteuid():
        raise Unwritable(f"{path} belongs to {_user(found.st_uid)}, and you are {_user(os.geteuid())}.")
    # One that its owner has locked is not replaced either, though the folder would let us.
    if not found.st_mode & stat.S_IWUSR:
        raise Unwritable(f"{path} is read-only.")
    if found.st_nlink > 1:
        raise Unwritable(f"{path} has {found.st_nlink} names (hard links), and a change would part them.")


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _seen(path: Path) -> _Seen:
    """The file as it is. Unwritable: it is no regular file, or cannot be read."""
    try:
        with _opened(path) as descriptor:
            found = os.fstat(descriptor)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return _Seen(file.read(), (found.st_dev, found.st_ino), stat.S_IMODE(found.st_mode))
    except FileNotFoundError:
        return _Seen()
    except OSError as why:
        raise Unwritable(f"{path} cannot be read: {why.strerror}.") from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise Unwritable(f"{path} cannot be read: {why}.") from None


def _kept(path: Path, data: bytes, wanted: bool) -> Path | None:
    """Where such bytes are kept, now if it is `wanted`; else the last copy, if there is any."""
    last = None
    for n in range(1, COPIES + 1):
        copy = path.with_name(f"{path.name}{BACKUP}{f'-{n}' if n > 1 else ''}")
        if not os.path.lexists(copy):
            if wanted:
                _write(copy, data)  # it may hold secrets of others: nobody else may read it
            return copy if wanted else last
        with suppress(Unwritable):  # somebody else's, of another kind
            if _seen(copy).data == data:
                return copy
            last = copy
    if wanted:
        raise Unwritable(f"{path} has {COPIES} copies beside it. Delete those that you do not need.")
    return last


def _replaced(path: Path, seen: _Seen, data: bytes, *, secret: bool) -> bool:
    """Put these bytes in the place of what was seen, at once; False if something else stands there now."""
    fresh = _fresh(path)
    try:
        _write(fresh, data, mode=0o600 if secret or seen.which else 0o666)
        if seen.which and not secret:
            fresh.chmod(seen.mode & 0o777)
        if _seen(path) != seen:
            return False
        if seen.which:
            fresh.replace(path)
            return True
        try:
            os.link(fresh, path)  # which overwrites nothing
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            fresh.replace(path)
        return True
    finally:
        fresh.unlink(missing_ok=True)


def _fresh(path: Path) -> Path:
    """A name that nobody has, as long as the longest of a copy."""
    return path.with_name(f".{path.name}{BACKUP}.{secrets.token_hex(4)}")


def _write(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """A file that was not there, with these bytes, or none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise
