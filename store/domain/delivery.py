"""Who gets a card of an ask or an item, and on whose phone it comes without a sound."""

from collections.abc import Iterable, Sequence

from .reach import Reach


def wanted(people: Iterable[Reach], *, named: bool) -> tuple[str, ...]:
    """Of those who may decide now, who is to get a card: all whom the ask names, else who is on call, else everybody.

    Whom no message reaches is passed over at once, so the next ones are asked.
    """
    live = [p for p in people if p.live]
    on_call = [p for p in live if p.on_call]
    return tuple(p.id for p in (live if named or not on_call else on_call))


def is_named(approvers: Sequence[str]) -> bool:
    """Whether an ask names people: then nobody else is ever asked in their place."""
    return not any(a.startswith("role:") for a in approvers)
