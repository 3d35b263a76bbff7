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
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

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
    no_bot: Annotated[bool, typer.Option("--no-bot", help="Start no Telegram bot, even if there is a token.")] = False,
) -> None:
    """Start LogMem on this machine: the store, the API, the scheduler and, with a token, the bot. Ctrl-C stops it."""
    early = _Early()
    from store.target import reached

    from .setting import quiet, settings
    from .zone import checked

    zone = zone and checked(zone)
    found = settings(port=port, space=space)
    found = found.model_copy(update={"home": found.home.absolute()})
    quiet(found)
    with _begun(found) as listener:
        show.say(f"Starting LogMem in {found.home} …")
        with reached(found, keep=True) as target:
            try:
                asyncio.run(_Up(found, target, listener, zone, bot=not no_bot).run(early, json=json))
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
    what: Annotated[
        Literal["api", "bot", "scheduler"], typer.Argument(metavar="api|bot|scheduler", help="The process to run.")
    ],
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = None,
    port: Port = None,
) -> None:
    """Run one process in the foreground, over the store that the settings name."""
    from . import botkeys
    from .setting import settings

    if what == "bot":
        found = settings(bot_host=host, bot_port=port)
        here = {"LOGMEM_BOT_HOST": found.bot_host, "LOGMEM_BOT_PORT": str(found.bot_port)}
        _become(["bot"], environment() | botkeys.known(found) | here)
    if what == "scheduler":
        found = settings(scheduler_host=host, scheduler_port=port)
        here = {"LOGMEM_SCHEDULER_HOST": found.scheduler_host, "LOGMEM_SCHEDULER_PORT": str(found.scheduler_port)}
        _become(["scheduler"], botkeys.without_token(environment()) | here)
    from .listener import listen

    found = settings(host=host, port=port)
    listener = listen(found.host, found.port)
    listener.set_inheritable(True)
    here = {"LOGMEM_HOST": found.host, "LOGMEM_PORT": str(listener.getsockname()[1])}
    env = botkeys.without_token(environment() | botkeys.known(found))
    _become(["api", "--fd", str(listener.fileno())], env | here)


def _become(module: list[str], env: dict[str, str]) -> NoReturn:
    """Go on as that module of ours, in our own interpreter."""
    os.execve(sys.executable, [sys.executable, "-I", "-m", *module], env)  # noqa: S606 - no shell


class _Up:
    """One `up`, from an open target to the end of the API."""

    def __init__(self, settings: Any, target: Any, listener: socket.socket, zone: str | None, *, bot: bool) -> None:
        from . import botkeys
        from .children import Api, Bot, Child, Scheduler, bot_environment
        from .setting import local_url

        self.settings, self.target = settings, target
        self.local = local_url(settings.host, listener.getsockname()[1])
        logs = settings.home / "logs"
        credential = botkeys.credential(settings)  # of the bot, which may be set up while the API runs
        self.api = Api(settings, listener, logs / "api.log", env=environment() | credential)
        self.bot = bot
        self.children: tuple[Child, ...] = (self.api, Scheduler(settings, target, logs / "scheduler.log"))
        if bot:
            env = bot_environment(settings, target, url=self.local) | credential
            self.children += (Bot(settings, logs / "bot.log", env=env),)
        self.url = settings.public_url or self.local
        self.space, self.zone = settings.space or DEFAULT_SPACE, zone

    async def run(self, early: "_Early", *, json: bool) -> None:
        """Start, tell when ready, and keep it up until a signal comes. Fault, StoreProblem, Refused: it cannot."""
        from .children import bound, keep_store, watch_bot

        stop = asyncio.Event()
        for each in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        if early.over():
            return
        stopped: asyncio.Task[Any] = asyncio.create_task(stop.wait())
        parts = [self._begin(json=json)]
        for child in self.children:
            parts += (child.keep(), bound(child.log))
        if self.bot:
            parts.append(watch_bot(self.target))
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
            await asyncio.gather(*(child.stop() for child in self.children))
            for task in (*work, stopped):
                task.cancel()
            await asyncio.gather(*work, stopped, return_exceptions=True)

    async def _begin(self, *, json: bool) -> None:
        """Make what the first start makes, wait for the API, and tell how all is reached."""
        from store.target import opened

        from . import botkeys, first
        from .asking import attended
        from .home import Running, record

        async with opened(self.target) as store:
            days = await self._space(store)
            ask = not json and attended()
            owner = await self._owner(store, ask=ask)
            if owner.new and not days:  # a start that made the space was left at the question
                days = first.days(self.space, self.zone or "", known=True)
            others = await self._operator(store).default() != self.space
            promise = store.promise
            for warning in promise.warnings if promise else ():
                show.say(f"Warning: {warning}.")
            await self.api.ready()
            record(self.settings.home, Running(os.getpid(), self.local, self.space))
            if ask and owner.new and self.bot:
                await self._telegram(store, owner.name)
            door = await self._door(store, owner)
        ready = {
            "url": self.url,
            "mcp_url": f"{self.url}/mcp",
            "space": self.space,
            "console_login_url": self.url + door.link if door.link else None,
            "pid": os.getpid(),
            "home": str(self.settings.home),
            "durability": promise.level if promise else "unknown",
        }
        start = first.Start(
            ready, owner.name, door.expires, owner.new, days, others, promise.text if promise else "",
            bool(self.bot and botkeys.token(self.settings)),
        )  # fmt: skip
        if json:
            if days:
                show.say(first.told_days(start))
            show.as_json(ready)
        elif attended():
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

    async def _owner(self, store: Any, *, ask: bool) -> "_Owner":
        """An owner, one who is signed in if there is; made if there is none."""
        from . import first

        operator = self._operator(store)

        async def make(name: str) -> dict[str, Any]:
            return await operator.do("human", name=name, role="owner")

        owners = [p for p in (await operator.every("people"))["people"] if p["role"] == "owner"]
        for owner in owners:
            if owner["signed_in"]:
                return _Owner(owner["person"].partition(":")[2], signed_in=True)
        new = not owners
        if new:
            owners = [await first.make_owner(make) if ask else await make(first.FIRST_OWNER)]
        return _Owner(owners[0]["person"].partition(":")[2], new=new)

    async def _telegram(self, store: Any, owner: str) -> None:
        """Offer to set Telegram up. What goes wrong with it stops nothing else."""
        from store.domain.errors import Refused

        from . import first
        from .fault import Fault
        from .guide import Guide

        guide = Guide(self.settings, self._operator(store), self.local, first.command_name())
        try:
            await guide.all(f"human:{owner}")
        except (Fault, Refused) as why:
            show.line(f"   {why}", style="yellow")

    async def _door(self, store: Any, owner: "_Owner") -> "_Door":
        """A link for an owner while none is signed in."""
        if owner.signed_in:
            return _Door()
        link = await self._operator(store).do("link", name=owner.name)
        return _Door(link["link_path"], link["expires_at"])


@dataclass(frozen=True, slots=True)
class _Owner:
    """An owner's bare name; `new` if made just now."""

    name: str
    new: bool = False
    signed_in: bool = False


@dataclass(frozen=True, slots=True)
class _Door:
    """How the owner gets in: by a link, while none is signed in."""

    link: str = ""
    expires: str = ""


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
