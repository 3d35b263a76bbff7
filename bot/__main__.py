"""The bot process. It opens its part of the store, and works until it is told to end.

    python -I -m bot [--stop-with-stdin]

`logmem serve bot` and `logmem up` start this; everything else comes from the settings.
"""

import argparse
import asyncio
import gc
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

USAGE, UNREACHABLE = 2, 5  # exit codes, as the command's
GARBAGE_THRESHOLD = 50_000  # allocations between two collections, as in the API

log = structlog.get_logger("bot")  # this module's own name is __main__


def main() -> None:
    """Work until SIGTERM, SIGINT, or the end of stdin where that was asked for."""
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, _end)
    options = _options()
    try:
        settings = load()
        telemetry.configure(settings.log_level)
        _need(settings)
        with reached(settings) as target, asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(_serve(target, settings, options))
    except BadSetting as why:
        _fail(str(why), USAGE)
    except StoreProblem as why:
        _fail(str(why), UNREACHABLE)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("bot", description="Serve LogMem on Telegram. Start it with: logmem serve bot")
    parser.add_argument("--stop-with-stdin", action="store_true", help="end when standard input does")
    return parser.parse_args()


def _need(settings: Settings) -> None:
    """BadSetting: what the bot cannot do without."""
    if settings.bot_token is None:
        raise BadSetting("LOGMEM_BOT_TOKEN is not set: it must be the token that BotFather gave for your bot.")
    if settings.bot_secret is None:
        raise BadSetting("LOGMEM_BOT_SECRET is not set: it must be the same secret that the API has.")
    if (settings.webhook_url is None) != (settings.webhook_secret is None):
        missing = "LOGMEM_WEBHOOK_SECRET" if settings.webhook_secret is None else "LOGMEM_WEBHOOK_URL"
        raise BadSetting(f"{missing} is not set: a webhook needs both its address and its secret.")


async def _serve(target: Target, settings: Settings, options: argparse.Namespace) -> None:
    from .app import opened  # noqa: PLC0415 - a process that cannot start need not load the library first

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop.set)
    if options.stop_with_stdin:
        _stop_with_stdin(stop)
    async with opened(target, settings) as app:
        # Keep the collector away from all that stands by now, and let it come seldom: little is left in cycles.
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE_THRESHOLD, 10, 10)
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
