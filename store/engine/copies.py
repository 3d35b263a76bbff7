"""What the bot has sent: the copies of each card, whose button is whose, and what a reply to a message means.

The bot writes it, as lm-bot; whoever decides reads it as lm-read, and believes nothing that `check_press` has not
checked. What cannot be read is as if it were not there.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import TypeAdapter, ValidationError
from redis.asyncio import Redis

from ..domain.copy import TEXTS, TOKEN, Copy
from .exchange import exchange
from .keys import Keys, shared
from .lease import LeaseLost
from .reads import Command, Seen
from .script import Script, text_of

LIFE = 40 * 86_400_000  # ms after the last change of a copy, or of a prompt: longer than anything can stay open
CARD = text_of("card")
LONGEST = 16_384  # bytes of a record
KIND = re.compile(r"[a-z_]{1,20}")
OPTIONS = 100  # that a prompt may be about, at most
REF = TEXTS["ref"]
NEAR = re.compile(r"[a-z0-9][a-z0-9._-]{0,62} [a-z]{1,20}:[A-Za-z0-9._:-]{1,120}")  # a space and a ref

_COPY = TypeAdapter(Copy)
log = structlog.get_logger(__name__)


class Copies:
    """The records of all copies; `client` may be one of lm-read, for who only reads them.

    `epoch` is that of the term in which it is used, 0 outside of any; `bot` the number of the bot at Telegram, whose
    messages these are: another's have the same numbers.
    """

    def __init__(self, client: Redis, *, script: str = CARD, epoch: int = 0, bot: int = 0) -> None:
        self._client, self._epoch, self.bot = client, epoch, bot
        self._script = Script(script)

    def under(self, epoch: int, *, bot: int) -> "Copies":
        """The same, for a term of the bot with this number."""
        return Copies(self._client, script=self._script.text, epoch=epoch, bot=bot)

    async def of(self, space: str, ref: str) -> list[Copy]:
        """Every copy of a ref's card, oldest first."""
        (found,) = await exchange(self._client, [("HVALS", Keys(space).card(ref))])
        return _read_all(found, ref=ref)

    async def taken(self, space: str, ref: str) -> list[Copy]:
        """The same, for who is going to change them: from now on no earlier term writes here. LeaseLost."""
        return _read_all(await self._write(space, ref, ()), ref=ref)

    async def put(self, space: str, *copies: Copy) -> None:
        """Write copies of a card as they are now, and whose their buttons are. LeaseLost: nothing was written."""
        for ref in dict.fromkeys(copy.ref for copy in copies):
            await self._write(space, ref, [copy for copy in copies if copy.ref == ref])

    async def _write(self, space: str, ref: str, copies: Sequence[Copy]) -> Any:
        """In one round trip; a button whose copy is not written is nobody's."""
        keys = Keys(space)
        pairs = [x for copy in copies for x in (copy.token, copy.line())]
        names = [(shared("tg:button", copy.token), f"{space} {ref}") for copy in copies]
        names += [(_message(copy, copy.message), copy.token) for copy in copies if copy.message]
        argv = [self._epoch or "", LIFE, *pairs]
        then = [("SET", name, value, "PX", LIFE) for name, value in names]
        found = await self._script(self._client, [keys.term, keys.card(ref)], argv, then=then)
        if found == -1:
            raise LeaseLost(f"a later term of the bot works in {space}")
        return found

    async def by_token(self, token: str, *, near: str = "") -> tuple[str, Copy] | None:
        """The space and the copy that a button belongs to, whatever was sent as its token; None if there is none.

        `near` is where somebody thinks that is, as `space ref`: where they are right, it takes one round trip.
        """
        if not TOKEN.fullmatch(token):
            return None
        ask: list[Command] = [("GET", shared("tg:button", token))]
        if NEAR.fullmatch(near):
            there, _, its = near.partition(" ")
            ask.append(_line(there, its, token))
        found, *lines = await exchange(self._client, ask)
        place = (found or b"").decode(errors="replace")
        if not NEAR.fullmatch(place):
            return None
        space, _, ref = place.partition(" ")
        (line,) = lines if lines and place == near else await exchange(self._client, [_line(space, ref, token)])
        copy = _read(line, ref=ref) if line else None
        return (space, copy) if copy and copy.token == token else None

    async def holder(self, copy: Copy, message: int) -> str:
        """The token of the copy that a message in this copy's chat is known to be; '' where it is none."""
        (found,) = await exchange(self._client, [("GET", _message(copy, message))])
        token = (found or b"").decode(errors="replace")
        return token if TOKEN.fullmatch(token) else ""

    async def prompt(self, chat: int, message: int, meaning: dict[str, Any]) -> None:
        """Keep what a reply to this message is to mean, for as long as what it is about can be open."""
        await exchange(self._client, [("SET", self._prompt(chat, message), json.dumps(meaning), "PX", LIFE)])

    async def prompted(self, chat: int, message: int) -> dict[str, Any] | None:
        """What a reply to this message means, or None."""
        (found,) = await exchange(self._client, [("GET", self._prompt(chat, message))])
        return _meaning(found) if found else None

    def _prompt(self, chat: int, message: int) -> str:
        return shared("tg:prompt", f"{self.bot}:{chat}:{message}")


def _message(copy: Copy, message: int) -> str:
    return shared("tg:message", f"{copy.bot}:{copy.chat}:{message}")


def _line(space: str, ref: str, token: str) -> Command:
    return ("HGET", Keys(space).card(ref), token)


def _read_all(lines: Sequence[bytes], *, ref: str) -> list[Copy]:
    copies = (_read(line, ref=ref) for line in lines)
    return sorted((c for c in copies if c), key=lambda copy: (copy.sent or LIFE**2, copy.token))


def _read(line: bytes, *, ref: str) -> Copy | None:
    """The copy, or None for what is none of this ref: the bot's records are not to be believed."""
    try:
        copy = _COPY.validate_json(line, strict=True) if len(line) <= LONGEST else None
    except ValidationError:
        copy = None
    if copy is None or not copy.sound:
        log.warning("copy_unreadable", ref=ref)
        return None
    return copy if copy.ref == ref else None


def _meaning(line: bytes) -> dict[str, Any] | None:
    """What was kept by `prompt`, or None for what is none: its kind, its card's token if it has one, an option."""
    try:
        found = json.loads(line) if len(line) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        kind, token, option = found.get("kind"), found.get("token", ""), found.get("option", 0)
        if (
            isinstance(kind, str) and KIND.fullmatch(kind)
            and isinstance(token, str) and (not token or TOKEN.fullmatch(token))
            and type(option) is int and 0 <= option < OPTIONS
        ):  # fmt: skip
            return {name: found[name] for name in ("kind", "token", "option") if name in found}
    log.warning("prompt_unreadable")
    return None


@dataclass(frozen=True, slots=True)
class Changing:
    """The refs of which the bot has cards that can still change, up to `count`, for those who read more with it.

    Those that wait for longest come first: among them are all that somebody cannot be shown now.
    """

    count: int

    def commands(self, keys: Keys) -> list[Command]:
        return [("ZRANGE", keys.open_cards, 0, self.count - 1, "REV")]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[list[str], dict[str, Seen]]:
        return [ref for raw in got[0] if REF.fullmatch(ref := raw.decode(errors="replace"))], {}


@dataclass(frozen=True, slots=True)
class Sent:
    """Every copy of a ref's card, for those who read more with it."""

    ref: str

    def commands(self, keys: Keys) -> list[Command]:
        return [("HVALS", keys.card(self.ref))]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[list[Copy], dict[str, Seen]]:
        return [copy for line in got[0] if (copy := _read(line, ref=self.ref))], {}
