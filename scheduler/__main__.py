"""The scheduler process. It opens the store as its own user, and works until it is told to end.

    python -I -m scheduler [--stop-with-stdin] [--lease SECONDS] [--beat SECONDS]

`logmem serve scheduler` and `logmem up` start this; everything else comes from the settings.
"""

import argparse
import asyncio
import os
import signal
import sys
from types import FrameType

import structlog
from uvicorn.loops.auto import auto_loop_factory

from store import telemetry
from store.engine.client import Target
from store.settings import BadSetting, Settings, load
from store.target import StoreProblem, reached

from .app import BEAT, opened
from .leader import LIFE

USAGE, UNREACHABLE = 2, 5  # exit codes, as the command's
LONGEST = 600  # seconds of a lease
QUICKEST = 0.05  # seconds between two beats

log = structlog.get_logger("scheduler")  # this module's own name is __main__


def main() -> None:
    """Work until SIGTERM, SIGINT, or the end of stdin where that was asked for."""
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
    except OSError as why:
        _fail(f"The scheduler cannot listen on LOGMEM_SCHEDULER_HOST and LOGMEM_SCHEDULER_PORT: {why}.", USAGE)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "scheduler", description="Run LogMem's scheduler. Start it: logmem serve scheduler"
    )
    parser.add_argument("--stop-with-stdin", action="store_true", help="end when standard input does")
    parser.add_argument(
        "--lease", type=float, default=LIFE / 1000, metavar="SECONDS", help="how long it leads without a word from it"
    )
    parser.add_argument("--beat", type=float, default=BEAT, metavar="SECONDS", help="how often it looks, in time")
    found = parser.parse_args()
    if not 1 <= found.lease <= LONGEST:
        parser.error(f"--lease is 1 to {LONGEST} seconds")
    if not QUICKEST <= found.beat <= BEAT:
        parser.error(f"--beat is {QUICKEST} to {BEAT} seconds")
    return found


async def _serve(target: Target, settings: Settings, options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop.set)
    if options.stop_with_stdin:
        _stop_with_stdin(stop)
    async with opened(target, settings, life=int(options.lease * 1000), beat=options.beat) as app:
        await app.run(stop)


def _stop_with_stdin(stop: asyncio.Event) -> None:
    """End when whoever started us does, however it ends: the kernel closes its end of our stdin."""
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin)
            log.warning("orphaned")
            stop.set()

    loop.add_reader(sys.stdin, heard)


def _end(sign: int, frame: FrameType | None) -> None:
    """The way out before the work begins."""
    sys.exit(0)


def _fail(why: str, code: int) -> None:
    sys.stderr.write(telemetry.masked(why) + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
