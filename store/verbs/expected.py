"""Who is expected in a window of the day's syncs: agents at work since the last one, and people who want to be.

And who is in, as their receipts say it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..domain.item import Item
from ..domain.occurrence import Occurrence
from ..domain.person import Member
from ..domain.reach import Reach
from ..domain.shift import Shift
from ..domain.slot import Who
from ..domain.sync import CheckIn, expected
from ..engine.reads import Count, Doc, Page, Range, Read, Score
from .call import Call

AGENTS = 500  # of a space that are looked at together
ALL = 20_000  # of whom nobody is left out
ITEMS = 20  # of an agent that are looked at: who has more had some of them before
ROSTER, ATTENDING = Range("roster", "", AGENTS), Range("attending", "", AGENTS)


async def expected_since(call: Call, roster: Page, *, since: int) -> set[str]:
    """Those of the roster (as `ROSTER` has it) who are expected in a window that is open.

    `since` is when the one before it opened (ms).
    """
    attending = await call.look(ATTENDING)
    return {*await _at_work(call, roster, since), *await _attending(call, attending.ids(Reach))}


async def all_expected(call: Call, here: Occurrence, *, since: int) -> set[str]:
    """Everybody who is expected there, however many they are: in parts, as who judges or shows a window needs them.

    Who begins when it is over is not. Principals stay in the roster in the order in which they came, so nobody is
    passed over between two parts.
    """
    closes = here.closes if call.now >= here.closes else 0
    ids = (await call.look(Range("attending", "", ALL, high=max(0, closes - 1)))).ids(Reach)
    found: set[str] = set()
    for first in range(0, len(ids), AGENTS):
        found |= await _attending(call, ids[first : first + AGENTS])
    known = here.missing if here.state == "overdue" else ()
    for offset in range(0, ALL, AGENTS):
        roster = await call.look(Range("roster", "", AGENTS, offset=offset))
        found |= await _at_work(call, roster, since, closes=closes, known=known)
        if offset + len(roster.members) >= roster.size:
            break
    return found


async def _at_work(call: Call, roster: Page, since: int, *, closes: int = 0, known: Collection[str] = ()) -> set[str]:
    """The agents who are. Who has no key any more can check in no more: that they wrote makes them expected no more.

    `closes` is when the window was over, 0 while it is not; `known` were at work in it when it was looked at.
    """
    agents = [id for id in roster.ids(Who) if id.startswith("agent:")]
    reads: list[Read[Any]] = []
    for agent in agents:
        reads += [Score("active", "", agent), Count("open", agent, low=call.now)]
        reads += [Count("jobs", agent, high=max(0, closes - 1)), Count("live", agent, low=call.now)]
    found = await call.look_each(reads) if reads else []
    wrote, items, jobs, keys = (dict(zip(agents, found[n::4], strict=True)) for n in range(4))
    held = await _held(call, [a for a in agents if items[a] and not jobs[a]], closes) if closes else items
    late = [a for a in agents if closes and (wrote[a] or 0) >= closes and a not in known]
    shifts = {s.id: s for s in await call.look_each(Doc(Shift, a) for a in late) if s} if late else {}
    return {
        agent
        for agent in agents
        if expected(
            wrote=wrote[agent] if keys[agent] else None,
            items=held.get(agent, 0),
            jobs=jobs[agent],
            since=since,
            closes=closes,
            began=shifts[agent].since if agent in shifts else 0,
            ended=shifts[agent].ended if agent in shifts else 0,
        )
    }


async def _held(call: Call, agents: Sequence[str], closes: int) -> Mapping[str, int]:
    """How many of the open items of each were made before then; the last one of many is taken for such unseen."""
    pages = await call.look_each(Range("open", a, ITEMS + 1, low=call.now) for a in agents) if agents else []
    ids = {agent: page.ids(Item) for agent, page in zip(agents, pages, strict=True)}
    docs = await call.look_each(Doc(Item, id) for own in ids.values() for id in own[:ITEMS]) if pages else []
    made = {item.id: item.made for item in docs if item}
    return {agent: sum(made.get(id, 0) < closes for id in own) for agent, own in ids.items()}


async def _attending(call: Call, ids: Sequence[str]) -> set[str]:
    """Those of the people who have opted in, and still have a role here."""
    reads: list[Read[Any]] = [*(Doc(Reach, id) for id in ids), *(Doc(Member, id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    return {reach.id for reach, member in pairs if reach and reach.syncs == "on" and member and member.role}


async def all_in(call: Call, here: Occurrence) -> dict[str, int]:
    """Who has checked in there, and when as it counts (ms), however many they are."""
    ids = (await call.look(Range("checked", here.id, ALL))).ids(CheckIn)
    came: dict[str, int] = {}
    for first in range(0, len(ids), AGENTS):
        found = await call.look_each(Doc(CheckIn, id) for id in ids[first : first + AGENTS])
        came |= {each.by: each.came(here.late) for each in found if each}
    return came
