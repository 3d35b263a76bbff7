"""The settings of a command, and where the server that they speak of is reached."""

import os
from typing import Any

from store import telemetry
from store.settings import BadSetting, Settings, load

from .fault import USAGE, Fault
from .home import running
from .show import say


def settings(**given: Any) -> Settings:
    """The settings in force, options going before the environment. Fault: one that cannot be used."""
    try:
        return load(**given)
    except BadSetting as why:
        raise Fault(str(why), code=USAGE) from None


def quiet(found: Settings) -> None:
    """A command speaks for itself: the log is shown only to somebody who asks for one."""
    telemetry.configure(found.log_level if os.environ.get("LOGMEM_LOG_LEVEL") else "critical")


def address(found: Settings) -> str:
    """`http(s)://host[:port]` of the server: the public one, that of the `up` that runs here, or the one to come."""
    if found.public_url:
        return found.public_url
    here = running(found.home)
    if here:
        return here.url
    say("LogMem is not up here: the address is the one that `logmem up` will have.")
    return local_url(found.host, found.port)


def log_of(found: Settings, name: str) -> str:
    """Where one finds the log of a process: of `up`, or of the composed services."""
    return f"{found.home}/logs/{name}.log, or docker compose logs {name}"


def local_url(host: str, port: int) -> str:
    """The address of a server on this machine that listens there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
