"""Results as text: short lines that are complete on their own, for clients that show the model nothing else.

    text(row, result) -> str

What somebody wrote stands in quotes on one line with its author, inert; a payload or text that was asked for stands
there whole, as compact JSON. What a verb has no line of its own for is shown as `key: value`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..domain import sentences
from ..domain.ids import Shape, shape
from ..domain.listing import LONG
from ..domain.text import one_line
from .call import Result, Row

__all__ = ["text"]

BRIEFS = ("start", "brief")  # measured there against a budget
# What a result holds its text says whole: verbs cut what is too long in a list, and count what they cut.
WHOLE = 4000  # characters of a quoted text; escapes may double a summary's thousand

# What the server says itself, in sentences.
SAID = frozenset(("says", "age", "expires_in", "promise", "local"))
# What somebody wrote, also where it is a single word; a text with a blank in it always counts as that.
WRITTEN = frozenset((
    "summary", "label", "reason", "why", "title", "question", "notes", "answer", "options", "tags", "next",
    "doing", "blocked", "waiting_on", "name", "role", "skills", "plan", "milestones", "tracks",
))  # fmt: skip
# Labels that may be anything: in quotes, but for an id of ours, which is no principal's or place's name.
LABELS = frozenset(("trail", "origin", "answers"))
# Who wrote what stands beside these, the first of them; a reason is that of who settled.
AUTHORS = ("from", "by")
# An id, a code, a time, a path, a digest: nothing in it can be read as a sentence.
_PLAIN = re.compile(r"[A-Za-z0-9@/][A-Za-z0-9_.:/@+=-]{0,199}")
ENTRY = frozenset(("id", "at", "kind", "summary"))  # parts that every entry has
AUTHORED = frozenset(("where", "by"))  # and those of one whose text is there
_FOREIGN = re.compile(r"[^\x20-\x7e]+")


def text(row: Row, result: Result) -> str:
    """The result of a verb in lines; the last says who called and in which space, as the first of a Brief does."""
    if row.verb in BRIEFS:
        return sentences.text(result)
    rest = {key: value for key, value in result.items() if key not in ("ok", "space", "caller", "simulated")}
    where = f"— {result['caller']} in space {result['space']}{' (simulated)' if 'simulated' in result else ''}"
    return "\n".join((*LINES.get(row.verb, _lines)(rest), where))


def _lines(rest: Mapping[str, Any]) -> Iterator[str]:
    """A line for each part, what to do next at the end."""
    for key, value in rest.items():
        if type(value) is str and key not in PARTS and _bare(key, value):
            yield f"{key}: {_flat(value)}"  # nearly all are this, so that it is worth a shorter way
        elif key == "created" and value is True and (place := _place(rest)):
            yield f"created: {place} is new here"
        elif key != "byline" and (key != "next" or not _is_call(value)):
            yield from PARTS.get(key, _part)(key, value, _author(rest, key))
    if _is_call(rest.get("next")):
        yield f"-> {rest['next']['tool']} {_json(rest['next']['args'])}"


def _place(rest: Mapping[str, Any]) -> str:
    """The place of a result, or ''."""
    entry = rest.get("entry")
    where = rest.get("where") or (entry.get("where", "") if isinstance(entry, dict) else "")
    return where if isinstance(where, str) and _PLAIN.fullmatch(where) else ""


def _state_first(*keys: str) -> Callable[[Mapping[str, Any]], Iterator[str]]:
    """Lines that begin with `<id> is <status>`, the id under the first of `keys` that is there."""

    def lines(rest: Mapping[str, Any]) -> Iterator[str]:
        named = [key for key in keys if key in rest]
        if not named or "status" not in rest:
            yield from _lines(rest)
            return
        yield f"{rest[named[0]]} is {rest['status']}"
        yield from _lines({k: v for k, v in rest.items() if k not in (*keys, "status")})

    return lines


def _part(key: str, value: Any, author: str) -> Iterator[str]:
    """One part of a result: on one line, or with a line for each member of a list of objects."""
    if _is_entry(value):
        yield f"{key}: {_entry(value)}"
    elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        yield f"{key}:"
        yield from (f"- {_entry(v) if _is_entry(v) else _inline(v)}" for v in value)
    else:
        by = f" by {author}" if author and isinstance(value, str) and not _bare(key, value) else ""
        yield f"{key}{by}: {_value(key, value)}"


def _whole(key: str, value: Any, author: str) -> Iterator[str]:
    """What was asked for, as it is."""
    yield f"{key}: {_json(value)}"


def _asked(key: str, value: Any, author: str) -> Iterator[str]:
    """Who was asked and how each can be reached."""
    people = (f"{p['who']} ({', '.join(p['reach']) or 'not reachable now'})" for p in value)
    yield f"{key}: {', '.join(people) or 'nobody'}"


def _warning(key: str, value: Any, author: str) -> Iterator[str]:
    """A code with what to do about it."""
    said = f"{value}: {WARNINGS[value]}" if value in WARNINGS else _value(key, value)
    yield f"{key}: {said}"


WARNINGS = {
    "no_approver_reachable": "nobody who may decide is signed in; an owner can make a link: logmem human link NAME",
    "no_live_key": "nobody can act as these agents now; an owner can mint a key: logmem mint NAME",
    "no_eligible_approver": "nobody here may decide this; an owner can add somebody: "
    "logmem human add NAME --role approver",
}
PARTS: Mapping[str, Callable[[str, Any, str], Iterator[str]]] = {
    "payload": _whole,
    "text": _whole,
    "asked": _asked,
    "warning": _warning,
}
LINES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "ask": _state_first("trail"),
    "redeem": _state_first("trail"),
    "handoff": _state_first("trail", "item"),
    "accept": _state_first("trail", "item"),
    "huddle": _state_first("huddle"),
    "follow": _state_first("trail", "what", "item"),
    "view": _state_first("trail", "what", "item"),
}


def _entry(entry: Mapping[str, Any]) -> str:
    """One line of a Log; a payload that was left out is named by its length."""
    head = f"{entry['id']} {entry['at']} {entry['kind']}"
    if "by" not in entry:
        return f"{head} {entry['summary']}"
    said = [f"{head} in {entry['where']} by {_author(entry)}: {one_line(entry['summary'], WHOLE)}"]
    shown = ("id", "ts", "at", "kind", "where", "by", "byline", "via", "client", "summary", "payload", LONG)
    said += [f"{k}: {_value(k, v)}" for k, v in entry.items() if k not in shown]
    if "payload" in entry:
        said.append(f"payload: {_json(entry['payload'])}")
    elif LONG in entry:
        said.append(f"payload: {entry[LONG]} characters, logmem_view {_json({'what': entry['id']})}")
    return "; ".join(said)


def _inline(value: Mapping[str, Any]) -> str:
    # A person's role was given to them, an agent's is its own word, and stands in quotes.
    given = "role" if str(value.get("id", "")).startswith("human:") else ""
    return "; ".join(
        f"{k}: {_flat(v) if k == given else _value(k, v)}" for k, v in value.items() if v not in ("", [], None)
    )


def _value(key: str, value: Any, *, limit: int = WHOLE) -> str:
    if isinstance(value, str):
        return _flat(value) if _bare(key, value) else one_line(value, limit)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join([_value(key, v, limit=limit) for v in value]) or "none"
    if _is_call(value):
        return f"{value['tool']} {_json(value['args'])}"
    if _is_entry(value):
        return _entry(value)
    return f"({_inline(value)})" if isinstance(value, dict) else _json(value)


def _author(holder: Mapping[str, Any], key: str = "") -> str:
    """Who wrote what stands in `holder` under `key`: `agent:grok (via cursor)`, or '' for the caller itself.

    A program's name is only what it says of itself.
    """
    name = next((holder[a] for a in (AUTHORS[::-1] if key == "reason" else AUTHORS) if holder.get(a)), "")
    client = holder.get("client") or holder.get("byline", "").partition(" (via ")[2].removesuffix(")")
    return f"{name} (via {_value('', client, limit=40)})" if name and client else name


def _bare(key: str, value: str) -> bool:
    if key in LABELS and shape(value) in (None, Shape.PLACE):
        return False
    return key in SAID or (key not in WRITTEN and bool(_PLAIN.fullmatch(value)))


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= ENTRY
        and shape(value["id"]) is Shape.ENTRY
        and (value.keys() >= AUTHORED or value["kind"] in ("redacted", "unreadable"))
    )


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"tool", "args"}


def _flat(said: str) -> str:
    """A sentence of the server's on one line, whatever it quotes."""
    return said if said.isprintable() else one_line(said, WHOLE)


def _json(value: Any) -> str:
    """Compact JSON in which everything can be seen; the same value to whoever reads it."""
    return _FOREIGN.sub(_seen, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _seen(run: re.Match[str]) -> str:
    """Characters outside ASCII, those of them escaped as in JSON that `one_line` would escape."""
    if one_line(run[0], 10 * len(run[0]))[1:-1] == run[0]:
        return run[0]
    return "".join(c if one_line(c, 10)[1:-1] == c else json.dumps(c)[1:-1] for c in run[0])
