"""What forms send, as arguments of verbs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from store.domain.errors import Refused

from ..answers import read_body

FORM_LIMIT = 64 * 1024  # bytes
FIELD_LIMIT = 20  # fields

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the page of one ask or item: where it is sent, the verb, and its arguments from the fields."""

    of: str
    path: str
    verb: str
    arguments: Callable[[Fields, list[str]], dict[str, Any]]


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, line ends as their writer made them. Refuses invalid_argument, payload_too_large."""
    raw = await read_body(request, limit=FORM_LIMIT)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise _broken()
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, strict_parsing=bool(raw), max_num_fields=FIELD_LIMIT, errors="strict"
        )
    except ValueError:  # also what is not UTF-8
        raise _broken() from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise _broken()
    # Browsers send every line end of a field as CR LF.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _broken() -> Refused:
    return Refused("invalid_argument", "This is not a form of the console. Nothing was changed.")


def _decision(fields: Fields, options: list[str]) -> dict[str, Any]:
    given = {name: fields[name] for name in ("verdict", "digest", "reason", "answer") if fields.get(name)}
    if "option" in fields:  # its number: a text would not survive a form whole
        given["answer"] = _chosen(fields["option"], options)
    return {"verdict": "", **given}


def _chosen(number: str, options: list[str]) -> str:
    if not (number.isascii() and number.isdecimal() and len(number) < 4 and int(number) < len(options)):
        raise Refused("invalid_argument", "There is no such option. Nothing changed.", argument="answer")
    return options[int(number)]


FORMS = (
    Form("ask", "decide", "decide", _decision),
    Form("ask", "ask-back", "ask_back", lambda fields, _: {"text": fields.get("text", "")}),
    Form("ask", "take-back", "take_back", lambda fields, _: {"reason": fields.get("reason", "")}),
    Form("item", "accept", "accept", lambda fields, _: {}),
    Form("item", "decline", "accept", lambda fields, _: {"decline": True, "reason": fields.get("reason", "")}),
)
