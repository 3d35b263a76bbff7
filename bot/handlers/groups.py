"""Groups: they get notices and decide nothing. And who may write to the bot, or be written to by it."""

import structlog

from store.domain.errors import Refused

from ..context import Context
from ..incoming import Change, Said
from ..saying import answered, refusal, sentence
from ..words import Words

__all__ = ["heard", "moved"]

COMMAND = "/notices"
WORDS = ("on", "off")
USAGE = "In a group: /notices SPACE, or /notices off. Cards to decide come to each person in their own chat."

log = structlog.get_logger(__name__)


async def heard(ctx: Context, said: Said) -> Words:
    """A message in a group: `/notices`, or that the group has another number now. All else is none of ours."""
    if said.migrated_to:
        await ctx.door.migrated(old=said.chat, new=said.migrated_to)
        return ()
    words = said.text.split()
    name, _, bot = words[0].lower().partition("@") if words else ("", "", "")
    if name != COMMAND or (bot and bot != str(ctx.me.get("username", "")).lower()):
        return ()
    try:
        says = await _notices(ctx, said, [word.lower() for word in words[1:]])
    except Refused as no:
        what = "a command of nobody's was refused" if said.anonymous else "notices were refused"
        log.warning(what, why=no.code, user=said.user, chat=said.chat, update=said.update)
        says = f"{refusal(no)} {USAGE}" if no.code == "scope_undeclared" else refusal(no)
        return (answered(said, says, idle=True),)
    return (answered(said, says),)


async def _notices(ctx: Context, said: Said, words: list[str]) -> str:
    done = await ctx.door.group(
        update=said.update,
        user=0 if said.anonymous else said.user,  # who writes without a name is nobody to the door
        chat=said.chat,
        thread=said.thread,
        chat_type=said.chat_type,
        title=said.title,
        space=next((word for word in words if word not in WORDS), None),
        off="off" in words,
    )
    return sentence(str(done.get("says") or "Done."))


async def moved(ctx: Context, change: Change) -> Words:
    """Where the bot is a member has changed: a person blocked it or came back, or a group took it in or put it out."""
    if change.chat_type == "private":
        if change.there:
            await ctx.door.reached(user=change.chat)
        else:
            await ctx.door.unreached(user=change.chat, why="blocked")
    elif change.was_there and not change.there:
        try:
            await ctx.door.left(chat=change.chat)
        except Refused as no:  # what is sent there comes back as not reached, and is given up
            log.warning("a group that is left keeps its notices", why=no.code, chat=change.chat)
    return ()
