"""The feed: what was written, newest first, of all the space or of one place, author or kind."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..domain.entry import KINDS, Logged, sequence
from ..domain.errors import Refused
from ..domain.fact import Fact
from ..domain.ids import PLACES, PRINCIPALS, Shape, near, parse_place, shape
from ..domain.listing import each, forward
from ..domain.moments import moment
from ..domain.text import quoted
from ..engine.reads import Doc, Head, Lines, Log, Stretch
from .arguments import Length, Names
from .call import Call, Result
from .paging import no_cursor, opened, sealed
from .places import at, missing
from .recipients import principals

LIMIT = 20  # entries of a page, where nothing else is said
LIMITS = (1, 50)
SCAN = 200  # entries that one call looks at where a filter may pass few of them
SCAN_WHOLE = 1600  # the same for a person's page
STEP = 400  # of them, that are read at once

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

    @property
    def naming(self) -> tuple[tuple[bytes, ...], ...]:
        """What stands in the record of each entry that may be wanted."""
        groups = (("by", [self.by] if self.by else []), ("kind", self.kinds))
        return tuple(tuple(f'"{key}":"{one}"'.encode() for one in group) for key, group in groups if group)

    def over(self, entry: Logged) -> bool:
        """Whether neither this entry nor any before it is wanted."""
        return bool((self.after and entry.seq <= self.after) or (self.since and entry.ts < self.since))

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
    """What was looked at: numbers, newest first, the position of the first, and those entries that may be wanted.

    `total` is how many there are in all.
    """

    entries: list[Logged]
    seqs: list[int]
    first: int
    total: int


async def _page(call: Call, place: str, *, cursor: tuple[int, int], limit: int, wanted: Wanted) -> _Page:
    """What is looked at: what a page has and one more, or where a filter passes few of them up to `SCAN`."""
    scan = SCAN_WHOLE if call.row.whole else SCAN
    width = scan if wanted.filters else limit + 1
    seqs, first, total, own = await _numbers(call, place, cursor=cursor, width=width, author=wanted.by)
    # What the author's own Log has not, is not theirs; the last is read in any case, since it tells how far one got.
    likely = [n for n in seqs if n in own or n == seqs[-1]] if own is not None else seqs
    entries: list[Logged] = []
    passed = at = 0
    while at < len(likely):
        end = at + STEP if at else limit + 1
        part = await call.look(Stretch(tuple(likely[at:end]), wanted.naming))
        entries += part
        passed += sum(map(wanted.has, part))
        at = end
        if passed > limit or (part and wanted.over(part[-1])):  # later ones are no older
            seqs = seqs[: seqs.index(likely[min(at, len(likely)) - 1]) + 1]
            break
    return _Page(entries, seqs, first, total)


class _Numbers(NamedTuple):
    """Numbers of entries, newest first, the position of the first, and how many there are in all.

    `own` are those among them that the author may have written, None where that is not known.
    """

    seqs: list[int]
    first: int
    total: int
    own: frozenset[int] | None = None


async def _numbers(call: Call, place: str, *, cursor: tuple[int, int], width: int, author: str) -> _Numbers:
    """Of the Log of a place, or of the ledger. A cursor names a position in a list that only grows, and its number."""
    end, mark = cursor
    if not place:
        head = await call.look(Head())
        if end and (end != mark or end > head):
            no_cursor()
        first = end - 1 if end else head
        return _Numbers(list(range(first, max(0, first - width), -1)), first, head)
    beside = [Log(author, width)] if author not in ("", place) else []
    lines, *theirs = await call.look_each([Log(place, width + bool(end), end), *beside])
    if end and (end > lines.size or lines.seqs[-1] != mark):
        no_cursor()
    if not lines.size and not await _there(call, place):
        raise await missing(call, place)
    seqs = lines.seqs[-2::-1] if end else lines.seqs[::-1]
    first = end - 1 if end else lines.size
    return _Numbers(seqs, first, lines.size, _own(seqs, theirs[0]) if theirs else None)


def _own(seqs: Sequence[int], theirs: Lines) -> frozenset[int]:
    """Of these numbers, newest first, those in an author's Log; with those that are older than what was read of it."""
    since = theirs.seqs[0] if theirs.size > len(theirs.seqs) else 0
    return frozenset(theirs.seqs) | frozenset(n for n in seqs if n < since)


async def _there(call: Call, place: str) -> bool:
    """Whether a place is there in which nothing was written yet."""
    return place.partition(":")[0] in PLACES and await call.look(at(place)) is not None


def _shown(call: Call, page: _Page, *, wanted: Wanted, limit: int, where: str) -> Result:
    """The page: what of it is wanted and fits, and the cursor behind the last that was looked at for it."""
    over = next((entry.seq for entry in page.entries if wanted.over(entry)), 0)
    passed = [entry for entry in page.entries if entry.seq > over and wanted.has(entry)]
    shown = passed[:limit]
    lines, fit = (each(shown), len(shown)) if call.row.whole else forward(shown)
    # Where the page is full, it was looked at down to the last that it shows; else down to what is no longer wanted.
    seqs = page.seqs
    last = passed[fit - 1].seq if fit < len(passed) else next((n for n in reversed(seqs) if n > over), 0)
    looked = seqs.index(last) + 1 if last else 0
    position = page.first - looked + 1
    # Nothing is left where all was looked at, down to the first or to what is no longer wanted.
    more = bool(last) and position > 1 and (fit < len(passed) or not over)
    result: Result = {"entries": lines}
    if wanted.filters:
        result["scanned"] = looked
    if not lines:
        result |= {"says": _nothing(call, page, wanted, where=where, more=more), "readable": page.total}
    return {**result, "cursor": sealed(f"{position}.{last}", of=("feed", where))} if more else result


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
