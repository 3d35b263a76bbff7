"""Rows of long lists: what each shows is made here, once, so that a template only puts it in its place."""

import zlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from markupsafe import Markup

from store.domain.entry import sequence
from store.verbs.call import Result

from .inert import ago_time, bare, brief, in_line, left_time

STATES = {  # words and tone of each state of an ask or item
    "pending": ("Waiting for a decision", "open"),
    "approved": ("Approved", "yes"),
    "rejected": ("Rejected", "no"),
    "answered": ("Answered", "yes"),
    "expired": ("Expired: nobody decided", "past"),
    "withdrawn": ("Withdrawn", "past"),
    "redeemed": ("Approved and used", "yes"),
    "lapsed": ("Approval lapsed unused", "past"),
    "taken_back": ("Approval taken back", "no"),
    # Of an item, where an ask has no such state.
    "open": ("Waiting to be taken over", "open"),
    "accepted": ("Accepted", "yes"),
    "declined": ("Declined", "no"),
}
LAST = 10**16  # above every number of an entry
TONES = {  # of kinds that one looks out for
    "asked": "open", "question": "open", "handoff": "open", "huddle": "open", "decided": "link", "redeemed": "yes",
    "fix": "yes", "accepted": "yes", "stuck": "no", "problem": "no", "declined": "no", "taken_back": "no",
    "revoked": "no", "undelivered": "no", "overdue": "open", "expiring": "open", "fact": "link", "synthesis": "link",
}  # fmt: skip
# Their summaries are sentences of ours, in which nobody else's words stand; no agent can write an entry of these kinds.
OUR_SENTENCES = frozenset((
    "minted", "renewed", "revoked", "role", "link", "rule", "signed_in", "signed_out", "created", "started", "redeemed",
    "paired", "unpaired", "on_call", "undelivered", "reminded", "overdue", "accounted", "expiring", "review", "digest",
    "rhythm", "attends",
))  # fmt: skip

Address = Callable[..., str]


class Waits(NamedTuple):
    """A row of the inbox. `at` is what it is sorted by, `current` whether it is what is open beside the list."""

    id: str
    tone: str
    version: str
    at: str
    href: str
    current: bool
    title: Markup
    spoken: str
    state: tuple[str, str] | None
    time: Markup
    by: str
    where: str
    notes: tuple[str, ...]
    risk: str
    undo: str


def waits(rows: Iterable[Result], *, past: bool, v: Result, address: Address, opened: str) -> list[Waits]:
    """The rows of one of the inbox's lists: of what is `past`, or of what waits. `opened` is the id of what is open."""
    return [_waits(a, past, v, address, opened) for a in rows]


def _waits(a: Result, past: bool, v: Result, address: Address, opened: str) -> Waits:
    id, summary = a["trail"], a["summary"]
    of = "item" if "to" in a else "ask"
    notes: tuple[str, ...] = ()
    risk = ""
    if of == "item":
        what = "Seat in a huddle" if "huddle" in a else "Handoff"
        notes = (what if a["to"] == v["caller"] else f"{what} for {a['to']}",)
    elif not past:
        risk = a["risk"] if a["risk"] != "normal" else ""
        notes = ("question asked back",) if a["questioned"] else ()
    state = STATES[a["status"]] if past else None
    undo = address("ask", id, "take-back") if "until" in a else ""
    shown = (summary, state, a["by"], a["where"], notes, risk, undo)
    return Waits(
        id=id,
        tone="past" if past else "open high" if risk == "high" else "open",
        version=f"{zlib.crc32(repr(shown).encode(errors='surrogatepass')):08x}",
        at=a["deadline"],
        href=address(of, id),
        current=id == opened,
        title=in_line(brief(summary)),
        spoken=brief(summary) if undo else "",
        state=state,
        time=ago_time(a["at"], v["now"]) if past else left_time(a["deadline"], v["now"]),
        by=a["by"],
        where=a["where"],
        notes=notes,
        risk=risk,
        undo=undo,
    )


class Line(NamedTuple):
    """A row of the Log. `at` is what it is sorted by; `mark` what has become of it, `matched` why a search found it."""

    id: str
    version: str
    at: str
    href: str
    says: Markup
    mark: Markup
    matched: str
    kind: str
    tone: str
    by: str
    by_href: str
    where: str
    where_href: str
    time: Markup


def lines(entries: Iterable[Result], *, now: str, address: Address, here: Address) -> list[Line]:
    """The rows of these entries. What one says leads to its page; its author and place lead to all else of theirs."""
    known: dict[tuple[str, str], str] = {}

    def all_of(name: str, what: str) -> str:
        if what and (name, what) not in known:
            known[name, what] = here(alone=True, **{name: what})
        return known.get((name, what), "")

    return [_line(e, now, address, all_of) for e in entries]


def _line(e: Result, now: str, address: Address, all_of: Callable[[str, str], str]) -> Line:
    id, kind, by, where = e["id"], e["kind"], e.get("by", ""), e.get("where", "")
    return Line(
        id=id,
        version=f"{kind} {e.get('superseded_by') or e.get('stale') or ''}",
        at=place(id),
        href=address("entry", id),
        says=says(e),
        mark=_mark(e),
        matched=bare(e["matched"]) if "matched" in e else "",
        kind=kind.replace("_", " "),
        tone=TONES.get(kind, ""),
        by=by,
        by_href=all_of("by", by),
        where=where,
        where_href=all_of("where", where),
        time=ago_time(e["at"], now),
    )


def says(e: Result) -> Markup:
    """What an entry says: in quotes, but for sentences that only we can have written."""
    if e["kind"] in OUR_SENTENCES:
        return Markup('<span class="ours">') + bare(e["summary"]) + Markup("</span>")
    return in_line(brief(e["summary"]))


def _mark(e: Result) -> Markup:
    if "superseded_by" in e:
        return Markup('<span class="mark">superseded</span>')
    if e.get("stale"):
        return Markup('<span class="mark due">') + ("due for review" if "fact" in e else "stale") + Markup("</span>")
    return Markup()


def place(entry_id: str) -> str:
    """Where an entry stands among others, for the script: those that came later sort before it."""
    return f"{LAST - sequence(entry_id):017}"
