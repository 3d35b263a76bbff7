"""What waits for a person: asks to decide, what was handed to them, asks for others, and what was settled lately."""

import re
from collections.abc import Iterable
from functools import partial

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import Shape, known
from ..domain.item import Item, addressed, told
from ..domain.moments import DAY, iso
from ..domain.policy import Request, permit
from ..engine.reads import Doc, Page, Range
from .approvers import audience, check_decider, four_eyes, standing
from .asks import checked, grounds, words
from .call import Call, Result
from .places import missing
from .reads import ask_view, view

SHOWN_LIMIT = 50  # asks that wait, in one list
READ_LIMIT = 200  # asks looked at in one index; the count is exact up to here
SETTLED_LIMIT = 20
LATELY = 7 * DAY
NOTHING = re.compile(" Nothing (ran, nothing )?changed[.]")


async def inbox(call: Call, *, trail: str = "") -> Result:
    """Asks that wait for you, what was handed to you, asks that wait for others, and what was settled lately.

    trail: all of one ask, or of one thing that was handed over.
    """
    await call.admit()
    if trail:
        return await _one(call, trail)
    now = call.now
    roles, link_by = standing(call)
    owners = (call.me, *(f"role:{role}" for role in roles))
    lately = partial(Range, limit=SETTLED_LIMIT, low=now - LATELY, high=now, latest=True)
    found = await call.look_each(
        [
            Range("role", "approver", 1),
            Range("due", "", READ_LIMIT, low=now),
            lately("settled"),
            # Those past their deadline have expired, whether that was written down or not.
            *(lately("inbox", o) for o in owners),
            *(Range("inbox", o, READ_LIMIT, low=now) for o in owners),
            *(Range("open", o, READ_LIMIT, low=now) for o in owners),
        ]
    )
    handed, found = found[-len(owners) :], found[: -len(owners)]
    (approvers, rest, *past), mine = found[: -len(owners)], found[-len(owners) :]
    strict = four_eyes(call, several=approvers.size > 1)
    asks = await _asks(call, [*mine, rest, *past])
    may = "decide" in call.may
    waiting: list[Ask] = []
    others: list[Ask] = []
    for ask in sorted((a for a in asks if a.state == "pending"), key=lambda a: (a.deadline, a.id)):
        mine_to_decide = may and rules.eligible(ask, by=call.me, roles=roles, four_eyes=strict, link_by=link_by)
        (waiting if mine_to_decide else others).append(ask)
    settled = sorted((a for a in asks if a.settled), key=lambda a: (-a.settled, a.id))
    shown = (waiting[:SHOWN_LIMIT], others[:SETTLED_LIMIT], settled[:SETTLED_LIMIT])
    words = await call.recall(a.asked for asks in shown for a in asks)
    lists = [[_line(call, a, words.get(a.asked)) for a in asks] for asks in shown]
    return {
        "asks": lists[0],
        **await _handed(call, handed, roles),
        "count": len(waiting),
        "more": any(len(page.members) == READ_LIMIT for page in mine),  # then there may be more than `count`
        "others": lists[1],
        "settled": lists[2],
        "now": iso(now),
    }


async def _handed(call: Call, pages: Iterable[Page], roles: Iterable[str]) -> Result:
    """What was handed to the caller, or to a role of theirs, and waits to be accepted; nearest deadline first."""
    ids = dict.fromkeys(id for page in pages for id in page.ids(Item))
    found = await call.look_each(Doc(Item, id) for id in ids) if ids else []
    live = [item.as_of(call.now) for item in found if item]
    mine = [item for item in live if item.state == "open" and addressed(item, by=call.me, roles=roles)]
    shown = sorted(mine, key=lambda item: (item.deadline, item.id))[:SHOWN_LIMIT]
    words = await call.recall(item.sent for item in shown)
    lines = [
        {
            "trail": item.id,
            "by": item.sender,
            "to": item.to,
            "summary": words[item.sent].summary if item.sent in words else "[redacted]",
            "where": item.where,
            "made": iso(item.made),
            "deadline": iso(item.deadline),
        }
        for item in shown
    ]
    return {"handed": lines, "handed_count": len(mine)}


async def _asks(call: Call, pages: Iterable[Page]) -> list[Ask]:
    """The asks of these pages, each once, as they stand now."""
    ids = dict.fromkeys(id for page in pages for id in page.ids(Ask))
    found = await call.look_each(Doc(Ask, id) for id in ids)
    return [a.as_of(call.now) for a in found if a]


def _line(call: Call, ask: Ask, said: Logged | None) -> Result:
    """An ask on a list. Without its digest: nothing is decided from a list."""
    try:
        entry = checked(ask, said, space=call.caller.space)
        text = {"byline": entry.byline, "summary": entry.summary}
    except Refused as fault:
        summary = "[redacted]" if fault.code == "not_found" else "[altered]"
        text = {"byline": ask.by.partition(":")[2], "summary": summary}
    return {
        "trail": ask.id,
        "by": ask.by,
        **text,
        "where": ask.where,
        "risk": ask.risk,
        "status": ask.state,
        "says": rules.told(ask, now=call.now),
        "questioned": ask.questioned,
        "asked_at": iso(ask.made),
        "deadline": iso(ask.deadline),
        **({"at": iso(max(ask.settled, ask.closed))} if ask.settled else {}),
    }


async def _one(call: Call, trail: str) -> Result:
    """All of one thing, whom it waits for, and what the caller can do with it now. Refuses malformed_id, not_found."""
    shape, _ = known(trail, (Shape.ASK, Shape.ITEM), name="trail")
    if shape is Shape.ITEM:
        return await _one_item(call, trail)
    shown = await ask_view(call, trail, full=True)
    ask = await call.look(Doc(Ask, trail))
    if ask is None:  # documents are never removed, and `view` has just seen it
        raise await missing(call, trail)
    live = ask.as_of(call.now)
    asked = await audience(call, ask)
    until = {"pending": call.now + ask.valid_for, "approved": ask.lapses}.get(live.state)
    return {
        "of": "ask",
        "by": ask.by,
        "deadline": iso(ask.deadline),
        "stands": rules.told(live, now=call.now),
        **rules.words_of(await grounds(call, ask)),
        **shown,  # less, where the text was redacted or altered
        **asked,
        **await _can(call, live),
        **({"until": iso(until)} if until else {}),
        "now": iso(call.now),
    }


async def _one_item(call: Call, id: str) -> Result:
    shown = await view(call, what=id)
    item = await call.look(Doc(Item, id))
    if item is None:  # documents are never removed, and `view` has just seen it
        raise await missing(call, id)
    can: Result = {"can": []}
    live = item.as_of(call.now)
    if live.state == "open":
        mine = addressed(item, by=call.me, roles=standing(call)[0])
        can = {"can": ["accept", "decline"]} if mine else {"can": [], "cannot": _not_theirs(call, item)}
    return {"of": "item", **shown, "stands": told(live, now=call.now), **can, "now": iso(call.now)}


def _not_theirs(call: Call, item: Item) -> str:
    if call.me == item.sender:
        return f"You sent it; it waits for {item.to}."
    return f"It is for {item.to}, and {call.me} is not among them now."


async def _can(call: Call, ask: Ask) -> Result:
    """What the caller can do with the ask as it stands; `cannot` says why that is not everything, or nothing."""
    if ask.state not in ("pending", "approved"):
        return {"can": []}
    can: list[str] = []
    try:
        permit(Request(call.me, "decide", "decide", call.caller.space, call.may))
        rules.check_approver(by=call.me, roles=standing(call)[0])
        if ask.state == "approved":
            return {"can": ["take_back"]}
        can = ["ask_back"]
        await check_decider(call, ask)
        can = [v for v in ask.allow if v == "reject"] + can
        await words(call, ask)
    except Refused as no:
        return {"can": can, "cannot": NOTHING.sub("", no.message)}  # nothing was tried
    return {"can": [*ask.allow, "ask_back"]}
