"""How a Brief reads: a sentence for each line, which ends with the call that deals with it. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .entry import PLACEHOLDER
from .sync import OUTCOME
from .text import one_line

BUDGET = (100, 8000)  # bounds of a budget, in tokens
WIDE = 160  # characters that a text may have in a line
TOP = ("who", "now", "last_recap", "handoffs", "pending_asks")  # where the manual has them; the others are in `brief`
ONE = ("who", "now", "last_recap")
OUTSTANDING = (
    "verdicts",
    "questions",
    "handoffs",
    "seats",
    "huddles",
    "blockers",
    "sync",
    "pending_asks",
    "mailbox",
    "facts_due",
    "key",
)


def text(result: Mapping[str, Any]) -> str:
    """The result of `start` or `brief` in lines, each with the call that deals with it."""
    lines = [sentence(name, shown) for name in SENTENCES for shown in _of(result, name)]
    outstanding = any(line for name in OUTSTANDING for line in _of(result, name))
    before, after = around(result, outstanding=outstanding)
    return "\n".join((*before, *lines, *after))


def around(result: Mapping[str, Any], *, outstanding: bool) -> tuple[list[str], list[str]]:
    """The lines of the text before and after those that say something."""
    before, after = [_header(result)], []
    left = result["brief"].get("left_out")
    if not left and not outstanding:
        before.append("Nothing new is outstanding." if "since" in result else "Nothing is outstanding.")
    if left:
        whose = {"agent": result["agent"]} if result["agent"] != result["caller"] else {}
        since = {"since": result["since"]} if "since" in result else {}
        after.append(f"{left} more left out -> logmem_brief {compact({**whose, **since, 'budget': BUDGET[1]})}")
    return before, after


def compact(value: Any) -> str:
    """JSON as it is measured."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# The calls that deal with a line: arguments are fields of the line, words in quotes, or true.
Step = tuple[str, Mapping[str, str]]
SUMMARY = {"summary": f'"{PLACEHOLDER}"'}
CHECK_IN: Step = (
    "logmem_sync",
    {"receipt": "true", "slot": "slot", "outcome": f'"{OUTCOME}"', "notes": f'"{PLACEHOLDER}"'},
)
STEPS: Mapping[tuple[str, str], Step] = {
    ("verdicts", "approved"): ("logmem_redeem", {"trail": "trail"}),
    ("verdicts", "rejected"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "answered"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "expired"): ("logmem_ask", {"again": "trail"}),
    ("verdicts", "lapsed"): ("logmem_ask", {"again": "trail"}),
    ("verdicts", "taken_back"): ("logmem_view", {"what": "trail"}),
    ("verdicts", "declined"): ("logmem_view", {"what": "item"}),
    ("verdicts", "dead letter"): ("logmem_handoff", {"requeue": "item"}),
    ("questions", ""): ("logmem_note", {"where": "where", "kind": '"answer"', "answers": "trail", **SUMMARY}),
    ("handoffs", ""): ("logmem_accept", {"item": "item"}),
    ("handoffs", "expired"): ("logmem_view", {"what": "item"}),
    ("seats", ""): ("logmem_note", {"where": "where", "kind": '"answer"', "answers": "item", **SUMMARY}),
    ("huddles", ""): ("logmem_note", {"where": "where", "kind": '"synthesis"', "answers": "huddle", **SUMMARY}),
    ("blockers", ""): ("logmem_view", {"what": "who"}),
    ("sync", "on_time"): CHECK_IN,
    ("sync", "late"): CHECK_IN,
    ("pending_asks", ""): ("logmem_follow", {"what": "trail"}),
    ("mailbox", ""): ("logmem_view", {"what": "note"}),
    ("facts_due", ""): ("logmem_note", {"where": "where", "kind": '"fact"', "supersedes": "fact", **SUMMARY}),
    ("key", ""): ("logmem_handoff", {"to": '"role:owner"', **SUMMARY}),
    ("jobs", ""): ("logmem_view", {"what": "job"}),
}


def next_call(section: str, shown: Mapping[str, Any]) -> dict[str, Any] | None:
    """What to call about a line, as results say it everywhere."""
    step = STEPS.get((section, shown.get("status", "")))
    if step is None:
        return (
            {"tool": "logmem_status", "args": {"doing": PLACEHOLDER}} if section == "now" and "stale" in shown else None
        )
    tool, args = step
    return {"tool": tool, "args": {k: _argument(v, shown) for k, v in args.items()}}


def _argument(said: str, shown: Mapping[str, Any]) -> Any:
    """What an argument of a step is for this line."""
    if said == "true":
        return True
    return said.strip('"') if said[0] == '"' else shown[said]


def sentence(section: str, shown: Any) -> str:
    """A line of a section with the call that deals with it."""
    says: Callable[[Any], str] = SENTENCES.get(section, _who)
    step = next_call(section, shown) if isinstance(shown, dict) else None
    return f"{says(shown)} -> {step['tool']} {compact(step['args'])}" if step else says(shown)


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


def _seat(s: Mapping[str, Any]) -> str:
    urgent = ", urgent" if "urgent" in s else ""
    return f"seat from {s['from']} on {s['where']} {s['age']} ago{_left(s)}{urgent}: {_q(s['question'])}"


def _huddle(s: Mapping[str, Any]) -> str:
    answered = f"{s['answered']} of {s['seats']} answered"
    return f"huddle to close on {s['where']} {s['age']} ago, {answered}: {_q(s['question'])}"


def _blocker(s: Mapping[str, Any]) -> str:
    return f"{s['who']} blocked {s['age']} ago: {_q(s['blocked'])}{_waits(s)}"


def _waits(s: Mapping[str, Any]) -> str:
    return f", waits on {_q(s['waiting_on'])}" if "waiting_on" in s else ""


def _sync(s: Mapping[str, Any]) -> str:
    return f"{s['slot']} sync opened {s['age']} ago, {s['status'].replace('_', ' ')}{_left(s)}; you are not in"


def _pending(s: Mapping[str, Any]) -> str:
    unheard = ", and nobody who may decide can be reached" if "warning" in s else ""
    return f"asked {s['age']} ago, not decided{_left(s)}{unheard}: {_q(s['summary'])}"


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


def _fact(s: Mapping[str, Any]) -> str:
    return f"fact on {s['where']} {s['age']} ago{_flags(s)}: {_q(s['summary'])}"


def _key(s: Mapping[str, Any]) -> str:
    return f"your key {s['key']} ends in {s['ends_in']}, known {s['age']} ago; an owner can renew it"


def _job(s: Mapping[str, Any]) -> str:
    title = f": {_q(s['title'])}" if "title" in s else ""
    return f"{s['job']} {s['stage']} {s['age']} ago{title}"


#: How each section reads, in the order of the text. A section more is one row here and one in `lines`.
SENTENCES: Mapping[str, Callable[[Any], str]] = {
    "verdicts": _verdict,
    "questions": _question,
    "handoffs": _handoff,
    "seats": _seat,
    "huddles": _huddle,
    "blockers": _blocker,
    "sync": _sync,
    "pending_asks": _pending,
    "mailbox": _mail,
    "last_recap": _recap,
    "next": lambda step: f"next: {_q(step)}",
    "now": _now,
    "facts_due": _fact,
    "key": _key,
    "jobs": _job,
}
