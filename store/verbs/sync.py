"""Syncs: a day's windows as they stand for the caller, and a check-in. One tool, with a row for each of its effects."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain import sync as rules
from ..domain.commit import Commit, Quote, put
from ..domain.day import day_ref
from ..domain.entry import PLACEHOLDER, Logged, check_summary
from ..domain.errors import Refused
from ..domain.item import Item
from ..domain.job import Job
from ..domain.lines import View, lines_of, span_short
from ..domain.listing import short, some
from ..domain.moments import age, iso
from ..domain.moments import since as ago
from ..domain.occurrence import Occurrence
from ..domain.sync import CheckIn, Lease, Window, Windows, checkin_id, windows_of
from ..engine.reads import Count, Doc, Page, Range, Read
from .brief import gather, slots
from .call import Call, Result
from .expected import AGENTS, ATTENDING, ROSTER, expected_since
from .paging import fitting

CHECKED = 2 * AGENTS  # check-ins of a window that are looked at
CARRIED = 20  # items and jobs that a closeout names
OBLIGATIONS = ("questions", "handoffs", "seats", "huddles", "pending_asks", "jobs")  # sections of the Brief
# Tokens: of names, of others who are in, of the obligations, of what was carried over; characters of a text in them.
NAMES, OTHERS, OWED, CARRY = 150, 60, 600, 250
TEXT, NOTES = 80, 120
FREE = "You are not in, nor expected; you may check in all the same"


async def sync(call: Call, *, receipt: bool = False, slot: str = "", outcome: str = "", notes: str = "") -> Result:
    """The daily sync: which window (morning, midday, closeout) is open, what you owe, who is in or overdue.

    receipt: true checks you in, once a window, with outcome (pass, attention or blocked) and notes; at closeout
    your carry-overs.
    """
    _check_reading(slot=slot, outcome=outcome, notes=notes)
    principal = not call.me.startswith("system:")
    await call.ahead(slots(call.me) if principal else ())
    day = await _day(call)
    view = (await gather(call, call.me)).view if principal else None  # it takes the check-in from what the day has read
    wanted = await _wanted(call, day)
    return {
        **_stands(day, me=principal, free=call.caller.is_human and call.me not in wanted),
        **(_checked_in(day) if principal else {}),
        **_fleet(day, wanted),
        **(_owed(view) if view else {}),
        **_carried_over(day),
        **_next(day, me=principal),
    }


def _check_reading(**said: str) -> None:
    """Refuse what says something to a call that only reads. Refuses invalid_argument."""
    given = next((name for name, value in said.items() if value), "")
    if given:
        raise Refused(
            "invalid_argument",
            f"{given} belongs to a check-in, and without receipt: true this only reads, so nobody was checked in. "
            f"To check in: {rules.call_of(said['slot'] if said['slot'] in rules.SLOTS else '')}. "
            "To see the windows: logmem_sync {}",
            argument=given,
        )


@dataclass(frozen=True, slots=True)
class _Day:
    """A day as the caller sees it: its windows, the open one, the one ahead, and the caller's check-ins with entries.

    `closeout` is the last one before the morning that is open or ahead. `checked` and `roster` are read for `here`.
    """

    now: int
    windows: Windows
    of: tuple[Window, ...]
    here: Window | None
    ahead: Window | None
    closeout: Window | None
    mine: Mapping[Window, CheckIn]
    entries: Mapping[int | str, Logged]
    checked: Page
    roster: Page

    @property
    def own(self) -> CheckIn | None:
        """The caller's check-in for the open window."""
        return self.mine.get(self.here) if self.here else None


async def _day(call: Call) -> _Day:
    planned, now, near = windows_of(call.space), call.now, near_now(call)
    receipts, fleet = _receipts(call, planned), _fleet_reads(planned.open(now))
    await call.ahead([*near, *receipts.values(), *fleet, *((ATTENDING,) if fleet else ())])
    windows = rules.with_ended(planned, await call.look_each(near), now=now)
    here, ahead, of = windows.open(now), windows.next(now), windows.on(windows.today(now))
    closeout, receipts, fleet = _closeout(windows, now), _receipts(call, windows), _fleet_reads(here)
    found = zip(receipts, await call.look_each(receipts.values()), strict=True)
    mine = {window: checked_in for window, checked_in in found if checked_in}
    entries = await call.recall(doc.said for doc in mine.values())
    checked, roster = await call.look_each(fleet) or (Page([], 0), Page([], 0))
    return _Day(now, windows, of, here, ahead, closeout, mine, entries, checked, roster)


def near_now(call: Call) -> list[Doc[Occurrence]]:
    """The occurrences of the windows that could be open or next, for `with_ended`."""
    return [Doc(Occurrence, id) for id in rules.near(windows_of(call.space), call.now)]


def _closeout(windows: Windows, now: int) -> Window | None:
    """The last one before the morning that is open or ahead."""
    focus = windows.open(now) or windows.next(now)
    return windows.last(focus.opens - 1, rules.CLOSEOUT) if focus and focus.slot == rules.MORNING else None


def _receipts(call: Call, windows: Windows) -> dict[Window, Doc[CheckIn]]:
    """The caller's check-ins of today, and for the closeout before."""
    closeout = _closeout(windows, call.now)
    wanted = (*windows.on(windows.today(call.now)), *((closeout,) if closeout else ()))
    return {window: Doc(CheckIn, checkin_id(call.me, window)) for window in wanted}


def _fleet_reads(here: Window | None) -> tuple[Range, ...]:
    """Who is in there, and who may be expected."""
    return (Range("checked", f"{here.day}:{here.slot}", CHECKED), ROSTER) if here else ()


def _stands(day: _Day, *, me: bool, free: bool) -> Result:
    """The windows, and how it stands with the caller in a few sentences; `free` as in `_says`."""
    windows = []
    for window in day.of:
        own = {"you": day.mine[window].outcome} if window in day.mine else {}
        times = {k: v for k, v in rules.times(day.windows, window).items() if k != "day"}
        windows.append({"slot": window.slot, "state": window.state(day.now), **own, **times})
    return {
        "says": _says(day, me=me, free=free),
        "day": day.windows.today(day.now).isoformat(),
        "zone": day.windows.zone,
        "windows": windows,
    }


def _says(day: _Day, *, me: bool, free: bool) -> str:
    """Which window is open and what it asks for; else when the next one opens.

    `free`: nobody expects the caller, who may check in all the same.
    """
    if day.here is None:
        ahead = day.ahead
        if ahead is None:
            return "No window is open, and none is in sight."
        when = rules.span_of(ahead.opens - day.now)
        return f"No window is open. {ahead.slot} of {ahead.day} opens at {day.windows.local(ahead.opens)}, in {when}."
    here, own = day.here, day.own
    left = rules.span_of(here.turns(day.now) - day.now)
    late = here.state(day.now) == rules.LATE
    stands = f"{here.slot} is open: late, over in {left}" if late else f"{here.slot} is open: on time for {left} more"
    mine = f"You checked in {ago(day.now - own.at)}" if own else FREE if free else "You are not in"
    return f"{stands}. {f'{mine}. ' if me else ''}It asks for {rules.ASKS[here.slot]}."


def _checked_in(day: _Day) -> Result:
    """The caller's check-in for the open window, or false."""
    own = day.own
    if day.here is None:
        return {}
    if own is None:
        return {"checked_in": False}
    at = {"at": iso(own.at), "age": age(day.now - own.at)}
    notes = short(_summary(day, own), NOTES)
    return {"checked_in": {"outcome": own.outcome, "late": own.late, **at, "entry": own.said, "notes": notes}}


def _summary(day: _Day, own: CheckIn) -> str:
    said = day.entries.get(own.said)
    return said.summary if said else "[redacted]"


async def _wanted(call: Call, day: _Day) -> set[str]:
    """Who is expected in the open window."""
    if day.here is None:
        return set()
    before = day.windows.before(day.here)
    return await expected_since(call, day.roster, since=before.opens if before else 0)


def _fleet(day: _Day, wanted: Collection[str]) -> Result:
    """Who is expected in the open window, who of them is in, and who not yet: overdue once it is late.

    Others who are in, people among them, are named apart.
    """
    here = day.here
    if here is None:
        return {}
    checked = [rules.checked_by(id) for id in day.checked.ids(CheckIn)]
    here_now, others = [id for id in checked if id in wanted], [id for id in checked if id not in wanted]
    missing = sorted(set(wanted).difference(checked))
    name = "overdue" if here.state(day.now) == rules.LATE else "awaited"
    only = {"looked_at": AGENTS} if day.roster.size > AGENTS else {}
    also = {"others": len(others)} if others else {}
    return {
        "fleet": {"expected": len(wanted), "in": len(here_now), name: len(missing), **also, **only},
        "in": some(here_now, budget=NAMES),
        name: some(missing, budget=NAMES),
        **({"also_in": some(others, budget=OTHERS)} if others else {}),
    }


def _owed(view: View) -> Result:
    """The caller's open items, questions, asks and jobs, the most urgent first, as the Brief has them but shorter."""
    sections = [line for line in lines_of(view) if line.section in OBLIGATIONS]
    lines = [line for line in sections if line.facts.get("status") != "expired"]
    shown = [
        {
            **line.facts,
            **{name: short(said, TEXT) for name, said in line.texts.items()},
            **({"left": span_short(line.left)} if line.left else {}),
        }
        for line in lines
    ]
    fit = fitting(shown, budget=OWED)
    owed: Result = {}
    for line, form in zip(lines[: len(fit)], fit, strict=True):
        owed.setdefault(line.section, []).append(form)
    left = len(lines) - len(fit) + view.unread
    return {**owed, **({"left_out": left} if left else {})}


def _carried_over(day: _Day) -> Result:
    """In the morning: what the caller's last closeout said and carried over, as it stood then."""
    own = day.mine.get(day.closeout) if day.closeout else None
    if own is None:
        return {}
    said = day.entries.get(own.said)
    payload = said.entry.payload if said and said.entry and isinstance(said.entry.payload, dict) else {}
    then: Mapping[str, Any] = payload.get("carried", {})
    ids = some((*then.get("items", ()), *then.get("jobs", ())), budget=CARRY)
    left = len(then.get("items", ())) + len(then.get("jobs", ())) - len(ids) + then.get("left_out", 0)
    notes = {"day": own.day, "outcome": own.outcome, "entry": own.said, "notes": short(_summary(day, own), NOTES)}
    return {"carried": {**notes, "open": ids, **({"left_out": left} if left else {})}}


def _next(day: _Day, *, me: bool) -> Result:
    """The check-in, where one is due; else when the next window opens."""
    if me and day.here and not day.own:
        args = {"receipt": True, "slot": day.here.slot, "outcome": rules.OUTCOME, "notes": PLACEHOLDER}
        return {"next": {"tool": "logmem_sync", "args": args}}
    return _ahead(day.windows, day.ahead)


def _ahead(windows: Windows, ahead: Window | None) -> Result:
    if ahead is None:
        return {}
    opens = {"opens": iso(ahead.opens), "local": windows.local(ahead.opens)}
    return {"next_window": {"slot": ahead.slot, **opens}}


async def check_in(call: Call, *, receipt: bool = False, slot: str = "", outcome: str = "", notes: str = "") -> Commit:
    """Check in for a window, once."""
    name = rules.check_slot(slot)
    rules.check_outcome(outcome)
    check_summary(notes, name="notes")
    lease = await call.read(Doc(Lease, call.me))
    _check_principal(call)
    planned, now, near = windows_of(call.space), call.now, near_now(call)
    mine = planned.meant(now, name)
    await call.ahead([*near, *([Doc(CheckIn, checkin_id(call.me, mine))] if mine else [])])
    windows = rules.with_ended(planned, await call.read_each(near), now=now)
    meant = windows.meant(now, name)
    if meant and (first := await call.read(Doc(CheckIn, checkin_id(call.me, meant)))):
        raise rules.already(first, (await call.recall([first.said])).get(first.said), now=now)
    held = rules.leased(lease, principal=call.me, credential=call.caller.credential, now=now)
    window = rules.check_open(windows, meant, slot=name, now=now)
    late = window.state(now) == rules.LATE
    facts: Result = {"slot": window.slot, "day": window.day, "outcome": outcome, "late": late}
    facts |= {"carried": await _carried(call)} if window.slot == rules.CLOSEOUT else {}
    receipt_of = CheckIn(
        id=checkin_id(call.me, window), slot=window.slot, day=window.day, outcome=outcome, at=now, late=late
    )
    return Commit(
        result={**facts, "entry": Quote(0, "stamp"), **_ahead(windows, windows.next(now))},
        puts=(put(held), put(receipt_of, said=0)),
        entries=(call.entry(call.me, "checked_in", notes, payload=facts),),
        cards=(day_ref(window.day),),
        not_after=window.turns(now) - 1,
    )


def _check_principal(call: Call) -> None:
    """Refuses invalid_argument: only agents and people have something to check in."""
    if call.me.startswith("system:"):
        raise Refused(
            "invalid_argument",
            f"Agents and people check in, and {call.me} is neither. Nothing was written. "
            "To see the windows: logmem_sync {}",
        )


async def _carried(call: Call) -> Result:
    """The caller's open items and unfinished jobs as they stand."""
    owned: Sequence[Read[Any]] = (
        Range("open", call.me, CARRIED, low=call.now),
        Count("open", call.me, low=call.now),
        Range("jobs", call.me, CARRIED),
    )
    items, count, jobs = await call.look_each(owned)
    names = {"items": items.ids(Item), "jobs": [f"job:{id}" for id in jobs.ids(Job)]}
    left = count + jobs.size - sum(map(len, names.values()))
    return {**names, **({"left_out": left} if left > 0 else {})}
