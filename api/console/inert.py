"""What pages show of text and times: every text as something to read, never as something that acts.

Text of agents goes through `said`, `lines` or `tree`: quoted, with control, bidi and zero-width characters as visible
escapes (store.domain.text), so that two texts that differ never look the same: where a line could be drawn as another
text's is, it says so (store.domain.drawn), and a title is followed by that. The templates escape markup.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup, escape

from store.domain import drawn
from store.domain.moments import DAY, HOUR, MINUTE, SECOND, age, since, span
from store.domain.text import one_line
from store.verbs.canonical import canonical

# Of the templates.
FILTERS = (
    "said",
    "exactly",
    "doubtful",
    "brief",
    "shown",
    "escapes",
    "lines",
    "tree",
    "flat",
    "bare",
    "utc",
    "ago",
    "left",
    "held",
    "verb",
    "version",
    "in_line",
    "ago_time",
    "left_time",
    "in_time",
)
PASSING = ("now", "says", "stands", "until", "age")  # what a result says otherwise each time, though nothing changed
# Kinds whose summary is a sentence of ours; what somebody said with it stands in the payload.
OURS = frozenset(("decided", "taken_back", "redeemed", "withdrawn", "expired", "lapsed", "accepted", "redacted"))
VERBS = {"approve": "approved", "reject": "rejected", "answer": "answered", "question": "asked", "redeemed": "used it"}
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
ESCAPES = re.compile(r'((?:\\u[0-9a-f]{4}|\\U[0-9a-f]{8})+|\\[nrtl"\\])')
MARKED = 2000  # escapes of one text that are marked; one with more is shown without marks, so that its page stays light
ESCAPED = 10  # characters that one becomes at most
BRIEF = 200  # characters of a text on a list
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

_TIME = '<time datetime="%s" data-rel="%s" title="%s">%s</time>'


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value as a page shows it: its key or number, then a word, the lines of a text, or what it holds."""

    label: str
    kind: str  # word, text, list or object
    lines: Sequence[str] = ()
    items: "Sequence[Node]" = ()

    @property
    def rows(self) -> int:
        """How many lines it takes on a page that is wide enough."""
        if self.items:
            return bool(self.label) + sum(item.rows for item in self.items)
        return len(self.lines) + (len(self.lines) > 1 and bool(self.label))


def said(text: str) -> str:
    """A text in quotes, on one line, whole, as one reads it: another may be drawn like it (`doubtful`)."""
    return one_line(text, ESCAPED * len(text))


def doubtful(text: str) -> bool:
    """Whether another text could be drawn as `said` writes this one."""
    return drawn.ambiguous(said(text)[1:-1])


def exactly(text: str) -> str:
    """A text in quotes, on one line, whole, and drawn as no other is."""
    return _told_apart(said(text))


def brief(text: str, left: int = 0) -> str:
    """A text in quotes, on one line, cut to what a list shows of it; how much was cut is said, `left` of it before."""
    return _told_apart(one_line(text, BRIEF, left=left))


def _told_apart(line: str) -> str:
    shown, quote, rest = line[1:].rpartition('"')
    return f'"{drawn.exact(shown)}{quote}{rest}' if drawn.ambiguous(shown) else line


def escapes(line: str) -> Markup:
    """Escaped text for a page, with each escape marked: what hides in a text should strike the eye."""
    if "\\" not in line:
        return escape(line)
    parts = ESCAPES.split(line)  # text and escapes by turns
    if len(parts) > 2 * MARKED:
        return escape(line)
    kinds = {"\\n": "esc eol", "\\\\": "", '\\"': ""}
    marked = [
        Markup('<span class="{}">{}</span>').format(kind, part)
        if n % 2 and (kind := kinds.get(part, "esc"))
        else escape(part)
        for n, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def shown(text: str) -> Markup:
    """`exactly`, with its escapes marked."""
    return escapes(exactly(text))


def in_line(line: str) -> Markup:
    """A text on one line as `brief`, `exactly` or `said` make it, apart from what is around it, its escapes marked."""
    return Markup(f'<bdi dir="ltr">{escapes(line)}</bdi>')  # noqa: S704 - what is put in is escaped


def bare(text: str) -> str:
    """A sentence of our own, which may hold names from elsewhere: quotes and backslashes stay as they are."""
    line = "".join(part if part in ('"', "\\") else said(part)[1:-1] for part in re.split(r'(["\\])', text))
    return drawn.exact(line) if drawn.ambiguous(line) else line


def lines(text: str) -> list[str]:
    r"""A text in quotes, a piece for each of its lines; where one ends, `\n` is shown. Each is drawn as no other is."""
    pieces = [exactly(piece)[1:-1] for piece in text.split("\n")]
    pieces = [*(f"{piece}\\n" for piece in pieces[:-1]), pieces[-1]]
    return [f"{'' if n else chr(34)}{piece}{chr(34) if n == len(pieces) - 1 else ''}" for n, piece in enumerate(pieces)]


def tree(value: Any, label: str = "") -> Node:
    """A JSON value, injectively: texts and keys in quotes (but plain words as keys), numbers in canonical form."""
    match value:
        case str():
            return Node(label, "text", lines(value))
        case dict() if value:
            return Node(label, "object", items=[tree(inner, _key(key)) for key, inner in value.items()])
        case list() if value:
            return Node(label, "list", items=[tree(inner, str(n)) for n, inner in enumerate(value, 1)])
    return Node(label, "word", [canonical(value).decode()])


def flat(value: Any) -> str:
    """A JSON value on one line, in canonical form, inert as `said` makes it but for its own quotes and backslashes."""
    return bare(canonical(value).decode())


def version(result: Mapping[str, Any]) -> str:
    """A mark of what is shown, for the script: the same until something changes but the time that passed."""
    return hashlib.sha256(json.dumps(_lasting(result), sort_keys=True, default=str).encode()).hexdigest()[:16]


def _lasting(value: Any) -> Any:
    match value:
        case dict():
            return {name: _lasting(inner) for name, inner in value.items() if name not in PASSING}
        case list():
            return [_lasting(inner) for inner in value]
    return value


def _key(key: str) -> str:
    return key if PLAIN_KEY.fullmatch(key) else exactly(key)


def ms(iso: str) -> int:
    """Ms since 1970 of a time in a result."""
    return (datetime.fromisoformat(iso) - EPOCH) // MILLISECOND


def utc(iso: str) -> str:
    """`30 Nov 2026, 10:48 UTC`."""
    at = datetime.fromisoformat(iso)
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}, {at.hour:02}:{at.minute:02} UTC"


def ago(iso: str, now: str) -> str:
    """`3 min ago`."""
    return since(ms(now) - ms(iso))


def left(iso: str, now: str) -> str:
    """`24 h left`, or `over`."""
    rest = ms(iso) - ms(now)
    # To the nearest: an ask for a day has 24 h left while its page loads.
    unit = next((unit for below, unit in ((MINUTE, SECOND), (HOUR, MINUTE), (2 * DAY, HOUR)) if rest < below), DAY)
    return f"{age(max(rest + unit // 2, 5 * SECOND)).removesuffix(' ago')} left" if rest > 0 else "over"


def ago_time(iso: str, now: str) -> Markup:
    """`ago` that goes on counting with the script."""
    return Markup(_TIME % (iso, "ago", utc(iso), ago(iso, now)))  # noqa: S704 - all of it is our own


def left_time(iso: str, now: str) -> Markup:
    """`left` that goes on counting with the script."""
    return Markup(_TIME % (iso, "left", f"until {utc(iso)}", left(iso, now)))  # noqa: S704 - all of it is our own


def ahead(iso: str, now: str) -> str:
    """`in 24 h`, or `now`."""
    said = left(iso, now)
    return "now" if said == "over" else f"in {said.removesuffix(' left')}"


def in_time(iso: str, now: str) -> Markup:
    """`ahead` that goes on counting with the script."""
    return Markup(_TIME % (iso, "in", utc(iso), ahead(iso, now)))  # noqa: S704 - all of it is our own


def held(seconds: int) -> str:
    """How long an approval holds: `24 h`."""
    return span(seconds * SECOND)


def verb(kind: str) -> str:
    """What somebody did, from the kind of their entry or their verdict."""
    return VERBS.get(kind, kind.replace("_", " "))
