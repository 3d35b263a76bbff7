"""What is to be done for one person's (or group's) copies of a card, so that they show what stands. Pure.

plan(copies, recipient, pending=…, look=…, now=…) -> Plan     the next steps in order, and when to look again

The copies are those of this very bot: what another one has sent can be neither edited nor pressed here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from store.domain.copy import Copy
from store.domain.moments import MINUTE, SECOND

__all__ = ["ASKED_FOR", "BACK", "GONE", "Plan", "Recipient", "Step", "is_pending", "plan", "recipients", "standing"]

ASKED_FOR = "asked for"  # why a copy goes to somebody who need not have one
GONE = "gone"  # why a copy is edited no more: its message is not there
BACK = "back"  # why a copy that was sent is told of: it has reached somebody whom nothing reached before
FIRST_AGAIN, LAST_AGAIN = 2 * SECOND, MINUTE  # after an uncertain copy, doubled each time
FAILED_AGAIN, FAILURES = 30 * SECOND, 3  # after one that Telegram would not have, and how often

Do = Literal["send", "edit", "tell", "drop", "say"]


@dataclass(frozen=True, kw_only=True)
class Recipient:
    """Who may have a card: a person, or `chat:<number>` for a group. `wanted`: is to have one while it is pending.

    `lost`: no message reaches them now. `push`: how often they were reminded; each time a new message pushes.
    `answered` is the last answer to what they asked back, 0 for none.
    """

    who: str
    chat: int
    thread: int = 0
    silent: bool = False
    wanted: bool = True
    lost: bool = False
    push: int = 0
    answered: int = 0

    @property
    def is_group(self) -> bool:
        """Whether it is a group, which gets notices."""
        return self.who.startswith("chat:")


@dataclass(frozen=True, slots=True)
class Step:
    """What to do with the copy of a token; `send` without one is a new copy.

    `tell` the door who is reached; `say` to its person what they were answered.
    """

    do: Do
    token: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """`at` is when to look again because of a copy (ms), 0 for no such time."""

    steps: tuple[Step, ...]
    at: int = 0


def recipients(view: Mapping[str, Any]) -> dict[str, Recipient]:
    """Everybody of a card's view, by who they are."""
    people = [
        Recipient(
            who=to["who"],
            chat=to["chat"],
            silent=bool(to.get("silent")),
            wanted=bool(to["wanted"]),
            lost=bool(to.get("lost")),
            push=to.get("push") or view.get("push") or 0,
            answered=max((each["n"] for each in to.get("answers") or ()), default=0),
        )
        for to in view["to"]
    ]
    groups = [
        Recipient(who=each["who"], chat=each["chat"], thread=each["thread"], silent=True)
        for each in view.get("groups", ())
    ]
    return {each.who: each for each in (*people, *groups)}


def is_pending(view: Mapping[str, Any]) -> bool:
    """Whether somebody is still to decide: only then is a card sent."""
    return bool(view["open"])


def standing(copies: Sequence[Copy], to: Recipient) -> bool:
    """Whether one of them is the card that this recipient has, or is about to have."""
    here = [c for c in copies if (c.chat, c.thread) == (to.chat, to.thread)]
    if to.is_group and any(c.state == "unreachable" for c in here):
        return True  # for whom nobody is asked in its place
    return any(c.live and c.why != GONE and _stands(c, to) for c in here)


def _stands(copy: Copy, to: Recipient) -> bool:
    """Whether it is there, on its way or still to be told of; one from before the last reminder does not do."""
    return copy.state in ("pending", "sending", "unreachable", "failed") or (
        copy.state == "sent" and copy.push >= to.push
    )


def plan(copies: Sequence[Copy], to: Recipient | None, *, pending: bool, look: Callable[[Copy], str], now: int) -> Plan:
    """The steps for the copies that one recipient has, None for one who is no recipient any more.

    `look` names how a copy would be shown now. New copies come before the edits of old ones, which point to them.
    """
    steps: list[Step] = []
    at = 0
    if to and to.wanted and to.chat and pending and not standing(copies, to):
        at = _again(copies)
        if at <= now:
            steps, at = ([Step("send")] if at >= 0 else []), 0
    if to and pending and not steps and (above := _unheard(copies, to)):
        steps.append(Step("say", above))
    for copy in copies:
        steps.extend(_one(copy, to, pending=pending, look=look))
    return Plan(tuple(steps), at)


def _unheard(copies: Sequence[Copy], to: Recipient) -> str:
    """The token of the card below which somebody is to be told what they were answered, '' for none."""
    here = [c for c in copies if c.chat == to.chat]
    if to.lost or max((c.heard for c in here), default=0) >= to.answered:
        return ""
    return next((c.token for c in reversed(here) if c.live and c.state == "sent" and c.why != GONE), "")


def _one(copy: Copy, to: Recipient | None, *, pending: bool, look: Callable[[Copy], str]) -> list[Step]:
    """What is to be done with one copy."""
    if copy.state == "pending" and copy.live:
        here = to is not None and (copy.chat, copy.thread) == (to.chat, to.thread)
        due = pending and here and to is not None and (to.wanted or copy.why == ASKED_FOR)
        return [Step("send" if due else "drop", copy.token)]
    untold = (copy.state in ("unreachable", "failed") and copy.live) or (copy.state == "sent" and copy.why == BACK)
    if untold:
        return [Step("tell", copy.token)]
    back = copy.state == "unreachable" and to is not None and not to.lost and to.chat == copy.chat and not to.is_group
    known = copy.message and copy.why != GONE and (copy.state in ("sent", "uncertain") or back)
    return [Step("edit", copy.token)] if known and look(copy) != copy.shown else []


def _again(copies: Sequence[Copy]) -> int:
    """When another copy may be sent (ms); 0 for now, -1 for never."""
    uncertain = [c.sent for c in copies if c.state == "uncertain"]
    failed = [c.sent for c in copies if c.state == "failed"]
    if len(failed) >= FAILURES:
        return -1
    waits = []
    if uncertain and any(c.state == "uncertain" and c.live for c in copies):
        waits.append(max(uncertain) + min(LAST_AGAIN, FIRST_AGAIN * 2 ** (len(uncertain) - 1)))
    if failed:
        waits.append(max(failed) + FAILED_AGAIN * len(failed))
    return max(waits, default=0)
