"""Whose turn it is, of those who wait to speak: a share for every kind, and within a kind one after the other. Pure.

    turns.put(Place(kind, job, by=…))      waits from now on
    place = turns.next()                   whose turn it is, waiting no more
    turns.took(place)                      it had its turn

The rules, and there are no others:

1. Every kind that waits gets its share of the turns, by SHARES, however much of another kind waits. At equal claims the
   kind that stands first in that table goes first.
2. Within a kind those who ask for something (`by`) take turns: whoever had theirs longest ago goes first. So what one
   of them pours out delays its own.
3. Of one `by` goes first what lasts the shortest (`until`), and then what came first.
4. Nothing is saved up: a kind that did not wait, or could not go, has no claim to more turns after that.
"""

import heapq
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["ASK", "CHANGE", "NOTICE", "REMINDER", "REPLY", "SHARES", "Place", "Turns"]

REPLY, CHANGE, ASK, NOTICE, REMINDER = range(5)  # at equal claims the first goes first

SHARES: Mapping[int, int] = {
    REPLY: 16,  # what a person did is answered: words, a page turned, the card that they decided
    CHANGE: 4,  # a card that is there comes to show what stands; above all, its buttons go
    ASK: 4,  # a card that is new
    NOTICE: 2,  # a group's
    REMINDER: 1,  # a card sent once more, and the message of a day
}
WHOLE = max(SHARES.values())  # which each share divides, so that claims are whole numbers
KEPT = 1000  # of those who had turns, before the ones are forgotten who do not wait

Job = TypeVar("Job")
By = TypeVar("By", bound=Hashable)


@dataclass(eq=False, slots=True)
class Place(Generic[Job, By]):
    """Something that is to have a turn, and for whom it is; `entry` is 0 while it does not wait."""

    kind: int
    job: Job
    by: By
    until: int = 0
    number: int = 0  # by which it came: of two alike the lower one goes first; 0 for the next number
    tries: int = 0
    entry: int = 0
    turns: "Turns[Job, By] | None" = None

    def move(self, kind: int, *, by: By, until: int) -> None:
        """It is something else by now."""
        turns = self.turns
        waits = turns is not None and turns.drop(self)
        self.kind, self.by, self.until = kind, by, until
        if turns is not None and waits:
            turns.put(self)


@dataclass(slots=True)
class _Kind(Generic[Job, By]):
    """What waits of a kind, by who asks; `had` grows with each turn, the faster the smaller its share."""

    had: int = 0
    waiting: int = 0
    lines: dict[By, list[tuple[int, int, int, Place[Job, By]]]] = field(default_factory=dict)
    last: dict[By, int] = field(default_factory=dict)  # the turn that each had last

    def head(self, by: By) -> Place[Job, By] | None:
        """Who is first in a line; a line in which nobody waits any more is forgotten."""
        line = self.lines[by]
        while line and line[0][2] != line[0][3].entry:  # it has gone, or waits elsewhere
            heapq.heappop(line)
        if line:
            return line[0][3]
        del self.lines[by]
        return None

    def first(self, ready: Callable[[By], bool] | None) -> Place[Job, By] | None:
        """Whose turn it is among those whose `by` is ready."""
        heads = [self.head(by) for by in tuple(self.lines) if ready is None or ready(by)]
        waiting = [place for place in heads if place]
        return min(waiting, key=lambda p: (self.last.get(p.by, 0), p.until, p.number), default=None)


class Turns(Generic[Job, By]):
    """Those who wait for turns in one place: a chat, or the bot as a whole."""

    def __init__(self) -> None:
        self._kinds: dict[int, _Kind[Job, By]] = {kind: _Kind() for kind in SHARES}
        self._entries = self._taken = self._numbers = 0
        self._had = 0  # what the kind had had that went last

    def __len__(self) -> int:
        return sum(kind.waiting for kind in self._kinds.values())

    def put(self, place: Place[Job, By]) -> None:
        """Let it wait."""
        self.drop(place)
        kind = self._kinds[place.kind]
        if not kind.waiting:
            kind.had = max(kind.had, self._had)
        if not place.number:
            self.renumber(place)
        self._entries += 1
        place.entry, place.turns = self._entries, self
        kind.waiting += 1
        heapq.heappush(kind.lines.setdefault(place.by, []), (place.until, place.number, place.entry, place))

    def drop(self, place: Place[Job, By]) -> bool:
        """Let it wait no more. False: it did not."""
        if not place.entry:
            return False
        place.entry = 0
        self._kinds[place.kind].waiting -= 1
        return True

    def renumber(self, place: Place[Job, By]) -> None:
        """Let it come behind what is there by now and like it."""
        self._numbers += 1
        place.number = self._numbers

    @property
    def urgent(self) -> int:
        """The most urgent kind that waits; where none does, the first of all."""
        return min((k for k, kind in self._kinds.items() if kind.waiting), default=REPLY)

    @property
    def who(self) -> set[By]:
        """For whom something waits."""
        return {by for kind in self._kinds.values() for by in tuple(kind.lines) if kind.head(by)}

    def next(self, ready: Callable[[By], bool] | None = None) -> Place[Job, By] | None:
        """Whose turn it is, of those whose `by` is `ready`; None if there is none. It waits no more."""
        for kind in self._order():
            if place := self._kinds[kind].first(ready):
                self.drop(place)
                return place
        return None

    def took(self, place: Place[Job, By]) -> None:
        """It had its turn."""
        kind = self._kinds[place.kind]
        self._had = max(self._had, kind.had)
        for other in self._kinds.values():  # those that could have gone have had as much
            if other.waiting:
                other.had = max(other.had, self._had)
        kind.had += WHOLE // SHARES[place.kind]
        self._taken += 1
        kind.last[place.by] = self._taken
        if len(kind.last) > KEPT:
            kind.last = {by: at for by, at in kind.last.items() if by in kind.lines}

    def _order(self) -> list[int]:
        return sorted((k for k, kind in self._kinds.items() if kind.waiting), key=lambda k: (self._kinds[k].had, k))
