"""Told once, before it hurts: keys that end soon, and facts whose review is due."""

from dataclasses import replace

from ..domain.commit import Commit, put
from ..domain.entry import Entry
from ..domain.fact import Fact
from ..domain.grant import Grant
from ..domain.moments import HOUR, MINUTE, iso, span
from ..engine.reads import Range
from .call import Call
from .sweeping import BATCH, did, each, row


async def _warn(call: Call) -> Commit:
    """The keys that end soon: their agents and those who answer for them are told, a week before and a day before."""
    await call.admit()
    page = await call.look(Range("warn", "", BATCH, high=call.now))
    keys = await each(call, page, Grant)
    return did(
        len(keys),
        more=len(page.members) == BATCH,
        puts=tuple(put(replace(key, warned=call.now)) for key in keys),
        entries=tuple(entry for key in keys for entry in _ending(call, key)),
    )


def _ending(call: Call, key: Grant) -> list[Entry]:
    """A line for the agent, and one for whoever answers for it."""
    left = key.expires - call.now
    when = f"ends in {_whole(left)}, at {iso(key.expires)}" if left > 0 else f"ended at {iso(key.expires)}"
    name = key.principal.partition(":")[2]
    text = f"The key {key.id} of {key.principal} {when}. An owner can renew it: logmem renew {name}"
    said = {"key": key.id, "principal": key.principal, "expires": iso(key.expires)}
    whom = dict.fromkeys(who for who in (key.principal, key.responsible) if who)
    return [call.entry(who, "expiring", text, payload=said) for who in whom]


def _whole(ms: int) -> str:
    """A length of time in whole hours, or in minutes where it has none."""
    return span(ms // HOUR * HOUR if ms >= HOUR else max(MINUTE, ms // MINUTE * MINUTE))


async def _review(call: Call) -> Commit:
    """The facts whose review is due: who wrote them is told."""
    await call.admit()
    page = await call.look(Range("review", "", BATCH, high=call.now - 1))
    facts = [fact for fact in await each(call, page, Fact) if fact.due(call.now)]
    return did(
        len(facts),
        more=len(page.members) == BATCH,
        puts=tuple(put(replace(fact, reminded=call.now)) for fact in facts),
        entries=tuple(_due(call, fact) for fact in facts),
    )


def _due(call: Call, fact: Fact) -> Entry:
    text = (
        f"The review of {fact.id} is due since {iso(fact.review_by)}: does it still hold? "
        f'logmem_note {{where: "{fact.where}", kind: "fact", supersedes: "{fact.id}", summary}}'
    )
    return call.entry(fact.by, "review", text, payload={"fact": fact.id})


WARN, REVIEW = row("warn", _warn), row("review", _review)
