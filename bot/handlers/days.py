"""Presses on the message of a day's syncs: a check-in for the window that the button names, and what goes with it."""

from store.domain.copy import Copy

from .. import lists
from ..cards import message
from ..context import Context
from ..incoming import Press
from ..saying import sentence, toast
from ..text import Text
from ..words import Reply, Words
from .commands import here
from .prompts import ask_for

__all__ = ["VERBS", "attention", "good", "show", "stop"]

VERBS = ("show", "good", "attention", "stop")


async def good(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    """Check in: all is well."""
    return (toast(press, await _asked(ctx, press, copy, "all_good", number)),)


async def attention(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    """Ask for the words of a check-in, if one is still possible."""
    await _asked(ctx, press, copy, "may_check_in", number)
    return ask_for(press, "attention", copy, option=number)


async def stop(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    """Have no such message any more; how to turn them on again is said where it stays to be read."""
    says = await _asked(ctx, press, copy, "stop")
    return _below(press, copy, lists.refused(space, says)), toast(press, "")


async def show(ctx: Context, press: Press, space: str, copy: Copy, number: int) -> Words:
    """The day's windows and what waits, with its cards, as the commands give them."""
    text, cards = await here(ctx, press, space)
    return _below(press, copy, text), toast(press, ""), *cards


def _below(press: Press, copy: Copy, text: Text) -> Reply:
    made = message(text)
    return Reply(chat=copy.chat, text=made.text, entities=made.entities, reply_to=copy.message or press.message)


async def _asked(ctx: Context, press: Press, copy: Copy, verb: str, option: int = -1) -> str:
    """Hand it to the door; what it says."""
    done = await ctx.door.tap(
        update=press.update, user=press.user, name=press.name, chat=press.chat, chat_type=press.chat_type,
        message=press.message, verb=verb, token=copy.token, option=option,
    )  # fmt: skip
    return sentence(str(done.get("says") or "Done."))
