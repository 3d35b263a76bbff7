"""Jobs in lists, and what a view of one shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..domain import job as rules
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.ids import bare
from ..domain.item import Item
from ..domain.job import OPEN, STAGES, UNOPENED, Job
from ..domain.listing import short
from ..domain.moments import age, iso
from ..domain.slot import Now
from ..engine.reads import Count, Doc, Head, Range, Read
from .call import Call, Result
from .paging import fitting, page, squeezed
from .recipients import principals

STAGES_LISTED = (*STAGES, UNOPENED)
PAGE = 50  # jobs read for one page
TITLE_WIDTH = 100  # characters of a title in a list
TITLE_BUDGET, LINES_BUDGET, NOW_BUDGET = 120, 120, 100  # tokens in a view: of the title, of a list, of a text of Now


async def open_jobs(call: Call, *, agent: str = "", plan: str = "", cursor: str = "") -> Result:
    """Which open jobs are assigned to you, or to another agent, or belong to a plan.

    Returns their titles, stages and ages; changes nothing.
    """
    named = bare(plan, "plan") if plan else ""
    whose = [agent] if agent else []
    (who,) = await principals(call, whose, name="agent", here=False) or ["" if plan else call.me]
    if who:
        ranges = [Range("planned", f"{who}:{named}") if named else Range("jobs", who)]
    else:
        ranges = [Range("plan", f"{named}:{stage}") for stage in OPEN]

    def wanted(job: Job) -> bool:
        return job.stage != "done" and (not who or job.assignee == who) and (not named or job.plan == named)

    what = f"open jobs{f' of {who}' if who else ''}{f' in plan {named}' if named else ''}"
    return await _listed(call, ranges, wanted, cursor=cursor, what=what)


async def jobs(call: Call, *, stage: str = "", plan: str = "", cursor: str = "") -> Result:
    """List all jobs in the space by stage: which are todo, in_progress, in review, done or unopened.

    stage and plan narrow it; cursor: the next page.
    """
    at = rules.stage_named(stage)
    if at and at not in STAGES_LISTED:
        raise Refused(
            "invalid_argument", f"stage is one of {', '.join(STAGES_LISTED)}. Leave it out for all.", argument="stage"
        )
    named = bare(plan, "plan") if plan else ""
    stages = (at,) if at else STAGES_LISTED
    ranges = [Range("plan", f"{named}:{each}") if named else Range("stage", each) for each in stages]

    def wanted(job: Job) -> bool:
        return job.shown_stage in stages and (not named or job.plan == named)

    what = f"jobs{f' in stage {at}' if at else ''}{f' in plan {named}' if named else ''}"
    return await _listed(call, ranges, wanted, cursor=cursor, what=what)


async def _listed(
    call: Call, ranges: Sequence[Range], wanted: Callable[[Job], bool], *, cursor: str, what: str
) -> Result:
    """One page of jobs. What moved while it was read is shown where it is now, or left to another page."""
    paged = await page(call, ranges, cursor=cursor, limit=PAGE)
    lines = await _lines(call, paged.ids(Job), wanted)
    if not lines:
        return await _none(call, what, later=bool(cursor), cursor=paged.next)
    shown = fitting([line for _, line in lines])
    after = paged.after(lines[len(shown)][0]) if len(shown) < len(lines) else paged.next
    return {"jobs": shown, "total": paged.size, **({"cursor": after} if after else {})}


async def _lines(call: Call, ids: Sequence[str], wanted: Callable[[Job], bool]) -> list[tuple[int, Result]]:
    """A line for each job that is wanted, with its place among all of them."""
    reads: list[Read[Any]] = [Doc(Job, id) for id in ids]
    reads += [Doc(Now, f"job:{id}") for id in ids]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    some = [(n, job, now) for n, (job, now) in enumerate(pairs) if job and wanted(job)]
    titles = await call.recall(job.opened for _, job, _ in some)
    return [(n, _line(job, now, titles, at=call.now)) for n, job, now in some]


def _line(job: Job, now: Now | None, titles: Mapping[int | str, Logged], *, at: int) -> Result:
    """A job in a list; its age is how long it has been in its stage."""
    said = {"title": short(titles[job.opened].summary, TITLE_WIDTH)} if job.opened in titles else {}
    terms = {k: v for k, v in rules.terms(job).items() if k != "needs"}
    flag = {"blocked": True} if now and now.blocked and job.stage != "done" else {}
    return {"job": job.name, **said, **terms, "age": age(at - job.at), **flag}


async def _none(call: Call, what: str, *, later: bool, cursor: str) -> Result:
    """The result of a search that found nothing: what was searched, and how much the caller may read there."""
    readable = await call.look(Head())
    space = call.caller.space
    more = "more " if later else ""
    left = " They moved while the list was read; the cursor goes on." if cursor else ""
    says = f"There are no {more}{what} in {space}, of which you may read {readable} entries.{left}"
    return {
        "jobs": [],
        "searched": space,
        "readable": readable,
        "says": f"{says} To open one: logmem_assign {{job, title, to}}",
        **({"cursor": cursor} if cursor else {}),
    }


async def job_view(call: Call, job: Job, now: Now | None) -> tuple[Result, Now | None, Result]:
    """What a view of a job shows besides its Log: Who it is, its Now with each text cut, and what is open in it."""
    held, count = await call.look(
        Range("holds", job.name, rules.HELD_SHOWN, low=call.now), Count("holds", job.name, low=call.now)
    )
    items = await call.look_each(Doc(Item, id) for id in held.ids(Item)) if held.members else []
    entries = await call.recall((job.opened, job.milestones, job.tracks))
    opened = entries.get(job.opened)
    who: Result = {}
    if opened:
        by = opened.entry.by if opened.entry else ""
        who = {"title": squeezed(opened.summary, budget=TITLE_BUDGET), "by": by, "opened_at": iso(opened.ts)}
        who |= {"opened": opened.id}  # the entry, which has all of it
    else:
        who = {"created_by": job.by, "created_at": iso(job.created)}
    who |= {**rules.terms(job), "age": age(call.now - job.at)}
    for part in ("needs", "milestones", "tracks"):
        texts = job.needs if part == "needs" else rules.said_of(job, part, entries)
        if texts:
            who[part] = shown = fitting([squeezed(t, budget=LINES_BUDGET // 3) for t in texts], budget=LINES_BUDGET)
            who |= {f"{part}_left_out": len(texts) - len(shown)} if len(shown) < len(texts) else {}
    still = [rules.held(item) for item in items if item and item.as_of(call.now).state == "open"]
    more = {"holds_left_out": count - len(items)} if count > len(items) else {}
    return who, _cut(now) if now else None, {"holds": still, **more} if still else {}


def _cut(now: Now) -> Now:
    texts: dict[str, Any] = {
        name: squeezed(getattr(now, name), budget=NOW_BUDGET) for name in ("doing", "blocked", "waiting_on")
    }
    return replace(now, **texts)
