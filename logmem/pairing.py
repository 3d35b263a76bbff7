"""Pairing as it is seen from here: a code with a link and a picture, who has claimed it, and whether that is right."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import show
from .asking import unless_left, yes
from .qr import drawn

if TYPE_CHECKING:
    from .operate import Operator

LATER = "24h"  # for a code that is handed on; an owner confirms who used it
LOOK = 0.4  # seconds between two looks whether a code was claimed
SERVICE = "https://t.me"
CONFIRMS = {  # who says of a claim that it is true, by where its code was made
    "console": "{} in the console",
    "terminal": "who runs `human pair` there",
    "command": "an owner in the console, Keys & people, Telegram",
}


@dataclass(frozen=True, slots=True)
class Code:
    """A code for one person; `claim` is what it makes; `bot` is the bot's user name, '' where none has run here yet."""

    person: str
    code: str
    claim: str
    bot: str
    life: str  # in words
    expires: str

    @property
    def link(self) -> str:
        """The address that opens the bot with the code at hand, or ''."""
        return f"{SERVICE}/{self.bot}?start={self.code}" if self.bot else ""

    @property
    def facts(self) -> dict[str, str]:
        """For programs."""
        return {"code": self.code, "link": self.link, "message": self.line, "expires_at": self.expires}

    @property
    def line(self) -> str:
        """What to send to the bot where the link does not do it."""
        return f"/start {self.code}"


async def made(operator: "Operator", person: str, *, bot: str = "", waits: bool) -> Code:
    """A new code for a person; `waits`: somebody does so here, and confirms it. Refuses what `pairing` does."""
    found = await operator.do("pairing", person=person, life=None if waits else LATER)
    name = bot or found.get("bot", "")
    return Code(found["person"], found["code"], found["claim"], name, found["life"], found["expires_at"])


def tell(code: Code) -> None:
    """Link, picture and line of a code."""
    lines = drawn(code.link) if code.link and sys.stdout.isatty() else []
    for each in lines:
        sys.stdout.write(f"   {each}\n")
    sys.stdout.flush()
    if lines:
        show.line("")
    if code.link:
        show.styled("   Open it by hand:  ", (code.link, "cyan"))
    to = f"@{code.bot}" if code.bot else "the bot"
    show.styled(f"   Or send {to}:  ", (code.line, "bold"))


async def bot_is(operator: "Operator", bot: str = "") -> str:
    """'' where the bot (of this user name) is at work, else how it does."""
    from store.engine.botstore import STARTING, WELL, bot_state, standing

    state = await bot_state(operator.store.reader)
    how = standing(state, now=await operator.store.shared.clock())
    if how == WELL:
        return "" if bot in ("", state.get("username")) else STARTING
    return how


async def waiting(operator: "Operator", space: str) -> list[dict[str, Any]]:
    """Who has used a code of this space's and waits for a yes, and whose word that is."""
    found = await operator.store.shared.accounts.claims(f"space:{space}")
    return [
        {
            "person": each.person,
            "account": each.account,
            "name": each.name,
            "username": each.username,
            "confirmed_by": CONFIRMS[each.source].format(each.person),
        }
        for each in found
    ]


def tell_waiting(claims: Sequence[dict[str, Any]]) -> None:
    """A line for each of them."""
    for each in claims:
        show.prose(
            f"{each['person']} waits to be paired, with {described(each)}: for {each['confirmed_by']} to confirm.",
            style="yellow",
        )


async def claimed(operator: "Operator", code: Code) -> dict[str, Any] | None:
    """Who has claimed this code, and no other one, and waits for a yes; None where nobody does."""
    found = await operator.do("claims")
    return next((each for each in found["claims"] if each["claim"] == code.claim), None)


async def waited(operator: "Operator", code: Code) -> dict[str, Any] | None:
    """Wait until somebody claims the code; None where whoever sits here pressed Enter, or its time is over."""
    return await unless_left(_come(operator, code))


async def _come(operator: "Operator", code: Code) -> dict[str, Any] | None:
    from datetime import UTC, datetime

    end = datetime.fromisoformat(code.expires)
    while True:
        claim = await claimed(operator, code)
        if claim or datetime.now(UTC) > end:
            return claim
        await asyncio.sleep(LOOK)


def described(claim: dict[str, Any]) -> str:
    """Whose account it is, as Telegram says: the name is its owner's own choice, the number is not."""
    from store.domain.text import one_line

    name = f"{one_line(claim['name'], 80)} " if claim.get("name") else ""
    handle = f"(@{claim['username']})" if claim.get("username") else ""
    return f"{f'{name}{handle}'.strip() or 'an account'}, id {claim['account']}"


async def confirmed(operator: "Operator", claim: dict[str, Any], *, whom: str) -> bool:
    """Ask whether it is the right account, and say so to the store."""
    right = await yes(f"   Is this {whom}: {described(claim)}?")
    await operator.do("confirm", claim=claim["claim"], yes=right)
    return right
