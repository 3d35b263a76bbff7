"""Shifts in which nobody has written for long: their agents are queued, and recapped one by one."""

from ..domain import recap as words
from ..domain.commit import Commit, put
from ..domain.document import Index
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.moments import span
from ..domain.shift import IDLE, Shift, ended
from ..domain.slot import Now
from ..engine.claim import COUNT, QUEUE, Claim
from ..engine.claim import IDLE as AT_WORK
from ..engine.keys import Keys
from ..engine.reads import Count, Doc, Log, Range, Score, Scored, Stretch
from ..engine.store import Store
from .call import Call
from .sweeping import did, row

ROUNDS = 200  # claims of one sweep


async def claim(store: Store, space: str, *, epoch: int, now: int) -> int:
    """Queue everybody who wrote last half an hour ago or before; how many. Refuses stale."""
    run, total = Claim(store.writer), 0
    for _ in range(ROUNDS):
        moved = await run(Keys(space), epoch=epoch, before=now - IDLE)
        if moved is None:
            raise Refused("stale", f"A scheduler of another epoch than {epoch} leads in {space}. Nobody was queued.")
        total += moved
        if moved < COUNT:
            break
    return total


async def queued(store: Store, space: str, *, count: int) -> list[tuple[str, int]]:
    """Those who have waited longest to be recapped, each with when they wrote last (ms)."""
    ((found,),) = await store.across([space], Scored(Range(QUEUE, "", count)))
    return [(agent, seen) for seen, agent in found]


def action(agent: str, seen: int) -> str:
    """The action of one recap: whatever happens to a scheduler on the way, it is written once."""
    return f"recap:{agent}:{seen}"


async def _recap(call: Call, *, agent: str, seen: int) -> Commit:
    """End the shift of an agent who was queued, unless they wrote again, have ended it, or wait for a decision."""
    await call.admit()
    waits, wrote, shift, asks = await call.read(
        Score(QUEUE, "", agent), Score(AT_WORK, "", agent), Doc(Shift, agent), Count("asked", agent, low=call.now)
    )
    queue = ((Index(QUEUE, "", 0), agent),)
    if waits is None or waits > seen:
        return did(0)
    if wrote is not None or shift is None or not shift.open:
        return did(0, drops=queue)
    if asks:
        return did(0, drops=queue, touches=((Index(AT_WORK, "", call.now), agent),))
    own, doing = await _written(call, shift)
    text = words.summary(shift, own, doing=doing)
    entry = call.entry(agent, "recap", text, payload=words.payload(shift, own), why=f"no write for {span(IDLE)}")
    return did(1, puts=(put(ended(shift, now=call.now, auto=True), recap=0),), entries=(entry,), drops=queue)


async def _written(call: Call, shift: Shift) -> tuple[list[Logged], str]:
    """What the agent wrote last in this shift, and what it was at."""
    lines, now = await call.look(Log(shift.id, words.READ), Doc(Now, shift.id))
    found = await call.look(Stretch(tuple(lines.seqs))) if lines.seqs else []
    return words.of_shift(found, shift), now.doing if now and now.since >= shift.since else ""


RECAP = row("auto_recap", _recap)
