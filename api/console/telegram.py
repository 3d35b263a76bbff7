"""Telegram, of Keys & people: pair a phone, say whether it was you, who is reached how, on call and in quiet hours.

A code stands in the answer to its form alone, like all that is shown once. What follows it (who has used it, and what
became of that) stands at the same address, where the page looks again.
"""

from typing import Any, get_args

import segno
from starlette.responses import Response

from store.domain.moments import SECOND, iso
from store.domain.pairing import LIFE, Source
from store.domain.space import Space
from store.engine.botstore import WELL, bot_state, standing
from store.engine.reads import Doc
from store.verbs.call import Result

from . import inert, keys
from .forms import Fields, Form
from .visit import Page, Posted, Visit

QUIET = 4  # light modules round a code, as its standard wants
LOOK = 3 * SECOND  # between two looks at whether a code was used
NAMED = 40  # of those who are reached, with the account
WRONG = {  # what the bot says of itself, in a sentence
    "unauthorized": "Telegram does not know its token",
    "conflict": "another process asks Telegram with its token",
    "away": "it does not reach Telegram",
    "webhook": "the webhook brings nothing",
}


async def everything(visit: Visit) -> Response:
    """The person's own phone; for owners also who else is reached, and whose claims wait."""
    return await _page(visit, "telegram.html", title="Telegram")


async def pairing(visit: Visit) -> Response:
    """What became of a code that was shown here: nothing yet, somebody's claim, a paired phone."""
    more: dict[str, Any] = {"code": "", "link": "", "picture": None}
    return await _page(visit, "pairing.html", title="Pair your phone", sources=("console",), **more)


async def unpairing(visit: Visit) -> Response:
    """What unpairing a phone would mean, and the button that does it."""
    found = await visit.call("people", person=visit.part("person"))
    return await _page(visit, "unpairing.html", title=f"Unpair the phone of {found['person']}?", of=found)


async def _page(
    visit: Visit, template: str, *, title: str, sources: tuple[str, ...] = get_args(Source), **more: Any
) -> Response:
    """`sources` are the places from where codes come whose claims by this person are asked about."""
    me = await visit.call("connection")
    mine = await visit.call("people", person=visit.caller.principal)
    found = await visit.call("claims")
    everybody = (await visit.call("people"))["people"]
    waiting = found["claims"]
    # Of the code that was made last there, and of no earlier one that somebody else may have seen.
    latest = [each for each in waiting if each["person"] == visit.caller.principal and each.get("latest")]
    own = [each for each in latest if each["from"] in sources]
    manages = "manage" in me["may"]
    reached = [each for each in everybody if each.get("telegram")]
    if manages:
        reached = [await visit.call("people", person=each["person"]) for each in reached[:NAMED]] + reached[NAMED:]
    return visit.page(
        template,
        title=title,
        v={**mine, "now": me["clock"]},
        manages=manages,
        zone=await _zone(visit),
        bot=await _bot(visit),
        claims=waiting,
        own=own[0] if own else None,
        reached=reached,
        again=iso(inert.ms(me["clock"]) + LOOK),
        **more,
    )


async def _bot(visit: Visit) -> dict[str, Any]:
    """What the bot is called, and whether it is at work."""
    state = await bot_state(visit.store.reader)
    how = standing(state, now=await visit.store.shared.clock())
    return {"name": state.get("username", ""), "works": how == WELL, "why": WRONG.get(how, "")}


async def _zone(visit: Visit) -> str:
    """The time zone of the space, in which quiet hours are."""
    [[space]] = await visit.store.across([visit.space], Doc(Space, visit.space))
    return space.zone if space else Space.zone


# ---- Forms


async def _nothing(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {}


def _code_shown_once(visit: Visit, done: Result) -> Response:
    code, link, bot = (done.get(name, "") for name in ("code", "link", "bot"))
    # A code's life is counted by the store's own time, which a simulated space's clock may be far from.
    now = iso(inert.ms(done["expires_at"]) - LIFE[done["from"]])
    return visit.page(
        "pairing.html",
        title="Pair your phone",
        v={**done, "now": now},
        code=code,
        link=link,
        picture=picture(link) if link else None,
        bot={"name": bot},
        own=None,
        again=iso(inert.ms(now) + LOOK),
    )


def picture(text: str) -> dict[str, Any]:
    """A code for a camera: how many units it is wide, and the path of its dark squares."""
    made = segno.make(text, error="m", micro=False)
    rows = enumerate(made.matrix_iter(border=QUIET))
    dark = (f"M{x} {y}h1v1h-1z" for y, row in rows for x, module in enumerate(row) if module)
    return {"size": made.symbol_size(border=QUIET)[0], "path": "".join(dark)}


async def _said(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"claim": fields.get("claim", ""), "yes": fields.get("yes") == "yes"}


async def _whose(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"person": visit.part("person")}


async def _on_call(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"on": fields.get("on") == "yes"}


async def _quiet(visit: Visit, fields: Fields) -> dict[str, Any]:
    said = {name: fields.get(name, "").strip() for name in ("snooze", "hours")}
    return {"snooze": said["snooze"], "hours": said["hours"] or "off"}


def _back(visit: Visit, done: Result) -> Response:
    return visit.to("telegram")


PAGE = Page(
    keys.PAGE.tab,
    {"telegram": everything, "telegram/pair": pairing, "telegram/{person}/unpair": unpairing},
    (
        Posted(Form("telegram/pair", "pairing", _nothing), _code_shown_once, everything),
        Posted(Form("telegram/confirm", "confirm", _said), _back, everything),
        Posted(Form("telegram/on-call", "oncall", _on_call), _back, everything),
        Posted(Form("telegram/quiet", "quiet", _quiet), _back, everything),
        Posted(Form("telegram/{person}/unpair", "unpair", _whose), _back, unpairing),
    ),
)
