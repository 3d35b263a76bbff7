"""When a space's syncs are, as its owners set it; and which of its people take part in them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..domain import calendar
from ..domain.calendar import Windows, windows_of
from ..domain.commit import Commit, put
from ..domain.day import day_ref
from ..domain.errors import Refused
from ..domain.moments import iso
from ..domain.occurrence import OWED, SYNC, Occurrence, Rhythm, begun, fixed, moved, retimed
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
from ..engine.reads import Count, Doc, Page, Range
from .call import Call, Result
from .day_people import PEOPLE

TAKES = (
    "rhythm takes times (09:00, 13:00, 17:30: of morning, midday and closeout), days (mon-fri), zone (Europe/Berlin), "
    "or holiday (2026-12-25) with its reason, or with remove: true. Nothing was written."
)
OPEN = 6  # occurrences, the last ones, among which those that are open stand
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
    once = {"holidays": result["holidays"]}  # with the reasons, which are text: what is kept has the days alone
    result["holidays"] = [{"day": each["day"]} for each in once["holidays"]]
    ahead = windows.next(now)
    result |= {"next": calendar.times(windows, ahead)} if ahead else {}
    if not changed:
        return Commit(result=result, once=once)
    entry = call.entry(
        f"channel:{call.caller.space}",
        "rhythm",
        _said(old, new, holiday=holiday),
        payload={name: {"from": _value(old, name), "to": _value(new, name)} for name in changed},
        why=" ".join(reason.split()),
    )
    before = windows_of(old)
    turning = await _turning(call, page, before, windows)
    known, owed = retimed(watched or begun(before, now=now), before, windows, now=now)
    made = await _owed(call, owed, through=watched.through if watched else now)
    cards = {windows.today(now).isoformat(), *(each.day for each in turning)}
    return Commit(
        result=result,
        puts=(put(new), put(known), *map(put, turning), *map(put, made)),
        entries=(entry,),
        cards=tuple(map(day_ref, sorted(cards))),
        once=once,
    )


async def _turning(call: Call, page: Page, old: Windows, windows: Windows) -> list[Occurrence]:
    """The occurrences that have other times now, so far as they have not ended; one that is over keeps its own."""
    found = await call.read_each(Doc(Occurrence, id) for id in page.ids(Occurrence)) if page.members else []
    turning = []
    for each in found:
        after = moved(each, windows.of(each.day, each.slot), now=call.now) if each else None
        if each is None or after is None or after == each:
            continue
        if call.now >= each.closes:
            turning.append(fixed(each, old))
        else:  # what ends by it is told by the scheduler, whose turn it is at once
            turning.append(replace(each, turn=min(each.turn, call.now)) if after.ended else after)
    return turning


async def _owed(call: Call, owed: Sequence[Occurrence], *, through: int) -> list[Occurrence]:
    """Those of them that there are not yet. Refuses busy: there are too many."""
    if len(owed) > OWED:
        raise Refused(
            "busy",
            f"More than {OWED} windows since {iso(through)} are not accounted for: no scheduler has run. Nothing was "
            "written. Run one (logmem serve scheduler), and try again once it has done so, in a minute.",
            retry_after=60,
        )
    found = await call.read_each(Doc(Occurrence, each.id) for each in owed) if owed else []
    return [each for each, known in zip(owed, found, strict=True) if known is None]


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


async def holidays_again(call: Call, result: Result, **_: Any) -> Result:
    """The result of a replayed `rhythm`, with why those of its holidays are some that still are."""
    reasons = dict(windows_of(call.space).holidays)
    days = [each["day"] for each in result["holidays"]]
    holidays = [{"day": day, **({"reason": reasons[day]} if day in reasons else {})} for day in days]
    return {**result, "holidays": holidays}


def shown(space: Space, windows: Windows, *, now: int) -> Result:
    """The times of a space's syncs as they are shown: with all holidays from today on, as it may have only so many."""
    today = windows.today(now).isoformat()
    return {
        "zone": space.zone,
        "times": list(space.times),
        "days": day_names(space.days),
        "holidays": [{"day": day, "reason": reason} for day, reason in windows.holidays if day >= today],
    }


async def attend(call: Call, *, on: bool) -> Commit:
    """Take part in the syncs: expected in each window, and reminded of it. on: false for neither."""
    await call.ahead([Doc(Reach, call.me), Count("attending")])
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
    full = old.syncs != "on" and (await call.look(Count("attending"))) >= PEOPLE
    result: Result = {"attend": said, "says": f"{MEANS[said]}{reminded(old, full=full) if on else ''}"}
    result |= {"next": calendar.times(windows, ahead)} if ahead and on else {}
    if old.syncs == said:
        return Commit(result=result)
    return Commit(
        result=result,
        puts=(put(replace(old, syncs=said, attends=call.now if on else 0)),),
        entries=(call.entry(call.me, "attends", text),),
        cards=(day_ref(windows.today(call.now).isoformat()),),
    )


def reminded(reach: Reach, *, full: bool = False) -> str:
    """Where somebody who attends is reminded, in a sentence that follows another; `full`: as many are as can be."""
    if full:
        return f" No message may reach you, as {PEOPLE} people take part already: look at Syncs in the console."
    if reach.live:
        return " You are reminded on Telegram."
    return " No message reaches you, as you have no Telegram account here: look at Syncs in the console."
