"""What each kind of update does, and what is to be said because of it.

`handle` raises Away when the API is not there, Unreadable for what makes no sense; then nothing is to be said.
"""

from collections.abc import Mapping
from typing import Any

import structlog

from store.domain.errors import Refused
from store.domain.pairing import check_private

from ..context import Context
from ..incoming import Said, Unreadable, change, press, said
from ..saying import answered
from ..words import Words
from .commands import COMMANDS, commanded
from .groups import heard, moved
from .pairing import is_code
from .prompts import replied
from .taps import pressed

__all__ = ["COMMANDS", "Unreadable", "handle"]

HINT = "Only commands, and replies to cards, do something here. /help lists the commands."

log = structlog.get_logger(__name__)


async def handle(ctx: Context, update: Mapping[str, Any]) -> Words:
    """Do what an update asks for. Edited messages, channels and whatever else comes do nothing."""
    if not isinstance(update, Mapping):
        raise Unreadable("an update that is no object")
    if "callback_query" in update:
        return await pressed(ctx, press(update))
    if "message" in update:
        return await _message(ctx, said(update))
    if "my_chat_member" in update:
        return await moved(ctx, change(update))
    log.info("an update of a kind that does nothing", kinds=sorted(set(update) - {"update_id"}))
    return ()


async def _message(ctx: Context, said: Said) -> Words:
    if not said.private:
        return await heard(ctx, said)
    if not _is_theirs(said):
        log.warning("a message of nobody's does nothing", user=said.user, chat=said.chat, update=said.update)
        return ()
    if said.text.startswith("/"):
        return await commanded(ctx, said)
    if said.to:
        return await replied(ctx, said)
    if is_code(said.text):
        return await commanded(ctx, said, "/start " + said.text)
    return (answered(said, HINT, idle=True),) if said.text else ()


def _is_theirs(said: Said) -> bool:
    """Whether a person said it, in their own chat with the bot."""
    try:
        check_private(user=said.user, chat=said.chat, chat_type=said.chat_type)
    except Refused:
        return False
    return not said.anonymous and not said.is_bot
