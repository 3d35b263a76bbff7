"""The inbox: what waits for a person, one of it with all that it would do, and what was decided lately."""

from typing import Any

from starlette.responses import Response

from store.domain.errors import Refused
from store.verbs.call import Result

from . import inert
from .forms import Fields, Form
from .frame import Tab
from .rows import STATES, waits
from .visit import Page, Posted, Visit

ROWS_SHOWN = 2000  # of a payload as a tree; one with more is shown as canonical JSON, so that its page stays light


async def everything(visit: Visit) -> Response:
    """What waits for me, soonest deadline first; what I decided lately; what waits for others."""
    found = await _list(visit)
    count = found["count"] + found["handed_count"]
    return await _shown(visit, found, None, title=f"({count}) Inbox" if count else "Inbox")


async def ask(visit: Visit) -> Response:
    """One ask with all that it would do."""
    return await _one(visit, "ask")


async def item(visit: Visit) -> Response:
    """One thing that was handed over or asked in a huddle, and how it stands."""
    return await _one(visit, "item")


async def _one(visit: Visit, of: str) -> Response:
    one = await _look(visit)
    if one["of"] != of:
        return visit.to(one["of"], one["what"])
    return await _shown(visit, await _list(visit), one, title=inert.said(one["summary"]))


async def _shown(visit: Visit, found: Result, one: Result | None, *, title: str) -> Response:
    opened = one["what"] if one else ""
    lists = {
        name: waits(found[name], past=name in ("decided", "settled"), v=found, address=visit.address, opened=opened)
        for name in ("waiting", "decided", "others", "settled")
    }
    phones = (await visit.call("claims"))["claims"]
    claims = [each for each in phones if each["person"] != visit.caller.principal or each.get("latest")]
    return visit.page(
        "inbox.html", title=title, v=found, one=one, lists=lists, claims=claims, states=STATES, rows_shown=ROWS_SHOWN
    )


async def _list(visit: Visit) -> Result:
    found = await visit.call("inbox", after=visit.asked("after"))
    found["waiting"] = sorted((*found["asks"], *found["handed"]), key=lambda one: (one["deadline"], one["trail"]))
    return found


async def _look(visit: Visit) -> Result:
    return await visit.call("inbox", trail=visit.part("trail"))


async def _decision(visit: Visit, fields: Fields) -> dict[str, Any]:
    given = {name: fields[name] for name in ("verdict", "digest", "reason", "answer") if fields.get(name)}
    if "option" in fields:  # its number: a text would not survive a form whole
        given["answer"] = _chosen(fields["option"], (await _look(visit)).get("options", []))
    return {"trail": visit.part("trail"), "verdict": "", **given}


def _chosen(number: str, options: list[str]) -> str:
    if not (number.isascii() and number.isdecimal() and len(number) < 4 and int(number) < len(options)):
        raise Refused("invalid_argument", "There is no such option. Nothing changed.", argument="answer")
    return options[int(number)]


async def _question(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"trail": visit.part("trail"), "text": fields.get("text", "")}


async def _undoing(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"trail": visit.part("trail"), "reason": fields.get("reason", "")}


async def _accepted(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"item": visit.part("trail")}


async def _declined(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"item": visit.part("trail"), "decline": True, "reason": fields.get("reason", "")}


async def _answered(visit: Visit, fields: Fields) -> dict[str, Any]:
    trail = visit.part("trail")
    seat = await _look(visit)
    return {"where": seat["where"], "kind": "answer", "answers": trail, "summary": fields.get("text", "")}


def _there(visit: Visit, done: Result) -> Response:
    return visit.to(visit.request.url.path.split("/")[3], visit.part("trail"))


PAGE = Page(
    Tab("inbox", "Inbox", ""),
    {"": everything, "ask/{trail}": ask, "item/{trail}": item},
    (
        Posted(Form("ask/{trail}/decide", "decide", _decision), _there, ask),
        Posted(Form("ask/{trail}/ask-back", "ask_back", _question), _there, ask),
        Posted(Form("ask/{trail}/take-back", "take_back", _undoing), _there, ask),
        Posted(Form("item/{trail}/accept", "accept", _accepted), _there, item),
        Posted(Form("item/{trail}/decline", "accept", _declined), _there, item),
        Posted(Form("item/{trail}/answer", "note", _answered), _there, item),
    ),
)
