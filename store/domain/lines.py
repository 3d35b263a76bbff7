"""Lines of a Brief: what each document has to say to the principal whose Brief it is, in the order of weight."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .ask import Ask
from .document import Document
from .entry import Logged
from .fact import Fact
from .grant import Grant, warned_at
from .huddle import Huddle, closers, ready
from .item import Item
from .job import Job
from .mailbox import MailNote
from .moments import DAY, HOUR, MINUTE, SECOND
from .slot import Now, Who
from .sync import Window

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
NOW_STALE = 30 * MINUTE
RECAP_STALE = 3 * DAY
MISSED_SHOWN = 3 * DAY  # how long a recipient is told of an item that expired
NEXT_LIMIT = 10  # next steps that a recap has
GONE = "[redacted]"


@dataclass(frozen=True, kw_only=True)
class View:
    """All that a Brief is made from, as it stands at `now` (ms). `unread` counts what was not even looked at.

    `entries` are those that the documents point at; `told` are the refs of those to show although surfaced before.
    `seats` are those of the huddles that are to be closed, by id; `window` is the open one, if a check-in is due;
    `key` the grant that the principal calls by.
    """

    me: str
    now: int
    who: Who | None = None
    slot: Now | None = None
    recap: Logged | None = None
    documents: Sequence[Document] = ()
    entries: Mapping[int | str, Logged] = field(default_factory=dict)
    told: frozenset[str] = frozenset()
    seats: Mapping[str, Item] = field(default_factory=dict)
    window: Window | None = None
    key: Grant | None = None
    unread: int = 0

    def said(self, id: str) -> str:
        """The text of an entry."""
        return self.entries[id].summary if id in self.entries else GONE


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing to say. `section` is where it stands in the Brief, `at` when it last changed (ms).

    `facts` are ids, codes and words of ours; `texts` what somebody wrote, which may be cut; `left` is how long there
    is to do it (ms, 0 for no deadline). `document` is what `start` writes down as surfaced.
    """

    section: str
    at: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    left: int = 0
    document: Document | None = None


Ranked = Iterator[tuple[tuple[int, int], Line]]  # lines, with their weight and what orders those of one weight


def span_short(ms: int) -> str:
    """A length of time in one word: `40s`, `12m`, `23h`, `3d`. Rounded down."""
    for below, unit, letter in ((90 * SECOND, SECOND, "s"), (90 * MINUTE, MINUTE, "m"), (2 * DAY, HOUR, "h")):
        if ms < below:
            return f"{max(0, ms) // unit}{letter}"
    return f"{ms // DAY}d"


def lines_of(view: View) -> list[Line]:
    """Every line, the weightiest first: what comes first is what budgets keep."""
    return [line for _, line in sorted(_ranked(view), key=lambda pair: pair[0])]


def _ranked(view: View) -> Ranked:
    """Lines with their weight (lower is weightier) and what orders those of one weight."""
    for document in view.documents:
        yield from _SAYS[type(document)](view, document.as_of(view.now))
    if view.window:
        yield (6, 0), _sync(view, view.window)
    if view.key:
        yield from _key(view, view.key)
    if view.recap:
        yield from _recap(view, view.recap)
    if view.slot:
        yield (10, 0), _slot(view, view.slot)
    if view.who:
        texts = {k: v for k, v in (("name", view.who.name), ("role", view.who.role)) if v}
        yield (12, 0), Line(section="who", at=_when(view.who.said, view.who.since), texts=texts)


def _when(entry: str, made: int) -> int:
    """When the entry was committed: a little later than what was decided on, and what `since` can go by."""
    return max(made, int(entry.partition("-")[0])) if entry else made


def _age(view: View, at: int) -> str:
    return span_short(view.now - at)


def _true(**flags: bool) -> dict[str, bool]:
    return {name: True for name, flag in flags.items() if flag}


def _recap(view: View, recap: Logged) -> Ranked:
    said = _payload(recap)
    stale = view.now - recap.ts > RECAP_STALE
    facts = {"age": _age(view, recap.ts), **_true(stale=stale, auto=bool(said.get("auto")))}
    yield (8, 0), Line(section="last_recap", at=recap.ts, facts=facts, texts={"summary": recap.summary})
    for n, step in enumerate(said.get("next", ())[:NEXT_LIMIT]):
        yield (9, n), Line(section="next", at=recap.ts, texts={"step": step})


def _payload(said: Logged | None) -> dict[str, Any]:
    """The payload of an entry that a verb of ours wrote; nothing once it was redacted."""
    return said.entry.payload if said and said.entry and isinstance(said.entry.payload, dict) else {}


def _slot(view: View, slot: Now) -> Line:
    texts = {"doing": slot.doing, **({"blocked": slot.blocked} if slot.blocked else {})}
    texts |= {"waiting_on": slot.waiting_on} if slot.waiting_on else {}
    facts: dict[str, Any] = {} if slot.blocked else {"blocked": False}
    facts |= {"where": slot.where} if slot.where else {}
    facts |= {"age": _age(view, slot.since), "revision": slot.revision}
    return Line(
        section="now",
        at=_when(slot.said, slot.since),
        facts=facts | _true(stale=view.now - slot.since > NOW_STALE),
        texts=texts,
    )


#: How an ask ended, when it last changed, and which entry says why.
_ENDED = {
    "approved": ("settled", "decided"),
    "rejected": ("settled", "decided"),
    "answered": ("settled", "decided"),
    "expired": ("settled", ""),
    "lapsed": ("closed", ""),
    "taken_back": ("closed", "ended"),
}


def _ask(view: View, ask: Document) -> Ranked:
    if not isinstance(ask, Ask) or ask.by != view.me:
        return
    facts: dict[str, Any] = {"trail": ask.id}
    text = {"summary": view.said(ask.asked)}
    if ask.state == "pending" and ask.questioned:
        asked = view.entries.get(ask.question)
        by = {"by": asked.entry.by} if asked and asked.entry else {}
        at = _when(ask.question, ask.made)
        facts |= {**by, "where": ask.where, "age": _age(view, at)}
        text = {"question": view.said(ask.question)}
        left = ask.deadline - view.now
        yield (2, ask.deadline), Line(section="questions", at=at, facts=facts, texts=text, left=left)
    elif ask.state == "pending":
        facts |= {"age": _age(view, ask.made), **({"warning": "no_approver_reachable"} if ask.unheard else {})}
        left = ask.deadline - view.now
        yield (
            (6, ask.deadline),
            Line(section="pending_asks", at=_when(ask.asked, ask.made), facts=facts, texts=text, left=left),
        )
    elif ask.state in _ENDED and (not ask.told or ask.ref in view.told):
        yield _verdict(view, ask, facts, text)


def _verdict(view: View, ask: Ask, facts: dict[str, Any], text: dict[str, str]) -> tuple[tuple[int, int], Line]:
    when, why = _ENDED[ask.state]
    at = _when(getattr(ask, why) if why else "", getattr(ask, when))
    by = ask.closed_by if ask.state == "taken_back" else ask.settled_by
    facts |= {"status": ask.state, **({"by": by} if by else {}), "age": _age(view, at)}
    said = view.entries.get(getattr(ask, why)) if why else None
    text |= {k: v for k, v in _payload(said).items() if k in ("answer", "reason")}
    left = ask.lapses - view.now if ask.state == "approved" else 0
    weight = (0, ask.lapses) if ask.state == "approved" else (1, at)
    return weight, Line(section="verdicts", at=at, facts=facts, texts=text, left=left, document=ask)


def _item(view: View, item: Document) -> Ranked:
    if not isinstance(item, Item):
        return
    if item.huddle:
        yield from _seat(view, item)
        return
    text = {"summary": view.said(item.sent)}
    facts: dict[str, Any] = {"item": item.id}
    dead = item.state == "expired" and not item.closed
    at = item.settled if dead else _when(item.sent, item.made)
    age = {"age": _age(view, at)}
    if dead and item.sender == view.me:
        facts |= {"status": "dead letter", "to": item.to, **age}
        yield (1, at), Line(section="verdicts", at=at, facts=facts, texts=text)
    elif item.state == "declined" and item.sender == view.me and (not item.told or item.ref in view.told):
        text |= {"reason": view.said(item.ended)}
        at = _when(item.ended, item.settled)
        facts |= {"status": "declined", "by": item.settled_by, "age": _age(view, at)}
        yield (1, at), Line(section="verdicts", at=at, facts=facts, texts=text, document=item)
    elif item.sender != view.me and (item.state == "open" or (dead and view.now - at <= MISSED_SHOWN)):
        role = {"to": item.to} if item.to.startswith("role:") else {}
        facts |= {"status": "expired"} if dead else {}
        facts |= {"from": item.sender, **role, "where": item.where, **age}
        left = 0 if dead else item.deadline - view.now
        line = Line(section="handoffs", at=at, facts=facts, texts=text, left=left, document=item)
        yield (4 if dead else 3, item.deadline), line


def _seat(view: View, seat: Item) -> Ranked:
    if seat.to != view.me or seat.state != "open":
        return
    at = _when(seat.sent, seat.made)
    facts: dict[str, Any] = {"item": seat.id, "from": seat.sender, "where": seat.where, "age": _age(view, at)}
    facts |= _true(urgent=seat.urgent)
    left = seat.deadline - view.now
    text = {"question": view.said(seat.sent)}
    yield (3, seat.deadline), Line(section="seats", at=at, facts=facts, texts=text, left=left, document=seat)


def _huddle(view: View, huddle: Document) -> Ranked:
    """What can be closed now, to who can: it says so once nobody can answer any more."""
    if not isinstance(huddle, Huddle) or view.me not in closers(huddle, now=view.now):
        return
    seats = [view.seats[id].as_of(view.now) for id in huddle.seats if id in view.seats]
    if not ready(huddle, seats, now=view.now):
        return
    at = max((_when(seat.ended, seat.settled) for seat in seats), default=huddle.deadline)
    answered = sum(seat.state == "answered" for seat in seats)
    made = _when(huddle.asked, huddle.made)
    facts = {"huddle": huddle.id, "where": huddle.where, "answered": answered, "seats": len(huddle.seats)}
    facts |= {"age": _age(view, made)}
    text = {"question": view.said(huddle.asked)}
    yield (3, huddle.deadline), Line(section="huddles", at=at, facts=facts, texts=text)


def _fact(view: View, fact: Document) -> Ranked:
    if not isinstance(fact, Fact) or fact.by != view.me or not fact.due(view.now):
        return
    age = _age(view, _when(fact.said, fact.made))
    facts = {"fact": fact.id, "where": fact.where, "age": age, "stale": True}
    text = {"summary": view.said(fact.said)}
    yield (10, fact.review_by), Line(section="facts_due", at=fact.review_by, facts=facts, texts=text)


def _blocked(view: View, now: Document) -> Ranked:
    if not isinstance(now, Now) or not now.blocked or now.id == view.me:
        return
    facts = {"who": now.id, "age": _age(view, now.since)}
    texts = {"blocked": now.blocked, **({"waiting_on": now.waiting_on} if now.waiting_on else {})}
    mine = view.me.partition(":")[2] in _ID.findall(now.waiting_on)
    yield (
        (5, 0 if mine else now.since),
        Line(section="blockers", at=_when(now.said, now.since), facts=facts, texts=texts),
    )


def _sync(view: View, window: Window) -> Line:
    facts = {"slot": window.slot, "status": window.state(view.now), "age": _age(view, window.opens)}
    return Line(section="sync", at=window.opens, facts=facts, left=window.turns(view.now) - view.now)


def _key(view: View, key: Grant) -> Ranked:
    """That it ends soon, from when its agent is told: it can write no more then, and only people can renew it."""
    at = warned_at(key, now=view.now)
    if not at:
        return
    left = key.expires - view.now
    facts = {"key": key.id, "ends_in": span_short(left), "age": _age(view, at)}
    yield (4 if left <= DAY else 10, key.expires), Line(section="key", at=at, facts=facts)


def _mail(view: View, note: Document) -> Ranked:
    if not isinstance(note, MailNote) or note.gone or note.posted not in view.entries:
        return
    facts = {"note": note.id, "by": note.by, "age": _age(view, note.made)}
    left = note.expires - view.now
    texts = {"label": view.said(note.posted)}
    yield (
        (7, note.expires),
        Line(section="mailbox", at=_when(note.posted, note.made), facts=facts, texts=texts, left=left),
    )


def _job(view: View, job: Document) -> Ranked:
    if not isinstance(job, Job) or job.assignee != view.me or job.stage == "done":
        return
    facts = {"job": job.name, "stage": job.shown_stage, "age": _age(view, job.at)}
    texts = {"title": view.said(job.opened)} if job.opened else {}
    at = max(_when(entry, job.at) for entry in (job.opened, job.staged))
    yield (11, job.created), Line(section="jobs", at=at, facts=facts, texts=texts)


_SAYS = {Ask: _ask, Item: _item, Huddle: _huddle, Fact: _fact, Now: _blocked, MailNote: _mail, Job: _job}
