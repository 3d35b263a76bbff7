"""The clock of the demo's space: read as anybody can, moved as only lm-admin may."""

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import redis

from store.domain.moments import MINUTE
from store.domain.sync import Windows
from store.engine.client import StoreProblem, Target, open_client
from store.engine.keys import Keys

from .script import Moment

if TYPE_CHECKING:
    from ..operate import Operator

ADMIN = "lm-admin"
HOME_ZONE = "America/New_York"  # where the fleet of the manual works


@dataclass(slots=True)
class Clock:
    """A space's clock, so many ms `ahead` of ours. `why` it cannot be moved, or ''; `first` is the day played."""

    operator: "Operator"
    target: Target
    zone: str
    why: str
    ahead: int = 0
    first: date | None = None

    @property
    def moves(self) -> bool:
        return not self.why

    @property
    def ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.ms / 1000, UTC)

    async def read(self) -> None:
        """Learn what the space's clock says."""
        said = datetime.fromisoformat((await self.operator.do("connection"))["clock"])
        self.ahead = round(said.timestamp() * 1000) - time.time_ns() // 1_000_000

    async def move(self, to: Moment) -> None:
        """Move on to a window of the story's day, which is the next one of the space's calendar."""
        windows = Windows(self.zone)
        if self.first is None:
            self.first = windows.today(self.ms) + timedelta(days=1)
        day = self.first + timedelta(days=to.day)
        opens = next(window.opens for window in windows.on(day) if window.slot == to.slot)
        await _move(self.target, self.operator.space, opens + to.minutes * MINUTE - self.ms)
        await self.read()


async def movable(target: Target, space: str) -> str:
    """Why the clock of a space cannot be moved from here, or ''. Tried, since only the store knows."""
    try:
        await _move(target, space, 0)
    except (redis.RedisError, OSError, StoreProblem):
        return (
            f"to move its clock takes the store's user {ADMIN}, whose password is not at hand here "
            "(LOGMEM_REDIS_SECRETS, or LOGMEM_REDIS_URI)"
        )
    return ""


def zone_where_morning_is(now: datetime) -> str:
    """A zone without summer time in which it is between 9 and 10 now, so that a morning window is open."""
    east = (9 - now.astimezone(UTC).hour + 11) % 24 - 11  # hours, -11 to 12
    return f"Etc/GMT{-east:+d}"  # whose names have it the other way round


async def _move(target: Target, space: str, ms: int) -> None:
    async with open_client(target, user=ADMIN) as admin:
        await admin.incrby(Keys(space).clock, ms)
