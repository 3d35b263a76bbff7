"""Resources of MCP: what stands in a space, by URI; read by the same verbs as the tools, and as the same text.

    logmem://fleet/brief    logmem://fleet/job/auth-flow    logmem://fleet/ask/ask_…

A refusal is the protocol's error, with our code and sentence in it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from mcp import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from store.domain.errors import Refused
from store.domain.ids import Shape, known, parse_place
from store.domain.text import quoted

SCHEME = "logmem"
MIME = "text/plain"
NOT_FOUND_OF_OLD = -32002  # until the era that says so by INVALID_PARAMS
_URI = re.compile(rf"{SCHEME}://(?P<space>[^/?#]+)/(?P<kind>[^/?#]+)(?:/(?P<id>[^/?#]+))?")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource: the verb that reads it, and `what` it is given; one without an id is listed by itself."""

    verb: str
    title: str
    description: str
    id: str = ""
    what: Callable[[str], str] | None = None


KINDS: Mapping[str, Kind] = {
    "brief": Kind("brief", "Brief", "What waits for you in this space, and where you left off."),
    "job": Kind(
        "view",
        "Job",
        "A job: its stage, who has it, and the newest of its log.",
        id="id",
        what=lambda id: parse_place(id, ("job",), default="job", name="id"),
    ),
    "ask": Kind(
        "view",
        "Ask",
        "An ask by its trail: how it stands, what it says, and its history.",
        id="trail",
        what=lambda trail: known(trail, (Shape.ASK,), name="trail")[1],
    ),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a URI asks for: the space that it names, the verb, its arguments, and what is wrong with them."""

    space: str
    verb: str
    args: Mapping[str, str]
    fault: Refused | None = None


def listed(space: str, verbs: Iterable[str]) -> list[dict[str, Any]]:
    """The resources of one space that need no id, for a caller with these verbs."""
    return [
        {"uri": f"{SCHEME}://{space}/{name}", **_said(name, kind)}
        for name, kind in KINDS.items()
        if not kind.id and kind.verb in verbs
    ]


def templates(space: str, verbs: Iterable[str]) -> list[dict[str, Any]]:
    """The others, by the form of their URIs."""
    return [
        {"uriTemplate": f"{SCHEME}://{space}/{name}/{{{kind.id}}}", **_said(name, kind)}
        for name, kind in KINDS.items()
        if kind.id and kind.verb in verbs
    ]


def _said(name: str, kind: Kind) -> dict[str, str]:
    return {"name": name, "title": kind.title, "description": kind.description, "mimeType": MIME}


def reading(uri: str, verbs: Iterable[str]) -> Reading:
    """What this URI asks for, of a caller with these verbs. Refuses not_found: a URI of no resource here."""
    found = _URI.fullmatch(uri)
    kind = KINDS.get(found["kind"]) if found else None
    if not found or not kind or kind.verb not in verbs or bool(found["id"]) != bool(kind.id):
        raise _no_resource(uri, verbs)
    space = unquote(found["space"])
    if not kind.what:
        return Reading(space, kind.verb, {})
    try:
        return Reading(space, kind.verb, {"what": kind.what(unquote(found["id"]))})
    except Refused as fault:
        return Reading(space, kind.verb, {}, fault)


def _no_resource(uri: str, verbs: Iterable[str]) -> Refused:
    forms = [f"{SCHEME}://<space>/{n}{f'/<{k.id}>' * bool(k.id)}" for n, k in KINDS.items() if k.verb in verbs]
    hint = f"There is {', '.join(forms)}." if forms else "Your profile has none."
    return Refused("not_found", f"{quoted(uri, 200)} is no resource of yours. Nothing was done. {hint}")


def contents(uri: str, text: str) -> dict[str, Any]:
    """What stands at a URI."""
    return {"contents": [{"uri": uri, "mimeType": MIME, "text": text}]}


def as_error(no: Refused, *, version: str, **about: str) -> MCPError:
    """A refusal as the error of a request that is no tool call, in the form of this revision; `about` says of what."""
    code = INTERNAL_ERROR if no.status >= 500 else INVALID_PARAMS
    if no.status == 404 and version in HANDSHAKE_PROTOCOL_VERSIONS:
        code = NOT_FOUND_OF_OLD
    return MCPError(code, str(no), {**no.body, **about})
