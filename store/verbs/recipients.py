"""Principals: whom a name means, who of them is here now, and whether they can do what a job needs."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..domain.errors import Refused
from ..domain.ids import SOMEBODY, meant
from ..domain.job import Job, lacking, skill_missing
from ..domain.person import Member
from ..domain.slot import Who, slug
from ..engine.reads import Doc, Page, Range, Read, Scored
from .call import Call
from .places import NEAR_LIMIT, closest

ABLE_SHOWN = 8  # agents named to whom that could go which somebody else cannot do


async def principals(
    call: Call, names: Iterable[str], kinds: Sequence[str] = SOMEBODY, *, name: str = "to", here: bool = True
) -> list[str]:
    """Whom these names mean, in their order and in one trip. A bare id is an agent's or a person's: whose it is.

    `kinds` are those that they may be, of agent, human, role and system; `name` is the argument. `here`: they are here
    now, and somebody else than the caller has the role (unknown_recipient); without it whoever ever was here will do
    (not_found). Refuses malformed_id too.
    """
    some = [_candidates(each, kinds, name=name) for each in names]
    reads = {each: _proof(each, here=here) for of_one in some for each in of_one if not each.startswith("system:")}
    if not some:
        return []  # without a trip
    # Remembered, so that whoever asks for one of them afterwards has it.
    await call.ahead(reads.values())
    found = dict(zip(reads, await call.read_each(reads.values()), strict=True))
    chosen = [next((each for each in of_one if each not in found or _stands(call, found[each])), "") for of_one in some]
    if "" in chosen:
        of_one = some[chosen.index("")]
        raise await _unknown(call, of_one, found[of_one[0]], here=here)
    return chosen


def evidence(
    names: Iterable[str], kinds: Sequence[str] = SOMEBODY, *, name: str = "to", here: bool = True
) -> list[Read[Any]]:
    """What `principals` reads for the same arguments, for those who read more with it. Refuses malformed_id."""
    wanted = [each for one in names for each in _candidates(one, kinds, name=name)]
    proofs = [_proof(each, here=here) for each in wanted if not each.startswith("system:")]
    return [*proofs, *(_last_key(each) for each in wanted if here and each.startswith("agent:"))]


async def keyless(call: Call, chosen: Iterable[str]) -> dict[str, Any]:
    """A warning that names the agents among these as which nobody can act now: no key of theirs is live."""
    agents = list(dict.fromkeys(each for each in chosen if each.startswith("agent:")))
    keys = await call.look_each(_last_key(each) for each in agents) if agents else []
    dead = [agent for agent, found in zip(agents, keys, strict=True) if not any(end > call.now for end, _ in found)]
    return {"warning": "no_live_key", "keyless": dead} if dead else {}


def _last_key(agent: str) -> Scored:
    """The key of an agent that ends last, of those that were not revoked."""
    return Scored(Range("live", agent, 1, latest=True))


def _candidates(text: str, kinds: Sequence[str], *, name: str) -> tuple[str, ...]:
    prefix, colon, rest = text.partition(":")
    return meant(f"role:{slug(rest)}" if colon and prefix == "role" else text, kinds, name=name)


def _proof(principal: str, *, here: bool) -> Read[Any]:
    """What shows that somebody is here: the profile of an agent, a person's role, or who has a role."""
    kind, _, id = principal.partition(":")
    if kind == "role":
        return Range("role", id, 2)
    return Doc(Member, principal) if kind == "human" and here else Doc(Who, principal)


def _stands(call: Call, found: Who | Member | Page | None) -> bool:
    match found:
        case Member():
            return bool(found.role)
        case Page():
            return any(id != call.me for _, id in found.members)
    return found is not None


async def _unknown(call: Call, names: Sequence[str], found: Who | Member | Page | None, *, here: bool) -> Refused:
    """The refusal for somebody who is not here, with those who were probably meant; `found` is what there was."""
    if isinstance(found, Page) and found.members:
        text = f"Nobody but you has {names[0]} in {call.caller.space} now. Nothing was written."
        return Refused("unknown_recipient", text, near=[])
    role = names[0].startswith("role:")
    roster = (await call.look(Range("roster", "", NEAR_LIMIT))).ids(Who)
    close, hint = closest(names[0], await _here(call, roster, roles=role) if here else roster)
    is_not = "Nobody has" if role else "There is no"
    return Refused(
        "unknown_recipient" if here else "not_found",
        f"{is_not} {' or '.join(names)} in {call.caller.space}{' now' if here else ''}. Nothing was written. {hint}",
        near=close,
    )


async def _here(call: Call, roster: Sequence[str], *, roles: bool) -> list[str]:
    """Who of these is here now, other than the caller; or the roles that they have."""
    others = [id for id in roster if id != call.me]
    reads: list[Read[Any]] = [_proof(id, here=True) for id in others]
    found: list[Who | Member | None] = await call.look_each(reads) if reads else []
    if roles:
        return sorted({f"role:{role}" for each in found if each for role in each.roles})
    return [id for id, each in zip(others, found, strict=True) if _stands(call, each)]


async def check_able(call: Call, job: Job, who: str) -> None:
    """Refuse to give the job to an agent that lacks skills which it needs. Refuses skill_missing."""
    if not (job.needs and who.startswith("agent:")):
        return
    agent = await call.read(Doc(Who, who))
    missing = lacking(job, agent.skills if agent else ())
    if missing:
        raise skill_missing(job, who, missing, able=await _able(call, job))


async def _able(call: Call, job: Job) -> list[str]:
    """Agents that have all the skills of the job, as far as they were looked at."""
    roster = await call.look(Range("roster", "", NEAR_LIMIT))
    agents = await call.look_each(Doc(Who, id) for id in roster.ids(Who) if id.startswith("agent:"))
    return [agent.id for agent in agents if agent and not lacking(job, agent.skills)][:ABLE_SHOWN]
