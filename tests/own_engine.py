"""An engine that a test may ill-treat: with the store's users, and one more who may do anything to it."""

import hashlib
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.engine import acl, binary
from store.engine.client import Target
from store.engine.embedded import Embedded

ROOT = "root"
PATIENCE = 30.0  # seconds to start, or to end
SETTINGS = (
    *("--port", "0", "--save", "", "--appendonly", "yes", "--appendfsync", "always"),
    *("--maxmemory-policy", "noeviction", "--busy-reply-threshold", "100"),
)


class OwnEngine:
    """A server in a folder, started and ended at will; what it has acknowledged is there after a restart."""

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self.folder, self.options = folder, options
        self.socket, self.secrets = folder / "own.sock", folder / "secrets"
        self._process: subprocess.Popen[bytes] | None = None
        self.secrets.mkdir()
        words = {user: secrets.token_hex(16) for user in (*acl.users(), ROOT)}
        for user, word in words.items():
            (self.secrets / user).write_text(word)
        root = hashlib.sha256(words[ROOT].encode()).hexdigest()
        (folder / "users.acl").write_text(acl.render(words) + f"user {ROOT} on #{root} ~* &* +@all\n")

    @property
    def embedded(self) -> Embedded:
        """The engine as the embedded one of a state folder, to which its users come in the same way."""
        return Embedded(self.folder, self.socket, self.pid, started=True)

    @property
    def target(self) -> Target:
        return Target.embedded(self.embedded)

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start it, or start it again; returns when it serves."""
        assert self._process is None or self._process.poll() is not None, "it runs"
        fixed = ("--unixsocket", str(self.socket), "--dir", str(self.folder), "--logfile", "server.log")
        command = [str(binary.find().path), *SETTINGS, *fixed, "--aclfile", str(self.folder / "users.acl")]
        self._process = subprocess.Popen([*command, *self.options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while not self._serves():
            assert self._process.poll() is None, (self.folder / "server.log").read_text()[-500:]
            assert time.monotonic() < deadline, "the engine does not answer"
            time.sleep(0.005)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it and wait until it is gone."""
        if self._process and self._process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(how)
            self._process.wait(PATIENCE)

    def send(self, how: signal.Signals) -> None:
        """Send its process a signal."""
        os.kill(self.pid, how)

    def root(self, *words: str | int) -> Any:
        """The reply to a command of the user who may do anything; a new connection each time."""
        with redis.Redis(
            unix_socket_path=str(self.socket),
            username=ROOT,
            password=(self.secrets / ROOT).read_text(),
            retry=Retry(NoBackoff(), 0),
            driver_info=None,
            decode_responses=True,
            socket_timeout=5,
        ) as client:
            return client.execute_command(*words)

    def set(self, name: str, value: str | int) -> None:
        """CONFIG SET."""
        self.root("CONFIG", "SET", name, value)

    def _serves(self) -> bool:
        with suppress(redis.ConnectionError, redis.BusyLoadingError):
            return bool(self.root("PING"))
        return False


@contextmanager
def own_engine(folder: Path, options: Sequence[str] = ()) -> Iterator[OwnEngine]:
    """A running engine of its own in a new folder below this one; ended with the block."""
    home = folder / "own"
    home.mkdir()
    engine = OwnEngine(home, options)
    try:
        engine.start()
        yield engine
    finally:
        engine.end(signal.SIGKILL)
