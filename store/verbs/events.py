"""The stream of what happens in a space, for surfaces that show it live. Rights are checked again at each step."""

import re
from collections.abc import AsyncGenerator
from dataclasses import asdict

from ..domain.errors import Refused
from ..engine.feed import Since
from ..engine.store import Store
from .call import Call, Result, Row
from .faults import told_plainly
from .follow import RECHECK, rung
from .identity import Badge, enter, vouch
from .perform import perform
from .standing import Stand, rounds

BATCH = 20
EVENT_ID = re.compile(r"[0-9]{1,16}-[0-9]{1,12}")


async def events(store: Store, badge: Badge, *, after: str = "") -> AsyncGenerator[list[Result], None]:
    """Batches of events since `after` (an event's id; '' for from now on); an empty batch each quiet second.

    An event: `id`, `refs` (`kind:id` of what changed), `entries` as readers see them. First comes `{"open": True}`,
    with the id to resume from before anything has happened; then `{"gone": True}` when some events after `after` are no
    longer there: read anew. Ends when the process does; raises the Refused that ends the caller's rights.
    """
    with told_plainly():
        caller = await enter(store, badge)
    start = await perform(store, badge, _EVENTS, {"after": after}, caller=caller)
    after = after or start["cursor"]
    yield [{"id": after, "open": True}]
    space, asked = start["space"], rounds(store)
    async with store.feed.listen(space) as bell:
        while not bell.over:
            ring = bell.next_ring()
            await vouch(store, badge)  # a session may have ended meanwhile
            found = await perform(store, badge, _EVENTS, {"after": after}, caller=caller)
            after = found["cursor"]
            yield ([{"id": after, "gone": True}] if found["gone"] else []) + found["events"]
            if len(found["events"]) < BATCH:
                while (
                    not await rung(ring, RECHECK)
                    and not bell.over
                    and await asked.still(space, Stand(**found["stand"]))
                ):
                    yield []


async def latest(store: Store, space: str) -> str:
    """Where the feed of a space ends now: what is read after this is no older than the events up to there."""
    return (await store.feed.since(space, "")).cursor


async def _events(call: Call, *, after: str) -> Result:
    if after and not EVENT_ID.fullmatch(after):
        raise Refused("malformed_id", "Last-Event-ID is the id of an event that came before.", argument="after")
    heard = await call.look(Since(after, BATCH))
    logged = await call.recall(id for event in heard.events for id in event.entries)
    shown = [
        {"id": e.id, "refs": e.refs, "entries": [logged[id].shown() for id in e.entries if id in logged]}
        for e in heard.events
    ]
    stand = asdict(Stand.of(call, feed=heard.cursor))
    return {"events": shown, "gone": heard.gone, "cursor": heard.cursor, "stand": stand}


_EVENTS = Row("events", "read", _events, ("fleet", "core"), whole=True)
