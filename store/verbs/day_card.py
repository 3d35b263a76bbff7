"""The card of a day's syncs as it stands now: its windows, who is not in or blocked, and what waits for each person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from ..domain.ask import Ask
from ..domain.calendar import SLOTS, Window, Windows, windows_of
from ..domain.day import SyncDay, day_of, day_ref, facts_of, is_over, stands, windows_on
from ..domain.digest import Digest
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import short_code
from ..domain.item import Item
from ..domain.listing import short
from ..domain.occurrence import Occurrence, overdue
from ..domain.phone import for_people
from ..domain.reach import silent
from ..domain.sync import CheckIn, as_planned
from ..engine.reads import Count, Doc, Read
from .asks import checked
from .call import Call, Result
from .day_people import Person, Waiting, Waits, persons, troubled, waiting
from .expected import all_expected, all_in
from .places import missing

KIND, PAGE = "sync", "syncs"  # of the card, and of the console
SHOWN = 5  # of what waits for somebody, and of who is blocked
NAMED = 20  # of who is overdue
TEXT = 120  # characters of a text in it


async def sync_card(call: Call, id: str, holding: Sequence[str]) -> Result:
    """The card of a day, for whom it is and for whoever holds a copy of it. Refuses not_found: it has no windows."""
    day = day_of(id)
    found = await _day(call, day) if day else None
    if found is None:
        raise await missing(call, day_ref(id))
    people = await persons(call, id, holding)
    wanted = {p.who for p in people if p.gets and found.begun and not found.over and not call.space.paused}
    waits = await waiting(call, [p.member for p in people if p.member and p.who in wanted])
    texts = await call.recall(one.asked if isinstance(one, Ask) else one.sent for one in _shown(waits))
    trouble = {} if found.over else await troubled(call, id)
    return {
        "ref": day_ref(id),
        "kind": KIND,
        "trail": day_ref(id),
        "code": short_code(day_ref(id)),
        "simulated": call.space.simulated,
        "now": call.now,
        "state": "over" if found.over else "open",
        "open": not found.over,
        "digest": "",
        "day": id,
        "zone": found.windows.zone,
        "says": found.says,
        "slots": found.slots,
        "slot": found.here.slot if found.here else "",
        "overdue": found.missing[:NAMED],
        "overdue_left_out": max(0, len(found.missing) - NAMED),
        "blocked": [
            {"who": who, "outcome": outcome, "why": short(why, TEXT)}
            for who, (outcome, why) in list(trouble.items())[:SHOWN]
        ],
        "blocked_left_out": max(0, len(trouble) - SHOWN),
        "deadline": max(window.closes for window in found.of),
        "console": [],
        "groups": [],
        "to": [
            {
                **_to(call, found, each, wanted=each.who in wanted),
                **_waiting(call, waits.get(each.who, Waiting()), texts),
            }
            for each in people
        ],
        "look_at": min((at for window in found.of if (at := window.turns(call.now))), default=0),
    }


@dataclass(frozen=True, slots=True)
class _Day:
    """A day as the card shows it. `here` is the window that is open, `missing` who is overdue there now.

    `begun`: a window has opened; `closing` is the digest, once the day is over and it was told.
    """

    doc: SyncDay
    windows: Windows
    of: Sequence[Window]
    slots: Sequence[Result]
    here: Window | None
    missing: Sequence[str]
    over: bool
    begun: bool
    says: str
    closing: str


async def _day(call: Call, day: date) -> _Day | None:
    """None: it has no windows, and never had."""
    name, windows, now = day.isoformat(), windows_of(call.space), call.now
    ids = [f"{name}:{slot}" for slot in SLOTS]
    reads: list[Read[Any]] = [Doc(SyncDay, name), Doc(Digest, name)]
    reads += [*(Doc(Occurrence, id) for id in ids), *(Count("checked", id) for id in ids)]
    doc, digest, *more = await call.look_each(reads)
    occurrences = {each.slot: each for each in as_planned(windows, more[: len(SLOTS)], now=now)}
    came = dict(zip(SLOTS, more[len(SLOTS) :], strict=True))
    of = windows_on(windows, day, occurrences)
    if not of:
        return None
    here = next((window for window in of if window.opens <= now and window.turns(now)), None)
    late = await _absent(call, windows, occurrences.get(here.slot) if here else None)
    slots = []
    for window in of:
        occurrence, absent = occurrences.get(window.slot), late if window is here else []
        says = stands(windows, window, occurrence, came=came[window.slot], missing=absent, now=now)
        slots.append(facts_of(windows, window, occurrence, says=for_people(says), now=now))
    over = is_over(of, now=now)
    closing = await call.recall([digest.told]) if digest and over else {}
    return _Day(
        doc=doc or SyncDay(id=name),
        windows=windows,
        of=of,
        slots=slots,
        here=here,
        missing=late,
        over=over,
        begun=any(window.opens <= now and not window.skipped for window in of),
        says=_says(slots, here),
        closing=closing[digest.told].summary if digest and digest.told in closing else "",
    )


async def _absent(call: Call, windows: Windows, occurrence: Occurrence | None) -> list[str]:
    """Who of those that were overdue has not come since. If it does not name them all: who is expected and not in."""
    if occurrence is None or occurrence.state != "overdue" or not occurrence.missing:
        return []
    if occurrence.absent > len(occurrence.missing):
        before = windows.last(occurrence.opens - 1)
        expected = await all_expected(call, occurrence, since=before.opens if before else 0)
        return overdue(expected, await all_in(call, occurrence))
    found = await call.look_each(Doc(CheckIn, f"{who}:{occurrence.id}") for who in occurrence.missing)
    return [who for who, there in zip(occurrence.missing, found, strict=True) if there is None]


def _says(slots: Sequence[Result], here: Window | None) -> str:
    """The sentence for a lock screen."""
    if here:
        return next(f"{here.slot} is {slot['says']}." for slot in slots if slot["slot"] == here.slot)
    ahead = next((slot for slot in slots if slot["state"] == "ahead"), None)
    return f"{ahead['slot']} {ahead['says']}." if ahead else "The windows of this day are over."


def _to(call: Call, day: _Day, person: Person, *, wanted: bool) -> Result:
    """Somebody's part: what they can press, whether it comes with a sound, and how they checked in."""
    reach, times = person.reach, day.doc.times(person.who)
    chat = reach.account if reach else 0
    asks = ("all_good", "attention") if day.here and day.here.slot not in person.came else ()
    quiet = reach is not None and silent(reach, now=call.now, zone=day.windows.zone)
    owns = person.member is not None and person.member.role == "owner"
    return {
        "who": person.who,
        "chat": chat,
        "can": ["show", *asks, "stop"] if wanted and chat else [],
        "silent": quiet or not times,
        "wanted": wanted,
        "lost": bool(reach and reach.lost),
        "push": times if wanted else 0,
        "gets": person.gets,
        "yours": {slot: receipt.outcome for slot, receipt in person.came.items()},
        "closing": day.closing if owns else "",
    }


def _shown(waits: Waits) -> list[Ask | Item]:
    return [one for mine in waits.values() for one in mine.of[:SHOWN]]


def _waiting(call: Call, mine: Waiting, texts: Mapping[int | str, Logged]) -> Result:
    """What waits for somebody, in short, and how much was left out; `or_more`: that is not all of it."""
    shown = [
        {
            "what": one.kind if isinstance(one, Ask) else "seat" if one.huddle else "handoff",
            "trail": one.id,
            "by": one.by if isinstance(one, Ask) else one.sender,
            "says": short(_words(call, one, texts), TEXT),
        }
        for one in mine.of[:SHOWN]
    ]
    return {"waiting": shown, "left_out": len(mine.of) - len(shown), "or_more": mine.or_more}


def _words(call: Call, one: Ask | Item, texts: Mapping[int | str, Logged]) -> str:
    """What is asked or handed over; '' where that cannot be shown."""
    if isinstance(one, Item):
        said = texts.get(one.sent)
        return said.summary if said and said.entry else ""
    try:
        return checked(one, texts.get(one.asked), space=call.caller.space).summary
    except Refused:
        return ""
