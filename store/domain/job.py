"""Jobs: work with an assignee, a plan and a stage. Opened by `assign`; one that a first write made is unopened.

Title, milestones and tracks stand in the ledger, in the `assigned` entries that said them last.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import SUMMARY_LIMIT, Logged, check_summary
from .errors import Refused
from .item import Item
from .listing import some
from .moments import iso, since
from .text import quoted

STAGES = ("todo", "in_progress", "review", "done")
OPEN = STAGES[:-1]
UNOPENED = "unopened"  # how results call a job without a stage
STEPS: Mapping[tuple[str, str, str], bool] = {  # event, from, to: all that there are, and whether it takes a reason
    ("stage", "todo", "in_progress"): False,
    ("stage", "in_progress", "review"): False,
    ("stage", "review", "done"): False,
    ("stage", "in_progress", "todo"): True,
    ("stage", "review", "in_progress"): True,
    ("stage", "done", "review"): True,
    ("stage", "done", "in_progress"): True,
    ("assign", "", "todo"): False,
    **{("assign", stage, "todo"): True for stage in STAGES},  # what is opened anew begins anew, wherever it was
}
TITLE_LIMIT = 200  # characters
LINE_LIMIT = 200  # of a milestone or track
NEED_LIMIT = 60  # of a skill that is needed
NAMED = 250  # tokens of names in a sentence
HELD_SHOWN = 5  # open items named in one result
UPDATES = ("progress", "stuck", "fix", "problem", "memo")  # kinds of entries that are a step of a job


@dataclass(frozen=True, kw_only=True)
class Job(Document):
    """`stage` is '' until the job is opened; `created` and `since` (when it came to its stage) in ms.

    `opened`, `milestones` and `tracks` are the entries that say its title and those; `staged` its last step.
    """

    kind = "job"
    by: str
    created: int
    assignee: str = ""
    stage: str = ""
    plan: str = ""
    needs: tuple[str, ...] = ()
    since: int = 0
    opened: str = entry_id()
    milestones: str = entry_id()
    tracks: str = entry_id()
    staged: str = entry_id()

    @property
    def name(self) -> str:
        """The place that the job is."""
        return f"job:{self.id}"

    @property
    def shown_stage(self) -> str:
        """The stage, for results."""
        return self.stage or UNOPENED

    @property
    def at(self) -> int:
        """When it came to its stage."""
        return self.since or self.created

    def indexes(self) -> Iterator[Index]:
        yield Index("places", "job", 0)
        yield Index("stage", self.shown_stage, self.at)
        if self.plan:
            yield Index("plan", f"{self.plan}:{self.shown_stage}", self.at)
        if self.assignee and self.stage != "done":
            yield Index("jobs", self.assignee, self.created)
            if self.plan:
                yield Index("planned", f"{self.assignee}:{self.plan}", self.created)


def terms(job: Job) -> dict[str, Any]:
    """What a job is, for results, without its texts."""
    said = {"stage": job.shown_stage, "assignee": job.assignee, "plan": job.plan, "needs": list(job.needs)}
    return {k: v for k, v in said.items() if v}


def taken(job: Job, *, by: str) -> Job:
    """The job with the one who accepted its handoff as assignee."""
    return replace(job, assignee=by)


def opened(job: Job, *, to: str, plan: str, needs: Sequence[str], reason: str, now: int) -> Job:
    """The job as `assign` opens it, or opens it anew; what is empty stays as it was. Refuses job_exists."""
    ((stage, takes_reason),) = steps("assign", job.stage).items()
    if takes_reason and not reason:
        who = f"{job.assignee} has it" if job.assignee else "nobody has it"
        raise Refused(
            "job_exists",
            f"{job.name} is there already: {who}, it is {job.stage} {since(now - job.at)}. Nothing was written. "
            f"To open it anew with its history, give a reason: logmem_assign {{job: {quoted(job.id)}, title, reason}}",
            job=job.name,
            stage=job.stage,
            assignee=job.assignee,
        )
    new = replace(job, stage=stage, since=now, assignee=to or job.assignee, plan=plan or job.plan)
    return replace(new, needs=tuple(needs) or job.needs)


def steps(event: str, stage: str) -> dict[str, bool]:
    """Where this event (assign, stage) leads from a stage, and whether that takes a reason."""
    return {to: reason for (e, here, to), reason in STEPS.items() if (e, here) == (event, stage)}


def moved(job: Job, stage: str, *, reason: str, now: int) -> Job:
    """The job one step on or back. Refuses invalid_argument, reason_required."""
    if not job.stage:
        raise Refused(
            "invalid_argument",
            f"{job.name} is not opened yet, so it has no stage. Nothing changed. "
            f"Open it first: logmem_assign {{job: {quoted(job.id)}, title, to}}",
            argument="stage",
            stage=UNOPENED,
        )
    ways = steps("stage", job.stage)
    if stage not in ways:
        so = "is so already" if stage == job.stage else f"has no step from {job.stage} to {quoted(stage)}"
        to = " or ".join(f"{each}{' (with a reason)' if reason else ''}" for each, reason in ways.items())
        raise Refused(
            "invalid_argument",
            f"{job.name} {so}. Nothing changed. Stages are {' -> '.join(STAGES)}; from {job.stage} it goes to {to}.",
            argument="stage",
            stage=job.stage,
            steps=list(ways),
        )
    if ways[stage] and not reason:
        raise Refused(
            "reason_required",
            f"From {job.stage} back to {stage} takes a reason, so that others see why. Nothing changed. "
            f'logmem_stage {{job: {quoted(job.id)}, stage: "{stage}", reason}}',
            argument="reason",
        )
    return replace(job, stage=stage, since=now)


def check_settled(job: Job, items: Iterable[Item], *, count: int, now: int) -> None:
    """Refuse to end a job while something that stands in it is open. Refuses open_obligations.

    `count` is how many were open when they were counted; `items` are those of them that were looked at.
    """
    if not count:
        return
    still = sorted((item for item in items if item.as_of(now).state == "open"), key=lambda item: item.deadline)
    shown = still[:HELD_SHOWN]
    names = ", ".join(f"{i.id} ({_what(i)}, {i.to} has until {iso(i.deadline)})" for i in shown)
    more = f" and {count - len(shown)} more" if shown and count > len(shown) else ""
    which = f'"{shown[0].id}"' if shown else "item"  # those that were counted may be settled when they are looked at
    raise Refused(
        "open_obligations",
        f"{job.name} has {count} open{f': {names}' if shown else ''}{more}. Nothing changed. Who has one settles it, "
        f"or who sent it takes it back: logmem_handoff {{withdraw: {which}}}; then stage it again.",
        job=job.name,
        count=count,
        open=[held(item) for item in shown],
    )


def held(item: Item) -> dict[str, str]:
    """An open item of a job, for results."""
    return {"item": item.id, "kind": _what(item), "to": item.to, "from": item.sender, "deadline": iso(item.deadline)}


def _what(item: Item) -> str:
    return "seat" if item.huddle else "handoff"


def stage_named(text: str) -> str:
    """A stage as somebody spells it: `In progress` is `in_progress`."""
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def check_not_done(job: Job) -> None:
    """Refuse a new obligation on a job that is done. Refuses job_done."""
    if job.stage == "done":
        raise Refused(
            "job_done",
            f"job:{job.id} is done, so nothing more can be handed on or asked in it. Nothing was written. "
            f'Take it up again first: logmem_stage {{job: "{job.id}", stage: "in_progress", reason}}',
            job=f"job:{job.id}",
        )


def skill(text: str) -> str:
    """A skill as it is compared: `Front-end work` and `front end work` are one, `C` and `C++` are two."""
    return re.sub(r"(?:[^\w+#]|_)+", "-", unicodedata.normalize("NFKC", text).casefold()).strip("-")


def lacking(job: Job, skills: Iterable[str]) -> list[str]:
    """The needed skills that are not among these."""
    has = {skill(each) for each in skills}
    return [need for need in job.needs if need not in has]


def skill_missing(job: Job, who: str, missing: Sequence[str], *, able: Sequence[str]) -> Refused:
    """The refusal for an agent that lacks needed skills; `able` are those who have all that the job needs."""
    have = f"All of {_named(job.needs)} have {_named(able)}." if able else f"Nobody here has all that {job.name} needs."
    return Refused(
        "skill_missing",
        f"{job.name} needs {_named(missing)}, which {who} does not say it can. Nothing was written. {have} "
        "Who has learned it says so: logmem_bio {profile: {skills: […]}}",
        job=job.name,
        who=who,
        missing=list(missing),
        able=list(able),
    )


def _named(names: Sequence[str]) -> str:
    """These names, as many as a sentence has room for; how many more there are."""
    shown = some(names, budget=NAMED)
    more = [f"{len(names) - len(shown)} more"] if len(shown) < len(names) else []
    return ", ".join([*shown, *more])


def check_title(title: str) -> None:
    """Refuses invalid_argument, too_long."""
    check_summary(title, name="title")
    _check_length(title, "title", TITLE_LIMIT)


def check_reason(reason: str) -> None:
    """Refuses too_long."""
    _check_length(reason, "reason", SUMMARY_LIMIT)


def check_kind(kind: str) -> None:
    """Refuse the kinds of notes that are no step of a job. Refuses invalid_argument."""
    if kind not in UPDATES:
        raise Refused(
            "invalid_argument",
            f"A step of a job is {', '.join(UPDATES)}. Nothing was written. "
            f'As a note: logmem_note {{where, kind: "{kind}", summary}}',
            argument="kind",
        )


def texts(given: Sequence[str] | None, *, name: str) -> list[str]:
    """Milestones or tracks as given, without empty ones. Refuses too_long."""
    said = [text.strip() for text in given or () if text.strip()]
    for n, text in enumerate(said):
        _check_length(text, f"{name}[{n}]", LINE_LIMIT)
    return said


def needed(given: Sequence[str] | None) -> list[str]:
    """Needed skills as they are compared, each once. Refuses invalid_argument, too_long."""
    said = [text for text in given or () if text.strip()]
    for n, text in enumerate(said):
        _check_length(text, f"needs[{n}]", NEED_LIMIT)
        if not skill(text):
            raise Refused(
                "invalid_argument", f"needs[{n}] names no skill: {quoted(text)}. Nothing was written.", argument="needs"
            )
    return list(dict.fromkeys(map(skill, said)))


def said_of(job: Job, part: str, entries: Mapping[int | str, Logged]) -> list[str]:
    """The job's milestones or tracks, from the entry that said them last; none once it was redacted."""
    found = entries.get(getattr(job, part))
    payload: Any = found.entry.payload if found and found.entry else None
    return [str(text) for text in payload.get(part, ())] if isinstance(payload, dict) else []


def _check_length(text: str, name: str, limit: int) -> None:
    if len(text) > limit:
        raise Refused(
            "too_long",
            f"{name} has {len(text)} characters and may have {limit}. Nothing was written.",
            argument=name.partition("[")[0],
            limit=limit,
        )
