"""The inbox and the speaker at work over the emulator, for tests; what is said is what `handle` gives."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from bot.client import Telegram as Client
from bot.clock import now
from bot.deck import Cards
from bot.door import Door
from bot.inbox import Inbox
from bot.message import Message
from bot.speaker import Speaker
from bot.words import Reply, Words
from store.engine.botstore import BotStore
from tests.telegram.together import eventually

Update = dict[str, Any]
CARD = Message(text="card", rows=(({"text": "Approve", "callback_data": "v1:approve:abcdefghijkl"},),))


@asynccontextmanager
async def reading(
    store: BotStore, client: Client, handle: Callable[[Update], Awaitable[Words | None]]
) -> AsyncIterator[None]:
    """The inbox at work, ended with the block as if the process had died."""

    async def given(update: Update) -> Words:
        return await handle(update) or ()

    door = Door("http://127.0.0.1:9", "no secret")
    cards = Cards(client, door, store.outbox, store.copies)
    speaker = Speaker(client, cards, store.copies, store.updates, door, clock=now)
    task = asyncio.create_task(Inbox(store.updates, speaker, given, clock=now).run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await door.close()


def message(number: int, chat: int, text: str = "") -> Update:
    """A message of a chat."""
    return {"update_id": number, "message": {"message_id": 1, "chat": {"id": chat, "type": "private"}, "text": text}}


def reply(chat: int, text: str, **how: Any) -> Words:
    """A message to a chat."""
    return (Reply(chat=chat, text=text, **how),)


async def empty_inbox(store: BotStore) -> None:
    """Return once nothing waits to be handled any more."""

    async def look() -> bool:
        return not await store.updates.backlog()

    await eventually(look)


async def all_said(store: BotStore) -> None:
    """Return once nothing waits to be handled or to be said any more."""

    async def look() -> bool:
        return not await store.updates.backlog() and not await store.updates.unsaid()

    await eventually(look)
