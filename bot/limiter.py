"""How fast the bot may speak: Telegram's limits, kept on our side, so that no chat ever waits for another's flood.

A call that comes too early waits for its turn; whose that is among those that wait says bot.turns, with a chat as who
asks. A 429 pauses the one chat it was about. Calls without a chat, and answers to presses, never wait.

Who would say what stands claims a turn first and looks then, since things change while one waits.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from telegram.ext import BaseRateLimiter

from store.settings import Limits

from .failures import Flood
from .turns import REPLY, Place, Turns

__all__ = ["Limiter"]

COUNTED = ("sendMessage", "editMessageText", "editMessageReplyMarkup")
MARGIN = 0.02  # of a wait, since the network brings two calls closer together than they were sent
KEPT = 4096  # chats that are remembered, before those are forgotten that nothing holds back

Answer = bool | dict[str, Any] | list[dict[str, Any]]


@dataclass(slots=True)
class _Bucket:
    """`burst` calls at once, then `rate` a second; rate 0 for as many as one likes."""

    rate: float
    burst: float
    full: float = 0.0  # when it is empty of debts again
    paused: float = 0.0

    def ready(self) -> float:
        """When the next call may go."""
        if not self.rate:
            return self.paused
        return max(self.paused, self.full - max(0, self.burst - 1) * (1 + MARGIN) / self.rate)

    def take(self, now: float) -> None:
        if self.rate:
            self.full = max(self.full, now) + (1 + MARGIN) / self.rate

    def give_back(self, at: float) -> None:
        """Of what was taken at this time nothing was used."""
        if self.rate:
            self.full -= (1 + MARGIN) / self.rate


@dataclass(slots=True)
class _Window:
    """At most `count` calls in any `seconds`; count 0 for as many as one likes."""

    count: int
    seconds: float
    paused: float = 0.0
    taken: deque[float] = field(default_factory=deque)

    def ready(self) -> float:
        """When the next call may go."""
        if not self.count or len(self.taken) < self.count:
            return self.paused
        return max(self.paused, self.taken[-self.count] + self.seconds * (1 + MARGIN))

    def take(self, now: float) -> None:
        if self.count:
            self.taken.append(now)
            while len(self.taken) > self.count:
                self.taken.popleft()

    def give_back(self, at: float) -> None:
        """Of what was taken at this time nothing was used."""
        if at in self.taken:
            self.taken.remove(at)


@dataclass(slots=True)
class _Claim:
    """A turn that somebody has, for one call."""

    of: "Limiter"
    chat: int
    used: bool = False


_CLAIM: ContextVar[_Claim | None] = ContextVar("claim", default=None)


class Limiter(BaseRateLimiter[int]):
    """One for a bot; its time is the event loop's."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._all = _Window(int(limits.all), 1.0)
        self._chats: dict[int, _Bucket | _Window] = {}
        self._waiting: Turns[asyncio.Future[float], int] = Turns()  # each is told the time at which it goes
        self._alarm: asyncio.TimerHandle | None = None

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        """Nobody waits any more."""
        if self._alarm:
            self._alarm.cancel()
        while turn := self._waiting.next():
            turn.job.cancel()

    async def process_request(  # noqa: PLR0917 - as the library calls it
        self,
        callback: Callable[..., Coroutine[Any, Any, Answer]],
        args: Any,
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: int | None,
    ) -> Answer:
        """Make the call when its turn has come. A Flood pauses its chat, and is for the caller to deal with."""
        chat = data.get("chat_id")
        if endpoint not in COUNTED or not isinstance(chat, int):
            return await callback(*args, **kwargs)
        claim = _CLAIM.get()
        if claim and claim.of is self and claim.chat == chat and not claim.used:
            claim.used = True
        else:
            await self._turn(Place(REPLY if rate_limit_args is None else rate_limit_args, None, chat))
        try:
            return await callback(*args, **kwargs)
        except Flood as flood:
            self.pause(chat, flood.seconds)
            raise

    def pause(self, chat: int, seconds: float) -> None:
        """Let nothing go to this chat for so long."""
        bucket = self._chat(chat)
        bucket.paused = max(bucket.paused, self._now() + seconds)

    def wait(self, chat: int) -> float:
        """Seconds until something may go to this chat, as far as the chat itself goes."""
        return max(0.0, self._chat(chat).ready() - self._now())

    @asynccontextmanager
    async def claim(self, turn: Place[Any, int]) -> AsyncIterator[None]:
        """Entered when something may go to a chat (`by`): the next call of this task to it waits no more.

        While it waits it may be moved to another kind, and waits as that from then on.
        What is to be said is best found out in here. A turn in which nothing was said is given back.
        """
        at = await self._turn(turn)
        claim = _Claim(self, turn.by)
        before = _CLAIM.set(claim)
        try:
            yield
        finally:
            _CLAIM.reset(before)
            if not claim.used:
                for limit in (self._chat(turn.by), self._all):
                    limit.give_back(at)
                self._go()

    async def _turn(self, turn: Place[Any, int]) -> float:
        """Return when it is this call's turn, with the time at which that was so."""
        told: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        turn.job = told
        self._waiting.put(turn)
        self._go()
        try:
            return await told
        finally:
            self._waiting.drop(turn)

    def _go(self) -> None:
        """Let those go whose turn it is, and look again when the next one's is."""
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None
        now = self._now()
        while self._waiting and self._all.ready() <= now:
            turn = self._waiting.next(lambda chat: self._chat(chat).ready() <= now)
            if turn is None:
                break
            if not turn.job.done():
                self._chat(turn.by).take(now)
                self._all.take(now)
                self._waiting.took(turn)
                turn.job.set_result(now)
        if self._waiting:
            at = max(self._all.ready(), min(self._chat(chat).ready() for chat in self._waiting.who))
            self._alarm = asyncio.get_running_loop().call_later(max(0.0, at - now), self._go)

    def _chat(self, chat: int) -> _Bucket | _Window:
        found = self._chats.get(chat)
        if found is None:
            if len(self._chats) >= KEPT:
                self._forget()
            limits = self._limits
            found = _Bucket(limits.chat, limits.burst) if chat > 0 else _Window(int(limits.group), 60.0)
            self._chats[chat] = found
        return found

    def _forget(self) -> None:
        """Drop the chats that are as new: those to which nothing has gone for a minute."""
        old = self._now() - 60
        self._chats = {
            chat: bucket
            for chat, bucket in self._chats.items()
            if bucket.paused > old
            or (bucket.full if isinstance(bucket, _Bucket) else max(bucket.taken, default=0)) > old
        }

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
