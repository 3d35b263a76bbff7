"""Places: where an entry goes, and what is said when something is not where it was looked for.

A channel or job is made by its first write, and the result says so.
"""

from dataclasses import dataclass, field
from typing import Any

from ..domain.commit import Put, put
from ..domain.document import Document
from ..domain.errors import Refused
from ..domain.ids import near, parse_place
from ..domain.job import Job, check_not_done
from ..domain.slot import Who
from ..domain.space import Channel
from ..domain.text import quoted
from ..engine.reads import Doc, Head, Range
from .call import Call

NEAR_LIMIT = 500  # names that a typo is compared with


@dataclass(frozen=True, slots=True)
class Place:
    """A resolved place: its name, the documents that its first write makes, and what the result says of that.

    `found` is what was there.
    """

    name: str
    puts: tuple[Put, ...] = ()
    said: dict[str, Any] = field(default_factory=dict)
    found: Document | None = None


async def resolve(call: Call, where: str, *, default: str = "channel", obliges: bool = False) -> Place:
    """The place that `where` means. Refuses malformed_id, not_found (an agent or human that is not here), job_done.

    `obliges`: something will have to be settled there, so a job must not be done, now or by the time of the commit.
    """
    name = parse_place(where, default=default)
    found = await (call.read if obliges else call.look)(at(name))
    if obliges and isinstance(found, Job):
        check_not_done(found)
    return await placed(call, name, found)


def at(name: str) -> Doc[Who] | Doc[Channel] | Doc[Job]:
    """The read that says whether a place is there, for those who read more with it."""
    kind, _, id = name.partition(":")
    if kind in ("agent", "human"):
        return Doc(Who, name)
    return Doc(Channel, id) if kind == "channel" else Doc(Job, id)


async def placed(call: Call, name: str, found: Document | None) -> Place:
    """The place with this name, of which `at` read `found`. Refuses not_found."""
    if found is not None:
        return Place(name, found=found)
    kind, _, id = name.partition(":")
    if kind in ("agent", "human"):
        raise await unknown(call, name, "not_found")
    made: type[Channel] | type[Job] = Channel if kind == "channel" else Job
    page = await call.look(Range("places", kind, NEAR_LIMIT))
    close = [f"{kind}:{n}" for n in near(id, [m for _, m in page.members])]
    said: dict[str, Any] = {"created": True, **({"near": close} if close else {})}
    return Place(name, (put(made(id=id, by=call.me, created=call.now)),), said)


async def missing(call: Call, what: str) -> Refused:
    """The refusal for a thing that is not there, saying what was searched and how much the caller may read there."""
    readable = await call.look(Head())
    space = call.caller.space
    changed = "" if call.pure else " Nothing changed."
    return Refused(
        "not_found",
        f"There is no {quoted(what)} in {space}. It was searched by that id; you may read {readable} entries there."
        f"{changed}",
        searched=space,
        readable=readable,
    )


async def unknown(call: Call, name: str, code: str) -> Refused:
    """The refusal for a principal that is not in the space, with near matches."""
    page = await call.look(Range("roster", "", NEAR_LIMIT))
    names = page.ids(Who)
    id = name.partition(":")[2]
    close = [n for n in names if n.partition(":")[2] in near(id, [m.partition(":")[2] for m in names])]
    hint = f"Did you mean {', '.join(close)}?" if close else f"Here are {', '.join(names[:8]) or 'none'}."
    return Refused(code, f"{name} is not in {call.caller.space}. Nothing was written. {hint}", near=close)
