"""What is asked in a run, of whom: all of it drawn from one seed."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.telegram.emulator.limits import Limits

PART = re.compile(r"\bpart (\d{4,})\b")  # stands in each summary, so that a card says which ask it shows


@dataclass(frozen=True, kw_only=True)
class Load:
    """`times` is how much faster than Telegram allows everybody may write; pauses in seconds.

    The first people are on call, the next two are owners, and the last two block the bot at some time.
    """

    asks: int
    agents: int
    people: int
    seed: int
    times: int
    pending: int = 3  # asks of one agent that wait at once
    on_call: int = 4
    once: bool = False  # each process is killed once, and no more
    kill_every: tuple[float, float] = (6.0, 10.0)
    fault_every: tuple[float, float] = (0.3, 1.0)
    think: float = 1.0  # of somebody who has got a card, on average
    patience: float = 60.0  # for what is left once nothing goes wrong any more

    @property
    def names(self) -> tuple[str, ...]:
        """The people."""
        return tuple(f"p{n:02}" for n in range(self.people))

    @property
    def owners(self) -> tuple[str, ...]:
        """Who owns the space."""
        return self.names[self.on_call : self.on_call + 2]

    @property
    def gone(self) -> str:
        """Who blocks the bot, and never comes back."""
        return self.names[-1]

    @property
    def fickle(self) -> str:
        """Who blocks it for a while."""
        return self.names[-2]

    @property
    def emulated(self) -> Mapping[str, float]:
        """The limits of the emulator."""
        usual, times = Limits(), self.times
        return {
            "per_second": usual.per_second * times,
            "per_chat": usual.per_chat * times,
            "chat_burst": usual.chat_burst * times,
            "group_per_minute": usual.group_per_minute * times,
        }

    @property
    def kept(self) -> str:
        """The bot's setting for the same."""
        return f"all={28 * self.times},chat={self.times},burst={3 * self.times},group={20 * self.times}"


@dataclass(frozen=True, slots=True)
class Wish:
    """One ask: its number, who asks, and what."""

    n: int
    agent: str
    args: Mapping[str, Any]
    withdrawn: bool = False  # its agent thinks better of it
    redeemed: bool = False  # its agent uses the approval
    forlorn: bool = False  # asked of nobody but who blocks the bot for good: it expires


def wishes(load: Load) -> list[Wish]:
    """All asks of a run."""
    draw = random.Random(load.seed)
    return [_wish(load, draw, n) for n in range(load.asks)]


def _wish(load: Load, draw: random.Random, n: int) -> Wish:
    args: dict[str, Any] = {
        "where": f"job:j{n % 7}",
        "summary": f"Shall I ship part {n:04}?",
        **draw.choices([_plain, _long, _options, _free, _high, _bare], [55, 14, 10, 8, 8, 5])[0](draw, n),
        **_approvers(load, draw),
    }
    last = args.get("approvers") == [f"human:{load.gone}"]
    return Wish(
        n,
        f"agent:a{n % load.agents:02}",
        {**args, **({"expires_in": "5 min"} if last else {})},
        withdrawn=draw.random() < 0.03,
        redeemed=draw.random() < 0.2 and not last,
        forlorn=last,
    )


def _approvers(load: Load, draw: random.Random) -> dict[str, Any]:
    """Two or three people by name, or whoever is on call, or the owners, or one who has blocked the bot."""
    roll = draw.random()
    if roll < 0.2:
        return {}
    if roll < 0.27:
        return {"approvers": ["role:owner"]}
    if roll < 0.28:
        return {"approvers": [f"human:{load.gone}"]}
    named = draw.sample(load.names, draw.choice((2, 2, 3)))
    if set(named) <= {load.gone, load.fickle}:
        named.append(load.names[0])
    return {"approvers": [f"human:{name}" for name in named]}


def _plain(draw: random.Random, n: int) -> dict[str, Any]:
    return {"payload": {"run": "ship", "part": n, "force": draw.random() < 0.5}}


def _long(draw: random.Random, n: int) -> dict[str, Any]:
    """More than fits into one message."""
    return {"payload": {"files": [f"/srv/parts/{n}/{draw.randrange(10**9)}.bin" for _ in range(draw.randint(90, 320))]}}


def _options(draw: random.Random, n: int) -> dict[str, Any]:
    return {
        "options": ["by sea", "by rail", "by road, at night only, over the northern pass <&_*["][: draw.choice((2, 3))]
    }


def _free(draw: random.Random, n: int) -> dict[str, Any]:
    return {"allow": ["answer"], "payload": f"Where to? {n} \u202e\U0001f4e6"}


def _high(draw: random.Random, n: int) -> dict[str, Any]:
    return {"risk": "high", "payload": {"part": n}}


def _bare(draw: random.Random, n: int) -> dict[str, Any]:
    return {}
