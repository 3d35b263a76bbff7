"""What can be set: Telegram's own limits, raised or switched off (0) where a test's load asks for it."""

import math
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

from tests.telegram.emulator.errors import BotError


@dataclass(frozen=True, slots=True)
class Limits:
    """Floods count messages sent and edited, in the emulator's time; windows are seconds."""

    per_second: float = 30
    """In all chats together."""
    per_chat: float = 1
    """A second, in one private chat."""
    chat_burst: int = 3
    """How many at once in one chat before `per_chat` counts: Telegram lets short bursts pass."""
    group_per_minute: float = 20
    callback_window: float = 15
    """How long a press can be answered."""
    press_kept: float = 150
    """How long a press waits for a bot that is away."""
    update_kept: float = 86_400
    delete_window: float = 172_800
    text_units: int = 4096
    raw_text_bytes: int = 32_768
    entities: int = 100
    toast_units: int = 200
    markup_buttons: int = 100
    markup_bytes: int = 10_000
    privacy: bool = True
    """In groups the bot sees only commands, replies to it and service messages, unless it is an administrator."""
    webhook_retry: float = 1
    """The first pause after a webhook failed; doubled each time, up to 60 times it."""


@dataclass(slots=True)
class _Bucket:
    rate: float
    size: float
    left: float
    at: float

    def fill(self, now: float) -> None:
        self.left = min(self.size, self.left + max(0.0, now - self.at) * self.rate)
        self.at = now


@dataclass(slots=True)
class Floods:
    """Counts what the bot sends, and refuses what comes too fast."""

    limits: Limits
    _buckets: dict[Hashable, _Bucket] = field(default_factory=dict)
    _minutes: dict[int, deque[float]] = field(default_factory=dict)

    def pass_one(self, chat: int, *, group: bool, now: float) -> None:
        """Let one message through; a BotError 429 with the seconds to wait otherwise, which costs nothing."""
        buckets = []
        if self.limits.per_second:
            buckets.append(self._bucket("all", self.limits.per_second, self.limits.per_second, now))
        if self.limits.per_chat and not group:
            buckets.append(self._bucket(chat, self.limits.per_chat, max(1, self.limits.chat_burst), now))
        waits = [(1 - bucket.left) / bucket.rate for bucket in buckets if bucket.left < 1]
        minute = self._minutes.setdefault(chat, deque()) if group and self.limits.group_per_minute else deque[float]()
        while minute and minute[0] <= now - 60:
            minute.popleft()
        if group and self.limits.group_per_minute and len(minute) >= self.limits.group_per_minute:
            waits.append(minute[0] + 60 - now)
        if waits:
            seconds = max(1, math.ceil(max(waits)))
            raise BotError(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
        for bucket in buckets:
            bucket.left -= 1
        minute.append(now)

    def _bucket(self, key: Hashable, rate: float, size: float, now: float) -> _Bucket:
        bucket = self._buckets.get(key)
        if bucket is None or (bucket.rate, bucket.size) != (rate, size):
            bucket = self._buckets[key] = _Bucket(rate, size, size, now)
        bucket.fill(now)
        return bucket
