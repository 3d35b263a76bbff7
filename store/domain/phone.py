"""What the store says, for somebody on a phone: no tools, arguments, headers or commands, and names as people use them.

for_people(text) -> str      says(refusal) -> str
"""

import re

from .errors import Refused

__all__ = ["for_people", "says"]

_QUOTE = re.compile(r'"(?:[^"\\]|\\.)*"')
_HELD = re.compile("\x00([0-9]+)\x00")
_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[A-Z\x00])")
_PROGRAMS = re.compile(
    r"\blogmem[ _]|\bX-[A-Z]|\bheaders?\b|\barguments?\b|\bAuthorization\b|\baction_id\b|\bmint\b|/k/|\{", re.IGNORECASE
)
_ROLE = re.compile(r"\brole:([a-z]+)")
_KIND = re.compile(r"\b(?:human|agent|system):(?=[a-z0-9])")

_VERBS = {"is": "are", "has": "have", "answers": "answer", "unpairs": "unpair"}  # said of somebody, and of you

NOT_NOW = "That cannot be done now."
_STRANGER = (
    "This Telegram account is paired with nobody. Get a code in the console, or from an owner, and send it here as "
    "/start CODE."
)


def for_people(text: str, *, me: str = "") -> str:
    """The text without what only a program can use. What stands in quotes stays as it is.

    `me` is whoever is told it, '' for anybody: that is "you" then.
    """
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\x00{len(held) - 1}\x00"

    plain = _QUOTE.sub(hold, text.replace("\x00", ""))
    kept = [part for part in _SENTENCES.split(plain) if not _PROGRAMS.search(part)]
    named = _KIND.sub("", _ROLE.sub(r"every \1", _to_you(" ".join(kept), me)))
    return _HELD.sub(lambda found: held[int(found[1])], named)


def _to_you(text: str, me: str) -> str:
    """The text with "you" in place of this name, and the word after it as it is said then."""
    if not me or me not in text:
        return text
    name = re.compile(rf"(\b[Yy]ou are )?\b{re.escape(me)}(?![a-z0-9_-]|\.[a-z0-9])(?: ({'|'.join(_VERBS)})\b)?")

    def you(found: re.Match[str]) -> str:
        if found[1]:  # it says who you are
            return found[0]
        begins = not text[: found.start()].strip() or text[: found.start()].rstrip().endswith((".", "?", "!"))
        return ("You" if begins else "you") + (f" {_VERBS[found[2]]}" if found[2] else "")

    return name.sub(you, text)


def says(no: Refused, *, me: str = "") -> str:
    """Why something was not done, and what helps; `me` as in `for_people`."""
    if no.code == "unauthenticated" and "tries_left" not in no.facts:
        return _STRANGER
    if no.code == "scope_undeclared":
        spaces = no.facts.get("spaces")
        return _which([str(space) for space in spaces] if isinstance(spaces, list) else [])
    return for_people(no.message, me=me) or NOT_NOW


def _which(spaces: list[str]) -> str:
    if not spaces:
        return "You may enter no space now, so nothing was done. An owner can give you a role."
    return f"Nothing was done. Say for which space: {', '.join(spaces)}."
