"""Resources of MCP: what stands in a space, by URI; read by the same verbs as the tools, and as the same text.

logmem://fleet/brief    logmem://fleet/job/auth-flow    logmem://fleet/ask/ask_…
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from store.domain.errors import Refused
from store.domain.ids import Shape, known, parse_place
from store.domain.text import quoted

SCHEME = "logmem"
MIME = "text/plain"
_URI = re.compile(rf"{SCHEME}://(?P<space>[^/?#]+)/(?P<kind>[^/?#]+)(?:/(?P<id>[^/?#]+))?")


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of resource: the verb that reads it, and `what` it is given; one without an id is listed by itself."""

    verb: str
    title: str
    description: str
    id: str = ""
    what: Callable[[str], str] | None = None


RESOURCES: Mapping[str, Resource] = {
    "brief": Resource("brief", "Brief", "What waits for you in this space, and where you left off."),
    "job": Resource(
        "view",
        "Job",
        "A job: its stage, who has it, and the newest of its log.",
        id="id",
        what=lambda id: parse_place(id, ("job",), default="job", name="id"),
    ),
    "ask": Resource(
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
        {"uri": f"{SCHEME}://{space}/{name}", **_said(name, each)}
        for name, each in RESOURCES.items()
        if not each.id and each.verb in verbs
    ]


def templates(space: str, verbs: Iterable[str]) -> list[dict[str, Any]]:
    """The others, by the form of their URIs."""
    return [
        {"uriTemplate": f"{SCHEME}://{space}/{name}/{{{each.id}}}", **_said(name, each)}
        for name, each in RESOURCES.items()
        if each.id and each.verb in verbs
    ]


def _said(name: str, resource: Resource) -> dict[str, str]:
    return {"name": name, "title": resource.title, "description": resource.description, "mimeType": MIME}


def reading(uri: str, verbs: Iterable[str]) -> Reading:
    """What this URI asks for, of a caller with these verbs. Refuses not_found: a URI of no resource here."""
    found = _URI.fullmatch(uri)
    wanted = RESOURCES.get(found["kind"]) if found else None
    if not found or not wanted or wanted.verb not in verbs or bool(found["id"]) != bool(wanted.id):
        raise _no_resource(uri, verbs)
    space = unquote(found["space"])
    if not wanted.what:
        return Reading(space, wanted.verb, {})
    try:
        return Reading(space, wanted.verb, {"what": wanted.what(unquote(found["id"]))})
    except Refused as fault:
        return Reading(space, wanted.verb, {}, fault)


def _no_resource(uri: str, verbs: Iterable[str]) -> Refused:
    forms = [f"{SCHEME}://<space>/{n}{f'/<{k.id}>' * bool(k.id)}" for n, k in RESOURCES.items() if k.verb in verbs]
    hint = f"There is {', '.join(forms)}." if forms else "Your profile has none."
    return Refused("not_found", f"{quoted(uri, 200)} is no resource of yours. Nothing was done. {hint}")


def contents(uri: str, text: str) -> dict[str, Any]:
    """What stands at a URI."""
    return {"contents": [{"uri": uri, "mimeType": MIME, "text": text}]}
