"""Entries that agents and people write themselves."""

from typing import Any

from ..domain.ask import Ask, answered_back
from ..domain.commit import Commit, Quote, put
from ..domain.entry import ABSENT, check_note_kind, check_summary
from ..domain.errors import Refused
from ..domain.ids import Shape, shape
from ..domain.item import Item
from ..engine.reads import Doc
from .arguments import Length, Names, Payload
from .beside import NOTHING, Beside
from .call import Call
from .canonical import check_payload
from .facts import made
from .huddles import answered, closed
from .places import missing, resolve

THREADED = ("question", "answer")
CARDED = {Shape.ASK: Ask.kind, Shape.ITEM: Item.kind}
LABEL_LIMIT, WHY_LIMIT = 120, 1000  # characters: of a tag, trail or origin; of why


async def note(
    call: Call,
    *,
    where: str,
    kind: str,
    summary: str,
    trail: str = "",
    origin: str = "",
    answers: str = "",
    payload: Payload = ABSENT,
    why: str = "",
    tags: Names | None = None,
    review_by: Length = "",
    supersedes: str = "",
) -> Commit:
    """Log a line as you go: what you did, found, learned; a record that stays.

    kind: memo, progress, stuck, fix, problem, question, answer, synthesis, or fact to remember (reviewed after 90
    days unless review_by says; supersedes: the fact it replaces). answers: the seat (ci_…) or the question on your
    ask that this is the answer to, or the huddle (hd_…) that your synthesis closes.
    """
    check_note_kind(kind)
    check_summary(summary)
    if payload is not ABSENT:
        check_payload(payload)
    labels = tuple(dict.fromkeys(tags or ()))
    _check_labels(trail=trail, origin=origin, answers=answers, **{f"tags[{n}]": t for n, t in enumerate(labels)})
    if len(why) > WHY_LIMIT:
        raise Refused("too_long", f"why may have {WHY_LIMIT} characters. Nothing was written.", argument="why")
    answer = await _answers(call, answers, where=where, kind=kind, trail=trail)
    place = await resolve(call, answer.fields.get("where", where))
    grounds = (origin, trail, answers)
    fact = await made(call, where=place.name, kind=kind, review_by=review_by, supersedes=supersedes, about=grounds)
    fields: dict[str, Any] = {"trail": trail, **answer.fields, **fact.fields, "where": place.name}
    entry = call.entry(
        kind=kind,
        summary=summary,
        payload=payload,
        origin=origin,
        answers=answers,
        why=why,
        tags=labels,
        **fields,
    )
    return Commit(
        result={"entry": Quote(0), **answer.said, **fact.said, **place.said},
        puts=(*place.puts, *answer.puts, *fact.puts),
        entries=(entry,),
        not_after=answer.not_after,
        cards=_cards(kind, trail=entry.trail),
    )


def _cards(kind: str, *, trail: str) -> tuple[str, ...]:
    """The card that shows what was asked on its trail, and what was answered."""
    whose = CARDED.get(form) if kind in THREADED and (form := shape(trail)) else None
    return (f"{whose}:{trail}",) if whose else ()


async def _answers(call: Call, id: str, *, where: str, kind: str, trail: str) -> Beside:
    """What the note settles: a person's question on an ask, a seat, a huddle; nothing if `id` is a label."""
    match shape(id):
        case Shape.ASK:
            return await _replied(call, id, kind=kind, trail=trail)
        case Shape.ITEM:
            return await answered(call, id, where=where, kind=kind, trail=trail)
        case Shape.HUDDLE:
            return await closed(call, id, where=where, kind=kind, trail=trail)
    return NOTHING


async def _replied(call: Call, id: str, *, kind: str, trail: str) -> Beside:
    """An answer settles the open question on the caller's own ask."""
    ask = await call.read(Doc(Ask, id))
    if ask is None:
        raise await missing(call, id)
    if kind == "answer" and ask.by != call.me:
        raise Refused(
            "not_yours",
            f"{ask.by} was asked this, not {call.me}. Nothing was written. Leave answers out to say it as a note.",
            by=ask.by,
        )
    new = answered_back(ask, by=call.me) if kind == "answer" else None
    return Beside((put(new),) if new else (), fields={"trail": trail or id})


def _check_labels(**labels: str) -> None:
    for name, value in labels.items():
        if len(value) > LABEL_LIMIT or any(ord(c) < 32 for c in value):
            raise Refused(
                "invalid_argument",
                f"{name} is a label: one line of up to {LABEL_LIMIT} characters. Nothing was written.",
                argument=name.partition("[")[0],
            )
