"""Whether what callers were let in by still stands: asked for all who wait in a process at once, in one round trip.

Who waits is let in by a whole call, and anew whenever something was committed. Between two commits only time and what
no event tells can change that; so all that is asked each second is whether anything it stood on is another now.
"""

import asyncio
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import redis

from ..domain.grant import end
from ..engine.keys import Keys
from ..engine.reads import Command
from ..engine.store import Store
from .call import Call

WINDOW = 0.1  # seconds in which those who ask are asked for together

_Asked = list[tuple["Stand", "asyncio.Future[bool]"]]


@dataclass(frozen=True, slots=True)
class Stand:
    """What a call stood on: revisions by key, the end of its credential (ms, 0 for none), the end of the feed."""

    revisions: Mapping[str, str]
    ends: int
    feed: str

    @classmethod
    def of(cls, call: Call, *, feed: str) -> "Stand":
        """That of a call which has read."""
        revisions = {key: seen.value for key, seen in call.seen.items() if seen.field == "rev"}
        return cls(revisions, end(call.grant, moved=call.moved) if call.grant else 0, feed)


class Rounds:
    """The rounds of one store in one process: a space is asked about for all who wait there, once a window."""

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)
        self._asked: dict[str, _Asked] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def still(self, space: str, stand: Stand) -> bool:
        """Whether all that a call stood on is as it was. False also where the store does not answer."""
        if space not in self._asked:
            self._asked[space] = []
            task = asyncio.create_task(self._round(space))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked[space].append((stand, answer))
        return await answer

    async def _round(self, space: str) -> None:
        await asyncio.sleep(WINDOW)
        asked = self._asked.pop(space)
        try:
            stands = await self._stands(space, [stand for stand, _ in asked])
        except (redis.RedisError, OSError):
            stands = [False] * len(asked)
        for (_, answer), same in zip(asked, stands, strict=True):
            if not answer.done():  # who asked may have gone
                answer.set_result(same)

    async def _stands(self, space: str, asked: list[Stand]) -> list[bool]:
        store, keys = self._store(), Keys(space)
        if store is None:
            return [False] * len(asked)
        documents = list(dict.fromkeys(key for stand in asked for key in stand.revisions))
        head: list[Command] = [("TIME",), ("GET", keys.clock), ("HGET", keys.head, "ms")]
        head.append(("XREVRANGE", keys.feed, "+", "-", "COUNT", 1))
        reads: list[Command] = [("HGET", key, "rev") for key in documents]
        got, *_ = await store.fetch(keys, [], first=[*head, *reads], pure=True)
        now, feed = _now(got[:3]), got[3][0][0].decode() if got[3] else "0-0"
        revisions = {key: (rev or b"").decode() for key, rev in zip(documents, got[4:], strict=True)}
        return [
            feed == stand.feed
            and not 0 < stand.ends <= now
            and all(revisions[key] == seen for key, seen in stand.revisions.items())
            for stand in asked
        ]


def _now(got: Iterable[Any]) -> int:
    """The space's clock, as admission has it."""
    (seconds, micros), offset, last = got
    return max(int(seconds) * 1000 + int(micros) // 1000 + int(offset or 0), int(last or 0))


_ROUNDS: "weakref.WeakKeyDictionary[Store, Rounds]" = weakref.WeakKeyDictionary()


def rounds(store: Store) -> Rounds:
    """The rounds of this store."""
    if store not in _ROUNDS:
        _ROUNDS[store] = Rounds(store)
    return _ROUNDS[store]
