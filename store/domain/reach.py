"""How a person is reached on Telegram, in a space: their account, whether messages arrive, who is on call."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from .document import Document, Index
from .errors import Refused
from .moments import DAY, MINUTE, duration
from .text import quoted

NONE = ("off", "none", "no")  # how one says that there is to be no snooze, and no quiet hours
SNOOZE = (MINUTE, 7 * DAY)
_HOURS = re.compile(r"([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?\s*(?:-|–|to)\s*([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Reach(Document):
    """`id` is `human:<id>`; `account` the number of their Telegram account, 0 for none; times in ms, 0 for never.

    `lost` is since when Telegram delivers nothing to them. `snoozed` (until) and `quiet` (`22:00-07:00` in the space's
    zone) make cards come without a sound; neither moves a deadline or holds back high risk. `syncs`: `on` for who wants
    the day's syncs and is expected in them (since `attends`), `off` for who wants none, '' for who has not said.
    """

    kind = "reach"
    account: int = 0
    lost: int = 0
    on_call: bool = False
    snoozed: int = 0
    quiet: str = ""
    syncs: str = ""
    attends: int = 0

    @property
    def live(self) -> bool:
        """Whether a message reaches them, as far as is known."""
        return bool(self.account) and not self.lost

    def indexes(self) -> Iterator[Index]:
        if self.account:
            yield Index("reached", "", 0)
        if self.syncs == "on":
            yield Index("attending", "", self.attends)


def paired(reach: Reach | None, *, person: str, account: int) -> Reach:
    """With this account, reachable; what they chose about their own cards stays."""
    return replace(reach or Reach(id=person), account=account, lost=0)


def unpaired(reach: Reach) -> Reach:
    """Without an account, so on call no more."""
    return Reach(id=reach.id, snoozed=reach.snoozed, quiet=reach.quiet, syncs=reach.syncs, attends=reach.attends)


def silent(reach: Reach, *, now: int, zone: str) -> bool:
    """Whether a card comes to them without a sound now."""
    if now < reach.snoozed:
        return True
    if not reach.quiet:
        return False
    begin, end = reach.quiet.split("-")
    at = f"{(_EPOCH + timedelta(milliseconds=now)).astimezone(ZoneInfo(zone)):%H:%M}"
    return begin <= at < end if begin < end else at >= begin or at < end


def snoozed_until(said: str | int, *, now: int) -> int:
    """When a snooze ends (ms), 0 for none. Refuses invalid_argument."""
    if str(said).strip().lower() in NONE:
        return 0
    return now + duration(said, low=SNOOZE[0], high=SNOOZE[1], name="snooze")


def quiet_hours(said: str) -> str:
    """Quiet hours as they are kept (`22:00-07:00`), '' for none. Refuses invalid_argument."""
    text = said.strip().lower()
    if text in NONE:
        return ""
    found = _HOURS.fullmatch(text)
    hours = "-".join(f"{int(found[n]):02}:{found[n + 1] or '00'}" for n in (1, 3)) if found else ""
    if not hours or hours[:5] == hours[6:]:
        raise Refused(
            "invalid_argument",
            f"hours are like 22:00-07:00, or off; here is {quoted(said)}. Nothing was written.",
            argument="hours",
        )
    return hours
