"""The human gate from the agent's side: ask, redeem."""

import secrets
from dataclasses import dataclass, replace
from typing import Any

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.commit import Commit, Quote, put
from ..domain.entry import ABSENT, Entry, Logged, check_summary
from ..domain.errors import Refused
from ..domain.ids import new_trail, principal, shape
from ..domain.moments import duration, iso
from ..domain.person import Member
from ..domain.text import quoted
from ..engine.reads import Doc, Range
from .approvers import audience
from .arguments import Length, Names, Payload
from .call import Call, Result
from .canonical import canonical, check_payload, digest
from .places import Place, resolve, unknown

REASON_LIMIT = 1000


async def ask(
    call: Call,
    *,
    where: str = "",
    summary: str = "",
    payload: Payload = ABSENT,
    risk: str = "normal",
    options: Names | None = None,
    allow: Names | None = None,
    approvers: Names | None = None,
    quorum: int = 1,
    expires_in: Length = "",
    valid_for: Length = "",
    again: str = "",
    withdraw: str = "",
) -> Commit:
    """Stop and ask a person before anything that cannot be undone: money, publishing, deleting, deploys, mail.

    Needs where and summary; payload = exactly what you will do. Then wait with logmem_follow {what: trail}
    and use the approval with logmem_redeem. again: trail asks a settled one anew; withdraw: trail takes yours away.
    """
    if withdraw:
        return await _withdraw(call, withdraw)
    if again:
        draft = await _draft_again(call, again, expires_in=expires_in, valid_for=valid_for)
    else:
        draft = await _draft(
            call, where=where, summary=summary, payload=payload, risk=risk, options=tuple(options or ()),
            allow=tuple(allow or ()), approvers=tuple(approvers or ()), quorum=quorum,
            expires_in=expires_in, valid_for=valid_for,
        )  # fmt: skip
    content = digest(rules.same_content(rules.bound(draft.ask, draft.entry, space=call.caller.space)))[:32]
    same, pending = await call.read(
        Range("same", f"{call.me}:{content}", 1, low=call.now),
        Range("asked", call.me, rules.PENDING_LIMIT, low=call.now),
    )
    if same.members:
        return await _rejoin(call, same.members[0][1])
    if len(pending.members) >= rules.PENDING_LIMIT:
        raise Refused(
            "too_many_pending",
            f"{call.me} has {rules.PENDING_LIMIT} asks that wait for a decision. Nothing was asked. "
            f'Withdraw one: logmem_ask {{withdraw: "{pending.members[0][1]}"}}',
        )
    new = replace(draft.ask, content=content)
    new = replace(new, digest=digest(rules.bound(new, draft.entry, space=call.caller.space)))
    asked = await audience(call, new)
    return Commit(
        result={**_standing(new, call.now), **asked.said, **draft.place.said},
        puts=(*draft.place.puts, put(new, asked=0)),
        entries=(draft.entry,),
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    ask: Ask
    entry: Entry
    place: Place


async def _draft(
    call: Call, *, where: str, summary: str, payload: Any, risk: str, options: tuple[str, ...], allow: tuple[str, ...],
    approvers: tuple[str, ...], quorum: int, expires_in: Length, valid_for: Length,
) -> _Draft:  # fmt: skip
    if not where:
        raise Refused(
            "invalid_argument",
            'logmem_ask needs "where" (channel:x or job:x) and "summary". Nothing was asked.',
            argument="where",
        )
    check_summary(summary)
    if payload is not ABSENT:
        check_payload(payload)
    if risk not in rules.RISKS:
        raise Refused(
            "invalid_argument",
            f"risk is one of {', '.join(rules.RISKS)}. Nothing was asked.",
            argument="risk",
        )
    if quorum != 1:
        raise Refused("invalid_argument", "quorum can be 1 only in this version. Nothing was asked.", argument="quorum")
    _check_options(options)
    place = await resolve(call, where)
    deadline = call.now + duration(
        expires_in or rules.EXPIRES_DEFAULT // 1000,
        low=rules.EXPIRES[0],
        high=rules.EXPIRES[1],
        name="expires_in",
    )
    lasts = rules.VALID_FOR[risk]
    new = Ask(
        id=new_trail(secrets.token_bytes(16)),
        by=call.me,
        where=place.name,
        risk=risk,
        allow=_allowed(allow, options),
        approvers=await _named(call, approvers),
        quorum=quorum,
        digest="",
        responsible=call.grant.responsible if call.grant else "",
        made=call.now,
        deadline=deadline,
        valid_for=duration(valid_for or lasts // 1000, low=rules.VALID_MINIMUM, high=lasts, name="valid_for"),
    )
    return _Draft(new, _asked(call, new, summary=summary, payload=payload, options=options), place)


def _asked(call: Call, new: Ask, *, summary: str, payload: Any, options: tuple[str, ...], origin: str = "") -> Entry:
    return call.entry(new.where, "asked", summary, payload=payload, options=options, trail=new.id, origin=origin)


def _check_options(options: tuple[str, ...]) -> None:
    if len(options) > rules.OPTIONS_LIMIT or len(set(options)) < len(options):
        raise Refused(
            "invalid_argument",
            f"options are up to {rules.OPTIONS_LIMIT} different answers. Nothing was asked.",
            argument="options",
        )
    if any(not o.strip() or len(o) > rules.OPTION_LENGTH for o in options):
        raise Refused(
            "invalid_argument",
            f"An option has 1 to {rules.OPTION_LENGTH} characters. Nothing was asked.",
            argument="options",
        )


def _allowed(allow: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    """The verdicts that the ask allows, in the order of the table; rejecting is always one."""
    if "edit" in allow:
        raise Refused(
            "invalid_argument",
            "Editing is not there in this version; allow takes approve, reject, answer. Nothing was asked.",
            argument="allow",
        )
    wrong = [a for a in allow if a not in rules.VERDICTS]
    if wrong:
        raise Refused(
            "invalid_argument",
            f"allow takes {', '.join(rules.VERDICTS)}. Nothing was asked.",
            argument="allow",
        )
    chosen = {*(allow or (("answer",) if options else ("approve",))), "reject"}
    return tuple(v for v in rules.VERDICTS if v in chosen)


async def _named(call: Call, approvers: tuple[str, ...]) -> tuple[str, ...]:
    """Approvers as declared: people and roles. Refuses unknown_recipient."""
    named: list[str] = []
    for name in approvers or ("role:approver",):
        if name.removeprefix("role:") in ("approver", "owner"):
            named.append(f"role:{name.removeprefix('role:')}")
            continue
        person = principal(name, kinds=("human",), default="human")
        found = await call.look(Doc(Member, person))
        if found is None or not found.role:
            raise await unknown(call, person, "unknown_recipient")
        named.append(person)
    return tuple(dict.fromkeys(named))


def _standing(ask: Ask, now: int) -> Result:
    """How an ask stands, for results: ids and codes only."""
    live = ask.as_of(now)
    wait = {"tool": "logmem_follow", "args": {"what": ask.id}}
    return {
        "trail": ask.id,
        "digest": ask.digest,
        "status": live.state,
        "deadline": iso(ask.deadline),
        "where": ask.where,
        **({"next": wait} if live.state == "pending" else {}),
    }


async def found(call: Call, trail: str) -> Ask:
    """The ask with this trail, read for a decision. Refuses malformed_id, not_found."""
    if shape(trail) != "ask":
        raise Refused(
            "malformed_id",
            f"A trail of an ask looks like ask_…; this is {quoted(trail)}. Nothing changed.",
            argument="trail",
        )
    ask = await call.read(Doc(Ask, trail))
    if ask is None:
        raise Refused("not_found", f"There is no ask {quoted(trail)} in {call.caller.space}. Nothing changed.")
    return ask


async def words(call: Call, ask: Ask) -> Logged:
    """The `asked` entry of an ask, checked against its digest. Refuses digest_mismatch, not_found (redacted)."""
    said = (await call.recall([ask.asked])).get(ask.asked)
    if said is None or said.entry is None:
        raise Refused("not_found", f"The text of {ask.id} was redacted or is missing. Nothing ran.")
    if digest(rules.bound(ask, said.entry, space=call.caller.space)) != ask.digest:
        raise Refused(
            "digest_mismatch",
            f"What stands in the store for {ask.id} is not what was asked. Nothing ran. Run: logmem verify",
        )
    return said


async def _rejoin(call: Call, trail: str) -> Commit:
    """The pending ask that has the same content."""
    same = await found(call, trail)
    asked = await audience(call, same)
    return Commit(result={**_standing(same, call.now), **asked.said, "rejoined": True})


async def _draft_again(call: Call, trail: str, *, expires_in: Length, valid_for: Length) -> _Draft:
    """The content of an earlier ask of the caller's, under a new trail and new times."""
    old = await found(call, trail)
    if old.by != call.me:
        raise Refused("not_yours", f"{old.by} asked this, not {call.me}. Nothing was asked.", by=old.by)
    said = (await words(call, old)).entry
    assert said is not None  # noqa: S101 - `words` refuses a redacted one
    lasts = rules.VALID_FOR[old.risk]
    new = replace(
        Ask(
            id=new_trail(secrets.token_bytes(16)),
            by=call.me,
            where=old.where,
            digest="",
            made=call.now,
            deadline=0,
            valid_for=0,
        ),
        risk=old.risk,
        allow=old.allow,
        approvers=old.approvers,
        quorum=old.quorum,
        responsible=call.grant.responsible if call.grant else "",
        deadline=call.now
        + duration(
            expires_in or rules.EXPIRES_DEFAULT // 1000,
            low=rules.EXPIRES[0],
            high=rules.EXPIRES[1],
            name="expires_in",
        ),
        valid_for=duration(valid_for or lasts // 1000, low=rules.VALID_MINIMUM, high=lasts, name="valid_for"),
    )
    entry = _asked(call, new, summary=said.summary, payload=said.payload, options=said.options, origin=old.id)
    return _Draft(new, entry, Place(old.where))


async def _withdraw(call: Call, trail: str) -> Commit:
    new = rules.withdraw(await found(call, trail), by=call.me, now=call.now)
    entry = call.entry(new.where, "withdrawn", "withdrawn by its requester", trail=trail)
    return Commit(result=_standing(new, call.now), puts=(put(new, ended=0),), entries=(entry,), not_after=new.deadline)


async def redeem(call: Call, *, trail: str, payload: Payload = ABSENT) -> Commit:
    """Use an approval, once, right before you do what was approved.

    Returns the payload that was approved: do exactly that. Give payload to have it
    compared. Refused when nobody has approved, or it was used, lapsed or taken back.
    """
    if payload is not ABSENT:
        check_payload(payload)
    ask = await found(call, trail)
    said = await words(call, ask)
    approved = said.entry.payload if said.entry else ABSENT
    if payload is not ABSENT and (approved is ABSENT or canonical(payload) != canonical(approved)):
        raise Refused(
            "digest_mismatch",
            f"This payload is not the one that {ask.id} asked about. Nothing ran.",
            digest=ask.digest,
        )
    new = rules.redeem(ask, by=call.me, now=call.now)
    decision = {
        "verdict": "approve",
        "by": ask.settled_by,
        "via": ask.via,
        "assurance": ask.assurance,
        "at": iso(ask.settled),
        "entry": ask.decided,
    }
    return Commit(
        result={
            "trail": trail,
            "status": new.state,
            "summary": Quote(ask.asked, "summary"),
            "payload": Quote(ask.asked, "payload"),
            "digest": ask.digest,
            "decision": decision,
            "redemption": Quote(0),
        },
        puts=(put(new, ended=0),),
        entries=(
            call.entry(ask.where, "redeemed", "the approval was used", trail=trail, payload={"digest": ask.digest}),
        ),
        not_after=ask.lapses,
    )
