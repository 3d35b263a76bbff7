"""Shifts: an agent's session of work, from start to recap."""

from dataclasses import dataclass, replace

from .document import Document, entry_id
from .moments import MINUTE

IDLE = 30 * MINUTE  # without a write, and with no ask pending, nobody works in a shift any more


@dataclass(frozen=True, kw_only=True)
class Shift(Document):
    """The last shift of an agent, by its id. `number` counts them; `ended` is 0 while it is open; times in ms."""

    kind = "shift"
    number: int
    credential: str
    since: int
    ended: int = 0
    auto: bool = False
    recap: str = entry_id()

    @property
    def open(self) -> bool:
        return not self.ended


def opened(last: Shift | None, *, agent: str, credential: str, now: int) -> Shift:
    """The agent's next shift; the id of the last recap stays with it."""
    number = last.number + 1 if last else 1
    recap = last.recap if last else ""
    return Shift(id=agent, number=number, credential=credential, since=now, recap=recap)


def ended(shift: Shift, *, now: int, auto: bool = False) -> Shift:
    """The shift, recapped."""
    return replace(shift, ended=now, auto=auto)


def at_work(shift: Shift | None, *, wrote: int, asks: int, now: int) -> bool:
    """Whether somebody is there in the shift: it is open, and they wrote lately (ms) or wait for an ask."""
    return shift is not None and shift.open and (asks > 0 or now - max(wrote, shift.since) < IDLE)


def recapped(last: Shift | None, *, agent: str, credential: str, now: int, end: bool) -> tuple[Shift, bool]:
    """The shift that a recap belongs to, and whether that begins with it.

    A recap that comes after the end is the last word on that shift, also in place of an automatic one.
    """
    begins = last is None or not (last.open or end)
    shift = opened(last, agent=agent, credential=credential, now=now) if last is None or begins else last
    return (ended(shift, now=now) if end and shift.open else replace(shift, auto=False)), begins
