"""The human gate from the agent's side: ask, redeem."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from ..domain import ask as rules
from ..domain.ask import Ask
from ..domain.commit import Commit, Quote, put
from ..domain.entry import ABSENT, Entry, Logged, check_summary
from ..domain.errors import Refused
from ..domain.ids import Shape, known, new_trail, parse_place
from ..domain.moments import iso
from ..domain.person import Member
from ..engine.reads import Doc, Range, Read
from .approvers import ROLES, Roles, audience, audience_of
from .arguments import Alone, Length, Names, Payload
from .call import Call, Result
from .canonical import canonical, check_payload, digest
from .places import Place, at, missing, placed, unknown

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
    again: Annotated[str, Alone(("expires_in", "valid_for"))] = "",
    withdraw: Annotated[str, Alone()] = "",
) -> Commit:
    """Get a person's approval before anything that cannot be undone.

    May I deploy to production, publish, delete, spend money, send mail? Only a human decision counts. Needs where
    and summary; payload = exactly what you will do. Returns a trail; wait with logmem_follow {what: trail} and run
    it only after logmem_redeem. again: trail asks a settled one anew; withdraw: trail takes yours away.
    """
    if withdraw:
        return await _withdraw(call, withdraw)
    if again:
        wish = await _earlier(call, again, expires_in=expires_in, valid_for=valid_for)
    else:
        wish = _Wish(
            where=where, summary=summary, payload=payload, risk=risk, options=tuple(options or ()),
            allow=tuple(allow or ()), approvers=tuple(approvers or ()), quorum=quorum,
            expires_in=expires_in, valid_for=valid_for,
        )  # fmt: skip
        _check_said(wish)
    return await _asked(call, wish)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What is asked for, as it was said or as an earlier ask (`origin`) had it."""

    where: str
    summary: str
    payload: Any
    risk: str
    options: Sequence[str]
    allow: Sequence[str]
    approvers: Sequence[str]
    quorum: int
    expires_in: Length
    valid_for: Length
    origin: str = ""


def _check_said(wish: _Wish) -> None:
    if not wish.where:
        raise Refused(
            "invalid_argument",
            'logmem_ask needs "where" (channel:x or job:x) and "summary". Nothing was asked.',
            argument="where",
        )
    check_summary(wish.summary)
    if wish.payload is not ABSENT:
        check_payload(wish.payload)


async def _asked(call: Call, wish: _Wish) -> Commit:
    """The commit that asks, or the pending ask of the same content."""
    place, roles = await _looked(call, wish)
    new = rules.new(
        id=new_trail(secrets.token_bytes(16)), by=call.me, where=place.name,
        responsible=call.grant.responsible if call.grant else "", risk=wish.risk, options=wish.options,
        allow=wish.allow, approvers=wish.approvers, quorum=wish.quorum, expires_in=wish.expires_in,
        valid_for=wish.valid_for, now=call.now,
    )  # fmt: skip
    new = replace(new, minted_by=call.grant.minted_by if call.grant else "")
    entry = call.entry(
        new.where, "asked", wish.summary, payload=wish.payload, options=tuple(wish.options), trail=new.id,
        origin=wish.origin,
    )  # fmt: skip
    content = digest(rules.same_content(rules.bound(new, entry, space=call.caller.space)))[:32]
    same_of = Range("same", f"{call.me}:{content}", 1, low=call.now)
    asked_of = Range("asked", call.me, rules.PENDING_LIMIT, low=call.now)
    await call.ahead([same_of, asked_of, *audience_of(call, new, roles)])
    same, pending = await call.read(same_of, asked_of)
    if same.members:
        return await _rejoin(call, same.members[0][1], roles=roles)
    if len(pending.members) >= rules.PENDING_LIMIT:
        raise Refused(
            "too_many_pending",
            f"{call.me} has {rules.PENDING_LIMIT} asks that wait for a decision. Nothing was asked. "
            f'Withdraw one: logmem_ask {{withdraw: "{pending.members[0][1]}"}}',
        )
    new = replace(new, content=content, digest=digest(rules.bound(new, entry, space=call.caller.space)))
    # Whoever is lost while this is written knows nothing of it, so it has to know of them.
    said = (await audience(call, new, firm=True)).shown
    return Commit(
        result={**_standing(new, call.now), **said, **place.said},
        puts=(*place.puts, put(new, asked=0)),
        entries=(entry,),
    )


async def _looked(call: Call, wish: _Wish) -> tuple[Place, Roles]:
    """The place, and who approves here, in one round trip. Refuses malformed_id, not_found, unknown_recipient."""
    name = parse_place(wish.where, default="channel")
    named = [who for who in rules.declared(wish.approvers) if not who.startswith("role:")]
    reads: list[Read[Any]] = [at(name), *ROLES, *(Doc(Member, person) for person in named)]
    await call.ahead(reads)
    found, approver, owner, *members = await call.look_each(reads)
    for person, member in zip(named, members, strict=True):
        # Who was named in an earlier ask may have left since: then the result warns that nobody is eligible.
        if not wish.origin and not (member and member.role):
            raise await unknown(call, person, "unknown_recipient")
    return await placed(call, name, found), Roles.of(approver, owner)


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
    known(trail, (Shape.ASK,), name="trail")
    ask = await call.read(Doc(Ask, trail))
    if ask is None:
        raise await missing(call, trail)
    return ask


async def grounds(call: Call, ask: Ask) -> Logged | None:
    """The entry in which a person said why the ask stands as it does; an ask that waits has none."""
    id = rules.grounds(ask)
    return (await call.recall([id])).get(id)


async def words(call: Call, ask: Ask) -> Entry:
    """What was asked, checked. Refuses what `checked` does."""
    return checked(ask, (await call.recall([ask.asked])).get(ask.asked), space=call.caller.space)


def checked(ask: Ask, said: Logged | None, *, space: str) -> Entry:
    """The `asked` entry of an ask, once it was compared with the digest: nothing else of an ask is shown or used.

    Refuses digest_mismatch (the ledger or the ask was altered), not_found (redacted).
    """
    if said is None or said.entry is None:
        raise Refused("not_found", f"The text of {ask.id} was redacted or is missing. Nothing ran, nothing changed.")
    if digest(rules.bound(ask, said.entry, space=space)) != ask.digest:
        raise Refused(
            "digest_mismatch",
            f"What stands in the store for {ask.id} is not what was asked. Nothing ran, nothing changed. "
            "Its operator should run: logmem verify",
            digest=ask.digest,
        )
    return said.entry


async def _rejoin(call: Call, trail: str, *, roles: Roles) -> Commit:
    """The pending ask that has the same content."""
    same = await found(call, trail)
    said = (await audience(call, same, roles=roles)).shown
    return Commit(result={**_standing(same, call.now), **said, "rejoined": True})


async def _earlier(call: Call, trail: str, *, expires_in: Length, valid_for: Length) -> _Wish:
    """The content of an earlier ask of the caller's. Refuses not_yours, and what `words` does."""
    old = await found(call, trail)
    if old.by != call.me:
        raise Refused("not_yours", f"{old.by} asked this, not {call.me}. Nothing was asked.", by=old.by)
    said = await words(call, old)
    return _Wish(
        where=old.where, summary=said.summary, payload=said.payload, risk=old.risk, options=said.options,
        allow=old.allow, approvers=old.approvers, quorum=old.quorum, expires_in=expires_in, valid_for=valid_for,
        origin=old.id,
    )  # fmt: skip


async def _withdraw(call: Call, trail: str) -> Commit:
    ask = await found(call, trail)
    new = rules.withdraw(ask, by=call.me, now=call.now, said=await grounds(call, ask))
    entry = call.entry(new.where, "withdrawn", "withdrawn by its requester", trail=trail)
    return Commit(result=_standing(new, call.now), puts=(put(new, ended=0),), entries=(entry,), not_after=new.deadline)


async def redeem(call: Call, *, trail: str, payload: Payload = ABSENT) -> Commit:
    """Use an approval, once, right before you run what was approved.

    Returns the approved payload: do exactly that. Give payload to have it compared. Refused unless it is approved
    and unused.
    """
    if payload is not ABSENT:
        check_payload(payload)
    ask = await found(call, trail)
    await call.recall([ask.asked, ask.decided, rules.grounds(ask)])  # all at once
    new = rules.redeem(
        ask, by=call.me, now=call.now, fault=await _fault(call, ask, payload), said=await grounds(call, ask)
    )
    decision = {
        "verdict": "approve",
        "by": ask.settled_by,
        "via": ask.via,
        "assurance": ask.assurance,
        "at": iso(ask.settled),
        "entry": ask.decided,
        "reason": Quote(ask.decided, "reason"),
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


def _check_decided(ask: Ask, said: Logged | None) -> None:
    """An approval is what its `decided` entry says, not what the document claims. Refuses digest_mismatch."""
    entry = said.entry if said else None
    claim = {"digest": ask.digest, "verdict": "approve"}
    told = entry.payload if entry and entry.kind == "decided" and entry.by == ask.settled_by else None
    if not isinstance(told, dict) or {k: told.get(k) for k in claim} != claim:
        text = f"No decision in the Log bears out that {ask.id} is approved. Nothing ran. Run: logmem verify"
        raise Refused("digest_mismatch", text, digest=ask.digest)


async def _fault(call: Call, ask: Ask, payload: Any) -> Refused | None:
    """What is wrong with the text that was approved, or with the payload that is to run."""
    try:
        approved = (await words(call, ask)).payload
        if ask.state == "approved":
            _check_decided(ask, call.records.get(ask.decided))
    except Refused as fault:
        return fault
    if payload is ABSENT or (approved is not ABSENT and canonical(payload) == canonical(approved)):
        return None
    return Refused(
        "digest_mismatch",
        f"This payload is not the one that {ask.id} asked about. Nothing ran.",
        digest=ask.digest,
    )
