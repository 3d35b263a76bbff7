"""What only the administrator of the store may do: look at its keys, move a space's clock."""

from pathlib import Path
from typing import Any

from store.engine.client import Target, open_client
from store.engine.embedded import ensure
from store.engine.keys import Keys

DAY = 24 * 3600 * 1000


async def as_admin(home: Path, *words: str | int) -> Any:
    """A command of the store's administrator."""
    async with open_client(Target.embedded(ensure(home)), user="lm-admin") as admin:
        command: Any = admin.execute_command
        return await command(*words)


async def pass_days(home: Path, space: str, days: int) -> None:
    """Move the clock of a simulated space."""
    await as_admin(home, "INCRBY", Keys(space).clock, days * DAY)
