"""What goes along with a handoff: the facts that stand and speak of the same things.

They are found when the item is sent, in the space that its recipient may read too, and read anew whenever it is shown.
A handoff never waits for them longer than `PATIENCE`, nor fails for want of them: then the item is `unsearched`, and
who views it has them looked for.
"""

import asyncio
from typing import Any, NamedTuple

import structlog

from ..domain import hit
from ..domain.commit import Quote
from ..domain.entry import Logged
from ..domain.fact import Fact
from ..domain.item import Item
from ..engine.backlog import TipRead
from ..engine.reads import Count, Doc
from ..recall.indexes import Unusable
from ..recall.query import parse
from ..recall.rank import Hit
from ..recall.search import Filter
from .call import Call, Result
from .paging import fitting
from .recall import line, live

LIMIT = 5  # facts of an item
LOOKED_AT = 12
PATIENCE, BOUND = 0.05, 0.15  # seconds: for an index that is behind, and for all of it
WATCHED = 0.5  # seconds that who views an item waits for the index
ENOUGH, ALONE = 0.3, 0.6  # of what a summary says that a fact must have: in two words, or in one; a name is enough
BUDGET = 450  # tokens where they are shown
STANDS_ON = (TipRead(), Count("known"))  # what is read before anything is looked for

log = structlog.get_logger(__name__)


class About(NamedTuple):
    """Ids of the entries of facts, and whether the index could not say in time all that there are."""

    context: tuple[str, ...] = ()
    unsearched: bool = False


async def facts_about(call: Call, summary: str) -> About:
    """The facts that go along with this summary.

    Searched once a call: who decides anew because of a race has no time for more.
    """
    return await call.once("context", lambda: _found(call, summary))


async def _found(call: Call, summary: str, *, patience: float = PATIENCE, bound: float = BOUND) -> About:
    tip, known = await call.look(*STANDS_ON)
    if not known or not (query := await asyncio.to_thread(parse, summary)).units:
        return About()
    try:
        async with asyncio.timeout(bound):
            answer = await call.store.indexes.search(
                call.caller.space, tip, query, Filter(kinds=("fact",)), limit=LOOKED_AT, now=call.now, patience=patience
            )
    except (TimeoutError, Unusable) as why:
        log.info("handoff_without_context", space=call.caller.space, why=type(why).__name__)
        return About((), True)
    found = await live(call, [h for h in answer.found.hits if _telling(h)])
    ids = tuple(each.said.id for each in found if each.fact and not each.fact.superseded_by)[:LIMIT]
    return About(ids, bool(answer.behind and not ids))


def _telling(found: Hit) -> bool:
    """Whether a fact shares more with the summary than a word that everybody uses."""
    if found.how == "part of a word":
        return False
    return found.named or found.share >= (ENOUGH if len(found.words) > 1 else ALONE)


async def shown(call: Call, item: Item) -> Result:
    """The facts of an item as they stand now, for who looks at it; with how many had no room."""
    about = About(item.context)
    if item.unsearched:
        said = (await call.recall([item.sent])).get(item.sent)
        about = await _found(call, said.summary, patience=WATCHED, bound=2 * WATCHED) if said and said.entry else about
    found = await _standing(call, about.context)
    lines = fitting((line(call, said, fact) for said, fact in found), budget=BUDGET)
    left = len(found) - len(lines)
    return {
        **({"context": lines} if lines else {}),
        **({"context_left_out": left} if left else {}),
        **({"context_unsearched": True} if about.unsearched else {}),
    }


async def along(call: Call, item: Item) -> Result:
    """The same for a result that is kept: ids and codes, the text read again."""
    lines: list[dict[str, Any]] = []
    for said, fact in await _standing(call, item.context):
        lines.append({**hit.shown(said, fact, now=call.now), "summary": Quote(said.id, "line")})
    return {**({"context": lines} if lines else {}), **({"context_unsearched": True} if item.unsearched else {})}


async def _standing(call: Call, context: tuple[str, ...]) -> list[tuple[Logged, Fact | None]]:
    """The entries that are still there, each with its fact."""
    if not context:
        return []
    entries = [said for said in (await call.recall(context)).values() if said.entry and said.entry.fact]
    facts = await call.look_each(Doc(Fact, said.entry.fact) for said in entries if said.entry) if entries else []
    return list(zip(entries, facts, strict=True))
