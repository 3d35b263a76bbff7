"""Entries that agents and people write themselves."""

from typing import Any

from ..domain.ask import Ask, answered_back
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import ABSENT, check_note_kind, check_summary
from ..domain.errors import Refused
from ..domain.ids import shape
from ..engine.reads import Doc
from .arguments import Names, Payload
from .call import Call
from .canonical import check_payload
from .places import missing, resolve

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
) -> Commit:
    """Write one line to the Log of a channel, job or agent as you work.

    kind: memo, progress, stuck, fix, problem, question, answer, synthesis or fact. To reply to a
    person's question on your ask: kind answer, answers = its trail.
    """
    check_note_kind(kind)
    check_summary(summary)
    if payload is not ABSENT:
        check_payload(payload)
    labels = tuple(dict.fromkeys(tags or ()))
    _check_labels(trail=trail, origin=origin, answers=answers, **{f"tags[{n}]": t for n, t in enumerate(labels)})
    if len(why) > WHY_LIMIT:
        raise Refused("too_long", f"why may have {WHY_LIMIT} characters. Nothing was written.", argument="why")
    place = await resolve(call, where)
    answered, trail = await _answered(call, kind=kind, answers=answers, trail=trail)
    entry = call.entry(
        place.name,
        kind,
        summary,
        payload=payload,
        trail=trail,
        origin=origin,
        answers=answers,
        why=why,
        tags=labels,
    )
    result: dict[str, Any] = {"entry": Quote(0), **place.said}
    return Commit(result=result, puts=(*place.puts, *answered), entries=(entry,))


async def _answered(call: Call, *, kind: str, answers: str, trail: str) -> tuple[tuple[Put, ...], str]:
    """What an answer settles: the open question on the caller's own ask."""
    if shape(answers) != "ask":
        return (), trail
    ask = await call.read(Doc(Ask, answers))
    if ask is None:
        raise await missing(call, answers)
    if kind == "answer" and ask.by != call.me:
        raise Refused(
            "not_yours",
            f"{ask.by} was asked this, not {call.me}. Nothing was written. Leave answers out to say it as a note.",
            by=ask.by,
        )
    new = answered_back(ask, by=call.me) if kind == "answer" else None
    return ((put(new),) if new else ()), trail or answers


def _check_labels(**labels: str) -> None:
    for name, value in labels.items():
        if len(value) > LABEL_LIMIT or any(ord(c) < 32 for c in value):
            raise Refused(
                "invalid_argument",
                f"{name} is a label: one line of up to {LABEL_LIMIT} characters. Nothing was written.",
                argument=name.partition("[")[0],
            )
