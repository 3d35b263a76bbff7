"""How fast the bot may speak: Telegram's limits, kept on our side, so that no chat ever waits for another's flood.

A call that comes too early waits for its turn; of those that wait, asks go first. A 429 pauses the one chat it was
about. Calls without a chat, and answers to presses, never wait.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from telegram.ext import BaseRateLimiter

from store.settings import Limits

from .failures import Flood

__all__ = ["ASK", "NOTICE", "REMINDER", "REPLY", "Limiter"]

ASK, REPLY, NOTICE, REMINDER = 0, 1, 2, 3  # whose turn comes first
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


@dataclass(order=True, slots=True)
class _Turn:
    kind: int
    number: int
    chat: int = field(compare=False)
    come: "asyncio.Future[None]" = field(compare=False)


class Limiter(BaseRateLimiter[int]):
    """One for a bot; its time is the event loop's."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._all = _Window(int(limits.all), 1.0)
        self._chats: dict[int, _Bucket | _Window] = {}
        self._waiting: list[_Turn] = []
        self._numbers = 0
        self._alarm: asyncio.TimerHandle | None = None

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        """Nobody waits any more."""
        if self._alarm:
            self._alarm.cancel()
        for turn in self._waiting:
            turn.come.cancel()
        self._waiting.clear()

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
        await self._turn(chat, REPLY if rate_limit_args is None else rate_limit_args)
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

    async def free(self, chat: int) -> None:
        """Return when something may go to this chat; what is to be said is best found out then."""
        while (seconds := self.wait(chat)) > 0:  # noqa: ASYNC110 - it is time alone that is waited for
            await asyncio.sleep(seconds)

    async def _turn(self, chat: int, kind: int) -> None:
        self._numbers += 1
        turn = _Turn(kind, self._numbers, chat, asyncio.get_running_loop().create_future())
        heapq.heappush(self._waiting, turn)
        self._go()
        try:
            await turn.come
        finally:
            if not turn.come.done() or turn.come.cancelled():
                self._waiting = [each for each in self._waiting if each is not turn]
                heapq.heapify(self._waiting)

    def _go(self) -> None:
        """Let those go whose turn it is, and look again when the next one's is."""
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None
        now, later, at = self._now(), [], float("inf")
        while self._waiting:
            if (ready := self._all.ready()) > now:
                at = min(at, ready)
                break
            turn = heapq.heappop(self._waiting)
            if turn.come.done():
                continue
            chat = self._chat(turn.chat)
            if (ready := chat.ready()) > now:
                later.append(turn)
                at = min(at, ready)
                continue
            chat.take(now)
            self._all.take(now)
            turn.come.set_result(None)
        for turn in later:
            heapq.heappush(self._waiting, turn)
        if self._waiting:
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
