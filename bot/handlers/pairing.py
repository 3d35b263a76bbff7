"""Pairing: a code that a person sends. Nothing is paired by it; that is confirmed where the code came from."""

import re
from collections.abc import Sequence

from store.domain.errors import Refused

from ..context import Context
from ..incoming import Said
from ..saying import answered, refusal
from ..text import Text, bare, clipped
from ..words import Verdict, Words

__all__ = ["is_code", "started"]

CODE = re.compile(r"\s*[0-9a-z]{5}-[0-9a-z]{5}\s*", re.IGNORECASE)

HELLO = "This bot brings asks of your agents to you, and your decisions to them."
PAIRED = "This account is paired: asks come here as cards. /pending shows what waits, /help lists the commands."
CONFIRM = {
    "console": "Now confirm it in the console, where you got the code.",
    "terminal": "Now confirm it on the terminal, where the code is shown.",
    "command": "Now an owner confirms it in the console.",
}


def is_code(text: str) -> bool:
    """Whether a message is a code and nothing else."""
    return CODE.fullmatch(text) is not None


async def started(ctx: Context, said: Said, words: Sequence[str]) -> Words | str:
    """`/start`, with or without a code; how a deep link arrives. What becomes of a code is said when it is known."""
    if not words:
        return f"{HELLO} {await _how_paired(ctx, said)}"
    claim = await ctx.door.pair(
        update=said.update, user=said.user, name=said.name, username=said.username, chat=said.chat,
        chat_type=said.chat_type, code=" ".join(words), forwarded=said.forwarded, via_bot=said.via_bot,
        is_bot=said.is_bot,
    )  # fmt: skip
    text = Text().add("This account asks to be ").code(bare(claim["person"])).add(". ")
    text.add(CONFIRM.get(claim.get("from", ""), CONFIRM["command"])).line()
    text.add("You are shown there as ").code(clipped(said.name, 80)).add(", id ").code(str(said.user)).add(".")
    return answered(said, text), Verdict(chat=said.chat, claim=claim["claim"], reply_to=said.message)


async def _how_paired(ctx: Context, said: Said) -> str:
    """Whose the account is, in a sentence."""
    try:
        await ctx.door.verb(
            update=said.update, user=said.user, chat=said.chat, chat_type=said.chat_type, verb="connection", args={}
        )
    except Refused as no:
        if no.code != "scope_undeclared" or not no.facts.get("spaces"):  # else it is somebody of several spaces
            return refusal(no)
    return PAIRED
