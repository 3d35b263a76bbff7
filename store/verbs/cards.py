"""The card of an ask, an item or a day's syncs, as it stands now: what it shows, and who gets it with which buttons."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..domain import ask as ask_rules
from ..domain import item as item_rules
from ..domain.ask import Ask
from ..domain.day import SyncDay
from ..domain.delivery import wanted
from ..domain.entry import ABSENT, Logged
from ..domain.errors import Refused
from ..domain.group import Group
from ..domain.ids import short_code
from ..domain.item import Item, addressed
from ..domain.person import Member
from ..domain.phone import for_people
from ..domain.reach import Reach, silent
from ..domain.said import words_of
from ..domain.via import ASSURANCE, is_enough
from ..engine.reads import Doc, Log, Range, Read
from ..engine.store import Store
from .approvers import LIMIT, ROLES, Roles, audience, audience_of
from .asks import checked
from .call import Call, Result, Row
from .day_card import sync_card
from .everywhere import bot_badge
from .notes import THREADED
from .perform import perform
from .places import missing
from .reads import entries, entries_of

HISTORY = 50  # entries of a trail that are looked at for the thread
THREAD = 5  # of them that are shown
ANSWERS = 3  # that somebody is told who asked back
GROUPS = 20  # and topics of groups that get notices of one ask
VERDICT = {"approved": "approve", "rejected": "reject", "answered": "answer"}
HERE = ASSURANCE["telegram"]


async def card(store: Store, *, space: str, ref: str, holding: Iterable[str]) -> Result:
    """The card of a ref for whom it is for now and for whoever holds a copy of it. Refuses not_found, scope_unknown."""
    return await perform(store, bot_badge(space), _CARD, {"ref": ref, "holding": " ".join(holding)})


async def _card(call: Call, *, ref: str, holding: str) -> Result:
    kind, _, id = ref.partition(":")
    who = [name for name in dict.fromkeys(holding.split()) if name.startswith("human:")]
    if kind == Ask.kind:
        return await _ask(call, id, who)
    if kind == Item.kind:
        return await _item(call, id, who)
    await call.admit()
    if kind == SyncDay.kind:
        return await sync_card(call, id, who)
    raise await missing(call, ref)


@dataclass(frozen=True, slots=True)
class _For:
    """Whom a card is for: what each may do, who is to get it, and how the people in question are reached.

    `reads` may read what it shows on, also once it is over; `answers` is what each was answered to their questions.
    """

    can: Mapping[str, Sequence[str]]
    wanted: Sequence[str]
    reaches: Mapping[str, Reach] = field(default_factory=dict)
    reads: Collection[str] = ()
    answers: Mapping[str, Sequence[Result]] = field(default_factory=dict)

    def shown(self, call: Call, holding: Sequence[str], *, risk: str) -> list[Result]:
        return [self._one(call, who, risk=risk) for who in dict.fromkeys((*self.wanted, *holding))]

    def _one(self, call: Call, who: str, *, risk: str) -> Result:
        reach = self.reaches.get(who)
        still = reach is not None and risk != "high" and silent(reach, now=call.now, zone=call.space.zone)
        can = list(self.can.get(who, ())) if reach and reach.account else []
        chat = reach.account if reach else 0
        lost = bool(reach and reach.lost)
        shown = {"who": who, "chat": chat, "can": can, "silent": still, "wanted": who in self.wanted, "lost": lost}
        return {**shown, "reads": bool(chat) and who in self.reads, "answers": list(self.answers.get(who, ()))}


async def _ask(call: Call, trail: str, holding: Sequence[str]) -> Result:
    reads: list[Read[Any]] = [Doc(Ask, trail), Log(f"trail:{trail}", HISTORY), Range("groups", "", GROUPS)]
    ask, lines, groups, approver, owner, *more = await call.look_each([*reads, *ROLES, *_own(holding)])
    if ask is None:
        raise await missing(call, trail)
    live = ask.as_of(call.now)
    roles = Roles.of(approver, owner)
    texts = (ask.asked, ask.decided, ask.ended)
    await call.ahead([*audience_of(call, ask, roles), *entries_of(lines, texts)])
    there = await audience(call, ask, roles=roles)
    said = {e.id: e for e in await entries(call, lines, texts)}
    text = _text(call, ask, said.get(ask.asked))
    reaches = {**_reaches(more), **there.reaches}
    if live.state == "pending":
        can = _pending(live, there.people, readable="cannot" not in text)
    else:
        can = dict.fromkeys(roles.approvers, ("take_back",) if live.state == "approved" else ())
    whom = _For(can, there.wanted, reaches, roles.approvers, _answers(said.values()))
    found = await call.look_each(Doc(Group, id) for id in groups.ids(Group)) if groups.members else []
    ends = {"pending": live.deadline, "approved": live.lapses}.get(live.state, 0)
    return {
        **_head(call, ask.ref, trail=trail, kind=Ask.kind),
        "state": live.state,
        "open": live.state == "pending",
        "says": for_people(ask_rules.told(live, now=call.now, said=said.get(ask_rules.grounds(live)))),
        "digest": ask.digest,
        "by": ask.by,
        **text,
        "where": ask.where,
        "risk": ask.risk,
        "deadline": ask.deadline,
        "until": live.lapses if live.state == "approved" else 0,
        "allow": list(ask.allow),
        "console": _elsewhere(live) if live.state == "pending" else [],
        "asked": there.told,
        "thread": _thread(said.values()),
        **_ended(live, said.get(ask.decided)),
        "to": whom.shown(call, holding, risk=ask.risk),
        "push": live.reminded if live.state == "pending" else 0,
        "groups": [{"who": group.who, "chat": group.chat, "thread": group.thread} for group in found if group],
        "look_at": ends + 1 if ends else 0,
    }


def _pending(ask: Ask, people: Sequence[str], *, readable: bool) -> dict[str, Sequence[str]]:
    """What those who may decide can do on Telegram. What nobody can read, they can only reject."""
    if not readable:
        return dict.fromkeys(people, ("reject",))
    elsewhere = _elsewhere(ask)
    return dict.fromkeys(people, (*(verdict for verdict in ask.allow if verdict not in elsewhere), "ask_back"))


def _elsewhere(ask: Ask) -> list[str]:
    """The verdicts that it allows and that take more than Telegram: they are given in the console."""
    return [verdict for verdict in ask.allow if not is_enough(HERE, risk=ask.risk, verdict=verdict)]


def _text(call: Call, ask: Ask, said: Logged | None) -> Result:
    """What was asked, compared with its digest; or why it cannot be shown."""
    try:
        entry = checked(ask, said, space=call.caller.space)
    except Refused as no:
        why = no.message.replace(" Nothing ran, nothing changed.", "")
        return {"byline": ask.by.partition(":")[2], "summary": None, "options": [], "cannot": why}
    payload = {} if entry.payload is ABSENT else {"payload": entry.payload}
    return {"byline": entry.byline, "summary": entry.summary, "options": list(entry.options), **payload}


def _ended(ask: Ask, said: Logged | None) -> Result:
    """Who decided it, and what ended it or the approval after that."""
    decided = closed = None
    if ask.decided:
        verdict = VERDICT.get(ask.state, "approve")
        decided = {"by": ask.settled_by, "via": ask.via, "at": ask.settled, "verdict": verdict}
        decided |= words_of(said)
    elif ask.state == "withdrawn":
        closed = {"by": ask.settled_by, "at": ask.settled}
    if ask.closed:
        closed = {"by": ask.closed_by, "at": ask.closed}
    return {"decided": decided, "closed": closed}


async def _item(call: Call, id: str, holding: Sequence[str]) -> Result:
    item, lines = await call.look(Doc(Item, id), Log(f"trail:{id}", HISTORY))
    if item is None or not item.carded:
        raise await missing(call, id)
    live = item.as_of(call.now)
    if item.huddle:
        lines = await call.look(Log(f"trail:{item.huddle}", HISTORY))
    said = {e.id: e for e in await entries(call, lines, [i for i in (item.sent, item.ended) if i])}
    sent, ended = said.get(item.sent), said.get(item.ended)
    readable = bool(sent and sent.entry)
    people = await _recipients(call, item)
    reaches = _reaches(await call.look_each(_own([*people, *holding])))
    mine = [reaches[p] for p in people if p in reaches and p not in item.unshown]
    ways = ("answer" if item.huddle else "accept", "decline") if readable else ("decline",)
    pending = live.state == "open"
    chosen = wanted(mine, named=item.to.startswith("human:")) if pending else ()
    can = dict.fromkeys(people, ways) if pending else {}
    whom = _For(can, chosen, reaches, people, {} if item.huddle else _answers(said.values()))
    settled = live.state in ("accepted", "declined", "answered")
    reason = {"reason": ended.summary} if ended and live.state == "declined" else {}
    decided = {"by": item.settled_by, "via": item.via, "at": item.settled, "verdict": live.state, **reason}
    return {
        **_head(call, item.ref, trail=id, kind=Item.kind),
        "state": live.state,
        "open": pending,
        "says": for_people(item_rules.told(live, now=call.now, ended=ended)),
        "digest": "",
        "by": item.sender,
        "byline": sent.entry.byline if sent and sent.entry else item.sender.partition(":")[2],
        "summary": sent.summary if readable and sent else None,
        **({} if readable else {"cannot": f"The text of {id} was redacted or is missing."}),
        "where": item.where,
        "risk": "normal",
        "deadline": item.deadline,
        "until": 0,
        "options": [],
        "allow": [],
        "console": [],
        "asked": [p for p in people if not pending or p in chosen or p not in reaches or not reaches[p].live],
        "thread": [] if item.huddle else _thread(said.values()),
        "decided": decided if settled else None,
        "closed": {"by": item.settled_by, "at": item.settled} if live.state == "withdrawn" else None,
        "huddle": item.huddle,
        "to": whom.shown(call, holding, risk="normal"),
        "groups": [],
        "look_at": item.deadline + 1 if pending else 0,
    }


async def _recipients(call: Call, item: Item) -> list[str]:
    """Who may settle it now."""
    kind, _, role = item.to.partition(":")
    names = [item.to] if kind == "human" else (await call.look(Range("role", role, LIMIT))).ids(Member)
    members = await call.look_each(Doc(Member, name) for name in names) if names else []
    return [m.id for m in members if m and m.role and addressed(item, by=m.id, roles=m.roles)]


def _own(people: Iterable[str]) -> list[Read[Any]]:
    return [Doc(Reach, who) for who in dict.fromkeys(people)]


def _reaches(found: Iterable[Reach | None]) -> dict[str, Reach]:
    return {reach.id: reach for reach in found if reach}


def _thread(said: Iterable[Logged]) -> list[Result]:
    """What was asked back and answered, the latest of it."""
    spoken = [(e, e.entry) for e in said if e.entry and e.entry.kind in THREADED]
    return [
        {"by": entry.by, "byline": entry.byline, "kind": entry.kind, "text": entry.summary, "at": logged.ts}
        for logged, entry in sorted(spoken, key=lambda pair: pair[0].seq)[-THREAD:]
    ]


def _answers(said: Iterable[Logged]) -> dict[str, list[Result]]:
    """By person, the last answers to what they asked; `n` grows with each.

    An answer is to all who have asked since the one before; another one without a question between is to the same.
    """
    told: dict[str, list[Result]] = {}
    asking: dict[str, None] = {}
    is_answered = False
    for logged in sorted(said, key=lambda each: each.seq):
        entry = logged.entry
        if entry is None or entry.kind not in THREADED:
            continue
        if entry.kind == "question":
            asking = {entry.by: None} if is_answered else {**asking, entry.by: None}
            is_answered = False
            continue
        is_answered = True
        for who in asking:
            if who != entry.by:
                told[who] = [*told.get(who, []), {"n": logged.seq, "by": entry.by, "text": entry.summary}][-ANSWERS:]
    return told


def _head(call: Call, ref: str, *, trail: str, kind: str) -> Result:
    return {
        "ref": ref,
        "kind": kind,
        "trail": trail,
        "code": short_code(trail),
        "simulated": call.space.simulated,
        "now": call.now,
    }


_CARD = Row("card", "read", _card, whole=True)
