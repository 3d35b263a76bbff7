"""`sync`: the day's syncs of a space as they stand, and when they are."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from . import show
from .options import Json, Space

syncs = typer.Typer(
    no_args_is_help=True, help="The day's syncs: how they stand, and when they are: times, days, zone, holidays."
)

WEEKS = 2  # that are shown
NAMED = 6  # of who is in, and not in
TOLD = 4  # whom the sentence of a window has named already
HOLIDAYS = 3
INDENT = " " * 19
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SLOTS = ("morning", "midday", "closeout")
SHORT = {  # why a window was skipped, in the width of a cell
    "day_off": "day off",
    "paused": "paused",
    "nobody_expected": "nobody",
    "down": "down",
    "changed": "changed",
    "no_time": "no time",
}
STYLES = {
    "held": "green",
    "late": "yellow",
    "missed": "red",
    "overdue": "yellow",
    "open": "cyan",
    "unaccounted": "red",
    "skipped": "dim",
}
COUNTED = ("open", "overdue", "held", "late", "missed")  # with who is in, of those expected
WORDS = {"unaccounted": "not accounted"}
START = "To start it: logmem up"


@syncs.command("status")
def status(
    weeks: Annotated[
        int, typer.Option("--weeks", metavar="N", min=1, max=8, help="Weeks back that are shown.")
    ] = WEEKS,
    space: Space = None,
    json: Json = False,
) -> None:
    """Show today's windows with who is in and who is not, the last weeks, and what opens next."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("syncs", weeks=weeks)

    found = operate(work, space=space)
    if json:
        show.as_json({name: value for name, value in found.items() if name not in ("ok", "caller")})
        return
    _head(found)
    _today(found)
    _grid(found["grid"])
    if not found["leader"]["leads"]:
        show.line("")
        show.prose(no_scheduler(found["leader"]["for_s"]), style="yellow")


@syncs.command("times")
def times(
    at: Annotated[list[str], typer.Argument(metavar="MORNING MIDDAY CLOSEOUT", help="Like 09:00 13:00 17:30.")],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set when morning, midday and closeout open, on the space's clock."""
    _set(space, json=json, times=", ".join(at))


@syncs.command("days")
def days(
    on: Annotated[list[str], typer.Argument(metavar="DAYS", help="Names or ranges, like mon-fri, or mon wed fri.")],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set on which weekdays there are syncs."""
    _set(space, json=json, days=", ".join(on))


@syncs.command("zone")
def zone(
    name: Annotated[str, typer.Argument(metavar="ZONE", help="An IANA time zone, like Europe/Berlin.")],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set whose clock the times are on: also when the space's days begin."""
    _set(space, json=json, zone=name)


@syncs.command("holiday")
def holiday(
    day: Annotated[str | None, typer.Argument(metavar="[DAY]", help="Like 2026-12-25. Without it: list them.")] = None,
    reason: Annotated[str | None, typer.Argument(metavar="[REASON]", help="Why there are no syncs that day.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="That day is a holiday no more.")] = False,
    space: Space = None,
    json: Json = False,
) -> None:
    """Add a day without syncs, with the reason that everybody sees; or take one out."""
    if day is None:
        _holidays(space, json=json)
        return
    _set(space, json=json, holiday=day, reason=reason, remove=remove or None)


def _holidays(space: str | None, *, json: bool) -> None:
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("syncs", weeks=1)

    found = operate(work, space=space)
    left = found.get("holidays_left_out", 0)
    if json:
        show.as_json({"space": found["space"], "holidays": found["holidays"], "left_out": left})
        return
    none = f"{found['space']} has no holiday ahead. To add one: logmem sync holiday 2026-12-25 Christmas"
    show.rows(found["holidays"], ["day", "reason"], none=none)
    if left:
        show.line(f"and {left} more")


def _set(space: str | None, *, json: bool, **args: Any) -> None:
    """Change it, and say how it is then."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("rhythm", **args)

    made = operate(work, space=space)
    if json:
        show.as_json({name: value for name, value in made.items() if name not in ("ok", "caller")})
        return
    if not made["changed"]:
        show.line("Nothing changed: it is so already.")
    show.prose(f"Syncs of {made['space']}: {when(made)}.")
    for each in made["holidays"] if "holidays" in made["changed"] else ():
        show.line(f"   {each['day']} {show.shown(each['reason'])}")
    ahead = made.get("next")
    show.prose(f"Next: {ahead['slot']} of {ahead['day']}: {ahead['local']}." if ahead else "No window is in sight.")


def when(found: Mapping[str, Any]) -> str:
    """The times, weekdays and zone in words."""
    return f"{', '.join(found['times'])}, {weekdays(found['days'])}, in {found['zone']}"


def weekdays(names: Sequence[str]) -> str:
    """Weekdays as one would say them: `every day`, `mon-fri`, `mon, wed`."""
    if len(names) == len(DAYS):
        return "every day"
    at = [DAYS.index(name) for name in names]
    if len(at) > 2 and at[-1] - at[0] == len(at) - 1:
        return f"{names[0]}-{names[-1]}"
    return ", ".join(names)


def no_scheduler(since: int | None) -> str:
    """That nobody accounts for anything now, and what to do; `since` is for how long (s), None for ever."""
    ago = f" The last one was heard of {_ago(since)}." if since is not None else ""
    return (
        f"No scheduler runs: nobody is reminded, and no window is accounted for until one does.{ago} "
        f"Nothing is lost: it makes up for what is due. {START}"
    )


def _ago(seconds: int) -> str:
    from store.domain.moments import since

    return since(seconds * 1000)


def _head(found: Mapping[str, Any]) -> None:
    """Whose syncs, what time it is there, and when they are."""
    show.marked(f"Syncs of {found['space']}", f"  {found['local']} in {found['zone']}", style="bold", hang=2)
    show.line(f"{', '.join(found['times'])}, {weekdays(found['days'])}")
    if found["paused"]:
        show.line("The space is paused: nobody can check in.", style="yellow")
    for each in found["holidays"][:HOLIDAYS]:
        show.prose(f"No syncs on {each['day']}: {show.shown(each['reason'])}")


def _today(found: Mapping[str, Any]) -> None:
    """Today's windows, one after the other, and who is in; what opens next if it is another day."""
    show.line("")
    show.line("Today", style="bold")
    for one in found["today"]:
        said = one["says"].removeprefix(f"{one['slot']} of {one['day']} ")
        head = f"  {one['local'][:5]}  {one['slot']:<9} "
        show.prose(head + said, style=STYLES.get(one["state"], ""), hang=len(head))
        _who("in", [each["who"] for each in one["in"]], one.get("left_out", 0))
        for each in one["in"]:
            if each["outcome"] != "pass":
                text = f"{each['who']} {each['outcome']}: {show.inert(each['notes'])}"
                show.prose(INDENT + text, style="yellow", hang=len(INDENT) + 2)
        if len(one["missing"]) > TOLD:
            _who("not in", one["missing"], one.get("missing_left_out", 0))
    if not found["today"]:
        show.line("  No syncs today.")
    ahead = found["next"]
    if ahead and ahead["day"] != found["local"][:10]:
        show.line(f"  Next: {ahead['slot']} of {ahead['day']}, at {ahead['local'][11:]}")


def _who(how: str, names: Sequence[str], left: int) -> None:
    """A line of names, the rest counted."""
    if names:
        more = len(names) - NAMED + left
        rest = f" and {more} more" if more > 0 else ""
        show.prose(f"{INDENT}{how}: {', '.join(names[:NAMED])}{rest}", hang=len(INDENT) + 2)


def _grid(grid: Sequence[Mapping[str, Any]]) -> None:
    """A line for each day, newest first, and a cell for each of its windows."""
    from datetime import date

    show.line("")
    show.line(f"{'Day':<15}{''.join(f'{slot:<18}' for slot in SLOTS)}".rstrip(), style="bold")
    for row in grid:
        cells = [_cell(row["slots"].get(slot)) for slot in SLOTS]
        name = f"{DAYS[date.fromisoformat(row['day']).weekday()]} {row['day']} "
        padded = [f"{text:<18}" for text, _ in cells[:-1]] + [cells[-1][0]]
        show.styled(name, *((text, style) for text, (_, style) in zip(padded, cells, strict=True)))
    if not grid:
        show.line("Nothing yet: it begins with the first window that opens.")


def _cell(cell: Mapping[str, Any] | None) -> tuple[str, str]:
    """What a cell says, within its width, and its style."""
    if cell is None:
        return "-", "dim"
    state, style = cell["state"], STYLES.get(cell["state"], "")
    if state == "skipped":
        return f"skipped: {SHORT.get(cell.get('skipped', ''), '')}"[:17], style
    if state in COUNTED and cell["expected"]:
        return f"{state} {cell['came']}/{cell['expected']}"[:17], style
    return WORDS.get(state, state), style
