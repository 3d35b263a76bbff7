"""People on Telegram: their accounts, the cards that the bot sent them, and its door, to which it brings it all."""

import itertools
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from store.domain.copy import Copy
from store.domain.errors import STATUS, Refused
from store.engine.botstore import open_bot_store
from store.engine.client import Target
from tests.contract.test_gate import refused
from tests.surfaces.server import BOT_SECRET
from tests.world import Result, World

ANA, BO, CY = "human:ana", "human:bo", "human:cy"
ACCOUNTS = {ANA: 4_000_000_001, BO: 4_000_000_002, CY: 4_000_000_003}
UPDATES = itertools.count(700_000_000)
MESSAGES = itertools.count(10)


async def door(world: World, what: str, *, secret: str = BOT_SECRET, **body: Any) -> Result:
    """Ask at the bot's door; raises the refusal that comes back."""
    assert world.http, "this world has no server"
    head = {"authorization": f"Bearer {secret}"} if secret else {}
    reply = await world.http.post(f"/internal/telegram/{what}", json=body, headers=head)
    return said(reply)


def said(reply: httpx.Response) -> Result:
    """The result of an answer, or the refusal raised."""
    found: Result = reply.json()
    if reply.status_code == 200:
        return found
    error = found["error"]
    assert reply.status_code == STATUS[error["code"]], found
    raise Refused(error.pop("code"), error.pop("message"), **error)


def private(who: str, **more: Any) -> Result:
    """What an update of somebody's own chat says of itself."""
    user = ACCOUNTS[who]
    return {"update": next(UPDATES), "user": user, "chat": user, "chat_type": "private", **more}


def starting(who: str, code: str, **more: Any) -> Result:
    """What the bot brings when somebody sends `/start CODE`."""
    names = {"name": who.partition(":")[2].title(), "username": ""}
    return private(who, **names, code=code, forwarded=False, via_bot=False, is_bot=False) | more


async def pair(world: World, who: str) -> Result:
    """Pair somebody's account with them, by a code from their console; gives what `confirm` says."""
    code = (await world.do(who, "pairing"))["code"]
    claim = await door(world, "pair", **starting(who, code))
    return await world.do(who, "confirm", claim=claim["claim"], yes=True)


@dataclass(frozen=True)
class Card:
    """A copy on somebody's phone."""

    world: World
    who: str
    copy: Copy

    async def tap(self, verb: str, **more: Any) -> Result:
        """Press a button of it."""
        return await door(self.world, "tap", **self.pressing(verb, **more))

    def pressing(self, verb: str, **more: Any) -> Result:
        """What the bot brings when it is pressed."""
        button = {"message": self.copy.message, "verb": verb, "token": self.copy.token, "name": ""}
        return private(self.who, **button) | more

    async def now(self, **fields: Any) -> "Card":
        """The same card with a copy that stands otherwise."""
        return await sent(self.world, self.copy.ref, self.who, **vars_of(self.copy) | fields)


def vars_of(copy: Copy) -> dict[str, Any]:
    """The fields of a copy but those that say whose it is."""
    return {name: getattr(copy, name) for name in ("token", "message", "digest", "pages", "seen", "state", "chat")}


async def sent(world: World, ref: str, who: str, **fields: Any) -> Card:
    """A copy as the bot notes it, once it was sent; of an ask with its digest, shown whole."""
    usual: Mapping[str, Any] = {
        "token": secrets.token_hex(6), "chat": ACCOUNTS[who], "message": next(MESSAGES), "state": "sent", "seen": (0,),
        "sent": 1,
    }  # fmt: skip
    copy = replace(Copy(token="", ref=ref, to=who, chat=0), **{**usual, **fields})
    store = open_bot_store(Target.embedded(world.engine))
    try:
        await store.copies.put(world.space, copy)
    finally:
        await store.close()
    return Card(world, who, copy)


async def carded(world: World, ask: Result, who: str, **fields: Any) -> Card:
    """The card of an ask on somebody's phone."""
    return await sent(world, f"ask:{ask['trail']}", who, digest=ask["digest"], **fields)


async def card(world: World, ref: str, *holding: str) -> Result:
    """What the door says of a card now."""
    return await door(world, "card", space=world.space, ref=ref, holding=list(holding))


async def marked(world: World) -> set[str]:
    """The refs that the bot is to look at; none of them is marked any more."""
    store = open_bot_store(Target.embedded(world.engine))
    try:
        found = await store.outbox.dirty(world.space, count=10_000)
        for ref, mark in found:
            await store.outbox.settled(world.space, ref, mark)
    finally:
        await store.close()
    return {ref for ref, _ in found}


async def unchanged(world: World, code: str, call: Any) -> Refused:
    """The refusal of a call that has to be refused with this code, and leaves every key as it was."""
    before = await world.dump()
    no = await refused(code, call)
    after = await world.dump()
    assert [name for name in {*before, *after} if before.get(name) != after.get(name)] == []
    return no


def one(view: Result, who: str) -> Result:
    """Somebody's part of a card."""
    return next(each for each in view["to"] if each["who"] == who)
