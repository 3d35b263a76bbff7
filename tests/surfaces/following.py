"""The calls that results name, for following them: `next` in a structure, and `-> tool {…}` at the end of a line."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from store.verbs.arguments import parse, schema
from store.verbs.call import Row
from store.verbs.catalog import FLEET, tools

BY_TOOL: Mapping[str, Row] = {f"logmem_{row.verb}": row for row in tools(FLEET)}
FORMS: Mapping[
    str, Callable[[Mapping[str, Any]], tuple[str, ...]]
] = {  # what a call needs besides what its schema requires
    "logmem_sync": lambda args: ("outcome", "notes") if args.get("receipt") else (),
    "logmem_ask": lambda args: () if args.keys() & {"again", "withdraw"} else ("where", "summary"),
    "logmem_handoff": lambda args: () if args.keys() & {"requeue", "withdraw"} else ("to",),
}
_NAMED = re.compile(r" ?-> (logmem_[a-z]+) (\{.*\})$")


def faults(structure: Any, text: str) -> list[str]:
    """What is wrong with the calls that a result names in its structure and in its text."""
    return [fault for call in (*calls(structure), *spelled(text)) if (fault := lacking(*call))]


def calls(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every call in a structure, wherever it stands."""
    if isinstance(part, dict) and part.keys() == {"tool", "args"}:
        yield part["tool"], part["args"]
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from calls(each)


def spelled(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every call that a line of a text ends with."""
    for line in text.split("\n"):
        if named := _NAMED.search(line):
            yield named[1], json.loads(named[2])


def lacking(tool: str, args: Mapping[str, Any]) -> str:
    """What keeps this call from being followed as it stands, but for the placeholders in it; '' for nothing."""
    row = BY_TOOL.get(tool)
    if row is None:
        return f"{tool} is no tool"
    needed = (*schema(row).get("required", ()), *(FORMS[tool](args) if tool in FORMS else ()))
    missing = [name for name in needed if name not in args]
    unknown = [name for name in args if name not in schema(row)["properties"]]
    if missing or unknown:
        return f"{tool} lacks {missing}, has no {unknown}"
    parse(row, {name: "text" if value == "…" else value for name, value in args.items()})
    return ""
