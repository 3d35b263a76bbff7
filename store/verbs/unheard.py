"""Asks of which nobody who may decide them can be told: said once, so that who waits returns, and taken back.

Computed from what stands, wherever people, their sessions or their phones change: `but` is what the commit changes.
Each of these commits stands on all of it, since of two of the last ways that end at once each still sees the other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain.ask import Ask
from ..domain.commit import Commit, Put, put
from ..domain.entry import Entry
from ..domain.moments import SECOND
from ..domain.person import Member
from ..domain.reach import Reach
from ..engine.copies import Sent
from ..engine.reads import Doc, Range, Read
from .approvers import AS_IT_IS, ROLES, Otherwise, Roles, audience
from .call import Call, Result, Row
from .everywhere import chore
from .signed_in import sessions_of

WAITING = 1000  # asks and items of one owner whose cards are looked at again at once
BATCH = 100  # asks of which one commit says that nobody can be reached, or that somebody can
NOBODY = "Nobody who may decide this can be reached now: no card arrives, and nobody is signed in. It stays open."

Ref = tuple[str, str]  # kind and id


@dataclass(frozen=True, slots=True)
class Change:
    """What follows from somebody's being reached, or not any more. `more`: it is not all, so it is to be done again."""

    puts: tuple[Put, ...] = ()
    entries: tuple[Entry, ...] = ()
    cards: tuple[str, ...] = ()
    more: bool = False


def owners(person: str, *members: Member | None) -> list[str]:
    """For whom asks and items wait that this person may deal with, in one of these memberships."""
    return list(dict.fromkeys([person, *(f"role:{role}" for m in members if m for role in m.roles)]))


async def waiting(call: Call, names: Sequence[str]) -> list[Ref]:
    """Asks and open items that wait for any of these, nearest deadline first, read for a decision."""
    ranges = [Range(index, name, WAITING, low=call.now) for index in ("inbox", "open") for name in names]
    pages = await call.read_each(ranges)
    return list(dict.fromkeys(ref for page in pages for ref in page.members))


async def every_ask(call: Call) -> list[Ref]:
    """The asks of the space that wait, or may still change, read for a decision."""
    return [(Ask.kind, id) for id in (await call.read(Range("due", "", WAITING, low=call.now))).ids(Ask)]


def refs(found: Iterable[Ref]) -> tuple[str, ...]:
    """As commits name them."""
    return tuple(f"{kind}:{id}" for kind, id in found)


async def retold(call: Call, found: Iterable[Ref], *, but: Otherwise = AS_IT_IS) -> Change:
    """Of the asks among these: say that nobody can be reached, where that is so and was not said, and the reverse.

    What is too much for one commit is noted as a chore.
    """
    ids = [id for kind, id in found if kind == Ask.kind]
    if not ids or not (call.space.telegram or but.reach):
        return Change()
    changed = await _changed(call, ids, but=but)
    asks = [ask for ask in await call.read_each(Doc(Ask, id) for id in changed[:BATCH]) if ask] if changed else []
    if more := len(changed) > BATCH:
        await call.store.shared.accounts.note_chores(chore(UNHEARD, call.caller.space), wait=SECOND)
    return Change(
        tuple(put(replace(ask, unheard=0 if ask.unheard else call.now)) for ask in asks),
        tuple(call.entry(ask.where, "undelivered", NOBODY, trail=ask.id) for ask in asks if not ask.unheard),
        more=more,
    )


async def _changed(call: Call, ids: Sequence[str], *, but: Otherwise) -> list[str]:
    """Those of these asks of which something else was said than is so, as many as one commit takes and one more."""
    roles = Roles.of(*await call.read(*ROLES))
    people = roles.changed(but.member).approvers
    reads: list[Read[Any]] = [*(sessions_of(call, p) for p in people), *(Doc(Reach, p) for p in people)]
    await call.ahead([*reads, *(Doc(Ask, id) for id in ids), *(Sent(f"{Ask.kind}:{id}") for id in ids)])
    changed: list[str] = []
    for ask in await call.read_each(Doc(Ask, id) for id in ids):
        if ask is None or ask.as_of(call.now).state != "pending":
            continue
        if (await audience(call, ask, roles=roles, but=but, firm=True)).is_silent != bool(ask.unheard):
            changed.append(ask.id)
        if len(changed) > BATCH:
            break
    return changed


async def _unheard(call: Call) -> Commit | Result:
    """The same for every ask of the space, as it is now."""
    await call.admit()
    told = await retold(call, await every_ask(call))
    result = {"changed": bool(told.puts), "more": told.more}
    return Commit(result=result, puts=told.puts, entries=told.entries) if told.puts else result


UNHEARD = Row("unheard", "write", _unheard)
