"""`up`: everything on one machine, and what dies is started again. `serve`: one process alone."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import show
from .importpath import environment

if TYPE_CHECKING:
    from .operate import Operator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EARLY = 5  # seconds from a signal to the end of a start
LEFT_OVER = 3.0  # seconds for what a killed `up` has left to free its port
DEFAULT_SPACE = "fleet"

Port = Annotated[int | None, typer.Option(metavar="N", help="The port to listen on; 0 takes any free one.")]


def up(
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON when ready.")] = False,
    port: Port = None,
    space: Annotated[str | None, typer.Option(metavar="NAME", help="The space to open; made if absent.")] = None,
    zone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Time zone of the space, if it is made. Default: this machine's."),
    ] = None,
    no_bot: Annotated[bool, typer.Option("--no-bot", hidden=True)] = False,
) -> None:
    """Start LogMem on this machine: the store and the API. Ctrl-C stops all of it."""
    early = _Early()
    from store.target import reached

    from .setting import quiet, settings
    from .zone import checked

    zone = zone and checked(zone)
    found = settings(port=port, space=space)
    found = found.model_copy(update={"home": found.home.absolute()})
    quiet(found)
    if no_bot:
        show.say("There is no bot in this version, so --no-bot changes nothing.")
    with _begun(found) as listener:
        show.say(f"Starting LogMem in {found.home} …")
        with reached(found, keep=True) as target:
            try:
                asyncio.run(_Up(found, target, listener, zone).run(early, json=json))
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

    def __init__(self, settings: Any, target: Any, listener: socket.socket, zone: str | None) -> None:
        from .children import Api
        from .setting import local_url

        self.settings, self.target = settings, target
        self.log = settings.home / "logs" / "api.log"
        self.api = Api(settings, listener, self.log)
        self.local = local_url(settings.host, listener.getsockname()[1])
        self.url = settings.public_url or self.local
        self.space, self.zone = settings.space or DEFAULT_SPACE, zone

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

        from . import first
        from .home import Running, record

        async with opened(self.target) as store:
            days = await self._space(store)
            door = await self._door(store, ask=not json and first.attended())
            if door.new and not days:  # a start that made the space was left at the question
                days = first.days(self.space, self.zone or "", known=True)
            others = await self._operator(store).default() != self.space
            promise = store.promise
        for warning in promise.warnings if promise else ():
            show.say(f"Warning: {warning}.")
        await self.api.ready()
        record(self.settings.home, Running(os.getpid(), self.local, self.space))
        ready = {
            "url": self.url,
            "mcp_url": f"{self.url}/mcp",
            "space": self.space,
            "console_login_url": self.url + door.link if door.link else None,
            "pid": os.getpid(),
            "home": str(self.settings.home),
            "durability": promise.level if promise else "unknown",
        }
        start = first.Start(ready, door.owner, door.expires, door.new, days, others, promise.text if promise else "")
        if json:
            if days:
                show.say(days)
            show.as_json(ready)
        elif first.attended():
            first.tell(start)
        else:
            first.tell_plainly(start)

    def _operator(self, store: Any) -> "Operator":
        from .operate import Operator

        return Operator(store, self.settings, self.space, "--space")

    async def _space(self, store: Any) -> str:
        """Make the space if it is absent; what there is to tell of its days, or ''."""
        from store.domain.errors import Refused
        from store.domain.space import Space
        from store.engine.reads import Doc

        from . import first
        from .zone import of_machine

        known = self.zone or of_machine()
        zone = known or Space.zone
        try:
            await self._operator(store).do("space", zone=zone)
        except Refused as no:
            if no.code != "id_taken":  # it is there already
                raise
            [[there]] = await store.across([self.space], Doc(Space, self.space))
            wished, self.zone = self.zone, there.zone
            if wished in (None, self.zone):
                return ""
            return f"The space {self.space} was made in {self.zone} and stays there, whatever --zone says."
        return first.days(self.space, zone, known=bool(known))

    async def _door(self, store: Any, *, ask: bool) -> "_Door":
        """Make an owner if there is none; a link for one while none is signed in."""
        from . import first

        operator = self._operator(store)

        async def make(name: str) -> dict[str, Any]:
            return await operator.do("human", name=name, role="owner")

        owners = [p for p in (await operator.every("people"))["people"] if p["role"] == "owner"]
        for owner in owners:
            if owner["signed_in"]:
                return _Door(owner["person"].partition(":")[2])
        new = not owners
        if new:
            owners = [await first.make_owner(make) if ask else await make(first.FIRST_OWNER)]
        link = await operator.do("link", name=owners[0]["person"])
        return _Door(owners[0]["person"].partition(":")[2], link["link_path"], link["expires_at"], new)


@dataclass(frozen=True, slots=True)
class _Door:
    """How the owner gets in: by a link, while none is signed in."""

    owner: str
    link: str = ""
    expires: str = ""
    new: bool = False


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
