"""The syncs of a space, for people and programs: today's windows and who is in, how the last weeks ended, what comes.

What has ended is shown as it was accounted for; what is open as it stands now, whether or not a scheduler runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from ..domain import calendar
from ..domain.calendar import SLOTS, Window, Windows, span_of, windows_of
from ..domain.day import GETS, is_left
from ..domain.digest import Digest, began
from ..domain.errors import Refused
from ..domain.lines import GONE
from ..domain.listing import counted
from ..domain.moments import SECOND, iso
from ..domain.occurrence import DAY_OFF, SYNC, Occurrence, Rhythm, due, looked, moved, occurrence_id, opened, told
from ..domain.reach import Reach
from ..domain.sync import CheckIn
from ..domain.text import one_line
from ..engine.reads import Doc, Page, Range, Read
from .call import Call, Result
from .day_people import live_keys
from .due import leads
from .expected import all_expected, all_in
from .rhythm import shown

WEEKS = (1, 8)
OCCURRENCES = 200  # of eight weeks
IN = 50  # check-ins of a window that are shown
NOTES = 200  # characters of a check-in's
DIGESTS = 8  # days back in which the last digest is looked for
# How it stands with a window, besides what an occurrence says: it has not opened; it is open; it is over, and no
# scheduler has written down yet how it ended.
AHEAD, OPEN, UNACCOUNTED, SKIPPED = "ahead", "open", "unaccounted", "skipped"
STATES = (AHEAD, OPEN, "overdue", "held", "late", "missed", SKIPPED, UNACCOUNTED)


async def syncs(call: Call, *, weeks: int = 4) -> Result:
    """The syncs: today's windows with who is in and who is missing, the last weeks day by day, and what comes next.

    `state` is one of STATES. In `grid`, `late` counts those who came late; in `today` it is when one is.
    """
    if not WEEKS[0] <= weeks <= WEEKS[1]:
        raise Refused("invalid_argument", f"weeks takes {WEEKS[0]} to {WEEKS[1]}.", argument="weeks")
    await call.admit()
    found = await _found(call, weeks)
    led = await leads(call.store)
    return {
        "now": iso(call.now),
        "local": found.windows.local(call.now),
        **shown(call.space, found.windows, now=call.now),
        "paused": call.space.paused,
        "today": [await _today(call, found, one) for one in found.of if one.day == found.today],
        "grid": _grid(found, call.now),
        "next": _next(found.windows, call.now),
        "leader": {"leads": led is not None and led.left > 0, "for_s": abs(led.left) // SECOND if led else None},
        "you": _you(call, found),
        "digest": await _digest(call, found.windows.today(call.now)),
    }


@dataclass(frozen=True, slots=True)
class _Sync:
    """One window: `at` says when it opens, is late and closes, `of` is its occurrence, None for none so far.

    `off` is why a window without an occurrence is skipped.
    """

    id: str
    at: Window | Occurrence
    of: Occurrence | None = None
    off: str = ""

    @property
    def day(self) -> str:
        return self.id.partition(":")[0]

    @property
    def slot(self) -> str:
        return self.id.partition(":")[2]

    def state(self, now: int) -> str:
        """One of STATES."""
        if self.of and self.of.ended:
            return self.of.state
        if self.off:
            return SKIPPED
        if now < self.at.opens:
            return AHEAD
        return UNACCOUNTED if now >= self.at.closes else self.of.state if self.of else OPEN

    def is_open(self, now: int) -> bool:
        """Whether one can check in now, but for what else may keep one from it."""
        return self.state(now) in (OPEN, "overdue")

    def says(self, windows: Windows, now: int) -> str:
        """How it stands, or how it ended, in a sentence."""
        match self.state(now):
            case "ahead":
                at = windows.local(self.at.opens).removeprefix(f"{self.day} ")
                return f"opens at {at}, in {span_of(self.at.opens - now)}"
            case "unaccounted":
                return f"{self.slot} of {self.day} is over, and no scheduler has accounted for it yet."
            case "skipped" if self.off:
                return f"{self.slot} of {self.day} is skipped: {one_line(self.off, 80)}."
            case "open" if self.of:
                return f"{told(self.of)[:-1]}: {_open(self.of, now)}."
            case "overdue" if self.of:
                return f"{told(self.of)[:-1]}; over in {span_of(self.of.closes - now)}."
        return told(self.of) if self.of else ""


def _open(of: Occurrence, now: int) -> str:
    """How it stands with one that is open, and nobody is overdue in it."""
    on_time, over = f"on time for {span_of(of.late - now)} more", f"late, over in {span_of(of.closes - now)}"
    count = f"{of.came} of {of.expected} in" if of.expected else "nobody is expected"
    return f"{on_time if now < of.late else over}; {count}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read: the windows and occurrences asked for, oldest first; of today's, the check-ins.

    `checked` has the first of each of today's windows, `said` these by their ids, `mine` the caller's own by window.
    `left` is as `is_left` has it.
    """

    windows: Windows
    today: str
    of: Sequence[_Sync]
    checked: Mapping[str, Page]
    said: Mapping[str, CheckIn]
    mine: Mapping[str, CheckIn]
    reach: Reach | None
    left: bool


async def _found(call: Call, weeks: int) -> _Found:
    windows, now = windows_of(call.space), call.now
    today = windows.today(now)
    since = today - timedelta(days=7 * weeks - 1)
    low = began(since.isoformat(), zone=windows.zone)
    slots = [f"{today}:{slot}" for slot in SLOTS]
    pages = [Range("checked", id, IN) for id in slots]
    page, rhythm, reach, keys = await call.look(
        Range("occurrences", "", OCCURRENCES, low=low, latest=True),
        Doc(Rhythm, SYNC),
        Doc(Reach, call.me),
        live_keys(call),
    )
    reads: list[Read[Any]] = [*(Doc(Occurrence, id) for id in page.ids(Occurrence)), *pages]
    reads += [Doc(CheckIn, f"{call.me}:{id}") for id in slots]
    found = await call.look_each(reads)
    n = len(found) - len(pages) - len(slots)
    occurrences = {each.id: each for each in found[:n] if each}
    checked = dict(zip(slots, found[n : n + len(pages)], strict=True))
    mine = {id: doc for id, doc in zip(slots, found[n + len(pages) :], strict=True) if doc}
    ids = [id for page in checked.values() for id in page.ids(CheckIn)]
    said = await call.look_each(Doc(CheckIn, id) for id in ids) if ids else []
    through = rhythm.through if rhythm else now
    return _Found(
        windows,
        today.isoformat(),
        [await _live(call, windows, one) for one in _all(windows, occurrences, since=since, through=through, now=now)],
        checked,
        {doc.id: doc for doc in said if doc},
        mine,
        reach,
        is_left(call.space, keys=keys),
    )


def _all(
    windows: Windows, occurrences: Mapping[str, Occurrence], *, since: date, through: int, now: int
) -> list[_Sync]:
    """The occurrences, and the windows up to the end of today that have none yet; what is open as the calendar is now.

    A window that was over before the space's syncs began is none of them.
    """
    made: dict[str, _Sync] = {}
    for id, of in occurrences.items():
        now_so = moved(due(of, now=now), windows.of(of.day, of.slot), now=now)
        made[id] = _Sync(id, now_so, now_so)
    first, last = max(since, windows.today(min(through, now))), windows.today(now)
    for day in (first + timedelta(days=n) for n in range((last - first).days + 1)):
        for window in windows.on(day):
            id = occurrence_id(window)
            if id not in made and (window.opens > through or now < window.closes):
                made[id] = _Sync(id, window, off=window.skipped)
    return sorted(made.values(), key=lambda one: (one.at.opens, SLOTS.index(one.slot)))


async def _live(call: Call, windows: Windows, one: _Sync) -> _Sync:
    """What is open, with who is expected and who is in now; all else as it is."""
    if not one.is_open(call.now):
        return one
    of = opened(one.at, now=call.now) if isinstance(one.at, Window) else one.at
    if of.ended:
        return one
    came = await all_in(call, of)
    before = windows.last(of.opens - 1)
    expected = await all_expected(call, of, since=before.opens if before else 0)
    early = call.now < of.late or call.space.paused
    seen = looked(replace(of, state="open"), expected=expected, came=came, paused=early)
    return replace(one, at=seen, of=seen)


async def _today(call: Call, found: _Found, one: _Sync) -> Result:
    """One of today's windows, with who is in."""
    page = found.checked.get(one.id, Page([], 0))
    docs = [found.said[id] for id in page.ids(CheckIn) if id in found.said]
    entries = await call.recall(doc.said for doc in docs)
    lines = []
    for doc in docs:
        said = entries.get(doc.said)
        gone = {"gone": said.gone if said else GONE}
        notes = counted("notes", said.summary, NOTES) if said and said.entry else gone
        late = {"late": doc.late, "at": iso(doc.at)}
        lines.append({"who": doc.by, "outcome": doc.outcome, **late, **notes, "entry": doc.said})
    left = page.size - len(lines)
    return {
        "day": one.day,
        "slot": one.slot,
        **_cell(found.windows, one, call.now),
        "opens": iso(one.at.opens),
        "late": iso(one.at.late),
        "closes": iso(one.at.closes),
        "local": _local(found.windows, one),
        "in": lines,
        **({"left_out": left} if left > 0 else {}),
    }


def _local(windows: Windows, one: _Sync) -> str:
    """Its times on a clock of the space, as `sync` says them."""
    at = Window(one.slot, one.day, one.at.opens, one.at.late, one.at.closes)
    return str(calendar.times(windows, at)["local"])


def _cell(windows: Windows, one: _Sync, now: int) -> Result:
    """How it stands, for the grid: counts of the expected, of them those who came and came late, and who did not."""
    of = one.of
    why = {"skipped": of.reason, "reason": of.off} if of else {"skipped": DAY_OFF, "reason": one.off}
    entry = (of.accounted or of.reminded) if of else ""
    left = of.absent - len(of.missing) if of else 0
    state = one.state(now)
    return {
        "state": state,
        "says": one.says(windows, now),
        "expected": of.expected if of else 0,
        "came": of.came if of else 0,
        "late": of.tardy if of else 0,
        "missing": list(of.missing) if of else [],
        **({"missing_left_out": left} if left else {}),
        **({name: value for name, value in why.items() if value} if state == SKIPPED else {}),
        **({"entry": entry} if entry else {}),
    }


def _grid(found: _Found, now: int) -> list[Result]:
    """The days, newest first."""
    days: dict[str, Result] = {}
    for one in found.of:
        days.setdefault(one.day, {})[one.slot] = _cell(found.windows, one, now)
    return [{"day": day, "slots": days[day]} for day in sorted(days, reverse=True)]


def _next(windows: Windows, now: int) -> Result | None:
    """The window that opens next, if one is in sight."""
    ahead = windows.next(now)
    if ahead is None:
        return None
    return {"slot": ahead.slot, "day": ahead.day, "opens": iso(ahead.opens), "local": windows.local(ahead.opens)}


def _you(call: Call, found: _Found) -> Result:
    """How the caller takes part: what they have said, and whether they are reminded and expected; their check-ins."""
    reach = found.reach or Reach(id=call.me)
    owns = call.member is not None and call.member.role == "owner"
    return {
        "attend": reach.syncs,
        "reminded": reach.live and GETS[reach.syncs, owns and not found.left],
        "expected": reach.syncs == "on",
        "checked_in": {id.partition(":")[2]: doc.outcome for id, doc in found.mine.items()},
    }


async def _digest(call: Call, today: date) -> Result | None:
    """The last day's that had one."""
    days = [(today - timedelta(days=n)).isoformat() for n in range(DIGESTS)]
    last = next((doc for doc in await call.look_each(Doc(Digest, day) for day in days) if doc and doc.told), None)
    if last is None:
        return None
    said = (await call.recall([last.told])).get(last.told)
    return {"day": last.id, "entry": last.told, "summary": said.summary if said else "[redacted]"}
