"""A space: a declared scope, its channels, and the entries that say what happened to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from .document import Document, Index

FOUR_EYES = ("auto", "on", "off")  # auto: on where there are two approvers or more


@dataclass(frozen=True, kw_only=True)
class Space(Document):
    """A world. `created` in ms; a simulated space has a clock that tests and the demo can move, and says so."""

    kind = "space"
    created: int
    simulated: bool = False
    zone: str = "America/New_York"
    four_eyes: str = "auto"
    paused: bool = False

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
