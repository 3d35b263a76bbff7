"""A file that `connect` changes: regular, of its owner, with one name; whole or not at all, and its first text kept.

Devices and pipes are made in the test's own folder.
"""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from logmem import configfile
from logmem.configfile import BACKUP, COPIES, Change, Unwritable


def added(text: str) -> str:
    """An edit."""
    return f"{text}ours\n"


def changed(path: Path, edit: Callable[[str], str] = added, *, secret: bool = True, folders: bool = True) -> Change:
    """A change as `connect` makes it, of which a text without ours is kept."""
    return configfile.change(path, edit, keep=lambda text: "ours" not in text, secret=secret, folders=folders)


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(each.name for each in folder.iterdir())


def device(path: Path) -> None:
    """What swallows all that is written to it, as /dev/null does."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


def listening(path: Path) -> None:
    """A socket; a path of its kind may be short only."""
    with socket.socket(socket.AF_UNIX) as made, inside(path.parent):
        made.bind(path.name)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def linked(path: Path) -> None:
    """A file with two names."""
    path.write_text("theirs\n")
    path.with_name("other").hardlink_to(path)


def locked(path: Path) -> None:
    """A file that its owner has made read-only."""
    path.write_text("theirs\n")
    path.chmod(0o400)


def of_another(path: Path) -> None:
    """A file of somebody else, which we could replace all the same."""
    path.write_text("theirs\n")
    try:
        os.chown(path, 65534, 65534)
    except PermissionError:
        pytest.skip("only root gives files away")


def vast(path: Path) -> None:
    """A file too large to be what it is taken for; nothing is written for it."""
    path.touch()
    os.truncate(path, 1 << 40)


def leading_to_a_pipe(path: Path) -> None:
    """A link to what is no file."""
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe": (os.mkfifo, "is a pipe, and no file"),
    "a device": (device, "is a device, and no file"),
    "a socket": (listening, "is a socket, and no file"),
    "a folder": (Path.mkdir, "is a folder, and no file"),
    "a link to a pipe": (leading_to_a_pipe, "is a pipe, and no file"),
    "a circle of links": (lambda path: path.symlink_to(path.name), "cannot be"),
    "two names": (linked, "has 2 names"),
    "read-only": (locked, "is read-only"),
    "another's": (of_another, "belongs to"),
    "vast": (vast, "has 1048576 MB"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_not_written(tmp_path: Path, kind: str) -> None:
    """Whatever is no ordinary file of its own is refused before and amid a change, and stays as it is."""
    path = tmp_path / "config"
    make, said = ODD[kind]
    make(path)
    before = path.lstat(), names(tmp_path)
    for work in (configfile.check, changed):
        with pytest.raises(Unwritable, match=said):
            work(path)
    assert (path.lstat(), names(tmp_path)) == before


@pytest.mark.parametrize("make", [os.mkfifo, device, listening, Path.mkdir])
def test_what_is_not_read(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """What is no file is not read either, and nothing waits for what never comes."""
    path = tmp_path / "config"
    make(path)
    with pytest.raises(Unwritable, match="and no file"):
        configfile.text(path)


def test_a_path_into_nothing(tmp_path: Path) -> None:
    """Folders are made where that is wanted; else a missing one is named, and so is one that is a file."""
    path = tmp_path / "a" / "b" / "config"
    for work in (configfile.check, changed):
        with pytest.raises(Unwritable, match=f"there is no folder {path.parent}"):
            work(path, folders=False)
    configfile.check(path)
    assert not (tmp_path / "a").exists()
    assert changed(path) == Change(path, changed=True, backup=None)
    with pytest.raises(Unwritable, match="Not a directory"):
        configfile.check(path / "below")
    with pytest.raises(Unwritable, match="File name too long"):
        configfile.check(path.with_name("x" * 250))
    with pytest.raises(Unwritable, match="nothing can be made"):
        configfile.check(Path("/proc/self/none"))


def test_a_link_into_a_folder(tmp_path: Path) -> None:
    """A link to what is still to be made is followed, and stays."""
    link = tmp_path / "config"
    link.symlink_to("target")
    assert changed(link, folders=False).path == tmp_path / "target"
    assert (link.is_symlink(), link.read_text()) == (True, "ours\n")


@pytest.mark.parametrize("make", [os.mkfifo, device])
def test_what_takes_its_place_meanwhile(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A device or pipe that has taken the name between reading and writing is not replaced."""
    path = tmp_path / "config"
    path.write_text("theirs\n")

    def edit(text: str) -> str:
        path.unlink()
        make(path)
        return added(text)

    with pytest.raises(Unwritable, match="and no file"):
        changed(path, edit)
    assert not stat.S_ISREG(path.lstat().st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_what_its_own_program_writes_meanwhile(tmp_path: Path, there: bool) -> None:
    """What another program has written between reading and writing is read again, and nothing of it is lost."""
    path = tmp_path / "config"
    if there:
        path.write_text("first\n")

    def edit(text: str) -> str:
        if "second" not in text:
            path.write_text("second\n")
        return added(text)

    assert changed(path, edit).changed
    assert path.read_text() == "second\nours\n"

    def always(text: str) -> str:
        path.write_text(f"{text}more\n")
        return added(text)

    with pytest.raises(Unwritable, match="by another program all the time"):
        changed(path, always)
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_the_first_text_is_kept(tmp_path: Path) -> None:
    """The text without ours is kept once; what changes ours later keeps no other one, and none is overwritten."""
    path, copy = tmp_path / "config", tmp_path / f"config{BACKUP}"
    path.write_text("theirs\n")
    for _ in range(3):
        assert changed(path) == Change(path, changed=True, backup=copy)
    assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == ("theirs\n", 0o600)
    assert changed(path, lambda text: text.replace("ours\n", "")).backup == copy
    assert changed(path).backup == copy  # the same text once more
    path.write_text("theirs, and more\n")
    assert changed(path).backup == tmp_path / f"config{BACKUP}-2"
    assert copy.read_text() == "theirs\n"
    assert names(tmp_path) == ["config", copy.name, f"{copy.name}-2"]


@pytest.mark.parametrize("make", [os.mkfifo, device, Path.mkdir, lambda path: path.symlink_to("none")])
def test_what_has_the_name_of_a_copy(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """What stands where a copy should, and is none of ours, is left alone; the copy gets another name."""
    path, taken = tmp_path / "config", tmp_path / f"config{BACKUP}"
    path.write_text("theirs\n")
    make(taken)
    before = taken.lstat()
    kept = changed(path).backup
    assert kept
    assert (kept.name, kept.read_text()) == (f"config{BACKUP}-2", "theirs\n")
    assert taken.lstat() == before
    assert changed(path).backup == kept


def test_copies_have_a_bound(tmp_path: Path) -> None:
    """Where many copies lie already, none is added or overwritten, and the file is left as it is."""
    path = tmp_path / "config"
    for n in range(COPIES):
        path.write_text(f"{n}\n")
        changed(path)
    path.write_text("one too many\n")
    with pytest.raises(Unwritable, match=f"has {COPIES} copies"):
        changed(path)
    assert path.read_text() == "one too many\n"


def test_who_may_read_it(tmp_path: Path) -> None:
    """A file with a secret is for its owner only, also when nothing changes; any other keeps what it had."""
    path = tmp_path / "config"
    path.write_text("theirs\n")
    path.chmod(0o644)
    changed(path, secret=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    configfile.change(path, str, keep=bool, secret=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = os.umask(0o022)
    try:
        assert stat.S_IMODE(changed(tmp_path / "open", secret=False).path.stat().st_mode) == 0o644
    finally:
        os.umask(before)
