"""The roster: who is here, what they do, and whether they can be reached now."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..domain.lines import NOW_STALE
from ..domain.listing import counted
from ..domain.moments import age, iso
from ..domain.person import Member
from ..domain.shift import Shift, at_work
from ..domain.slot import Now, Who
from ..engine.reads import Count, Doc, Page, Range, Read, Score
from .call import Call, Result
from .paging import fitting, page
from .signed_in import session_count

PAGE = 40  # principals that are read for one page
SESSIONS = 5  # of a person that are asked when they last wrote
NAME, TEXT = 40, 80  # characters of a name, role or who is waited for; of another text


class _Found(NamedTuple):
    """What is read of one principal; `signed_in` counts a person's sessions that are live now."""

    who: Who | None
    slot: Now | None
    member: Member | None
    shift: Shift | None
    idle: int | None
    asks: int
    sessions: Page
    signed_in: int


async def roster(call: Call, *, cursor: str = "") -> Result:
    """Who is in this space: list all agents and people with role, what they are doing and what blocks them.

    Also last write, and reachable or not.
    """
    paged = await page(call, (Range("roster"),), cursor=cursor, limit=PAGE)
    found = await _found(call, paged.ids(Who))
    wrote = await _wrote(call, [each.sessions for each in found])
    rows = [_row(each, now=call.now, wrote=at) for each, at in zip(found, wrote, strict=True)]
    here = [(n, row) for n, row in enumerate(rows, 1) if row]
    shown = fitting(row for _, row in here)
    # Where not all fit, the next page goes on after the last that did; else after all that were looked at.
    after = paged.after(here[len(shown) - 1][0] if len(shown) < len(here) else len(rows))
    return {"principals": shown, **({"cursor": after} if after else {})}


async def _found(call: Call, ids: Sequence[str]) -> list[_Found]:
    reads: list[Read[Any]] = []
    for id in ids:
        reads += [Doc(Who, id), Doc(Now, id), Doc(Member, id), Doc(Shift, id), Score("active", "", id)]
        reads += [Count("asked", id, low=call.now), Range("sessions", id, SESSIONS, latest=True)]
        reads += [session_count(call, id)]
    got = await call.look_each(reads) if reads else []
    size = len(_Found._fields)
    return [_Found(*got[n : n + size]) for n in range(0, len(got), size)]


async def _wrote(call: Call, sessions: list[Page]) -> list[int]:
    """When each person wrote last in one of these sessions (ms), 0 for never."""
    grants = [[id for _, id in of_one.members] for of_one in sessions]
    wanted = [id for of_one in grants for id in of_one]
    found = await call.look_each(Score("wrote", "", id) for id in wanted) if wanted else []
    at = dict(zip(wanted, found, strict=True))
    return [max((at[id] or 0 for id in of_one), default=0) for of_one in grants]


def _row(found: _Found, *, now: int, wrote: int) -> Result | None:
    """A principal, or None for a person who left. `wrote` is when a person wrote last (ms)."""
    who, member = found.who, found.member
    person = who is not None and who.id.startswith("human:")
    if who is None or (person and not (member and member.role)):
        return None
    last = wrote if person else found.idle or 0
    says = {
        **(counted("name", who.name, NAME) if who.name != who.id.partition(":")[2] else {}),
        **({"role": member.role} if member else counted("role", who.role, NAME)),
        **(_slot(found.slot, now) if found.slot else {}),
        "last_write": {"at": iso(last), "age": age(now - last)} if last else "",
    }
    there = found.signed_in > 0 if person else at_work(found.shift, wrote=last, asks=found.asks, now=now)
    return {"id": who.id, **{k: v for k, v in says.items() if v}, "reachable": there}


def _slot(slot: Now, now: int) -> Result:
    """Now, shorter than `view` has it."""
    texts = {**counted("doing", slot.doing, TEXT), **counted("blocked", slot.blocked, TEXT)}
    texts |= counted("waiting_on", slot.waiting_on, NAME)
    return {**texts, "age": age(now - slot.since), "stale": now - slot.since > NOW_STALE}
