"""`up` beside the emulator, and people of its space with phones: as the command's tests and the demo's hold them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.telegram.phone import Phone, Telegram

from .admin import operated
from .running import Command, Up, children, up

T = TypeVar("T")


async def later(work: Callable[..., T], *args: Any) -> T:
    """Something that blocks."""
    return await asyncio.to_thread(work, *args)


@asynccontextmanager
async def upped(command: Command, telegram: Telegram, *arguments: str, **env: str) -> AsyncIterator[Up]:
    """`up` beside the emulator, off the event loop."""
    made = up(command, *arguments, LOGMEM_TELEGRAM_API_URL=telegram.url, **env)
    server = await later(made.__enter__)
    try:
        yield server
    finally:
        await later(made.__exit__, None, None, None)


def bots(pid: int) -> list[int]:
    """The bot's processes among the children of an `up`."""
    return [child for child in children(pid) if b"bot" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")]


async def phone_of(home: Path, telegram: Telegram, name: str, *, space: str = "fleet") -> Phone:
    """A phone that is paired with a person of the space, whose bot is at work."""
    phone = await telegram.person(name.title())
    await phone.start((await later(lambda: operated(home, "pairing", space, person=name)))["code"])
    await phone.until(lambda m: m.by_bot)
    (claim,) = (await later(lambda: operated(home, "claims", space)))["claims"]
    await later(lambda: operated(home, "confirm", space, claim=claim["claim"], yes=True))
    return phone
