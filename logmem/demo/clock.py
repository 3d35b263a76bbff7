"""The clock of the demo's space: read as anybody can, moved as only lm-admin may."""

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

import redis

from store.domain.calendar import TIMES, Window, Windows
from store.domain.moments import MINUTE
from store.engine.client import StoreProblem, Target, open_client
from store.engine.keys import Keys

from ..fault import Fault
from .script import Moment

if TYPE_CHECKING:
    from ..operate import Operator

ADMIN = "lm-admin"
HOME_ZONE = "America/New_York"  # where the fleet of the manual works
FAR = 500  # days looked through for one that can be played
ROOM = 10 * MINUTE  # before the end of a window, for what happens in it


@dataclass(slots=True)
class Clock:
    """A space's clock, so many ms `ahead` of ours. `why` it cannot be moved, or ''.

    `windows` is the space's calendar, and `days` are the two of it that are played.
    """

    operator: "Operator"
    target: Target
    windows: Windows
    why: str
    ahead: int = 0
    days: tuple[date, ...] = ()

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
        """Move on to a moment of the story's days, but never back. Fault: the calendar has no such days."""
        await self.read()  # others may move it, too
        window = self._window(to)
        since = window.late if to.late else window.opens
        at = min(since + to.minutes * MINUTE, max(since, window.closes - ROOM))
        if at > self.ms:
            await _move(self.target, self.operator.space, at - self.ms)
        await self.read()

    def unreachable(self, to: Moment) -> str:
        """Why the clock cannot be moved to a moment, or ''. Fault as for `move`."""
        if self.why or not to.late:
            return self.why
        window = self._window(to)
        return "" if window.late < window.closes else f"{window.slot} is over here before anybody is late"

    def _window(self, to: Moment) -> Window:
        """The window of a moment, of later days than were planned if it is over: a person may have taken long."""
        if not self.days:
            self._plan(self.windows.today(self.ms))
        for _ in range(FAR):
            window = self.windows.of(self.days[to.day].isoformat(), to.slot)
            if window and self.ms < window.closes:
                return window
            self._plan(self.days[0])
        raise Fault(f"The days of {self.operator.space} are over before the demo is.")

    def _plan(self, after: date) -> None:
        """The next two days after this one of which each window opens."""
        days = (after + timedelta(days=n) for n in range(1, FAR))
        self.days = tuple(islice((day for day in days if self._whole(day)), 2))
        if len(self.days) < 2:
            raise Fault(f"The calendar of {self.operator.space} has no two days with syncs in sight.")

    def _whole(self, day: date) -> bool:
        windows = self.windows.on(day)
        return bool(windows) and all(not each.skipped and each.opens < each.closes for each in windows)


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
    """A zone without summer time in which a morning window has opened within the hour."""
    east = (TIMES[0][1].hour - now.astimezone(UTC).hour + 11) % 24 - 11  # hours, -11 to 12
    return f"Etc/GMT{-east:+d}"  # whose names have it the other way round


async def _move(target: Target, space: str, ms: int) -> None:
    async with open_client(target, user=ADMIN) as admin:
        await admin.incrby(Keys(space).clock, ms)
