"""Approvers: who may decide an ask now, and how each can be reached."""

from dataclasses import dataclass
from typing import Any

from ..domain.ask import Ask, eligible
from ..domain.person import Member
from ..engine.reads import Doc, Range
from .call import Call

APPROVERS_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Audience:
    """Who was asked, as the result of `ask` says it."""

    said: dict[str, Any]


async def approvers(call: Call) -> list[Member]:
    """The people who approve in this space now."""
    page = await call.look(Range("role", "approver", APPROVERS_LIMIT))
    found = await call.look_each(Doc(Member, id) for id in page.ids(Member))
    return [m for m in found if m]


async def four_eyes(call: Call) -> bool:
    """Whether high risk takes somebody else than the person responsible for the key that asked."""
    rule = call.space.four_eyes
    if rule != "auto":
        return rule == "on"
    return (await call.read(Range("role", "approver", 1))).size > 1


async def audience(call: Call, ask: Ask) -> Audience:
    """Those who may decide the ask now, each with the ways to reach them; a warning when nobody can."""
    strict = ask.risk == "high" and await four_eyes(call)
    people = [m for m in await approvers(call) if eligible(ask, by=m.id, roles=m.roles, four_eyes=strict)]
    pages = await call.look_each(Range("sessions", m.id, 1, low=call.now) for m in people)
    asked = [{"who": m.id, "reach": ["console"] if page.members else []} for m, page in zip(people, pages, strict=True)]
    said: dict[str, Any] = {"asked": asked}
    if not asked:
        said["warning"] = "no_eligible_approver"
    elif not any(a["reach"] for a in asked):
        said["warning"] = "no_approver_reachable"
    return Audience(said)
