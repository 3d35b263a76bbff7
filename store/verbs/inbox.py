"""What waits for a person: asks to decide, what was handed to them, asks for others, and what was settled lately."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import Shape, known
from ..domain.item import Item, addressed, told
from ..domain.moments import DAY, iso
from ..domain.policy import Request, permit
from ..engine.reads import Doc, Page, Range, Scored
from .approvers import audience, check_decider, four_eyes, standing
from .asks import checked, grounds, words
from .call import Call, Result
from .places import missing
from .reads import ask_view, view

SHOWN_LIMIT = 50  # of what waits, on one page
READ_LIMIT = 200  # documents looked at for one list
WAITING_LIMIT = 5000  # ids of one index; what is beyond comes when those before it are settled
OTHERS_LIMIT = 20
LATELY = 7 * DAY
CURSOR = re.compile(r"([0-9]{1,15}):([A-Za-z0-9_-]{1,64})")  # deadline and id of the last that was looked at
FIRST = (0, "")
NOTHING = re.compile(" Nothing (ran, nothing )?changed[.]")

Place = tuple[int, str]  # in the order of what waits: deadline and id


class Queued(NamedTuple):
    """What waits, before it is looked at."""

    deadline: int
    id: str
    kind: str


async def inbox(call: Call, *, trail: str = "", after: str = "") -> Result:
    """Asks, handoffs and seats that wait for you, nearest deadline first; what you and others settled lately.

    trail: all of one ask, or of one thing that was handed over. after: the `cursor` of the page before.
    """
    place = _place(after)
    await call.admit()
    if trail:
        return await _one(call, trail)
    roles, link_by = standing(call)
    owners = (call.me, *(f"role:{role}" for role in roles))
    queue = await _queue(call, owners)
    ahead = [one for one in queue if one[:2] > place]
    first = place == FIRST
    approvers, *rest = await _rest(call, owners, first=first)
    found = await _documents(call, ahead[:READ_LIMIT], rest)
    strict = four_eyes(call, several=approvers.size > 1)
    may = "decide" in call.may

    def mine(one: Ask | Item) -> bool:
        if isinstance(one, Item):
            return one.state == "open" and addressed(one, by=call.me, roles=roles)
        able = may and rules.eligible(one, by=call.me, roles=roles, four_eyes=strict, link_by=link_by)
        return one.state == "pending" and able

    waiting = [one for one in found if mine(one) and _order(one) > place]
    shown = waiting[:SHOWN_LIMIT]
    all_of_it = first and len(ahead) <= READ_LIMIT
    return {
        **await _lines(call, shown, [one for one in found if not mine(one)] if first else []),
        # Of what was not looked at, some may not be the caller's to decide: then it is about so many.
        **_counted(waiting if all_of_it else queue),
        "more": not all_of_it,
        **_onwards(waiting, ahead),
        "now": iso(call.now),
    }


def _place(after: str) -> Place:
    found = CURSOR.fullmatch(after) if after else None
    if after and not found:
        raise Refused("malformed_id", "after is the cursor that the page before gave.", argument="after")
    return (int(found[1]), found[2]) if found else FIRST


def _order(one: Ask | Item) -> Place:
    return one.deadline, one.id


def _counted(waiting: Sequence[Ask | Item | Queued]) -> Result:
    asks = sum(one.kind == Ask.kind for one in waiting)
    return {"count": asks, "handed_count": len(waiting) - asks}


def _onwards(waiting: Sequence[Ask | Item], ahead: Sequence[Queued]) -> Result:
    """The cursor of the next page, if there is one: after what is shown, or after what was looked at for it."""
    if len(waiting) > SHOWN_LIMIT:
        at = _order(waiting[SHOWN_LIMIT - 1])
    elif len(ahead) > READ_LIMIT:
        at = ahead[READ_LIMIT - 1][:2]
    else:
        return {}
    return {"cursor": f"{at[0]}:{at[1]}"}


async def _queue(call: Call, owners: Sequence[str]) -> list[Queued]:
    """What waits for any of these, each once, nearest deadline first."""
    reads = [Scored(Range(name, o, WAITING_LIMIT, low=call.now)) for name in ("inbox", "open") for o in owners]
    found = {member: at for page in await call.look_each(reads) for at, member in page}
    parts = ((at, *member.partition(":")) for member, at in found.items())
    return sorted(Queued(at, id, kind) for at, kind, _, id in parts)


async def _rest(call: Call, owners: Sequence[str], *, first: bool) -> list[Page]:
    """Who approves; and for the first page what is due in the space, whomever it waits for, and what was settled."""
    now = call.now
    lately = partial(Range, low=now - LATELY, high=now, latest=True)
    rest = [
        Range("due", "", READ_LIMIT, low=now),
        lately("settled", limit=READ_LIMIT),
        # Those past their deadline have expired, whether that was written down or not.
        *(lately("inbox", o, limit=OTHERS_LIMIT) for o in owners),
    ]
    return await call.look_each([Range("role", "approver", 1), *(rest if first else [])])


async def _documents(call: Call, queued: Sequence[Queued], pages: Iterable[Page]) -> list[Ask | Item]:
    """These items and asks, and the asks of these pages, each once, as they stand now and in the order of deadlines."""
    items = [one.id for one in queued if one.kind == Item.kind]
    asks = dict.fromkeys(one.id for one in queued if one.kind == Ask.kind)
    asks |= dict.fromkeys(id for page in pages for id in page.ids(Ask))
    reads: list[Doc[Ask] | Doc[Item]] = [*(Doc(Item, id) for id in items), *(Doc(Ask, id) for id in asks)]
    found: list[Ask | Item | None] = await call.look_each(reads) if reads else []
    return sorted((one.as_of(call.now) for one in found if one), key=_order)


async def _lines(call: Call, shown: Sequence[Ask | Item], rest: Iterable[Ask | Item]) -> Result:
    """The lists of a page, with the words of all of them read at once."""
    asks = [one for one in rest if isinstance(one, Ask)]
    others = [a for a in asks if a.state == "pending"][:OTHERS_LIMIT]
    settled = sorted((a for a in asks if a.settled), key=lambda a: (-max(a.settled, a.closed), a.id))
    mine = [a for a in settled if call.me in (a.settled_by, a.closed_by)][:OTHERS_LIMIT]
    theirs = [a for a in settled if call.me not in (a.settled_by, a.closed_by)][:OTHERS_LIMIT]
    said = await call.recall(a.asked if isinstance(a, Ask) else a.sent for a in (*shown, *others, *mine, *theirs))
    undo = "decide" in call.may
    return {
        "asks": [_line(call, a, said.get(a.asked)) for a in shown if isinstance(a, Ask)],
        "handed": [_handed(a, said.get(a.sent)) for a in shown if isinstance(a, Item)],
        "others": [_line(call, a, said.get(a.asked)) for a in others],
        "decided": [_line(call, a, said.get(a.asked), undo=undo) for a in mine],
        "settled": [_line(call, a, said.get(a.asked)) for a in theirs],
    }


def _handed(item: Item, said: Logged | None) -> Result:
    """An item on a list; a seat names its huddle."""
    return {
        "trail": item.id,
        "by": item.sender,
        "to": item.to,
        "summary": said.summary if said else "[redacted]",
        "where": item.where,
        "made": iso(item.made),
        "deadline": iso(item.deadline),
        **({"huddle": item.huddle, "urgent": item.urgent} if item.huddle else {}),
    }


def _line(call: Call, ask: Ask, said: Logged | None, *, undo: bool = False) -> Result:
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
        **({"until": iso(ask.lapses)} if undo and ask.state == "approved" else {}),  # it can be taken back
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
        ways = ["answer" if item.huddle else "accept", "decline"]
        can = {"can": ways} if mine else {"can": [], "cannot": _not_theirs(call, item)}
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
