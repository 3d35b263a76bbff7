"""Questions at a terminal, of which signals are heard while one waits for the answer."""

import asyncio
import os
import sys
import termios
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from . import show

LONGEST_LINE = 4096  # bytes, as much as a terminal hands over at once
YES = ("y", "yes")

T = TypeVar("T")


def attended() -> bool:
    """Whether somebody sits at a terminal, sees what we say, and can be asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return os.tcgetpgrp(0) == os.getpgrp()  # in the background a read would stop us
    except OSError:  # a terminal, though not the one that governs us
        return True


def fresh() -> None:
    """What was typed before a question is no answer to it, such as lines of a pasted block of commands."""
    termios.tcflush(0, termios.TCIFLUSH)


async def asked(question: str, *, hidden: bool = False) -> str:
    """The line that is typed in answer; '' at the end of the input. `hidden`: it is not shown, as a password's."""
    with _unseen() if hidden else nullcontext():  # before the question stands there: whoever sees it may type at once
        sys.stdout.write(question)
        sys.stdout.flush()
        try:
            return await typed()
        finally:
            if hidden:
                show.line("")


async def typed() -> str:
    """The next line; '' at the end of the input. Broken off, it leaves what was typed to the next one who reads."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[bytes] = loop.create_future()
    loop.add_reader(0, lambda: None if heard.done() else heard.set_result(os.read(0, LONGEST_LINE)))
    try:
        line = await heard
    finally:
        loop.remove_reader(0)
    if not line.endswith(b"\n"):
        show.line("")
    return line.decode(errors="replace")


async def unless_left(work: Coroutine[Any, Any, T]) -> T | None:
    """What the work comes to; it is broken off, for None, where whoever sits here presses Enter before."""
    leave, come = asyncio.create_task(typed()), asyncio.create_task(work)
    try:
        await asyncio.wait((leave, come), return_when=asyncio.FIRST_COMPLETED)
        return come.result() if come.done() else None
    finally:
        for task in (leave, come):
            task.cancel()
        await asyncio.gather(leave, come, return_exceptions=True)


async def yes(question: str) -> bool:
    """Whether the answer is a plain yes; what was typed before it was asked is none."""
    fresh()
    return (await asked(f"{question} [y/N] ")).strip().lower() in YES


@contextmanager
def _unseen() -> Iterator[None]:
    """The terminal does not show what is typed, but that a line has ended."""
    before = termios.tcgetattr(0)
    silent = termios.tcgetattr(0)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
