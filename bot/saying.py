"""What a person is told in answer to what they did: the store's own sentences, for somebody on a phone. Pure."""

import re

from store.domain.errors import Refused
from store.domain.moments import moment

from .cards import message
from .incoming import Press, Said
from .text import Text, clipped, utc
from .words import Reply, Toast

__all__ = [
    "LIMIT",
    "NOWHERE",
    "NO_BUTTON",
    "STRANGER",
    "answered",
    "is_idle",
    "refusal",
    "sentence",
    "toast",
    "told",
]

LIMIT = 3500  # UTF-16 units of a message that lists things
NO_BUTTON = "This button is not in use any more. Nothing changed. See /pending."
STRANGER = (
    "This Telegram account is paired with nobody. Get a code in the console, or from an owner, and send it here as "
    "/start CODE."
)
NOWHERE = "This account is paired, but may enter no space now. An owner of a space can let you in."
TOLD = ("unauthenticated", "rate_limited", "not_yours")  # refusals of whoever it is, not of what they want

_QUOTE = re.compile(r'("(?:[^"\\]|\\.)*")')
_HELD = re.compile("\0([0-9]+)\0")
_SENTENCES = re.compile(r"(?<=[.?])\s+(?=[A-Z])")
_PROGRAM = re.compile(r"logmem_|X-LogMem-|\bargument\b|\bheader\b")  # what only a program can act on
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_KIND = re.compile(r"\b(?:human|agent|system):(?=[a-z0-9])")
_ROLE = re.compile(r"\brole:(owner|approver|member)\b")


def sentence(text: str) -> str:
    """What the store says, without the calls that only a program can make, and with times and names as people say them.

    What it quotes stays as it is.
    """
    quotes = _QUOTE.findall(text)
    numbers = iter(range(len(quotes)))
    bones = _QUOTE.sub(lambda _: f"\0{next(numbers)}\0", text.replace("\0", ""))
    kept = " ".join(part for part in _SENTENCES.split(bones) if not _PROGRAM.search(part))
    kept = _ROLE.sub(r"\1s", _KIND.sub("", kept))
    kept = _TIME.sub(lambda found: utc(moment(found[0], now=0)), kept)
    return _HELD.sub(lambda found: quotes[int(found[1])], kept)


def refusal(no: Refused) -> str:
    """Why something was not done: in the words that it has for people, where it has any."""
    says = no.facts.get("says")
    if isinstance(says, str) and says:
        return sentence(says)
    if no.code == "unauthenticated" and "tries_left" not in no.facts:
        return STRANGER
    if no.code == "scope_undeclared" and not no.facts.get("spaces"):
        return NOWHERE
    return sentence(no.message) or "That is not possible here. Nothing changed."


def is_idle(no: Refused) -> bool:
    """Whether a refusal says only what anybody is told who is nobody here, or tries too often."""
    return no.code in TOLD and "tries_left" not in no.facts


def told(text: str) -> Text:
    """A sentence of the store's; what it quotes stands in `code`, where nothing in it acts."""
    whole = Text()
    for part in _QUOTE.split(clipped(text, LIMIT)):
        (whole.code if part.startswith('"') and part.endswith('"') else whole.add)(part)
    return whole


def answered(said: Said, text: Text | str, *, idle: bool = False) -> Reply:
    """The answer to a message, as a reply to it."""
    made = message(told(text) if isinstance(text, str) else text)
    return Reply(
        chat=said.chat, text=made.text, entities=made.entities, thread=said.thread, reply_to=said.message, idle=idle
    )


def toast(press: Press, text: str, *, alert: bool = False) -> Toast:
    """The answer to a press."""
    return Toast(query=press.query, chat=press.chat, message=press.message, text=text, alert=alert)
