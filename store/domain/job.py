"""Jobs: work with an assignee. Opened by `assign`; one that a first write made is unopened."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Document, Index
from .errors import Refused


@dataclass(frozen=True, kw_only=True)
class Job(Document):
    """`stage` is '' until the job is opened; `created` in ms."""

    kind = "job"
    by: str
    created: int
    assignee: str = ""
    stage: str = ""

    def indexes(self) -> Iterator[Index]:
        yield Index("places", "job", 0)
        if self.assignee and self.stage != "done":
            yield Index("jobs", self.assignee, self.created)


def taken(job: Job, *, by: str) -> Job:
    """The job with the one who accepted its handoff as assignee."""
    return replace(job, assignee=by)


def check_not_done(job: Job) -> None:
    """Refuse a new obligation on a job that is done. Refuses job_done."""
    if job.stage == "done":
        raise Refused(
            "job_done",
            f"job:{job.id} is done, so nothing more can be handed on or asked in it. Nothing was written. "
            f'Take it up again first: logmem_stage {{job: "{job.id}", stage: "in_progress", reason}}',
            job=f"job:{job.id}",
        )
