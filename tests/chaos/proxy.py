"""A way to the engine on which anything can happen to a request, and to its reply."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

PIECE = 1 << 20
EVER = 1_000_000_000
GATE_PATIENCE = 20.0  # seconds that a gate waits for the last of those it is to gather
COMMIT = b"\r\nEVAL"  # EVALSHA and EVAL: what commits go by
ANY = b""


class Fate(Enum):
    """What happens to a request that is met."""

    CUT_BEFORE = auto()  # the connection breaks, and the engine never hears of it
    CUT_AFTER = auto()  # the engine does it, and the connection breaks before the reply
    HOLE = auto()  # it goes nowhere, and nothing is said
    LATE = auto()  # it is handed on after `delay`
    GATE = auto()  # it is held until as many as `times` are held, then all are handed on at once


@dataclass
class Trouble:
    """One kind of fate, for the next `times` requests that hold `match`; after them comes `then`."""

    fate: Fate
    match: bytes = COMMIT
    times: int = 1
    delay: float = 0.0  # seconds
    then: "Trouble | None" = None
    met: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)  # the first was met
    opened: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Proxy:
    """Hands requests to the engine and replies back, unless there is trouble."""

    engine: Path
    path: Path
    trouble: Trouble | None = None
    _links: set[asyncio.Task[None]] = field(default_factory=set)

    def next(
        self, fate: Fate, *, match: bytes = COMMIT, times: int = 1, delay: float = 0.0, then: Trouble | None = None
    ) -> Trouble:
        """Have this happen to the next `times` requests that hold `match`; `met` tells how many it was."""
        self.trouble = Trouble(fate, match, times, delay, then)
        return self.trouble

    def heal(self) -> None:
        """Hand everything on again."""
        self.trouble = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it or something happens to it."""
        task = asyncio.current_task()
        assert task
        self._links.add(task)
        try:
            await self._link(reader, writer)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass
        finally:
            self._links.discard(task)
            writer.close()

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(self.engine, limit=PIECE)
        lost = asyncio.Event()  # the next reply is not handed back
        replies = asyncio.create_task(_hand_back(back, writer, lost))
        try:
            while request := await reader.read(PIECE):
                trouble = self._meets(request)
                if trouble and not await _befalls(trouble, lost):
                    continue
                if trouble and trouble.fate is Fate.CUT_BEFORE:
                    return
                forth.write(request)
        finally:
            forth.close()
            if not lost.is_set():
                replies.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await replies

    def _meets(self, request: bytes) -> Trouble | None:
        trouble = self.trouble
        if trouble is None or trouble.match not in request or trouble.met >= trouble.times:
            return None
        trouble.met += 1
        trouble.begun.set()
        if trouble.met == trouble.times and trouble.then:
            self.trouble = trouble.then
        return trouble

    async def end(self) -> None:
        """End all connections."""
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)


async def _befalls(trouble: Trouble, lost: asyncio.Event) -> bool:
    """Whether the request is still to be handed on."""
    match trouble.fate:
        case Fate.HOLE:
            return False
        case Fate.CUT_AFTER:
            lost.set()
        case Fate.LATE:
            await asyncio.sleep(trouble.delay)
        case Fate.GATE:
            if trouble.met == trouble.times:
                trouble.opened.set()
            async with asyncio.timeout(GATE_PATIENCE):
                await trouble.opened.wait()
    return True


async def _hand_back(back: asyncio.StreamReader, writer: asyncio.StreamWriter, lost: asyncio.Event) -> None:
    """Replies, until one is to be lost: the connection breaks in its place."""
    with suppress(ConnectionError):
        while (reply := await back.read(PIECE)) and not lost.is_set():
            writer.write(reply)
    writer.close()


@asynccontextmanager
async def proxy(engine: Path, folder: Path) -> AsyncIterator[Proxy]:
    """A proxy before the engine with this socket; its own is in `folder`."""
    way = Proxy(engine, folder / "proxy.sock")
    server = await asyncio.start_unix_server(way.serve, way.path, limit=PIECE)
    try:
        yield way
    finally:
        server.close()
        await way.end()
