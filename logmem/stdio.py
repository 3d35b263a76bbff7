"""`stdio`: LogMem as an MCP server over stdin and stdout, for clients that start their servers as processes."""

import asyncio
import os
import queue
import signal
import threading
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from store.domain.text import quoted

from .fault import UNREACHABLE, USAGE, Fault
from .message import Overlong
from .server import Lost, Unreached
from .show import say

if TYPE_CHECKING:
    from store.settings import Settings

    from .server import Access

LONGEST = 8 << 20  # bytes of a line that are read whole
HEAD, TAIL = 64 << 10, 1 << 10  # bytes of a longer one that are kept, to find out whose request it is
STARTS = 3.0  # seconds for which a server that is away is asked again when we start; some clients wait 10 s in all
ANSWERS = 6.0  # seconds for its answer
IDLE = 2.0  # seconds that an idle connection is used again: some proxies end theirs after 5
POLL = 0.2  # seconds between two looks at a server that is away
NEEDED = ("space", "agent", "rest_url", "rest_token")
ABOUT = "logmem connect CLIENT writes all four; by hand: the space, the agent's id, the server's address, its key"


def stdio(
    retry_for: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="How long a server that is away is waited for. Some clients wait 60 s for an answer."
        ),
    ] = "50s",
) -> None:
    """Be an MCP server on stdin and stdout, for clients that start one; it passes everything on to LogMem.

    LOGMEM_SPACE, LOGMEM_AGENT, LOGMEM_REST_URL and LOGMEM_REST_TOKEN must be set, and fit each other.
    """
    from . import server

    patience = _seconds(retry_for)
    found = _settings()
    _check_set(found)
    access = server.access(found, program="stdio")
    _check_fit(access, found)
    asyncio.run(_bridge(access, patience))


def _settings() -> "Settings":
    """The settings in force. Fault: one that cannot be used. What a client waits for imports no more than it needs."""
    from store.settings import BadSetting, load

    try:
        found = load()
    except BadSetting as why:
        raise Fault(str(why), code=USAGE) from None
    if os.environ.get("LOGMEM_LOG_LEVEL"):
        from .setting import quiet

        quiet(found)
    return found


def _seconds(text: str) -> float:
    from store.domain.errors import Refused
    from store.domain.moments import HOUR, duration

    try:
        return duration(text, low=0, high=HOUR, name="--retry-for") / 1000
    except Refused as no:
        raise Fault(no.message.replace(" Nothing was written.", ""), code=USAGE) from None


def _check_set(found: "Settings") -> None:
    """Fault: a variable that is not set, or is no key."""
    missing = [f"LOGMEM_{name.upper()}" for name in NEEDED if getattr(found, name) is None]
    if missing:
        be = "is" if len(missing) == 1 else "are"
        raise Fault(f"{', '.join(missing)} {be} not set. {ABOUT} (logmem mint NAME).", code=USAGE)
    token = found.rest_token.get_secret_value() if found.rest_token else ""
    mint = f"Make a key: logmem mint {found.agent} --space {found.space}"
    if token.startswith("lms_"):
        raise Fault(f"LOGMEM_REST_TOKEN is a person's session, which is for the console only. {mint}", code=USAGE)
    if not (token.startswith("lmk_") and all(token.split("_", 2)[1:]) and token.count("_") >= 2):
        raise Fault(f"LOGMEM_REST_TOKEN is no key: one is lmk_…, as it was printed. {mint}", code=USAGE)


def _check_fit(access: "Access", found: "Settings") -> None:
    """One call, so that the server compares key, space and agent. Fault: they do not fit, or it does not answer."""
    from .server import Server

    give_up = time.monotonic() + STARTS
    with Server(access=access, answer=ANSWERS) as server:
        while True:
            try:
                server.ask("connection", "{}")
            except Fault as no:
                code = (no.body or {}).get("code")
                if code == "scope_denied":  # a key whose tools are few: who and where were compared before
                    return
                if no.code != UNREACHABLE:
                    raise Fault(_misfit(no, found)) from None
                if time.monotonic() > give_up or not isinstance(no, Lost | Unreached):
                    raise Fault(_away(no, access), code=UNREACHABLE) from None
                time.sleep(POLL)
            else:
                return


def _away(no: Fault, access: "Access") -> str:
    """Why the server does not answer, and what to do."""
    if isinstance(no, Lost) and not no.body:
        return f"LOGMEM_REST_URL is {access.url}: nothing answers there within {ANSWERS:.0f} s. Is it LogMem's address?"
    return f"LOGMEM_REST_URL is {access.url}: {str(no).replace(' Nothing was done.', '')}"


def _misfit(no: Fault, found: "Settings") -> str:
    """Which variable is wrong, and what to do."""
    body = no.body or {}
    space, agent = quoted(found.space or ""), quoted(found.agent or "")
    caller = quoted(str(body.get("caller", "")).partition(":")[2])
    opens = " or ".join(map(str, body.get("spaces") or ())) or "another"
    key = f"logmem mint {found.agent} --space {found.space}"
    texts = {
        "unauthenticated": f"LOGMEM_REST_TOKEN is not known at {found.rest_url}: it is mistyped, or a key of another "
        f"LogMem. Make one there: {key}",
        "key_expired": f"LOGMEM_REST_TOKEN has expired. Renew it: logmem renew {found.agent} --space {found.space}",
        "key_revoked": f"LOGMEM_REST_TOKEN was revoked. Make a new one: {key}",
        "identity_mismatch": f"LOGMEM_AGENT is {agent}, and LOGMEM_REST_TOKEN is the key of {caller}. "
        f"Set LOGMEM_AGENT to that, or use a key of {agent}.",
        "scope_unknown": f"LOGMEM_SPACE is {space}, and LOGMEM_REST_TOKEN opens {opens}. Set LOGMEM_SPACE to that, "
        f"or use a key of {space}.",
    }
    return texts.get(str(body.get("code")), f"LOGMEM_SPACE, LOGMEM_AGENT or LOGMEM_REST_TOKEN: {no}")


async def _bridge(access: "Access", patience: float) -> None:
    """Bridge until stdin ends, or somebody ends us, or nobody reads any more."""
    import httpx

    from .bridge import IN_FLIGHT, Bridge

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    lines, writer = _Lines(loop), _Writer(loop, stop)
    # Only JSON is asked for: a stream of events would have to be taken apart into messages.
    headers = {**access.headers, "Accept": "application/json"}
    limits = httpx.Limits(max_connections=2 * IN_FLIGHT, max_keepalive_connections=20, keepalive_expiry=IDLE)
    async with httpx.AsyncClient(**{**access.client(), "headers": headers}, limits=limits) as client:
        bridge = Bridge(client, f"{access.url}/mcp", patience, say)
        tasks = [asyncio.ensure_future(each) for each in (bridge.run(lines.read(), writer.write), stop.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        ended, _ = await asyncio.gather(*tasks, return_exceptions=True)
    if isinstance(ended, Exception) and not isinstance(ended, OSError):
        raise ended


class _Lines:
    """Lines of stdin, read by a thread: so stdin may be anything, and a read that never ends holds up nobody."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._read: asyncio.Queue[bytes | Overlong] = asyncio.Queue(16)  # a bound on what is read ahead
        threading.Thread(target=self._feed, daemon=True).start()

    async def read(self) -> AsyncIterator[bytes | Overlong]:
        """Each line without its end, until stdin ends."""
        while (line := await self._read.get()) != b"":
            yield line[:-1] if isinstance(line, bytes) and line.endswith(b"\n") else line

    def _feed(self) -> None:
        os.set_blocking(0, True)
        # A file of our own: that of `sys` would be closed under this thread at the end.
        with open(0, "rb", closefd=False) as file:
            more = True
            while more:
                line = _line(file)
                more = line != b""
                try:
                    asyncio.run_coroutine_threadsafe(self._read.put(line), self._loop).result()
                except (RuntimeError, asyncio.CancelledError):  # the loop has ended
                    return


def _line(file: BinaryIO) -> bytes | Overlong:
    """The next line; b'' at the end."""
    try:
        line = file.readline(LONGEST)
        if len(line) < LONGEST or line.endswith(b"\n"):
            return line
        tail = rest = line[-TAIL:]
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
            tail = (tail + rest[-TAIL:])[-TAIL:]
    except OSError:
        return b""
    return Overlong(line[:HEAD], tail)


class _Writer:
    """Lines to stdout, written by a thread: a client that does not read holds up its own answers only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, gone: asyncio.Event) -> None:
        self._loop, self._gone = loop, gone
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Until the line is written whole. OSError: nobody reads any more."""
        written = self._loop.create_future()
        self._lines.put((line + b"\n", written))
        await written

    def _work(self) -> None:
        os.set_blocking(1, True)
        while True:
            line, written = self._lines.get()
            wrong = None
            try:
                while line:
                    line = line[os.write(1, line) :]
            except OSError as why:
                wrong = why
            try:
                self._loop.call_soon_threadsafe(self._told, written, wrong)
            except RuntimeError:  # the loop has ended
                return

    def _told(self, written: "asyncio.Future[None]", wrong: OSError | None) -> None:
        if wrong:
            self._gone.set()
        if not written.done():
            written.set_exception(wrong) if wrong else written.set_result(None)
