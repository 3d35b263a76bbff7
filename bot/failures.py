"""What a call of the Bot API can come to, other than well: told apart by the answer itself, never by a library's guess.

failure(status, body, method=…) -> Failure     for an answer that is not `ok`; body None where it was not JSON
unanswered(sent, why, method=…) -> Failure     for a call without an answer

They are errors of python-telegram-bot, so that it hands them on untouched. None holds an address, a text or a token.
"""

from collections.abc import Mapping
from typing import Any

from telegram.error import TelegramError

from store.telemetry import masked

__all__ = [
    "Bad",
    "Blocked",
    "Down",
    "Failure",
    "Flood",
    "Gone",
    "Migrated",
    "Same",
    "Uncertain",
    "failure",
    "unanswered",
]

SAID = 500  # characters of a description
FLOOD = 5.0  # seconds to wait where a 429 does not say


class Failure(TelegramError):
    """`status` of HTTP (0 for no answer), `method` of the Bot API, `said` its description."""

    def __init__(self, said: str, *, method: str = "", status: int = 0) -> None:
        said = masked(said)[:SAID]  # a server between us may echo an address, in which the token stands
        super().__init__(f"{method} {status}: {said}" if method else said)
        self.said, self.method, self.status = said, method, status

    def __reduce__(self) -> tuple[Any, ...]:
        """As every exception's: python-telegram-bot's own keeps the message only."""
        return type(self), (self.said,), self.__dict__


class Blocked(Failure):
    """Nothing arrives there: blocked, left, deactivated, or a chat that has never been begun."""


class Gone(Failure):
    """The message, the topic or the press is not there any more."""


class Same(Failure):
    """The message is so already."""


class Bad(Failure):
    """Our own fault: the same call fails again."""


class Uncertain(Failure):
    """It may have taken effect."""


class Down(Failure):
    """It did not take effect; later it may. `crowded`: no connection was free to send it on."""

    crowded = False


class Flood(Failure):
    """Too many calls: none for so many `seconds`."""

    seconds = FLOOD


class Migrated(Failure):
    """The group has become the supergroup `new`."""

    new = 0


# By what the description holds, in lower case; the first that fits. Telegram spells some of them in several ways.
_SAID: tuple[tuple[str, type[Failure]], ...] = (
    ("message is not modified", Same),
    ("chat not found", Blocked),
    ("peer_id_invalid", Blocked),
    ("user is deactivated", Blocked),
    ("chat_write_forbidden", Blocked),
    ("not enough rights", Blocked),
    ("have no rights", Blocked),
    ("message to edit not found", Gone),
    ("message to be replied not found", Gone),
    ("message can't be edited", Gone),
    ("message_id_invalid", Gone),
    ("message thread not found", Gone),
    ("topic_closed", Gone),
    ("query is too old", Gone),
    ("query_id_invalid", Gone),
)
_STATUS: dict[int, type[Failure]] = {401: Down, 403: Blocked, 404: Down, 408: Uncertain, 409: Down}


def failure(status: int, body: Mapping[str, Any] | None, *, method: str) -> Failure:
    """What an answer means that is not `ok`. A page of HTML says nothing of a chat: something between us made it."""
    if body is None:
        kind = Uncertain if status < 300 or status >= 500 else Down
        return kind("The answer is not JSON.", method=method, status=status)
    said, parameters = str(body.get("description") or "no description"), body.get("parameters") or {}
    code = body.get("error_code")
    how: dict[str, Any] = {"method": method, "status": code if isinstance(code, int) else status}
    if isinstance(parameters, Mapping) and (new := parameters.get("migrate_to_chat_id")):
        found: Failure = Migrated(said, **how)
        found.new = int(new)  # type: ignore[attr-defined] # it is a Migrated
        return found
    if how["status"] == 429:
        return flood(said, parameters, **how)
    return _kind(how["status"], said.lower())(said, **how)


def flood(said: str, parameters: object, **how: Any) -> Flood:
    """Too many requests, with how long to wait."""
    found = Flood(said, **how)
    seconds = parameters.get("retry_after") if isinstance(parameters, Mapping) else None
    found.seconds = float(seconds) if isinstance(seconds, int | float) else FLOOD
    return found


def unanswered(sent: bool, why: str, *, method: str, crowded: bool = False) -> Failure:
    """No answer came: `sent` if the call may have got there; `why` names what happened."""
    if sent:
        return Uncertain(why, method=method)
    found = Down(why, method=method)
    found.crowded = crowded
    return found


def _kind(status: int, said: str) -> type[Failure]:
    if 400 <= status < 500:
        for words, kind in _SAID:
            if words in said:
                return kind
        return _STATUS.get(status, Bad)
    return Uncertain
