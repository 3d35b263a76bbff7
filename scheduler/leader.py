"""Of several schedulers one leads: the one that holds the lease. The others wait for it to be free."""

import time
from secrets import token_hex

from store.engine.lease import Lease
from store.engine.store import Store
from store.verbs.due import LEASE

LIFE = 10_000  # ms that a lease lasts without being renewed
LOOK = 2.0  # seconds between two looks at the list of spaces


class Leader:
    """This process's hold on the lease. `life` in ms.

    While it leads, `epoch` is higher than that of whoever led before; each space notes it before anything else is
    written there, so that what an earlier leader still has on its way is refused.
    """

    def __init__(self, store: Store, *, owner: str = "", life: int = LIFE) -> None:
        self._store, self._life = store, life / 1000
        self._lease = Lease(store.writer, LEASE, owner=owner or token_hex(8), life=life)
        self._until = 0.0
        self._spaces: list[str] = []
        self._looked = 0.0

    @property
    def epoch(self) -> int:
        """The epoch in which it leads, 0 while it does not as far as it knows."""
        return self._lease.epoch if time.monotonic() < self._until else 0

    async def lead(self) -> int:
        """Hold the lease for another life, or take it if it is free; the epoch in which it leads, 0 for not."""
        asked = time.monotonic()
        held = await self._lease.renew() if self._lease.epoch else False
        if held or await self._lease.take():
            self._until = asked + self._life
        return self._lease.epoch

    async def drop(self) -> None:
        """Let go, so that another takes over at once."""
        await self._lease.drop()

    async def spaces(self) -> list[str]:
        """Every space there is, as it was a moment ago."""
        if time.monotonic() >= self._looked:
            self._spaces = await self._store.shared.spaces()
            self._looked = time.monotonic() + LOOK
        return self._spaces
