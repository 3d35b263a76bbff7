"""`python -m tests.telegram.emulator --port N`: a Telegram to try the bot with, by hand."""

import argparse
import contextlib
import sys

from tests.telegram.emulator.limits import Limits
from tests.telegram.emulator.server import Server, listening
from tests.telegram.emulator.state import State, new_token


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.telegram.emulator", description=__doc__)
    parser.add_argument("--port", type=int, default=8081, help="0 takes a free one (default: 8081)")
    parser.add_argument(
        "--token", help="the bot's token (default: a new one), such as the one that an earlier start printed"
    )
    parser.add_argument("--unlimited", action="store_true", help="no flood limits")
    options = parser.parse_args()
    limits = Limits(per_second=0, per_chat=0, group_per_minute=0) if options.unlimited else Limits()
    state = State(limits=limits, token=options.token or new_token())
    listener = listening(options.port)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    sys.stdout.write(
        f"Telegram emulator: {url}\n\n  LOGMEM_TELEGRAM_API_URL={url}\n  LOGMEM_BOT_TOKEN={state.token}\n\n"
        f"Open {url} to chat with the bot. Ctrl-C ends it, and it forgets people and messages.\n"
    )
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        Server(state).run(sockets=[listener])


if __name__ == "__main__":
    main()
