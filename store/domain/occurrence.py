"""Occurrences of syncs: each window of a space's calendar, accounted for once as held, late, missed or skipped.

What is judged is the evidence: who was expected, and the check-ins that stand. Names are kept up to a bound, and the
counts of all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .calendar import Window, Windows, span_of
from .document import Document, Index, entry_id
from .moments import SECOND
from .text import one_line

NAMED = 20  # principals that an occurrence names
TOLD = 4  # of them in a sentence
TELL = 100  # who are told at once that they are not in
OWED = 600  # windows without an occurrence that a change of the calendar makes some of
ENDS = ("held", "late", "missed", "skipped")

STEPS = {  # the only place where an occurrence's state may change
    ("", "open"): "open",
    ("", "skip"): "skipped",
    ("open", "remind"): "overdue",  # after the 90 min somebody is not in
    **{
        (state, event): end
        for state in ("open", "overdue")
        for event, end in zip(("hold", "delay", "miss", "skip"), ENDS, strict=True)
    },
}

DAY_OFF, PAUSED, NOBODY, DOWN, CHANGED, NO_TIME = "day_off", "paused", "nobody_expected", "down", "changed", "no_time"
REASONS = {  # why an occurrence is skipped; a day off has its own words
    DAY_OFF: "",
    PAUSED: "the space was paused",
    NOBODY: "nobody was expected",
    DOWN: "the scheduler did not run while it was open, and nobody checked in",
    CHANGED: "the times of the syncs were changed over it",
    NO_TIME: "the clocks were set forward over it",
}


@dataclass(frozen=True, kw_only=True)
class Occurrence(Document):
    """`id` is `<day>:<slot>`. `turn` is when it is looked at next, `closed` when it ended; ms, 0 for never.

    `expected`, `came` and `tardy` are counts: of the expected, who is in, and of those, who was late. `missing` names
    who is not in, `behind` who was late and by how much (ms), each up to 20. `reason` says why it was skipped, `off`
    in the words of a holiday; `unseen` is the reason to skip it if need be, since its whole window went unwatched.
    `fixed`: it was over when the calendar was changed, so its times stay; `since` is when the window before it opened
    then. `untold` has those who are not in and are still to be told so.
    """

    kind = "occurrence"
    opens: int
    late: int
    closes: int
    state: str = ""
    turn: int = 0
    closed: int = 0
    reason: str = ""
    off: str = ""
    unseen: str = ""
    fixed: bool = False
    since: int = 0
    expected: int = 0
    came: int = 0
    tardy: int = 0
    missing: tuple[str, ...] = ()
    behind: tuple[tuple[str, int], ...] = ()
    untold: tuple[str, ...] = ()
    reminded: str = entry_id()
    accounted: str = entry_id()

    @property
    def day(self) -> str:
        """Its local day, in ISO 8601."""
        return self.id.partition(":")[0]

    @property
    def slot(self) -> str:
        """morning, midday or closeout."""
        return self.id.partition(":")[2]

    @property
    def name(self) -> str:
        """How sentences call it: `morning of 2026-11-30`."""
        return f"{self.slot} of {self.day}"

    @property
    def ended(self) -> bool:
        """Whether it is accounted for."""
        return self.state in ENDS

    @property
    def absent(self) -> int:
        """How many of the expected are not in; `missing` names no more than 20 of them."""
        return self.expected - self.came

    def indexes(self) -> Iterator[Index]:
        yield Index("occurrences", "", self.opens)
        if self.turn:
            yield Index("turn", "", self.turn)


def occurrence_id(window: Window) -> str:
    """The id of a window's occurrence. Whatever becomes of the calendar, a day has each slot once."""
    return f"{window.day}:{window.slot}"


def step(occurrence: Occurrence, event: str) -> Occurrence:
    """The occurrence one step on. Raises KeyError for a step that is not in the table."""
    return replace(occurrence, state=STEPS[occurrence.state, event])


def opened(window: Window, *, now: int, changed: int = 0) -> Occurrence:
    """The occurrence of a window that has opened; one that never can is skipped at once.

    `changed` is when the calendar was last changed (ms): what was over by then did not have this window.
    """
    made = Occurrence(id=occurrence_id(window), opens=window.opens, late=window.late, closes=window.closes)
    if window.skipped:
        return skipped(made, DAY_OFF, at=now, off=window.skipped)
    if window.opens >= window.closes:
        return skipped(made, NO_TIME, at=now)
    unseen = ""
    if now >= window.closes:
        unseen = CHANGED if window.closes <= changed else DOWN
    return replace(step(made, "open"), unseen=unseen, turn=window.closes if unseen else window.late)


def planned(window: Window, windows: Windows, *, now: int) -> Occurrence:
    """The occurrence of a window that has opened, of a calendar that is about to change: `due` opens it."""
    made = Occurrence(
        id=occurrence_id(window),
        opens=window.opens,
        late=window.late,
        closes=window.closes,
        off=window.skipped,
        turn=window.opens,
    )
    return fixed(made, windows) if now >= window.closes else made


def fixed(occurrence: Occurrence, windows: Windows) -> Occurrence:
    """The occurrence, which is over, as it stays when these windows change."""
    before = windows.last(occurrence.opens - 1)
    return replace(occurrence, fixed=True, since=before.opens if before else 0)


def due(occurrence: Occurrence, *, now: int) -> Occurrence:
    """The occurrence, opened if it was only planned so far."""
    if occurrence.state:
        return occurrence
    o = occurrence
    made = opened(Window(o.slot, o.day, o.opens, o.late, o.closes, o.off), now=now)
    return replace(made, fixed=o.fixed, since=o.since)


def skipped(occurrence: Occurrence, reason: str, *, at: int, off: str = "") -> Occurrence:
    """Closed without a sync, for one of `REASONS`."""
    return replace(step(occurrence, "skip"), reason=reason, off=off, turn=0, closed=at)


def overdue(expected: Iterable[str], came: Collection[str]) -> list[str]:
    """Who is expected and not in, people first."""
    return sorted(set(expected) - set(came), key=lambda who: (who.startswith("agent:"), who))


def telling(occurrence: Occurrence, absent: Sequence[str], *, now: int) -> tuple[Occurrence, Sequence[str]]:
    """The occurrence, overdue or missed, and who of the absent is told of it now: the rest is at its next turn."""
    rest = tuple(absent[TELL:])
    ahead = now if rest else 0 if occurrence.ended else occurrence.closes
    return replace(occurrence, untold=rest, turn=ahead), absent[:TELL]


def turned(
    occurrence: Occurrence, *, expected: Collection[str], came: Mapping[str, int], now: int, paused: bool = False
) -> Occurrence:
    """The occurrence at its turn: looked at after its 90 min, judged at its end; as it is before.

    `came` has who checked in, and when (ms; before `late` for who was on time), whether expected or not; `paused`:
    nobody can, since the space is.
    """
    if occurrence.ended or now < occurrence.turn:
        return occurrence
    if now >= occurrence.closes:
        return judged(occurrence, expected=expected, came=came, now=now, paused=paused)
    return looked(occurrence, expected=expected, came=came, paused=paused)


def looked(
    occurrence: Occurrence, *, expected: Collection[str], came: Mapping[str, int], paused: bool = False
) -> Occurrence:
    """The occurrence after its 90 min: overdue if somebody is not in who can check in. Its next turn is its end."""
    seen = replace(_counted(occurrence, expected, came), turn=occurrence.closes)
    return step(seen, "remind") if occurrence.state == "open" and seen.absent and not paused else seen


def judged(
    occurrence: Occurrence, *, expected: Collection[str], came: Mapping[str, int], now: int, paused: bool = False
) -> Occurrence:
    """The occurrence at its end: held, late or missed by the evidence, or skipped with the reason.

    Arguments as for `turned`. Raises KeyError for one that has ended.
    """
    seen = _counted(occurrence, expected, came)
    if reason := _excuse(seen, came, paused=paused):
        return skipped(seen, reason, at=now)
    event = "miss" if seen.absent else "delay" if seen.tardy else "hold"
    return replace(step(seen, event), turn=0, closed=now)


def _excuse(seen: Occurrence, came: Collection[str], *, paused: bool) -> str:
    """Why it is neither held, late nor missed, or ''. The first that holds."""
    excuses = (
        (DOWN, seen.unseen == DOWN and not came),
        (CHANGED, seen.unseen == CHANGED and seen.absent),
        (NOBODY, not seen.expected),
        (PAUSED, paused and seen.absent),
    )
    return next((reason for reason, holds in excuses if holds), "")


def _counted(occurrence: Occurrence, expected: Collection[str], came: Mapping[str, int]) -> Occurrence:
    """With the evidence, and the names of those whom it is about."""
    wanted = set(expected)
    missing = overdue(wanted, came)
    behind = sorted((who, came[who] - occurrence.late) for who in wanted & came.keys() if came[who] >= occurrence.late)
    return replace(
        occurrence,
        expected=len(wanted),
        came=len(wanted) - len(missing),
        tardy=len(behind),
        missing=tuple(missing[:NAMED]),
        behind=tuple(behind[:NAMED]),
    )


def moved(occurrence: Occurrence, window: Window | None, *, now: int) -> Occurrence:
    """The occurrence as a changed calendar has its window, None for not any more; one that was over before it stays.

    What became a holiday or was taken out is skipped; a window that is over by its new times is nobody's fault. One
    that was overdue stays so: nobody is reminded twice.
    """
    if occurrence.ended or occurrence.fixed or not occurrence.state:
        return occurrence
    if window is None or window.opens >= window.closes:
        return skipped(occurrence, CHANGED, at=now)
    if window.skipped:
        return skipped(occurrence, DAY_OFF, at=now, off=window.skipped)
    if (window.opens, window.late, window.closes) == (occurrence.opens, occurrence.late, occurrence.closes):
        return occurrence
    made = replace(occurrence, opens=window.opens, late=window.late, closes=window.closes, turn=window.closes)
    if now >= window.closes:
        return replace(made, unseen=made.unseen or CHANGED)
    looked_at = occurrence.turn > occurrence.late and now >= window.late
    again = occurrence.state == "open" and not looked_at
    return replace(made, unseen="", turn=window.late if again else window.closes)


def is_no_news(occurrence: Occurrence, before: Iterable[Occurrence | None]) -> bool:
    """Whether the Log need not be told how it ended: nobody was expected, as in one of that day's before it."""
    return occurrence.reason == NOBODY and any(each and each.reason == NOBODY for each in before)


def told(occurrence: Occurrence) -> str:
    """How it stands with an occurrence, or how it ended, in a sentence."""
    return f"{occurrence.name} {_told(occurrence)}."


def _told(occurrence: Occurrence) -> str:
    missing = _names(occurrence.missing, occurrence.absent)
    be = "is" if occurrence.absent == 1 else "are"
    match occurrence.state:
        case "":
            return "has not opened"
        case "open":
            return "is open"
        case "overdue":
            return f"is overdue: {missing} {be} not in"
        case "held":
            all_ = "the one expected was" if occurrence.expected == 1 else f"all {occurrence.expected} were"
            return f"was held: {all_} in on time"
        case "late":
            return f"was late: {_late(occurrence)}"
        case "missed":
            late = f"; {_late(occurrence)}" if occurrence.tardy else ""
            return f"was missed: {missing} never came{late}"
        case _:
            why = one_line(occurrence.off, 80) if occurrence.reason == DAY_OFF else REASONS[occurrence.reason]
            return f"was skipped: {why}"


def _late(occurrence: Occurrence) -> str:
    """Who came late and by how much: `agent:grok came 12 min late`."""
    names = [
        f"{who} {'came ' if n == 0 else ''}{span_of(max(SECOND, ms))} late"
        for n, (who, ms) in enumerate(occurrence.behind)
    ]
    return _names(names, occurrence.tardy)


def _names(names: Iterable[str], count: int) -> str:
    """The first of the names, and how many more there are."""
    shown = list(names)[:TOLD]
    rest = count - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def outcome(occurrence: Occurrence) -> dict[str, Any]:
    """How it stands or ended, for programs: `late_by` in seconds, and how many names were left out."""
    facts: dict[str, Any] = {"slot": occurrence.slot, "day": occurrence.day, "state": occurrence.state}
    if occurrence.reason:
        return {**facts, "skipped": occurrence.reason, **({"reason": occurrence.off} if occurrence.off else {})}
    left = occurrence.absent - len(occurrence.missing) + occurrence.tardy - len(occurrence.behind)
    return {
        **facts,
        "expected": occurrence.expected,
        "came": occurrence.came,
        "late": occurrence.tardy,
        **({"missing": list(occurrence.missing)} if occurrence.missing else {}),
        **({"late_by": {who: ms // SECOND for who, ms in occurrence.behind}} if occurrence.behind else {}),
        **({"left_out": left} if left else {}),
    }


@dataclass(frozen=True, kw_only=True)
class Rhythm(Document):
    """How far the occurrences of a space are accounted for. Times in ms.

    `through` is the last opening that is; `next` the first one after it by the calendar, 0 if none is in sight;
    `changed` when the calendar was last changed, as far as there were other windows by it until then.
    """

    kind = "rhythm"
    through: int
    next: int = 0
    changed: int = 0

    def indexes(self) -> Iterator[Index]:
        if self.next:
            yield Index("turn", "", self.next)


SYNC = "sync"  # the id of the one rhythm that a space has


def begun(windows: Windows, *, now: int) -> Rhythm:
    """The rhythm of a space that had none: what opened before was not watched, and is no occurrence."""
    return accounted(Rhythm(id=SYNC, through=now), windows, through=now)


def accounted(rhythm: Rhythm, windows: Windows, *, through: int) -> Rhythm:
    """The rhythm once the windows that opened up to then have their occurrences."""
    reached = max(rhythm.through, through)
    ahead = windows.next(reached, skipped=True)
    return replace(rhythm, through=reached, next=ahead.opens if ahead else 0)


def retimed(rhythm: Rhythm, old: Windows, new: Windows, *, now: int) -> tuple[Rhythm, list[Occurrence]]:
    """The rhythm with another calendar, and the occurrences that are owed by the old one: more than OWED, if it is so.

    It goes back so far that a window that is open by the new one gets an occurrence. Nothing is accounted for twice by
    that: an occurrence that exists is not made again. What was over by then in the new calendar alone was no window,
    also if the clock goes back there.
    """
    was, will = (list(windows.after(rhythm.through, now, limit=OWED + 1)) for windows in (old, new))
    same = was == will and len(was) <= OWED
    owed = [] if same else was
    here = new.open(now)
    back = min(owed[-1].opens if owed else rhythm.through, here.opens - 1 if here else now)
    after = replace(rhythm, through=back, changed=rhythm.changed if same else now)
    return accounted(after, new, through=back), [planned(window, old, now=now) for window in owed]
