"""Arguments: models, schemas and checks, all made from the signature of a verb's function."""

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import SkipJsonSchema

from ..domain.bounds import check_values
from ..domain.entry import ABSENT, check_written
from ..domain.errors import Refused
from ..domain.strict import check
from .call import Row

# Words that models use for one another; the first that a verb has is what was meant.
ALIKE = (
    ("summary", "notes", "text", "message", "content", "body", "description", "doing", "title", "question"),
    ("where", "channel", "place", "location", "thread", "room"),
    ("what", "trail", "item", "id", "ref", "ask", "handoff"),
    ("to", "recipient", "assignee", "target", "agent", "principal"),
    ("kind", "type", "category"),
    ("reason", "why", "because", "comment"),
    ("expires_in", "deadline", "timeout", "ttl", "ttl_hours", "expires", "due"),
    ("payload", "data", "details", "json", "args", "params"),
    ("wait", "timeout_seconds", "seconds"),
)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed)]  # a list, or one value
Payload = Annotated[Any, Field(json_schema_extra={})]
Blocked = Annotated[str | SkipJsonSchema[bool], Field()]  # false, or a text that says by what
Length = Annotated[str | SkipJsonSchema[int], Field()]  # a duration or a time, as moments.py reads them


@dataclass(frozen=True, slots=True)
class Also:
    """Another name for an argument, accepted and listed nowhere: `item: Annotated[str, Also("trail")]`."""

    name: str


@dataclass(frozen=True, slots=True)
class Alone:
    """A form of its own: an argument that takes a thing as it is, so that only `beside` may be said with it."""

    beside: tuple[str, ...] = ()


def title(row: Row) -> str:
    """What callers call the verb: agents see it as a tool."""
    return f"logmem_{row.verb}" if row.profiles else row.verb


_FLAG = TypeAdapter(bool)


def turned(row: Row, given: Mapping[str, Any]) -> Row:
    """The row that runs with these arguments: it has one effect. What is no flag is refused by the row as it is."""
    if row.turns is None:
        return row
    argument, other = row.turns
    try:
        return other if _FLAG.validate_python(given.get(argument, False)) else row
    except ValidationError:
        return row


@cache
def model(row: Row) -> type[BaseModel]:
    """The argument model of a row."""
    parameters = list(inspect.signature(row.run, eval_str=True).parameters.items())[1:]
    fields: dict[str, Any] = {name: (p.annotation, _default(p.default)) for name, p in parameters}
    if row.action_id:
        fields["action_id"] = (str, "")
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, coerce_numbers_to_str=True)
    return create_model(f"{row.verb.title()}Arguments", __config__=config, **fields)


def _default(said: Any) -> Any:
    if said is ABSENT:
        return Field(default_factory=lambda: ABSENT)  # as a plain default it would have to be JSON, for the schema
    return ... if said is inspect.Parameter.empty else said


@cache
def schema(row: Row) -> dict[str, Any]:
    """JSON Schema of the arguments, without what costs tokens and says nothing."""
    lean = _lean(model(row).model_json_schema())
    return {"type": "object", "properties": {}, **lean, "additionalProperties": False}


def _lean(node: Any) -> Any:
    if isinstance(node, list):
        return [_lean(n) for n in node]
    if not isinstance(node, dict):
        return node
    lean = {k: _lean(v) for k, v in node.items() if k not in ("title", "default") or isinstance(v, dict)}
    # That an argument may be left out is said by `required`; null says no more.
    kinds = [kind for kind in lean.pop("anyOf", ()) if kind != {"type": "null"}]
    lean |= {"anyOf": kinds} if len(kinds) > 1 else kinds[0] if kinds else {}
    return {k: v for k, v in lean.items() if not (k == "additionalProperties" and v is True)}


def parse(row: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    """The checked arguments that were given.

    Refuses unknown_argument (naming the nearest), invalid_argument, payload_not_canonical.
    """
    known = model(row).model_fields
    check(dict(given), root="")
    given = _renamed(row, given)
    for name in given:
        if name not in known:
            raise unknown_argument(title(row), name, list(known))
    try:
        checked = model(row).model_validate(dict(given))
    except ValidationError as wrong:
        raise _invalid(row, wrong) from None
    said = {name: value for name, value in checked if name in given}
    for name, value in said.items():
        if isinstance(value, list) and known[name].annotation != Any:  # a payload is no list of values
            check_values(name, len(value))
    _check_forms(row, said)
    if not row.pure:
        _check_written(row, said)
    return said


def _check_written(row: Row, said: Mapping[str, Any]) -> None:
    """Refuse what a call of ours left to be written, and was not. Refuses invalid_argument."""
    for name, value in said.items():
        if model(row).model_fields[name].annotation == Any:  # a payload is what it is
            continue
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                check_written(text, name=name)


def _check_forms(row: Row, said: Mapping[str, Any]) -> None:
    """Refuse what would be ignored beside an argument that stands alone. Refuses invalid_argument."""
    known = model(row).model_fields
    # Models fill in what they leave out; for a payload even null is something.
    full = [name for name, value in said.items() if known[name].default_factory or value not in ("", None, [])]
    for form in full:
        for alone in (mark for mark in known[form].metadata if isinstance(mark, Alone)):
            rest = [name for name in full if name not in (form, "action_id", *alone.beside)]
            if rest:
                may = f"only {' and '.join(alone.beside)}" if alone.beside else "nothing else"
                raise Refused(
                    "invalid_argument",
                    f"{title(row)}: {form} takes a thing as it is; {may} may stand beside it, and here is "
                    f"{', '.join(rest)}. Nothing was written.",
                    argument=rest[0],
                )


def _renamed(row: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under their listed names. Refuses invalid_argument: one thing said twice, differently."""
    renamed = dict(given)
    for name, argument in model(row).model_fields.items():
        for other in (mark.name for mark in argument.metadata if isinstance(mark, Also) and mark.name in renamed):
            value = renamed.pop(other)
            if renamed.setdefault(name, value) != value:
                text = f'{title(row)}: "{name}" and "{other}" name one thing and differ. Nothing was written.'
                raise Refused("invalid_argument", text, argument=other)
    return renamed


def unknown_argument(of: str, name: str, known: list[str]) -> Refused:
    """The refusal for an argument that `of` does not have, naming the one that was probably meant."""
    meant = nearest(name, known)
    hint = f'; did you mean "{meant}"?' if meant else f"; it takes {', '.join(known) or 'no arguments'}."
    return Refused(
        "unknown_argument",
        f'{of} has no "{name[:80]}"{hint} Nothing was written.',
        argument=name[:80],
        **({"nearest": meant} if meant else {}),
    )


def nearest(name: str, known: list[str]) -> str:
    """The argument that was probably meant by `name`, or ''."""
    close = difflib.get_close_matches(name[:80].lower(), known, 1, 0.7)
    if close:
        return close[0]
    words = next((words for words in ALIKE if name.lower() in words), ())
    return next((word for word in words if word in known), "")


def _invalid(row: Row, wrong: ValidationError) -> Refused:
    first = wrong.errors(include_url=False, include_context=False, include_input=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    path = ".".join(str(part) for part in first["loc"])
    said = "is missing" if first["type"] == "missing" else first["msg"][:1].lower() + first["msg"][1:]
    text = f'{title(row)}: "{path}" {said}. Nothing was written.'
    return Refused("invalid_argument", text, argument=name)
