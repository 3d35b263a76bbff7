"""What a story is made of: scenes of steps, each one call of one agent, and tellings that take more than a template.

In arguments, `{tag}` sets this run's jobs apart from those of an earlier run in the same space, and `Of` is what an
earlier step was answered. In tellings, `a` are the arguments, `r` is the result, `said` are the results of named steps;
`!q` shows a text as an agent wrote it: in quotes, on one line, inert.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from store.domain.text import quoted

SHOWN = 120  # characters of a text that somebody wrote
CLAUDE, CODEX, MUSE, GROK = FLEET = ("claude-code", "codex", "muse", "grok")
# Of a check-in, where the day cannot be played by its clock; the last two where an earlier demo was in that window.
WINDOW_SHUT = ("window_not_open", "window_closed", "already_checked_in", "busy")


@dataclass(frozen=True, slots=True)
class Of:
    """A part of what a named step was answered, by the way to it."""

    step: str
    way: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What a telling is made from."""

    args: Mapping[str, Any]
    result: Mapping[str, Any]
    said: Mapping[str, Mapping[str, Any]]


Telling = str | Callable[[Told], str]


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `refused` is the code that it must be refused with; a check-in may also find its window shut."""

    who: str
    verb: str
    args: Mapping[str, Any]
    tell: Telling
    name: str = field(default="", kw_only=True)
    refused: str = field(default="", kw_only=True)

    @property
    def checks_in(self) -> bool:
        return self.verb == "sync" and bool(self.args.get("receipt"))


@dataclass(frozen=True, slots=True)
class Act:
    """What an agent does outside LogMem."""

    who: str
    tell: Telling


@dataclass(frozen=True, slots=True)
class Gate:
    """An agent halts until a person has decided the ask of a named step; what follows depends on how."""

    who: str
    ask: str
    after: Mapping[str, tuple["Step | Act", ...]]


@dataclass(frozen=True, slots=True)
class Moment:
    """So many minutes after a window has opened, or after it has become late, on the first or the second day."""

    slot: str
    minutes: int
    day: int = 0
    late: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """Steps under a heading. `clocked` says what is left out where the clock cannot be moved to it, '' for nothing."""

    title: str
    steps: tuple[Step | Act | Gate, ...]
    at: Moment
    clocked: str = ""


WAITING = (  # parts of a Brief, and what each is called where it has one line, or several
    ("verdicts", "a verdict", "verdicts"),
    ("handoffs", "a handoff", "handoffs"),
    ("seats", "a seat in a huddle", "seats in huddles"),
    ("jobs", "a job", "jobs"),
)


def begins(told: Told) -> str:
    """A start, in a line: what waits, and where the agent left off."""
    result, shift = told.result, told.result["started"]
    verb = "goes on with" if shift["resumed"] else "begins"
    waits = ((len(result.get(part) or result["brief"].get(part) or ()), one, many) for part, one, many in WAITING)
    said = [one if number == 1 else f"{number} {many}" for number, one, many in waits if number]
    said += [f"{each['slot']}, which is late" for each in result["brief"].get("sync", ()) if each["status"] == "late"]
    line = f"{verb} shift {shift['shift']}; its Brief: {' and '.join(said) or 'nothing waits'}"
    last = result["last_recap"]
    by = ", as the scheduler has it," if last.get("auto") else ""
    return f"{line}; it left off{by} at {quoted(last['summary'], SHOWN)}" if last else line


def checks_in(told: Told) -> str:
    """A check-in, and whether it came late."""
    late = "late " if told.result["late"] else ""
    return f"checks in {late}for {told.result['slot']}: {told.result['outcome']}, {quoted(told.args['notes'], SHOWN)}"


def found(told: Told) -> str:
    """What a search found: each hit in quotes, with its mark."""
    hits = told.result["hits"]
    shown = [
        f"{quoted(hit['summary'], SHOWN)} ({'superseded' if hit.get('superseded_by') else hit['kind']})" for hit in hits
    ]
    return f"recalls {quoted(told.args['query'], SHOWN)}: {'; '.join(shown)}"


def carried(told: Told) -> str:
    """What the closeout of the day before left, as the morning shows it."""
    carry = told.result["carried"]
    return f"is reminded of what it carried over: {', '.join(carry['open'])}; {quoted(carry['notes'], SHOWN)}"
