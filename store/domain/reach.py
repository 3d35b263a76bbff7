"""How a person is reached on Telegram, in a space: their account, whether messages arrive, who is on call."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Document, Index


@dataclass(frozen=True, kw_only=True)
class Reach(Document):
    """`id` is `human:<id>`; `account` the number of their Telegram account, 0 for none; times in ms, 0 for never.

    `lost` is since when Telegram delivers nothing to them. `snoozed` (until) and `quiet` (`22:00-07:00` in the space's
    zone) make cards come without a sound; neither moves a deadline or holds back high risk.
    """

    kind = "reach"
    account: int = 0
    lost: int = 0
    on_call: bool = False
    snoozed: int = 0
    quiet: str = ""

    @property
    def live(self) -> bool:
        """Whether a message reaches them, as far as is known."""
        return bool(self.account) and not self.lost

    def indexes(self) -> Iterator[Index]:
        if self.account:
            yield Index("reached", "", 0)


def paired(reach: Reach | None, *, person: str, account: int) -> Reach:
    """With this account, reachable; what they chose about their own cards stays."""
    return replace(reach or Reach(id=person), account=account, lost=0)


def unpaired(reach: Reach) -> Reach:
    """Without an account, so on call no more."""
    return Reach(id=reach.id, snoozed=reach.snoozed, quiet=reach.quiet)
