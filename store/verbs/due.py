"""What is due in the spaces: the earliest time in each index that time wakes, of all spaces in one round trip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.shift import IDLE
from ..domain.space import Space
from ..engine.claim import QUEUE
from ..engine.exchange import exchange
from ..engine.keys import Keys, shared
from ..engine.reads import Command, Doc, Seen
from ..engine.store import Store
from .faults import told_plainly

LEASE = shared("scheduler", "leader")  # of whoever leads, in all spaces


@dataclass(frozen=True, slots=True)
class Wake:
    """What wakes a job: the earliest time in an index, `after` ms later; or that somebody is queued.

    `real`: the times in that index are real ones, however far a simulated space's clock was moved.
    """

    job: str
    says: str
    index: str
    after: int = 0
    real: bool = False


WAKES: tuple[Wake, ...] = (  # in the order in which a space's are done
    Wake("expire", "asks, handoffs, seats and notes whose time is over", "due", 1),
    Wake("remind", "asks that nobody has decided yet", "remind"),
    Wake("occurrences", "windows of the day's syncs: opened, overdue, accounted for", "turn"),
    Wake("idle", "agents who have not written for half an hour", "idle", IDLE),
    Wake("recap", "recaps of shifts that ended by themselves", QUEUE),
    Wake("warn", "keys that end in a week or a day", "warn"),
    Wake("passed", "sessions of people whose time is over", "passing", 1, real=True),
    Wake("review", "facts whose review is due", "review", 1),
    Wake("digest", "the day's digest to the owners", "digests"),
    Wake("inspect", "what must hold at any time, a part at a time", "inspect"),
)
_INDEXES = tuple(wake.index for wake in WAKES if wake.index != QUEUE)


@dataclass(frozen=True, slots=True)
class Due:
    """A space at a moment: its clock (ms), the epoch of its scheduler (0 for none), the earliest time of each index.

    An index with nothing in it is left out. `queued`: agents that wait to be recapped. `moved`: how far the
    clock of a simulated space is ahead of real time (ms).
    """

    now: int
    epoch: int
    first: Mapping[str, int]
    queued: int
    moved: int = 0

    def at(self, wake: Wake) -> int:
        """When a job runs next here, by what stands here now (ms); 0 for not that anybody knows."""
        if wake.index == QUEUE:
            return self.now if self.queued else 0
        first = self.first.get(wake.index)
        return 0 if first is None else first + wake.after + (self.moved if wake.real else 0)


@dataclass(frozen=True, slots=True)
class _Look:
    """The read of a `Due`."""

    def commands(self, keys: Keys) -> list[Command]:
        head: list[Command] = [("TIME",), ("GET", keys.clock), ("HGET", keys.head, "ms")]
        head += [
            ("HGET", keys.leader, "epoch"),
            ("ZCARD", keys.index(QUEUE, "")),
            *Doc(Space, keys.space).commands(keys),
        ]
        return head + [("ZRANGE", keys.index(name, ""), 0, 0, "WITHSCORES") for name in _INDEXES]

    def parse(self, keys: Keys, got: Sequence[Any]) -> tuple[Due, dict[str, Seen]]:
        (seconds, micros), offset, last, epoch, queued, doc, *firsts = got
        # As in commit.lua: a clock that was set back brings nothing back to life.
        real = int(seconds) * 1000 + int(micros) // 1000
        now = max(real + int(offset or 0), int(last or 0))
        space = Doc(Space, keys.space).parse(keys, [doc])[0] if offset else None
        moved = now - real if space and space.simulated else 0
        first = {name: int(found[0][1]) for name, found in zip(_INDEXES, firsts, strict=True) if found}
        return Due(now, int(epoch or 0), first, queued, moved), {}


async def due(store: Store, spaces: Sequence[str]) -> dict[str, Due]:
    """How it stands in these spaces now."""
    found = await store.across(spaces, _Look())
    return {space: one for space, (one,) in zip(spaces, found, strict=True)}


@dataclass(frozen=True, slots=True)
class Leads:
    """Who leads: in which epoch, and for how long without another word from it (ms; below 0 nobody does)."""

    epoch: int
    left: int


async def leads(store: Store) -> Leads | None:
    """The scheduler that leads, or led last; None if there never was one. Refuses store_unavailable."""
    with told_plainly():
        (seconds, micros), (epoch, until) = await exchange(
            store.reader, [("TIME",), ("HMGET", LEASE, "epoch", "until")]
        )
    if epoch is None:
        return None
    return Leads(int(epoch), int(until) - int(seconds) * 1000 - int(micros) // 1000)
