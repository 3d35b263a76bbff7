"""What the set-up asks of Telegram itself: whose a token is. The token is in no message."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .fault import REFUSED, UNREACHABLE, USAGE, Fault, cause

if TYPE_CHECKING:
    from store.settings import Settings

ANSWER = 15.0  # seconds
LIKE = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,100}")
WRONG = (401, 404)  # statuses for a token that is none: 404 for one of another shape


class NoBot(Fault):
    """A token that is no bot's."""


@dataclass(frozen=True, slots=True)
class Known:
    """A bot as Telegram knows it."""

    id: int
    username: str
    name: str


async def whose(settings: "Settings", token: str) -> Known:
    """The bot of a token. NoBot: it is none, with what to do. Fault: Telegram cannot be reached."""
    import httpx

    from .server import Access

    if not LIKE.fullmatch(token):
        raise NoBot(
            "That is not a bot's token: one looks like 123456789:AAE… and has no blanks. Nothing was changed.",
            code=USAGE,
        )
    url = settings.telegram_api_url
    try:
        async with httpx.AsyncClient(**Access(url, {}, {}).client(answer=ANSWER)) as client:
            answer = await client.get(f"{url}/bot{token}/getMe")
    except httpx.HTTPError as why:  # its own words may hold the address, and so the token
        raise Fault(
            f"{url} cannot be reached ({cause(why)}), so the token could not be checked. Nothing was changed.",
            code=UNREACHABLE,
        ) from None
    if answer.status_code in WRONG:
        raise NoBot("Telegram knows no bot with this token. Nothing was changed. Copy it again from @BotFather.")
    return _read(url, answer)


def _read(url: str, answer: Any) -> Known:
    """Fault: it is not how Telegram answers."""
    try:
        said = answer.json()["result"]
        if answer.status_code != 200 or not said["is_bot"]:
            raise ValueError
        return Known(int(said["id"]), str(said["username"]), str(said["first_name"]))
    except (ValueError, KeyError, TypeError):
        raise Fault(
            f"{url} answered {answer.status_code}, and not as Telegram does. Nothing was changed. "
            "See LOGMEM_TELEGRAM_API_URL.",
            code=REFUSED,
        ) from None
