"""Jobs: opened, and taken step by step to their end."""

from ..domain import job as rules
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import ABSENT, check_note_kind, check_summary
from ..domain.errors import Refused
from ..domain.ids import bare, near
from ..domain.item import Item
from ..domain.job import UNOPENED, Job
from ..domain.slot import Now, blocked_by, check_waiting, is_no, renewed
from ..engine.reads import Doc, Head, Range
from .arguments import Blocked, Names
from .call import Call, Result
from .places import NEAR_LIMIT, placed
from .recipients import check_able, recipient

ASSIGNEES = ("agent", "human")
HELD_LIMIT = 1000  # what may stand open in a job, expired or not, when it is done
ROUNDS = 10  # tries to see an index and its documents as they were at one moment


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

    title, plan, milestones; to: the agent or person who gets it; needs: skills they must have. Anew only with a
    reason; what you leave out stays.
    """
    id = bare(job, "job")
    reason = reason.strip()
    rules.check_title(title)
    rules.check_reason(reason)
    texts = {name: rules.texts(given, name=name) for name, given in (("milestones", milestones), ("tracks", tracks))}
    texts = {name: said for name, said in texts.items() if said}
    skills = rules.needed(needs)
    named = bare(plan, "plan") if plan else ""
    old = await call.read(Doc(Job, id))
    place = await placed(call, f"job:{id}", old)
    assignee = await recipient(call, to, ASSIGNEES) if to else ""
    before = old or Job(id=id, by=call.me, created=call.now)
    new = rules.opened(before, to=assignee, plan=named, needs=skills, reason=reason, now=call.now)
    await check_able(call, new, new.assignee)
    known = rules.facts(new)
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
            **place.said,
            "next": {"tool": "logmem_stage" if mine else "logmem_view", "args": args},
        },
        puts=(put(new, opened=0, **dict.fromkeys(texts, 0)),),
        entries=(entry,),
    )


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
    progress, stuck, fix, problem or memo.
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
        result["next"] = {"tool": "logmem_assign", "args": {"job": id, "title": "…"}}
    return Commit(
        result={**result, "now": {"revision": new.revision, "blocked": bool(new.blocked)}},
        puts=(*place.puts, put(new, said=0)),
        entries=(call.entry(name, kind, summary, payload=told),),
    )


async def stage(call: Call, *, job: str, stage: str, reason: str = "") -> Commit:
    """Move a job one stage on (todo, in_progress, review, done), or send it back one with a reason.

    It can be marked done only when every handoff and seat in the job is settled.
    """
    id = bare(job, "job")
    reason = reason.strip()
    rules.check_reason(reason)
    old = await call.read(Doc(Job, id))
    if old is None:
        raise await _absent(call, id)
    new = rules.moved(old, rules.stage_named(stage), reason=reason, now=call.now)
    puts: tuple[Put, ...] = (put(new, staged=0),)
    if new.stage == "done":
        rules.check_settled(new, await _holding(call, new), now=call.now)
        puts += await _unblocked(call, new)
    steps = {"from": old.stage, "to": new.stage}
    nexts = {"in_progress": ("logmem_update", {"summary": "…"}), "review": ("logmem_stage", {"stage": "done"})}
    tool, args = nexts.get(new.stage, ("", {}))
    return Commit(
        result={
            "job": new.name,
            "title": Quote(new.opened, "summary"),
            "was": old.stage,
            **rules.facts(new),
            **({"next": {"tool": tool, "args": {"job": id, **args}}} if tool else {}),
        },
        puts=puts,
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


async def _holding(call: Call, job: Job) -> list[Item]:
    """All that is written down as open in the job, seen so that nothing can come in before the commit.

    A commit compares how many there are. That alone would miss one that came for one that went, so it compares the
    items too: while each of them still stands there and their number is the same, they are all.
    Refuses open_obligations (more than can be looked at), busy.
    """
    for _ in range(ROUNDS):
        stands = await call.read(Range("holds", job.name, HELD_LIMIT))
        items = [i for i in await call.read_each(Doc(Item, id) for id in stands.ids(Item)) if i]
        if stands.size > len(stands.members):
            raise Refused(
                "open_obligations",
                f"{job.name} has {stands.size} handoffs and seats that are open or that nobody put away. Nothing "
                "changed. Who sent them takes them back: logmem_handoff {withdraw: item}",
                job=job.name,
                count=stands.size,
            )
        if len(items) == stands.size and all(item.state == "open" for item in items):
            return items
    raise Refused(
        "busy", f"What stands in {job.name} changes all the time. Nothing changed. Retry in 1 s.", retry_after=1
    )


async def _unblocked(call: Call, job: Job) -> tuple[Put, ...]:
    """The job's Now without what blocked it: nobody is to be told of that any more."""
    now = await call.read(Doc(Now, job.name))
    if now is None or not now.blocked:
        return ()
    return (put(renewed(now, job.name, at=call.now, blocked="", waiting_on=""), said=0),)
