"""Recipients: whom a name means, of those who are here now, and whether they can do what a job needs."""

from collections.abc import Sequence

from ..domain.errors import Refused
from ..domain.ids import near, principal
from ..domain.job import Job, lacking, skill_missing
from ..domain.person import Member
from ..domain.slot import Who, slug
from ..engine.reads import Doc, Range
from .call import Call
from .places import NEAR_LIMIT

ABLE_SHOWN = 8  # agents named to whom that could go which somebody else cannot do


async def recipient(call: Call, to: str, kinds: Sequence[str], *, name: str = "to") -> str:
    """Whom `to` means: somebody who is here now. Refuses malformed_id, unknown_recipient.

    `kinds` are those that it may be, of agent, human and role; a bare id is an agent's or a person's.
    """
    prefix, colon, rest = to.partition(":")
    spelled = f"role:{slug(rest)}" if colon and prefix == "role" else to
    said = principal(spelled, kinds, default="agent", name=name)
    kind, _, id = said.partition(":")
    if kind == "role":
        return await _role(call, said)
    agent = await call.look(Doc(Who, f"agent:{id}"))
    person = await call.read(Doc(Member, f"human:{id}"))
    # No agent and person share an id, so a bare one can only mean who is there.
    here = {"agent": agent is not None, "human": bool(person and person.role)}
    found = next((f"{k}:{id}" for k, there in here.items() if there and (k == kind or not colon)), "")
    if not found:
        raise await _unknown(call, [said] if colon else [f"{k}:{id}" for k in here])
    return found


async def _role(call: Call, role: str) -> str:
    """The role, if somebody other than the sender has it now. Refuses unknown_recipient."""
    holders = await call.read(Range("role", role.partition(":")[2], 2))
    if any(id != call.me for _, id in holders.members):
        return role
    if holders.members:
        raise Refused(
            "unknown_recipient",
            f"Nobody but you has {role} in {call.caller.space} now. Nothing was written.",
            near=[],
        )
    raise await _unknown(call, [role])


async def _unknown(call: Call, names: Sequence[str]) -> Refused:
    """The refusal for a recipient that is not here, with those who were probably meant."""
    roster = await call.look(Range("roster", "", NEAR_LIMIT))
    ids = [id for id in roster.ids(Who) if id != call.me]
    if names[0].startswith("role:"):
        agents = await call.look_each(Doc(Who, id) for id in ids if id.startswith("agent:"))
        people = await call.look_each(Doc(Member, id) for id in ids if id.startswith("human:"))
        here = sorted({f"role:{r}" for found in (*agents, *people) if found for r in found.roles})
    else:
        members = await call.look_each(Doc(Member, id) for id in ids if id.startswith("human:"))
        present = {m.id for m in members if m and m.role}
        here = [id for id in ids if id.startswith("agent:") or id in present]
    # Compared without their prefixes, which would make any two of a kind alike.
    spelled = {name.partition(":")[2]: name for name in here}
    close = [spelled[id] for id in near(names[0].partition(":")[2], spelled)]
    hint = f"Did you mean {', '.join(close)}?" if close else f"Here are {', '.join(here[:8]) or 'none'}."
    is_not = "Nobody has" if names[0].startswith("role:") else "There is no"
    return Refused(
        "unknown_recipient",
        f"{is_not} {' or '.join(names)} in {call.caller.space} now. Nothing was written. {hint}",
        near=close,
    )


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
