"""The page about every verb, docs/tools.md: from the catalogue, the meanings, and what was recorded.

page(recorded) -> Markdown
"""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from api import mcp_prompts, mcp_resources
from api.answers import BODY_LIMIT
from api.events import PATH as EVENTS
from api.examples import CALLS
from api.mcp import ACTION_ID, LIST_LIFE
from api.meanings import MEANINGS
from api.rest import DECISIONS, TOOLS
from store.domain import ask, entry, fact, grant, ids, item, mailbox, sync
from store.domain.entry import ABSENT
from store.domain.errors import STATUS
from store.domain.moments import SECOND, span
from store.verbs.arguments import Alone, Also, model, schema, title
from store.verbs.call import Row
from store.verbs.catalog import ROWS
from store.verbs.credentials import PROFILES
from store.verbs.follow import WAIT_LIMIT
from store.verbs.perform import ACTION_LIMIT, NAMED_LIFE, OWN_LIFE
from tests.handbook.codes import EVERY_CALL, EVERY_WRITE, UNUSED, refusals

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, EXAMPLES = DOCS / "tools.md", DOCS / "examples.json"
UNSAID: tuple[Any, ...] = ("", None, ABSENT, -1)  # defaults that stand for nothing
EFFECTS = {
    "read": "only looks; writes nothing in the store",
    "write": "writes to the Log and to slots",
    "gate": "asks people, or uses what they approved",
    "decide": "a person's decision; no credential of an agent's can make it",
    "manage": "for the owners of a space",
}
RENEW = "renew docs/tools.md and docs/examples.json: .venv/bin/python -m tests.handbook"
MEANT = {  # of codes: what is so, and what helps
    "invalid_argument": "An argument is missing or takes no such value; `argument` names it, often with what it takes.",
    "unknown_argument": "There is no such argument; `nearest` is the one that was probably meant.",
    "malformed_id": "This is no id of the form that is needed.",
    "too_long": "A text or list is longer than `limit`.",
    "payload_not_canonical": "They are no I-JSON: a name twice, a number that no double holds, half a surrogate.",
    "reason_required": "This step takes a `reason`.",
    "reserved_kind": "Entries of this kind are written by a tool; `tool` names it.",
    "digest_required": "A decision names the `digest` that was shown.",
    "scope_undeclared": "The credential may enter several `spaces`, and the call names none.",
    "scope_mismatch": "Two places in the call name different spaces.",
    "unauthenticated": "No credential came, or none that is known. Do not retry; ask an owner.",
    "key_expired": "The lease of the key is over. An owner can renew it.",
    "key_revoked": "The key or session was ended. It stays so.",
    "identity_mismatch": "The call says to be from somebody else than the credential's owner.",
    "scope_denied": "The policy says no; `rule` names the rule.",
    "humans_only": "Only a person can do this, in the console.",
    "not_an_approver": "The person may not decide this ask now.",
    "not_yours": "It is somebody else's: their ask, their item, their huddle.",
    "assurance_too_low": "The sign-in is too weak for this.",
    "not_found": "There is no such thing, or its text was redacted; `near` has what was probably meant.",
    "scope_unknown": "There is no such space, or it is none of the caller's.",
    "unknown_recipient": "Nobody of this name or role is here now; `near` has who was probably meant.",
    "already_settled": "Somebody settled it already; the refusal says who, when and how.",
    "already_redeemed": "The approval was used; it was good for once.",
    "already_checked_in": "There is a check-in for this window already, and it stays.",
    "not_approved": "Nobody has approved it: it waits, or was rejected, withdrawn or never decided.",
    "digest_mismatch": "What is shown or about to run is not what was asked.",
    "expired": "Its deadline has passed.",
    "lapsed": "The approval was not used in time. Ask again.",
    "taken_back": "A person took the approval back.",
    "stale": "It changed since you looked. Look again.",
    "action_conflict": "This action id was used with other arguments.",
    "open_obligations": "Something in it is still open; `open` names it.",
    "job_exists": "The job is open already; with a `reason` it is opened anew.",
    "job_done": "The job is done, so nothing more can be asked in it.",
    "skill_missing": "The agent has not said that it has what the job needs; `able` names those who have.",
    "window_not_open": "The window for this check-in opens later.",
    "window_closed": "The window for this check-in is over.",
    "id_taken": "The id belongs to another kind already.",
    "payload_too_large": "It has more bytes than `limit`.",
    "paused": "Writes in this space are paused.",
    "rate_limited": "Of the event stream: too many are open.",
    "too_many_pending": "The agent has as many pending asks as it may.",
    "room_full": "There is no more room.",
    "busy": "Others change the same thing now. Retry after `retry_after` seconds.",
    "store_unavailable": "The store does not answer; nothing was written. Retry after `retry_after` seconds.",
    "store_full": "The store takes no writes now; reads go on.",
    "store_read_only": "The store takes no writes now; reads go on.",
    "audit_unavailable": "The audit trail cannot be written.",
    "unconfirmed": "It may or may not have been written. Repeat the call with the same action id.",
}
HEAD = ("argument", "type", "required", "if left out", "takes", "meaning")


def page(recorded: Mapping[str, Any]) -> str:
    """All of docs/tools.md. `recorded` is what stands in docs/examples.json."""
    agents = [row for row in ROWS.values() if row.profiles]
    people = [row for row in ROWS.values() if not row.profiles]
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True,
        trim_blocks=True, lstrip_blocks=True, autoescape=False,
    )  # fmt: skip
    found.filters |= {"json": _json, "span": span, "table": _table, "codes": _codes}
    return found.get_template("page.md.j2").render(
        agents=[_verb(row, recorded) for row in agents],
        people=[_verb(row, recorded) for row in people],
        overview=[_listed(row) for row in agents],
        effects=EFFECTS,
        head=HEAD,
        profiles=PROFILES,
        mcp=recorded["mcp"],
        refused=recorded["refused"]["redeem"],
        resources=list(_resources()),
        prompts=list(_prompts()),
        statuses=list(_statuses()),
        every_call=_in_order(EVERY_CALL),
        every_write=_in_order(EVERY_WRITE),
        unused=_in_order(UNUSED),
        old=list(HANDSHAKE_PROTOCOL_VERSIONS),
        tools=TOOLS,
        decisions=DECISIONS,
        events=EVENTS,
        action_id=ACTION_ID,
        action_limit=ACTION_LIMIT,
        named_life=NAMED_LIFE,
        own_life=OWN_LIFE,
        body_limit=BODY_LIMIT,
        list_life=LIST_LIFE,
        wait_limit=WAIT_LIMIT // SECOND,
        rules={"ask": ask, "entry": entry, "fact": fact, "grant": grant, "ids": ids, "item": item, "mailbox": mailbox},
        sync=sync,
    )


def _listed(row: Row) -> list[str]:
    marks = ["yes" if profile in row.profiles else "no" for profile in PROFILES]
    first, _, _ = (inspect.getdoc(row.run) or "").partition("\n")
    return [f"[`{title(row)}`](#{title(row)})", first, _effect(row), *marks]


def _effect(row: Row) -> str:
    return row.effect if row.turns is None else f"{row.effect}; {row.turns[1].effect} with `{row.turns[0]}`"


def _verb(row: Row, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of one row."""
    return {
        "verb": row.verb,
        "title": title(row),
        "effect": _effect(row),
        "profiles": ", ".join(row.profiles),
        "writes": not row.pure,
        "says": inspect.getdoc(row.run) or "",
        "arguments": list(_arguments(row)),
        "codes": _in_order(refusals(row) - {*EVERY_CALL, *(() if row.pure else EVERY_WRITE)}),
        "call": CALLS[row.verb],
        "caller": recorded["callers"][row.verb],
        "result": recorded["results"][row.verb],
    }


def _arguments(row: Row) -> Iterator[list[str]]:
    shape = schema(row)
    signature = inspect.signature(row.run).parameters
    for name, field in model(row).model_fields.items():
        meant = MEANINGS[row.verb][name]
        default = signature[name].default if name in signature else ""
        needed = "yes" if name in shape.get("required", ()) else meant.needed or "no"
        yield [
            f"`{name}`",
            _type(shape["properties"][name]),
            needed,
            "–" if needed == "yes" or default in UNSAID else f"`{_line(default)}`",
            "; ".join(meant.allowed(name)) or "–",
            " ".join((meant.says, *_forms(field.metadata))),
        ]


def _type(shape: Mapping[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(_type(each) for each in shape["anyOf"])
    if shape.get("type") == "array":
        return f"array of {_type(shape.get('items', {}))}s"
    return str(shape.get("type", "any JSON"))


def _forms(marks: Iterable[Any]) -> Iterator[str]:
    for mark in marks:
        match mark:
            case Also(name=other):
                yield f"`{other}` is another name for it."
            case Alone(beside=beside):
                others = " and ".join(f"`{each}`" for each in beside)
                yield f"Beside it only {others} may stand." if others else "Nothing else may stand beside it."


def _resources() -> Iterator[list[str]]:
    for name, kind in mcp_resources.RESOURCES.items():
        uri = f"{mcp_resources.SCHEME}://{{space}}/{name}{f'/{{{kind.id}}}' if kind.id else ''}"
        yield [f"`{uri}`", kind.description, f"`{title(ROWS[kind.verb])}`"]


def _prompts() -> Iterator[list[str]]:
    for name, prompt in mcp_prompts.PROMPTS.items():
        taken = [
            f"`{each}` ({'required' if a.required else 'optional'}): {a.description}"
            for each, a in prompt.arguments.items()
        ]
        calls = [f"`logmem_{verb}`" for verb in prompt.verbs]
        yield [f"`{name}`", "; ".join(taken) or "none", prompt.description, ", ".join(calls)]


def _statuses() -> Iterator[list[str]]:
    for code, status in STATUS.items():
        if code not in UNUSED:
            yield [str(status), f"`{code}`", MEANT[code]]


def _in_order(codes: Iterable[str]) -> list[str]:
    """The codes in the order of their table."""
    return [code for code in STATUS if code in set(codes)]


def _codes(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes) or "none"


def _table(rows: Iterable[Iterable[str]], head: Iterable[str]) -> str:
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


WIDTH = 116  # characters of a line of JSON


def _json(value: Any, indent: str = "") -> str:
    """JSON to be read: each part on one line if it fits, else its parts below it."""
    if len(indent) + len(line := _line(value)) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = f"{indent}  "
    if isinstance(value, dict):
        parts = [f"{_line(key)}: {_json(each, deeper)}" for key, each in value.items()]
    else:
        parts = [_json(each, deeper) for each in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{end}"
