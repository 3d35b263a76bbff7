"""Those who have been idle for long, moved from `idle` into `idle:queue` at once, so that nobody is lost between."""

from redis.asyncio import Redis

from .keys import Keys
from .script import Script, text_of

CLAIM = text_of("claim")
COUNT = 1000  # moved at once: what a script may unpack, and a moment of the store's time
IDLE, QUEUE = "idle", "idle:queue"


class Claim:
    """claim.lua as a function; `client` is one of lm-scheduler."""

    def __init__(self, client: Redis, *, script: str = CLAIM) -> None:
        self._client, self._script = client, Script(script)

    async def __call__(self, keys: Keys, *, epoch: int, before: int, count: int = COUNT) -> int | None:
        """How many of those who wrote last at `before` (ms) or earlier were queued; None: another scheduler leads."""
        names = [keys.leader, keys.index(IDLE, ""), keys.index(QUEUE, "")]
        moved = int(await self._script(self._client, names, [epoch, before, count]))
        return None if moved < 0 else moved
