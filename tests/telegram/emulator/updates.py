"""Updates on their way to the bot: kept, numbered, polled; a newer poll ends the older one."""

import asyncio
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.telegram.emulator.changes import Changes, Clock
from tests.telegram.emulator.errors import OTHER_POLL, BotError
from tests.telegram.emulator.limits import Limits
from tests.telegram.emulator.schema import schema

Json = dict[str, Any]

LEFT_OUT_BY_DEFAULT = ("chat_member", "message_reaction", "message_reaction_count")
FIRST_IDS = range(100_000_000, 1_000_000_000)
KEPT = 100_000


@dataclass(slots=True)
class Update:
    """One update, and until when it is kept."""

    id: int
    kind: str
    body: Json
    until: float

    def shown(self) -> Json:
        """The API's Update."""
        return {"update_id": self.id, self.kind: self.body}


@dataclass(slots=True)
class Updates:
    """The queue of one bot."""

    clock: Clock
    changes: Changes
    limits: Limits
    allowed: tuple[str, ...] = ()
    waiting: deque[Update] = field(default_factory=lambda: deque(maxlen=KEPT))
    confirmed: deque[Update] = field(default_factory=lambda: deque(maxlen=100))
    """The last that left, for duplicates on demand."""
    next_id: int = field(default_factory=lambda: secrets.choice(FIRST_IDS))
    """Random at first, as Telegram's are: another start of the emulator is not taken for what came before."""
    arrived: int = 0
    """How many ever came: what a poll waits on."""
    polling: int = 0
    """Polls that wait."""
    _poll: int = 0
    _ended_by: str = OTHER_POLL

    def wants(self, kind: str) -> bool:
        """Whether the bot asked for this kind, or left it to the defaults."""
        return kind in self.allowed if self.allowed else kind not in LEFT_OUT_BY_DEFAULT

    def allow(self, kinds: Sequence[str] | None) -> None:
        """Keep the bot's choice: an empty list is the defaults, none is the choice before."""
        if kinds is not None:
            self.allowed = tuple(kinds)

    def add(self, kind: str, body: Json) -> int | None:
        """Queue an update; gives its id, None when the bot does not want its kind."""
        if kind not in schema().update_kinds:
            raise ValueError(f"no update is called {kind!r}")
        return self.insert(kind, body).id if self.wants(kind) else None

    def insert(self, kind: str, body: Any) -> Update:
        """Queue an update, wanted or not, sound or not."""
        kept = self.limits.press_kept if kind == "callback_query" else self.limits.update_kept
        update = Update(self.next_id, kind, body, self.clock.now() + kept)
        self.next_id += 1
        self.push(update)
        return update

    def push(self, update: Update) -> None:
        """Queue an update as it is, whatever its id."""
        self.waiting.append(update)
        self.arrived += 1
        self.changes.bump()

    def pending(self) -> list[Update]:
        """What waits and has not lapsed."""
        now = self.clock.now()
        if any(update.until <= now for update in self.waiting):
            self.waiting = deque((one for one in self.waiting if one.until > now), maxlen=KEPT)
        return list(self.waiting)

    def confirm(self, offset: int) -> None:
        """Forget what lies before the offset; a negative one keeps only the last of that number."""
        pending = self.pending()
        keep = pending[offset:] if offset < 0 else [update for update in pending if update.id >= offset]
        kept = {id(update) for update in keep}
        self.confirmed.extend(update for update in pending if id(update) not in kept)
        self.waiting = deque(keep, maxlen=KEPT)

    def drop(self) -> None:
        """Forget all."""
        self.waiting.clear()

    def end_polls(self, why: str = OTHER_POLL) -> int:
        """Make every poll that waits answer 409; gives the number of the poll that may wait now."""
        self._poll += 1
        self._ended_by = why
        self.changes.bump()
        return self._poll

    async def poll(self, offset: int | None, *, limit: int, seconds: float) -> list[Update]:
        """getUpdates: at most `limit` updates from the offset on, waiting for the first up to so many seconds."""
        mine = self.end_polls()
        if offset:
            self.confirm(offset)
        deadline = asyncio.get_running_loop().time() + seconds
        self.polling += 1
        try:
            return await self._first(mine, limit, deadline)
        finally:
            self.polling -= 1

    async def _first(self, mine: int, limit: int, deadline: float) -> list[Update]:
        while True:
            if mine != self._poll:
                raise BotError(409, self._ended_by)
            if (ready := self.pending()) or self.changes.closed:
                return ready[:limit]
            if not await self.changes.beyond(self.changes.version, deadline=deadline):
                return []
