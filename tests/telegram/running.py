"""The emulator in a thread of its own, `async with running() as telegram`, or in a process, `running_apart()`."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.telegram.emulator.limits import Limits
from tests.telegram.emulator.server import Server, listening
from tests.telegram.emulator.state import State
from tests.telegram.phone import Telegram

START = 30.0  # seconds that its process takes at most
UNLIMITED = {"per_second": 0, "per_chat": 0, "group_per_minute": 0}
"""No floods: `running(**UNLIMITED)`."""


@asynccontextmanager
async def running(**limits: Any) -> AsyncIterator[Telegram]:
    """An emulator on a free loopback port, reachable from other processes too; gives its control.

    `telegram.url` and `telegram.token` are what the bot is told. Limits: see `Limits`.
    """
    server, listener = Server(State(limits=Limits(**limits))), listening()
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), name="telegram-emulator", daemon=True
    )
    thread.start()  # nobody waits for it: the socket listens already
    try:
        async with Telegram(f"http://127.0.0.1:{listener.getsockname()[1]}") as telegram:
            yield telegram
    finally:
        server.end()
        await asyncio.to_thread(thread.join, 10)


@asynccontextmanager
async def running_apart(**limits: Any) -> AsyncIterator[Telegram]:
    """The same as a process of its own, for loads that would share a thread's time with what is tested."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.telegram.emulator", "--port", "0"),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        url = (await asyncio.wait_for(process.stdout.readline(), START)).decode().split()[-1]
        async with Telegram(url) as telegram:
            telegram.pid = process.pid
            await telegram.set_limits(**limits)
            yield telegram
    finally:
        process.terminate()
        await process.wait()
