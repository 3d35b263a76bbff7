"""The human gate: an ask, its states, its rules.

The text of an ask (summary, payload, options) stands in the ledger, in its `asked` entry; the digest binds it to all
else that a person was shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .bounds import VALUES
from .document import Document, Index, entry_id
from .entry import ABSENT, Entry, Logged
from .errors import Refused
from .ids import principal
from .moments import DAY, HOUR, MINUTE, duration, iso, since, span, until
from .reminder import remind_at
from .said import quoted_words, words_of
from .via import surface

RISKS = ("low", "normal", "high")
VERDICTS = ("approve", "reject", "answer")
EXPIRES = (5 * MINUTE, 7 * DAY)  # bounds of expires_in
EXPIRES_USUAL = DAY
VALID_MINIMUM = MINUTE
VALID_FOR = {"low": DAY, "normal": DAY, "high": HOUR}  # default and upper bound of valid_for, by risk
PENDING_LIMIT = 20
OPTION_LENGTH = 200  # characters
ANY_APPROVER = ("role:approver",)
ROLES = ("approver", "owner")  # that an ask may name

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
    approvers: tuple[str, ...] = ANY_APPROVER
    quorum: int = 1
    digest: str
    content: str = ""
    responsible: str = ""
    minted_by: str = ""  # who made the key that asked
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
    reminded: int = 0  # how often those who may decide it were reminded
    unheard: int = 0  # since when (ms) nobody who may decide it can be reached
    unshown: tuple[str, ...] = ()  # people whose phones its card cannot be shown on
    asked: str = entry_id()
    decided: str = entry_id()
    ended: str = entry_id()
    question: str = entry_id()

    @property
    def carded(self) -> bool:
        return True

    def indexes(self) -> Iterator[Index]:
        if self.state == "pending":
            yield from (Index("inbox", who, self.deadline) for who in self.approvers)
            yield Index("asked", self.by, self.deadline)
            yield Index("same", f"{self.by}:{self.content}", self.deadline)
            yield Index("due", "", self.deadline)
            if at := remind_at(self.made, self.deadline, self.reminded):
                yield Index("remind", "", at)
            return
        # One member for each ask, kept as long as the ask itself; read from a time on, never whole.
        yield Index("settled", "", self.settled)
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


def new(
    *, id: str, by: str, where: str, responsible: str, risk: str, options: Sequence[str], allow: Sequence[str],
    approvers: Sequence[str], quorum: int, expires_in: str | int, valid_for: str | int, now: int,
) -> Ask:  # fmt: skip
    """An ask as it begins, without its digest; times and lengths as they were said, '' for the usual.

    Refuses invalid_argument, malformed_id.
    """
    _check(risk in RISKS, "risk", f"risk is one of {', '.join(RISKS)}.")
    _check(quorum == 1, "quorum", "quorum can be 1 only in this version.")
    _check_options(options)
    lasts = VALID_FOR[risk]
    return Ask(
        id=id,
        by=by,
        where=where,
        risk=risk,
        allow=_allowed(allow, options),
        approvers=declared(approvers),
        quorum=quorum,
        digest="",
        responsible=responsible,
        made=now,
        deadline=until(expires_in, now=now, bounds=EXPIRES, usual=EXPIRES_USUAL, name="expires_in"),
        valid_for=lasts if valid_for == "" else duration(valid_for, low=VALID_MINIMUM, high=lasts, name="valid_for"),
    )


def _check(holds: bool, argument: str, rule: str) -> None:
    if not holds:
        raise Refused("invalid_argument", f"{rule} Nothing was asked.", argument=argument)


def _check_options(options: Sequence[str]) -> None:
    limit = VALUES["options"]
    different = len(set(options)) == len(options) <= limit
    _check(different, "options", f"options are up to {limit} different answers.")
    fit = all(o.strip() and len(o) <= OPTION_LENGTH for o in options)
    _check(fit, "options", f"An option has 1 to {OPTION_LENGTH} characters.")


def _allowed(allow: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
    """The verdicts that the ask allows, in the order of the table; rejecting is always one."""
    verdicts = ", ".join(VERDICTS)
    _check("edit" not in allow, "allow", f"Editing is not there in this version; allow takes {verdicts}.")
    _check(set(allow) <= set(VERDICTS), "allow", f"allow takes {verdicts}.")
    chosen = {*(allow or (("answer",) if options else ("approve",))), "reject"}
    return tuple(v for v in VERDICTS if v in chosen)


def declared(approvers: Sequence[str]) -> tuple[str, ...]:
    """Approvers as the ask names them, each once: people and roles; any approver when none is named.

    Refuses malformed_id. Whether the people are here is for who can look.
    """
    names = (n.removeprefix("role:") for n in approvers)
    spelled = (
        f"role:{n}" if n in ROLES else principal(n, kinds=("human",), default="human", name="approvers") for n in names
    )
    return tuple(dict.fromkeys(spelled)) or ANY_APPROVER


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


def eligible(ask: Ask, *, by: str, roles: Sequence[str], four_eyes: bool, link_by: str = "") -> bool:
    """Whether this person may decide the ask now; `link_by` made the link that their session was opened with."""
    named = {by, *(f"role:{r}" for r in roles)} & set(ask.approvers)
    return bool(named) and not (four_eyes and same_eyes(ask, by, link_by))


def same_eyes(ask: Ask, *who: str) -> bool:
    """Whether the risk is high and one of these answers for the key that asked, or made it. Names, several by blanks.

    Whoever made a sign-in link may have opened it: a session by their link is not somebody else's eyes.
    """
    seen = {name for names in who for name in names.split()}
    return ask.risk == "high" and bool(seen & {ask.responsible, ask.minted_by})


def check_eligible(ask: Ask, *, by: str, roles: Sequence[str], four_eyes: bool, link_by: str = "") -> None:
    """Refuses not_an_approver."""
    if eligible(ask, by=by, roles=roles, four_eyes=four_eyes, link_by=link_by):
        return
    if four_eyes and same_eyes(ask, by):
        why = f"{by} answers for the key that asked, and high risk takes a second pair of eyes here. Nothing changed."
    elif four_eyes and same_eyes(ask, link_by):
        why = (
            "Who answers for the key that asked made the sign-in link of this session, and high risk takes a second "
            "pair of eyes here. Nothing changed. Sign in by a link that somebody else made."
        )
    else:
        why = f"This ask is for {', '.join(ask.approvers)}; {by} is none of them now. Nothing changed."
    raise Refused("not_an_approver", why)


def check_approver(*, by: str, roles: Sequence[str]) -> None:
    """Any approver may ask back and take back: both make an ask safer, whomever it names. Refuses not_an_approver."""
    if "approver" not in roles:
        raise Refused("not_an_approver", f"{by} is no approver now. Nothing changed.")


def decide(
    ask: Ask, verdict: str, *, by: str, via: str, assurance: str, shown: str, now: int, said: Logged | None = None
) -> Ask:
    """Settle an ask by an eligible person. Refuses expired, already_settled, digest_mismatch, invalid_argument."""
    ask = ask.as_of(now)
    _check_pending(ask, now=now, said=said)
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


def _check_pending(ask: Ask, *, now: int, said: Logged | None = None) -> None:
    if ask.state == "expired":
        raise Refused(
            "expired",
            f"The deadline passed {since(now - ask.deadline)} and nobody had decided. Nothing changed. "
            f'It can be asked again: logmem_ask {{again: "{ask.id}"}}',
            **verdict_of(ask),
        )
    if ask.state != "pending":
        raise Refused(
            "already_settled", f"{told(ask, now=now, said=said)} Nothing changed.", **verdict_of(ask, said=said)
        )


def withdraw(ask: Ask, *, by: str, now: int, said: Logged | None = None) -> Ask:
    """Take a pending ask away. Refuses not_yours, expired, already_settled."""
    ask = ask.as_of(now)
    _check_requester(ask, by=by, what="withdraw")
    _check_pending(ask, now=now, said=said)
    return step(ask, "withdraw", at=now, by=by)


def take_back(ask: Ask, *, by: str, now: int, said: Logged | None = None) -> Ask:
    """Undo an approval that was not used yet. Refuses already_redeemed, lapsed, taken_back, not_approved."""
    ask = ask.as_of(now)
    _check_approved(ask, now=now, said=said)
    return replace(step(ask, "take_back"), closed=now, closed_by=by)


def redeem(ask: Ask, *, by: str, now: int, fault: Refused | None = None, said: Logged | None = None) -> Ask:
    """Use an approval, once; `fault` is what is wrong with the payload, or with the text that was approved.

    Refuses, in this order: not_yours, the fault, already_redeemed, lapsed, taken_back, not_approved.
    """
    ask = ask.as_of(now)
    _check_requester(ask, by=by, what="redeem")
    if fault:
        raise fault
    _check_approved(ask, now=now, said=said)
    return replace(step(ask, "redeem"), closed=now, closed_by=by)


CLOSED_CODES = {"redeemed": "already_redeemed", "lapsed": "lapsed", "taken_back": "taken_back"}


def _check_approved(ask: Ask, *, now: int, said: Logged | None) -> None:
    if ask.state == "approved":
        return
    code = CLOSED_CODES.get(ask.state, "not_approved")
    again = f' Ask again: logmem_ask {{again: "{ask.id}"}}' if ask.state not in ("pending", "redeemed") else ""
    wait = f' Wait for it: logmem_follow {{what: "{ask.id}"}}' if ask.state == "pending" else ""
    raise Refused(code, f"{told(ask, now=now, said=said)} Nothing ran.{again}{wait}", **verdict_of(ask, said=said))


def _check_requester(ask: Ask, *, by: str, what: str) -> None:
    if by != ask.by:
        raise Refused(
            "not_yours",
            f"Only {ask.by}, who asked, can {what} this; you are {by}. Nothing changed.",
            by=ask.by,
        )


def ask_back(ask: Ask, *, now: int, said: Logged | None = None) -> Ask:
    """The ask with a person's question waiting for its requester. Refuses expired, already_settled."""
    ask = ask.as_of(now)
    _check_pending(ask, now=now, said=said)
    return replace(ask, questioned=True)


def answered_back(ask: Ask, *, by: str) -> Ask | None:
    """The ask once its requester answered the question; None when nothing changes."""
    return replace(ask, questioned=False) if ask.questioned and by == ask.by else None


def grounds(ask: Ask) -> str:
    """The id of the entry in which a person said why the ask stands as it does, or ''."""
    return ask.ended if ask.state == "taken_back" else ask.decided


def verdict_of(ask: Ask, *, said: Logged | None = None) -> dict[str, Any]:
    """The facts of how an ask ended, for programs; `said` is the entry of `grounds`, for what was answered and why."""
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
    facts |= words_of(said)
    return {k: v for k, v in facts.items() if v}


def told(ask: Ask, *, now: int, said: Logged | None = None) -> str:
    """How an ask stands, in a sentence; `said` is the entry of `grounds`, for what was answered and why."""
    if ask.state == "pending":
        return f"Nobody has decided yet; there is time until {iso(ask.deadline)}."
    when = since(now - ask.settled)
    after = since(now - ask.closed)
    words = quoted_words(said)
    match ask.state:
        case "expired":
            return f"The deadline passed {when} and nobody had decided."
        case "withdrawn":
            return f"{ask.settled_by} withdrew it {when}."
        case "redeemed":
            return f"{ask.closed_by} used this approval {after}; it was good for once."
        case "lapsed":
            return f"{ask.settled_by} approved this {when} and it held for {span(ask.valid_for)}."
        case "taken_back":
            return f"{ask.closed_by} took the approval back {after}{words}."
    return f"{ask.settled_by} {ask.state} this {when}{surface(ask.via)}{words}."
