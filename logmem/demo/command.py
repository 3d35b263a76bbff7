"""`demo`, as it is called."""

import asyncio
import secrets
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from ..fault import INTERRUPTED, USAGE, Fault

GENTLE = 0.7  # seconds for a line, on a terminal
PACES = (0.0, 60.0)
DECIDES_WITHIN = "10m"

CODES = "\n\n".join(  # a paragraph each, as the help wants it
    (
        "Exit codes:",
        "0 played to its end",
        "6 played to its end, and nobody had decided in time",
        "1 a step did not go as it should, or the log is not right; 2 used wrongly",
        "5 the store or the server cannot be reached, 130 broken off",
    )
)


def demo(
    auto: Annotated[
        bool, typer.Option("--auto", help="Nobody is waited for: a session of human:demo-owner's decides.")
    ] = False,
    space: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The simulated space to play in; made if absent. Default: a new one."),
    ] = None,
    wait: Annotated[
        str, typer.Option(metavar="TIME", help="How long you have to decide, such as 90s or 10m.")
    ] = DECIDES_WITHIN,
    pace: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time to read a line. Default: 0.7 at a terminal, 0 with --auto or --json."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each event.")] = False,
) -> None:
    """Watch four agents at work, each a client process of its own over MCP.

    They play two days in a simulated space, by its own clock: Briefs, a job,
    a handoff, a huddle, facts, check-ins of which one is late and one missed;
    and a publication that waits until you have decided it, in the console or with a tap on Telegram. It plays on
    the server that is up, or on one of its own. At the end its keys are revoked and its log verified.
    """
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, _broken_off)
    raise typer.Exit(
        _demo(auto, space or f"demo-{secrets.token_hex(3)}", wait, _pace(pace, still=auto or json), json=json)
    )


def _pace(given: float | None, *, still: bool) -> float:
    if given is None:
        return 0.0 if still or not sys.stdout.isatty() else GENTLE
    if not PACES[0] <= given <= PACES[1]:
        raise Fault(f"--pace is {PACES[0]:.0f} to {PACES[1]:.0f} seconds. Nothing was done.", code=USAGE)
    return given


def _demo(auto: bool, space: str, wait: str, pace: float, *, json: bool) -> int:
    from ..setting import quiet, settings
    from .house import house
    from .run import run
    from .stage import Wishes
    from .tell import Teller

    wishes = Wishes(auto=auto, wait=_seconds(wait))
    found = settings()
    quiet(found)
    with house(found) as made:
        try:
            return asyncio.run(run(made, wishes, space=space, teller=Teller(json=json, pace=pace)))
        except asyncio.CancelledError:  # by a signal; all that was started has ended
            return INTERRUPTED
        finally:  # what is left is to stop a store of our own, which takes a moment
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(each, signal.SIG_IGN)


def _seconds(wait: str) -> float:
    from store.domain.errors import Refused
    from store.domain.moments import DAY, duration

    try:
        return duration(wait, low=0, high=DAY, name="--wait") / 1000
    except Refused as no:
        raise Fault(no.message, code=USAGE) from None


def _broken_off(sign: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
