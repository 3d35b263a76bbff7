"""Recall: what was written here about something, found by its words. The index only says where to look.

What is shown is read from the ledger, and facts with the marks that they have now.
"""

import asyncio
from collections.abc import Sequence

import structlog

from ..domain import hit
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.fact import Fact
from ..domain.hit import Found
from ..domain.text import quoted
from ..engine.backlog import TipRead
from ..engine.reads import Doc, Lines, Log, Numbered, Read
from ..recall.indexes import Answer, Tip, Unusable
from ..recall.query import Query, parse
from ..recall.rank import Hit
from ..recall.search import Filter
from .arguments import Names
from .call import Call, Result
from .facts import standing_in_place
from .feed import check_kinds, check_limit, log_of
from .paging import fitting, price
from .places import at, missing

QUERY_LIMIT = 500  # characters
LIMIT, LIMITS = 8, (1, 20)  # hits, where nothing else is said; and bounds
SPARE = 4  # hits more than asked for: some may have been redacted since
BUDGET, SHARE = 1600, 200  # tokens of the hits, and of one

log = structlog.get_logger(__name__)


async def recall(call: Call, *, query: str, where: str = "", kinds: Names | None = None, limit: int = LIMIT) -> Result:
    """Search memory: what did we decide or learn about something.

    By words, ids, paths or names, in facts, decisions and entries. Each hit says its age, why it matched, and
    whether it is stale or superseded. where and kinds narrow it.
    """
    words = await parsed(query)
    check_limit(limit, LIMITS)
    among = Filter(check_kinds(kinds or ()), log_of(where) if where else "")
    tip = await _tip(call, among.where, where)
    answer = await _search(call, tip, words, among, limit=limit)
    hits = {h.id for h in answer.found.hits}
    found = await live(call, answer.found.hits)
    shown = fitting((line(call, f.said, f.fact, matched=f.matched) for f in found[:limit]), budget=BUDGET)
    result: Result = {"hits": shown}
    gone = len(hits - {f.said.id for f in found})
    if (left := answer.found.weighed - gone - sum(each["id"] in hits for each in shown)) > 0:
        result["left_out"] = left
    if answer.behind:
        result |= {"behind": answer.behind, "says": _behind(answer)}
    elif not shown:
        result |= _nothing(call, query, among, readable=tip.seq)
    if shown:
        result["next"] = {"tool": "logmem_view", "args": {"what": shown[0]["id"]}}
    return result


def line(call: Call, said: Logged, fact: Fact | None, *, matched: str = "") -> Result:
    """One hit, its summary as wide as a share of the room allows."""
    forms = [hit.shown(said, fact, now=call.now, matched=matched, width=width) for width in hit.WIDTHS]
    return next((form for form in forms if price(form) <= SHARE), forms[-1])


async def live(call: Call, hits: Sequence[Hit]) -> list[Found]:
    """The hits as they stand in the ledger, best first, with the facts that they made; those that are gone left out.

    What stands in place of a superseded fact is among them, wherever it was noted and whatever its words are.
    """
    reads: list[Read[object]] = [Numbered(h.seq) for h in hits]
    reads += [Doc(Fact, h.fact) for h in hits if h.fact]
    got = await call.look_each(reads) if reads else []
    facts = {fact.id: fact for fact in got if isinstance(fact, Fact)}
    entries = {e.id: e for e in got if isinstance(e, Logged) and e.entry}
    found = [Found(entries[h.id], facts.get(h.fact), h.score, hit.why(h.how, h.words)) for h in hits if h.id in entries]
    return hit.in_order([*found, *await _in_place(call, [f.fact for f in found if f.fact])])


async def _in_place(call: Call, facts: Sequence[Fact]) -> list[Found]:
    """What stands now in place of superseded ones among these facts, and is not among them."""
    there = {fact.id for fact in facts}
    newest = [fact for fact in await standing_in_place(call, facts) if fact.id not in there]
    said = await call.recall(fact.said for fact in newest)
    replaced = {fact.first: fact.id for fact in sorted(facts, key=lambda f: f.made) if fact.superseded_by}
    return [
        Found(said[fact.said], fact, matched=f"stands in place of {replaced[fact.first]}")
        for fact in newest
        if fact.said in said and said[fact.said].entry
    ]


async def parsed(text: str) -> Query:
    """The query, taken apart where nobody waits for it. Refuses too_long, invalid_argument."""
    if len(text) > QUERY_LIMIT:
        raise Refused(
            "too_long",
            f"query has {len(text)} characters and may have {QUERY_LIMIT}. Nothing was searched. "
            "Give the words that matter, or an id.",
            argument="query",
            limit=QUERY_LIMIT,
        )
    query = await asyncio.to_thread(parse, text)
    if not query.units:
        raise Refused(
            "invalid_argument",
            f"query is {quoted(text)}, in which there is no word to look for. Nothing was searched. "
            'Give words, an id, a path or a name: logmem_recall {query: "token rotation"}',
            argument="query",
        )
    return query


async def _tip(call: Call, place: str, where: str) -> Tip:
    """Where the ledger ends now; of a place that is there. Refuses not_found."""
    if not place:
        return await call.look(TipRead())
    tip: Tip
    lines: Lines
    tip, lines = await call.look(TipRead(), Log(place, 1))
    if not lines.size and (place.startswith("trail:") or await call.look(at(place)) is None):
        raise await missing(call, where)
    return tip


async def _search(call: Call, tip: Tip, query: Query, among: Filter, *, limit: int) -> Answer:
    indexes = call.store.indexes
    try:
        return await indexes.search(call.caller.space, tip, query, among, limit=limit + SPARE, now=call.now)
    except Unusable as why:
        log.error("index_unusable", space=call.caller.space, why=str(why))
        raise Refused(
            "store_unavailable",
            f"The index of this server cannot be used now ({why}). Nothing was searched; all other tools work. "
            "Read the newest entries: logmem_feed {}. Retry in 30 s.",
            retry_after=30,
        ) from None


def _behind(answer: Answer) -> str:
    kept = f" ({answer.why})" if answer.why else ""
    entries = "entry is" if answer.behind == 1 else f"{answer.behind} entries are"
    return f"The newest {entries} not in the index yet{kept}, and were not searched. Ask again in a moment."


def _nothing(call: Call, query: str, among: Filter, *, readable: int) -> Result:
    """What was searched where nothing was found, and what to try."""
    narrowed = [f"kind {' or '.join(among.kinds)}"] if among.kinds else []
    if among.where:
        narrowed.append(quoted(among.where) if among.where.startswith("trail:") else among.where)
    within = f" among {', '.join(narrowed)}" if narrowed else ""
    again = {"query": query} if narrowed else {}
    tool = "logmem_recall" if narrowed else "logmem_feed"
    hint = "Search without that" if narrowed else "Try other or fewer words, or look through the newest entries"
    return {
        "says": f"Nothing was found{within} in {call.caller.space}, where you may read {readable} entries. {hint}.",
        "readable": readable,
        "next": {"tool": tool, "args": again},
    }
