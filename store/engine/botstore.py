"""The store as the bot may reach it: its inbox, its outbox, its copies and its leases, as lm-bot.

    store = open_bot_store(target)
    store.updates, store.outbox, store.copies
    store.lease("poller", owner=token, life=30_000) -> Lease
    await store.say(username="…", polled=ms)      what `bot_state` gives to the API and to `up`
    await store.live()                            a sign of life, each BEAT seconds; `standing` reads it
    await store.close()

A name that is no user's of the store (an older ACL file) is refused when it connects, with redis.AuthenticationError.
"""

import re
from collections.abc import Mapping

from redis.asyncio import Redis

from .client import Target, open_client, open_tail
from .copies import Copies
from .exchange import exchange
from .keys import of_bot
from .lease import Lease
from .outbox import Outbox
from .updates import Updates

USER = "lm-bot"
POLLER = "poller"  # the lease of whoever asks Telegram for updates
BEAT = 3  # seconds between two signs of life of a bot that works
LOST = 3 * BEAT * 1000  # ms after the last one, when it is said to run no more
WELL = "polling"  # what is noted while it hears Telegram, by polls or by a webhook
STARTING, STOPPED = "starting", "not running"
WHY_LENGTH = 500  # characters of what is wrong
_NUMBER = re.compile(r"[0-9]{1,15}")
FORMS = {  # what the bot may say of itself: of another form it is as if it had not said it
    "username": re.compile(r"[A-Za-z][A-Za-z0-9_]{3,31}"),
    "id": _NUMBER,
    "state": re.compile("|".join((WELL, STARTING, STOPPED, "unauthorized", "conflict", "away", "webhook"))),
    "why": re.compile(rf"(?s).{{0,{WHY_LENGTH}}}"),
    "at": _NUMBER,
    "alive": _NUMBER,
    "polled": _NUMBER,
    "offering": re.compile("[01]"),
}


class BotStore:
    """All that the bot has, connected when first used."""

    def __init__(self, client: Redis, tail: Redis) -> None:
        self._client, self._tail = client, tail
        self.updates = Updates(client, tail, lease=_lease(POLLER))
        self.outbox = Outbox(client, tail)
        self.copies = Copies(client)

    def lease(self, name: str = POLLER, *, owner: str, life: int) -> Lease:
        """The lease of this name; `owner` is unlike any other process's, `life` in ms."""
        return Lease(self._client, _lease(name), owner=owner, life=life)

    async def say(self, **fields: str | int) -> None:
        """Note about the bot itself, what of it has its form: what it is called, how it does."""
        said = {name: str(value) for name, value in fields.items()}
        pairs = [x for name in said if FORMS[name].fullmatch(said[name]) for x in (name, said[name])]
        if pairs:
            await exchange(self._client, [("HSET", of_bot("state"), *pairs)])

    async def live(self) -> None:
        """Note that the bot runs, at the store's own time."""
        await self.say(alive=await self.clock())

    async def state(self) -> dict[str, str]:
        """What was last noted."""
        return await bot_state(self._client)

    async def clock(self) -> int:
        """The store's own time in ms."""
        ((seconds, micros),) = await exchange(self._client, [("TIME",)])
        return int(seconds) * 1000 + int(micros) // 1000

    async def close(self) -> None:
        """Close both clients."""
        await self._client.aclose()
        await self._tail.aclose()


def open_bot_store(target: Target) -> BotStore:
    """The bot's part of the store behind `target`."""
    return BotStore(open_client(target, user=USER), open_tail(target, user=USER))


async def bot_state(client: Redis) -> dict[str, str]:
    """What the bot says of itself, empty if there never was one; `client` may be one of lm-read.

    Each field is of its form or not there: numbers are whole, `why` is of any signs, so it is shown in quotes only.
    """
    (found,) = await exchange(client, [("HMGET", of_bot("state"), *FORMS)])
    said = {name: value.decode(errors="replace") for name, value in zip(FORMS, found, strict=True) if value is not None}
    return {name: text for name, text in said.items() if FORMS[name].fullmatch(text)}


def standing(state: Mapping[str, str], *, now: int) -> str:
    """How the bot does: WELL, STARTING, STOPPED, or what is wrong. `now` is the store's own time in ms.

    What was noted counts while there are signs of life: a bot that was killed says nothing of it. One that is to come
    is none.
    """
    lives = abs(now - int(state.get("alive") or 0)) < LOST
    return state.get("state") or STARTING if lives else STOPPED


def _lease(name: str) -> str:
    return of_bot(f"lease:{name}")
