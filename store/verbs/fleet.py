"""The fleet as people see it: who needs a look, who is at work, who is idle; and one of them with all of theirs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..domain import ids
from ..domain.errors import Refused
from ..domain.lines import NOW_STALE
from ..domain.moments import DAY, iso
from ..domain.person import Member
from ..domain.shift import IDLE, Shift, at_work
from ..domain.slot import Now, Who
from ..engine.reads import Count, Doc, Page, Range, Read, Score, Scored
from .call import Call, Result
from .holdings import holdings
from .places import unknown
from .roster import SESSIONS
from .signed_in import session_count

BLOCKED, STALE, WORK, IDLE_NOW = STATES = ("blocked", "stale", "at work", "idle")  # in the order of the list
PAGE = 40  # principals on one page
LIMIT = 2000  # principals that are put in order; of more, those who joined last are left out
LATELY = 7 * DAY  # nobody who wrote nothing for so long has a pending ask: none is open for longer
KINDS = ("agent", "human")
CURSOR = re.compile(rf"([0-3])\.(-?[0-9]{{1,15}})\.((?:{'|'.join(KINDS)}):[a-z0-9._-]{{1,63}})")
FIND = re.compile(r"[a-z0-9._:-]{1,70}")

Place = tuple[int, int, str]  # in the list: state, time, id


class _All(NamedTuple):
    """Of everybody here: since when those are blocked who are, and when agents wrote last (ms); who has no key."""

    ids: list[str]
    size: int
    blocked: Mapping[str, int]
    wrote: Mapping[str, int]
    gone: frozenset[str] = frozenset()


class _One(NamedTuple):
    """What puts a principal into its place; of a person `there` counts the sessions that are live."""

    id: str
    state: str
    wrote: int
    there: bool
    until: int = 0  # when time alone makes this otherwise (ms), 0 for never
    blocked: int = 0

    @property
    def place(self) -> Place:
        """Latest first, but by name who is at work: there nothing is to move."""
        at = {BLOCKED: self.blocked, WORK: 0}.get(self.state, self.wrote)
        return STATES.index(self.state), -at, self.id


async def fleet(call: Call, *, principal: str = "", find: str = "", cursor: str = "") -> Result:
    """Agents and people: blocked and stale ones first, then who is at work, then who is idle.

    find: only those with this in their id. cursor: the next page. principal: all of one of them.
    """
    if principal:
        return await _one(call, ids.principal(principal, KINDS, default="agent", name="principal"))
    after, part = _place(cursor), _part(find)
    everybody = await _everybody(call)
    placed = await _still_here(call, await _placed(call, everybody), everybody)
    ahead = [one for one in placed if part in one.id and one.place > after]
    shown = ahead[:PAGE]
    counts = {state: sum(one.state == state for one in placed) for state in STATES}
    soonest = min((one.until for one in shown if one.until), default=0)
    return {
        "principals": await _rows(call, shown),
        "counts": {state: count for state, count in counts.items() if count},
        "agents": sum(one.id.startswith("agent:") for one in placed),
        **({"left_out": everybody.size - len(everybody.ids)} if everybody.size > len(everybody.ids) else {}),
        **({"cursor": _cursor(shown[-1])} if len(ahead) > len(shown) else {}),
        "may": list(call.may),
        **({"until": iso(soonest)} if soonest else {}),
        "now": iso(call.now),
    }


def _place(cursor: str) -> Place:
    if not cursor:
        return -1, 0, ""
    said = CURSOR.fullmatch(cursor)
    if said is None:
        raise Refused("invalid_argument", "cursor is what the page before gave. Nothing was read.", argument="cursor")
    return int(said[1]), int(said[2]), said[3]


def _cursor(one: _One) -> str:
    return ".".join(map(str, one.place))


def _part(find: str) -> str:
    part = find.strip().lower()
    if part and not FIND.fullmatch(part):
        text = "find is part of an id: a-z, 0-9, '.', '_', '-' and ':'. Nothing was read."
        raise Refused("invalid_argument", text, argument="find")
    return part


async def _everybody(call: Call) -> _All:
    here, gone, blocked, wrote = await call.look(
        Range("roster", "", LIMIT),
        Range("gone", "", LIMIT, latest=True),
        Scored(Range("blocked", "", 2 * LIMIT, latest=True)),
        Scored(Range("active", "", LIMIT)),
    )
    since = {ref.removeprefix("now:"): at for at, ref in blocked}
    return _All(here.ids(Who), here.size, since, {id: at for at, id in wrote}, frozenset(gone.ids(Who)))


async def _placed(call: Call, everybody: _All) -> list[_One]:
    """Each with its place. Of agents that wrote nothing lately no more is read: they are idle."""
    agents = [id for id in everybody.ids if id.startswith("agent:")]
    lately = [id for id in agents if call.now - everybody.wrote.get(id, 0) < LATELY]
    people = [id for id in everybody.ids if id.startswith("human:")]
    reads: list[Read[Any]] = []
    for id in lately:
        reads += [Doc(Now, id), Doc(Shift, id), Count("asked", id, low=call.now)]
    for id in people:
        reads += [Doc(Member, id), session_count(call, id), Doc(Now, id)]
    got = await call.look_each(reads) if reads else []
    found = {id: got[3 * n : 3 * n + 3] for n, id in enumerate((*lately, *people))}
    placed = [_agent(id, found.get(id, (None, None, 0)), everybody, now=call.now) for id in agents]
    return placed + [_person(id, found[id], everybody) for id in people if found[id][0] and found[id][0].role]


async def _still_here(call: Call, placed: Sequence[_One], everybody: _All) -> list[_One]:
    """In their order, without agents whose keys are all revoked and with whom nothing is open."""
    idle = [one.id for one in placed if one.id in everybody.gone and one.state == IDLE_NOW]
    reads: list[Read[Any]] = [read for id in idle for read in (Count("open", id, low=call.now), Range("jobs", id, 1))]
    found = await call.look_each(reads) if reads else []
    left = {id for n, id in enumerate(idle) if not found[2 * n] and not found[2 * n + 1].size}
    return sorted((one for one in placed if one.id not in left), key=lambda one: one.place)


def _agent(id: str, found: Sequence[Any], everybody: _All, *, now: int) -> _One:
    slot, shift, asks = found
    wrote, blocked = everybody.wrote.get(id, 0), everybody.blocked.get(id, 0)
    there = at_work(shift, wrote=wrote, asks=asks, now=now)
    said = slot.since if slot and slot.doing else 0
    # Who ended their shift is idle, and what they said before is no longer told as what they do.
    stale = bool(said and shift and shift.open and now - said > NOW_STALE and now - wrote < DAY)
    state = BLOCKED if blocked else STALE if stale else WORK if there else IDLE_NOW
    turns = [wrote + IDLE if there and not asks else 0, said + NOW_STALE if said and there else 0]
    until = min((at for at in turns if at > now), default=0)
    return _One(id, state, wrote, there, until, blocked)


def _person(id: str, found: Sequence[Any], everybody: _All) -> _One:
    _, sessions, slot = found
    blocked = everybody.blocked.get(id, 0)
    state = BLOCKED if blocked else WORK if sessions else IDLE_NOW
    return _One(id, state, slot.since if slot else 0, bool(sessions), blocked=blocked)


class _Found(NamedTuple):
    """What is read of one row."""

    who: Who | None
    slot: Now | None
    member: Member | None
    items: int
    asks: int


async def _rows(call: Call, shown: Sequence[_One]) -> list[Result]:
    reads: list[Read[Any]] = []
    for one in shown:
        reads += [Doc(Who, one.id), Doc(Now, one.id), Doc(Member, one.id)]
        reads += [Count("open", one.id, low=call.now), Count("asked", one.id, low=call.now)]
    got = await call.look_each(reads) if reads else []
    size = len(_Found._fields)
    return [_row(one, _Found(*got[n * size : (n + 1) * size]), now=call.now) for n, one in enumerate(shown)]


def _row(one: _One, found: _Found, *, now: int) -> Result:
    who, member = found.who, found.member
    said = {
        "name": who.name if who and who.name.lower() != one.id.partition(":")[2] else "",
        "role": member.role if member else who.role if who else "",
        **(shown_slot(found.slot, now) if found.slot else {}),
        "last_write": iso(one.wrote) if one.wrote and one.id.startswith("agent:") else "",
        "waiting": found.items,
        "asks": found.asks,
    }
    return {"id": one.id, "state": one.state, **{k: v for k, v in said.items() if v}, "reachable": one.there}


def shown_slot(slot: Now, now: int) -> Result:
    """Now with all that was said; `old` where it was said long ago."""
    said = {"doing": slot.doing, "blocked": slot.blocked, "waiting_on": slot.waiting_on, "where": slot.where}
    old = {"old": True} if now - slot.since > NOW_STALE else {}
    return {**{k: v for k, v in said.items() if v}, "since": iso(slot.since), **old}


async def _one(call: Call, id: str) -> Result:
    """Who, Now and Log of one, and what is open with them. Refuses not_found."""
    who, slot, shift, member = await call.look(Doc(Who, id), Doc(Now, id), Doc(Shift, id), Doc(Member, id))
    if who is None:
        raise await unknown(call, id, "not_found")
    person = id.startswith("human:")
    wrote, asks, live, sessions = await call.look(
        Score("active", "", id),
        Count("asked", id, low=call.now),
        session_count(call, id),
        Range("sessions", id, SESSIONS, latest=True),
    )
    last = await _wrote(call, sessions) if person else wrote or 0
    held = await holdings(call, id, roles=member.roles if member else who.roles)
    everybody = _All([id], 1, {id: slot.since} if slot and slot.blocked else {}, {id: last})
    one = (
        _person(id, (member, live, slot), everybody)
        if person
        else _agent(id, (slot, shift, asks), everybody, now=call.now)
    )
    here = not person or bool(member and member.role)
    return {
        "what": id,
        "state": one.state if here else "left",
        "reachable": one.there,
        **({"last_write": iso(last)} if last else {}),
        "who": _who(who, member),
        **({"slot": shown_slot(slot, call.now)} if slot else {}),
        **({"shift": _shift(shift)} if shift else {}),
        **held,
        "may": list(call.may),
        **({"until": iso(one.until)} if one.until else {}),
        "now": iso(call.now),
    }


def _who(who: Who, member: Member | None) -> Result:
    role = member.role if member else who.role
    said = {"name": who.name, "role": role, "skills": list(who.skills), "model": who.model}
    return {"id": who.id, **{k: v for k, v in said.items() if v}, **({"since": iso(who.since)} if who.since else {})}


def _shift(shift: Shift) -> Result:
    ended = {"ended": iso(shift.ended), "auto": shift.auto} if shift.ended else {}
    return {"number": shift.number, "open": shift.open, "began": iso(shift.since), **ended}


async def _wrote(call: Call, sessions: Page) -> int:
    """When a person wrote last in one of these sessions (ms), 0 for never."""
    found = await call.look_each(Score("wrote", "", id) for _, id in sessions.members) if sessions.members else []
    return max((at or 0 for at in found), default=0)
