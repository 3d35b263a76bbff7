"""Run the command in a state folder of its own, and see what it has left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

PATIENCE = 60.0  # seconds for anything at all: a bound, not a promise
LOGMEM = Path(sys.executable).with_name("logmem")


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a user who has set nothing but the state folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LOGMEM_", "PYTHON"))}
    return kept | {"LOGMEM_HOME": str(home)} | extra


@dataclass
class Told:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one line of JSON that stdout consists of."""
        assert self.code == 0, self.err
        (line,) = self.out.splitlines()
        return json.loads(line)


@dataclass
class Command:
    """The command with an environment; `run` waits for its end."""

    home: Path
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def run(self, *arguments: str, **env: str) -> Told:
        """Run it once."""
        done = subprocess.run(
            [LOGMEM, *arguments],
            env=environment(self.home, **{**self.env, **env}),
            cwd=self.folder or self.home.parent,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Told(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str, **env: str) -> Any:
        """What it prints with --json."""
        return self.run(*arguments, "--json", **env).json

    @contextmanager
    def started(self, *arguments: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
        """The command, running; ended at the end if it has not by then. What it says on stderr goes to `errors`."""
        with self.errors.open("a") as errors:
            process = subprocess.Popen(
                [LOGMEM, *arguments],
                env=environment(self.home, **{**self.env, **env}),
                cwd=self.folder or self.home.parent,
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=PATIENCE)

    @property
    def errors(self) -> Path:
        """Where what `started` commands say on stderr is kept."""
        return self.home.with_name(f"{self.home.name}.err")


@dataclass
class Up:
    """A `logmem up` that is ready."""

    process: "subprocess.Popen[str]"
    ready: dict[str, Any]
    home: Path

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    @property
    def api(self) -> int:
        """The process of the API now, a child of `up`."""
        return self.child("api")

    @property
    def scheduler(self) -> int:
        """The process of the scheduler now."""
        return self.child("scheduler")

    def child(self, module: str) -> int:
        """The child of `up` that runs this module."""
        (found,) = (each for each in children(self.process.pid) if runs(each, module))
        return found

    @property
    def store(self) -> int:
        """The process of the store now."""
        return int((self.home / "store" / "server.pid").read_text())

    def post(self, token: str, verb: str, **args: Any) -> httpx.Response:
        """One call, with one try."""
        head = {"Authorization": f"Bearer {token}"}
        return httpx.post(f"{self.url}/api/tools/{verb}", json=args, headers=head, timeout=PATIENCE)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@contextmanager
def up(command: Command, *arguments: str, **env: str) -> Iterator[Up]:
    """`logmem up --json`, with a free port unless told otherwise, from ready to its end."""
    port = () if "--port" in arguments else ("--port", "0")
    with command.started("up", "--json", *port, *arguments, **env) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line, command.errors.read_text()
        yield Up(process, json.loads(line), command.home)


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, what
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """The processes that this one has started and that live."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int, module: str) -> bool:
    """Whether a process is a Python that runs this module."""
    with suppress(FileNotFoundError, ProcessLookupError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b"-m" in words and words[words.index(b"-m") + 1] == module.encode()
    return False


def lives(pid: int) -> bool:
    """Whether a process lives; one that has ended and was not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
