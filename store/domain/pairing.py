"""Pairing: how a Telegram account becomes a person's. A code, who may use it, and who says that it was them."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from .errors import Refused
from .moments import DAY, HOUR, MINUTE

Source = Literal["console", "terminal", "command"]

CODE_BITS = 50
LIFE = {"console": 10 * MINUTE, "terminal": 10 * MINUTE, "command": DAY}  # of a code, by where it was made
CLAIM_LIFE = 10 * MINUTE  # in which whoever made the code says that it was them
TRIES = 5  # wrong codes from one account
LOCK = HOUR  # then

# Accounts that are nobody's: Telegram's own, the anonymous administrators of groups, and channels.
NOBODY = frozenset({777000, 1087968824, 136817688})
GROUPS = ("group", "supergroup")

_SIGNS = "0123456789abcdefghjkmnpqrstvwxyz"
_ALIKE = str.maketrans("oil", "011", "-_ ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """That an account used a person's code; nothing is paired before it is confirmed. `space` is where that was made.

    `update` is the message that it came by: told again, it is the same claim.
    """

    id: str
    person: str
    source: Source
    space: str
    account: int
    name: str
    username: str
    update: int
    expires: int  # ms by the store's own clock
    state: Literal["waiting", "paired", "refused"] = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sent a code, as Telegram says: the message (`update`), the account, its chat, and how it came."""

    update: int
    user: int
    chat: int
    chat_type: str = "private"
    name: str = ""
    username: str = ""
    forwarded: bool = False
    via_bot: bool = False
    is_bot: bool = False


def new_code(bits: bytes) -> str:
    """A code from random bytes (CODE_BITS of them count): ten signs of which no two look alike, in two halves."""
    number = int.from_bytes(bits)
    code = "".join(_SIGNS[number >> 5 * n & 31] for n in range(CODE_BITS // 5))
    return f"{code[:5]}-{code[5:]}"


def plain(code: str) -> str:
    """A code as it was typed, without what makes no difference."""
    return code.strip().lower().translate(_ALIKE)


def claim_id(code: str) -> str:
    """The id of the one claim that a code makes; it tells no code."""
    return hashlib.sha256(f"claim:{plain(code)}".encode(errors="surrogatepass")).hexdigest()[:24]


def is_nobody(user: int) -> bool:
    """Whether an account is no person's: Telegram's own, an anonymous administrator's, a channel's, or none at all."""
    return user <= 0 or user in NOBODY


def is_own_chat(*, user: int, chat: int, chat_type: str) -> bool:
    """Whether a person speaks in their own chat with the bot, whose number is theirs."""
    return chat_type == "private" and chat == user and not is_nobody(user)


def is_in_group(*, user: int, chat: int, chat_type: str) -> bool:
    """Whether a person speaks in a group under their own name."""
    return chat_type in GROUPS and chat < 0 and not is_nobody(user)


def check_private(*, user: int, chat: int, chat_type: str) -> None:
    """Let a person act in their own chat with the bot. Refuses not_yours: in a group, as a channel or as nobody."""
    if not is_own_chat(user=user, chat=chat, chat_type=chat_type):
        raise Refused("not_yours", "That works only in your own chat with the bot. Nothing changed.")


def check_group(*, user: int, chat: int, chat_type: str) -> None:
    """Let somebody speak in a group who is a person there. Refuses not_yours."""
    if not is_in_group(user=user, chat=chat, chat_type=chat_type):
        raise Refused("not_yours", "Only a person under their own name can do that, in a group. Nothing changed.")


def check_sender(sender: Sender) -> None:
    """Let a code count that a person sent themselves, in their own chat. Refuses not_yours."""
    check_private(user=sender.user, chat=sender.chat, chat_type=sender.chat_type)
    ways = {"forwarded": sender.forwarded, "sent through another bot": sender.via_bot, "sent by a bot": sender.is_bot}
    how = next((way for way, true in ways.items() if true), "")
    if how:
        raise Refused(
            "not_yours",
            f"This code was {how}; it counts only from the person whom it is for. Nothing changed. "
            "Open the link yourself, or type /start and the code.",
        )


def locked() -> Refused:
    """The refusal for an account that tried too many wrong codes."""
    return Refused(
        "rate_limited",
        f"{TRIES} codes from this account were wrong, so it can try again in an hour. Nothing changed.",
        retry_after=LOCK // 1000,
    )


def check_confirms(claim: Claim, *, by: str, via: str, manages: bool, space: str) -> None:
    """Let somebody say that the claim is true, or not. Refuses not_yours.

    The person in their console; an owner for a code of the command; the operator for the code of their own terminal.
    """
    theirs = by == claim.person and via == "console"
    owner = claim.source == "command" and manages and via == "console" and space == claim.space
    operator = claim.source == "terminal" and by == "system:operator"
    if theirs or owner or operator:
        return
    who = {
        "console": f"{claim.person} in the console",
        "command": f"{claim.person} or an owner of {claim.space}, in the console",
        "terminal": "whoever made the code, at their terminal",
    }[claim.source]
    raise Refused("not_yours", f"This is for {who} to confirm; you are {by}. Nothing changed.")
