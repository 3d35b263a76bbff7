"""The sync message of a day: who gets it, when a new one pushes, and what it says of each window. Pure functions.

There is one message for a person and a day. It is edited without a sound when something changes; at some moments of
the day a new one takes its place, which pushes, if something waits for that person or somebody is blocked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from .calendar import IN_TIME, LATE, OVER, SKIPPED, SLOTS, UPCOMING, Window, Windows
from .document import Document
from .occurrence import Occurrence, told
from .person import Member
from .reach import Reach
from .space import Space
from .text import one_line

YEARS = (2000, 2999)  # beyond which nobody has syncs
NAMED = 4  # of who is not in, in a sentence
DAY_OFF_SHOWN = 80  # characters of the reason of a holiday
STATES = {UPCOMING: "ahead", IN_TIME: "open", LATE: "open", OVER: "open", SKIPPED: "skipped"}  # before it is looked at

#: Who gets the day's message, by what they have said of syncs (`Reach.syncs`) and whether they own what goes on there.
GETS: Mapping[tuple[str, bool], bool] = {
    ("", True): True,  # owners, unless they do not want it
    ("", False): False,
    ("on", True): True,
    ("on", False): True,
    ("off", True): False,
    ("off", False): False,
}

#: When a new message may push, by the state of the window before and after.
MOMENTS: frozenset[tuple[str, str]] = frozenset({("", "open"), ("open", "overdue")})


@dataclass(frozen=True, kw_only=True)
class SyncDay(Document):
    """The local day `id` (ISO 8601) as phones know it: `pushed` says how often each person's was to ring for it.

    It is written where that changes, at a moment of the day: what comes to wait in between has a card of its own.
    """

    kind = "day"
    pushed: tuple[tuple[str, int], ...] = ()

    @property
    def carded(self) -> bool:
        return True

    def times(self, who: str) -> int:
        """How often their phone was to ring."""
        return dict(self.pushed).get(who, 0)


def day_ref(day: str) -> str:
    """How the message of a day is named."""
    return f"{SyncDay.kind}:{day}"


def day_of(said: str) -> date | None:
    """The day that is named so, None for no day that could have syncs."""
    try:
        found = date.fromisoformat(said)
    except ValueError:
        return None
    return found if found.isoformat() == said and YEARS[0] <= found.year <= YEARS[1] else None


def is_left(space: Space, *, keys: int) -> bool:
    """Whether nothing goes on there any more: it is simulated, and no agent has a key. Its days go by all the same."""
    return space.simulated and not keys


def gets(reach: Reach | None, member: Member | None, *, left: bool) -> bool:
    """Whether somebody gets the day's message: of those who have a role here, and whom messages reach.

    Owners of a space that is `left` (as `is_left` has it) get none if they have not said that they want it.
    """
    if reach is None or not reach.live or member is None or not member.role:
        return False
    return GETS[reach.syncs, member.role == "owner" and not left]


def is_moment(before: Occurrence | None, after: Occurrence, *, now: int) -> bool:
    """Whether a new message may push because of this: a window has opened, or is overdue, and one can still check in.

    What nobody watched is none: after the scheduler was down nobody is woken for what is over, nor told that a window
    has opened which is late by now.
    """
    here = (before.state if before else "", after.state) in MOMENTS
    return here and not after.unseen and now < (after.late if after.state == "open" else after.closes)


def rung(day: SyncDay, people: Iterable[str]) -> SyncDay:
    """The day once more has come for these people to be told of."""
    counts = dict(day.pushed)
    for who in people:
        counts[who] = counts.get(who, 0) + 1
    return SyncDay(id=day.id, pushed=tuple(sorted(counts.items())))


def pushes(who: str, *, waiting: int, absent: bool, troubled: Iterable[str]) -> bool:
    """Whether a moment of the day is worth a sound to somebody.

    That is if something waits for them, if they are `absent` (expected, and overdue themselves), or if somebody else is
    `troubled`: blocked, or in need of attention.
    """
    return waiting > 0 or absent or any(other != who for other in troubled)


def windows_on(windows: Windows, day: date, occurrences: Mapping[str, Occurrence]) -> list[Window]:
    """The windows of a day in their order: by what is accounted for, and by the calendar where nothing is yet.

    `occurrences` has them by slot, as `as_planned` does. What has ended is over, whatever times it had.
    """
    planned = {window.slot: window for window in windows.on(day)}
    found = []
    for slot in SLOTS:
        here = occurrences.get(slot)
        window = planned.get(slot)
        if here and (here.ended or here.fixed):
            skipped, how = window.skipped if window else "", told(here) if here.ended else ""
            window = Window(slot, here.day, here.opens, here.late, here.closes, skipped, how)
        if window:
            found.append(window)
    return found


def state_of(window: Window, here: Occurrence | None, *, now: int) -> str:
    """ahead, open, overdue, held, late, missed or skipped."""
    if here and (here.ended or here.state == "overdue"):
        return here.state
    return STATES[window.state(now)]


def is_over(windows: Iterable[Window], *, now: int) -> bool:
    """Whether no window of the day is open or ahead any more."""
    return all(window.state(now) in (OVER, SKIPPED) for window in windows)


def stands(
    windows: Windows, window: Window, here: Occurrence | None, *, came: int, missing: Sequence[str], now: int
) -> str:
    """How it stands with a window, without its name: `open, on time until 10:30; 2 are in`.

    `came` is how many are in, `missing` who of those that were overdue is still not. It says no time that passes by
    itself, so that nothing changes but by what happens.
    """
    if here and here.ended:
        return told(here).removeprefix(f"{here.name} ").removeprefix("was ").removesuffix(".")
    state = window.state(now)
    if state == SKIPPED:
        return f"skipped: {one_line(window.skipped, DAY_OFF_SHOWN)}"
    if state == UPCOMING:
        return f"opens at {_clock(windows, window, window.opens)}"
    if state == OVER:
        return "over, not accounted for yet"
    closes = _clock(windows, window, window.closes)
    if here and here.state == "overdue" and missing:
        more = len(missing) - NAMED
        names = ", ".join(missing[:NAMED]) + (f" and {more} more" if more > 0 else "")
        return f"overdue, open until {closes}: {names} {'is' if len(missing) == 1 else 'are'} not in; {_in(came)}"
    ends = f"late, until {closes}" if state == LATE else f"on time until {_clock(windows, window, window.late)}"
    return f"open, {ends}; {_in(came)}"


def _in(came: int) -> str:
    return "nobody is in" if not came else "one is in" if came == 1 else f"{came} are in"


def _clock(windows: Windows, window: Window, at: int) -> str:
    """A moment as a clock in the space's zone shows it; the end of the day is midnight."""
    said = windows.local(at).removeprefix(f"{window.day} ")
    return said if len(said) == len("10:30") else "midnight" if said.endswith("00:00") else said


def facts_of(windows: Windows, window: Window, here: Occurrence | None, *, says: str, now: int) -> dict[str, Any]:
    """A window of the day for programs; times in ms, and as a clock in the space's zone shows them."""
    return {
        "slot": window.slot,
        "state": state_of(window, here, now=now),
        "says": says,
        "opens": window.opens,
        "closes": window.closes,
        "clock": _clock(windows, window, window.opens),
    }
