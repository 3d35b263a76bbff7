"""Huddles: one question on a job, put to several at once, and closed by the synthesis of one of them.

Each seat is an item that its holder settles; the question stands in the huddle's `huddle` entry, the answers in notes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import PLACEHOLDER
from .errors import Refused
from .item import Item, answer_call
from .moments import iso, since
from .via import surface

NAMED = 4  # holders that a sentence names; the list of seats has them all


@dataclass(frozen=True, kw_only=True)
class Huddle(Document):
    """`seats` are the ids of its items, which share its deadline; times in ms. `id` is its trail too."""

    kind = "huddle"
    by: str
    where: str
    closer: str
    seats: tuple[str, ...]
    made: int
    deadline: int
    urgent: bool = False
    state: str = "open"
    closed: int = 0
    closed_by: str = ""
    via: str = ""  # by which it was closed
    asked: str = entry_id()
    synthesis: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if self.state == "open":
            yield Index("closes", self.closer, self.deadline)
            if self.by != self.closer:
                yield Index("convened", self.by, self.deadline)


def closers(huddle: Huddle, *, now: int) -> tuple[str, ...]:
    """Who closes it: its closer, and once the deadline has passed who convened it too, or it could stay open."""
    late = (huddle.by,) if now > huddle.deadline and huddle.by != huddle.closer else ()
    return huddle.closer, *late


def ready(huddle: Huddle, seats: Sequence[Item], *, now: int) -> bool:
    """Whether it can be closed: it is open and no seat is, since time ends those that nobody settled."""
    return huddle.state == "open" and not waiting(seats, now=now)


def waiting(seats: Sequence[Item], *, now: int) -> list[Item]:
    """The seats that can still be answered."""
    return [seat for seat in seats if seat.as_of(now).state == "open"]


def close(huddle: Huddle, seats: Sequence[Item], *, by: str, via: str, now: int) -> Huddle:
    """The huddle closed by a synthesis of its `closers`. Refuses not_yours, already_settled, open_obligations."""
    who = closers(huddle, now=now)
    if by not in who:
        later = f" You convened it, and can close it too after {iso(huddle.deadline)}." if by == huddle.by else ""
        raise Refused(
            "not_yours",
            f"{' or '.join(who)} closes {huddle.id}, and you are {by}.{later} Nothing was written. "
            f"To say something in it: "
            f'logmem_note {{where: "{huddle.where}", kind: "memo", trail: "{huddle.id}", summary}}',
            closer=huddle.closer,
        )
    if huddle.state != "open":
        raise Refused("already_settled", f"{told(huddle, seats, now=now)} Nothing was written.", **outcome(huddle))
    if still := waiting(seats, now=now):
        names = ", ".join(f"{seat.to} ({seat.id})" for seat in still)
        back = f' Take a seat back: logmem_handoff {{withdraw: "{still[0].id}"}}' if by == huddle.by else ""
        raise Refused(
            "open_obligations",
            f"{huddle.id} waits for {names} until {iso(huddle.deadline)}. Nothing was written. "
            f'Wait for them: logmem_follow {{what: "{huddle.id}"}}{back}',
            open=[{"item": seat.id, "to": seat.to} for seat in still],
            deadline=iso(huddle.deadline),
        )
    return replace(huddle, state="closed", closed=now, closed_by=by, via=via)


def outcome(huddle: Huddle) -> dict[str, Any]:
    """How a huddle stands or ended, for programs."""
    facts = {
        "huddle": huddle.id,
        "status": huddle.state,
        "by": _ended_by(huddle) if huddle.closed else "",
        "via": huddle.via,
        "where": huddle.where,
        "at": iso(huddle.closed) if huddle.closed else "",
        "synthesis": huddle.synthesis,
    }
    return {k: v for k, v in facts.items() if v}


def _ended_by(huddle: Huddle) -> str:
    return huddle.closed_by or huddle.closer


def told(huddle: Huddle, seats: Sequence[Item], *, now: int) -> str:
    """How a huddle stands, in a sentence."""
    if huddle.closed:
        return f"{_ended_by(huddle)} closed {huddle.id} {since(now - huddle.closed)}{surface(huddle.via)}."
    still = waiting(seats, now=now)
    if not still:
        who = " or ".join(closers(huddle, now=now))
        return f"All seats of {huddle.id} are settled or their time is over, and {who} can close it."
    settled = f"{len(seats) - len(still)} of {len(seats)} seats are settled"
    more = [f"{len(still) - NAMED} more"] if len(still) > NAMED else []
    who = f"{', '.join([seat.to for seat in still[:NAMED]] + more)} {'has' if len(still) == 1 else 'have'}"
    return f"{huddle.id} is open: {settled}, {who} until {iso(huddle.deadline)}."


def standing(huddle: Huddle, seats: Sequence[Item], now: int, *, me: str = "") -> dict[str, Any]:
    """How a huddle stands at `now` for who looks at it (`me`), and what to call next."""
    lines = [_seat(seat.as_of(now)) for seat in seats]
    return {
        **{k: v for k, v in outcome(huddle).items() if k not in ("huddle", "by")},
        **({"ready": True} if ready(huddle, seats, now=now) else {}),
        "from": huddle.by,
        "closer": huddle.closer,
        "made": iso(huddle.made),
        "deadline": iso(huddle.deadline),
        **({"urgent": True} if huddle.urgent else {}),
        "seats": lines,
        "says": told(huddle, seats, now=now),
        **_next(huddle, seats, now, me=me),
    }


def _seat(seat: Item) -> dict[str, Any]:
    """One seat in a list; `entry` is what its holder said."""
    said = {"entry": seat.ended} if seat.ended else {}
    return {"item": seat.id, "to": seat.to, "status": seat.state, **said}


def _next(huddle: Huddle, seats: Sequence[Item], now: int, *, me: str) -> dict[str, Any]:
    if huddle.state != "open":
        return {}
    mine = next((seat for seat in waiting(seats, now=now) if seat.to == me), None)
    if mine:
        return {"next": {"tool": "logmem_note", "args": answer_call(mine)}}
    if me in closers(huddle, now=now) and ready(huddle, seats, now=now):
        args = {"where": huddle.where, "kind": "synthesis", "answers": huddle.id, "summary": PLACEHOLDER}
        return {"next": {"tool": "logmem_note", "args": args}}
    return {"next": {"tool": "logmem_follow", "args": {"what": huddle.id}}}
