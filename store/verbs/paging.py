"""Pages: a long list in parts, each going on after the last member of the one before.

    page(call, ranges, cursor=, limit=) -> Paged
    sealed(position, of=) -> cursor; opened(cursor, of=) -> position
    fitting(lines, budget=) -> list of lines
    squeezed(text, budget=) -> text

A cursor names a position (score and member), never an offset, so that nothing is left out or said twice when members
come or leave between two pages, also those that the cursor names. Whoever moves meanwhile is seen where they are then.
"""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from ..domain.document import Document
from ..domain.errors import Refused
from ..domain.listing import short
from ..domain.text import one_line
from ..domain.tokens import tokens_upper
from ..engine.reads import Count, Range, Read, Scored
from .call import Call

BUDGET = 1750  # tokens of the lines of a page; what stands around them has the rest of a result's 2,000
WIDTHS = (1000, 200, 120, 80, 40, 20)  # characters that a text may be cut to
WIDEN = 8  # by how much more is read where many members have the cursor's score

L = TypeVar("L")

_CURSOR = re.compile(r"[A-Za-z0-9_-]{8,400}")
_POSITION = re.compile(r"([0-9]{1,3})\.([0-9]{1,16})\.(\S+)")
_PLAIN = re.compile(r"[A-Za-z0-9@/][A-Za-z0-9_.:/@+=-]{0,199}")
_Place = tuple[int, str]  # where a member stands in its index: score, `kind:id`


@dataclass(frozen=True, slots=True)
class Paged:
    """One page of a list: `members` as (kind, id), and the `size` of the whole list now."""

    members: list[tuple[str, str]]
    size: int
    cursors: list[str]  # that go on after each member
    more: bool  # there are members after these

    def ids(self, kind: type[Document]) -> list[str]:
        """The ids of the members of one kind."""
        return [id for k, id in self.members if k == kind.kind]

    def after(self, shown: int) -> str:
        """The cursor that goes on after the first `shown` members (one or more), '' when that was all."""
        return self.cursors[shown - 1] if shown and (self.more or shown < len(self.members)) else ""

    @property
    def next(self) -> str:
        """The cursor that goes on after this page, '' when it is the last."""
        return self.after(len(self.members))


async def page(call: Call, ranges: Sequence[Range], *, cursor: str = "", limit: int) -> Paged:
    """Up to `limit` members of these indexes, one index after the other; from its begin, or on from a cursor.

    Of a range its name, owner, `latest` and bounds count. Refuses invalid_argument: no cursor of this list.
    """
    first, last = _opened(cursor, ranges) if cursor else (0, None)
    spans = [replace(r, limit=limit + 1, offset=0) for r in ranges[first:]]
    if last:
        spans[0] = _from(spans[0], last)
    reads: list[Read[Any]] = [*(Count(r.name, r.owner, r.low, r.high) for r in ranges), *map(Scored, spans)]
    found = await call.look_each(reads)
    sizes, parts = found[: len(ranges)], found[len(ranges) :]
    if last:
        parts[0] = await _past(call, spans[0], parts[0], last)
    # Commands of one trip are not one moment: who moved from one index to the next may be in both.
    members: dict[str, str] = {}
    for n, part in enumerate(parts, first):
        for score, ref in part:
            members.setdefault(ref, _cursor(ranges, n, (score, ref)))
    shown = list(members)[:limit]
    return Paged(
        members=[(kind, id) for kind, _, id in (ref.partition(":") for ref in shown)],
        size=sum(sizes),
        cursors=[members[ref] for ref in shown],
        more=len(members) > limit,
    )


def _from(span: Range, last: _Place) -> Range:
    """The range from where the cursor stands; others may stand there too."""
    if span.latest:
        return replace(span, high=min(span.high or last[0], last[0]))
    return replace(span, low=max(span.low, last[0]))


async def _past(call: Call, span: Range, part: list[_Place], last: _Place) -> list[_Place]:
    """What of this part comes after the cursor; more is read while all that was has its score."""
    wanted = span.limit
    while True:
        new = [place for place in part if (place < last if span.latest else place > last)]
        if len(new) >= wanted or len(part) < span.limit:
            return new
        # In one command: by offsets, somebody who leaves between two would move others out of sight.
        span = replace(span, limit=span.limit * WIDEN)
        part = await call.look(Scored(span))


def _cursor(ranges: Sequence[Range], n: int, place: _Place) -> str:
    return sealed(f"{n}.{place[0]}.{place[1]}", of=_list(ranges))


def _opened(cursor: str, ranges: Sequence[Range]) -> tuple[int, _Place]:
    """The index and position that a cursor names. Refuses invalid_argument."""
    said = _POSITION.fullmatch(opened(cursor, of=_list(ranges)))
    if said is None or int(said[1]) >= len(ranges):
        no_cursor()
    return int(said[1]), (int(said[2]), said[3])


def _list(ranges: Sequence[Range]) -> list[tuple[str, str, bool]]:
    return [(r.name, r.owner, r.latest) for r in ranges]


def sealed(position: str, *, of: object) -> str:
    """The cursor of a position in a list; `of` is what tells the list from others, and is the same when it is read."""
    text = f"{_seal(position, of)}.{position}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def opened(cursor: str, *, of: object) -> str:
    """The position that a cursor names. Refuses invalid_argument: of another list, or cut or changed on the way."""
    if not _CURSOR.fullmatch(cursor):
        no_cursor()
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        no_cursor()
    position = text.partition(".")[2]
    if sealed(position, of=of) != cursor:
        no_cursor()
    return position


def _seal(position: str, of: object) -> str:
    return f"{zlib.crc32(repr((of, position)).encode()):x}"


def no_cursor() -> NoReturn:
    """Refuse a cursor that is none of this list."""
    raise Refused(
        "invalid_argument",
        "cursor is what an earlier page of the same list gave, with the same other arguments. Nothing was written. "
        "Leave it out to begin at the first page.",
        argument="cursor",
    )


def fitting(lines: Iterable[L], *, budget: int = BUDGET) -> list[L]:
    """The first of the lines that a result has room for (tokens, as JSON and as text), at least one."""
    fit: list[L] = []
    for line in lines:
        budget -= price(line)
        if budget < 0 and fit:
            break
        fit.append(line)
    return fit


def squeezed(text: str, *, budget: int) -> str:
    """The text, cut to what has room in so many tokens."""
    return next((cut for width in WIDTHS if price(cut := short(text, width)) <= budget), short(text, WIDTHS[-1]))


def plain(text: str) -> bool:
    """Whether it is an id, a code, a time or a path, which is of no use when it is cut."""
    return bool(_PLAIN.fullmatch(text))


def price(value: Any) -> int:
    """What a part of a result costs at most in tokens, as JSON and as text with all that is written in quotes."""
    return max(tokens_upper(json.dumps(value, ensure_ascii=False, separators=(",", ":"))), tokens_upper(_text(value)))


def _text(value: Any) -> str:
    match value:
        case str():
            return one_line(value, 10 * len(value))
        case Mapping():
            return f"- ({'; '.join(f'{key}: {_text(each)}' for key, each in value.items())})\n"
        case list() | tuple():
            return ", ".join(map(_text, value))
    return json.dumps(value)
