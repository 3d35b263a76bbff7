"""The page about every tool, made from the catalogue: docs/tools.md.

python -m api.handbook >docs/tools.md
"""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from store.domain.ask import EXPIRES, OPTION_LENGTH, VALID_FOR
from store.domain.bounds import VALUES
from store.domain.entry import ABSENT, PAYLOAD_LIMIT, SUMMARY_LIMIT
from store.domain.errors import STATUS
from store.domain.item import DEADLINE
from store.domain.mailbox import LIFE, TEXT_LIMIT
from store.domain.moments import span
from store.verbs.arguments import Alone, Also, model, schema, title
from store.verbs.call import Row
from store.verbs.catalog import ROWS
from store.verbs.credentials import PROFILES

from . import mcp_prompts, mcp_resources
from .rest import DECISIONS, EXAMPLES, TOOLS

UNSAID: tuple[Any, ...] = ("", None, ABSENT, -1)  # defaults that stand for nothing
EFFECTS = {
    "read": "only looks; writes nothing in the store",
    "write": "writes to the Log and to slots",
    "gate": "asks people, or uses what they approved",
    "decide": "a person's decision; no credential of an agent's can make it",
    "manage": "for the owners of a space",
}

INTRO = f"""# Tools

This page is made from the catalogue (`store/verbs/catalog.py`), from which MCP, REST, OpenAPI and the command are made
too. What an agent sees of a tool is its description and its arguments as they stand here.

## How to call

- **MCP**: `POST /mcp` with `Authorization: Bearer lmk_…`, or the minted URL `/k/<key>/mcp`, in any revision of
  the protocol. A refusal is a result with `isError`, whose text begins with its code.
- **REST**: `POST {TOOLS}<verb>` with the arguments as JSON. A refusal is `{{"error": {{"code", "message", …}}}}`,
  with a status as below. People's verbs take a session of the console, and the header `X-LogMem-CSRF: 1` with it.
- **Command**: `logmem call VERB name=value …`.

Every result says `ok`, `space` and `caller`. It comes as a structure and, over MCP, as a text that is complete without
it. Results are small: lists are cut to what fits, and say what they left out or give a `cursor` for more.

- A key opens one space. `space` is accepted with every tool and compared; so is the header `X-LogMem-Space`.
- `action_id` makes a write repeatable: the same call gets the first answer again, marked `replayed`, for 7 days. Some
  tools take it as an argument, all take it as MCP's `_meta["logmem/action_id"]` or REST's `Idempotency-Key`.
- Ids: `agent:x`, `human:x`, `role:x`, `job:x`, `channel:x`, or `x` alone where only one can be meant. Asks are `ask_…`,
  items `ci_…`, mailbox notes `mb_…`, huddles `hd_…`, facts `fa_…`, entries `<ms>-<number>`.
- Times go in as `2h`, `3 days` or ISO 8601, and come out as ISO 8601 in UTC. A list may be given as one value.
- Arguments that a tool does not have are refused, with the name that was probably meant.
"""

LIMITS = (
    f"A summary has {SUMMARY_LIMIT:,} characters, a payload {PAYLOAD_LIMIT // 1024} KiB as canonical JSON, a text for "
    f"the mailbox {TEXT_LIMIT // 1024} KiB, an option {OPTION_LENGTH} characters.",
    f"An ask is open for {span(EXPIRES[0])} to {span(EXPIRES[1])}; an approval holds for at most "
    f"{span(VALID_FOR['normal'])}, at high risk {span(VALID_FOR['high'])}.",
    f"An item's deadline is {span(DEADLINE[0])} to {span(DEADLINE[1])} away, and a mailbox note lives for at most "
    f"{span(LIFE[1])}.",
)


def page() -> str:
    """All of docs/tools.md."""
    tools = [row for row in ROWS.values() if row.profiles]
    people = [row for row in ROWS.values() if not row.profiles]
    parts = (
        INTRO + "\n".join(f"- {each}" for each in LIMITS),
        "## Profiles and effects\n\nA profile is chosen when a key is minted, or by `?profile=` on the MCP URL. It "
        "narrows what is listed and can be called, and grants nothing.",
        _table(("tool", "effect", *PROFILES), (_listed(row) for row in tools)),
        "\n".join(f"- `{effect}`: {what}" for effect, what in EFFECTS.items()),
        "## Agents' tools",
        *(part for row in tools for part in _verb(row)),
        "## People's verbs\n\nOver REST and in the console; listed to no agent. "
        + ", ".join(f"`POST {path}`" for path in DECISIONS)
        + " are the same as the verbs of their names.",
        *(part for row in people for part in _verb(row)),
        "## Resources and prompts over MCP",
        _table(("resource", "what stands there", "read by"), _resources()),
        _table(("prompt", "arguments", "what it asks for", "calls"), _prompts()),
        "## Codes of refusals\n\nEach says what is so, that nothing was written, and the call that helps. They are "
        "checked in this order: who calls, in which space, whether the policy lets them, the arguments, the rules.",
        _table(("status", "codes"), _codes()),
    )
    return "\n\n".join(parts) + "\n"


def _listed(row: Row) -> list[str]:
    marks = ["✓" if profile in row.profiles else "" for profile in PROFILES]
    return [f"[`{title(row)}`](#{title(row)})", _effect(row), *marks]


def _effect(row: Row) -> str:
    return row.effect if row.turns is None else f"{row.effect}; {row.turns[1].effect} with `{row.turns[0]}`"


def _verb(row: Row) -> Iterator[str]:
    """What is said of one row."""
    yield f"### {title(row)}"
    profiles = f" · {', '.join(row.profiles)}" if row.profiles else ""
    yield f"*{_effect(row)}*{profiles} · `POST {TOOLS}{row.verb}`"
    yield inspect.getdoc(row.run) or ""
    arguments = list(_arguments(row))
    yield _table(("argument", "type", "left out", "besides"), arguments) if arguments else "It takes no arguments."
    if row.verb in EXAMPLES:
        yield f"For example `{_json(EXAMPLES[row.verb])}`."


def _arguments(row: Row) -> Iterator[list[str]]:
    shape = schema(row)
    signature = inspect.signature(row.run).parameters
    for name, field in model(row).model_fields.items():
        needed = name in shape.get("required", ())
        default = signature[name].default if name in signature else ""
        yield [
            f"`{name}`",
            _type(shape["properties"][name]),
            "is required" if needed else "" if default in UNSAID else f"is `{_json(default)}`",
            "; ".join(_notes(name, shape["properties"][name], field.metadata)),
        ]


def _type(shape: Mapping[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(_type(each) for each in shape["anyOf"])
    if shape.get("type") == "array":
        return f"list of {_type(shape.get('items', {}))}s"
    kind = str(shape.get("type", "any JSON"))
    return {"string": "text", "boolean": "flag"}.get(kind, kind)


def _notes(name: str, shape: Mapping[str, Any], marks: Iterable[Any]) -> Iterator[str]:
    if shape.get("type") == "array" and name in VALUES:
        yield f"at most {VALUES[name]}"
    for mark in marks:
        match mark:
            case Also(name=other):
                yield f"`{other}` means the same"
            case Alone(beside=beside):
                yield f"stands alone{', or beside ' * bool(beside)}{', '.join(f'`{each}`' for each in beside)}"


def _resources() -> Iterator[list[str]]:
    for name, kind in mcp_resources.KINDS.items():
        uri = f"{mcp_resources.SCHEME}://{{space}}/{name}{f'/{{{kind.id}}}' if kind.id else ''}"
        yield [f"`{uri}`", kind.description, f"`{title(ROWS[kind.verb])}`"]


def _prompts() -> Iterator[list[str]]:
    for name, prompt in mcp_prompts.PROMPTS.items():
        taken = [f"`{each}`{'' if a.required else '?'}: {a.description}" for each, a in prompt.arguments.items()]
        calls = [f"`logmem_{verb}`" for verb in prompt.verbs]
        yield [f"`{name}`", "; ".join(taken), prompt.description, ", ".join(calls)]


def _codes() -> Iterator[list[str]]:
    for status in sorted(set(STATUS.values())):
        yield [str(status), " ".join(f"`{code}`" for code, its in STATUS.items() if its == status)]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.write(page())
