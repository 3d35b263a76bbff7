"""Places: where an entry goes, and what is said when something is not where it was looked for.

A channel or job is made by its first write, and the result says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..domain.commit import Put, put
from ..domain.document import Document
from ..domain.errors import Refused
from ..domain.ids import PLACES, SOMEBODY, Shape, near, parse_place, shape
from ..domain.job import Job, check_not_done
from ..domain.slot import Who
from ..domain.space import Channel
from ..domain.text import quoted
from ..engine.reads import Doc, Head, Range
from .call import Call

NEAR_LIMIT = 500  # names that a typo is compared with
_PLACES_HERE = (("places", "channel"), ("places", "job"), ("roster", ""))  # indexes of all the places of a space


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
    if ":" not in where and not obliges:
        return await _named(call, name)
    found = await (call.read if obliges else call.look)(at(name))
    if obliges and isinstance(found, Job):
        check_not_done(found)
    return await placed(call, name, found)


async def _named(call: Call, name: str) -> Place:
    """The place that a bare id means: the usual one, or where that is not there the only one of that id."""
    id = name.partition(":")[2]
    names = [name, *(other for kind in PLACES if (other := f"{kind}:{id}") != name)]
    usual, *others = await call.look_each(at(each) for each in names)
    here = [(each, found) for each, found in zip(names[1:], others, strict=True) if found]
    if usual is not None or len(here) != 1:
        return await placed(call, name, usual)
    ((other, found),) = here
    says = f"{other} is what has the id {quoted(id)} here; for another place say its kind too, like {name}."
    return Place(other, said={"says": says}, found=found)


def at(name: str) -> Doc[Who] | Doc[Channel] | Doc[Job]:
    """The read that says whether a place is there, for those who read more with it."""
    kind, _, id = name.partition(":")
    if kind in SOMEBODY:
        return Doc(Who, name)
    return Doc(Channel, id) if kind == "channel" else Doc(Job, id)


async def placed(call: Call, name: str, found: Document | None) -> Place:
    """The place with this name, of which `at` read `found`. Refuses not_found."""
    if found is not None:
        return Place(name, found=found)
    kind, _, id = name.partition(":")
    if kind in SOMEBODY:
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
    return Refused(
        "not_found",
        f"There is no {quoted(what)} in {space}. It was searched by that id; you may read {readable} entries there. "
        "Nothing changed.",
        searched=space,
        readable=readable,
    )


async def unknown(call: Call, name: str, code: str) -> Refused:
    """The refusal for a principal that is not in the space, with near matches."""
    close, hint = closest(name, (await call.look(Range("roster", "", NEAR_LIMIT))).ids(Who))
    return Refused(code, f"{name} is not in {call.caller.space}. Nothing was written. {hint}", near=close)


async def unclear(call: Call, what: str, no: Refused) -> Refused:
    """The refusal for what is no id: the one that names the places which a bare id may have been meant for, or `no`."""
    names = [f"{kind}:{what}" for kind in PLACES]
    if any(shape(name) is not Shape.PLACE for name in names):
        return no
    found = await call.look_each(at(name) for name in names)
    close = [name for name, there in zip(names, found, strict=True) if there]
    if not close:
        channels, jobs, roster = await call.look_each(Range(*index, NEAR_LIMIT) for index in _PLACES_HERE)
        here = [*(f"channel:{id}" for id in channels.ids(Channel)), *(f"job:{id}" for id in jobs.ids(Job))]
        close, _ = closest(what, [*here, *roster.ids(Who)])
    if not close:
        return no
    return Refused(
        "malformed_id",
        f"what is {quoted(what)}, and a bare id says not of what. Did you mean {', '.join(close)}? "
        f'logmem_view {{what: "{close[0]}"}}',
        argument="what",
        near=close,
    )


def closest(name: str, names: Sequence[str]) -> tuple[list[str], str]:
    """Those of `names` that may have been meant, nearest first; and a sentence with them, or with some of all."""
    # Compared without their prefixes, which would make any two of a kind alike.
    spelled: dict[str, list[str]] = {}
    for each in names:
        spelled.setdefault(each.rpartition(":")[2], []).append(each)
    close = [each for id in near(name.rpartition(":")[2], spelled) for each in spelled[id]]
    return close, f"Did you mean {', '.join(close)}?" if close else f"Here are {', '.join(names[:8]) or 'none'}."
