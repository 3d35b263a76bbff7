"""The command at a terminal: a real one, of 80 columns, on which one reads and types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .running import LOGMEM, PATIENCE, environment

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ROWS, COLUMNS = 40, 80


class Terminal:
    """A process and the master's end of its terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process, self._master, self.raw = process, master, ""

    @property
    def text(self) -> str:
        """What has been shown, without styles."""
        return STYLE.sub("", self.raw).replace("\r\n", "\n")

    def read_until(self, *words: str) -> str:
        """Read until all of these have been shown."""
        give_up = time.monotonic() + PATIENCE
        while not all(each in self.text for each in words):
            assert time.monotonic() < give_up, self.text
            self._read()
        return self.text

    def read_all(self) -> str:
        """Read to the end of the process."""
        give_up = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < give_up, self.text
        return self.text

    def type(self, keys: str) -> None:
        """Press keys, control characters among them."""
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Ctrl-C, and all that is said after it; the exit code."""
        self.type("\x03")
        self.read_all()
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        """Read what is there, for a moment; False at the end."""
        if not select.select([self._master], [], [], 0.1)[0]:
            return True
        try:
            found = os.read(self._master, 65536)
        except OSError:  # how Linux tells that the other end is closed
            return False
        self.raw += found.decode()
        return bool(found)


@contextmanager
def terminal(home: Path, *arguments: str, **env: str) -> Iterator[Terminal]:
    """The command at a terminal of its own, which governs it as a shell's would; ended at the end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    plain = {name: value for name, value in environment(home).items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [LOGMEM, *arguments],
        env=plain | {"TERM": "xterm-256color"} | env,
        cwd=home.parent,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - nothing else makes it the governing one
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        os.close(master)
