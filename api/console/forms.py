"""What forms send: their fields, and the verb that they do."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from store.domain.errors import Refused

from ..answers import read_body

if TYPE_CHECKING:
    from .visit import Visit

FORM_LIMIT = 64 * 1024  # bytes
FIELD_LIMIT = 20  # fields

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its address below the space, the verb that it does, and the arguments that its fields give."""

    path: str
    verb: str
    arguments: Callable[["Visit", Fields], Awaitable[dict[str, Any]]]


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


def action(fields: Fields, given: Mapping[str, Any]) -> str:
    """The action of a form as it was sent: the same for a second click, another for another verdict."""
    if not fields.get("action"):
        return ""
    said = json.dumps([fields["action"], given], sort_keys=True)
    return f"form-{hashlib.sha256(said.encode()).hexdigest()}"
