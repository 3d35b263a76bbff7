"""What `up` keeps alive: the API, the scheduler, the bot and the store. What dies is started again, later each time."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import redis

from store.engine.botstore import STARTING, STOPPED, WELL, bot_state
from store.engine.client import StoreProblem, Target, open_client
from store.engine.tenancy import keep_running
from store.settings import Settings

from . import botkeys
from .botkeys import without_token
from .fault import CAUSES, UNREACHABLE, Fault
from .importpath import environment
from .show import inert, say

FIRST_DELAY, LAST_DELAY = 0.1, 10.0  # seconds before a child is started again
STEADY = 30.0  # seconds of life after which a child counts as well again
TRIES = 3  # starts of an API that has never been ready
GRACE = 6.0  # seconds that the API has to end, of which it takes up to 4 for calls in progress
LOG_LIMIT = 5 << 20  # bytes of a child's log; one older piece of that size is kept
LOG_LOOK = 5.0  # seconds between two looks at its length
LAST_WORDS = 5  # lines of a log that are quoted
TOKEN_LOOK = 0.5  # seconds between two looks at the token that is saved
STATE_LOOK = 1.0  # seconds between two looks at how the bot does


class Delay:
    """How long to wait before the next start: longer each time, from the beginning after a steady life."""

    def __init__(self) -> None:
        self._next, self._started = FIRST_DELAY, time.monotonic()

    def started(self) -> None:
        self._started = time.monotonic()

    async def wait(self) -> None:
        if time.monotonic() - self._started > STEADY:
            self._next = FIRST_DELAY
        await asyncio.sleep(self._next)
        self._next = min(2 * self._next, LAST_DELAY)


class Child:
    """A process of ours that is kept: when it ends it is started again, later each time. Its log is a file.

    `env` is all that it inherits; `fds` are open files that it is handed.
    """

    name = "child"

    def __init__(self, module: str, *options: str, log: Path, env: Mapping[str, str], fds: Sequence[int] = ()) -> None:
        self.log = log
        # The end of its stdin tells the child that we are gone, however we went.
        self._command = [sys.executable, "-I", "-m", module, *options, "--stop-with-stdin"]
        self._env, self._fds = dict(env), fds
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._starting = asyncio.Lock()  # held while there is nothing yet that could be stopped

    async def keep(self) -> None:
        """Run it until `stop`."""
        delay = Delay()
        for attempt in range(1, sys.maxsize):
            delay.started()
            code = await self._run()
            if self._stopping:
                return
            self._ended(code, attempt)
            await delay.wait()

    def _ended(self, code: int, attempt: int) -> None:
        """Say that it ended by itself."""
        say(f"{self.name} ended (exit code {code}): starting it again. Its log: {self.log}")

    async def _run(self) -> int:
        async with self._starting:
            if self._stopping:
                return 0
            with self.log.open("ab") as log:
                os.fchmod(log.fileno(), 0o600)
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=self._fds,
                    env=self._env,
                    start_new_session=True,  # Ctrl-C on the terminal is for us; we stop it in good order
                )
        return await self._process.wait()

    async def stop(self) -> None:
        """End it for good: what is in progress gets a few seconds, then it is killed."""
        self._stopping = True
        await self._end()

    async def _end(self) -> None:
        async with self._starting:
            if self._process is None:
                return
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE):
                await self._process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._process.wait()

    def _signal(self, sign: signal.Signals) -> None:
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(sign)


class Api(Child):
    """The API process over a listening socket that outlives it, so that its port stays and calls wait meanwhile.

    `env` is what it inherits, instead of our own environment.
    """

    name = "The API"

    def __init__(
        self, settings: Settings, listener: socket.socket, log: Path, *, env: Mapping[str, str] | None = None
    ) -> None:
        self._host, self._port = listener.getsockname()[:2]
        ours = {
            **without_token(environment() if env is None else env),
            "LOGMEM_HOME": str(settings.home),
            "LOGMEM_HOST": settings.host,
            "LOGMEM_PORT": str(self._port),
        }
        for name in ("LOGMEM_REST_TOKEN", "LOGMEM_REST_TOKEN_FILE"):  # an agent's key: none of the server's business
            ours.pop(name, None)
        super().__init__("api", "--fd", str(listener.fileno()), log=log, env=ours, fds=[listener.fileno()])
        self._ready = False

    def _ended(self, code: int, attempt: int) -> None:
        """Fault: it has never come to be ready."""
        if not self._ready and attempt >= TRIES:
            raise Fault(f"The API does not start (exit code {code}). {last_words(self.log)}", code=UNREACHABLE)
        super()._ended(code, attempt)

    async def ready(self) -> None:
        """Return once /readyz answers 200. It is asked at once: the socket takes the call before the child does."""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if await self._answers():
                    self._ready = True
                    return
            await asyncio.sleep(FIRST_DELAY)

    async def _answers(self) -> bool:
        local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - called, not bound
        reader, writer = await asyncio.open_connection(local, self._port)
        try:
            host = f"[{local}]" if ":" in local else local
            writer.write(f"GET /readyz HTTP/1.1\r\nHost: {host}:{self._port}\r\nConnection: close\r\n\r\n".encode())
            return (await reader.readline()).split()[1:2] == [b"200"]
        finally:
            writer.close()


class Beside(Child):
    """One that keeps nobody else from running where it cannot start."""

    _told = ""

    def _ended(self, code: int, attempt: int) -> None:
        """Say why, and the same only once: what is wrong may be mended elsewhere."""
        why = last_words(self.log, 1).partition("\n")[2]
        why = "" if why.startswith("{") else why + " "  # a line of the log is no sentence
        if attempt == 1 or why != self._told:
            say(f"{self.name} ended (exit code {code}) and is tried again; all else goes on. {why}Its log: {self.log}")
        self._told = why


class Scheduler(Beside):
    """The scheduler, which writes down what time brings."""

    name = "The scheduler"

    def __init__(self, settings: Settings, target: Target, log: Path) -> None:
        env = botkeys.only_ours(environment(), botkeys.LOGGING) | {"LOGMEM_HOME": str(settings.home)}
        if "scheduler_port" not in settings.model_fields_set:
            env |= {"LOGMEM_SCHEDULER_PORT": "0"}  # for health alone, and two may run here
        super().__init__("scheduler", log=log, env=env | store_environment(settings, target))


class Bot(Beside):
    """The Telegram bot: it runs while there is a token.

    A token of the environment is there from the start; one that is saved in the state folder may come, change and go.
    """

    name = "The Telegram bot"

    def __init__(self, settings: Settings, log: Path, *, env: Mapping[str, str]) -> None:
        super().__init__("bot", log=log, env=env)
        self._home = settings.home
        self._given = settings.bot_token is not None

    async def keep(self) -> None:
        """Run it until `stop`, whenever there is a token."""
        while not self._stopping:
            token = await self._token()
            running = asyncio.create_task(super().keep())
            changed = asyncio.create_task(self._changed(token))
            try:
                await asyncio.wait((running, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (running, changed):
                    task.cancel()
                await asyncio.gather(running, changed, return_exceptions=True)
                await self._end()
                self._process = None

    async def _token(self) -> str:
        """The token, as soon as there is one; '' for the environment's."""
        while not self._given and not botkeys.saved(self._home):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(TOKEN_LOOK)
        return "" if self._given else botkeys.saved(self._home)

    async def _changed(self, token: str) -> None:
        """Return once another token is saved, or none."""
        while self._given or botkeys.saved(self._home) == token:  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(TOKEN_LOOK)
        self._told = ""


def bot_environment(settings: Settings, target: Target, *, url: str) -> dict[str, str]:
    """What the bot gets: the store with its own user's password alone named, the API's address, its two secrets."""
    found = botkeys.only_ours(environment()) | botkeys.credential(settings)
    found |= {"LOGMEM_HOME": str(settings.home), "LOGMEM_API_URL": url}
    if not botkeys.from_environment():
        found |= {"LOGMEM_BOT_TOKEN_FILE": str(botkeys.token_file(settings.home))}
    if not (settings.webhook_url or "bot_port" in settings.model_fields_set):
        found |= {"LOGMEM_BOT_PORT": "0"}  # for health alone, which `up` learns from the store: two may run here
    return found | store_environment(settings, target)


async def watch_bot(target: Target) -> None:
    """Say what Telegram has against the bot, whenever that changes, and when it is at work again."""
    began, told = time.time() * 1000, ("", "")
    async with open_client(target, user="lm-read") as reader:
        while True:
            await asyncio.sleep(STATE_LOOK)
            with contextlib.suppress(redis.RedisError, OSError):
                state = await bot_state(reader)
                if int(state.get("at") or 0) < began or state.get("state") in (STARTING, STOPPED):
                    continue
                now = state.get("state", ""), state.get("why", "")
                if now != told and (now[0] != WELL or told[0]):
                    say(_of_bot(state))
                told = now


def _of_bot(state: Mapping[str, str]) -> str:
    match state.get("state"):
        case "polling":
            return f"The Telegram bot{f' @{name}' if (name := state.get('username')) else ''} is at work again."
        case "unauthorized":
            return "Telegram does not know the bot's token. All else goes on. For another: logmem telegram set-up"
        case "conflict":
            return "Another process asks Telegram with the bot's token, so this one hears little. Stop the other one."
    why = state.get("why")
    why = CAUSES.get(why) or inert(why) if why else state.get("state")
    return f"The Telegram bot does not reach Telegram ({why}), and tries again."


def store_environment(settings: Settings, target: Target) -> dict[str, str]:
    """Where the store is, for a process that must not start one."""
    if settings.redis_uri:
        names = ("LOGMEM_REDIS_URI", "LOGMEM_REDIS_URI_FILE", "LOGMEM_REDIS_SECRETS")
        return {name: os.environ[name] for name in names if name in os.environ}
    path = dict(target.where)["path"]
    return {"LOGMEM_REDIS_URI": f"unix://{quote(str(path))}", "LOGMEM_REDIS_SECRETS": str(target.secrets)}


async def keep_store(home: Path, *, fsync: str) -> None:
    """Start the embedded store again whenever it dies."""
    delay = Delay()
    while True:
        try:
            server = await asyncio.to_thread(keep_running, home, fsync=fsync)
        except StoreProblem as why:
            say(str(why))
        else:
            if server.started:
                say(f"The store had ended and was started again. What it said last: {home / 'store' / 'server.log.1'}")
            delay.started()
            await ended(server.pid)
        await delay.wait()


async def ended(pid: int) -> None:
    """Return when the process has ended, or if there is none (that we can see)."""
    if not hasattr(os, "pidfd_open"):
        while _lives(pid):  # noqa: ASYNC110 - where the system tells nobody, one has to look
            await asyncio.sleep(FIRST_DELAY)
        return
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def last_words(log: Path, most: int = LAST_WORDS) -> str:
    """What a child said last, at most so many lines of it."""
    lines = [each for each in log.read_text(errors="replace").splitlines() if each.strip()][-most:]
    return "\n".join([f"{log} ends with:", *lines])


async def bound(log: Path) -> None:
    """Keep a log from growing for ever. It is cut in place: the child goes on writing at its end."""
    while True:
        await asyncio.sleep(LOG_LOOK)
        await asyncio.to_thread(cut, log)


def cut(log: Path, limit: int = LOG_LIMIT) -> None:
    """Where a log is longer than `limit` bytes, move that much of its end away and begin anew."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > limit:
            old = log.with_name(log.name + ".1")
            old.touch(mode=0o600)
            with log.open("rb") as file:
                file.seek(-limit, os.SEEK_END)
                old.write_bytes(file.read())
            os.truncate(log, 0)
