"""The API's door for the bot: what stands, what is to be shown to whom, and who decides.

A call ends in one of three ways: the answer; `Refused`, which is for the person who caused it; or `Away`, when nothing
is known of what became of it. Then it is made again: what comes from an update carries the update's number, and the
door does it once. Only what carries the door's own sign is its word: a proxy, another server at this address or an API
without a door answers too, and must not count as a decision.
"""

import json
from collections.abc import Sequence
from typing import Any

from store.domain.errors import STATUS, Refused

from . import connections
from .connections import Connections, Unanswered

__all__ = ["FAILED", "SIGN", "Away", "Door"]

SIGN = "X-LogMem-Door"  # header of all that the door answers
PATIENCE = 15.0  # seconds for an answer
CONNECTIONS = 24
FAILED = "failed"  # why somebody is not reached: Telegram would not have this card

Answer = dict[str, Any]


class Away(Exception):
    """The API is not there, or does not know us; whether anything was done is not known.

    `fails`: it is there and fails at this call, or never ends it, so others may go well.
    """

    def __init__(self, why: str, *, fails: bool = False) -> None:
        super().__init__(why)
        self.fails = fails


class Door:
    """The door of the API at `url`; `secret` is what the bot is known by there, `bot` its number at Telegram."""

    def __init__(self, url: str, secret: str, *, bot: int = 0, patience: float = PATIENCE) -> None:
        self._bot = {"bot": bot} if bot else {}  # whose updates these are: another bot's have the same numbers
        self._at, self._patience = f"{url.rstrip('/')}/internal/telegram/", patience
        self._head = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        self._connections = Connections(
            url, size=CONNECTIONS, connecting=patience, waiting=2 * patience, environment=False
        )  # fmt: skip

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    async def card(self, *, space: str, ref: str, holding: Sequence[str] = ()) -> Answer:
        """How the card of a ref is to look now and for whom; `holding` are those who have a copy. Refuses not_found."""
        return await self._ask("card", space=space, ref=ref, holding=list(holding))

    async def tap(
        self, *, update: int, user: int, chat: int, chat_type: str, message: int, verb: str, token: str,
        name: str = "", text: str | None = None, option: int | None = None, near: str | None = None,
    ) -> Answer:  # fmt: skip
        """A press, or a reply that does what a press does: the verb's result, and what to say in `says`.

        `near` is where the card is, as `space ref`: a hint that saves the door a look.
        """
        return await self._ask(
            "tap", update=update, user=user, chat=chat, chat_type=chat_type, message=message, verb=verb, token=token,
            name=name, text=text, option=option, near=near,
        )  # fmt: skip

    async def verb(
        self, *, update: int, user: int, chat: int, chat_type: str, verb: str, args: Answer, space: str | None = None
    ) -> Answer:
        """One of the catalogue's verbs that a command stands for, in a space of this person."""
        return await self._ask(
            "verb", update=update, user=user, chat=chat, chat_type=chat_type, verb=verb, args=args, space=space
        )

    async def typed(self, *, update: int, user: int, chat: int, chat_type: str, code: str, verb: str) -> Answer:
        """`/approve CODE`, `/reject CODE`."""
        return await self._ask("typed", update=update, user=user, chat=chat, chat_type=chat_type, code=code, verb=verb)

    async def pair(
        self, *, update: int, user: int, name: str, username: str, chat: int, chat_type: str, code: str,
        forwarded: bool, via_bot: bool, is_bot: bool,
    ) -> Answer:  # fmt: skip
        """A code that came with /start: a claim, which is confirmed where the code came from."""
        return await self._ask(
            "pair", update=update, user=user, name=name, username=username, chat=chat, chat_type=chat_type, code=code,
            forwarded=forwarded, via_bot=via_bot, is_bot=is_bot,
        )  # fmt: skip

    async def claim(self, *, claim: str) -> Answer:
        """What became of a claim."""
        return await self._ask("claim", claim=claim)

    async def unreached(
        self, *, user: int, why: str, age: int = 0, space: str | None = None, ref: str | None = None
    ) -> Answer:
        """Nothing arrived at this account, `age` ms ago; with why FAILED, the card of this ref alone did not.

        `lost` in the answer: it is out of reach, as far as is known; not where it was heard since.
        """
        return await self._ask("unreached", user=user, why=why, age=age, space=space, ref=ref)

    async def reached(self, *, user: int, age: int = 0) -> Answer:
        """A message has reached this account, or it was heard, `age` ms ago."""
        return await self._ask("reached", user=user, age=age)

    async def group(
        self, *, update: int, user: int, chat: int, thread: int, chat_type: str, title: str,
        space: str | None = None, off: bool | None = None,
    ) -> Answer:  # fmt: skip
        """Notices of a space in a group or topic, on or off."""
        return await self._ask(
            "group", update=update, user=user, chat=chat, thread=thread, chat_type=chat_type, title=title,
            space=space, off=off,
        )  # fmt: skip

    async def migrated(self, *, old: int, new: int) -> Answer:
        """A group has become a supergroup, with another number."""
        return await self._ask("migrated", old=old, new=new)

    async def left(self, *, chat: int) -> Answer:
        """We were put out of a group, whoever did it: no notices go there any more."""
        return await self._ask("left", chat=chat)

    async def spaces(self) -> list[str]:
        """The spaces that have anybody on Telegram."""
        return list((await self._ask("spaces"))["spaces"])

    async def _ask(self, what: str, **body: Any) -> Answer:
        named = {**body, **(self._bot if "update" in body else {})}
        given = json.dumps({name: value for name, value in named.items() if value is not None}).encode()
        try:
            answer = await self._connections.post(
                self._at + what, given, patience=self._patience, headers=self._head
            )  # fmt: skip
        except Unanswered as none:
            raise Away(f"{what}: {none.why}", fails=none.late) from None
        try:
            said = json.loads(answer.body)
        except ValueError:
            raise Away(f"{what}: an answer that is not JSON") from None
        if SIGN not in answer.headers:
            raise Away(f"{what}: status {answer.status}, and not from the door")
        if answer.status == 200 and isinstance(said, dict):
            return said
        error = said.get("error") if isinstance(said, dict) else None
        if not _is_refusal(answer, error):
            raise Away(f"{what}: status {answer.status}", fails=answer.status == 500)
        facts = {**error}  # type: ignore[dict-item] # a refusal has a mapping here
        raise Refused(facts.pop("code"), facts.pop("message"), **facts)


def _is_refusal(answer: connections.Answer, error: object) -> bool:
    """Whether the API has decided; it has not where it is busy, away, or does not know who we are."""
    if not isinstance(error, dict) or error.get("code") not in STATUS or "message" not in error:
        return False
    stranger = error["code"] == "unauthenticated" and "credential" in error  # we, and not the person
    return 400 <= answer.status < 500 and not stranger
