"""Places: where an entry goes. A channel or job is made by its first write, and the result says so."""

from dataclasses import dataclass, field
from typing import Any

from ..domain.commit import Put, put
from ..domain.errors import Refused
from ..domain.ids import near, parse_place
from ..domain.job import Job
from ..domain.slot import Who
from ..domain.space import Channel
from ..engine.reads import Doc, Range
from .call import Call

NEAR_LIMIT = 500  # names that a typo is compared with


@dataclass(frozen=True, slots=True)
class Place:
    """A resolved place: its name, the documents that its first write makes, and what the result says of that."""

    name: str
    puts: tuple[Put, ...] = ()
    said: dict[str, Any] = field(default_factory=dict)


async def resolve(call: Call, where: str, *, default: str = "channel") -> Place:
    """The place that `where` means. Refuses malformed_id, not_found (an agent or human that is not here)."""
    name = parse_place(where, default=default)
    kind, _, id = name.partition(":")
    if kind in ("agent", "human"):
        if await call.look(Doc(Who, name)) is None:
            raise await unknown(call, name, "not_found")
        return Place(name)
    made: type[Channel] | type[Job] = Channel if kind == "channel" else Job
    if await call.look(Doc(made, id)) is not None:
        return Place(name)
    page = await call.look(Range("places", kind, NEAR_LIMIT))
    close = [f"{kind}:{n}" for n in near(id, [m for _, m in page.members])]
    said: dict[str, Any] = {"created": True, **({"near": close} if close else {})}
    return Place(name, (put(made(id=id, by=call.me, created=call.now)),), said)


async def unknown(call: Call, name: str, code: str) -> Refused:
    """The refusal for a principal that is not in the space, with near matches."""
    page = await call.look(Range("roster", "", NEAR_LIMIT))
    names = page.ids(Who)
    id = name.partition(":")[2]
    close = [n for n in names if n.partition(":")[2] in near(id, [m.partition(":")[2] for m in names])]
    hint = f"Did you mean {', '.join(close)}?" if close else f"Here are {', '.join(names[:8]) or 'none'}."
    return Refused(code, f"{name} is not in {call.caller.space}. Nothing was written. {hint}", near=close)
