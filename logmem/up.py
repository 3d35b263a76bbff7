"""`up`: everything on one machine, and what dies is started again. `serve`: one process alone."""

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any, Literal

import typer

from . import show
from .importpath import environment

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EARLY = 5  # seconds from a signal to the end of a start
LEFT_OVER = 3.0  # seconds for what a killed `up` has left to free its port
DEFAULT_SPACE, FIRST_OWNER = "fleet", "owner"

Port = Annotated[int | None, typer.Option(metavar="N", help="The port to listen on; 0 takes any free one.")]


def up(
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON when ready.")] = False,
    port: Port = None,
    space: Annotated[str | None, typer.Option(metavar="NAME", help="The space to open; made if absent.")] = None,
    no_bot: Annotated[bool, typer.Option("--no-bot", hidden=True)] = False,
) -> None:
    """Start LogMem on this machine: the store and the API. Ctrl-C stops all of it."""
    early = _Early()
    from store.target import reached

    from .setting import quiet, settings

    found = settings(port=port, space=space)
    found = found.model_copy(update={"home": found.home.absolute()})
    quiet(found)
    if no_bot:
        show.say("There is no bot in this version, so --no-bot changes nothing.")
    with _begun(found) as listener:
        show.say(f"Starting LogMem in {found.home} …")
        with reached(found, keep=True) as target:
            try:
                asyncio.run(_Up(found, target, listener).run(early, json=json))
            finally:  # what is left is to stop the store, which takes a moment
                _on_signals(signal.SIG_IGN)


@contextmanager
def _begun(found: Any) -> Iterator[socket.socket]:
    """The socket to listen on, with the state folder ours. Fault: neither is to be had, and nothing was made."""
    from . import home
    from .listener import listen

    patience = LEFT_OVER if found.port and home.left_over(found.home) else 0
    if not home.used(found.home):  # nobody else is up from there; a port in use leaves nothing behind
        with listen(found.host, found.port) as listener, home.alone(found.home):
            yield listener
        return
    with home.alone(found.home), listen(found.host, found.port, patience=patience) as listener:
        yield listener


def serve(
    what: Annotated[Literal["api"], typer.Argument(metavar="api", help="The process to run.")],
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = None,
    port: Port = None,
) -> None:
    """Run one process in the foreground, over the store that the settings name."""
    from .listener import listen
    from .setting import settings

    found = settings(host=host, port=port)
    listener = listen(found.host, found.port)
    env = environment() | {"LOGMEM_HOST": found.host, "LOGMEM_PORT": str(listener.getsockname()[1])}
    listener.set_inheritable(True)
    command = [sys.executable, "-I", "-m", what, "--fd", str(listener.fileno())]
    os.execve(sys.executable, command, env)  # noqa: S606 - our own module, in our own interpreter


class _Up:
    """One `up`, from an open target to the end of the API."""

    def __init__(self, settings: Any, target: Any, listener: socket.socket) -> None:
        from .children import Api
        from .setting import local_url

        self.settings, self.target = settings, target
        self.log = settings.home / "logs" / "api.log"
        self.api = Api(settings, listener, self.log)
        self.local = local_url(settings.host, listener.getsockname()[1])
        self.url = settings.public_url or self.local
        self.space = settings.space or DEFAULT_SPACE

    async def run(self, early: "_Early", *, json: bool) -> None:
        """Start, tell when ready, and keep it up until a signal comes. Fault, StoreProblem, Refused: it cannot."""
        from .children import bound, keep_store

        stop = asyncio.Event()
        for each in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        if early.over():
            return
        stopped: asyncio.Task[Any] = asyncio.create_task(stop.wait())
        parts = [self.api.keep(), bound(self.log), self._begin(json=json)]
        if not self.settings.redis_uri:
            parts.append(keep_store(self.settings.home, fsync=self.settings.fsync))
        work = {asyncio.create_task(part) for part in parts}
        try:
            waiting = work | {stopped}
            while not stop.is_set():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            show.say("Stopping …")
            await self.api.stop()
            for task in (*work, stopped):
                task.cancel()
            await asyncio.gather(*work, stopped, return_exceptions=True)

    async def _begin(self, *, json: bool) -> None:
        """Make what the first start makes, wait for the API, and tell how all is reached."""
        from store.target import opened

        from .home import Running, record

        async with opened(self.target) as store:
            link, owner = await self._login_path(store)
            promise = store.promise
        for warning in promise.warnings if promise else ():
            show.say(f"Warning: {warning}.")
        await self.api.ready()
        record(self.settings.home, Running(os.getpid(), self.local, self.space))
        ready = {
            "url": self.url,
            "mcp_url": f"{self.url}/mcp",
            "space": self.space,
            "console_login_url": self.url + link if link else None,
            "pid": os.getpid(),
            "home": str(self.settings.home),
            "durability": promise.level if promise else "unknown",
        }
        if json:
            show.as_json(ready)
        else:
            _tell(ready, owner=owner, means=promise.text if promise else "")

    async def _login_path(self, store: Any) -> tuple[str, str]:
        """Make the space if it is absent; a sign-in link for its owner while no owner is signed in, else ''; whose."""
        from store.domain.errors import Refused

        from .operate import Operator

        operator = Operator(store, self.settings, self.space, "--space")
        try:
            await operator.do("space")
        except Refused as no:
            if no.code != "id_taken":  # it is there already
                raise
        owners = [p for p in (await operator.do("people"))["people"] if p["role"] == "owner"]
        for owner in owners:
            if owner["signed_in"]:
                return "", owner["person"].partition(":")[2]
        if not owners:
            owners = [await operator.do("human", name=FIRST_OWNER, role="owner")]
        first: str = owners[0]["person"]
        link: str = (await operator.do("link", name=first))["link_path"]
        return link, first.partition(":")[2]


def _tell(ready: dict[str, Any], *, owner: str, means: str) -> None:
    """For eyes: where everything is, and what comes next."""
    command = "logmem" if shutil.which("logmem") else "./run"
    anew = f"{command} human link {owner} --space {ready['space']}"
    show.line(f"LogMem is up, with the space {ready['space']}. Ctrl-C stops it.", style="bold green")
    if ready["console_login_url"]:
        show.line(f"  Console   {ready['console_login_url']}")
        show.line(f"            signs {owner} in, once, within 10 minutes; for a new link: {anew}")
    else:
        show.line(f"  Console   {ready['url']}")
        show.line(f"            {owner} is signed in; for a link to sign in elsewhere: {anew}")
    show.line(f"  MCP URL   {ready['mcp_url']}")
    show.line(f"            for an agent: {command} mint NAME --space {ready['space']}")
    show.line("            it prints the agent's own URL, for the agent's MCP settings")
    show.line(f"  Approvers {command} human add NAME --role approver --space {ready['space']}")
    show.line(f"  Promise   {ready['durability']}: {means}")
    show.line("  Gate      advisory for agents that run as your user here: they can read the store's passwords.")
    show.line("            Give LogMem a user or a machine of its own to make it hold for them too (SECURITY.md).")


def _on_signals(what: Any) -> None:
    for each in SIGNALS:
        signal.signal(each, what)


class _Early:
    """Signals that come while we start: the step in progress is finished first, but not for long."""

    def __init__(self) -> None:
        self._came = False
        _on_signals(self._heard)
        signal.signal(signal.SIGALRM, self._heard)

    def _heard(self, sign: int, frame: FrameType | None) -> None:
        if self._came:
            sys.exit(0)  # what is open gets closed
        self._came = True
        signal.alarm(EARLY)

    def over(self) -> bool:
        """From now on signals go elsewhere; whether one has come already."""
        signal.alarm(0)
        return self._came
