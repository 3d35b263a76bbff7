"""Who gets a card of an ask or an item, and on whose phone it comes without a sound."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from .copy import Copy
from .reach import Reach
from .reminder import EVERYBODY

_TOLD = ("sent", "uncertain", "pending", "sending", "failed", "unreachable")  # of several copies, the first of these


def wanted(people: Iterable[Reach], *, named: bool, reminded: int = 0) -> tuple[str, ...]:
    """Of those who may decide now, who is to get a card: all whom the ask names, else who is on call, else everybody.

    Whom no message reaches is passed over at once, so the next ones are asked. `reminded` is how often they were: in
    the end everybody is asked beside those on call.
    """
    live = [p for p in people if p.live]
    on_call = [p for p in live if p.on_call]
    return tuple(p.id for p in (live if named or not on_call or reminded >= EVERYBODY else on_call))


def is_named(approvers: Sequence[str]) -> bool:
    """Whether an ask names people: then nobody else is ever asked in their place."""
    return not any(a.startswith("role:") for a in approvers)


def delivered(
    people: Iterable[Reach], *, wanted: Sequence[str], copies: Iterable[Copy], unshown: Collection[str] = ()
) -> Mapping[str, str]:
    """How far the cards of these people have come: queued, sent, opened, unreachable, uncertain or failed.

    Who gets none is left out. `unshown` are those whom this card cannot be shown to.
    """
    own: dict[str, list[Copy]] = {}
    for copy in copies:
        own.setdefault(copy.to, []).append(copy)
    states = {}
    for reach in people:
        sent = [copy for copy in own.get(reach.id, ()) if copy.chat == reach.account]
        if reach.account and reach.lost:
            states[reach.id] = "unreachable"
        elif any(copy.opened for copy in sent):
            states[reach.id] = "opened"
        elif sent:
            best = min((copy.state for copy in sent), key=_TOLD.index)
            states[reach.id] = {"pending": "queued", "sending": "queued"}.get(best, best)
        elif reach.id in unshown:
            states[reach.id] = "failed"
        elif reach.id in wanted:
            states[reach.id] = "queued"
    return states
