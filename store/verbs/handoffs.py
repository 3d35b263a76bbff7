"""Handoffs: work that one principal gives to another, settled once by its recipient."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from ..domain import item as rules
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import SUMMARY_LIMIT, Logged, check_summary
from ..domain.errors import Refused
from ..domain.ids import SOMEBODY, Shape, known, new_item, parse_place
from ..domain.item import Item, standing
from ..domain.job import Job, taken
from ..domain.moments import iso, until
from ..domain.slot import Who, slug
from ..domain.text import quoted
from ..engine.reads import Doc, Read, Written
from . import context
from .arguments import Alone, Also, Length
from .call import Call, Result
from .mailbox import post
from .places import Place, at, missing, resolve
from .recipients import check_able, evidence, keyless, principals

ANYONE = "anyone"
RECIPIENTS = (*SOMEBODY, "role")


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
    """Hand off or pass work on instead of stopping.

    to: agent:x, human:x, or role:x (the first of that role to accept). Needs to and summary; where: job:x hands
    over that job. They accept or decline in 24 h unless deadline says else. withdraw: take back an item you sent;
    requeue: send an expired one again. to: anyone with text leaves a message (label = its title) for whoever comes
    next.
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
    await call.ahead([*_reads(to, where), *context.STANDS_ON])
    named = await _recipient(call, to)
    place = await _place(call, where, named)
    about = await context.facts_about(call, summary)
    new = replace(_new(call, named, place=place.name, deadline=deadline), **about._asdict())
    return _sent(call, new, summary=summary, place=place, warning=await keyless(call, [named]))


def _new(call: Call, to: str, *, place: str, deadline: Length, usual: int = rules.DEADLINE_USUAL) -> Item:
    end = until(deadline, now=call.now, bounds=rules.DEADLINE, usual=usual, name="deadline")
    id = new_item(secrets.token_bytes(7))
    return Item(id=id, sender=call.me, to=to, where=place, made=call.now, deadline=end)


def _sent(
    call: Call, new: Item, *, summary: str, place: Place, more: tuple[Put, ...] = (), warning: Result | None = None
) -> Commit:
    """The commit that sends an item."""
    says = {"to": new.to, "deadline": iso(new.deadline)}
    entry = call.entry(new.where, "handoff", summary, trail=new.id, payload=says, origin=new.requeued_from)
    facts = {k: v for k, v in standing(new, None, call.now, me=call.me).items() if k not in ("says", "from", "made")}
    if new.context:
        facts["context"] = list(new.context)
    return Commit(
        result={**facts, **place.said, **(warning or {})}, puts=(*place.puts, put(new, sent=0), *more), entries=(entry,)
    )


def _reads(to: str, where: str) -> list[Read[Any]]:
    """What shows whom and which place a handoff names. Refuses malformed_id."""
    kind, _, id = to.partition(":")
    place = where or (f"channel:{slug(id)}" if kind == "role" and slug(id) else "")
    there = [at(parse_place(place, default="channel"))] if place else []
    return [*(evidence([to], RECIPIENTS) if to else ()), *there]


async def _place(call: Call, where: str, to: str) -> Place:
    """Where the item stands: as said, else at its recipient's. Refuses job_done, skill_missing."""
    if not where:
        kind, _, id = to.partition(":")
        return await resolve(call, f"channel:{id}") if kind == "role" else Place(to)
    place = await resolve(call, where, obliges=True)
    if isinstance(place.found, Job):
        await check_able(call, place.found, to)
    return place


async def _recipient(call: Call, to: str) -> str:
    """Whom `to` means, other than the caller. Refuses invalid_argument, malformed_id, unknown_recipient."""
    if not to:
        raise Refused(
            "invalid_argument",
            f"logmem_handoff needs to (agent:x, human:x, role:x or {ANYONE}) and summary. Nothing was written.",
            argument="to",
        )
    (found,) = await principals(call, [to], RECIPIENTS)
    if found == call.me:
        raise Refused(
            "invalid_argument",
            f"{found} is you. Nothing was written. For later: logmem_handoff {{to: {ANYONE}, text}}, "
            f"or logmem_note {{where, kind: memo, summary}}",
            argument="to",
        )
    return found


async def _found(call: Call, id: str, *, name: str, more: Sequence[Read[Any]] = ()) -> tuple[Item, Logged | None]:
    """The item, read for a decision, and the entry that settled it. Refuses malformed_id, not_found.

    `more` is what the caller reads next.
    """
    known(id, (Shape.ITEM,), name=name)
    await call.ahead([Doc(Item, id), *more])
    item = await call.read(Doc(Item, id))
    if item is None:
        raise await missing(call, id)
    # An open item has no such entry, so that settling it takes one trip less.
    return item, (await call.recall([item.ended])).get(item.ended)


async def _withdraw(call: Call, id: str) -> Commit:
    old, ended = await _found(call, id, name="withdraw")
    new = rules.withdraw(old, by=call.me, via=call.caller.via, now=call.now, ended=ended)
    said = "put away after its deadline" if new.state == "expired" else "withdrawn by its sender"
    entry = call.entry(old.where, "withdrawn", said, trail=old.thread)
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
    new = replace(fresh, requeued_from=id, context=old.context, unsearched=old.unsearched)
    closed = rules.requeue(old, by=call.me, new=new.id, now=call.now, ended=ended)
    await call.ahead([Written(old.sent), *_reads(old.to, old.where)])
    said = (await call.recall([old.sent])).get(old.sent)
    if said is None or said.entry is None:
        raise Refused("not_found", f"The text of {id} was redacted or is missing. Nothing was written.")
    await _recipient(call, old.to)
    place = await _place(call, old.where, old.to)
    return _sent(call, new, summary=said.summary, place=place, more=(put(closed),))


async def accept(call: Call, *, item: Annotated[str, Also("trail")], decline: bool = False, reason: str = "") -> Commit:
    """Accept work that was handed to you or your role, or decline the item with decline: true and a reason.

    Settled once; its sender sees it. A handoff in a job makes you the job's assignee.
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
    mine = [Doc(Who, call.me)] if call.caller.is_agent else []
    old, ended = await _found(call, item, name="item", more=mine)
    roles = await roles_of_caller(call) if old.to.startswith("role:") else ()
    event = "decline" if decline else "accept"
    new = rules.settle(old, event, by=call.me, roles=roles, via=call.caller.via, now=call.now, ended=ended)
    if not decline:
        place = [at(old.where)] if old.where.startswith("job:") else []  # nothing of another place is needed
        await call.ahead([*place, *map(Written, old.context)])
    job = () if decline else await _job(call, old)
    said = reason if reason.strip() else "accepted"
    return Commit(
        result={
            "trail": item,
            **rules.outcome(new),
            "from": old.sender,
            **({"job": old.where, "assignee": call.me} if job else {}),
            "entry": Quote(0),
            **({} if decline else await context.along(call, old)),
            "next": {"tool": "logmem_view", "args": {"what": item}},
        },
        puts=(put(new, ended=0), *job),
        entries=(call.entry(old.where, new.state, said, trail=old.thread),),
        not_after=old.deadline,
    )


async def _job(call: Call, item: Item) -> tuple[Put, ...]:
    """The job that was handed over, now the caller's. Refuses skill_missing."""
    kind, _, id = item.where.partition(":")
    job = await call.read(Doc(Job, id)) if kind == "job" else None
    if job is None:
        return ()
    await check_able(call, job, call.me)
    return (put(taken(job, by=call.me)),)


async def roles_of_caller(call: Call) -> tuple[str, ...]:
    """The roles that the caller has now, as `role:<slug>` names them."""
    await call.admit()
    if call.member:
        return call.member.roles
    who = await call.read(Doc(Who, call.me)) if call.caller.is_agent else None
    return who.roles if who else ()
