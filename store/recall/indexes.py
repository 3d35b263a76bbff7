"""The indexes of a process: one file a space, filled from the ledger when somebody asks and kept up while they do.

    indexes = Indexes(ledger, folder)            folder None: one of its own, gone at the end
    await indexes.search("fleet", tip, query, filter, limit=8, now=ms)      Answer, or Unusable
    await indexes.forget("fleet")                after a redaction: what was erased is in no file any more
    await indexes.close()

All that touches a file runs in threads of its own, so nobody else waits for it.
"""

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import structlog

from .file import Damaged, IndexFile, Mark, Unusable, is_of, last_mark, link_at
from .query import Query
from .search import Filter, Found, search

__all__ = ["Answer", "Indexes", "Ledger", "Ring", "Tip", "Unusable"]

T = TypeVar("T")

PATIENCE = 0.2  # seconds that a query waits for the index to get to where the ledger ends
BATCH = 250  # entries added at once
THREADS = 2  # that search; as many fill, so that neither waits in the other's queue
SPACES = 32  # whose files are open; the one asked longest ago is closed
WATCHED = 600.0  # seconds after the last query that an index is kept up without being asked
PAUSE = 0.1  # seconds between a commit and its indexing, so that many are taken together
AGAIN = 5.0  # seconds after which an index that could not be kept up is looked after again
TRIES = 3  # at a file that turns out to be damaged or another ledger's

log = structlog.get_logger(__name__)


class Tip(NamedTuple):
    """Where a ledger ends: the number and link of its last entry."""

    seq: int
    link: str


class Ring(Protocol):
    """Rings when something was committed."""

    over: bool

    def next_ring(self) -> asyncio.Event:
        """Set at the next commit."""


class Ledger(Protocol):
    """Where the entries come from."""

    #: What reading it may raise when it cannot be reached.
    unreachable: tuple[type[Exception], ...]

    async def tip(self, space: str) -> Tip:
        """Where the space's ledger ends."""

    async def records(self, space: str, first: int, count: int) -> list[bytes]:
        """The records from a number on, fewer where it ends."""

    def listen(self, space: str) -> AbstractAsyncContextManager[Ring]:
        """A bell for the space's commits."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found; `behind` counts entries that the index does not have yet, `why` says what keeps it."""

    found: Found
    behind: int = 0
    why: str = ""


class Indexes:
    """All indexes of this process. Close it when done."""

    def __init__(self, ledger: Ledger, folder: Path | None = None) -> None:
        self._ledger, self._folder = ledger, folder
        self._threads: _Threads | None = None
        self._spaces: dict[str, _Space] = {}  # asked longest ago first
        self._closing: set[asyncio.Task[None]] = set()  # of those that are no longer among them
        self._making: asyncio.Task[Path] | None = None  # of a folder of its own
        self._over = False

    async def search(
        self, space: str, tip: Tip, query: Query, filter: Filter, *, limit: int, now: int, patience: float = PATIENCE
    ) -> Answer:
        """Search, once the index has got to `tip`, or `patience` seconds have passed. Raises Unusable."""
        async with self._used(space) as found:
            return await found.search(tip, query, filter, limit=limit, now=now, patience=patience)

    async def forget(self, space: str) -> None:
        """Make the space's file anew, for every process that shares it. Raises Unusable."""
        async with self._used(space) as found:
            await found.forget()

    async def close(self) -> None:
        """Stop what runs and close the files."""
        self._over = True
        for space in list(self._spaces.values()):
            self._leave(space)
        await asyncio.gather(*self._closing)
        if self._threads:
            await asyncio.to_thread(self._threads.end)
        if self._making:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(shutil.rmtree, await self._making, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def _used(self, space: str) -> "AsyncIterator[_Space]":
        """The index of a space, which is not closed while it is used."""
        folder = None if self._over else self._folder or await self._own_folder()
        if self._over or folder is None:
            raise Unusable("this process is ending")
        if self._threads is None:
            self._threads = _Threads()
        found = self._spaces.pop(space, None) or _Space(space, folder, self._ledger, self._threads)
        self._spaces[space] = found
        found.users += 1
        try:
            yield found
        finally:
            found.users -= 1
            idle = [each for each in self._spaces.values() if not each.users]
            for each in idle[: max(0, len(self._spaces) - SPACES)]:
                self._leave(each)

    async def _own_folder(self) -> Path:
        """A folder that is made once and gone at the end, whoever gives up waiting for it."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(_new_folder))
        try:
            return await asyncio.shield(self._making)
        except OSError as why:
            self._making = None
            raise Unusable((why.strerror or type(why).__name__).lower()) from why

    def _leave(self, space: "_Space") -> None:
        """Close one, in a task of its own: whoever asked may be gone before it is done."""
        del self._spaces[space.space]
        task = asyncio.create_task(space.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="logmem-index-"))


class _Threads:
    """Where what blocks is done: searching, and all that changes a file."""

    def __init__(self) -> None:
        self.search = ThreadPoolExecutor(THREADS, thread_name_prefix="recall")
        self.fill = ThreadPoolExecutor(THREADS, thread_name_prefix="index")

    def end(self) -> None:
        """Return when what runs is done."""
        self.search.shutdown()
        self.fill.shutdown()


class _Space:
    """The index of one space in this process."""

    def __init__(self, space: str, folder: Path, ledger: Ledger, threads: _Threads) -> None:
        self.space, self._ledger, self._threads = space, ledger, threads
        self._file = IndexFile(folder / f"{space}.db")
        self._mark: Mark | None = None  # up to where the file goes, when we looked last
        self._wanted = 0  # up to where it is to go
        self._why = ""  # what kept it from going there
        self._moved = asyncio.Event()  # set when it has gone further, or cannot
        self._asked = time.monotonic()
        self.users = 0
        self._over = False
        self._filling: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def search(self, tip: Tip, query: Query, filter: Filter, *, limit: int, now: int, patience: float) -> Answer:
        self._asked = time.monotonic()
        look = partial(_look, self._file, tip.seq, query, filter=filter, limit=limit, now=now)
        return await self._search(tip, look, patience)

    async def _search(self, tip: Tip, look: Callable[[], "_Look"], patience: float) -> Answer:
        give_up = self._asked + patience
        for attempt in range(TRIES):
            await self._reach(tip.seq, give_up)
            try:
                seen = await self._thread(look, self._threads.search)
            except Damaged:
                self._mark = None
                continue
            if seen.there and seen.there != tip.link:  # it is another ledger's
                await self._thread(self._file.discard)
                self._mark = None
                continue
            if seen.last.seq < tip.seq and attempt < TRIES - 1 and time.monotonic() < give_up and not self._why:
                self._mark = seen.last  # somebody has made it anew
                continue
            self._watch()
            return Answer(seen.found, max(0, tip.seq - seen.last.seq), self._why)
        raise Unusable(self._why or "the file is damaged again and again")

    async def forget(self) -> None:
        """Begin anew with an empty file."""
        await self._thread(self._file.discard)
        self._mark = None

    async def close(self) -> None:
        """Stop and close the file, for good."""
        self._over = True
        self._move()
        tasks = [task for task in (self._filling, self._watching) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(self._threads.fill, self._file.end)

    async def _reach(self, seq: int, give_up: float) -> None:
        """Wait until the file goes up to there, cannot, or it is too late."""
        self._want(seq)
        while (self._mark is None or self._mark.seq < seq) and self._filling and not self._filling.done():
            moved, left = self._moved, give_up - time.monotonic()
            if left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await moved.wait()

    def _want(self, seq: int) -> None:
        """Have the file filled up to there, if it is not."""
        self._wanted = max(self._wanted, seq)
        if self._mark and self._mark.seq >= self._wanted:
            return
        if not self._over and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._fill())

    async def _fill(self) -> None:
        try:
            begun, mark = 0, self._mark
            if mark is None:
                mark = await self._thread(self._file.mark)
            while mark.seq < self._wanted:
                mark = await self._add(mark)
                begun += not mark.seq
                if begun > TRIES:
                    raise Unusable("its file is thrown away again and again: another ledger may be kept in it too")
                self._mark, self._why = mark, ""
                self._move()
            self._mark = mark
        except Unusable as why:
            self._mark, self._why = None, str(why)
        except self._ledger.unreachable:
            self._why = "the store does not answer"
        except Exception as fault:  # a record that cannot be read must not stop all others unseen
            self._mark, self._why = None, "the index could not be filled; the log of the server says why"
            log.exception("index_not_filled", space=self.space, exc_info=fault)
        finally:
            self._move()

    async def _add(self, mark: Mark) -> Mark:
        """One batch further; from the beginning if the ledger is not the one that the file was filled from."""
        records = await self._ledger.records(self.space, max(1, mark.seq), BATCH)
        if mark.seq:
            if not records or not is_of(mark, records[0]):
                await self._thread(self._file.discard)
                return await self._thread(self._file.mark)
            del records[0]
        if not records:  # the ledger ends before what was wanted
            self._wanted = mark.seq
            return mark
        return await self._thread(partial(self._file.add, mark, records))

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    def _watch(self) -> None:
        """Keep it up for a while, so that the next query finds little to do."""
        if not self._over and (self._watching is None or self._watching.done()):
            self._watching = asyncio.create_task(self._keep_up())

    async def _keep_up(self) -> None:
        while time.monotonic() - self._asked < WATCHED:
            try:
                async with self._ledger.listen(self.space) as bell:
                    await self._follow(bell)
                return
            except self._ledger.unreachable as lost:
                log.debug("index_not_kept_up", space=self.space, error=type(lost).__name__)
            except Exception as fault:  # nobody else would hear of it
                log.exception("index_not_kept_up", space=self.space, exc_info=fault)
            await asyncio.sleep(AGAIN)

    async def _follow(self, bell: Ring) -> None:
        """Have each commit added, until nobody has asked for long."""
        while not bell.over and time.monotonic() - self._asked < WATCHED:
            ring = bell.next_ring()
            self._want((await self._ledger.tip(self.space)).seq)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WATCHED / 10):
                    await ring.wait()
            await asyncio.sleep(PAUSE)

    async def _thread(self, work: Callable[[], T], pool: ThreadPoolExecutor | None = None) -> T:
        if self._over:
            raise Unusable("this process is ending")
        return await asyncio.get_running_loop().run_in_executor(pool or self._threads.fill, work)


class _Look(NamedTuple):
    """One look into a file: up to where it goes, its link where the ledger ends, and what was found."""

    last: Mark
    there: str
    found: Found


def _look(file: IndexFile, tip: int, query: Query, *, filter: Filter, limit: int, now: int) -> _Look:
    with file.reading() as db:
        db.execute("BEGIN")  # one state of the file for all of it
        try:
            return _Look(last_mark(db), link_at(db, tip), search(db, query, filter, limit=limit, now=now))
        finally:
            db.execute("ROLLBACK")
