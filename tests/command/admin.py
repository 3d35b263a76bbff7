"""What a test stands on: what the operator does, and what only the administrator of the store may do.

It happens in this process: a command is started for what a test is about, and not for what it stands on.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from store.engine.client import Target, open_client
from store.engine.embedded import ensure
from store.engine.keys import Keys
from store.target import opened
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge
from store.verbs.perform import perform

DAY = 24 * 3600 * 1000


def operated(home: Path, verb: str, space: str, **args: Any) -> dict[str, Any]:
    """What the operator does in a space. May be called amid a test that is asynchronous: it has a loop of its own."""

    async def work() -> dict[str, Any]:
        async with opened(Target.embedded(ensure(home))) as store:
            return await perform(store, Badge("operator", client="logmem", spaces=(("", space),)), ROWS[verb], args)

    with ThreadPoolExecutor(1) as aside:
        return aside.submit(lambda: asyncio.run(work())).result()


async def as_admin(home: Path, *words: str | int) -> Any:
    """A command of the store's administrator."""
    async with open_client(Target.embedded(ensure(home)), user="lm-admin") as admin:
        command: Any = admin.execute_command
        return await command(*words)


async def pass_days(home: Path, space: str, days: int) -> None:
    """Move the clock of a simulated space."""
    await as_admin(home, "INCRBY", Keys(space).clock, days * DAY)
