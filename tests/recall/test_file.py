import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

from store.recall.file import Damaged, IndexFile, Unusable
from tests.recall.files import filled, numbers, record, redacted

PATIENCE = 30.0  # seconds for a thread


def test_a_file_goes_on_where_it_ends(tmp_path: Path) -> None:
    """Added are the entries after the mark; what another process has added meanwhile is not added twice."""
    file = IndexFile(tmp_path / "x.db")
    empty = file.mark()
    mark = file.add(empty, [record(1, "one")])
    assert mark.seq == 1
    assert file.add(empty, [record(1, "one")]) == mark
    assert file.add(mark, [record(2, "two")]).seq == 2
    assert numbers(file, "one") == [1]
    file.close()
    again = IndexFile(tmp_path / "x.db")
    assert again.mark().seq == 2
    assert numbers(again, "two") == [2]
    again.close()


def test_what_was_redacted_is_not_found(tmp_path: Path) -> None:
    """Its number is passed over; nothing of it is there. Nor is a record that nobody can read."""
    file = IndexFile(tmp_path / "x.db")
    broken = record(2, "y").replace(b'"summary"', b'"sum')
    assert file.add(file.mark(), [redacted(1), broken, record(3, "three")]).seq == 3
    assert numbers(file, "three") == [3]
    assert numbers(file, "channel:x") == [3]
    file.close()


@pytest.mark.parametrize("what", ["garbage", "empty", "truncated", "version", "foreign"])
def test_a_file_that_is_no_index_is_made_anew(tmp_path: Path, what: str) -> None:
    """Damaged, cut, of another version, or somebody else's: it is thrown away when it is opened."""
    path = tmp_path / "x.db"
    filled(path, *(f"entry {n} about the tokens" for n in range(300))).close()
    if what == "garbage":
        path.write_bytes(b"no database at all " * 1000)
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "truncated":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        if what == "foreign":
            path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version = 99" if what == "version" else "CREATE TABLE entry (x)")
            db.commit()
    file = IndexFile(path)
    for _ in range(3):
        with contextlib.suppress(Damaged):
            mark = file.mark()
            mark = file.add(mark, [record(mark.seq + 1, "the red door")])
            assert numbers(file, "red door") == [mark.seq]
            break
    else:
        pytest.fail("it stays damaged")
    file.close()


def test_a_file_deleted_underneath_is_noticed(tmp_path: Path) -> None:
    """Who has it open goes on with the new one of that name."""
    path = tmp_path / "x.db"
    file = filled(path, "one")
    assert numbers(file, "one") == [1]
    for each in tmp_path.glob("x.db*"):
        each.unlink()
    assert numbers(file, "one") == []
    assert file.mark().seq == 0
    file.add(file.mark(), [record(1, "one")])
    assert numbers(file, "one") == [1]
    file.close()


def test_a_file_damaged_underneath_is_made_anew(tmp_path: Path) -> None:
    """The one that finds out is told; the next use begins with an empty file."""
    path = tmp_path / "x.db"
    file = filled(path, *(f"entry {n} of the red door" for n in range(2000)))
    file.close()
    with path.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(Damaged):
        numbers(file, "red door")
    assert file.mark().seq == 0
    file.close()


def test_who_shares_a_file_sees_that_it_was_made_anew(tmp_path: Path) -> None:
    """As after a redaction: a word that was forgotten is found by no process, nor left in the file."""
    path = tmp_path / "x.db"
    first, second = filled(path, "the zebrafish"), IndexFile(path)
    assert numbers(second, "zebrafish") == [1]
    first.discard()
    first.add(first.mark(), [redacted(1), record(2, "the red door")])
    assert numbers(second, "zebrafish") == numbers(first, "zebrafish") == []
    assert numbers(second, "door") == [2]
    first.close()
    second.close()
    assert not any(b"zebrafish" in each.read_bytes() for each in tmp_path.iterdir())


def test_what_was_read_for_a_file_that_is_gone_is_not_added(tmp_path: Path) -> None:
    """A batch that was read from the ledger before an erasure stays out of the file that was made after it."""
    file = IndexFile(tmp_path / "x.db")
    before = file.mark()
    file.discard()
    after = file.add(before, [record(1, "the zebrafish")])
    assert after.seq == 0
    assert after != before
    assert numbers(file, "zebrafish") == []
    assert file.add(after, [redacted(1)]).seq == 1
    file.close()


def test_readers_stand_a_file_that_is_thrown_away_again_and_again(tmp_path: Path) -> None:
    """Each finds tables, none an error; and nothing is there for others to read, the lock's file neither."""
    path = tmp_path / "index" / "x.db"
    filled(path, "the red door").close()
    failed: list[Exception] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            file = IndexFile(path)  # as another process that has nothing open
            try:
                numbers(file, "red door")
            except Exception as why:  # noqa: BLE001 - told to the test, whatever it is
                failed.append(why)
                return
            finally:
                file.close()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    discarder, modes = IndexFile(path), set()
    for _ in range(200):
        discarder.discard()
        discarder.add(discarder.mark(), [record(1, "the red door")])
        for each in path.parent.iterdir():
            with contextlib.suppress(FileNotFoundError):
                modes.add(each.stat().st_mode & 0o077)
    over.set()
    for reader in readers:
        reader.join(PATIENCE)
    discarder.close()
    assert failed == []
    assert modes == {0}


def test_a_reader_makes_no_file(tmp_path: Path) -> None:
    """One that was deleted underneath is made anew as all are, with its tables, whoever comes first."""
    path = tmp_path / "x.db"
    file = filled(path, "the red door")
    with file.reading():  # so that the next has to open a connection of its own
        for each in tmp_path.glob("x.db*"):
            each.unlink()
        assert numbers(file, "red door") == []
    assert {each.stat().st_mode & 0o077 for each in tmp_path.iterdir()} == {0}
    file.close()


def test_a_file_that_was_ended_is_not_opened_again(tmp_path: Path) -> None:
    """What is read at its end is read to its end, and its connection is closed then; who comes later is told."""
    file = filled(tmp_path / "x.db", "the red door")
    with file.reading() as db:
        file.end()
        assert db.execute("SELECT count(*) FROM entry").fetchone() == (1,)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
    for use in (file.mark, lambda: numbers(file, "door")):
        with pytest.raises(Unusable, match="ending"):
            use()


def test_many_write_one_file(tmp_path: Path) -> None:
    """Several that fill it at once, as processes do, leave each entry in it once."""
    path = tmp_path / "x.db"
    lines = [record(n, f"entry {n} of the red door") for n in range(1, 201)]
    failed: list[Exception] = []

    def fill() -> None:
        file = IndexFile(path)
        try:
            mark = file.mark()
            while mark.seq < len(lines):
                mark = file.add(mark, lines[mark.seq : mark.seq + 7])
        except Exception as why:  # noqa: BLE001 - told to the test, whatever it is
            failed.append(why)
        finally:
            file.close()

    threads = [threading.Thread(target=fill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not failed
    file = IndexFile(path)
    assert file.mark().seq == 200
    assert sorted(numbers(file, "red door", limit=300)) == list(range(51, 201))  # the newest that are weighed
    file.close()


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """In the system's words and without the path, which is nobody's business."""
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(Unusable) as no:
        IndexFile(tmp_path / "folder" / "x.db").mark()
    assert str(tmp_path) not in str(no.value)


def test_a_full_disk_leaves_what_is_there(tmp_path: Path) -> None:
    """Adding fails and says so; what was there is found as before, and adding goes on when there is room."""
    file = filled(tmp_path / "x.db", "the red door")
    mark = file.mark()
    with file._usable() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
    lines = [record(n, f"entry {n} " + "words " * 50 + f"word{n}") for n in range(2, 500)]
    with pytest.raises(Unusable, match="full"):
        file.add(mark, lines)
    assert numbers(file, "red door") == [1]
    with file._usable() as db:
        db.execute("PRAGMA max_page_count = 100000")
    assert file.add(mark, lines).seq == 499
    file.close()


def test_it_is_for_its_owner_s_eyes_only(tmp_path: Path) -> None:
    """As the store's own files are."""
    file = filled(tmp_path / "index" / "x.db", "secret")
    modes = {each.name: each.stat().st_mode & 0o077 for each in (tmp_path / "index").glob("x.db*")}
    assert modes
    assert set(modes.values()) == {0}
    assert (tmp_path / "index").stat().st_mode & 0o077 == 0
    file.close()
