"""Jobs: opened, and taken step by step to their end."""

from ..domain import job as rules
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import ABSENT, PLACEHOLDER, check_note_kind, check_summary
from ..domain.errors import Refused
from ..domain.ids import bare, near
from ..domain.item import Item
from ..domain.job import UNOPENED, Job
from ..domain.slot import Now, blocked_by, check_waiting, is_no, renewed, unblocked
from ..engine.reads import Count, Doc, Head, Range
from .arguments import Blocked, Names
from .call import Call, Result
from .places import NEAR_LIMIT, placed
from .recipients import check_able, evidence, keyless, principals

LATE_LIMIT = 200  # late handoffs and seats that one step to done writes down as expired


async def assign(
    call: Call,
    *,
    job: str,
    title: str,
    to: str = "",
    plan: str = "",
    milestones: Names | None = None,
    tracks: Names | None = None,
    needs: Names | None = None,
    reason: str = "",
) -> Commit:
    """Open a new job: a longer piece of work with its own Log and stages.

    title, plan, milestones, tracks; to: the agent or person who gets it; needs: skills that an agent must have.
    Opening one anew takes a reason and begins at todo; what you leave out stays. Returns the job.
    """
    id = bare(job, "job")
    reason = reason.strip()
    rules.check_title(title)
    rules.check_reason(reason)
    texts = {name: rules.texts(given, name=name) for name, given in (("milestones", milestones), ("tracks", tracks))}
    texts = {name: said for name, said in texts.items() if said}
    skills = rules.needed(needs)
    named = bare(plan, "plan") if plan else ""
    named_one = [to] if to else []
    await call.ahead([Doc(Job, id), *evidence(named_one)])
    old = await call.read(Doc(Job, id))
    place = await placed(call, f"job:{id}", old)
    (assignee,) = await principals(call, named_one) or [""]
    before = old or Job(id=id, by=call.me, created=call.now)
    new = rules.opened(before, to=assignee, plan=named, needs=skills, reason=reason, now=call.now)
    await check_able(call, new, new.assignee)
    known = rules.terms(new)
    entry = call.entry(
        new.name, "assigned", title, payload={k: v for k, v in {**known, **texts}.items() if k != "stage"}, why=reason
    )
    mine = new.assignee == call.me
    args = {"job": id, "stage": "in_progress"} if mine else {"what": new.name}
    return Commit(
        result={
            "job": new.name,
            "title": Quote(0, "summary"),
            **known,
            **_reopened(old),
            **place.said,
            **await keyless(call, [assignee]),
            "next": {"tool": "logmem_stage" if mine else "logmem_view", "args": args},
        },
        puts=(put(new, opened=0, **dict.fromkeys(texts, 0)),),
        entries=(entry,),
    )


def _reopened(old: Job | None) -> Result:
    """What the result says of a job that was opened before: where it was, and that it begins anew."""
    if old is None or not old.stage:
        return {}
    again = f"{old.name} was {old.stage} and is opened anew, so it begins at todo."
    return {"reopened": True, "was": old.stage, "says": again}


async def update(
    call: Call,
    *,
    job: str,
    summary: str,
    kind: str = "progress",
    doing: str = "",
    blocked: Blocked = "",
    waiting_on: str = "",
) -> Commit:
    """Report progress on a job: logs one step of it.

    Sets what it is doing now (your summary unless said) and whether it is blocked (a text, or false). kind:
    progress, stuck, fix, problem or memo. Returns the entry and the job.
    """
    id = bare(job, "job")
    name = f"job:{id}"
    check_note_kind(kind)
    rules.check_kind(kind)
    check_summary(summary)
    said: dict[str, str] = {}
    if doing.strip():
        check_summary(doing, name="doing")
        said["doing"] = doing
    if blocked is False or str(blocked).strip():
        said["blocked"] = blocked_by(blocked)
    if waiting_on.strip():
        check_waiting(waiting_on)
        said["waiting_on"] = "" if is_no(waiting_on) else waiting_on
    found, now = await call.read(Doc(Job, id), Doc(Now, name))
    place = await placed(call, name, found)
    result: Result = {"entry": Quote(0), "job": name, "stage": found.shown_stage if found else UNOPENED, **place.said}
    if found and found.stage == "done":
        ways = f'its Now stays. Take it up again: logmem_stage {{job: "{id}", stage: "in_progress", reason}}'
        return Commit(
            result={**result, "says": f"{name} is done, so the step was logged and {ways}"},
            entries=(call.entry(name, kind, summary),),
        )
    new = renewed(now, name, at=call.now, **{"doing": summary, **said})
    told = {**said, "revision": new.revision} if said else ABSENT
    if not (found and found.stage):
        result["next"] = {"tool": "logmem_assign", "args": {"job": id, "title": PLACEHOLDER}}
    return Commit(
        result={**result, "now": {"revision": new.revision, "blocked": bool(new.blocked)}},
        puts=(*place.puts, put(new, said=0)),
        entries=(call.entry(name, kind, summary, payload=told),),
    )


async def stage(call: Call, *, job: str, stage: str, reason: str = "") -> Commit:
    """Move a job one stage on (todo, in_progress, review, done), or send it back one with a reason.

    It can be marked done only while no handoff or seat in the job is open; a refusal names them. Returns the job.
    """
    id = bare(job, "job")
    reason = reason.strip()
    rules.check_reason(reason)
    old = await call.read(Doc(Job, id))
    if old is None:
        raise await _absent(call, id)
    new = rules.moved(old, rules.stage_named(stage), reason=reason, now=call.now)
    ended = await _ended(call, new) if new.stage == "done" else ()
    steps = {"from": old.stage, "to": new.stage}
    nexts = {"in_progress": ("logmem_update", {"summary": PLACEHOLDER}), "review": ("logmem_stage", {"stage": "done"})}
    tool, args = nexts.get(new.stage, ("", {}))
    return Commit(
        result={
            "job": new.name,
            "title": Quote(new.opened, "summary"),
            "was": old.stage,
            **rules.terms(new),
            **({"next": {"tool": tool, "args": {"job": id, **args}}} if tool else {}),
        },
        puts=(put(new, staged=0), *ended),
        entries=(call.entry(new.name, "staged", f"{old.stage} to {new.stage}", payload=steps, why=reason),),
    )


async def _absent(call: Call, id: str) -> Refused:
    """The refusal for a job that is not there, with those that were probably meant."""
    names, readable = await call.look(Range("places", "job", NEAR_LIMIT), Head())
    close = [f"job:{name}" for name in near(id, names.ids(Job))]
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    return Refused(
        "not_found",
        f"There is no job:{id} in {call.caller.space}, of which you may read {readable} entries. Nothing changed."
        f'{hint} To open it: logmem_assign {{job: "{id}", title}}',
        searched=call.caller.space,
        readable=readable,
        near=close,
    )


async def _ended(call: Call, job: Job) -> tuple[Put, ...]:
    """What else changes when the job is done: nothing blocks it, and what is late in it is over.

    The commit stands on it that nothing in the job is open, however much is late: what comes in by then is still to be
    settled by a deadline after now. Refuses open_obligations.
    """
    name, now = job.name, call.now
    open_ones = Count("holds", name, low=now)
    nearest, late = Range("holds", name, rules.HELD_SHOWN, low=now), Range("holds", name, LATE_LIMIT, high=now - 1)
    slot = Doc(Now, name)
    await call.ahead([open_ones, nearest, late, slot])
    count, blocked = await call.read(open_ones, slot)
    still, over = await call.look(nearest, late)
    if count:
        shown = await call.look_each(Doc(Item, id) for id in still.ids(Item))
        rules.check_settled(job, [item for item in shown if item], count=count, now=now)
    items = await call.read_each(Doc(Item, id) for id in over.ids(Item)) if over.members else []
    expired = [put(item.as_of(now)) for item in items if item and item.as_of(now) != item]
    return (*([put(unblocked(blocked), said=0)] if blocked and blocked.blocked else ()), *expired)
