"""The feed: what was written, newest first, of all the space or of one place, author or kind."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..domain.entry import KINDS, Logged, sequence
from ..domain.errors import Refused
from ..domain.fact import Fact
from ..domain.ids import PLACES, PRINCIPALS, Shape, near, parse_place, shape
from ..domain.listing import forward
from ..domain.moments import moment
from ..domain.text import quoted
from ..engine.reads import Doc, Head, Log, Numbered
from .arguments import Length, Names
from .call import Call, Result
from .paging import no_cursor, opened, sealed
from .places import at, missing
from .recipients import principals

LIMIT = 20  # entries of a page, where nothing else is said
LIMITS = (1, 50)
SCAN = 200  # entries that one call looks at where a filter may pass few of them

TRAIL_LIMIT = 130  # characters of `trail:` and a label

_POSITION = re.compile(r"([1-9][0-9]{0,15})\.([1-9][0-9]{0,15})")
_TRAILS = (Shape.ASK, Shape.ITEM, Shape.HUDDLE)


class Wanted(NamedTuple):
    """What the caller wants to see: of one of these kinds, by this author, after this number, not before this time."""

    kinds: tuple[str, ...] = ()
    by: str = ""
    after: int = 0
    since: int = 0

    @property
    def filters(self) -> bool:
        """Whether some entries are passed over."""
        return bool(self.kinds or self.by)

    def over(self, entry: Logged) -> bool:
        """Whether neither this entry nor any before it is wanted."""
        return entry.seq <= self.after or entry.ts < self.since

    def has(self, entry: Logged) -> bool:
        if not self.filters:
            return True
        said = entry.entry
        if said is None:  # what was redacted is of no kind and by nobody
            return False
        return (not self.kinds or said.kind in self.kinds) and self.by in ("", said.by)


async def feed(
    call: Call,
    *,
    where: str = "",
    kinds: Names | None = None,
    by: str = "",
    since: Length = "",
    limit: int = LIMIT,
    cursor: str = "",
) -> Result:
    """What happened lately: the latest entries, newest first.

    In a channel or job (where), by one author, of some kinds, or everywhere. since: an entry id, a time, or how
    long ago ("2h"). cursor: the next page.
    """
    check_limit(limit, LIMITS)
    chosen = check_kinds(kinds or ())
    place = log_of(where) if where else ""
    (author,) = await principals(call, [by], PRINCIPALS, name="by", here=False) if by else ("",)
    await call.admit()
    place = place or author  # whose Log has all that they wrote
    wanted = Wanted(chosen, author, *_since(call, since))
    page = await _page(call, place, cursor=_opened(cursor, place) if cursor else (0, 0), limit=limit, wanted=wanted)
    result = _shown(call, page, wanted=wanted, limit=limit, where=place)
    await _mark_facts(call, result["entries"])
    return result


async def _mark_facts(call: Call, lines: Sequence[Result]) -> None:
    """Say of facts on these lines what has become of them: due for review, or superseded by what."""
    told = {line["fact"]: line for line in lines if "fact" in line}
    for fact in await call.look_each(Doc(Fact, id) for id in told) if told else []:
        if fact and fact.superseded_by:
            told[fact.id]["superseded_by"] = fact.superseded_by
        elif fact and fact.due(call.now):
            told[fact.id]["stale"] = True


class _Page(NamedTuple):
    """Entries, newest first, the position of each, and how many there are in all."""

    entries: list[Logged]
    positions: dict[int, int]
    total: int


async def _page(call: Call, place: str, *, cursor: tuple[int, int], limit: int, wanted: Wanted) -> _Page:
    """What is looked at: what a page has and one more, or where a filter passes few of them up to `SCAN`."""
    seqs, first, total = await _numbers(call, place, cursor=cursor, width=SCAN if wanted.filters else limit + 1)
    entries: list[Logged] = []
    for part in (seqs[: limit + 1], seqs[limit + 1 :]):
        if part:
            entries += [e for e in await call.look_each(Numbered(n) for n in part) if e]
        if sum(map(wanted.has, entries)) > limit or any(map(wanted.over, entries)):
            break
    return _Page(entries, {seq: first - n for n, seq in enumerate(seqs)}, total)


async def _numbers(call: Call, place: str, *, cursor: tuple[int, int], width: int) -> tuple[list[int], int, int]:
    """Numbers of entries, newest first, the position of the first, and how many there are in all.

    A cursor names a position in a list that only grows, and what stands there.
    """
    end, mark = cursor
    if not place:
        head = await call.look(Head())
        if end and (end != mark or end > head):
            no_cursor()
        first = end - 1 if end else head
        return list(range(first, max(0, first - width), -1)), first, head
    lines = await call.look(Log(place, width + bool(end), end))
    if end:
        if end > lines.size or lines.seqs[-1] != mark:
            no_cursor()
        return lines.seqs[-2::-1], end - 1, lines.size
    if not lines.size and not await _there(call, place):
        raise await missing(call, place)
    return lines.seqs[::-1], lines.size, lines.size


async def _there(call: Call, place: str) -> bool:
    """Whether a place is there in which nothing was written yet."""
    return place.partition(":")[0] in PLACES and await call.look(at(place)) is not None


def _shown(call: Call, page: _Page, *, wanted: Wanted, limit: int, where: str) -> Result:
    """The page: what of it is wanted and fits, and the cursor behind the last that was looked at for it."""
    entries = page.entries
    over = next((n for n, entry in enumerate(entries) if wanted.over(entry)), len(entries))
    passed = [n for n, entry in enumerate(entries[:over]) if wanted.has(entry)]
    lines, fit = forward([entries[n] for n in passed[:limit]])
    looked = passed[fit - 1] + 1 if fit < len(passed) else over
    last = entries[looked - 1] if looked else None
    position = page.positions[last.seq] if last else 0
    # Nothing is left where all was looked at, down to the first or to what is no longer wanted.
    more = position > 1 and (fit < len(passed) or over == len(entries))
    result: Result = {"entries": lines}
    if wanted.filters:
        result["scanned"] = looked
    if not lines:
        result |= {"says": _nothing(call, page, wanted, where=where, more=more), "readable": page.total}
    return {**result, "cursor": sealed(f"{position}.{last.seq}", of=("feed", where))} if more and last else result


def _nothing(call: Call, page: _Page, wanted: Wanted, *, where: str, more: bool) -> str:
    """What was searched where nothing was found."""
    asked = [f"of kind {' or '.join(wanted.kinds)}"] if wanted.kinds else []
    asked += [f"by {wanted.by}"] if wanted.by else []
    asked += ["since then"] if wanted.after or wanted.since else []
    there = f"{quoted(where) if where.startswith('trail:') else where} in " if where else ""
    begins, on = ("So far there", "; the cursor goes on from here") if more else ("There", "")
    of = f" {' '.join(asked)}" if asked else ""
    return f"{begins} is nothing{of} in {there}{call.caller.space}, where you may read {page.total} entries{on}."


def _since(call: Call, since: Length) -> tuple[int, int]:
    """The number after which, and the time from which entries are wanted. Refuses invalid_argument."""
    if since == "":
        return 0, 0
    if shape(since) is Shape.ENTRY:
        return sequence(str(since)), 0
    return 0, moment(since, now=call.now, name="since", back=True)


def _opened(cursor: str, place: str) -> tuple[int, int]:
    said = _POSITION.fullmatch(opened(cursor, of=("feed", place)))
    if said is None:
        no_cursor()
    return int(said[1]), int(said[2])


def log_of(where: str) -> str:
    """The Log that `where` means: of a place, or of the trail of an ask, item or huddle. Refuses malformed_id."""
    if shape(where) in _TRAILS:
        return f"trail:{where}"
    if where.startswith("trail:") and len(where) <= TRAIL_LIMIT:
        return where
    return parse_place(where, default="channel")


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds, each once. Refuses invalid_argument, naming those that may have been meant."""
    for kind in kinds:
        if kind not in KINDS:
            close = near(kind, sorted(KINDS))
            hint = f"Did you mean {', '.join(close)}?" if close else f"There are {', '.join(sorted(KINDS))}."
            raise Refused(
                "invalid_argument",
                f"kinds has {quoted(kind)}, and no entry is of that kind. Nothing was read. {hint}",
                argument="kinds",
                near=close,
            )
    return tuple(dict.fromkeys(kinds))


def check_limit(limit: int, bounds: tuple[int, int]) -> None:
    """Refuses invalid_argument."""
    low, high = bounds
    if not low <= limit <= high:
        text = f"limit takes {low} to {high}. Nothing was read."
        raise Refused("invalid_argument", text, argument="limit", low=low, high=high)
