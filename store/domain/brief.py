"""The Brief: the weightiest lines that a budget holds, as structure and as text, and how many were left out. Pure.

A budget is kept twice: by the compact JSON of the whole result, and by its text. Both are measured with an upper
bound, so what an agent pays is never more. Text that somebody wrote is cut before a line is left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .document import Document
from .errors import Refused
from .lines import Line, View, lines_of, short
from .moments import HOUR, iso
from .text import one_line
from .tokens import tokens_upper

BUDGET = (100, 8000)  # bounds of a budget, in tokens
BUDGET_DEFAULT = 800
WIDE, NARROW = 160, 40  # characters that a text may have in a line
LEFT_OUT = 10**6  # a count of what is left out that no Brief reaches, for measuring
URGENT = 2 * HOUR  # what has less time left says so however small the budget

Shown = dict[str, Any]

TOP = ("who", "now", "last_recap", "handoffs", "pending_asks")  # where the manual has them; the others are in `brief`
ONE = ("who", "now", "last_recap")
OUTSTANDING = ("verdicts", "questions", "handoffs", "blockers", "pending_asks", "mailbox")


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
    brief = _filled(view, lines, head=head, budget=budget, since=since, rich=True)
    if brief.missing:
        brief = _filled(view, lines, head=head, budget=budget, since=since, rich=False)
    shown = tuple(line.document for line in brief.chosen if line.document)
    return Brief(brief.result(), shown)


def check_budget(budget: int) -> None:
    """Refuses invalid_argument."""
    low, high = BUDGET
    if not low <= budget <= high:
        raise Refused("invalid_argument", f"budget is {low} to {high} tokens. Nothing was written.", argument="budget")


def text(result: Mapping[str, Any]) -> str:
    """The result of `start` or `brief` in lines, each with the call that deals with it."""
    lines = [_header(result)]
    for name, sentence in SENTENCES.items():
        lines += [_said(name, shown, sentence) for shown in _of(result, name)]
    left = result["brief"].get("left_out")
    if not left and not any(line for name in OUTSTANDING for line in _of(result, name)):
        lines.insert(1, "Nothing new is outstanding." if "since" in result else "Nothing is outstanding.")
    if left:
        whose = {"agent": result["agent"]} if result["agent"] != result["caller"] else {}
        since = {"since": result["since"]} if "since" in result else {}
        lines.append(f"{left} more left out -> logmem_brief {_json({**whose, **since, 'budget': BUDGET[1]})}")
    return "\n".join(lines)


def _filled(
    view: View, lines: Sequence[Line], *, head: Mapping[str, Any], budget: int, since: int, rich: bool
) -> "_Draft":
    """As many of the lines as fit. `rich`: each says its next call and the time left in the structure too."""
    draft = _Draft(view, head, budget, lines, since=since, rich=rich)
    draft.open()
    # Who and Now are what every Brief says: they have their place before the rest, and their length after it.
    for line in lines:
        if line.section in ("who", "now"):
            draft.offer(line, (NARROW,))
    if not since:
        draft.shape()
    for line in lines:
        if line.section != "next" or "last_recap" in draft.framed:
            draft.offer(line, (WIDE, NARROW))
    draft.settle()
    return draft


@dataclass(slots=True)
class _Draft:
    """A Brief being filled. `spent` is the estimate so far, in structure and in text."""

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
    forms: dict[int, tuple[Shown, tuple[int, int]]] = field(default_factory=dict)

    @property
    def chosen(self) -> list[Line]:
        return [line for line in self.lines if id(line) in self.forms]

    @property
    def missing(self) -> int:
        return len(self.lines) - len(self.forms)

    def open(self) -> None:
        """Begin with the head alone. Refuses invalid_argument."""
        self.spent = _cost(self._compiled(left=LEFT_OUT))
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
        before, paid = self.forms.get(id(line), (None, (0, 0)))
        for width in widths:
            shown = self._shown(line, width)
            if shown == before:
                return
            price = _price(line, shown)
            if self._fits(line, price, paid):
                self.forms[id(line)] = shown, price
                self.framed.add(line.section)
                return

    def _fits(self, line: Line, price: tuple[int, int], paid: tuple[int, int]) -> bool:
        """Whether there is room for a line at this price; then it is taken off."""
        frame = 0 if line.section in self.framed else tokens_upper(f',"{line.section}":[]')
        for exact in (False, True):
            if exact:
                # Lines cost less side by side than one by one, so before one is left out the whole is measured.
                self.spent = _cost(self._compiled(left=LEFT_OUT))
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
        spent = _cost(self._compiled(left=LEFT_OUT))
        self.empty = max(spent) <= self.budget
        self.spent = spent if self.empty else self.spent

    def settle(self) -> None:
        """Take away from the end until the whole fits. The estimate adds up parts, and a whole can cost more."""
        while max(_cost(self.result())) > self.budget and self.forms:
            rest = [line for line in self.chosen if line.section not in ("who", "now")]
            del self.forms[id((rest or self.chosen)[-1])]

    def result(self) -> Shown:
        """The result as it stands."""
        return self._compiled(left=self.missing + self.view.unread)

    def _shown(self, line: Line, width: int) -> Shown:
        shown = {**line.facts, **{name: _cut(said, width) for name, said in line.texts.items()}}
        urgent = line.left and line.left < URGENT
        if line.left and (self.rich or urgent):
            shown["left"] = short(line.left)
        step = _next(line.section, shown) if self.rich else None
        return {**shown, "next": step} if step else shown

    def _compiled(self, *, left: int) -> Shown:
        top: Shown = {"handoffs": [], "pending_asks": []} if self.empty else {}
        brief: Shown = {}
        recap: list[str] = []
        for line in self.chosen:
            shown = self.forms[id(line)][0]
            if line.section in ONE:
                top[line.section] = shown
            elif line.section == "next":
                recap.append(_bare(line, shown))
            else:
                (top if line.section in TOP else brief).setdefault(line.section, []).append(shown)
        if recap:
            top["last_recap"] = {**top["last_recap"], "next": recap}
        if self.empty:
            top = {"who": {}, "now": {"doing": "", "blocked": False}, "last_recap": {}, **top}
        since = {"since": iso(self.since), "at": iso(self.view.now)} if self.since else {}
        ordered = {name: top[name] for name in TOP if name in top}
        return {**self.head, **since, **ordered, "brief": {**brief, **({"left_out": left} if left else {})}}


def _bare(line: Line, shown: Shown) -> Any:
    """A next step is a text in a list; everything else an object."""
    return shown["step"] if line.section == "next" else shown


def _price(line: Line, shown: Shown) -> tuple[int, int]:
    """What a line costs beside others, in structure and in text."""
    bare = _bare(line, shown)
    sentence = _said(line.section, bare, SENTENCES.get(line.section, _who))
    return tokens_upper(_json(bare)) + 1, tokens_upper(sentence) + 1


def _cost(result: Mapping[str, Any]) -> tuple[int, int]:
    return tokens_upper(_json(result)), tokens_upper(text(result))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(said: str, width: int) -> str:
    rest = len(said) - width
    return said if rest <= 0 else f"{said[:width]}… (+{rest} characters)"


# The calls that deal with a line: arguments are fields of the line, or words in quotes.
Step = tuple[str, Mapping[str, str]]
STEPS: Mapping[tuple[str, str], Step] = {
    ("verdicts", "approved"): ("logmem_redeem", {"trail": "trail"}),
    ("verdicts", "rejected"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "answered"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "expired"): ("logmem_ask", {"again": "trail"}),
    ("verdicts", "lapsed"): ("logmem_ask", {"again": "trail"}),
    ("verdicts", "taken_back"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "declined"): ("logmem_view", {"what": "item"}),
    ("verdicts", "dead letter"): ("logmem_handoff", {"requeue": "item"}),
    ("questions", ""): ("logmem_note", {"where": "where", "kind": '"answer"', "answers": "trail"}),
    ("handoffs", ""): ("logmem_accept", {"item": "item"}),
    ("handoffs", "expired"): ("logmem_view", {"what": "item"}),
    ("blockers", ""): ("logmem_view", {"what": "who"}),
    ("pending_asks", ""): ("logmem_follow", {"what": "trail"}),
    ("mailbox", ""): ("logmem_view", {"what": "note"}),
    ("jobs", ""): ("logmem_view", {"what": "job"}),
}


def _next(section: str, shown: Mapping[str, Any]) -> Shown | None:
    """What to call about a line, as results say it everywhere."""
    step = STEPS.get((section, shown.get("status", "")))
    if step is None:
        return {"tool": "logmem_status", "args": {"doing": "…"}} if section == "now" and "stale" in shown else None
    tool, args = step
    return {"tool": tool, "args": {k: v.strip('"') if v[0] == '"' else shown[v] for k, v in args.items()}}


def _said(section: str, shown: Any, sentence: Callable[[Any], str]) -> str:
    step = _next(section, shown) if isinstance(shown, dict) else None
    if step is None:
        return sentence(shown)
    return f"{sentence(shown)} -> {step['tool']} {_json(step['args'])}"


def _of(result: Mapping[str, Any], section: str) -> Iterator[Any]:
    """The lines of one section, from the result."""
    if section == "next":
        yield from result.get("last_recap", {}).get("next", ())
    elif section in ONE:
        yield from [result[section]] if result.get(section, {}).get("age") else []
    else:
        yield from (result if section in TOP else result["brief"]).get(section, ())


def _header(result: Mapping[str, Any]) -> str:
    marks = ", ".join(mark for mark in ("simulated", "replayed") if result.get(mark))
    head = f"{result['agent']} in {result['space']}{f' ({marks})' if marks else ''}"
    if started := result.get("started"):
        head += f", shift {started['shift']} {'resumed' if started['resumed'] else 'begun'}"
    if result["caller"] != result["agent"]:
        head += f", for {result['caller']}"
    head += f", since {result['since']} until {result['at']}" if "since" in result else ""
    return f"{head}: {_who(result['who'])}" if result.get("who") else head


def _q(said: str) -> str:
    return one_line(said, 10 * WIDE)  # cut before; an escape may take ten


def _who(s: Mapping[str, Any]) -> str:
    return ", ".join(_q(s[k]) for k in ("name", "role") if k in s)


def _left(s: Mapping[str, Any]) -> str:
    return f", {s['left']} left" if "left" in s else ""


def _verdict(s: Mapping[str, Any]) -> str:
    what, ago = s["status"], f"{s['age']} ago"
    by = f" by {s['by']}" if "by" in s else ""
    how = {
        "expired": f"expired {ago}, nobody decided",
        "lapsed": f"approved{by}, lapsed unused {ago}",
        "taken_back": f"approval taken back{by} {ago}",
        "declined": f"handoff declined{by} {ago}",
        "dead letter": f"dead letter {ago}, {s.get('to')} never settled it",
    }.get(what, f"{what}{by} {ago}{_left(s)}")
    more = "".join(f", {k} {_q(s[k])}" for k in ("answer", "reason") if k in s)
    return f"{how}: {_q(s['summary'])}{more}"


def _question(s: Mapping[str, Any]) -> str:
    by = f" by {s['by']}" if "by" in s else ""
    return f"question{by} {s['age']} ago{_left(s)}: {_q(s['question'])}"


def _handoff(s: Mapping[str, Any]) -> str:
    to = f" to {s['to']}" if "to" in s else ""
    how = f"expired {s['age']} ago" if s.get("status") == "expired" else f"{s['age']} ago{_left(s)}"
    return f"handoff{to} from {s['from']} on {s['where']} {how}: {_q(s['summary'])}"


def _blocker(s: Mapping[str, Any]) -> str:
    return f"{s['who']} blocked {s['age']} ago: {_q(s['blocked'])}{_waits(s)}"


def _waits(s: Mapping[str, Any]) -> str:
    return f", waits on {_q(s['waiting_on'])}" if "waiting_on" in s else ""


def _pending(s: Mapping[str, Any]) -> str:
    return f"asked {s['age']} ago, not decided{_left(s)}: {_q(s['summary'])}"


def _mail(s: Mapping[str, Any]) -> str:
    return f"note by {s['by']} {s['age']} ago{_left(s)}: {_q(s['label'])}"


def _flags(s: Mapping[str, Any]) -> str:
    return "".join(f", {flag}" for flag in ("auto", "stale") if flag in s)


def _recap(s: Mapping[str, Any]) -> str:
    return f"last recap {s['age']} ago{_flags(s)}: {_q(s['summary'])}"


def _now(s: Mapping[str, Any]) -> str:
    where = f" on {s['where']}" if "where" in s else ""
    blocked = f", blocked: {_q(s['blocked'])}" if s["blocked"] else ""
    return f"now, {s['age']} ago{_flags(s)}{where}: {_q(s['doing'])}{blocked}{_waits(s)}"


def _job(s: Mapping[str, Any]) -> str:
    return f"{s['job']} {s['stage']}, {s['age']} old"


#: How each section reads, in the order of the text. A section more is one row here and one in `lines`.
SENTENCES: Mapping[str, Callable[[Any], str]] = {
    "verdicts": _verdict,
    "questions": _question,
    "handoffs": _handoff,
    "blockers": _blocker,
    "pending_asks": _pending,
    "mailbox": _mail,
    "last_recap": _recap,
    "next": lambda step: f"next: {_q(step)}",
    "now": _now,
    "jobs": _job,
}
