"""Asking for a text, and what becomes of it: a reply to a prompt, or to a card."""

import structlog

from store.domain.copy import Copy
from store.domain.errors import Refused

from ..buttons import no, read
from ..cards import message
from ..context import Context
from ..incoming import Press, Said
from ..saying import answered, is_idle, refusal, sentence, toast
from ..shelf import REPLY  # to a card: the door knows what that is to what the card shows
from ..text import Text
from ..words import Reply, Words

__all__ = ["ask_for", "replied"]

# What is asked for: the words, and what stands in the field.
PROMPTS = {
    "reason": ("Reply to this message with your reason.", "Your reason"),
    "question": ("Reply to this message with your question.", "Your question"),
    "answer": ("Reply to this message with your answer.", "Your answer"),
    "attention": ("Reply to this message with what needs attention.", "What needs attention"),
}
VERBS = {"question": "ask_back", "answer": "answer", "attention": "attention", REPLY: REPLY}
UNKNOWN = (
    "It is not clear what this replies to, so nothing changed. Reply to a card, or press its button again: /pending"
)
NOT_TEXT = "Only a text can be passed on. Nothing changed."

log = structlog.get_logger(__name__)


def ask_for(press: Press, kind: str, copy: Copy, *, option: int = -1) -> Words:
    """A message that asks for a reply, and what the reply will be; `option` is what the button has named."""
    words, placeholder = PROMPTS[kind]
    meaning = {"kind": kind, "token": copy.token, **({"option": option} if option >= 0 else {})}
    prompt = Reply(
        chat=copy.chat, text=message(Text().add(words)).text, reply_to=copy.message or press.message,
        placeholder=placeholder, meaning=meaning,
    )  # fmt: skip
    return prompt, toast(press, "")


async def replied(ctx: Context, said: Said) -> Words:
    """A reply in a person's own chat: a question to who asked, a reason, or an answer."""
    kind, token, option = await _meant(ctx, said)
    found = await ctx.copies.by_token(token) if token else None
    if found is None:
        return (answered(said, UNKNOWN, idle=True),)
    if not said.text.strip():
        return (answered(said, NOT_TEXT),)
    space, copy = found
    try:
        done = await ctx.door.tap(
            update=said.update, user=said.user, name=said.name, chat=said.chat, chat_type=said.chat_type,
            message=copy.message or said.to, verb=no(copy.ref) if kind == "reason" else VERBS[kind], token=token,
            text=said.text, option=option.get("option"), near=f"{space} {copy.ref}",
        )  # fmt: skip
        words = answered(said, sentence(str(done.get("says") or "Done.")))
    except Refused as why:
        log.warning("a reply was refused", why=why.code, user=said.user, chat=said.chat, update=said.update)
        words = answered(said, refusal(why), idle=is_idle(why))
    ctx.cards.refresh(space, copy.ref)
    return (words,)


async def _meant(ctx: Context, said: Said) -> tuple[str, str, dict[str, int]]:
    """What a reply is, the token of the card that it is about, and its option; '' where that cannot be told."""
    prompt = await ctx.copies.prompted(said.chat, said.to)
    if prompt and prompt.get("kind") in (*PROMPTS, REPLY):
        option = prompt.get("option")
        return str(prompt["kind"]), str(prompt.get("token", "")), {"option": option} if type(option) is int else {}
    for data in said.to_data:
        try:
            return REPLY, read(data)[2], {}
        except ValueError:
            continue
    return "", "", {}
