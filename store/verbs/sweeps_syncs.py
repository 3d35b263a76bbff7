"""The occurrences of a space's syncs: each made when its window opens, looked at when it is late, judged at its end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..domain.calendar import CLOSEOUT, SLOTS, Windows, windows_of
from ..domain.commit import Commit, Put, put
from ..domain.day import day_ref, is_moment
from ..domain.digest import Digest, began, has_digest
from ..domain.document import Document
from ..domain.entry import Entry
from ..domain.inspection import PART, SPACE, Inspection
from ..domain.occurrence import (
    SYNC,
    Occurrence,
    Rhythm,
    accounted,
    begun,
    due,
    is_no_news,
    moved,
    occurrence_id,
    opened,
    outcome,
    overdue,
    telling,
    told,
    turned,
)
from ..engine.reads import Doc, Range
from .call import Call
from .day_people import rings
from .expected import all_expected, all_in
from .sweeping import channel, did, row

WINDOWS = 12  # that one commit makes occurrences of
TURNS = 4  # occurrences that one commit looks at


async def _stamp(call: Call) -> Commit:
    """Nothing but that a scheduler of this epoch leads here now; a space that has no rhythm yet gets one."""
    await call.admit()
    rhythm, inspection = await call.read(Doc(Rhythm, SYNC), Doc(Inspection, SPACE))
    puts = [] if rhythm else [put(begun(windows_of(call.space), now=call.now))]
    puts += [] if inspection else [put(Inspection(id=SPACE, next=call.now + PART))]
    return did(len(puts), puts=tuple(puts))


@dataclass(slots=True)
class _Written:
    """What one commit of the sweep writes, gathered."""

    puts: list[Put] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    days: set[str] = field(default_factory=set)  # whose messages are to be looked at
    moment: Occurrence | None = None  # which may be worth a sound
    away: Sequence[str] = ()  # everybody who is not in there

    def add(self, doc: Document, said: Iterable[Entry] = (), mark: str = "") -> None:
        """A document with its entries, the first of which is named in `mark`."""
        entries = list(said)
        self.puts.append(put(doc, **({mark: len(self.entries)} if mark and entries else {})))
        self.entries += entries


async def _occurrences(call: Call) -> Commit:
    """The windows that have opened get their occurrences; those whose turn has come are looked at."""
    await call.admit()
    rhythm, page = await call.read(Doc(Rhythm, SYNC), Range("turn", "", TURNS + 1, high=call.now))
    if rhythm is None:
        return did(0)
    windows = windows_of(call.space)
    if rhythm.next and rhythm.next <= call.now:
        return await _open(call, rhythm, windows)
    return await _turn(call, windows, page.ids(Occurrence)[:TURNS], more=len(page.members) > TURNS)


async def _open(call: Call, rhythm: Rhythm, windows: Windows) -> Commit:
    """The next windows that have opened since the last that is accounted for, and how far it is then."""
    found = list(windows.after(rhythm.through, call.now, limit=WINDOWS))
    known = await call.read_each(Doc(Occurrence, occurrence_id(window)) for window in found) if found else []
    written = _Written()
    for window, before in zip(found, known, strict=True):
        if before is None:
            after = opened(window, now=call.now, changed=rhythm.changed)
            _add(call, written, None, after, windows, absent=())
    through = found[-1].opens if found else rhythm.through
    written.add(accounted(rhythm, windows, through=through))
    return did(len(found) or 1, more=True, **await _parts(call, written))


async def _turn(call: Call, windows: Windows, ids: Sequence[str], *, more: bool) -> Commit:
    """These occurrences, each as time, a changed calendar and the evidence have it."""
    written = _Written()
    for before in await call.read_each(Doc(Occurrence, id) for id in ids) if ids else []:
        if before is None:
            continue
        if before.untold:
            _tell(call, written, before)
            continue
        here = moved(due(before, now=call.now), windows.of(before.day, before.slot), now=call.now)
        after, absent = (here, ()) if here.ended else await _judged(call, windows, here)
        _add(call, written, before, after, windows, absent=absent, quiet=await _no_news(call, written, after))
    again = more or any(0 < p.doc.turn <= call.now for p in written.puts if isinstance(p.doc, Occurrence))
    return did(len(ids), more=again, **await _parts(call, written))


async def _parts(call: Call, written: _Written) -> dict[str, Any]:
    """What is written, with whose phones are to ring because of it."""
    here = written.moment
    late = written.away if here and here.state == "overdue" else ()
    puts = (*written.puts, *(await rings(call, here.day, late) if here else ()))
    cards = tuple(day_ref(day) for day in sorted(written.days))
    return {"puts": puts, "entries": tuple(written.entries), "cards": cards}


async def _judged(call: Call, windows: Windows, here: Occurrence) -> tuple[Occurrence, Sequence[str]]:
    """The occurrence at its turn, by who is expected and who is in; and all of those who are not."""
    await call.read(Range("checked", here.id, 1))  # how many there are: whoever comes meanwhile is seen
    came = await all_in(call, here)
    before = windows.last(here.opens - 1)
    since = here.since if here.fixed else before.opens if before else 0
    expected = await all_expected(call, here, since=since)
    after = turned(here, expected=expected, came=came, now=call.now, paused=call.space.paused)
    return after, overdue(expected, came)


async def _no_news(call: Call, written: _Written, after: Occurrence) -> bool:
    """Whether the day's windows before it have said the same: a quiet space is told so once a day."""
    if not after.ended:
        return False
    ids = [f"{after.day}:{slot}" for slot in SLOTS[: SLOTS.index(after.slot)]]
    here = [put.doc for put in written.puts if isinstance(put.doc, Occurrence) and put.doc.id in ids]
    found = await call.look_each(Doc(Occurrence, id) for id in ids) if ids else []
    return is_no_news(after, [*here, *found])


def _add(
    call: Call,
    written: _Written,
    before: Occurrence | None,
    after: Occurrence,
    windows: Windows,
    *,
    absent: Sequence[str],
    quiet: bool = False,
) -> None:
    """Write it down, with what is to be told of it, also to the absent; the last of a day brings the digest."""
    was = before.state if before else ""
    names: Sequence[str] = ()
    if after.state == "missed" or (after.state == "overdue" and was != "overdue"):
        after, names = telling(after, absent, now=call.now)
    if after != before:
        written.days.add(after.day)
    if is_moment(before, after, now=call.now):
        written.moment, written.away = after, absent
    if after.ended:
        written.add(after, [] if quiet else [_said(call, after, "accounted"), *_own(call, after, names)], "accounted")
        if after.slot == CLOSEOUT and has_digest(after):
            since = began(after.day, zone=windows.zone)
            written.add(Digest(id=after.day, since=since, until=after.closes, due=call.now))
    elif after.state == "overdue" and was != "overdue":
        written.add(after, [_said(call, after, "overdue"), *_own(call, after, names)], "reminded")
    elif after != before:
        written.add(after)


def _tell(call: Call, written: _Written, before: Occurrence) -> None:
    """The next ones of those who are not in are told so."""
    after, names = telling(before, before.untold, now=call.now)
    written.add(after, _own(call, after, names))


def _said(call: Call, after: Occurrence, kind: str) -> Entry:
    """How it stands, or ended, for the space."""
    return call.entry(channel(call), kind, told(after), payload=outcome(after))


def _own(call: Call, after: Occurrence, names: Iterable[str]) -> list[Entry]:
    """What is told to each of those who are not in, or never came."""
    said = {"slot": after.slot, "day": after.day}
    if after.ended:
        text = f"{after.name} was missed: you never checked in."
        return [call.entry(who, "accounted", text, payload={**said, "state": after.state}) for who in names]
    call_of = f'logmem_sync {{receipt: true, slot: "{after.slot}", outcome, notes}}'
    text = f"{after.name} is overdue, and you are not in: {call_of}"
    return [call.entry(who, "overdue", text, payload=said) for who in names]


STAMP, OCCURRENCES = row("stamp", _stamp), row("occurrences", _occurrences)
