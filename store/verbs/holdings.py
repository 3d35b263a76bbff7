"""What somebody has open, with its words, for people: items, asks, jobs, and the newest of a Log."""

from collections.abc import Iterable
from typing import Any

from ..domain.ask import Ask
from ..domain.entry import Logged
from ..domain.item import Item
from ..domain.job import Job
from ..domain.moments import iso
from ..domain.slot import Now
from ..engine.reads import Count, Doc, Log, Numbered, Range, Read
from .call import Call, Result

SHOWN = 10  # of what is open of one kind
LOG = 20  # entries of a Log
KEPT = ("id", "at", "kind", "by", "byline", "where", "summary", "why", "trail")  # of an entry in a list
GONE = "[redacted]"


async def holdings(call: Call, id: str, *, roles: Iterable[str]) -> Result:
    """What is open with this principal, of each kind the nearest deadline first, and the newest of their Log.

    Items that wait for them or their roles, items that they sent, asks that wait for people, jobs that they have.
    """
    owners = (id, *(f"role:{role}" for role in roles))
    now = call.now
    opens: list[Range] = [Range("open", owner, SHOWN, low=now) for owner in owners]
    ranges = [*opens, Range("sent", id, SHOWN, low=now), Range("asked", id, SHOWN, low=now), Range("jobs", id, SHOWN)]
    reads: list[Read[Any]] = [*ranges, *(Count(r.name, r.owner, r.low) for r in ranges), Log(id, LOG)]
    got = await call.look_each(reads)
    pages, sizes, lines = got[: len(ranges)], got[len(ranges) : -1], got[-1]
    *mine, sent, asked, jobs = pages
    waiting = [ref for page in mine for ref in page.ids(Item)]
    documents = [Doc(Item, ref) for ref in (*waiting, *sent.ids(Item))]
    wanted: list[Read[Any]] = [*documents, *(Doc(Ask, ref) for ref in asked.ids(Ask))]
    wanted += [Doc(Job, ref) for ref in jobs.ids(Job)] + [Doc(Now, f"job:{ref}") for ref in jobs.ids(Job)]
    wanted += [Numbered(n) for n in lines.seqs]
    found = await call.look_each(wanted) if wanted else []
    items = sorted(
        {i.id: i for i in found if isinstance(i, Item) and i.as_of(now).state == "open"}.values(),
        key=lambda item: (item.deadline, item.id),
    )
    asks = sorted(
        (a for a in found if isinstance(a, Ask) and a.as_of(now).state == "pending"), key=lambda a: (a.deadline, a.id)
    )
    has = [job for job in found if isinstance(job, Job) and job.assignee == id and job.stage != "done"]
    blocked = {slot.id for slot in found if isinstance(slot, Now) and slot.blocked}
    said = await call.recall([*(i.sent for i in items), *(a.asked for a in asks), *(j.opened for j in has)])
    for_them = [item_line(i, said.get(i.sent)) for i in items if i.to in owners][:SHOWN]
    by_them = [item_line(i, said.get(i.sent)) for i in items if i.sender == id][:SHOWN]
    lists = {
        "waiting": (for_them, sum(sizes[: len(owners)])),
        "sent": (by_them, sizes[-3]),
        "asks": ([_ask(a, said.get(a.asked)) for a in asks], sizes[-2]),
        "jobs": ([_job(j, said.get(j.opened), blocked=j.name in blocked) for j in has], sizes[-1]),
    }
    more = {
        f"{name}_left_out": size - len(shown) for name, (shown, size) in lists.items() if size > len(shown) >= SHOWN
    }
    log = [e for e in found if isinstance(e, Logged)]
    return {
        **{name: shown for name, (shown, _) in lists.items()},
        **more,
        "log": newest(log),
        "log_total": lines.size,
    }


def item_line(item: Item, said: Logged | None) -> Result:
    """An item on a list, with its words; a seat names its huddle."""
    facts = {"trail": item.id, "from": item.sender, "to": item.to, "where": item.where, "deadline": iso(item.deadline)}
    seat = {"huddle": item.huddle} if item.huddle else {}
    return {**facts, "summary": said.summary if said else GONE, **seat}


def newest(entries: Iterable[Logged]) -> list[Result]:
    """Entries of a Log for a list, newest first, without what belongs to them beside their words."""
    ordered = sorted(entries, key=lambda e: -e.seq)
    return [{k: v for k, v in e.shown().items() if k in KEPT} for e in ordered]


def _ask(ask: Ask, said: Logged | None) -> Result:
    facts = {"trail": ask.id, "where": ask.where, "risk": ask.risk, "deadline": iso(ask.deadline)}
    return {**facts, "summary": said.summary if said else GONE}


def _job(job: Job, said: Logged | None, *, blocked: bool) -> Result:
    facts = {"job": job.name, "stage": job.shown_stage, "plan": job.plan, "since": iso(job.at), "blocked": blocked}
    return {**{k: v for k, v in facts.items() if v}, **({"title": said.summary} if said else {})}
