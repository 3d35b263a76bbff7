"""What the catalogue knows of verbs, for whoever calls them from a shell."""

import json
import shlex
from collections.abc import Iterator, Mapping
from inspect import getdoc
from typing import Any

from store.domain.ids import near
from store.verbs.arguments import schema
from store.verbs.call import Row
from store.verbs.catalog import ROWS

from .fault import USAGE, Fault

LEFT_OUT = "What stands in [] may be left out."
FORMS = """Text is name=text; a list or what else is JSON is name:='["a", "b"]'."""


def named(verb: str) -> Row:
    """The verb with this name. Fault: there is none, and which was meant."""
    name = verb.removeprefix("logmem_")
    if name in ROWS:
        return ROWS[name]
    close = near(name, _callable())
    hint = f"Did you mean {' or '.join(close)}?" if close else "All of them: logmem call --list"
    raise Fault(f"{verb[:80]!a} is no verb. Nothing was done. {hint}", code=USAGE)


def listed() -> Iterator[str]:
    """Each verb that a key may call: what it does, and its arguments."""
    for verb, row in _callable().items():
        yield f"{verb}: {_first(row)}"
        yield f"    {_arguments(row)}".rstrip()
    yield f"{LEFT_OUT} {FORMS}"
    yield "More of one: logmem call VERB --list"


def explained(row: Row) -> Iterator[str]:
    """What a verb does, and its arguments as they are written."""
    yield " ".join((getdoc(row.run) or "").split())
    yield f"  logmem call {row.verb} {_arguments(row)}".rstrip()
    if schema(row)["properties"]:
        yield f"{LEFT_OUT} {FORMS}"
    if not row.profiles:
        yield "No key may call it: people do, in the console, or the operator by the command logmem."


def facts(row: Row) -> dict[str, Any]:
    """A verb for programs."""
    return {"verb": row.verb, "about": " ".join((getdoc(row.run) or "").split()), "arguments": schema(row)}


def all_facts() -> list[dict[str, Any]]:
    """Every verb that a key may call, for programs."""
    return [facts(row) for row in _callable().values()]


def meant(row: Row, body: str) -> str:
    """What to write instead of arguments that belong into the one object that a verb takes; '' if none is."""
    arguments = schema(row)
    objects = [name for name in arguments.get("required", ()) if arguments["properties"][name].get("type") == "object"]
    if len(objects) != 1:
        return ""
    given = {name: value for name, value in json.loads(body).items() if name not in arguments["properties"]}
    return f"Write: {row.verb} {objects[0]}:={shlex.quote(json.dumps(given))}"


def meant_as_lists(row: Row, body: str) -> str:
    """What to write instead of lists that were given as one text with commas; '' if none was."""
    arguments = schema(row)["properties"]
    given = {
        name: [each for part in value.split(",") if (each := part.strip())]
        for name, value in json.loads(body).items()
        if isinstance(value, str) and "," in value and arguments.get(name, {}).get("type") == "array"
    }
    written = [f"{name}:={shlex.quote(json.dumps(values, ensure_ascii=False))}" for name, values in given.items()]
    return f"A list is written {' '.join(written)}" if written else ""


def fitting(text: str, row: Row) -> str:
    """A refusal as it fits the verb: that nothing was written is no news of one that only reads."""
    return text.replace(" Nothing was written.", "") if row.pure else text


def _callable() -> Mapping[str, Row]:
    return {verb: row for verb, row in ROWS.items() if row.profiles}


def _first(row: Row) -> str:
    return (getdoc(row.run) or "").partition("\n")[0]


def _arguments(row: Row) -> str:
    arguments = schema(row)
    needed = arguments.get("required", ())
    return " ".join(_argument(name, about, needed=name in needed) for name, about in arguments["properties"].items())


def _argument(name: str, about: Mapping[str, Any], *, needed: bool) -> str:
    as_json = about.get("type") in (None, "object", "array") and "anyOf" not in about
    written = f"{name}:=JSON" if as_json else f"{name}=…"
    return written if needed else f"[{written}]"
