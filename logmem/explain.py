"""`scheduler explain`: what will run when in a space, and who runs it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from . import show
from .options import Json, Space
from .syncs import no_scheduler

scheduler = typer.Typer(no_args_is_help=True, help="The scheduler: what it will do, and when.")

HOURS = 48


@scheduler.command("explain")
def explain(
    hours: Annotated[
        int, typer.Option("--hours", metavar="N", min=1, max=336, help="How far ahead, for the windows.")
    ] = HOURS,
    space: Space = None,
    json: Json = False,
) -> None:
    """Show what runs when, in the space's time and in UTC, and which scheduler leads."""
    from store.verbs.ahead import AHEAD

    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do(AHEAD, hours=hours)

    found = operate(work, space=space)
    if json:
        show.as_json({name: value for name, value in found.items() if name not in ("ok", "caller")})
        return
    clock = " (its clock can be moved)" if found.get("simulated") else ""
    show.marked(f"Scheduler in {found['space']}", f"  {found['local']} in {found['zone']}{clock}", style="bold", hang=2)
    _leader(found["leader"])
    if found["paused"]:
        show.prose("The space is paused: nobody is reminded, and its windows are skipped.", style="yellow")
    _windows(found["windows"], found["zone"], hours)
    _jobs(found["jobs"], found["zone"])


def _leader(leader: Mapping[str, Any]) -> None:
    """Who leads, or that nobody does and what to do."""
    if not leader["leads"]:
        show.prose(no_scheduler(leader["for_s"]), style="yellow")
        return
    noted = "" if leader["here"] == leader["epoch"] else " It has not come to this space yet."
    show.prose(
        f"A scheduler leads: epoch {leader['epoch']}; its lease is good for {leader['for_s']} s more, "
        f"and is renewed each second.{noted}"
    )


def _windows(windows: Sequence[Mapping[str, Any]], zone: str, hours: int) -> None:
    show.line("")
    is_utc = _is_utc(zone)
    show.line(f"Windows of the next {hours} h, in {zone}{'' if is_utc else ' and UTC'}", style="bold")
    for one in windows:
        opens, turns = one["local"][:5], one["turns"]
        head = f"  {one['day']} {one['slot']:<8} {opens}"
        if not turns:
            show.line(f"{head}  skipped", style="dim")
        else:
            here = "  ".join(
                f"{how} {_clock(turn, one['day'])}" for how, turn in zip(("late", "over"), turns[1:], strict=True)
            )
            utc = "" if is_utc else f"  {_utc(one['day'], turns[0]['at'], turns[-1]['at'])}"
            show.styled(f"{head}  {here}", (utc, "dim"), ("  open" if one["state"] != "upcoming" else "", "cyan"))
        if "note" in one:
            show.prose(one["note"], indent=" " * 13, style="yellow")
    if not windows:
        show.line("  None: logmem sync days and logmem sync times set them.")


def _clock(turn: Mapping[str, Any], day: str) -> str:
    """A time of the window's day; the one that ends it is 24:00."""
    return "24:00" if turn["local"][:10] != day else str(turn["local"][11:])


def _is_utc(zone: str) -> bool:
    """Whether a zone is UTC by one of its names, so that nothing needs to be shown twice."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    return datetime.now(UTC).astimezone(ZoneInfo(zone)).tzname() == "UTC"


def _utc(day: str, *times: str) -> str:
    """One moment or two in UTC, each with by how many days UTC is ahead of `day` then; once, where that is the same."""
    from datetime import date

    apart = [(date.fromisoformat(at[:10]) - date.fromisoformat(day)).days for at in times]
    marks = [f"({n:+}d)" if n else "" for n in apart]
    if len(set(marks)) == 1:
        return f"{marks[0]} {'-'.join(at[11:16] for at in times)} UTC".lstrip()
    return f"{'-'.join(f'{at[11:16]}{mark}' for at, mark in zip(times, marks, strict=True))} UTC"


def _jobs(jobs: Sequence[Mapping[str, Any]], zone: str) -> None:
    is_utc = _is_utc(zone)
    show.line("")
    show.line("Jobs, and what wakes each next", style="bold")
    known = sorted((one for one in jobs if one["at"]), key=lambda one: one["at"])
    times = [("now", "") if one["due"] else (one["local"], _utc(one["local"][:10], one["at"])) for one in known]
    times = [(when, "" if is_utc else f"{utc}  ") for when, utc in times]
    wide = max((len(utc) for _, utc in times), default=0)
    for one, (when, utc) in zip(known, times, strict=True):
        head = f"  {when:<16}  {utc:>{wide}}{one['job']:<11} "
        show.marked(head, one["says"], style="", hang=len(head))
    idle = [one["job"] for one in jobs if not one["at"]]
    if idle:
        show.prose(f"  Nothing to do for {', '.join(idle)}, as far as is known now.", style="dim", hang=2)
