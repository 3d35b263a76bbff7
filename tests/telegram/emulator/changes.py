"""The emulator's clock, and the counter that whoever waits for a change waits on."""

import asyncio
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Clock:
    """Real time plus an offset that the control moves; seconds since 1970."""

    offset: float = 0.0

    def now(self) -> float:
        """The emulator's time."""
        return time.time() + self.offset


@dataclass(slots=True)
class Changes:
    """A version that grows with each change; waiting is for a version newer than one that was seen."""

    version: int = 0
    closed: bool = False
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    def bump(self) -> int:
        """Note a change and wake all who wait; gives the new version."""
        self.version += 1
        self._wake()
        return self.version

    def close(self) -> None:
        """Let nobody wait any more."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def beyond(self, since: int, *, deadline: float) -> bool:
        """Wait until the version is past `since`; False when the deadline (of the loop's clock) came first."""
        loop = asyncio.get_running_loop()
        while self.version <= since and not self.closed:
            left = deadline - loop.time()
            if left <= 0:
                return False
            waiting = loop.create_future()
            self._waiting.add(waiting)
            try:
                await asyncio.wait_for(waiting, left)
            except TimeoutError:
                return False
            finally:
                self._waiting.discard(waiting)
        return self.version > since
