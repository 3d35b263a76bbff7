"""What goes wrong on demand: which calls, how often, and in which way."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

FaultKind = Literal[
    "error", "html", "hang", "apply_then_hang", "apply_then_cut", "cut", "malformed", "duplicate", "reorder"
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
OF_UPDATES: tuple[FaultKind, ...] = ("malformed", "duplicate", "reorder")
"""Kinds that spoil an answer of getUpdates which carries updates, or a push to the webhook; the rest spoil calls."""
OF_CALLS = tuple(kind for kind in KINDS if kind not in OF_UPDATES)


@dataclass(slots=True)
class Fault:
    """One thing that goes wrong in calls of `method` (`*`: all), `times` often (None: until cleared)."""

    kind: FaultKind
    method: str = "*"
    times: int | None = 1
    probability: float = 1.0
    seed: int = 0
    chat_id: int | None = None
    status: int = 500
    description: str = "Internal Server Error: restart"
    retry_after: int | None = None
    seconds: float = 5.0
    hits: int = 0
    dice: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no fault {self.kind!r}: {', '.join(KINDS)}")
        self.dice = random.Random(self.seed)

    def strikes(self) -> bool:
        """Whether it does so now; counts."""
        if self.times == 0 or self.dice.random() >= self.probability:
            return False
        self.times = None if self.times is None else self.times - 1
        self.hits += 1
        return True

    def view(self) -> dict[str, Any]:
        """What the control client sees."""
        return {key: value for key, value in asdict(self).items() if key != "dice"}


@dataclass(slots=True)
class Faults:
    """Those that are set, the first set first; `release` ends all that hangs."""

    rules: list[Fault] = field(default_factory=list)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, fault: Fault) -> None:
        """Set one."""
        self.rules.append(fault)

    def clear(self) -> None:
        """Forget all, and let go of calls that hang."""
        self.rules.clear()
        self.release.set()
        self.release = asyncio.Event()

    def struck(self, method: str, chat_id: Any = None, *, kinds: Sequence[FaultKind] = OF_CALLS) -> Fault | None:
        """The fault of this call, if any."""
        for fault in self.rules:
            fits = fault.kind in kinds and fault.method in ("*", method) and fault.chat_id in (None, chat_id)
            if fits and fault.strikes():
                return fault
        return None
