"""The file of one space's index: SQLite with FTS5, filled from the ledger's records, thrown away when it is in doubt.

    file = IndexFile(folder / "fleet.db")
    file.mark()                      Mark: up to which entry it goes
    file.add(mark, records)          the records after that one, in one transaction
    with file.reading() as db: …     a connection to search with

All of it blocks: call it in a thread. Several processes may share a file. When it is thrown away, the next one has
another inode and another generation: who still has the old one open notices and opens the new one, and what was read
from the ledger for the old one is not added to the new one. Unusable: the folder or disk does not let us.
"""

import contextlib
import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..domain.entry import sequence
from ..ledger.chain import record
from .row import Row, row

SCHEMA = 3  # of the file, and of what the words of an entry are: one of another number is made anew
PATIENCE = 5.0  # seconds for another process that is writing
GENTLE = 8  # entries read between two moments in which other threads may go on

_TABLES = """
CREATE TABLE file (generation TEXT);
INSERT INTO file VALUES (hex(randomblob(8)));
CREATE TABLE entry (seq INTEGER PRIMARY KEY, id TEXT, link TEXT, kind TEXT, fact TEXT, head TEXT, rest TEXT,
                    places TEXT);
CREATE TABLE name (name TEXT, seq INTEGER, PRIMARY KEY (name, seq)) WITHOUT ROWID;
CREATE TABLE term (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
CREATE VIRTUAL TABLE words USING fts5 (head, rest, tags, content='', columnsize=0,
                    tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc Me'");
CREATE VIRTUAL TABLE parts USING fts5 (text, content='', tokenize='trigram');
"""
_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "temp_store=MEMORY", "cache_size=-8192")


class Unusable(Exception):
    """The index cannot be kept here; the message says what the system said."""


class Damaged(Unusable):
    """The file was damaged or is gone: the next use makes it anew."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The last entry that an index has: its number, and its id and link for telling ledgers apart.

    `generation` is drawn when a file is made: two that are empty are not the same.
    """

    seq: int = 0
    id: str = ""
    link: str = ""
    generation: str = ""


class IndexFile:
    """One file, opened when first used. One writes at a time; as many read as have a thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inode = self._times = 0  # of the file that is open; how often one was opened
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._ended = False
        self._writing = threading.RLock()  # whoever writes, opens or closes; taken before the other
        self._lists = threading.Lock()

    def mark(self) -> Mark:
        """Up to where it goes."""
        with self._usable() as db:
            return last_mark(db)

    def add(self, after: Mark, records: Sequence[bytes]) -> Mark:
        """Add the records that follow `after`, unless another process has; up to where the index goes then."""
        rows = []
        for n, raw in enumerate(records):
            if not n % GENTLE:
                time.sleep(0)
            rows.append(row(record(raw)))
        with self._usable() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                if last_mark(db) == after:
                    _write(db, rows)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            return last_mark(db)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one thread, beside those of others and beside the one that writes."""
        with _told():
            self._current()
            db, times = self._reader()
            try:
                yield db
            except sqlite3.OperationalError as why:
                self._shut(db)
                if times != self._times or self._inode != _inode(self.path):
                    raise Damaged(str(why)) from why  # it was thrown away meanwhile
                raise
            except sqlite3.DatabaseError as why:
                self._shut(db)
                self.discard()
                raise Damaged(str(why)) from why
            except BaseException:
                self._shut(db)
                raise
            with self._lists:
                if times == self._times and not self._ended:
                    self._readers.append(db)
                    return
            self._shut(db)

    def _reader(self) -> tuple[sqlite3.Connection, int]:
        with self._lists:
            if self._readers:
                return self._readers.pop(), self._times
            times = self._times
        return self._opened()[0], times

    def discard(self) -> None:
        """Throw the file away; the next use makes it anew, empty."""
        with self._writing, _told():
            self._have_folder()
            with self._locked():
                self._remove()
            self.close()

    def end(self) -> None:
        """Close it for good: who comes later is told Unusable, and what is still read from is closed after that."""
        with self._writing:
            self._ended = True
            self.close()

    def close(self) -> None:
        """Close what is open; the next use opens it again."""
        with self._writing:
            with self._lists:
                opened = [db for db in (self._writer, *self._readers) if db]
                self._writer, self._readers, self._inode = None, [], 0
                self._times += 1
            self._shut(*opened)

    def _shut(self, *opened: sqlite3.Connection) -> None:
        """Close these. The last one of a file removes by name what belongs to it, and must not remove another's."""
        with contextlib.ExitStack() as alone:
            with contextlib.suppress(OSError):  # such as when the folder is gone, and nothing is left to be removed
                alone.enter_context(self._locked())
            for db in opened:
                with contextlib.suppress(sqlite3.Error):
                    db.close()

    @contextlib.contextmanager
    def _usable(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes. What is damaged is thrown away, so that the caller's next try begins anew."""
        with self._writing, _told():
            self._current()
            db = self._writer
            assert db  # noqa: S101 - opened just now
            try:
                yield db
            except sqlite3.OperationalError:
                raise  # full, read-only, locked: what is there is as good as before
            except sqlite3.DatabaseError as why:
                self.discard()
                raise Damaged(str(why)) from why

    def _current(self) -> None:
        """Have the file of this name open, and no other that once had it."""
        if self._ended:
            raise Unusable("this process is ending")
        if self._writer and self._inode == _inode(self.path):
            return
        with self._writing:
            if self._ended:
                raise Unusable("this process is ending")
            if self._writer and self._inode != _inode(self.path):
                self.close()
            if self._writer is None:
                self._writer, self._inode = self._opened()

    def _opened(self) -> tuple[sqlite3.Connection, int]:
        """A connection to the file, made anew if it is another version's or damaged; and its inode."""
        self._have_folder()
        with self._locked():
            try:
                db = self._connect()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._make()
                db = self._connect()
            return db, _inode(self.path)

    def _connect(self) -> sqlite3.Connection:
        """A connection to a file that has our tables. Only while it is locked."""
        if not self.path.exists():
            self._make()
        db = _opened(self.path)
        try:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if version != SCHEMA and (version or tables):
                db.close()
                self._make()
                db, tables = _opened(self.path), 0
            if not tables:
                db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version={SCHEMA}; COMMIT;")
        except BaseException:
            db.close()
            raise
        return db

    def _make(self) -> None:
        """An empty file for this user's eyes only; what is left of an old one would be taken for its own."""
        self._remove()
        self.path.touch(mode=0o600)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among all processes in throwing the file away, and in opening or closing it.

        SQLite finds what belongs to a file by its name, and must not find another's.
        """
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _have_folder(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """What the system or SQLite says, as one error."""
    try:
        yield
    except OSError as why:
        raise Unusable((why.strerror or type(why).__name__).lower()) from why  # without the path
    except sqlite3.Error as why:
        raise Unusable(str(why)) from why


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there: SQLite would make one that others may read."""
    name = f"file:{quote(str(path))}?mode=rw"
    db = sqlite3.connect(name, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
    except BaseException:
        db.close()
        raise
    return db


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return -1


def last_mark(db: sqlite3.Connection) -> Mark:
    """Up to where a file goes."""
    (generation,) = db.execute("SELECT generation FROM file").fetchone()
    found = db.execute("SELECT seq, id, link FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    seq, id, link = found or (0, "", "")
    return Mark(seq, id, link, generation)


def link_at(db: sqlite3.Connection, seq: int) -> str:
    """The link that a file has of the entry with this number, '' where it has none."""
    found = db.execute("SELECT link FROM entry WHERE seq = ?", (seq,)).fetchone()
    return str(found[0]) if found else ""


def is_of(mark: Mark, raw: bytes) -> bool:
    """Whether this record is the entry up to which a file goes."""
    known = record(raw)
    return (mark.seq, mark.id, mark.link) == (sequence(known.id), known.id, known.link)


def _write(db: sqlite3.Connection, rows: Sequence[Row]) -> None:
    db.executemany(
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((r.seq, r.id, r.link, r.kind, r.fact, r.head, r.rest, r.tags) for r in rows),
    )
    told = [r for r in rows if r.kind]
    db.executemany(
        "INSERT INTO words (rowid, head, rest, tags) VALUES (?, ?, ?, ?)",
        ((r.seq, r.head, r.rest, r.tags) for r in told),
    )
    db.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", ((n, r.seq) for r in told for n in r.names))
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM term").fetchone()
    terms = dict.fromkeys(t for r in told for t in r.terms)
    db.executemany("INSERT OR IGNORE INTO term (text) VALUES (?)", ((t,) for t in terms))
    db.execute("INSERT INTO parts (rowid, text) SELECT id, text FROM term WHERE id > ?", (last,))
