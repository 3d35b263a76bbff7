"""Who is expected in a window of the day's syncs: agents at work since the last one, and people who want to be."""

from collections.abc import Sequence
from typing import Any

from ..domain.person import Member
from ..domain.reach import Reach
from ..domain.slot import Who
from ..domain.sync import expected
from ..engine.reads import Count, Doc, Page, Range, Read, Score
from .call import Call

AGENTS = 500  # of a space that are looked at
PEOPLE = 200  # with an account
ROSTER = Range("roster", "", AGENTS)


async def expected_since(call: Call, roster: Page, *, since: int) -> set[str]:
    """Those of the roster (as `ROSTER` has it) who are expected, `since` being when the window before opened (ms).

    Who has no key any more can check in no more: that they wrote does not make them expected.
    """
    agents = [id for id in roster.ids(Who) if id.startswith("agent:")]
    reads: list[Read[Any]] = []
    for agent in agents:
        reads += [Score("active", "", agent), Count("open", agent, low=call.now), Count("jobs", agent)]
        reads += [Count("live", agent, low=call.now)]
    found = await call.look_each(reads) if reads else []
    at_work = {
        agent
        for agent, wrote, items, jobs, keys in zip(agents, *(found[n::4] for n in range(4)), strict=True)
        if expected(wrote=wrote if keys else None, items=items, jobs=jobs, since=since)
    }
    return at_work | set(await _people(call))


async def _people(call: Call) -> Sequence[str]:
    """Who has opted in, and still has a role here."""
    if not call.space.telegram:
        return ()
    ids = (await call.look(Range("reached", "", PEOPLE))).ids(Reach)
    reads: list[Read[Any]] = [*(Doc(Reach, id) for id in ids), *(Doc(Member, id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    return [reach.id for reach, member in pairs if reach and reach.syncs == "on" and member and member.role]
