"""`sync`: the day's syncs of a space as they stand, and when they are."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from store.domain.calendar import SLOTS
from store.domain.moments import SECOND, since
from store.domain.timetable import DAYS, run_of

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


def _given(words: Any) -> Any:
    """What was given, if that is something: an empty word would say that it stays as it was."""
    if words is not None and not "".join(words).strip():
        raise typer.BadParameter("It is empty.")
    return words


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
    at: Annotated[
        list[str], typer.Argument(metavar="MORNING MIDDAY CLOSEOUT", callback=_given, help="Like 09:00 13:00 17:30.")
    ],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set when morning, midday and closeout open, on the space's clock."""
    _set(space, json=json, times=", ".join(at))


@syncs.command("days")
def days(
    on: Annotated[
        list[str],
        typer.Argument(metavar="DAYS", callback=_given, help="Names or ranges, like mon-fri, or mon wed fri."),
    ],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set on which weekdays there are syncs."""
    _set(space, json=json, days=", ".join(on))


@syncs.command("zone")
def zone(
    name: Annotated[
        str, typer.Argument(metavar="ZONE", callback=_given, help="An IANA time zone, like Europe/Berlin.")
    ],
    space: Space = None,
    json: Json = False,
) -> None:
    """Set whose clock the times are on: also when the space's days begin."""
    _set(space, json=json, zone=name)


@syncs.command("holiday")
def holiday(
    day: Annotated[
        str | None, typer.Argument(metavar="DAY", callback=_given, help="Like 2026-12-25. Without it: list them.")
    ] = None,
    reason: Annotated[
        list[str] | None, typer.Argument(metavar="REASON", help="Why there are no syncs that day.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="That day is a holiday no more.")] = False,
    space: Space = None,
    json: Json = False,
) -> None:
    """Add a day without syncs, with the reason that everybody sees; or take one out."""
    if remove and (reason or day is None):
        raise typer.BadParameter("It takes the day alone.", param_hint="--remove")
    if day is None:
        _holidays(space, json=json)
        return
    _set(space, json=json, holiday=day.strip(), reason=" ".join(reason or ()) or None, remove=remove or None)


def _holidays(space: str | None, *, json: bool) -> None:
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("syncs", weeks=1)

    found = operate(work, space=space)
    if json:
        show.as_json({"space": found["space"], "holidays": found["holidays"]})
        return
    none = f"{found['space']} has no holiday ahead. To add one: logmem sync holiday 2026-12-25 Christmas"
    show.rows(found["holidays"], ["day", "reason"], none=none)


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
    if "holidays" in made["changed"]:
        _changed(args["holiday"], made["holidays"])
    ahead = made.get("next")
    show.prose(f"Next: {ahead['slot']} of {ahead['day']}: {ahead['local']}." if ahead else "No window is in sight.")


def _changed(day: str, holidays: Sequence[Mapping[str, str]]) -> None:
    """What became of a day, and how many holidays there are now."""
    is_one = next((each for each in holidays if each["day"] == day), None)
    now = f"{day} {show.shown(is_one['reason'])}" if is_one else f"{day} is no holiday any more."
    show.line(f"   {now}")
    count = len(holidays)
    show.prose(f"{count or 'No'} holiday{'' if count == 1 else 's'} ahead{': logmem sync holiday' if count else '.'}")


def when(found: Mapping[str, Any]) -> str:
    """The times, weekdays and zone in words."""
    return f"{', '.join(found['times'])}, {weekdays(found['days'])}, in {found['zone']}"


def weekdays(names: Sequence[str]) -> str:
    """Weekdays as one would say them: `every day`, `mon-fri`, `mon, wed`."""
    if len(names) == len(DAYS):
        return "every day"
    run = run_of(names)
    return ("-" if run else ", ").join(run or names)


def no_scheduler(for_s: int | None) -> str:
    """That nobody accounts for anything now, and what to do; `for_s` is for how long, None for ever."""
    ago = f" The last one was heard of {since(for_s * SECOND)}." if for_s is not None else ""
    return (
        f"No scheduler runs: nobody is reminded, and no window is accounted for until one does.{ago} "
        f"Nothing is lost: it makes up for what is due. {START}"
    )


def _head(found: Mapping[str, Any]) -> None:
    """Whose syncs, what time it is there, and when they are."""
    show.marked(f"Syncs of {found['space']}", f"  {found['local']} in {found['zone']}", style="bold", hang=2)
    show.line(f"{', '.join(found['times'])}, {weekdays(found['days'])}")
    if found["paused"]:
        show.line("The space is paused: nobody can check in.", style="yellow")
    for each in found["holidays"][:HOLIDAYS]:
        show.prose(f"No syncs on {each['day']}: {show.shown(each['reason'])}")
    if (more := len(found["holidays"]) - HOLIDAYS) > 0:
        show.line(f"and on {more} more {'day' if more == 1 else 'days'}: logmem sync holiday")


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
                notes = each.get("gone") or show.inert(each["notes"], left=each.get("notes_left", 0))
                show.prose(f"{each['who']} {each['outcome']}: {notes}", indent=INDENT, style="yellow", hang=2)
        if one["missing"] and (one["state"] == "open" or len(one["missing"]) > TOLD):
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
        show.prose(f"{how}: {', '.join(names[:NAMED])}{rest}", indent=INDENT, hang=2)


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
