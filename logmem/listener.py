"""The listening socket: bound once, and handed to the process that serves on it."""

import errno
import socket
import time

from .fault import USAGE, Fault

BACKLOG = 2048
PAUSE = 0.05  # seconds between two tries


def listen(host: str, port: int, *, patience: float = 0) -> socket.socket:
    """A socket that listens there; port 0 takes any free one. Fault: it cannot, and why.

    `patience` in seconds, for an earlier server that is just ending.
    """
    give_up = time.monotonic() + patience
    while True:
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family, backlog=BACKLOG)
        except OSError as why:
            if why.errno != errno.EADDRINUSE or time.monotonic() >= give_up:
                raise Fault(_sentence(host, port, why), code=USAGE) from None
        time.sleep(PAUSE)


def _sentence(host: str, port: int, why: OSError) -> str:
    if why.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use by another program. Nothing was started. "
            f"Take another one with --port N, or any free one with --port 0."
        )
    reason = (why.strerror or str(why)).rstrip(".")
    return f"LogMem cannot listen on {host}, port {port}: {reason}. Nothing was started. See LOGMEM_HOST and --port."
