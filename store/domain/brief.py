"""The Brief: the weightiest lines that a budget holds, as structure and as text, and how many were left out. Pure.

A budget is kept twice: by the compact JSON of the whole result, and by its text. Both are measured with an upper
bound, so what an agent pays is never more. Text that somebody wrote is cut before a line is left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from .document import Document
from .errors import Refused
from .lines import Line, View, lines_of, span_short
from .moments import HOUR, iso
from .sentences import BUDGET, ONE, OUTSTANDING, TOP, WIDE, around, compact, next_call, sentence
from .tokens import Chunk, chunk, joined, tokens_upper

BUDGET_DEFAULT = 800
NARROW = 40  # characters that a text has in a line when there is no room for more
DENSE = 3  # characters to a token of a line, with its ids and names: no line has as many
LEFT_OUT = 10**6  # a count of what is left out that no Brief reaches, for measuring
URGENT = 2 * HOUR  # what has less time left says so however small the budget

Shown = dict[str, Any]
_HOLE = "\0{}"  # stands for a line while the whole is put together; no name or id has it
_HOLES = re.compile(r'"\\u0000([0-9]+)"(?::0)?')
_glue = lru_cache(maxsize=512)(chunk)  # what stands between lines: names and ids, no text


@dataclass(frozen=True, slots=True)
class Brief:
    """The result to give, and the documents that it shows."""

    result: Shown
    shown: tuple[Document, ...]


def assemble(view: View, *, head: Mapping[str, Any], budget: int, since: int = 0) -> Brief:
    """The Brief of `view`; `head` is what the result says besides. With `since` (ms): only what changed from then on.

    Refuses invalid_argument when the budget does not even hold the head.
    """
    lines = [line for line in lines_of(view) if line.at >= since]
    brief = Draft(view, head, budget, lines, since=since, rich=True)
    if not (brief.hopeful() and brief.fill()):
        brief = Draft(view, head, budget, lines, since=since, rich=False)
        brief.fill()
    shown = tuple(line.document for line in brief.chosen if line.document)
    return Brief(brief.result(), shown)


def check_budget(budget: int) -> None:
    """Refuses invalid_argument."""
    low, high = BUDGET
    if not low <= budget <= high:
        raise Refused("invalid_argument", f"budget is {low} to {high} tokens. Nothing was written.", argument="budget")


class _Form:
    """A line as it is shown; priced when that is asked for."""

    def __init__(self, line: Line, shown: Shown) -> None:
        self.section, self.shown = line.section, shown
        self.bare = shown["step"] if line.section == "next" else shown  # a text in a list; all else is an object
        self.json = compact(self.bare)

    @cached_property
    def chunk(self) -> Chunk:
        """The JSON as a part of the whole; of a recap what is within its braces, since its next steps go there too."""
        return chunk(self.json[1:-1] if self.section == "last_recap" else self.json)

    @cached_property
    def price(self) -> tuple[int, int]:
        """What it costs beside others, in structure and in text."""
        return joined((self.chunk,)) + 1, _line_price(sentence(self.section, self.bare))


@dataclass(slots=True)
class Draft:
    """A Brief being filled. `spent` is the estimate so far, in structure and in text.

    `rich`: each line says its next call and the time left in the structure too.
    """

    view: View
    head: Mapping[str, Any]
    budget: int
    lines: Sequence[Line]
    since: int
    rich: bool
    spent: tuple[int, int] = (0, 0)
    measured: bool = False
    empty: bool = False
    framed: set[str] = field(default_factory=set)
    missed: dict[str, int] = field(default_factory=dict)  # by section, the size of the smallest that did not fit
    forms: dict[int, _Form] = field(default_factory=dict)

    @property
    def chosen(self) -> list[Line]:
        return [line for line in self.lines if id(line) in self.forms]

    @property
    def missing(self) -> int:
        return len(self.lines) - len(self.forms)

    def hopeful(self) -> bool:
        """Whether all lines might fit, judged by their length alone."""
        return sum(len(compact(self._shown(line, NARROW))) for line in self.lines) <= DENSE * self.budget

    def fill(self) -> bool:
        """Take as many of the lines as fit, and say whether all do; a rich one gives up at the first that does not."""
        self.open()
        # Who and Now are what every Brief says: they have their place before the rest, and their length after it.
        for line in self.lines:
            if line.section in ("who", "now"):
                self.offer(line, (NARROW,))
        if not self.since:
            self.shape()
        for line in self.lines:
            if line.section != "next" or "last_recap" in self.framed:
                self.offer(line, (WIDE, NARROW))
            if self.rich and id(line) not in self.forms:
                return False
        self.settle()
        return not self.missing

    def open(self) -> None:
        """Begin with the head alone. Refuses invalid_argument."""
        self.spent = self.cost(left=LEFT_OUT)
        need = max(self.spent)
        if need > self.budget:
            raise Refused(
                "invalid_argument",
                f"A budget of {self.budget} tokens does not even hold the names here; give {need} or more. "
                "Nothing was written.",
                argument="budget",
                least=need,
            )

    def offer(self, line: Line, widths: Sequence[int]) -> None:
        """Take the line in the widest form that fits, in place of a narrower one."""
        now = self.forms.get(id(line))
        for width in widths:
            shown = self._shown(line, width)
            if now and shown == now.shown:
                return
            form = _Form(line, shown)
            # What is no shorter than one of its section that did not fit is not even priced.
            if now is None and line.section in self.missed and len(form.json) >= self.missed[line.section]:
                continue
            if self._fits(line, form.price, now.price if now else (0, 0)):
                self.forms[id(line)] = form
                self.framed.add(line.section)
                return
            self.missed[line.section] = min(len(form.json), self.missed.get(line.section, len(form.json)))

    def _fits(self, line: Line, price: tuple[int, int], paid: tuple[int, int]) -> bool:
        """Whether there is room for a line at this price; then it is taken off."""
        frame = 0 if line.section in self.framed else tokens_upper(f',"{line.section}":[]')
        for exact in (False, True):
            if exact:
                # Lines cost less side by side than one by one, so before one is left out the whole is measured.
                self.spent = self.cost(left=LEFT_OUT)
            spent = (self.spent[0] + price[0] - paid[0] + frame, self.spent[1] + price[1] - paid[1])
            if max(spent) <= self.budget:
                self.spent, self.measured = spent, False
                return True
            if self.measured:
                break
            self.measured = True
        return False

    def shape(self) -> None:
        """Say what is empty too, as the manual's results do, if there is room for that."""
        self.empty = True
        spent = self.cost(left=LEFT_OUT)
        self.empty = max(spent) <= self.budget
        self.spent = spent if self.empty else self.spent

    def settle(self) -> None:
        """Take away from the end until the whole fits. The estimate adds up parts, and a whole can cost more."""
        while max(self.cost()) > self.budget and self.forms:
            rest = [line for line in self.chosen if line.section not in ("who", "now")]
            del self.forms[id((rest or self.chosen)[-1])]

    @property
    def _left(self) -> int:
        return self.missing + self.view.unread

    def result(self) -> Shown:
        """The result as it stands."""
        return self._compiled({key: form.bare for key, form in self.forms.items()}, left=self._left)

    def cost(self, *, left: int | None = None) -> tuple[int, int]:
        """What the whole costs at most, in structure and in text: each line is priced once, and only joined here."""
        forms = [self.forms[id(line)] for line in self.chosen]
        shown: dict[int, Any] = {id(line): _HOLE.format(n) for n, line in enumerate(self.chosen)}
        shown |= {id(line): {shown[id(line)]: 0} for line in self.chosen if line.section == "last_recap"}
        result = self._compiled(shown, left=self._left if left is None else left)
        parts = _HOLES.split(compact(result))
        structure = joined(forms[int(part)].chunk if n % 2 else _glue(part) for n, part in enumerate(parts))
        who = next((form.shown for form in forms if form.section == "who"), {})
        outstanding = any(form.section in OUTSTANDING for form in forms)
        before, after = around({**result, "who": who}, outstanding=outstanding)
        said = sum(form.price[1] for form in forms if form.section != "who")
        return structure, said + sum(map(_line_price, (*before, *after)))

    def _shown(self, line: Line, width: int) -> Shown:
        shown = {**line.facts, **{name: _cut(said, width) for name, said in line.texts.items()}}
        urgent = line.left and line.left < URGENT
        if line.left and (self.rich or urgent):
            shown["left"] = span_short(line.left)
        step = next_call(line.section, shown) if self.rich else None
        return {**shown, "next": step} if step else shown

    def _compiled(self, shown: Mapping[int, Any], *, left: int) -> Shown:
        top: Shown = {"handoffs": [], "pending_asks": []} if self.empty else {}
        brief: Shown = {}
        recap: list[Any] = []
        for line in self.chosen:
            if line.section in ONE:
                top[line.section] = shown[id(line)]
            elif line.section == "next":
                recap.append(shown[id(line)])
            else:
                (top if line.section in TOP else brief).setdefault(line.section, []).append(shown[id(line)])
        if recap:
            top["last_recap"] = {**top["last_recap"], "next": recap}
        if self.empty:
            top = {"who": {}, "now": {"doing": "", "blocked": False}, "last_recap": {}, **top}
        since = {"since": iso(self.since), "at": iso(self.view.now)} if self.since else {}
        ordered = {name: top[name] for name in TOP if name in top}
        return {**self.head, **since, **ordered, "brief": {**brief, **({"left_out": left} if left else {})}}


def _line_price(line: str) -> int:
    """What a line of the text costs amid others, with one line end."""
    return tokens_upper(f"\n{line}\n") - 1


def _cut(said: str, width: int) -> str:
    rest = len(said) - width
    return said if rest <= 0 else f"{said[:width]}… (+{rest} characters)"
