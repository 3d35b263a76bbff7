"""The Log: what was written, newest first; filtered, searched, followed, and each entry on a page of its own."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from store.domain.entry import KINDS, NOTE_KINDS, sequence
from store.domain.errors import Refused
from store.domain.ids import Shape, shape
from store.verbs.call import Result

from . import inert
from .frame import Tab
from .inbox import ROWS_SHOWN
from .visit import Page, Visit

ROWS = 50  # entries of a page, where there are as many
CALLS = 8  # of the feed for one page: where a filter lets little through, it says how far it has looked
SEARCHED = 20  # hits of a search
TRAIL = 12  # entries of a trail that stand beside one of them
LAST = 10**16  # above every number of an entry

SETS: dict[str, tuple[str, tuple[str, ...]]] = {  # kinds that one looks for together
    "notes": ("Notes of every kind", NOTE_KINDS),
    "trouble": ("Trouble and questions", ("stuck", "problem", "fix", "question", "answer")),
    "decisions": (
        "Asks and decisions",
        ("asked", "decided", "redeemed", "taken_back", "withdrawn", "expired", "lapsed"),
    ),
    "handing": (
        "Jobs, handoffs and huddles",
        ("assigned", "staged", "handoff", "accepted", "declined", "posted", "huddle", "synthesis"),
    ),
    "shifts": ("Shifts and syncs", ("started", "recap", "status", "bio", "checked_in")),
    "access": (
        "Keys, people and rules",
        ("minted", "renewed", "revoked", "role", "link", "rule", "signed_in", "signed_out"),
    ),
}
ALONE = tuple(sorted(KINDS))  # kinds that one looks for one at a time
SINCE = {"": "Any time", "1h": "The last hour", "24h": "The last 24 hours", "7d": "The last 7 days", "30d": "30 days"}
TONES = {  # of kinds that one looks out for
    "asked": "open", "question": "open", "handoff": "open", "huddle": "open", "decided": "link", "redeemed": "yes",
    "fix": "yes", "accepted": "yes", "stuck": "no", "problem": "no", "declined": "no", "taken_back": "no",
    "revoked": "no", "fact": "link", "synthesis": "link",
}  # fmt: skip
# Their summaries are sentences of ours, in which nobody else's words stand; no agent can write an entry of these kinds.
OUR_SENTENCES = frozenset((
    "minted", "renewed", "revoked", "role", "link", "rule", "signed_in", "signed_out", "created", "started", "redeemed",
))  # fmt: skip

NOTHING = re.compile(" Nothing was (written|read|searched)[.]")  # what a refusal says to who tried to

Said = dict[str, str]
FIELDS = ("q", "where", "by", "kinds", "since", "cursor")


async def everything(visit: Visit) -> Response:
    """A page of the Log, or what a search found; a filter that means nothing is said beside what was typed."""
    said = {name: visit.asked(name).strip() for name in FIELDS}
    now = (await visit.call("connection"))["clock"]
    try:
        found = await (_searched if said["q"] else _read)(visit, said)
    except Refused as no:
        if no.status not in (400, 404) or no.code == "scope_unknown":
            raise
        visit = replace(visit, no=Refused(no.code, NOTHING.sub("", no.message)))
        found = {"caller": visit.caller.principal, "space": visit.space, "lines": []}
    title = f"Search: {inert.brief(said['q'])}" if said["q"] else "Log"
    return visit.page(
        "log.html",
        title=title,
        v={**found, "now": now},
        said=said,
        filtered=_filtered(said),
        follows=not (said["q"] or said["cursor"] or visit.no),
        sets=SETS,
        alone=ALONE,
        spans=SINCE if said["since"] in SINCE else {**SINCE, said["since"]: said["since"]},
        tones=TONES,
        plain=OUR_SENTENCES,
        here=_here(visit, said),
        place=_place,
    )


def _filtered(said: Said) -> list[tuple[str, str, str]]:
    """What the list is narrowed by: the field, a word before what was said, and that."""
    words = {
        "where": ("in", said["where"]),
        "by": ("by", said["by"]),
        "kinds": ("", SETS[said["kinds"]][0] if said["kinds"] in SETS else said["kinds"].replace("_", " ")),
        "since": ("", SINCE.get(said["since"], said["since"])),
    }
    unknown = ("by", "since") if said["q"] else ()  # to a search
    return [(name, *words[name]) for name in words if said[name] and name not in unknown]


def _here(visit: Visit, said: Said) -> Callable[..., str]:
    """Makes addresses of the Log: as it is filtered now, but for what is said anew; alone=True: nothing else."""

    def address(*, alone: bool = False, **changes: str) -> str:
        query = {name: value for name, value in (changes if alone else said | changes).items() if value}
        return f"{visit.address('log')}{'?' * bool(query)}{urlencode(query)}"

    return address


def _place(entry_id: str) -> str:
    """Where an entry stands among others, for the script: those that came later sort before it."""
    return f"{LAST - sequence(entry_id):017}"


def _kinds(said: str) -> list[str] | str:
    if said in SETS:
        return list(SETS[said][1])
    return [kind.strip() for kind in said.split(",")] if said else ""


async def _read(visit: Visit, said: Said) -> Result:
    """A page of the feed: as many calls as fill it, each going on where the one before ended."""
    given: dict[str, Any] = {name: said[name] for name in ("where", "by", "since")}
    lines: list[Result] = []
    found: Result = {}
    looked, cursor = 0, said["cursor"]
    for _ in range(CALLS):
        found = await visit.call("feed", limit=ROWS - len(lines), kinds=_kinds(said["kinds"]), cursor=cursor, **given)
        lines += found["entries"]
        looked += found.get("scanned", len(found["entries"]))
        cursor = found.get("cursor", "")
        if not cursor or len(lines) >= ROWS:
            break
    return {**found, "lines": lines, "looked": looked, "cursor": cursor}


async def _searched(visit: Visit, said: Said) -> Result:
    """What a search found; it knows no author and no time."""
    found = await visit.call(
        "recall", query=said["q"], where=said["where"], kinds=_kinds(said["kinds"]), limit=SEARCHED
    )
    return {**found, "lines": found["hits"]}


async def entry(visit: Visit) -> Response:
    """One entry with all that it holds."""
    return await _one(visit, visit.part("id"))


async def fact(visit: Visit) -> Response:
    """The entry that made a fact; where its text was redacted, what is known of the fact."""
    id = visit.part("id")
    if shape(id) is not Shape.FACT:
        return await _one(visit, id)
    found = await visit.call("view", what=id)
    return visit.to("entry", found["entry"]["id"]) if "entry" in found else await _one(visit, id)


async def _one(visit: Visit, id: str) -> Response:
    wanted = shape(id)
    if wanted not in (Shape.ENTRY, Shape.FACT):
        raise Refused("not_found", "There is no such entry.")
    now = (await visit.call("connection"))["clock"]
    found = await visit.call("view", what=id)
    one = found.get("entry", {"id": id, "kind": "redacted", "summary": "[redacted]"})
    trail: list[Result] = []
    if one.get("trail"):
        around = await visit.call("feed", where=f"trail:{one['trail']}", limit=TRAIL)
        trail = around["entries"] if len(around["entries"]) > 1 else []
    return visit.page(
        "entry.html",
        title=inert.brief(one["summary"]),
        v={**found, "now": now},
        e=one,
        trail=trail,
        tones=TONES,
        plain=OUR_SENTENCES,
        rows_shown=ROWS_SHOWN,
        here=_here(visit, {}),
        leads=_leads(visit),
        states=STATES,
    )


STATES = {"current": ("Holds", "yes"), "due": ("Due for review", "open"), "superseded": ("Superseded", "past")}


def _leads(visit: Visit) -> Callable[[str], str]:
    """The page of a thing by its id, '' where it has none."""
    pages: dict[Any, str] = {Shape.ASK: "ask", Shape.ITEM: "item", Shape.ENTRY: "entry", Shape.FACT: "fact"}

    def address(id: str) -> str:
        page = pages.get(shape(id))
        if page:
            return visit.address(page, id)
        return _here(visit, {})(where=id) if shape(id) is Shape.HUDDLE else ""

    return address


PAGE = Page(Tab("log", "Log", "log"), {"log": everything, "entry/{id}": entry, "fact/{id}": fact})
