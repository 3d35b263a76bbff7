"""Huddles: opened with their seats at once; answered and closed by notes."""

import secrets
from collections.abc import Sequence

from ..domain import huddle as rules
from ..domain import item as items
from ..domain.commit import Commit, put
from ..domain.entry import check_summary
from ..domain.errors import Refused
from ..domain.huddle import Huddle
from ..domain.ids import new_huddle, new_item, parse_place
from ..domain.item import Item
from ..domain.moments import iso, until
from ..engine.reads import Doc
from .arguments import Length, Names
from .beside import Beside
from .call import Call
from .places import at, missing, resolve
from .recipients import evidence, keyless, principals


async def huddle(
    call: Call,
    *,
    where: str,
    question: str,
    seats: Names,
    closer: str = "",
    deadline: Length = "",
    urgent: bool = False,
) -> Commit:
    """Convene a huddle on a job: put one question to several agents or people (seats).

    Get their opinions, each once, within 24 h unless deadline says else. The closer (you, unless said) sums up with
    logmem_note {kind: synthesis, answers: huddle}. Returns the huddle and a seat each.
    """
    check_summary(question, name="question")
    # A bare id is a job's here, and no other place has huddles.
    name = parse_place(where, ("job",), default="job")
    sums = [closer] if closer else []
    await call.ahead([at(name), *evidence(seats, name="seats"), *evidence(sums, name="closer")])
    holders = await _holders(call, seats)
    (sums_up,) = await principals(call, sums, name="closer") or [call.me]
    place = await resolve(call, name, obliges=True)
    end = until(deadline, now=call.now, bounds=items.DEADLINE, usual=items.DEADLINE_USUAL, name="deadline")
    id = new_huddle(secrets.token_bytes(7))
    asked = [
        Item(
            id=new_item(secrets.token_bytes(7)),
            sender=call.me,
            to=holder,
            where=name,
            made=call.now,
            deadline=end,
            huddle=id,
            urgent=urgent,
        )
        for holder in holders
    ]
    new = Huddle(
        id=id,
        by=call.me,
        where=name,
        closer=sums_up,
        seats=tuple(seat.id for seat in asked),
        made=call.now,
        deadline=end,
        urgent=urgent,
    )
    flag = {"urgent": True} if urgent else {}
    says = {"seats": {seat.to: seat.id for seat in asked}, "closer": sums_up, "deadline": iso(end), **flag}
    return Commit(
        result={
            "huddle": id,
            "status": new.state,
            "where": name,
            "closer": sums_up,
            "deadline": iso(end),
            **flag,
            "seats": [{"item": seat.id, "to": seat.to} for seat in asked],
            **place.said,
            **await keyless(call, [*holders, sums_up]),
            "next": {"tool": "logmem_follow", "args": {"what": id}},
        },
        puts=(*place.puts, put(new, asked=0), *(put(seat, sent=0) for seat in asked)),
        entries=(call.entry(name, "huddle", question, trail=id, payload=says),),
    )


async def _holders(call: Call, seats: Sequence[str]) -> list[str]:
    """Who holds the seats. Refuses invalid_argument (nobody, or somebody twice), malformed_id, unknown_recipient."""
    holders = await principals(call, seats, name="seats")
    twice = next((holder for holder in holders if holders.count(holder) > 1), "")
    if twice or not holders:
        wrong = f"{twice} is there twice" if twice else "nobody is there"
        raise Refused(
            "invalid_argument",
            f"seats are those who answer, each once, and {wrong}. Nothing was written.",
            argument="seats",
        )
    return holders


async def answered(call: Call, id: str, *, where: str, kind: str, trail: str) -> Beside:
    """What a note does that answers the seat `id`. Refuses not_found, invalid_argument, and what the rules refuse."""
    old = await call.read(Doc(Item, id))
    if old is None:
        raise await missing(call, id)
    said = (await call.recall([old.ended])).get(old.ended)
    new = items.answer(old, by=call.me, via=call.caller.via, now=call.now, ended=said)
    if kind in ("question", "synthesis"):
        use = {
            "question": f'ask it beside it: kind: "question", trail: "{old.huddle}"',
            "synthesis": f'one closes the huddle: kind: "synthesis", answers: "{old.huddle}"',
        }
        raise Refused(
            "invalid_argument",
            f"{id} is answered once, and a {kind} is no answer; {use[kind]}. Nothing was written.",
            argument="kind",
        )
    _check_stands(old.where, old.huddle, id, where=where, trail=trail)
    result = {"item": id, "status": new.state, "huddle": old.huddle}
    return Beside((put(new, ended=0),), result, {"where": old.where, "trail": old.huddle}, not_after=old.deadline)


async def closed(call: Call, id: str, *, where: str, kind: str, trail: str) -> Beside:
    """What a synthesis does that closes the huddle `id`. Refuses not_found, invalid_argument, and what the rules do."""
    old = await call.read(Doc(Huddle, id))
    if old is None:
        raise await missing(call, id)
    # All that a seat of it could still become is decided against this.
    seats = [seat for seat in await call.read_each(Doc(Item, seat) for seat in old.seats) if seat]
    if kind != "synthesis":
        raise _no_synthesis(call, old, seats)
    new = rules.close(old, seats, by=call.me, via=call.caller.via, now=call.now)
    _check_stands(old.where, id, id, where=where, trail=trail)
    expired = [put(live) for seat in seats if (live := seat.as_of(call.now)) != seat]
    result = {"huddle": id, "status": new.state}
    return Beside((put(new, synthesis=0), *expired), result, {"where": old.where, "trail": id})


def _no_synthesis(call: Call, huddle: Huddle, seats: Sequence[Item]) -> Refused:
    """The refusal for another note that answers a huddle, naming the caller's own seat, or the trail."""
    mine = next((seat for seat in rules.waiting(seats, now=call.now) if seat.to == call.me), None)
    said = f'answers: "{mine.id}"' if mine else f'trail: "{huddle.id}"'
    why = "Yours is answered so" if mine else "To say something in it"
    return Refused(
        "invalid_argument",
        f"A note answers a seat of {huddle.id}, and only a synthesis answers the whole. Nothing was written. "
        f'{why}: logmem_note {{where: "{huddle.where}", kind, summary, {said}}}',
        argument="answers",
        **({"item": mine.id} if mine else {}),
    )


def _check_stands(place: str, huddle: str, id: str, *, where: str, trail: str) -> None:
    """Refuse a note that would stand elsewhere than what it answers. Refuses invalid_argument, malformed_id."""
    if parse_place(where, default="job") != place:
        raise Refused(
            "invalid_argument",
            f'{id} is a matter of {place}, so what answers it stands there: where: "{place}". Nothing was written.',
            argument="where",
            where=place,
        )
    if trail not in ("", id, huddle):
        raise Refused(
            "invalid_argument",
            f"What answers {id} stands on the trail of {huddle}; leave trail out. Nothing was written.",
            argument="trail",
        )
