"""The jobs: by stage, one stage page by page, and one job with all that is open in it and what one can do to it."""

from typing import Any

from starlette.responses import Response

from store.domain.errors import Refused
from store.verbs.call import Result

from .fleet import DEADLINES, DID, PLAIN, opened, opening, query, sent
from .forms import Fields, Form
from .frame import Tab
from .visit import Page, Posted, Visit

STAGES = {
    "todo": "To do",
    "in_progress": "In progress",
    "review": "In review",
    "done": "Done",
    "unopened": "Not opened",
}
MOVED = {"done": "done", "unopened": "made"}  # what it did when it came to its stage; else it moved there
TONES = {"todo": "past", "in_progress": "open", "review": "open", "done": "yes", "unopened": "past"}
STEPS = {  # what a step to a stage is called, and what it means
    "in_progress": ("Start it", "shows everybody that it is being worked on."),
    "review": ("Send it to review", "says that the work is done and waits to be looked at."),
    "done": ("Mark it done", "ends the job. Nothing more can be handed on or asked in it until it is taken up again."),
}
REPORTS = {  # kinds of a step of a job, in a person's words
    "progress": "Progress",
    "stuck": "Stuck: it does not go on",
    "problem": "Problem: something is wrong",
    "fix": "Fix: how something was put right",
    "memo": "Memo: a remark",
}
BACK = {  # what it means to send it back to a stage
    "todo": "It waits again, and whoever has it keeps it.",
    "in_progress": "It is being worked on again.",
    "review": "It waits to be looked at again.",
}
WORDS: dict[str, Any] = {  # for the templates
    "stages": STAGES,
    "tones": TONES,
    "moved": MOVED,
    "steps": STEPS,
    "back": BACK,
    "kinds": REPORTS,
    "deadlines": DEADLINES,
    "did": DID,
    "plain": PLAIN,
}


async def everything(visit: Visit) -> Response:
    """The board, or one stage of it."""
    stage, plan = visit.asked("stage"), "-".join(visit.asked("plan").lower().split())
    found = await visit.call("board", stage=stage, plan=plan, cursor=visit.asked("cursor") if stage else "")

    def listed(**asked: str) -> str:
        return query(visit, "jobs", **({"plan": plan} | asked))

    title = f"Jobs: {STAGES[found['stages'][0]['stage']]}" if stage else "Jobs"
    return visit.page(
        "jobs.html",
        title=title,
        v=found,
        stage=stage,
        plan=plan,
        listed=listed,
        begins=not visit.asked("cursor"),
        **WORDS,
    )


async def one(visit: Visit) -> Response:
    """A job with its slots, what is open in it, and its forms."""
    found = await visit.call("board", job=visit.part("job"))
    if found["what"] != f"job:{visit.part('job')}":
        return visit.to("job", found["what"].partition(":")[2])
    return visit.page("job.html", title=found["what"], v=found, sent=sent(visit), **WORDS)


async def new(visit: Visit) -> Response:
    """A form that opens a job."""
    found = await visit.call("fleet")
    return visit.page("job_new.html", title="Open a job", v=found, sent="job")


async def _opening(visit: Visit, fields: Fields) -> dict[str, Any]:
    return opening(fields)


async def _again(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Opened anew; without a new title under the one that it has."""
    title = fields.get("title", "").strip()
    if not title:
        title = (await visit.call("board", job=visit.part("job"))).get("title", "")
    given = {name: fields.get(name, "") for name in ("to", "plan", "reason")}
    if not given["reason"].strip():
        raise Refused("reason_required", "Say why it is opened anew. Nothing was written.", argument="reason")
    return {"job": visit.part("job"), "title": title, **given}


async def _update(visit: Visit, fields: Fields) -> dict[str, Any]:
    given = {name: fields.get(name, "") for name in ("summary", "kind", "blocked")}
    if fields.get("unblocked") and not given["blocked"].strip():
        given["blocked"] = "false"
    return {"job": visit.part("job"), **given}


async def _step(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"job": visit.part("job"), "stage": fields.get("stage", ""), "reason": fields.get("reason", "")}


async def _handed(visit: Visit, fields: Fields) -> dict[str, Any]:
    given = {name: fields.get(name, "") for name in ("to", "summary", "deadline")}
    return {"where": f"job:{visit.part('job')}", **given}


async def _withdrawn(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"withdraw": fields.get("trail", "") or "none"}


async def _synthesis(visit: Visit, fields: Fields) -> dict[str, Any]:
    about = {"where": f"job:{visit.part('job')}", "answers": fields.get("huddle", "")}
    return {**about, "kind": "synthesis", "summary": fields.get("synthesis", "")}


def _there(visit: Visit, done: Result) -> Response:
    return visit.to("job", visit.part("job"))


PAGE = Page(
    Tab("jobs", "Jobs", "jobs"),
    {"jobs": everything, "jobs/new": new, "job/{job}": one},
    (
        Posted(Form("jobs/new", "assign", _opening), opened, new),
        Posted(Form("job/{job}/stage", "stage", _step), _there, one),
        Posted(Form("job/{job}/send-back", "stage", _step), _there, one),
        Posted(Form("job/{job}/update", "update", _update), _there, one),
        Posted(Form("job/{job}/handoff", "handoff", _handed), _there, one),
        Posted(Form("job/{job}/assign", "assign", _again), _there, one),
        Posted(Form("job/{job}/take-back", "handoff", _withdrawn), _there, one),
        Posted(Form("job/{job}/close", "note", _synthesis), _there, one),
    ),
)
