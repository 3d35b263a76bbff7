"""Presses. What decides goes to the door first; then the press is answered with what the store said.

Then the cards come to show it. Pages, and the reasons that are offered, change one message and nothing else.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from store.domain.copy import Copy
from store.domain.errors import Refused

from ..buttons import NONE, REASONS, WRITE, Rows, no, read, reasons
from ..context import Context
from ..day import is_day
from ..incoming import Press
from ..saying import NO_BUTTON, refusal, sentence, toast
from ..words import Show, Words
from . import days
from .prompts import ask_for

__all__ = ["pressed"]

CHOOSE = {
    "reject": "Not rejected yet: choose a reason.",
    "decline": "Not declined yet: choose a reason.",
}

#: Those whose commit marks the card, and rings.
DECIDES = ("approve", "accept", "take_back", "opt", "why")

log = structlog.get_logger(__name__)


async def pressed(ctx: Context, press: Press) -> Words:
    """Do what the button says. Whatever is refused is said, and logged with why."""
    found, verb = None, ""
    try:
        verb, number, token = _read(press)
        there = any(_token(data) == token for data in press.beside)
        found = await ctx.cards.pressed(token, user=press.user, chat=press.chat, message=press.message, there=there)
        if found is None:
            raise Refused("not_found", NO_BUTTON)
        if (verb in days.VERBS) != is_day(found[1].ref):
            raise Refused("not_found", NO_BUTTON)
        words = await ACTIONS[verb](ctx, press, found[0], found[1], number)
    except Refused as why:
        log.warning("a press was refused", why=why.code, user=press.user, chat=press.chat, update=press.update)
        words, verb = (toast(press, refusal(why), alert=True),), ""
    if found and verb not in DECIDES:
        ctx.cards.refresh(found[0], found[1].ref)  # a card may show what is over
    return words


def _read(press: Press) -> tuple[str, int, str]:
    try:
        verb, number, token = read(press.data)
    except ValueError:
        raise Refused("not_found", NO_BUTTON) from None
    if verb not in ACTIONS:
        raise Refused("not_found", NO_BUTTON)
    return verb, number, token


def _token(data: str) -> str:
    """The token that a button carries, '' for one that is none of ours."""
    try:
        return read(data)[2]
    except ValueError:
        return ""


async def _decide(ctx: Context, press: Press, space: str, copy: Copy, verb: str, **more: Any) -> Words:
    """Hand a decision to the door; what it says."""
    done: Mapping[str, Any] = await ctx.door.tap(
        update=press.update, user=press.user, name=press.name, chat=press.chat, chat_type=press.chat_type,
        message=press.message, verb=verb, token=copy.token, near=f"{space} {copy.ref}", **more,
    )  # fmt: skip
    return (toast(press, sentence(str(done.get("says") or "Done."))),)


def _at_once(verb: str) -> "Action":
    async def act(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
        return await _decide(ctx, press, space, copy, verb)

    return act


async def _option(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    return await _decide(ctx, press, space, copy, "answer", option=number)


async def _offer_reasons(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    verb = no(copy.ref)
    return _show(press, space, copy, rows=reasons(verb, copy.token), toast=CHOOSE[verb])


async def _reason(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    verb = no(copy.ref)
    if number < len(REASONS[verb]):
        return await _decide(ctx, press, space, copy, verb, text=REASONS[verb][number])
    if number == WRITE:
        return ask_for(press, "reason", copy)
    if number == NONE and verb == "reject":
        return await _decide(ctx, press, space, copy, verb)
    raise Refused("not_found", NO_BUTTON)


async def _back(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    return _show(press, space, copy)


async def _turn(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    return _show(press, space, copy, page=max(number, 0))


def _show(press: Press, space: str, copy: Copy, *, page: int = -1, rows: Rows | None = None, toast: str = "") -> Words:
    return (
        Show(
            query=press.query, chat=press.chat, message=press.message, space=space, token=copy.token, page=page,
            rows=rows, toast=toast,
        ),
    )  # fmt: skip


def _prompted(kind: str) -> "Action":
    async def act(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
        return ask_for(press, kind, copy)

    return act


Action = Callable[[Context, Press, str, Copy, int], Awaitable[Words]]

#: What each button does; and what is to be said then.
ACTIONS: Mapping[str, Action] = {
    "approve": _at_once("approve"),
    "accept": _at_once("accept"),
    "take_back": _at_once("take_back"),
    "opt": _option,
    "reject": _offer_reasons,
    "decline": _offer_reasons,
    "why": _reason,
    "back": _back,
    "page": _turn,
    "ask": _prompted("question"),
    "answer": _prompted("answer"),
    "show": days.show,
    "good": days.good,
    "attention": days.attention,
    "stop": days.stop,
}
