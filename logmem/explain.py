"""`scheduler explain`: what will run when in a space, and who runs it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from . import show
from .options import Json, Space
from .syncs import no_scheduler

scheduler = typer.Typer(no_args_is_help=True, help="The scheduler: what it will do, and when.")

HOURS = 48
HEAD = 43  # columns before what a job is


@scheduler.command("explain")
def explain(
    hours: Annotated[
        int, typer.Option("--hours", metavar="N", min=1, max=336, help="How far ahead, for the windows.")
    ] = HOURS,
    space: Space = None,
    json: Json = False,
) -> None:
    """Show what runs when, in the space's time and in UTC, and which scheduler leads."""
    from store.domain.errors import Refused
    from store.verbs.ahead import ahead

    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        name = operator.space or await operator.meant()
        found = await ahead(operator.store, name, hours=hours)
        if found is None:
            raise Refused("scope_unknown", f"There is no space {name[:80]!r}. Make it: logmem space {name[:63]}")
        return found

    found = operate(work, space=space)
    if json:
        show.as_json(found)
        return
    clock = " (its clock can be moved)" if found.get("simulated") else ""
    show.marked(f"Scheduler in {found['space']}", f"  {found['local']} in {found['zone']}{clock}", style="bold", hang=2)
    _leader(found["leader"])
    if found["paused"]:
        show.prose("The space is paused: nobody is reminded, and its windows are skipped.", style="yellow")
    _windows(found["windows"], found["zone"], hours)
    _jobs(found["jobs"])


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
    show.line(f"Windows of the next {hours} h, in {zone} and UTC", style="bold")
    for one in windows:
        opens, turns = one["local"][:5], one["turns"]
        head = f"  {one['day']}  {one['slot']:<9} {opens}"
        if not turns:
            show.line(f"{head}  skipped", style="dim")
        else:
            here = "  ".join(
                f"{how} {_clock(turn, one['day'])}" for how, turn in zip(("late", "over"), turns[1:], strict=True)
            )
            utc = "-".join(turn["at"][11:16] for turn in (turns[0], turns[-1]))
            show.styled(
                f"{head}  {here}", (f"  {utc} UTC", "dim"), ("  open" if one["state"] != "upcoming" else "", "cyan")
            )
        if "note" in one:
            show.prose(f"{' ' * 14}{one['note']}", style="yellow", hang=14)
    if not windows:
        show.line("  None: logmem sync days and logmem sync times set them.")


def _clock(turn: Mapping[str, Any], day: str) -> str:
    """A time of the window's day; the one that ends it is 24:00."""
    return "24:00" if turn["local"][:10] != day else str(turn["local"][11:])


def _jobs(jobs: Sequence[Mapping[str, Any]]) -> None:
    show.line("")
    show.line("Jobs, and what wakes each next", style="bold")
    for one in sorted((one for one in jobs if one["at"]), key=lambda one: one["at"]):
        when, utc = (one["local"], f"{one['at'][11:16]} UTC") if not one["due"] else ("now", "")
        show.marked(f"  {when:<16}  {utc:<9}  {one['job']:<11} ", one["says"], style="", hang=HEAD)
    idle = [one["job"] for one in jobs if not one["at"]]
    if idle:
        show.prose(f"  Nothing to do for {', '.join(idle)}, as far as is known now.", style="dim", hang=2)
