"""The program behind a credential, by the name that it gave itself when it connected. Shown, never trusted."""

import contextlib
import time

import redis

from ..engine.store import Store

FRESH = 5.0  # seconds that this process goes without looking whether another has noted a new name
KNOWN_LIMIT = 10_000


class Clients:
    """Names of programs by credential, kept in the credential's global record; the last one to connect wins."""

    def __init__(self, store: Store) -> None:
        self._shared = store.shared
        self._known: dict[str, tuple[str, float]] = {}

    async def name(self, credential: str) -> str:
        """The name of the program that connected last with this credential, or ''."""
        name, until = self._known.get(credential, ("", 0.0))
        if time.monotonic() < until:
            return name
        try:
            (name,) = await self._shared.marked("key", credential, "client")
        except (redis.RedisError, OSError):
            return name  # the call itself says what is wrong with the store
        self._keep(credential, name)
        return name

    async def connected(self, credential: str, name: str) -> None:
        """Note that the program of this name connected, if it is another than before."""
        if not name or name == await self.name(credential):
            return
        self._keep(credential, name)
        with contextlib.suppress(redis.RedisError, OSError):  # a name is not worth a refused connection
            await self._shared.mark("key", credential, client=name)

    def _keep(self, credential: str, name: str) -> None:
        if len(self._known) >= KNOWN_LIMIT:
            self._known.clear()
        self._known[credential] = (name, time.monotonic() + FRESH)
