"""What waits for a person: the asks that they may decide, those of others, and what was settled lately."""

from collections.abc import Iterable
from typing import Any

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import Shape, known
from ..domain.moments import DAY, iso
from ..domain.policy import Request, permit
from ..engine.reads import Doc, Page, Range
from .approvers import audience, four_eyes
from .call import Call, Result
from .reads import ask_view

SHOWN_LIMIT = 50  # asks that wait, in one list
READ_LIMIT = 200  # asks looked at in one index; the count is exact up to here
SETTLED_LIMIT = 20
LATELY = 7 * DAY


async def inbox(call: Call, *, trail: str = "") -> Result:
    """The asks that wait for you, those that wait for others, and what was settled lately; trail: all of one ask."""
    await call.admit()
    if trail:
        return await _one(call, trail)
    now = call.now
    owners = (call.me, *(f"role:{role}" for role in (call.member.roles if call.member else ())))
    mine = await call.look_each(Range("inbox", o, READ_LIMIT, low=now) for o in owners)
    # Those past their deadline have expired, whether that was written down or not.
    ended, settled = [
        await call.look_each(Range(name, o, SETTLED_LIMIT, low=now - LATELY, high=now, latest=True) for o in owners)
        for name in ("inbox", "settled")
    ]
    rest = await call.look(Range("due", "", READ_LIMIT, low=now))
    strict = await four_eyes(call)
    waiting: list[Ask] = []
    others: list[Ask] = []
    for ask in await _asks(call, [*mine, rest], order=lambda a: (a.deadline, a.id)):
        if ask.state == "pending":
            (waiting if _eligible(call, ask, strict=strict) else others).append(ask)
    past = [a for a in await _asks(call, [*settled, *ended], order=lambda a: (-a.settled, a.id)) if a.settled]
    shown = (waiting[:SHOWN_LIMIT], others[:SETTLED_LIMIT], past[:SETTLED_LIMIT])
    words = await call.recall(a.asked for asks in shown for a in asks)
    lists = [[_line(a, words.get(a.asked), now=now) for a in asks] for asks in shown]
    return {
        "asks": lists[0],
        "count": len(waiting),
        "more": any(len(page.members) == READ_LIMIT for page in mine),  # then there may be more than `count`
        "others": lists[1],
        "settled": lists[2],
        "now": iso(now),
    }


async def _asks(call: Call, pages: Iterable[Page], *, order: Any) -> list[Ask]:
    """The asks of these pages, each once, as they stand now."""
    ids = dict.fromkeys(id for page in pages for id in page.ids(Ask))
    found = await call.look_each(Doc(Ask, id) for id in ids)
    return sorted((a.as_of(call.now) for a in found if a), key=order)


def _eligible(call: Call, ask: Ask, *, strict: bool) -> bool:
    roles = call.member.roles if call.member else ()
    return "decide" in call.may and rules.eligible(ask, by=call.me, roles=roles, four_eyes=strict)


def _line(ask: Ask, said: Logged | None, *, now: int) -> Result:
    """An ask on a list. Without its digest: nothing is decided from a list."""
    return {
        "trail": ask.id,
        "by": ask.by,
        "byline": said.entry.byline if said and said.entry else ask.by.partition(":")[2],
        "where": ask.where,
        "risk": ask.risk,
        "summary": said.summary if said else "[redacted]",
        "status": ask.state,
        "says": rules.told(ask, now=now),
        "questioned": ask.questioned,
        "asked_at": iso(ask.made),
        "deadline": iso(ask.deadline),
        **({"at": iso(max(ask.settled, ask.closed))} if ask.settled else {}),
    }


async def _one(call: Call, trail: str) -> Result:
    """All of one ask, who was asked, and what the caller can do with it now. Refuses malformed_id, not_found."""
    known(trail, (Shape.ASK,), name="trail")
    shown = await ask_view(call, trail, full=True)
    ask = await call.look(Doc(Ask, trail))
    if ask is None:  # documents are never removed, and `view` has just seen it
        raise Refused("not_found", f"There is no ask {trail} in {call.caller.space}.")
    live = ask.as_of(call.now)
    asked = await audience(call, ask)
    until = {"pending": call.now + ask.valid_for, "approved": ask.lapses}.get(live.state)
    return {
        **shown,
        **asked.said,
        **await _can(call, live),
        **({"until": iso(until)} if until else {}),
        "now": iso(call.now),
    }


async def _can(call: Call, ask: Ask) -> Result:
    """What the caller can do with the ask as it stands; `cannot` says why that is nothing."""
    steps = {"pending": [*ask.allow, "ask_back"], "approved": ["take_back"]}.get(ask.state, [])
    if not steps:
        return {"can": []}
    roles = call.member.roles if call.member else ()
    strict = ask.risk == "high" and await four_eyes(call)
    try:
        permit(Request(call.me, "decide", "decide", call.caller.space, call.may))
        rules.check_eligible(ask, by=call.me, roles=roles, four_eyes=strict)
    except Refused as no:
        return {"can": [], "cannot": no.message.replace(" Nothing changed.", "")}  # nothing was tried
    return {"can": steps}
