"""Jobs: every step that there is and every one that there is not, their indexes, skills, and what is refused."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from store.domain.document import Index
from store.domain.entry import Entry, Logged
from store.domain.errors import Refused
from store.domain.item import Item
from store.domain.job import (
    STAGES,
    STEPS,
    Job,
    check_kind,
    check_not_done,
    check_settled,
    check_title,
    lacking,
    moved,
    needed,
    opened,
    said_of,
    skill,
    stage_named,
    steps,
    taken,
    texts,
)

CREATED, NOW = 1_000_000, 2_000_000
UNOPENED = Job(id="x", by="agent:grok", created=CREATED)
READY = replace(UNOPENED, stage="todo", since=CREATED + 5, assignee="agent:codex", plan="q3", needs=("sql",))


def at(stage: str) -> Job:
    """The job in this stage."""
    return replace(READY, stage=stage)


def refusal(code: str, call: object, *args: object, **named: object) -> Refused:
    """The refusal of a rule that has to refuse."""
    assert callable(call)
    with pytest.raises(Refused) as no:
        call(*args, **named)
    assert no.value.code == code
    return no.value


@pytest.mark.parametrize(("old", "new"), list(product(STAGES, STAGES)))
def test_c19_every_step_is_in_the_table_or_is_refused(old: str, new: str) -> None:
    """With a reason a job goes wherever the table leads; elsewhere the refusal says which steps there are."""
    if ("stage", old, new) in STEPS:
        after = moved(at(old), new, reason="so", now=NOW)
        assert after == replace(at(old), stage=new, since=NOW)
        return
    no = refusal("invalid_argument", moved, at(old), new, reason="so", now=NOW)
    assert no.facts["steps"] == [to for (event, here, to) in STEPS if (event, here) == ("stage", old)]
    assert "todo -> in_progress -> review -> done" in no.message
    assert (no.message.startswith("job:x is so already.")) == (old == new)


def test_c19_steps_lead_one_on_or_one_back_and_from_done_to_work() -> None:
    """On without a reason; back, and from done to in_progress, with one."""
    order = {stage: n for n, stage in enumerate(STAGES)}
    staged = {(old, new): reason for (event, old, new), reason in STEPS.items() if event == "stage"}
    for (old, new), reason in staged.items():
        assert order[new] - order[old] == 1 or order[new] - order[old] == -1 or (old, new) == ("done", "in_progress")
        assert reason == (order[new] < order[old])
        if reason:
            no = refusal("reason_required", moved, at(old), new, reason="", now=NOW)
            assert f'logmem_stage {{job: "x", stage: "{new}", reason}}' in no.message
        else:
            assert moved(at(old), new, reason="", now=NOW).stage == new
    assert {(old, new) for old, new in product(STAGES, STAGES) if abs(order[old] - order[new]) == 1} <= staged.keys()


def test_c17_what_is_assigned_begins_at_todo_wherever_it_was() -> None:
    """It is in the table like any step: from no stage without a reason, from each stage with one."""
    assigns = {old: (new, reason) for (event, old, new), reason in STEPS.items() if event == "assign"}
    assert assigns == {"": ("todo", False), **dict.fromkeys(STAGES, ("todo", True))}
    assert steps("assign", "done") == {"todo": True}
    assert steps("stage", "review") == {"done": False, "in_progress": True}
    assert {event for event, _, _ in STEPS} == {"assign", "stage"}


def test_c19_an_unopened_job_has_no_stage() -> None:
    """The refusal names the call that opens it."""
    no = refusal("invalid_argument", moved, UNOPENED, "in_progress", reason="", now=NOW)
    assert 'logmem_assign {job: "x", title, to}' in no.message
    assert no.facts["stage"] == "unopened"


@pytest.mark.parametrize(
    ("said", "stage"),
    [("In progress", "in_progress"), (" review ", "review"), ("in-progress", "in_progress"), ("DONE", "done")],
)
def test_a_stage_may_be_spelled_as_people_do(said: str, stage: str) -> None:
    """Case, blanks and hyphens do not matter."""
    assert stage_named(said) == stage


@pytest.mark.parametrize("stage", ["", *STAGES])
@pytest.mark.parametrize("assignee", ["", "agent:codex"])
@pytest.mark.parametrize("plan", ["", "q3"])
def test_indexes_are_a_function_of_the_job(stage: str, assignee: str, plan: str) -> None:
    """Of all jobs, of its stage, of its plan, and while it is not done of who has it, and of their part of the plan."""
    job = replace(UNOPENED, stage=stage, assignee=assignee, plan=plan, since=NOW if stage else 0)
    came = NOW if stage else CREATED
    want = {Index("places", "job", 0), Index("stage", stage or "unopened", came)}
    want |= {Index("plan", f"q3:{stage or 'unopened'}", came)} if plan else set()
    want |= {Index("jobs", assignee, CREATED)} if assignee and stage != "done" else set()
    want |= {Index("planned", f"{assignee}:q3", CREATED)} if assignee and plan and stage != "done" else set()
    assert set(job.indexes()) == want


def test_c17_opening_anew_takes_a_reason() -> None:
    """Who has it and in which stage is said; an unopened one is opened without a reason."""
    given = {"to": "", "plan": "", "needs": (), "now": NOW}
    no = refusal("job_exists", opened, at("review"), reason="", **given)
    assert no.facts == {"job": "job:x", "stage": "review", "assignee": "agent:codex"}
    assert "agent:codex has it, it is review 16 min ago" in no.message
    assert opened(UNOPENED, reason="", **given).stage == "todo"  # type: ignore[arg-type]  # a mapping of several types


@pytest.mark.parametrize("stage", STAGES)
def test_c17_what_is_not_given_stays(stage: str) -> None:
    """Opening anew starts at todo; assignee, plan and skills are replaced where given, else as before."""
    job = at(stage)
    same = opened(job, to="", plan="", needs=(), reason="wider", now=NOW)
    assert same == replace(job, stage="todo", since=NOW)
    new = opened(job, to="human:bo", plan="q4", needs=("css",), reason="wider", now=NOW)
    assert (new.assignee, new.plan, new.needs) == ("human:bo", "q4", ("css",))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Front-end work", "front end work", True),
        ("React_Native", "react native", True),
        ("\uff33\uff31\uff2c", "sql", True),
        ("C++", "C", False),
        ("C#", "C", False),
        ("日本語", "日本語 ", True),
        ("日本語", "中文", False),
    ],
)
def test_c18_skills_are_compared_by_what_they_name(one: str, other: str, same: bool) -> None:
    """Case, blanks, hyphens and width do not matter; signs that make another skill do."""
    assert (skill(one) == skill(other)) == same


def test_c18_what_an_agent_lacks() -> None:
    """The needed skills that it does not say it has, in their order."""
    job = replace(READY, needs=("sql", "front-end", "c++"))
    assert lacking(job, ["SQL", "C"]) == ["front-end", "c++"]
    assert lacking(job, ["c++", "Front end", "sql", "more"]) == []
    assert lacking(replace(job, needs=()), []) == []


def test_a_job_that_is_done_takes_nothing_more() -> None:
    """The refusal names the call that takes it up again."""
    for stage in ("", *STAGES[:-1]):
        check_not_done(at(stage))
    no = refusal("job_done", check_not_done, at("done"))
    assert 'logmem_stage {job: "x", stage: "in_progress", reason}' in no.message


def items(*deadlines: int) -> list[Item]:
    """Open items of the job with these deadlines."""
    return [
        Item(id=f"ci_000000000{n}", sender="agent:grok", to="human:bo", where="job:x", made=CREATED, deadline=deadline)
        for n, deadline in enumerate(deadlines)
    ]


def test_c19_open_items_are_named_the_nearest_deadline_first() -> None:
    """As many as a result can hold, and how many there are; one past its deadline is not open."""
    check_settled(READY, items(NOW - 1), count=0, now=NOW)
    no = refusal("open_obligations", check_settled, READY, items(NOW + 9, NOW, NOW - 1), count=2, now=NOW)
    named = no.facts["open"]
    assert isinstance(named, Sequence)
    assert [line["item"] for line in named] == ["ci_0000000001", "ci_0000000000"]
    assert named[0]["kind"] == "handoff"
    assert "job:x has 2 open: ci_0000000001 (handoff, human:bo has until " in no.message
    many = refusal("open_obligations", check_settled, READY, items(*range(NOW, NOW + 5)), count=9, now=NOW)
    assert (many.facts["count"], len(many.facts["open"])) == (9, 5)  # type: ignore[arg-type]  # facts hold any value
    assert " and 4 more. " in many.message
    seat = replace(items(NOW)[0], huddle="hd_0000000000")
    assert "(seat, human:bo" in refusal("open_obligations", check_settled, READY, [seat], count=1, now=NOW).message


def test_c19_what_was_counted_as_open_refuses_whatever_was_looked_at() -> None:
    """It may have been settled in between; then none is named, and the call still says how one is taken back."""
    no = refusal("open_obligations", check_settled, READY, items(NOW - 1), count=1, now=NOW)
    assert (no.facts["count"], no.facts["open"]) == (1, [])
    assert no.message.startswith("job:x has 1 open. Nothing changed.")
    assert "logmem_handoff {withdraw: item}" in no.message


def test_what_a_job_cannot_be_is_refused() -> None:
    """Too long, or naming nothing: the argument is named."""
    assert refusal("too_long", check_title, "x" * 201).facts["argument"] == "title"
    assert refusal("invalid_argument", check_title, " ").facts["argument"] == "title"
    assert refusal("too_long", texts, ["a", "x" * 201], name="milestones").facts["argument"] == "milestones"
    assert refusal("too_long", needed, ["x" * 61]).facts["argument"] == "needs"
    assert refusal("invalid_argument", needed, ["…"]).facts["argument"] == "needs"
    assert (
        'logmem_note {where, kind: "question", summary}' in refusal("invalid_argument", check_kind, "question").message
    )
    assert texts(["", " a ", "b"], name="tracks") == ["a", "b"]
    assert needed(["SQL", "sql", ""]) == ["sql"]
    assert (texts(None, name="tracks"), needed(None)) == ([], [])


def test_texts_come_from_the_entry_that_said_them() -> None:
    """Nothing of them is left once that was redacted."""
    entry = Entry(
        where="job:x", kind="assigned", by="agent:grok", via="token", summary="t", payload={"milestones": ["a", "b"]}
    )
    job = replace(READY, opened="5-1", milestones="5-1")
    for found, want in ((entry, ["a", "b"]), (None, [])):
        entries: dict[int | str, Logged] = {"5-1": Logged(id="5-1", entry=found)}
        assert said_of(job, "milestones", entries) == want
        assert said_of(job, "tracks", entries) == []
    assert said_of(job, "milestones", {}) == []


def test_c38_who_accepts_has_it() -> None:
    """All else stays."""
    assert taken(READY, by="human:bo") == replace(READY, assignee="human:bo")
