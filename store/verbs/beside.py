"""What a note does besides standing in a Log: it settles a seat, closes a huddle, makes a fact."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..domain.commit import Put


@dataclass(frozen=True, slots=True)
class Beside:
    """Documents to write, what the result says of them, fields of the note's entry, and until when it holds (ms)."""

    puts: tuple[Put, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    not_after: int = 0


NOTHING = Beside()
