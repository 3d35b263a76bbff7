"""The fleet: who needs a look, who is at work, who is idle; and one of them with what a person can give them."""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from store.domain.slot import slug
from store.verbs.call import Result

from .forms import Fields, Form
from .frame import Tab, quoted, to
from .rows import OUR_SENTENCES
from .visit import Page, Posted, Visit

STATES = {  # word and tone of each state of a principal
    "blocked": ("Blocked", "no"),
    "stale": ("Stale", "open"),
    "at work": ("At work", "yes"),
    "idle": ("Idle", "past"),
    "left": ("Left", "past"),
}
KINDS = {  # of notes that a person writes, and what each is
    "memo": "Memo: a remark for whoever reads on",
    "question": "Question: something that you want to know",
    "problem": "Problem: something that is wrong",
    "fix": "Fix: how something was put right",
    "fact": "Fact: something to remember, reviewed after 90 days",
}
DID = {  # what somebody did, by the kind of their entry, where the kind's own word is no verb
    "asked": "asked for a decision",
    "assigned": "opened the job",
    "bio": "changed the profile",
    "checked_in": "checked in",
    "fact": "said to remember",
    "fix": "reported a fix",
    "handoff": "handed over",
    "huddle": "asked in a huddle",
    "link": "made a sign-in link",
    "memo": "noted",
    "minted": "made a key",
    "posted": "left a message",
    "problem": "reported a problem",
    "progress": "reported",
    "recap": "ended the shift with",
    "role": "gave a role",
    "staged": "moved it",
    "status": "said",
    "stuck": "is stuck",
    "synthesis": "summed up",
}
PLAIN = OUR_SENTENCES | {"staged"}
DEADLINES = {"1h": "1 hour", "4h": "4 hours", "": "24 hours", "3d": "3 days", "7d": "7 days"}  # '' is the usual one
ID_LIMIT = 63  # characters of a job's id


async def everybody(visit: Visit) -> Response:
    """Blocked and stale first, then at work, then idle."""
    found = await visit.call("fleet", find=visit.asked("find"), cursor=visit.asked("cursor"))
    groups = [
        ("look", "Blocked or stale", ("blocked", "stale")),
        ("work", "At work", ("at work",)),
        ("idle", "Idle", ("idle",)),
    ]
    shown = [
        (id, heading, [one for one in found["principals"] if one["state"] in states], _counted(found, states))
        for id, heading, states in groups
    ]
    onwards = query(visit, "fleet", find=visit.asked("find"), cursor=found.get("cursor", ""))
    return visit.page(
        "fleet.html",
        title="Fleet",
        v=found,
        groups=shown,
        states=STATES,
        find=visit.asked("find"),
        begins=not visit.asked("cursor"),
        onwards=onwards,
    )


def _counted(found: Result, states: tuple[str, ...]) -> int:
    return sum(found["counts"].get(state, 0) for state in states)


def query(visit: Visit, path: str, **asked: str) -> str:
    """An address in this space with these parameters; empty ones are left out."""
    given = urlencode({name: value for name, value in asked.items() if value})
    return f"/s/{quoted(visit.space)}/{path}{'?' if given else ''}{given}"


async def one(visit: Visit) -> Response:
    """Who, Now and Log of one, and what is open with them."""
    found = await visit.call("fleet", principal=visit.part("who"))
    if found["what"] != visit.part("who"):
        return visit.to("fleet", found["what"])
    return visit.page(
        "principal.html",
        title=found["what"],
        v=found,
        states=STATES,
        kinds=KINDS,
        deadlines=DEADLINES,
        did=DID,
        plain=PLAIN,
        sent=sent(visit),
    )


def sent(visit: Visit) -> str:
    """Which form of the page was refused: the last word of its address, '' where none was."""
    return visit.request.url.path.rpartition("/")[2] if visit.no else ""


async def writing(visit: Visit) -> Response:
    """A form for a note anywhere."""
    found = await visit.call("fleet")
    return visit.page("note.html", title="Write a note", v=found, kinds=KINDS, where=visit.asked("where"), sent="note")


async def _note(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"where": fields.get("where", ""), "kind": fields.get("kind", ""), "summary": fields.get("text", "")}


async def _note_to(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {**await _note(visit, fields), "where": visit.part("who")}


async def _handed(visit: Visit, fields: Fields) -> dict[str, Any]:
    given = {name: fields.get(name, "") for name in ("where", "summary", "deadline")}
    return {"to": visit.part("who"), **given}


async def _job_for(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {**opening(fields), "to": visit.part("who")}


def opening(fields: Fields) -> dict[str, Any]:
    """What opens a job; without an id it is named after its title."""
    title = fields.get("title", "")
    named = {"job": fields.get("job", "").strip() or slug(title)[:ID_LIMIT].strip("-") or title, "title": title}
    lines = [line for line in fields.get("milestones", "").split("\n") if line.strip()]
    return {
        **named,
        "to": fields.get("to", ""),
        "plan": fields.get("plan", ""),
        **({"milestones": lines} if lines else {}),
    }


def _there(visit: Visit, done: Result) -> Response:
    return visit.to("fleet", visit.part("who"))


def place(visit: Visit, where: str) -> Response:
    """The page of a place."""
    kind, _, id = where.partition(":")
    if kind == "job":
        return visit.to("job", id)
    return visit.to("fleet", where) if kind in ("agent", "human") else to(query(visit, "log", where=where))


def _written(visit: Visit, done: Result) -> Response:
    return place(visit, done["entry"]["where"])


def opened(visit: Visit, done: Result) -> Response:
    """To the job that was opened."""
    return place(visit, done["job"])


PAGE = Page(
    Tab("fleet", "Fleet", "fleet"),
    {"fleet": everybody, "fleet/note": writing, "fleet/{who}": one},
    (
        Posted(Form("fleet/note", "note", _note), _written, writing),
        Posted(Form("fleet/{who}/note", "note", _note_to), _there, one),
        Posted(Form("fleet/{who}/handoff", "handoff", _handed), _there, one),
        Posted(Form("fleet/{who}/job", "assign", _job_for), opened, one),
    ),
)
