"""Items: what one principal hands to another, its states and its rules.

The summary stands in the ledger, in the item's `handoff` entry; the reason in the entry that settled it. A seat is an
item too: a huddle's question to one of those whom it asks, answered by a note.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import PLACEHOLDER, Logged
from .errors import Refused
from .moments import DAY, MINUTE, age, iso, since
from .person import ROLES
from .text import one_line
from .via import surface

DEADLINE = (5 * MINUTE, 30 * DAY)  # bounds of an item's deadline, from now
DEADLINE_USUAL = DAY
REASON_SHOWN = 200  # characters of a reason in a refusal
PEOPLE = tuple(f"role:{role}" for role in ROLES)  # roles that no agent fills

STEPS = {  # the only place where an item's state may change
    ("open", "accept"): "accepted",
    ("open", "answer"): "answered",
    ("open", "decline"): "declined",
    ("open", "withdraw"): "withdrawn",
    ("open", "expire"): "expired",
    ("expired", "withdraw"): "expired",  # its sender puts the dead letter away
    ("expired", "requeue"): "expired",
}


@dataclass(frozen=True, kw_only=True)
class Item(Document):
    """`to` is `agent:x`, `human:x` or `role:<slug>`; times in ms. `id` is its trail too.

    An expired item is a dead letter until its sender has requeued or withdrawn it (`closed`); a seat is none, since
    the closer of its `huddle` is told, and goes on without it.
    """

    kind = "item"
    sender: str
    to: str
    where: str
    made: int
    deadline: int
    state: str = "open"
    settled: int = 0
    settled_by: str = ""
    via: str = ""
    closed: int = 0
    told: int = 0  # that it was declined was surfaced to its sender
    requeued_as: str = ""
    requeued_from: str = ""
    huddle: str = ""  # of a seat
    urgent: bool = False
    context: tuple[str, ...] = ()  # ids of the entries of facts that went along
    unshown: tuple[str, ...] = ()  # people whose phones its card cannot be shown on
    unsearched: bool = False  # the index could not say in time which; they are looked for when the item is viewed
    sent: str = entry_id()
    ended: str = entry_id()

    @property
    def thread(self) -> str:
        """The trail on which its entries stand."""
        return self.huddle or self.id

    @property
    def carded(self) -> bool:
        """What is for people: by name, or by a role that only people have."""
        return self.to.startswith("human:") or self.to in PEOPLE

    def indexes(self) -> Iterator[Index]:
        if self.state == "open":
            yield Index("open", self.to, self.deadline)
            yield Index("holds", self.where, self.deadline)
            yield Index("due", "", self.deadline)
        if self.huddle:
            return
        if self.state == "open":
            yield Index("sent", self.sender, self.deadline)
        elif self.state == "expired" and not self.closed:
            yield Index("dead", self.sender, self.deadline)
            yield Index("missed", self.to, self.deadline)
        elif self.state == "declined" and not self.told:
            yield Index("declined", self.sender, self.settled)

    def as_of(self, now: int) -> "Item":
        if self.state == "open" and now > self.deadline:
            return step(self, "expire", at=self.deadline)
        return self


@dataclass(frozen=True, kw_only=True)
class Mark(Document):
    """That an item was surfaced: first when (ms), to whom, and in which of their shifts. `id` is the item's.

    It stands beside the item, so that showing one never gets in the way of settling it.
    """

    kind = "mark"
    at: int
    by: str
    shift: int = 0


def step(item: Item, event: str, *, at: int, by: str = "", via: str = "") -> Item:
    """The item one step on. Raises KeyError for a step that is not in the table."""
    state = STEPS[item.state, event]
    if item.state == "expired":
        return replace(item, closed=at)
    return replace(item, state=state, settled=at, settled_by=by, via=via)


def addressed(item: Item, *, by: str, roles: Iterable[str]) -> bool:
    """Whether the item is for this principal, by name or by a role that they have now.

    Never for its sender, unless it is their own seat.
    """
    return (by != item.sender or bool(item.huddle)) and item.to in (by, *(f"role:{r}" for r in roles))


def settle(
    item: Item, event: str, *, by: str, roles: Iterable[str], via: str, now: int, ended: Logged | None = None
) -> Item:
    """`accept`, `decline` or `answer` an item, once, by its recipient. Refuses not_yours, expired, already_settled.

    `ended` is the entry that settled it before, for telling why. A seat is not accepted: invalid_argument.
    """
    item = item.as_of(now)
    if by == item.sender and not addressed(item, by=by, roles=roles):
        raise Refused(
            "not_yours",
            f"{item.id} is for {item.to}; you sent it. Nothing changed. "
            f'Take it back: logmem_handoff {{withdraw: "{item.id}"}}',
            to=item.to,
        )
    if not addressed(item, by=by, roles=roles):
        having = f"has no {item.to} now" if item.to.startswith("role:") else "is somebody else"
        raise Refused("not_yours", f"{item.id} is for {item.to}; {by} {having}. Nothing changed.", to=item.to)
    if item.state == "expired":
        again = f' {item.sender} can requeue it: logmem_handoff {{requeue: "{item.id}"}}' if not item.closed else ""
        then = _too_late(item) if item.huddle else again
        raise Refused("expired", f"{told(item, now=now)} Nothing changed.{then}", **outcome(item))
    _check_unsettled(item, now=now, ended=ended)
    if event == "accept" and item.huddle:
        raise Refused(
            "invalid_argument",
            f"{item.id} is a seat of {item.huddle}: it is answered, not accepted. Nothing changed. "
            f"Answer it: logmem_note {_spelled(answer_call(item))}",
            argument="item",
            huddle=item.huddle,
        )
    return step(item, event, at=now, by=by, via=via)


def answer(seat: Item, *, by: str, via: str, now: int, ended: Logged | None = None) -> Item:
    """Answer a seat, once, by its holder. Refuses not_yours, expired, already_settled; invalid_argument: no seat."""
    if not seat.huddle:
        raise Refused(
            "invalid_argument",
            f"{seat.id} is a handoff, and a note does not settle it. Nothing was written. Take it over: "
            f'logmem_accept {{item: "{seat.id}"}}. To say something about it: trail: "{seat.id}" in place of answers',
            argument="answers",
        )
    return settle(seat, "answer", by=by, roles=(), via=via, now=now, ended=ended)


def answered_by(item: Item, *, now: int, ended: Logged | None = None) -> str:
    """What somebody who replies to it says: the `answer` of a seat, or a `question` about a handoff.

    Refuses expired, already_settled: nobody waits for it any more. About work that was accepted one may ask on.
    """
    live = item.as_of(now)
    if item.huddle:
        return "answer"
    if live.state not in ("open", "accepted"):
        code = "expired" if live.state == "expired" else "already_settled"
        raise Refused(code, f"{told(live, now=now, ended=ended)} Nothing changed.", **outcome(live, ended=ended))
    return "question"


def answer_call(seat: Item) -> dict[str, Any]:
    """The arguments of the note that answers a seat."""
    return {"where": seat.where, "kind": "answer", "answers": seat.id, "summary": PLACEHOLDER}


def _too_late(item: Item) -> str:
    """What is left to do about a seat whose time is over."""
    said = f'{{where: "{item.where}", kind: "memo", trail: "{item.huddle}", summary}}'
    return f" What is still to be said goes beside it: logmem_note {said}"


def _spelled(args: Mapping[str, str]) -> str:
    """Arguments as refusals spell them, a text to write left out."""
    parts = (name if value == PLACEHOLDER else f'{name}: "{value}"' for name, value in args.items())
    return f"{{{', '.join(parts)}}}"


def withdraw(item: Item, *, by: str, via: str, now: int, ended: Logged | None = None) -> Item:
    """Take an open item back, or put a dead letter away. Refuses not_yours, already_settled; a late seat: expired."""
    item = item.as_of(now)
    _check_sender(item, by=by, what="withdraw")
    if item.state == "expired" and item.huddle:
        raise Refused("expired", f"{told(item, now=now)} Nothing changed.{_too_late(item)}", **outcome(item))
    _check_unsettled(item, now=now, ended=ended)
    return step(item, "withdraw", at=now, by=by, via=via)


def requeue(item: Item, *, by: str, new: str, now: int, ended: Logged | None = None) -> Item:
    """The dead letter, closed by the item with the id `new`. Refuses not_yours, invalid_argument, already_settled."""
    item = item.as_of(now)
    _check_sender(item, by=by, what="requeue")
    if item.huddle:
        raise Refused(
            "invalid_argument",
            f"{item.id} is a seat of {item.huddle} and no handoff, so it is not sent again. Nothing changed. "
            f'Ask anew: logmem_huddle {{where: "{item.where}", question, seats: ["{item.to}"]}}',
            argument="requeue",
            huddle=item.huddle,
        )
    if item.state == "open":
        raise Refused(
            "invalid_argument",
            f"{item.id} is open until {iso(item.deadline)}; only an expired one is requeued. Nothing changed.",
            argument="requeue",
        )
    _check_unsettled(item, now=now, ended=ended)
    return replace(step(item, "requeue", at=now, by=by), requeued_as=new)


def _check_sender(item: Item, *, by: str, what: str) -> None:
    if by == item.sender:
        return
    raise Refused(
        "not_yours",
        f"Only {item.sender}, who sent {item.id}, can {what} it; you are {by}. Nothing changed.",
        sender=item.sender,
    )


def _check_unsettled(item: Item, *, now: int, ended: Logged | None) -> None:
    if item.state == "open" or (item.state == "expired" and not item.closed):
        return
    raise Refused(
        "already_settled", f"{told(item, now=now, ended=ended)} Nothing changed.", **outcome(item, ended=ended)
    )


def outcome(item: Item, *, ended: Logged | None = None) -> dict[str, Any]:
    """The facts of how an item stands or ended, for programs; the reason from the entry that settled it."""
    facts = {
        "item": item.id,
        "status": item.state,
        "by": item.settled_by,
        "via": item.via,
        "where": item.where,
        "at": iso(item.settled) if item.settled else "",
        "reason": ended.summary if ended and item.state == "declined" else "",
        "closed_at": iso(item.closed) if item.closed else "",
        "requeued_as": item.requeued_as,
        "requeued_from": item.requeued_from,
        "huddle": item.huddle,
        "entry": item.ended if item.huddle else "",
    }
    return {k: v for k, v in facts.items() if v}


def told(item: Item, *, now: int, ended: Logged | None = None) -> str:
    """How an item stands, in a sentence; `ended` is the entry that settled it."""
    when, after = since(now - item.settled), since(now - item.closed)
    match item.state:
        case "open":
            return f"{item.id} is open; {item.to} has until {iso(item.deadline)}."
        case "withdrawn":
            return f"{item.settled_by} withdrew {item.id} {when}."
        case "expired":
            passed = f"The deadline of {item.id} passed {when} and nobody had settled it"
            if item.requeued_as:
                return f"{passed}; {item.sender} requeued it as {item.requeued_as} {after}."
            return f"{passed}; {item.sender} put it away {after}." if item.closed else f"{passed}."
    client = ended.entry.client if ended and ended.entry else ""
    place = surface(item.via) or (f" via {one_line(client, 40)}" if client else "")
    reason = f": {one_line(ended.summary, REASON_SHOWN)}" if ended and item.state == "declined" else ""
    return f"{item.settled_by} {item.state} {item.id} {when}{place}{reason}."


def standing(item: Item, mark: Mark | None, now: int, *, me: str = "", ended: Logged | None = None) -> dict[str, Any]:
    """How an item stands at `now` for who looks at it (`me`), and what to call next.

    Its sender sees queued, then surfaced (to whom, when, in which shift), then how it ended; why stands in `ended`.
    """
    item = item.as_of(now)
    shown = {"from": item.sender, "to": item.to, "made": iso(item.made), "deadline": iso(item.deadline)}
    seen: dict[str, Any] = {}
    if mark:
        seen = {"surfaced": {"to": mark.by, "at": iso(mark.at), "age": age(now - mark.at), "shift": mark.shift}}
    says = told(item, now=now, ended=ended)
    if item.state == "open":
        seen["delivery"] = "surfaced" if mark else "queued"
        shift = f" in shift {mark.shift}" if mark and mark.shift else ""
        saw = (
            f"{mark.by} was shown it {since(now - mark.at)}{shift}" if mark else f"{item.to} has not been shown it yet"
        )
        says = f"{says[:-1]}; {saw}."
    return {"trail": item.id, **outcome(item, ended=ended), **shown, **seen, "says": says, **_next(item, me=me)}


def _next(item: Item, *, me: str) -> dict[str, Any]:
    follow = {"tool": "logmem_follow", "args": {"what": item.thread}}
    if item.huddle:
        answering = {"tool": "logmem_note", "args": answer_call(item)}
        return {"next": answering if me == item.to else follow} if item.state == "open" else {}
    if item.state == "open":
        # A role's item may be anybody's; who lacks the role is told so when they accept.
        for_me = me == item.to or (item.to.startswith("role:") and me not in ("", item.sender))
        return {"next": {"tool": "logmem_accept", "args": {"item": item.id}} if for_me else follow}
    if item.state == "expired" and not item.closed and me in ("", item.sender):
        return {"next": {"tool": "logmem_handoff", "args": {"requeue": item.id}}}
    return {}
