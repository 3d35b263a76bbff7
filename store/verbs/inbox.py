"""What waits for a person: asks to decide, what was handed to them, asks for others, and what was settled lately."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import Shape, known
from ..domain.item import Item, addressed, told
from ..domain.moments import DAY, iso
from ..domain.policy import Request, permit
from ..domain.said import words_of
from ..engine.reads import Count, Doc, Members, Page, Range, Read, Scored
from .approvers import audience, check_decider, four_eyes, standing
from .asks import checked, grounds, words
from .call import Call, Result
from .places import missing
from .reads import ask_view, view

SHOWN_LIMIT = 50  # of what waits, on one page
READ_LIMIT = 200  # documents looked at for one list
LOOK_LIMIT = 54  # of them, that are looked at first: mostly that fills a page
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


class Queue(NamedTuple):
    """What waits: the nearest of it after a place, in order; and the indexes that all of it stands in, with sizes."""

    ahead: list[Queued]
    indexes: list[tuple[Range, int]]

    @property
    def more(self) -> bool:
        """Whether it is more than is looked at for one page."""
        return len(self.ahead) > READ_LIMIT

    def beside(self, pages: Iterable[Page]) -> list[str]:
        """The asks of these pages that do not wait in the queue: what does is looked at in its turn."""
        waiting = {one.id for one in self.ahead}
        return [id for page in pages for id in page.ids(Ask) if id not in waiting]


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
    first = place == FIRST
    queue, approvers, rest = await _lists(call, owners, place=place)
    strict = four_eyes(call, several=approvers.size > 1)
    may = "decide" in call.may

    def mine(one: Ask | Item) -> bool:
        if isinstance(one, Item):
            return one.state == "open" and addressed(one, by=call.me, roles=roles)
        able = may and rules.eligible(one, by=call.me, roles=roles, four_eyes=strict, link_by=link_by)
        return one.state == "pending" and able

    # Of few all are looked at, so that they are counted; of many, as many as fill the page.
    found: list[Ask | Item] = []
    waiting: list[Ask | Item] = []
    looked, beside = 0, queue.beside(rest)
    for end in (LOOK_LIMIT, READ_LIMIT) if queue.more else (READ_LIMIT,):
        found += await _documents(call, queue.ahead[looked:end], beside)
        waiting = sorted((one for one in found if mine(one) and _order(one) > place), key=_order)
        looked, beside = end, []
        if len(waiting) > SHOWN_LIMIT:
            break
    all_of_it = first and not queue.more
    return {
        **await _lines(call, waiting[:SHOWN_LIMIT], [one for one in found if not mine(one)] if first else []),
        # Of what was not looked at, some may not be the caller's to decide: then it is about so many.
        **(_counted(waiting) if all_of_it else await _about(call, queue)),
        "more": not all_of_it,
        **_onwards(waiting, queue.ahead, looked=looked),
        "now": iso(call.now),
    }


def _place(after: str) -> Place:
    found = CURSOR.fullmatch(after) if after else None
    if after and not found:
        raise Refused("malformed_id", "after is the cursor that the page before gave.", argument="after")
    return (int(found[1]), found[2]) if found else FIRST


def _order(one: Ask | Item) -> Place:
    return one.deadline, one.id


def _counted(waiting: Sequence[Ask | Item]) -> Result:
    asks = sum(one.kind == Ask.kind for one in waiting)
    return {"count": asks, "handed_count": len(waiting) - asks}


async def _about(call: Call, queue: Queue) -> Result:
    """How many of each kind wait, each counted once: what waits for somebody in two ways stands in two indexes."""
    sizes = []
    for name in ("inbox", "open"):
        held = [(index, size) for index, size in queue.indexes if index.name == name and size]
        one_way = len(held) < 2
        sizes.append(sum(size for _, size in held) if one_way else await _together(call, [index for index, _ in held]))
    return {"count": sizes[0], "handed_count": sizes[1]}


async def _together(call: Call, indexes: Sequence[Range]) -> int:
    members = await call.look_each(Members(replace(index, limit=WAITING_LIMIT)) for index in indexes)
    return len(frozenset[bytes]().union(*members))


def _onwards(waiting: Sequence[Ask | Item], ahead: Sequence[Queued], *, looked: int) -> Result:
    """The cursor of the next page, if there is one: after what is shown, or after what was looked at for it."""
    if len(waiting) > SHOWN_LIMIT:
        at = _order(waiting[SHOWN_LIMIT - 1])
    elif len(ahead) > looked:
        at = ahead[looked - 1][:2]
    else:
        return {}
    return {"cursor": f"{at[0]}:{at[1]}"}


async def _lists(call: Call, owners: Sequence[str], *, place: Place) -> tuple[Queue, Page, list[Page]]:
    """What waits for any of these; who approves; and for the first page what else is looked at, in one trip.

    That is what is due in the space, whomever it waits for, and what was settled.
    """
    now, first = call.now, place == FIRST
    indexes = [Range(name, o, low=now) for name in ("inbox", "open") for o in owners]
    # Where many have the deadline of the place, those before it are among what is read.
    near = READ_LIMIT + 1 if first else WAITING_LIMIT
    lately = partial(Range, low=now - LATELY, high=now, latest=True)
    rest = [
        Range("due", "", READ_LIMIT, low=now),
        lately("settled", limit=READ_LIMIT),
        # Those past their deadline have expired, whether that was written down or not.
        *(lately("inbox", o, limit=OTHERS_LIMIT) for o in owners),
    ]
    reads: list[Read[Any]] = [
        *(Scored(replace(index, limit=near, low=max(now, place[0]))) for index in indexes),
        *(Count(index.name, index.owner, low=now) for index in indexes),
        Range("role", "approver", 1),
        *(rest if first else []),
    ]
    found = await call.look_each(reads)
    several = len(indexes)
    scored = {member: at for part in found[:several] for at, member in part}
    parts = ((at, *member.partition(":")) for member, at in scored.items())
    ahead = sorted(one for one in (Queued(at, id, kind) for at, kind, _, id in parts) if one[:2] > place)
    approvers, *pages = found[2 * several :]
    return Queue(ahead, list(zip(indexes, found[several : 2 * several], strict=True))), approvers, pages


async def _documents(call: Call, queued: Sequence[Queued], beside: Iterable[str]) -> list[Ask | Item]:
    """These items and asks, and asks beside them, each once, as they stand now and in the order of deadlines."""
    items = [one.id for one in queued if one.kind == Item.kind]
    asks = dict.fromkeys((*(one.id for one in queued if one.kind == Ask.kind), *beside))
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
    asked = (await audience(call, ask)).shown
    until = {"pending": call.now + ask.valid_for, "approved": ask.lapses}.get(live.state)
    return {
        "of": "ask",
        "by": ask.by,
        "deadline": iso(ask.deadline),
        "stands": rules.told(live, now=call.now),
        **words_of(await grounds(call, ask)),
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
