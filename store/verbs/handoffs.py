"""Handoffs: work that one principal gives to another, settled once by its recipient."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from ..domain import item as rules
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import SUMMARY_LIMIT, Logged, check_summary
from ..domain.errors import Refused
from ..domain.ids import Shape, known, near, new_item, principal
from ..domain.item import Item, standing
from ..domain.job import Job, taken
from ..domain.moments import iso, until
from ..domain.person import Member
from ..domain.slot import Who, slug
from ..domain.text import quoted
from ..engine.reads import Doc, Range
from .arguments import Alone, Also, Length
from .call import Call
from .mailbox import post
from .places import NEAR_LIMIT, Place, missing, resolve

ANYONE = "anyone"
RECIPIENTS = ("agent", "human", "role")


async def handoff(
    call: Call,
    *,
    to: str = "",
    summary: str = "",
    where: str = "",
    deadline: Length = "",
    text: str = "",
    label: str = "",
    withdraw: Annotated[str, Alone()] = "",
    requeue: Annotated[str, Alone(("deadline",))] = "",
) -> Commit:
    """Hand work on instead of stopping: to agent:x, human:x, or role:x for the first of that role to accept.

    Needs to and summary; settled within 24 h unless deadline says else. They accept or decline it.
    to: anyone with text leaves a note (label = its title) for whoever comes next.
    withdraw: item takes yours back; requeue: item sends an expired one again.
    """
    if withdraw:
        return await _withdraw(call, withdraw)
    if requeue:
        return await _requeue(call, requeue, deadline=deadline)
    if to == ANYONE:
        if label and summary:
            raise Refused(
                "invalid_argument",
                "A note for anyone has one title: give label or summary, and the rest in text. Nothing was written.",
                argument="summary",
            )
        return await post(call, text=text, label=label or summary, where=where, deadline=deadline)
    if text or label:
        raise Refused(
            "invalid_argument",
            f"text and label are for to: {ANYONE}; say in summary what is handed over, and keep the long part in a "
            "note or file that it names. Nothing was written.",
            argument="text" if text else "label",
        )
    check_summary(summary)
    recipient = await _recipient(call, to)
    place = await _place(call, where, recipient)
    return _sent(call, _new(call, recipient, place=place.name, deadline=deadline), summary=summary, place=place)


def _new(call: Call, to: str, *, place: str, deadline: Length, usual: int = rules.DEADLINE_USUAL) -> Item:
    end = until(deadline, now=call.now, bounds=rules.DEADLINE, usual=usual, name="deadline")
    id = new_item(secrets.token_bytes(7))
    return Item(id=id, sender=call.me, to=to, where=place, made=call.now, deadline=end)


def _sent(call: Call, new: Item, *, summary: str, place: Place, more: tuple[Put, ...] = ()) -> Commit:
    """The commit that sends an item."""
    says = {"to": new.to, "deadline": iso(new.deadline)}
    entry = call.entry(new.where, "handoff", summary, trail=new.id, payload=says, origin=new.requeued_from)
    facts = {k: v for k, v in standing(new, None, call.now, me=call.me).items() if k not in ("says", "from", "made")}
    return Commit(result={**facts, **place.said}, puts=(*place.puts, put(new, sent=0), *more), entries=(entry,))


async def _place(call: Call, where: str, recipient: str) -> Place:
    """Where the item stands: as said, else at its recipient's."""
    if where:
        return await resolve(call, where)
    kind, _, id = recipient.partition(":")
    return await resolve(call, f"channel:{id}") if kind == "role" else Place(recipient)


async def _recipient(call: Call, to: str) -> str:
    """Whom `to` means: somebody who is here now. Refuses invalid_argument, malformed_id, unknown_recipient."""
    if not to:
        raise Refused(
            "invalid_argument",
            f"logmem_handoff needs to (agent:x, human:x, role:x or {ANYONE}) and summary. Nothing was written.",
            argument="to",
        )
    prefix, colon, rest = to.partition(":")
    spelled = f"role:{slug(rest)}" if colon and prefix == "role" else to
    name = principal(spelled, RECIPIENTS, default="agent", name="to")
    kind, _, id = name.partition(":")
    if kind == "role":
        return await _role(call, name)
    agent = await call.look(Doc(Who, f"agent:{id}"))
    person = await call.read(Doc(Member, f"human:{id}"))
    # No agent and person share an id, so a bare one can only mean who is there.
    here = {"agent": agent is not None, "human": bool(person and person.role)}
    found = next((f"{k}:{id}" for k, there in here.items() if there and (k == kind or not colon)), "")
    if not found:
        raise await _unknown(call, [name] if colon else [f"{k}:{id}" for k in here])
    if found == call.me:
        raise Refused(
            "invalid_argument",
            f"{found} is you. Nothing was written. For later: logmem_handoff {{to: {ANYONE}, text}}, "
            f"or logmem_note {{where, kind: memo, summary}}",
            argument="to",
        )
    return found


async def _role(call: Call, role: str) -> str:
    """The role, if somebody other than the sender has it now. Refuses unknown_recipient."""
    holders = await call.read(Range("role", role.partition(":")[2], 2))
    if any(id != call.me for _, id in holders.members):
        return role
    if holders.members:
        raise Refused(
            "unknown_recipient",
            f"Nobody but you has {role} in {call.caller.space} now. Nothing was written.",
            near=[],
        )
    raise await _unknown(call, [role])


async def _unknown(call: Call, names: Sequence[str]) -> Refused:
    """The refusal for a recipient that is not here, with those who were probably meant."""
    roster = await call.look(Range("roster", "", NEAR_LIMIT))
    ids = [id for id in roster.ids(Who) if id != call.me]
    if names[0].startswith("role:"):
        agents = await call.look_each(Doc(Who, id) for id in ids if id.startswith("agent:"))
        people = await call.look_each(Doc(Member, id) for id in ids if id.startswith("human:"))
        here = sorted({f"role:{r}" for found in (*agents, *people) if found for r in found.roles})
    else:
        members = await call.look_each(Doc(Member, id) for id in ids if id.startswith("human:"))
        present = {m.id for m in members if m and m.role}
        here = [id for id in ids if id.startswith("agent:") or id in present]
    # Compared without their prefixes, which would make any two of a kind alike.
    spelled = {name.partition(":")[2]: name for name in here}
    close = [spelled[id] for id in near(names[0].partition(":")[2], spelled)]
    hint = f"Did you mean {', '.join(close)}?" if close else f"Here are {', '.join(here[:8]) or 'none'}."
    is_not = "Nobody has" if names[0].startswith("role:") else "There is no"
    return Refused(
        "unknown_recipient",
        f"{is_not} {' or '.join(names)} in {call.caller.space} now. Nothing was written. {hint}",
        near=close,
    )


async def _found(call: Call, id: str, *, name: str) -> tuple[Item, Logged | None]:
    """The item, read for a decision, and the entry that settled it. Refuses malformed_id, not_found."""
    known(id, (Shape.ITEM,), name=name)
    item = await call.read(Doc(Item, id))
    if item is None:
        raise await missing(call, id)
    # An open item has no such entry, so that settling it takes one trip less.
    return item, (await call.recall([item.ended])).get(item.ended)


async def _withdraw(call: Call, id: str) -> Commit:
    old, ended = await _found(call, id, name="withdraw")
    new = rules.withdraw(old, by=call.me, via=call.caller.via, now=call.now, ended=ended)
    said = "put away after its deadline" if new.state == "expired" else "withdrawn by its sender"
    entry = call.entry(old.where, "withdrawn", said, trail=id)
    return Commit(
        result={"trail": id, **rules.outcome(new), "to": new.to, "entry": Quote(0)},
        puts=(put(new, ended=0),),
        entries=(entry,),
        not_after=old.deadline if new.state == "withdrawn" else 0,
    )


async def _requeue(call: Call, id: str, *, deadline: Length) -> Commit:
    """The dead letter again: same recipient, place and words, under a new id and deadline."""
    old, ended = await _found(call, id, name="requeue")
    fresh = _new(call, old.to, place=old.where, deadline=deadline, usual=old.deadline - old.made)
    new = replace(fresh, requeued_from=id)
    closed = rules.requeue(old, by=call.me, new=new.id, now=call.now, ended=ended)
    said = (await call.recall([old.sent])).get(old.sent)
    if said is None or said.entry is None:
        raise Refused("not_found", f"The text of {id} was redacted or is missing. Nothing was written.")
    await _recipient(call, old.to)
    return _sent(call, new, summary=said.summary, place=Place(old.where), more=(put(closed),))


async def accept(call: Call, *, item: Annotated[str, Also("trail")], decline: bool = False, reason: str = "") -> Commit:
    """Take over what was handed to you, or to your role; or turn it down with decline: true and a reason.

    It settles once, and its sender sees it at once. Accepting the handoff of a job makes you its assignee.
    """
    if decline and not reason.strip():
        raise Refused(
            "reason_required",
            "Say why, so that its sender can go on. Nothing changed. "
            f"logmem_accept {{item: {quoted(item)}, decline: true, reason}}",
            argument="reason",
        )
    if len(reason) > SUMMARY_LIMIT:
        raise Refused("too_long", f"reason may have {SUMMARY_LIMIT} characters. Nothing changed.", argument="reason")
    old, ended = await _found(call, item, name="item")
    roles = await roles_of_caller(call) if old.to.startswith("role:") else ()
    event = "decline" if decline else "accept"
    new = rules.settle(old, event, by=call.me, roles=roles, via=call.caller.via, now=call.now, ended=ended)
    job = () if decline else await _job(call, old)
    said = reason if reason.strip() else "accepted"
    return Commit(
        result={
            "trail": item,
            **rules.outcome(new),
            "from": old.sender,
            **({"job": old.where, "assignee": call.me} if job else {}),
            "entry": Quote(0),
            "next": {"tool": "logmem_view", "args": {"what": item}},
        },
        puts=(put(new, ended=0), *job),
        entries=(call.entry(old.where, new.state, said, trail=item),),
        not_after=old.deadline,
    )


async def _job(call: Call, item: Item) -> tuple[Put, ...]:
    """The job that was handed over, now the caller's."""
    kind, _, id = item.where.partition(":")
    job = await call.read(Doc(Job, id)) if kind == "job" else None
    return (put(taken(job, by=call.me)),) if job else ()


async def roles_of_caller(call: Call) -> tuple[str, ...]:
    """The roles that the caller has now, as `role:<slug>` names them."""
    await call.admit()
    if call.member:
        return call.member.roles
    who = await call.read(Doc(Who, call.me)) if call.caller.is_agent else None
    return who.roles if who else ()
