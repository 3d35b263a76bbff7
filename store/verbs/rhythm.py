"""When a space's syncs are, as its owners set it; and which of its people take part in them."""

from dataclasses import replace
from typing import Any

from ..domain import calendar
from ..domain.calendar import Windows, windows_of
from ..domain.commit import Commit, Put, put
from ..domain.day import day_ref
from ..domain.document import Document
from ..domain.errors import Refused
from ..domain.occurrence import SYNC, Occurrence, Rhythm, begun, moved, retimed
from ..domain.reach import Reach
from ..domain.space import Space
from ..domain.timetable import (
    check_days,
    check_holiday,
    check_times,
    check_zone,
    day_names,
    day_of,
    parts,
    with_holiday,
    without_holiday,
)
from ..engine.reads import Doc, Page, Range
from .call import Call, Result

TAKES = (
    "rhythm takes times (09:00, 13:00, 17:30: of morning, midday and closeout), days (mon-fri), zone (Europe/Berlin), "
    "or holiday (2026-12-25) with its reason, or with remove: true. Nothing was written."
)
OPEN = 6  # occurrences, the last ones, among which those that are open stand
HOLIDAYS = 10  # that a result shows
MEANS = {  # what it is to attend, by what somebody has said
    "on": "You are expected in each window: who has not checked in after 90 min is overdue.",
    "off": "You are expected in no window, and not reminded of any.",
}


async def rhythm(
    call: Call,
    *,
    times: str = "",
    days: str = "",
    zone: str = "",
    holiday: str = "",
    reason: str = "",
    remove: bool = False,
) -> Commit:
    """Set when the space's syncs are: their times, weekdays and zone; or a holiday without, with its reason.

    What you leave out stays as it was. A window that is open now is moved along.
    """
    _check_said(any((times, days, zone, holiday)), holiday=holiday, reason=reason, remove=remove)
    watched, page = await call.read(Doc(Rhythm, SYNC), Range("occurrences", "", OPEN, latest=True))
    old, now = call.space, call.now
    new = replace(
        old,
        times=check_times(parts(times)) if times else old.times,
        days=check_days(parts(days)) if days else old.days,
        zone=check_zone(zone.strip()) if zone else old.zone,
    )
    if holiday:
        new = _on_holiday(new, holiday, reason=reason, remove=remove, now=now)
    windows = windows_of(new)
    changed = [name for name in ("times", "days", "zone", "holidays") if getattr(old, name) != getattr(new, name)]
    result: Result = {**shown(new, windows, now=now), "changed": changed}
    ahead = windows.next(now)
    result |= {"next": calendar.times(windows, ahead)} if ahead else {}
    if not changed:
        return Commit(result=result)
    entry = call.entry(
        f"channel:{call.caller.space}",
        "rhythm",
        _said(old, new, holiday=holiday),
        payload={name: {"from": _value(old, name), "to": _value(new, name)} for name in changed},
        why=" ".join(reason.split()),
    )
    open_ = await _turning(call, page, windows)
    known: Document = retimed(watched or begun(windows_of(old), now=now), windows, now=now)
    today = day_ref(windows.today(now).isoformat())
    return Commit(result=result, puts=(put(new), put(known), *open_), entries=(entry,), cards=(today,))


async def _turning(call: Call, page: Page, windows: Windows) -> list[Put]:
    """The occurrences that are open and have other times now: it is their turn at once, however late it was to be."""
    found = await call.read_each(Doc(Occurrence, id) for id in page.ids(Occurrence)) if page.members else []
    return [
        put(replace(each, turn=min(each.turn, call.now)))
        for each in found
        if each and not each.ended and moved(each, windows.of(each.day, each.slot), now=call.now) != each
    ]


def _check_said(said: bool, *, holiday: str, reason: str, remove: bool) -> None:
    """Refuses invalid_argument: nothing is said, or what belongs to a holiday without one."""
    if not said and not reason and not remove:
        raise Refused("invalid_argument", TAKES, argument="times")
    alone = "reason" if reason and (remove or not holiday) else "remove" if remove and not holiday else ""
    if alone:
        text = "a holiday that is taken out takes no reason" if holiday else f"{alone} belongs to a holiday"
        raise Refused("invalid_argument", f"{text[:1].upper()}{text[1:]}. {TAKES}", argument=alone)


def _on_holiday(space: Space, holiday: str, *, reason: str, remove: bool, now: int) -> Space:
    """The space with this holiday, or without it."""
    if remove:
        return replace(space, holidays=without_holiday(space.holidays, holiday))
    today = windows_of(space).today(now)
    kept = check_holiday(holiday, reason, today=today)
    return replace(space, holidays=with_holiday(space.holidays, kept, today=today))


def _value(space: Space, name: str) -> Any:
    """One of the fields as it is shown."""
    if name == "days":
        return day_names(space.days)
    return space.zone if name == "zone" else list(getattr(space, name))


def _said(old: Space, new: Space, *, holiday: str) -> str:
    """What has changed, in sentences of ours: the reason of a holiday stands apart."""
    said = []
    if old.times != new.times:
        said.append(f"Syncs are at {', '.join(new.times)} now; they were at {', '.join(old.times)}.")
    if old.days != new.days:
        said.append(
            f"Syncs are on {', '.join(day_names(new.days))} now; they were on {', '.join(day_names(old.days))}."
        )
    if old.zone != new.zone:
        said.append(f"Their zone is {new.zone} now; it was {old.zone}.")
    if old.holidays != new.holidays:
        day = holiday.strip()
        there = day in map(day_of, new.holidays)
        said.append(f"{day} is a holiday: no syncs." if there else f"{day} is no holiday any more.")
    return " ".join(said)


def shown(space: Space, windows: Windows, *, now: int) -> Result:
    """The times of a space's syncs as they are shown: holidays from today on, a few of them."""
    today = windows.today(now).isoformat()
    holidays = [{"day": day, "reason": reason} for day, reason in windows.holidays if day >= today]
    left = len(holidays) - HOLIDAYS
    return {
        "zone": space.zone,
        "times": list(space.times),
        "days": day_names(space.days),
        "holidays": holidays[:HOLIDAYS],
        **({"holidays_left_out": left} if left > 0 else {}),
    }


async def attend(call: Call, *, on: bool) -> Commit:
    """Take part in the syncs: expected in each window, and reminded of it. on: false for neither."""
    reach = await call.read(Doc(Reach, call.me))
    if not call.me.startswith("human:"):
        raise Refused(
            "humans_only",
            f"attend is for people, each for themselves, and {call.me} is none. Nothing changed. "
            "Agents are expected by what they work on: logmem_sync {}",
        )
    said = "on" if on else "off"
    old = reach or Reach(id=call.me)
    text = f"{call.me} takes part in the syncs" if on else f"{call.me} takes no part in the syncs"
    windows = windows_of(call.space)
    ahead = windows.next(call.now)
    result: Result = {"attend": said, "says": f"{MEANS[said]}{reminded(old) if on else ''}"}
    result |= {"next": calendar.times(windows, ahead)} if ahead and on else {}
    if old.syncs == said:
        return Commit(result=result)
    return Commit(
        result=result,
        puts=(put(replace(old, syncs=said)),),
        entries=(call.entry(call.me, "attends", text),),
        cards=(day_ref(windows.today(call.now).isoformat()),),
    )


def reminded(reach: Reach) -> str:
    """Where somebody who attends is reminded, in a sentence that follows another."""
    if reach.live:
        return " You are reminded on Telegram."
    return " No message reaches you, as you have no Telegram account here: look at Syncs in the console."
