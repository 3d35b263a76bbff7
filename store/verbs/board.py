"""Jobs as people see them: a board by stage, one stage page by page, and one job with all that is open in it."""

from collections.abc import Sequence
from typing import Any

from ..domain import huddle as huddles
from ..domain import job as rules
from ..domain.document import Document
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.huddle import Huddle
from ..domain.ids import Shape, bare, shape
from ..domain.item import Item
from ..domain.job import STAGES, UNOPENED, Job
from ..domain.moments import iso
from ..domain.person import Member
from ..domain.slot import Now, Who
from ..engine.reads import Count, Doc, Lines, Log, Numbered, Range, Read
from .call import Call, Result
from .fleet import shown_slot
from .holdings import GONE, LOG, item_line, newest
from .paging import page
from .places import missing

COLUMNS = (*STAGES, UNOPENED)
COLUMN = 10  # jobs of each stage on the board
PAGE = 50  # jobs on a page of one stage
HELD = 20  # open handoffs and seats of one job
HUDDLES = 5
NAMES = 50  # principals that a form proposes


async def board(call: Call, *, stage: str = "", plan: str = "", job: str = "", cursor: str = "") -> Result:
    """Jobs by stage, who is longest in it first; of those that are done, the latest.

    stage, with cursor: all of one. plan narrows it. job: one with all that is open in it, and its next steps.
    """
    if job:
        return await _job(call, bare(job, "job"))
    at = rules.stage_named(stage)
    if at and at not in COLUMNS:
        raise Refused("invalid_argument", f"stage is one of {', '.join(COLUMNS)}.", argument="stage")
    named = bare(plan, "plan") if plan else ""
    if at:
        paged = await page(call, (_range(at, named),), cursor=cursor, limit=PAGE)
        columns, after = [(at, paged.ids(Job), paged.size)], paged.next
    else:
        columns, after = await _columns(call, named), ""
    lines = await _lines(call, [id for _, ids, _ in columns for id in ids])
    # What moved while it was read is shown where it is now.
    shown = [line for line in lines if not named or line.get("plan") == named]
    return {
        "stages": [
            {"stage": name, "count": size, "jobs": [line for line in shown if line["stage"] == name]}
            for name, _, size in columns
        ],
        "plans": sorted({line["plan"] for line in shown if "plan" in line}),
        **({"cursor": after} if after else {}),
        "may": list(call.may),
        "now": iso(call.now),
    }


def _range(stage: str, plan: str, limit: int = COLUMN) -> Range:
    """The index of a stage, in all or in one plan."""
    name, owner = ("plan", f"{plan}:{stage}") if plan else ("stage", stage)
    return Range(name, owner, limit, latest=stage == "done")


async def _columns(call: Call, plan: str) -> list[tuple[str, list[str], int]]:
    found = await call.look_each(_range(stage, plan) for stage in COLUMNS)
    return [(stage, part.ids(Job), part.size) for stage, part in zip(COLUMNS, found, strict=True)]


async def _lines(call: Call, ids: Sequence[str]) -> list[Result]:
    """A line for each job, in this order, with what is open in it."""
    reads: list[Read[Any]] = []
    for id in dict.fromkeys(ids):
        name = f"job:{id}"
        reads += [Doc(Job, id), Doc(Now, name), Count("holds", name, low=call.now)]
    got = await call.look_each(reads) if reads else []
    found = [(got[n], got[n + 1], got[n + 2]) for n in range(0, len(got), 3) if got[n]]
    said = await call.recall(job.opened for job, _, _ in found)
    return [_line(job, now, held, said.get(job.opened)) for job, now, held in found]


def _line(job: Job, now: Now | None, held: int, said: Logged | None) -> Result:
    flags = {"blocked": now.blocked if now and job.stage != "done" else "", "holds": held, "plan": job.plan}
    facts = {"stage": job.shown_stage, "assignee": job.assignee, "by": job.by, "since": iso(job.at)}
    text = {"title": said.summary} if said else {}
    return {"job": job.name, **text, **{k: v for k, v in {**facts, **flags}.items() if v}}


async def _job(call: Call, id: str) -> Result:
    """One job. Refuses not_found."""
    name = f"job:{id}"
    job, now, lines = await call.look(Doc(Job, id), Doc(Now, name), Log(name, LOG))
    if job is None:
        raise await missing(call, name)
    held, count, here, people = await call.look(
        Range("holds", name, HELD, low=call.now),
        Count("holds", name, low=call.now),
        Range("roster", "", NAMES, latest=True),
        Range("members", "", NAMES),
    )
    log, items = await _log_and_items(call, lines, held.ids(Item))
    texts = [job.opened, job.milestones, job.tracks, *(item.sent for item in items)]
    said = await call.recall(texts)
    still = [item for item in items if item.as_of(call.now).state == "open"]
    left = count - len(items)
    names = [*(n for n in here.ids(Who) if n.startswith("agent:")), *people.ids(Member)]
    return {
        "what": name,
        **_line(job, now, count, said.get(job.opened)),
        "who": _who(job, said),
        **({"slot": shown_slot(now, call.now)} if now else {}),
        "steps": [{"to": to, "reason": back} for to, back in rules.steps("stage", job.stage).items()],
        "open": [item_line(item, said.get(item.sent)) for item in sorted(still, key=lambda i: (i.deadline, i.id))],
        **({"open_left_out": left} if left > 0 else {}),
        "huddles": await _huddles(call, still, log),
        "log": newest(log),
        "log_total": lines.size,
        "here": sorted(names),
        "may": list(call.may),
        "now": iso(call.now),
    }


async def _log_and_items(call: Call, lines: Lines, ids: Sequence[str]) -> tuple[list[Logged], list[Item]]:
    reads: list[Read[Any]] = [*map(Numbered, lines.seqs), *(Doc(Item, id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    return [e for e in found if isinstance(e, Logged)], [i for i in found if isinstance(i, Item)]


def _who(job: Job, said: Any) -> Result:
    opened = said.get(job.opened)
    by = opened.entry.by if opened and opened.entry else job.by
    known = {"needs": list(job.needs), **{part: rules.said_of(job, part, said) for part in ("milestones", "tracks")}}
    return {"by": by, "at": iso(opened.ts if opened else job.created), **{k: v for k, v in known.items() if v}}


async def _huddles(call: Call, items: Sequence[Item], log: Sequence[Logged]) -> list[Result]:
    """Huddles of the job: those with seats that are open, and those that its newest entries speak of."""
    trails = [item.huddle for item in items if item.huddle]
    trails += [e.entry.trail for e in reversed(log) if e.entry and shape(e.entry.trail) is Shape.HUDDLE]
    ids = list(dict.fromkeys(trails))[:HUDDLES]
    found: list[Document | None] = list(await call.look_each(Doc(Huddle, id) for id in ids)) if ids else []
    known = [huddle for huddle in found if isinstance(huddle, Huddle)]
    seats = await call.look_each(Doc(Item, seat) for huddle in known for seat in huddle.seats) if known else []
    by_id = {seat.id: seat for seat in seats if seat}
    said = await call.recall(
        [*(h.asked for h in known), *(h.synthesis for h in known), *(seat.ended for seat in by_id.values())]
    )
    return [_huddle(call, huddle, [by_id[id] for id in huddle.seats if id in by_id], said) for huddle in known]


def _huddle(call: Call, huddle: Huddle, seats: Sequence[Item], said: Any) -> Result:
    """A huddle with its question, each seat with what its holder said, and its synthesis."""
    stands = huddles.standing(huddle, seats, call.now, me=call.me)
    told = [
        {**line, **({"said": said[seat.ended].summary} if seat.ended in said else {})}
        for line, seat in zip(stands["seats"], seats, strict=True)
    ]
    closing = {"synthesis": said[huddle.synthesis].summary} if huddle.synthesis in said else {}
    facts = {k: v for k, v in stands.items() if k not in ("next", "synthesis", "says")}
    question = said[huddle.asked].summary if huddle.asked in said else GONE
    return {"huddle": huddle.id, **facts, "seats": told, "question": question, **closing}
