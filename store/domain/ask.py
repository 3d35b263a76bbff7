"""The human gate: an ask, its states, its rules.

The text of an ask (summary, payload, options) stands in the ledger, in its `asked` entry; the digest binds it to all
else that a person was shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import ABSENT, Entry
from .errors import Refused
from .moments import age, iso

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
RISKS = ("low", "normal", "high")
VERDICTS = ("approve", "reject", "answer")
EXPIRES = (5 * MINUTE, 7 * DAY)  # bounds of expires_in
EXPIRES_DEFAULT = DAY
VALID_MINIMUM = MINUTE
VALID_FOR = {"low": DAY, "normal": DAY, "high": HOUR}  # default and upper bound of valid_for, by risk
PENDING_LIMIT = 20
OPTIONS_LIMIT, OPTION_LENGTH = 8, 200

STEPS = {  # the only place where an ask's state may change
    ("pending", "approve"): "approved",
    ("pending", "reject"): "rejected",
    ("pending", "answer"): "answered",
    ("pending", "expire"): "expired",
    ("pending", "withdraw"): "withdrawn",
    ("approved", "redeem"): "redeemed",
    ("approved", "lapse"): "lapsed",
    ("approved", "take_back"): "taken_back",
}


@dataclass(frozen=True, kw_only=True)
class Ask(Document):
    """Times and lengths in ms. `content` finds the same content asked again; it goes when the ask is settled."""

    kind = "ask"
    by: str
    where: str
    risk: str = "normal"
    allow: tuple[str, ...] = ("approve", "reject")
    approvers: tuple[str, ...] = ("role:approver",)
    quorum: int = 1
    digest: str
    content: str = ""
    responsible: str = ""
    made: int
    deadline: int
    valid_for: int
    state: str = "pending"
    settled: int = 0
    settled_by: str = ""
    via: str = ""
    assurance: str = ""
    closed: int = 0  # redeemed, lapsed or taken back
    closed_by: str = ""
    told: int = 0  # the verdict was surfaced to the requester
    questioned: bool = False  # a person's question waits for the requester
    asked: str = entry_id()
    decided: str = entry_id()
    ended: str = entry_id()
    question: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if self.state == "pending":
            yield from (Index("inbox", who, self.deadline) for who in self.approvers)
            yield Index("asked", self.by, self.deadline)
            yield Index("same", f"{self.by}:{self.content}", self.deadline)
            yield Index("due", "", self.deadline)
            if self.questioned:
                yield Index("questions", self.by, self.deadline)
            return
        yield from (Index("settled", who, self.settled) for who in self.approvers)
        if self.state == "approved":
            yield Index("verdicts", self.by, self.settled)
            yield Index("due", "", self.lapses)
        elif self.state in ("rejected", "answered", "expired", "taken_back") and not self.told:
            yield Index("verdicts", self.by, self.closed or self.settled)

    @property
    def lapses(self) -> int:
        """When the approval ends, in ms."""
        return self.settled + self.valid_for

    def as_of(self, now: int) -> "Ask":
        if self.state == "pending" and now > self.deadline:
            return step(self, "expire", at=self.deadline)
        if self.state == "approved" and now > self.lapses:
            return replace(step(self, "lapse"), closed=self.lapses)
        return self


def step(ask: Ask, event: str, *, at: int = 0, by: str = "") -> Ask:
    """The ask one step on. Raises KeyError for a step that is not in the table."""
    new = replace(ask, state=STEPS[ask.state, event])
    return replace(new, settled=at, settled_by=by, content="", questioned=False) if ask.state == "pending" else new


def bound(ask: Ask, text: Entry, *, space: str) -> dict[str, Any]:
    """All that a decision binds to, in the form that is digested; text from the `asked` entry."""
    return {
        "v": 1,
        "trail": ask.id,
        "space": space,
        "by": ask.by,
        "where": ask.where,
        "summary": text.summary,
        "payload": None if text.payload is ABSENT else text.payload,
        "options": list(text.options),
        "risk": ask.risk,
        "allow": list(ask.allow),
        "approvers": list(ask.approvers),
        "quorum": ask.quorum,
        "deadline": ask.deadline,
        "valid_for": ask.valid_for,
    }


def same_content(body: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two asks the same: all that is bound but the trail and the times."""
    return {k: v for k, v in body.items() if k not in ("trail", "deadline", "valid_for")}


def eligible(ask: Ask, *, by: str, roles: tuple[str, ...], four_eyes: bool) -> bool:
    """Whether this person may decide the ask now."""
    named = {by, *(f"role:{r}" for r in roles)} & set(ask.approvers)
    return bool(named) and not (four_eyes and by == ask.responsible and ask.risk == "high")


def check_eligible(ask: Ask, *, by: str, roles: tuple[str, ...], four_eyes: bool) -> None:
    """Refuses not_an_approver."""
    if eligible(ask, by=by, roles=roles, four_eyes=four_eyes):
        return
    if four_eyes and by == ask.responsible and ask.risk == "high":
        raise Refused(
            "not_an_approver",
            f"{by} answers for the key that asked, and high risk takes a second pair of eyes here. Nothing changed.",
        )
    raise Refused(
        "not_an_approver",
        f"This ask is for {', '.join(ask.approvers)}; {by} is none of them now. Nothing changed.",
    )


def decide(ask: Ask, verdict: str, *, by: str, via: str, assurance: str, shown: str, now: int) -> Ask:
    """Settle an ask by an eligible person. Refuses expired, already_settled, digest_mismatch, invalid_argument."""
    ask = ask.as_of(now)
    _check_pending(ask, now=now)
    if not shown:
        raise Refused(
            "digest_required",
            "Say which digest was shown to you; a decision binds to it. Nothing changed.",
            digest=ask.digest,
        )
    if shown != ask.digest:
        raise Refused(
            "digest_mismatch",
            "What was shown to you is not what is asked. Nothing changed. Open it again.",
            digest=ask.digest,
        )
    if verdict not in ask.allow:
        raise Refused(
            "invalid_argument",
            f"This ask allows {', '.join(ask.allow)}. Nothing changed.",
            argument="verdict",
        )
    return replace(step(ask, verdict, at=now, by=by), via=via, assurance=assurance)


def _check_pending(ask: Ask, *, now: int) -> None:
    if ask.state == "expired":
        raise Refused(
            "expired",
            f"The deadline passed {age(now - ask.deadline)} and nobody had decided. Nothing changed. "
            f'It can be asked again: logmem_ask {{again: "{ask.id}"}}',
            **verdict_of(ask),
        )
    if ask.state != "pending":
        raise Refused("already_settled", f"{told(ask, now=now)} Nothing changed.", **verdict_of(ask))


def withdraw(ask: Ask, *, by: str, now: int) -> Ask:
    """Take a pending ask away. Refuses not_yours, expired, already_settled."""
    ask = ask.as_of(now)
    _check_requester(ask, by=by, what="withdraw")
    _check_pending(ask, now=now)
    return step(ask, "withdraw", at=now, by=by)


def take_back(ask: Ask, *, by: str, now: int) -> Ask:
    """Undo an approval that was not used yet. Refuses already_redeemed, lapsed, taken_back, not_approved."""
    ask = ask.as_of(now)
    _check_approved(ask, now=now)
    return replace(step(ask, "take_back"), closed=now, closed_by=by)


def redeem(ask: Ask, *, by: str, now: int) -> Ask:
    """Use an approval, once. Refuses not_yours, already_redeemed, lapsed, taken_back, not_approved."""
    ask = ask.as_of(now)
    _check_requester(ask, by=by, what="redeem")
    _check_approved(ask, now=now)
    return replace(step(ask, "redeem"), closed=now, closed_by=by)


CLOSED_CODES = {"redeemed": "already_redeemed", "lapsed": "lapsed", "taken_back": "taken_back"}


def _check_approved(ask: Ask, *, now: int) -> None:
    if ask.state == "approved":
        return
    code = CLOSED_CODES.get(ask.state, "not_approved")
    again = f' Ask again: logmem_ask {{again: "{ask.id}"}}' if ask.state not in ("pending", "redeemed") else ""
    wait = f' Wait for it: logmem_follow {{what: "{ask.id}"}}' if ask.state == "pending" else ""
    raise Refused(code, f"{told(ask, now=now)} Nothing ran.{again}{wait}", **verdict_of(ask))


def _check_requester(ask: Ask, *, by: str, what: str) -> None:
    if by != ask.by:
        raise Refused(
            "not_yours",
            f"Only {ask.by}, who asked, can {what} this; you are {by}. Nothing changed.",
            by=ask.by,
        )


def ask_back(ask: Ask, *, now: int) -> Ask:
    """The ask with a person's question waiting for its requester. Refuses expired, already_settled."""
    ask = ask.as_of(now)
    _check_pending(ask, now=now)
    return replace(ask, questioned=True)


def answered_back(ask: Ask, *, by: str) -> Ask | None:
    """The ask once its requester answered the question; None when nothing changes."""
    return replace(ask, questioned=False) if ask.questioned and by == ask.by else None


def verdict_of(ask: Ask) -> dict[str, Any]:
    """The facts of how an ask ended, for programs."""
    facts = {
        "trail": ask.id,
        "status": ask.state,
        "by": ask.settled_by,
        "via": ask.via,
        "assurance": ask.assurance,
    }
    if ask.settled:
        facts["at"] = iso(ask.settled)
    if ask.closed_by:
        facts["closed_by"] = ask.closed_by
    if ask.closed:
        facts["closed_at"] = iso(ask.closed)
    return {k: v for k, v in facts.items() if v}


def told(ask: Ask, *, now: int) -> str:
    """How an ask stands, in a sentence."""
    when = age(now - ask.settled)
    after = age(now - ask.closed)
    where = {"console": " in the console", "telegram": " on Telegram"}.get(ask.via, "")
    held = f"{ask.valid_for // HOUR} h" if ask.valid_for >= HOUR else f"{ask.valid_for // MINUTE} min"
    match ask.state:
        case "pending":
            return f"Nobody has decided yet; there is time until {iso(ask.deadline)}."
        case "expired":
            return f"The deadline passed {when} and nobody had decided."
        case "withdrawn":
            return f"{ask.settled_by} withdrew it {when}."
        case "redeemed":
            return f"{ask.closed_by} used this approval {after}; it was good for once."
        case "lapsed":
            return f"{ask.settled_by} approved this {when} and it held for {held}."
        case "taken_back":
            return f"{ask.closed_by} took the approval back {after}."
    return f"{ask.settled_by} {ask.state} this {when}{where}."
