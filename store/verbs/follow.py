"""Following: what changed since a cursor, and the loop that waits for it.

A loop reads again when something was committed that touches what it waits for, and each second for what time brings.
"""

import asyncio
import bisect
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..domain.ask import Ask, grounds
from ..domain.entry import Logged, sequence
from ..domain.errors import Refused
from ..domain.huddle import Huddle, closers
from ..domain.huddle import ready as ready_to_close
from ..domain.huddle import standing as huddle_standing
from ..domain.ids import Shape, known, parse_place, shape
from ..domain.item import Item, Mark, standing
from ..domain.listing import forward
from ..domain.moments import duration
from ..engine.reads import Doc, Lines, Log, Numbered
from ..engine.store import Store
from .call import Call, Result
from .places import at, missing
from .reads import ask_standing, pointed_at, seats_of

Once = Callable[[Mapping[str, Any]], Awaitable[Result]]
WAIT_LIMIT = 50_000  # ms
WAIT_DEFAULT = 25  # seconds
RECHECK = 1.0  # seconds: a revoked key, a passed deadline
PAGE = 50  # entries read at once
UNHEARD = ("reminded",)  # kinds that end no wait: they are for people
PROBES = 31  # places in a Log that are looked at in one round trip: a million entries take four


async def follow(call: Call, *, what: str, since: str = "", wait: str | int = WAIT_DEFAULT) -> Result:
    """Wait until a person has decided your ask (the answer to it) or asks back, or an item is settled.

    Also for news in a huddle or place; at most wait seconds (50). Returns the changes, or pending: call it again
    with since = cursor.
    """
    if since and shape(since) is not Shape.ENTRY:
        raise Refused("malformed_id", "since is the cursor that the call before gave.", argument="since")
    kind = shape(what)
    if kind is Shape.ASK:
        return await _ask(call, what, since)
    if kind is Shape.ITEM:
        return await _item(call, what, since)
    if kind is Shape.HUDDLE:
        return await _huddle(call, what, since)
    if ":" not in what:
        known(what, (Shape.ASK, Shape.ITEM, Shape.HUDDLE, Shape.PLACE), name="what")  # says which forms there are
    return await _place(call, parse_place(what, name="what"), since)


# The Log is read before the document: what comes between the two is then in the state, and in the next changes.


async def _ask(call: Call, trail: str, since: str) -> Result:
    lines, ask = await call.look(Log(f"trail:{trail}", PAGE), Doc(Ask, trail))
    if ask is None:
        raise await missing(call, trail)
    live = ask.as_of(call.now)
    # A question, or that nobody is reached, can come before whoever asked begins to wait: the first call tells it, with
    # all that came since their own last word.
    news_before = live.questioned or (live.unheard and not since)
    if news_before and not since and call.me == ask.by:
        since = await _last_word(call, lines, ask)
    news = await _since(call, f"trail:{trail}", lines, since, ids=pointed_at(ask))
    settled = live.state != "pending" or bool(news_before)
    said = next((e for e in news.pointed if e.id == grounds(live)), None)
    return _followed(trail, ask_standing(live, call.now, me=call.me, said=said), news, since=since, changed=settled)


async def _last_word(call: Call, tail: Lines, ask: Ask) -> str:
    """The last entry that whoever asked wrote on the trail, as far as its tail shows; else the one that asked."""
    found = await _entries(call, tail.seqs, ())
    own = [e.id for n in tail.seqs if (e := found.get(n)) and e.entry and e.entry.by == ask.by]
    return own[-1] if own else ask.asked


async def _item(call: Call, id: str, since: str) -> Result:
    lines, item, mark = await call.look(Log(f"trail:{id}", PAGE), Doc(Item, id), Doc(Mark, id))
    if item is None:
        raise await missing(call, id)
    news = await _since(call, f"trail:{id}", lines, since, ids=pointed_at(item))
    state = standing(item, mark, call.now, me=call.me, ended=next(iter(news.pointed), None))
    return _followed(id, state, news, since=since, changed=state["status"] != "open")


async def _huddle(call: Call, id: str, since: str) -> Result:
    """A huddle ends with its synthesis; for who is to write that, waiting ends when all have answered."""
    lines, huddle = await call.look(Log(f"trail:{id}", PAGE), Doc(Huddle, id))
    if huddle is None:
        raise await missing(call, id)
    seats = await seats_of(call, huddle)
    news = await _since(call, f"trail:{id}", lines, since, ids=pointed_at(huddle))
    state = huddle_standing(huddle, seats, call.now, me=call.me)
    mine = call.me in closers(huddle, now=call.now) and ready_to_close(huddle, seats, now=call.now)
    return _followed(id, state, news, since=since, changed=mine or huddle.state != "open")


async def _place(call: Call, name: str, since: str) -> Result:
    lines, there = await call.look(Log(name, PAGE), at(name))
    if not lines.size and there is None:
        raise await missing(call, name)
    return _followed(name, {}, await _since(call, name, lines, since), since=since, changed=False)


class _News(NamedTuple):
    """The first entries after a cursor, how many there are after it, those that the state points at; the new cursor."""

    entries: list[Logged]
    size: int
    pointed: list[Logged]
    cursor: str


async def _since(call: Call, place: str, tail: Lines, since: str, *, ids: Sequence[str] = ()) -> _News:
    """What came after `since` in the Log of a place; without it nothing, and the cursor is where the Log ends."""
    first = await _position(call, place, tail, sequence(since)) if since else tail.size
    seqs = tail.seqs[first - (tail.size - len(tail.seqs)) :]
    if first < tail.size - len(tail.seqs):
        seqs = (await call.look(Log(place, PAGE, first + PAGE))).seqs
    last = tail.seqs[-1:] if not since else []
    found = await _entries(call, [*seqs, *last], ids)
    news = [found[n] for n in seqs if n in found]
    # A Log that is empty yet is followed from before its first entry.
    end = since or next((found[n].id for n in last if n in found), f"{call.now}-0")
    return _News(news, tail.size - first, [found[sequence(i)] for i in ids if sequence(i) in found], end)


async def _entries(call: Call, seqs: Sequence[int], ids: Sequence[str]) -> dict[int, Logged]:
    """The entries with these numbers and ids, each once."""
    wanted = dict.fromkeys((*seqs, *map(sequence, ids)))
    found = await call.look_each(Numbered(n) for n in wanted) if wanted else []
    return {e.seq: e for e in found if e}


async def _position(call: Call, place: str, tail: Lines, seq: int) -> int:
    """How many entries of a Log come before or at a number. In the tail of it, or found by probes."""
    low, high = 0, tail.size - len(tail.seqs)
    if not high or tail.seqs[0] <= seq:
        return high + bisect.bisect_right(tail.seqs, seq)
    while high - low > 0:
        step = max(1, (high - low) // (PROBES + 1))
        probes = list(range(low, high, step))
        found = await call.look_each(Log(place, 1, n + 1) for n in probes)
        passed = sum(lines.seqs[0] <= seq for lines in found)
        high = probes[passed] if passed < len(probes) else high
        low = probes[passed - 1] + 1 if passed else high
    return low


def _followed(what: str, state: Result, news: _News, *, since: str, changed: bool) -> Result:
    """`more` counts what came after the cursor; reading on from there shows it."""
    lines, shown = forward(news.entries, pointed=news.pointed)
    cursor = news.entries[shown - 1].id if shown else news.cursor
    more = news.size - shown
    result = {"what": what, **state, "changes": lines, **({"more": more} if more else {}), "cursor": cursor}
    again = {"tool": "logmem_follow", "args": {"what": what, "since": cursor}}
    told = [e for e in news.entries if not (e.entry and e.entry.kind in UNHEARD)]
    if not (changed or told or more):
        return {**result, "pending": True, "next": again}
    waits = state.get("next", {}).get("tool") == "logmem_follow"  # from where it has read to
    return {**result, "next": again} if waits or (more and "next" not in state) else result


async def until_changed(store: Store, given: Mapping[str, Any], once: Once) -> Result:
    """Read until something changed or the wait is over. Refuses what the read refuses, also while it waits."""
    result = await once(given)
    wait = duration(given.get("wait", WAIT_DEFAULT), low=0, high=WAIT_LIMIT, name="wait") / 1000
    give_up = time.monotonic() + wait
    if not result.get("pending") or not wait:
        return result
    async with store.feed.listen(result["space"], _names(result["what"])) as bell:
        while result.get("pending"):
            ring = bell.next_ring()
            result = await once({**given, "since": result["cursor"]})
            left = give_up - time.monotonic()
            if left <= 0 or bell.over or not result.get("pending"):
                break
            await rung(ring, min(left, RECHECK))
    return result


def _names(what: str) -> tuple[str, ...]:
    """What a commit touches that changes something for who follows this: a document, or the Log of a place."""
    kind = {Shape.ASK: Ask.kind, Shape.ITEM: Item.kind, Shape.HUDDLE: Huddle.kind}.get(shape(what) or Shape.PLACE)
    return (f"{kind}:{what}", f"trail:{what}") if kind else (what,)


async def rung(ring: asyncio.Event, timeout: float) -> bool:
    """Whether the ring came in time (seconds)."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await ring.wait()
        return True
    return False
