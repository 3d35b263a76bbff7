"""The syncs: today's windows with who is in, a check-in, and how each window of the last weeks was accounted for."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode
from zoneinfo import ZoneInfo, available_timezones

from starlette.responses import Response

from store.domain.calendar import SLOTS
from store.domain.day import day_of
from store.domain.errors import Refused
from store.domain.moments import SECOND, iso
from store.domain.timetable import DAYS, run_of
from store.verbs.call import Result

from . import inert
from .forms import Fields, Form
from .frame import Tab
from .visit import Page, Posted, Visit

STATES = {  # word and tone of each state of a window; its sign is as different as its word
    "ahead": ("Ahead", "past"),
    "open": ("Open", "link"),
    "overdue": ("Overdue", "open"),
    "held": ("Held", "yes"),
    "late": ("Late", "open"),
    "missed": ("Missed", "no"),
    "skipped": ("Skipped", "past"),
    "unaccounted": ("Over", "past"),  # and not accounted for yet
}
OPEN = ("open", "overdue")
OUTCOMES = {  # of a check-in: its word, its tone, and what it says of who checks in
    "pass": ("Pass", "yes", "all is well with what is yours"),
    "attention": ("Attention", "open", "somebody should look at something"),
    "blocked": ("Blocked", "no", "you cannot go on"),
}
WHY = {  # in a word why a window was skipped, by the reason's code; its sentence says it whole
    "day_off": "day off",
    "paused": "paused",
    "nobody_expected": "none due",
    "down": "was down",
    "changed": "moved",
    "no_time": "no time",
}
WEEKDAYS = dict(zip(DAYS, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True))
WEEKS = (1, 4, 8)  # that one can look back
USUAL = "4"
DIGITS = 9  # that are looked at of a number in an address
SHOWN = 6  # check-ins of a window that stand unfolded
DAYS_OFF = 10  # that are named beside the times
LOOK = 15 * SECOND  # between two looks at whether a scheduler runs, while none does

_NO_STATE = "none"
_TICKING = ("now", "local", "leader")  # what changes by time alone; the leader has a region of its own
_NOT_YET = (_NO_STATE, "ahead", "open")


async def everything(visit: Visit) -> Response:
    """Today, oneself, and the last weeks."""
    back = visit.asked("weeks")
    found = await visit.call("syncs", weeks=int(back[:DIGITS]) if back.isascii() and back.isdigit() else "")
    may = (await visit.call("connection"))["may"]
    shown = {name: value for name, value in found.items() if name not in _TICKING}
    clock = Clock(found["zone"], found["now"])
    weeks = weeks_of(found["grid"], clock)
    return visit.page(
        "syncs.html",
        title="Syncs",
        v=found,
        may=may,
        mark=inert.version({**shown, "may": may}),
        clock=clock,
        awaited=_awaited(found) if "write" in may else "",
        windows=[_window(each, clock) for each in found["today"]],
        weeks=weeks if any(row.told for _, rows in weeks for row in rows) else [],
        looked=back or USUAL,
        choices=WEEKS,
        first=SHOWN,
        days_off=DAYS_OFF,
        states=STATES,
        outcomes=OUTCOMES,
        rhythm=rhythm_of(found),
        again="" if found["leader"]["leads"] else iso(inert.ms(found["now"]) + LOOK),
        sent=visit.request.url.path.rpartition("/")[2] if visit.no else "",
    )


def _awaited(found: Result) -> str:
    """The window that the caller can check in for now, '' for none."""
    own = found["you"]["checked_in"]
    return next((_named(each) for each in found["today"] if each["state"] in OPEN and each["slot"] not in own), "")


def _named(window: Result) -> str:
    """A window as a form names it."""
    return f"{window['day']}:{window['slot']}"


class Clock:
    """The clock on the wall in the zone of a space, and what day is called how there."""

    def __init__(self, zone: str, now: str) -> None:
        self.zone = ZoneInfo(zone)
        self.today = datetime.fromisoformat(now).astimezone(self.zone).date()

    def at(self, moment: str, day: str = "") -> str:
        """`09:00`; of a day's end `24:00`."""
        there = datetime.fromisoformat(moment).astimezone(self.zone)
        after = day and there.date().isoformat() > day
        return f"{there.hour + 24 * bool(after):02}:{there.minute:02}"

    def day(self, day: str) -> str:
        """`Mon 30 Nov`, which breaks after the weekday alone."""
        on = date.fromisoformat(day)
        return f"{list(WEEKDAYS.values())[on.weekday()]} {on.day}\N{NO-BREAK SPACE}{inert.MONTHS[on.month - 1]}"

    def relative(self, day: str) -> str:
        """`today`, `tomorrow`, or the day."""
        ahead = (date.fromisoformat(day) - self.today).days
        return {0: "today", 1: "tomorrow"}.get(ahead, self.day(day))

    def week(self, monday: date) -> str:
        """`This week`, `Last week`, or which it was."""
        back = (self.today - timedelta(days=self.today.weekday()) - monday).days // 7
        return {0: "This week", 1: "Last week"}.get(back, f"Week of {monday.day} {inert.MONTHS[monday.month - 1]}")


def _window(found: Result, clock: Clock) -> Mapping[str, Any]:
    """A window of today: who is in with what needs a look first, and the sentence about it without the day."""
    order = list(reversed(OUTCOMES))
    lines = sorted(found.get("in", ()), key=lambda each: order.index(each["outcome"]))
    return {
        **found,
        "name": _named(found),
        "says": _sentence(found["says"], found["day"]),
        "lines": lines,
        "span": (clock.at(found["opens"]), clock.at(found["closes"], found["day"]), clock.at(found["late"])),
    }


def _sentence(says: str, day: str) -> str:
    said = says.replace(f" of {day}", "")
    return said[:1].upper() + said[1:]


class Cell(NamedTuple):
    """How a window of the last weeks ended. `more` is what one reads beside the word, `entry` where the Log says it.

    `whom` names who is missing where there is room for it.
    """

    slot: str
    state: str
    says: str
    more: str
    whom: str
    entry: str


class Row(NamedTuple):
    """A day of the last weeks."""

    day: str
    name: str
    cells: tuple[Cell, ...]

    @property
    def told(self) -> list[str]:
        """The sentences of the windows that one can say something of."""
        return [cell.says for cell in self.cells if cell.state not in _NOT_YET]


def weeks_of(grid: Iterable[Result], clock: Clock) -> list[tuple[str, list[Row]]]:
    """The days of the grid by their weeks, both as the grid has them: the newest first."""
    weeks: dict[date, list[Row]] = {}
    for found in grid:
        on = date.fromisoformat(found["day"])
        cells = tuple(_cell(slot, found["slots"].get(slot), found["day"]) for slot in SLOTS)
        row = Row(found["day"], clock.day(found["day"]), cells)
        weeks.setdefault(on - timedelta(days=on.weekday()), []).append(row)
    return [(clock.week(monday), rows) for monday, rows in weeks.items()]


def _cell(slot: str, found: Result | None, day: str) -> Cell:
    if found is None:
        return Cell(slot, _NO_STATE, "", "", "", "")
    return Cell(slot, found["state"], _sentence(found["says"], day), _more(found), _whom(found), found.get("entry", ""))


def _more(found: Result) -> str:
    """The number that goes with a state, in words."""
    expected, came, late = (found.get(name, 0) for name in ("expected", "came", "late"))
    match found["state"]:
        case "held":
            return f"all {expected}"
        case "late":
            return f"{late} late"
        case "missed":
            return f"{expected - came} missing"
        case "open" | "overdue":
            return f"{came} of {expected}" if expected else ""
    return WHY.get(found.get("skipped", ""), "")


def _whom(found: Result) -> str:
    """The first who is missing, and how many more there are."""
    if found["state"] not in ("overdue", "missed") or not found["missing"]:
        return ""
    more = found["expected"] - found["came"] - 1
    return f"{found['missing'][0]} +{more}" if more > 0 else str(found["missing"][0])


def rhythm_of(found: Result) -> Mapping[str, Any]:
    """When syncs are: the times by their slots, the days in words, and the days off that are not over."""
    days = found["days"]
    every = "every day" if len(days) == len(DAYS) else _run(days)
    return {"times": dict(zip(SLOTS, found["times"], strict=True)), "days": every}


def _run(days: list[str]) -> str:
    """`Mon to Fri`, or each of them."""
    run = run_of(days)
    return (" to " if run else ", ").join(WEEKDAYS[day] for day in run or days)


# ---- When syncs are: for owners


async def times(visit: Visit) -> Response:
    """The times, days and zone of the syncs, and the days without."""
    found = await visit.call("syncs", weeks=1)
    return visit.page(
        "rhythm.html",
        title="When syncs are",
        v=found,
        manages="manage" in (await visit.call("connection"))["may"],
        clock=Clock(found["zone"], found["now"]),
        rhythm=rhythm_of(found),
        weekdays=WEEKDAYS,
        zones=_zones(),
        shown=urlencode(_filled(found)),
        sent=visit.request.url.path.rpartition("/")[2] if visit.no else "",
    )


@lru_cache(maxsize=1)
def _zones() -> tuple[str, ...]:
    """The names that the field proposes."""
    return tuple(sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")))


# ---- Forms


async def _here(visit: Visit, fields: Fields) -> dict[str, Any]:
    day, _, slot = fields.get("window", "").partition(":")
    if not day_of(day) or slot not in SLOTS:
        raise Refused("invalid_argument", "This form names no window. Nothing was written.", argument="slot")
    said = fields.get("text", "") or " "  # which says nothing: only a press has words of its own
    return {"day": day, "slot": slot, "outcome": fields.get("outcome", ""), "notes": said}


async def _attends(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"on": fields.get("on") == "yes"}


async def _times(visit: Visit, fields: Fields) -> dict[str, Any]:
    """What is otherwise than the page showed it, and no more: somebody else may have set the rest meanwhile."""
    shown = dict(parse_qsl(fields.get("shown", "")))
    typed = {name: fields.get(name, "").strip() for name in (*SLOTS, *DAYS, "zone")}
    own = {name: value for name, value in typed.items() if value != shown.get(name, "")}
    new = _filled(await visit.call("syncs", weeks=1)) | own
    said = {
        "times": ", ".join(new[slot] for slot in SLOTS),
        "days": ",".join(day for day in DAYS if new.get(day)) or " ",  # which names none
        "zone": new["zone"],
    }
    parts = {"times": SLOTS, "days": DAYS, "zone": ("zone",)}
    changed = {part for part, names in parts.items() if not own.keys().isdisjoint(names)}
    return {part: said[part] for part in changed or {"zone"}}


def _filled(found: Result) -> dict[str, str]:
    """The fields of the form that shows this."""
    return {
        **dict(zip(SLOTS, found["times"], strict=True)),
        **dict.fromkeys(found["days"], "yes"),
        "zone": found["zone"],
    }


async def _day_off(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"holiday": fields.get("holiday", ""), "reason": fields.get("reason", "")}


async def _day_on(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"holiday": fields.get("holiday", ""), "remove": True}


def _back(visit: Visit, done: Result) -> Response:
    return visit.to("syncs")


def _still(visit: Visit, done: Result) -> Response:
    return visit.to("syncs", "times")


PAGE = Page(
    Tab("syncs", "Syncs", "syncs"),
    {"syncs": everything, "syncs/times": times},
    (
        Posted(Form("syncs/check-in", "check_in", _here), _back, everything),
        Posted(Form("syncs/attend", "attend", _attends), _back, everything),
        Posted(Form("syncs/times", "rhythm", _times), _back, times),
        Posted(Form("syncs/day-off", "rhythm", _day_off), _still, times),
        Posted(Form("syncs/day-on", "rhythm", _day_on), _still, times),
    ),
)
