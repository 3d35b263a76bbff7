"""The Log: what was written, newest first; filtered, searched, followed, and each entry on a page of its own."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from store.domain.entry import KINDS, NOTE_KINDS
from store.domain.errors import Refused
from store.domain.ids import Shape, shape
from store.verbs.call import Result

from . import inert
from .frame import Tab
from .inbox import ROWS_SHOWN
from .rows import OUR_SENTENCES, lines
from .visit import Page, Visit

ROWS = 50  # entries of a page, where there are as many
SEARCHED = 20  # hits of a search
TRAIL = 12  # entries of a trail that stand beside one of them

SETS: dict[str, tuple[str, tuple[str, ...]]] = {  # kinds that one looks for together
    "notes": ("Notes of every kind", NOTE_KINDS),
    "trouble": ("Trouble and questions", ("stuck", "problem", "fix", "question", "answer")),
    "decisions": (
        "Asks and decisions",
        ("asked", "decided", "redeemed", "taken_back", "withdrawn", "expired", "lapsed", "undelivered", "reminded"),
    ),
    "handing": (
        "Jobs, handoffs and huddles",
        ("assigned", "staged", "handoff", "accepted", "declined", "posted", "huddle", "synthesis"),
    ),
    "shifts": (
        "Shifts and syncs",
        ("started", "recap", "status", "bio", "checked_in", "overdue", "accounted", "digest", "rhythm", "attends"),
    ),
    "access": (
        "Keys, people and rules",
        (
            "minted",
            "renewed",
            "revoked",
            "role",
            "link",
            "rule",
            "signed_in",
            "signed_out",
            "paired",
            "unpaired",
            "on_call",
            "expiring",
        ),
    ),
}
ALONE = tuple(sorted(KINDS))  # kinds that one looks for one at a time
SINCE = {"": "Any time", "1h": "The last hour", "24h": "The last 24 hours", "7d": "The last 7 days", "30d": "30 days"}
NOTHING = re.compile(" Nothing was (written|read|searched)[.]")  # what a refusal says to who tried to

Said = dict[str, str]
FIELDS = ("q", "where", "by", "kinds", "since", "cursor")


async def everything(visit: Visit) -> Response:
    """A page of the Log, or what a search found; a filter that means nothing is said beside what was typed."""
    said = {name: visit.asked(name).strip() for name in FIELDS}
    here = _here(visit, said)
    try:
        found = await (_searched if said["q"] else _read)(visit, said)
    except Refused as no:
        if no.status not in (400, 404) or no.code == "scope_unknown":
            raise
        visit = replace(visit, no=Refused(no.code, NOTHING.sub("", no.message)))
        found = {**await visit.call("connection"), "lines": []}
    title = f"Search: {inert.brief(said['q'])}" if said["q"] else "Log"
    return visit.page(
        "log.html",
        title=title,
        v=found,
        said=said,
        filtered=_filtered(said),
        follows=not (said["q"] or said["cursor"] or visit.no),
        sets=SETS,
        alone=ALONE,
        spans=SINCE if said["since"] in SINCE else {**SINCE, said["since"]: said["since"]},
        rows=lines(found["lines"], now=found["now"], address=visit.address, here=here),
        here=here,
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


def _kinds(said: str) -> list[str] | str:
    if said in SETS:
        return list(SETS[said][1])
    return [kind.strip() for kind in said.split(",")] if said else ""


async def _read(visit: Visit, said: Said) -> Result:
    """A page of the feed; where a filter lets little through, it says how far it has looked."""
    given: dict[str, Any] = {name: said[name] for name in ("where", "by", "since", "cursor")}
    found = await visit.call("feed", limit=ROWS, kinds=_kinds(said["kinds"]), **given)
    return {"cursor": "", **found, "lines": found["entries"], "looked": found.get("scanned", len(found["entries"]))}


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
    found = await visit.call("view", what=id)
    here = _here(visit, {})
    one = found.get("entry", {"id": id, "kind": "redacted", "summary": "[redacted]"})
    trail: list[Result] = []
    if one.get("trail"):
        around = await visit.call("feed", where=f"trail:{one['trail']}", limit=TRAIL)
        trail = around["entries"] if len(around["entries"]) > 1 else []
    return visit.page(
        "entry.html",
        title=inert.brief(one["summary"]),
        v=found,
        e=one,
        trail=lines(trail, now=found["now"], address=visit.address, here=here),
        plain=OUR_SENTENCES,
        rows_shown=ROWS_SHOWN,
        here=here,
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
