"""Entries in a list: short enough that a list of them is cheap to read; `view {what: <id>}` has each in full."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .entry import Logged
from .tokens import tokens_upper

WIDTH = 200  # characters of a summary
LEAN_WIDTH = 120  # of one that has no room for more
PAYLOAD = 300  # characters of a payload as JSON; a longer one is named by its length
LONG = "payload_characters"
BUDGET = 1200  # tokens of a list
POINTED = 800  # of them, for the entries that the thing points at
LEFT_OUT = ("ts", "client")  # said by `at` and `byline` already
LEAN = ("id", "at", "kind", "by", "where", "summary")

Line = dict[str, Any]


class Listed(NamedTuple):
    """Lines, oldest first, and how many entries were left out."""

    lines: list[Line]
    left_out: int


def listed(entries: Sequence[Logged], *, pointed: Iterable[str] = (), budget: int = BUDGET) -> Listed:
    """The newest entries that fit `budget` tokens. Those with an id in `pointed` are there in any case."""
    weighty = set(pointed)
    lines = _pointed([e for e in entries if e.id in weighty])
    budget -= sum(map(_price, lines.values()))
    for entry in reversed(entries):
        if entry.id in lines:
            continue
        line = _cut(entry)
        budget -= _price(line)
        if budget < 0:
            break
        lines[entry.id] = line
    shown = [lines[e.id] for e in entries if e.id in lines]
    return Listed(shown, len(entries) - len(shown))


def forward(
    entries: Sequence[Logged], *, pointed: Sequence[Logged] = (), budget: int = BUDGET
) -> tuple[list[Line], int]:
    """The oldest of `entries` that fit, at least one, and how many those are; then `pointed`, where not among them.

    What is read onwards from a cursor ends with this: the next call begins after the last of the oldest.
    """
    weighty = _pointed(pointed)
    budget -= sum(map(_price, weighty.values()))
    lines: list[Line] = []
    for entry in entries:
        line = weighty.get(entry.id) or _cut(entry)
        budget -= 0 if entry.id in weighty else _price(line)
        if budget < 0:
            if not lines:
                lines.append(_lean(entry))
            break
        lines.append(line)
    there = {line["id"] for line in lines}
    return lines + [line for id, line in weighty.items() if id not in there], len(lines)


def each(entries: Iterable[Logged]) -> list[Line]:
    """All of them, each short as in any list: for who reads them on a page, where their number is bound enough."""
    return [_cut(entry) for entry in entries]


def some(names: Iterable[str], *, budget: int) -> list[str]:
    """The first of these ids that fit `budget` tokens."""
    fit: list[str] = []
    for name in names:
        budget -= tokens_upper(f'"{name}",')
        if budget < 0:
            break
        fit.append(name)
    return fit


def _pointed(entries: Sequence[Logged]) -> dict[str, Line]:
    """Lines of the entries that weigh most, each as whole as its share allows."""
    return {e.id: _widest(e, budget=POINTED // len(entries)) for e in entries}


def _widest(entry: Logged, *, budget: int) -> Line:
    forms: tuple[Callable[[Logged], Line], ...] = (_whole, _cut)
    return next((line for line in (form(entry) for form in forms) if _price(line) <= budget), _lean(entry))


def _price(line: Line) -> int:
    return tokens_upper(json.dumps(line, ensure_ascii=False, separators=(",", ":"))) + 1


def _whole(entry: Logged) -> Line:
    return {k: v for k, v in entry.shown().items() if k not in LEFT_OUT}


def _cut(entry: Logged) -> Line:
    shown = _whole(entry)
    shown["summary"] = short(shown["summary"], WIDTH)
    if "why" in shown:
        shown["why"] = short(shown["why"], WIDTH)
    return lighter(shown)


def lighter(shown: Line) -> Line:
    """An entry as it is shown, a long payload named by its length."""
    if "payload" not in shown or (size := len(json.dumps(shown["payload"], ensure_ascii=False))) <= PAYLOAD:
        return shown
    return {**{k: v for k, v in shown.items() if k != "payload"}, LONG: size}


def _lean(entry: Logged) -> Line:
    shown = {k: v for k, v in entry.shown().items() if k in LEAN}
    return {**shown, "summary": short(shown["summary"], LEAN_WIDTH)}


def counted(name: str, text: str, width: int) -> Line:
    """The text under its name, cut to `width` characters; `<name>_left` counts the rest, out of the text's reach."""
    over = len(text) - width
    return {name: text[:width], **({f"{name}_left": over} if over > 0 else {})}


def short(text: str, width: int) -> str:
    """The text, cut to `width` characters; what was cut is counted."""
    over = len(text) - width
    return f"{text[:width]}… (+{over} characters)" if over > 0 else text
