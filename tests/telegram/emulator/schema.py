"""The schema of the Bot API as a checker: unknown names, wrong types and missing values become problems in words."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("bot-api-10.3.json")

BARE = (
    "getMe", "logOut", "close", "getWebhookInfo", "getForumTopicIconStickers", "getAvailableGifts", "getMyStarBalance",
    "removeMyProfilePhoto",
)  # fmt: skip
"""Methods of Bot API 10.3 that take no parameters: the schema leaves them out."""


class Upload:
    """A file that came as a part of a multipart body."""


@dataclass(frozen=True, slots=True)
class Plain:
    """`number`, `string`, `boolean`, `true` or `file`."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some constants."""

    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """An object type (or alias) of the schema."""

    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one type."""

    of: "Type"


@dataclass(frozen=True, slots=True)
class Union:
    """Any one of several types."""

    members: tuple["Type", ...]


Type = Plain | OneOf | Ref | ListOf | Union

PLAIN: Mapping[str, tuple[type, ...]] = {
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "true": (bool,),
    "file": (Upload,),
}
_STANDS_FOR_JSON = re.compile(r"\{[^{}]*\}")  # `{ toJSON(): X }`: what JavaScript also takes for X
_KEYS_OF_UPDATE = re.compile(r'Exclude<keyof (?:Objects\.)?TelegramUpdate, "update_id">')


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter of a method, or one field of an object."""

    required: bool
    type: Type


def _parts(text: str) -> Iterator[str]:
    """The members of a union, as written."""
    depth, start = 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "([<") - (sign in ")]>")
        if sign == "|" and not depth:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def parse(text: str, *, updates: tuple[str, ...]) -> Type:
    """A type expression of the schema as a checkable type."""
    text = _KEYS_OF_UPDATE.sub("KeysOfUpdate", text).strip()
    members = [_parse_one(part, updates) for part in _parts(_STANDS_FOR_JSON.sub("", text)) if part]
    constants = tuple(value for member in members if isinstance(member, OneOf) for value in member.values)
    others: list[Type] = [member for member in members if not isinstance(member, OneOf)]
    if constants:
        others.append(OneOf(constants))
    return others[0] if len(others) == 1 else Union(tuple(others))


def _parse_one(text: str, updates: tuple[str, ...]) -> Type:
    if text.endswith("[]"):
        return ListOf(parse(text[:-2], updates=updates))
    if text.startswith("("):
        return parse(text[1:-1], updates=updates)
    if text.startswith('"'):
        return OneOf((text.strip('"'),))
    if text.lstrip("-").isdigit():
        return OneOf((int(text),))
    if text == "KeysOfUpdate":
        return OneOf(updates)
    if text == "Blob":
        return Plain("file")
    return Plain(text) if text in PLAIN else Ref(text.removeprefix("Objects.").removeprefix("Telegram"))


class Schema:
    """The methods of the Bot API with their parameters, and the types these are made of."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        updates = tuple(name for name in document["types"]["Update"] if name != "update_id")
        self.update_kinds = updates
        self._aliases: dict[str, Type] = {}
        self._objects: dict[str, dict[str, Field]] = {}
        self.methods: dict[str, dict[str, Field]] = {name: {} for name in BARE}
        for section in ("types", "methods"):
            for name, body in document[section].items():
                if "__alias" in body:
                    self._aliases[name] = parse(body["__alias"], updates=updates)
                    continue
                fields = {key: Field(row["required"], parse(row["type"], updates=updates)) for key, row in body.items()}
                if section == "types":
                    self._objects[name] = fields
                else:
                    self.methods[name[0].lower() + name[1:]] = fields
        self._spelling = {name.lower(): name for name in self.methods}

    def method(self, spelled: str) -> str | None:
        """The method's own spelling, whatever the case; None for one that does not exist."""
        return self._spelling.get(spelled.lower())

    def read(self, method: str, given: Mapping[str, Any], *, form: bool) -> tuple[dict[str, Any], list[str]]:
        """The parameters as values, and what is wrong with them; a form's strings are read by the schema."""
        fields, values, problems = self.methods[method], dict[str, Any](), list[str]()
        for name, raw in given.items():
            field = fields.get(name)
            if field is None:
                problems.append(f"unknown parameter {name}")
                continue
            try:
                value = self._from_form(field.type, raw, form=form)
            except ValueError as broken:
                problems.append(f"{name}: {broken}")
                continue
            values[name] = value
            problems += self.problems(field.type, value, name)
        problems += [
            f"missing parameter {name}" for name, field in fields.items() if field.required and name not in given
        ]
        return values, problems

    def _from_form(self, wanted: Type, raw: Any, *, form: bool) -> Any:
        """A value as it stands in a body: strings of a form are read, and JSON in strings where an object is due."""
        wanted = self._plain(wanted)
        if not isinstance(raw, str):
            return raw
        if isinstance(wanted, ListOf | Ref) or (isinstance(wanted, Union) and not _takes_text(wanted)):
            try:
                return json.loads(raw)
            except ValueError as broken:
                raise ValueError("is not JSON") from broken
        return _FORM.get(wanted, _as_is)(raw) if form else raw

    def _plain(self, wanted: Type) -> Type:
        while isinstance(wanted, Ref) and wanted.name in self._aliases:
            wanted = self._aliases[wanted.name]
        return wanted

    def problems(self, wanted: Type, value: Any, at: str) -> list[str]:
        """What is wrong with a value, each with the path to it; empty when it fits."""
        wanted = self._plain(wanted)
        match wanted:
            case Plain(name):
                fits = isinstance(value, PLAIN[name]) and (name in ("boolean", "true") or not isinstance(value, bool))
                return [] if fits and (name != "true" or value is True) else [f"{at}: expected {name}"]
            case OneOf(values):
                return [] if value in values else [f"{at}: {value!r} is not one of the values allowed"]
            case ListOf(of):
                if not isinstance(value, list):
                    return [f"{at}: expected a list"]
                return [found for n, one in enumerate(value) for found in self.problems(of, one, f"{at}[{n}]")]
            case Union(members):
                return min((self.problems(member, value, at) for member in members), key=_how_wrong)
            case Ref(name):
                return self._object_problems(name, value, at)

    def _object_problems(self, name: str, value: Any, at: str) -> list[str]:
        fields = self._objects.get(name)
        if fields is None:  # a long union's last name, cut short in the schema's file: whatever it was, it fits
            return []
        if not isinstance(value, dict):
            return [f"{at}: expected an object {name}"]
        found = [f"{at}: unknown field {key}" for key in value if key not in fields]
        for key, field in fields.items():
            if key in value:
                found += self.problems(field.type, value[key], f"{at}.{key}")
            elif field.required:
                found.append(f"{at}: missing field {key}")
        return found


def _how_wrong(found: list[str]) -> int:
    return len(found)


def _takes_text(wanted: Union) -> bool:
    return any(isinstance(member, OneOf) or member == Plain("string") for member in wanted.members)


def _number(raw: str) -> int | float:
    if re.fullmatch(r"-?\d+", raw):
        return int(raw)
    try:
        return float(raw)
    except ValueError as broken:
        raise ValueError("expected number") from broken


def _flag(raw: str) -> bool:
    if raw.lower() not in ("true", "false", "1", "0"):
        raise ValueError("expected boolean")
    return raw.lower() in ("true", "1")


def _number_or_text(raw: str) -> int | str:
    return int(raw) if re.fullmatch(r"-?\d+", raw) else raw


def _as_is(raw: str) -> str:
    return raw


_FORM = {
    Plain("number"): _number,
    Plain("boolean"): _flag,
    Union((Plain("number"), Plain("string"))): _number_or_text,
}


@cache
def schema() -> Schema:
    """The schema of Bot API 10.3, read once."""
    return Schema(json.loads(FILE.read_text("utf-8")))
