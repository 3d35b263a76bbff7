"""A lease: of many processes, one does something, until it lets go or has not renewed in time.

Whoever takes it gets an epoch, higher than all before. What carries its epoch is refused once somebody else has got a
higher one, so that who was asleep for a while does no harm: `Updates.keep` is checked against the lease itself,
`Copies.put` and `Outbox.settled` against the epoch that has last worked in their space.
"""

from redis.asyncio import Redis

from .script import Script, text_of

LEASE = text_of("lease")


class LeaseLost(Exception):
    """Somebody else holds the lease now, so nothing was written."""


class Lease:
    """One holder's hold on the lease under `key`; `owner` is unlike any other process's, `life` in ms.

    `epoch` is 0 while it is not held, as far as is known.
    """

    def __init__(self, client: Redis, key: str, *, owner: str, life: int, script: str = LEASE) -> None:
        self._client, self.key, self._owner, self._life = client, key, owner, life
        self._script = Script(script)
        self.epoch = 0

    async def take(self) -> int | None:
        """The epoch, or None: somebody else holds it. Taking what is one's own begins a new epoch."""
        self.epoch = await self._do("take")
        return self.epoch or None

    async def renew(self) -> bool:
        """Hold it for another life; False: somebody else has taken it, or it was never held."""
        self.epoch = await self._do("renew")
        return bool(self.epoch)

    async def drop(self) -> None:
        """Let go, so that another need not wait; nothing if somebody else holds it by now."""
        await self._do("drop")
        self.epoch = 0

    async def _do(self, what: str) -> int:
        return int(await self._script(self._client, [self.key], [what, self._owner, self.epoch, self._life]))
