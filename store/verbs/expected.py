"""Who is expected in a window of the day's syncs: agents at work since the last one, and people who want to be."""

from typing import Any

from ..domain.person import Member
from ..domain.reach import Reach
from ..domain.slot import Who
from ..domain.sync import expected
from ..engine.reads import Count, Doc, Page, Range, Read, Score
from .call import Call

AGENTS = 500  # of a space that are looked at together
ALL = 20_000  # of whom nobody is left out
ROSTER, ATTENDING = Range("roster", "", AGENTS), Range("attending", "", AGENTS)


async def expected_since(call: Call, roster: Page, *, since: int) -> set[str]:
    """Those of the roster (as `ROSTER` has it) who are expected, `since` being when the window before opened (ms)."""
    return {*await _at_work(call, roster, since), *await _attending(call)}


async def all_expected(call: Call, *, since: int) -> set[str]:
    """Everybody who is expected, however many there are: in parts, as who judges or shows a window needs them.

    Principals stay in the roster in the order in which they came, so nobody is passed over between two parts.
    """
    found = await _attending(call)
    for offset in range(0, ALL, AGENTS):
        roster = await call.look(Range("roster", "", AGENTS, offset=offset))
        found |= await _at_work(call, roster, since)
        if offset + len(roster.members) >= roster.size:
            break
    return found


async def _at_work(call: Call, roster: Page, since: int) -> set[str]:
    """The agents who are. Who has no key any more can check in no more: that they wrote makes them expected no more."""
    agents = [id for id in roster.ids(Who) if id.startswith("agent:")]
    reads: list[Read[Any]] = []
    for agent in agents:
        reads += [Score("active", "", agent), Count("open", agent, low=call.now), Count("jobs", agent)]
        reads += [Count("live", agent, low=call.now)]
    found = await call.look_each(reads) if reads else []
    return {
        agent
        for agent, wrote, items, jobs, keys in zip(agents, *(found[n::4] for n in range(4)), strict=True)
        if expected(wrote=wrote if keys else None, items=items, jobs=jobs, since=since)
    }


async def _attending(call: Call) -> set[str]:
    """The people who have opted in, and still have a role here."""
    ids = (await call.look(ATTENDING)).ids(Reach)
    reads: list[Read[Any]] = [*(Doc(Reach, id) for id in ids), *(Doc(Member, id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    return {reach.id for reach, member in pairs if reach and reach.syncs == "on" and member and member.role}
