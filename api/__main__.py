"""The API process. It opens one store, and serves on a listening socket that it was handed.

    python -I -m api --fd N [--stop-with-stdin]

`logmem serve api` and `logmem up` bind the socket and start this; addresses come from the settings.
"""

import argparse
import asyncio
import os
import signal
import socket
import sys
from types import FrameType

import structlog
import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from store import telemetry
from store.engine.client import Target
from store.listening import Bounded
from store.settings import BadSetting, Settings, load
from store.target import StoreProblem, opened, reached

from .app import create
from .server import Server

GRACE = 4  # seconds for calls in progress at the end
KEEP_ALIVE = 75  # seconds: longer than any client's, so that it is the client that ends an idle connection
USAGE, UNREACHABLE = 2, 5  # exit codes, as the command's

log = structlog.get_logger("api")  # this module's own name is __main__


def main() -> None:
    """Serve until SIGTERM, SIGINT, or the end of stdin where that was asked for."""
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, _end)
    options = _options()
    try:
        settings = load()
        telemetry.configure(settings.log_level)
        with reached(settings) as target, asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(_serve(target, settings, options))
    except BadSetting as why:
        _fail(str(why), USAGE)
    except StoreProblem as why:
        _fail(str(why), UNREACHABLE)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("api", description="Serve LogMem's API. Start it with: logmem serve api")
    parser.add_argument("--fd", type=int, required=True, help="descriptor of the listening socket")
    parser.add_argument("--stop-with-stdin", action="store_true", help="end when standard input does")
    return parser.parse_args()


async def _serve(target: Target, settings: Settings, options: argparse.Namespace) -> None:
    async with opened(target, index=settings.index_folder) as store:
        promise = store.promise
        assert promise  # noqa: S101 - `opened` has read it
        log.info("promise", durability=promise.level, means=promise.text, server=promise.server)
        for warning in promise.warnings:
            log.warning("promise", warning=warning)
        server = Server(
            uvicorn.Config(
                create(store, settings),
                http=Bounded,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,  # keys stand in URLs
                server_header=False,
                proxy_headers=False,  # where people reach us says LOGMEM_PUBLIC_URL
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=GRACE,
            ),
            store,
        )
        if options.stop_with_stdin:
            _stop_with_stdin(server)
        await server.serve(sockets=[socket.socket(fileno=options.fd)])


def _stop_with_stdin(server: uvicorn.Server) -> None:
    """End when whoever started us does, however it ends: the kernel closes its end of our stdin."""
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin)
            log.warning("orphaned")
            server.should_exit = True

    loop.add_reader(sys.stdin, heard)


def _end(sign: int, frame: FrameType | None) -> None:
    """The way out before the server listens to signals, and after it: what is open gets closed."""
    sys.exit(0)


def _fail(why: str, code: int) -> None:
    sys.stderr.write(telemetry.masked(why) + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
