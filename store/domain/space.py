"""A space: a declared scope, its channels, and the entries that say what happened to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from .document import Document, Index

FOUR_EYES = ("auto", "on", "off")  # auto: on where there are two approvers or more
SYNC_TIMES = ("09:00", "13:00", "17:30")  # of morning, midday and closeout, where nobody says otherwise
SYNC_DAYS = (0, 1, 2, 3, 4, 5, 6)  # Monday is 0


@dataclass(frozen=True, kw_only=True)
class Space(Document):
    """A world. `created` in ms; a simulated space has a clock that tests and the demo can move, and says so.

    `telegram` is true from the first pairing or group on: what people get cards of is marked in each commit.
    `times`, `days` and `holidays` (`2026-12-25 Christmas`) say when its syncs are, in its `zone`.
    """

    kind = "space"
    created: int
    simulated: bool = False
    zone: str = "America/New_York"
    four_eyes: str = "auto"
    paused: bool = False
    telegram: bool = False
    times: tuple[str, ...] = SYNC_TIMES
    days: tuple[int, ...] = SYNC_DAYS
    holidays: tuple[str, ...] = ()

    @property
    def note(self) -> dict[str, bool]:
        """What every result of this space has to say about it."""
        return {"simulated": True} if self.simulated else {}


@dataclass(frozen=True, kw_only=True)
class Channel(Document):
    """A place to talk, made by the first write to it."""

    kind = "channel"
    by: str
    created: int

    def indexes(self) -> Iterator[Index]:
        yield Index("places", "channel", 0)
