"""The stream of what happens in a space, for surfaces that show it live. Rights are checked again at each step."""

import re
from collections.abc import AsyncGenerator

from ..domain.errors import Refused
from ..engine.feed import FIRST
from ..engine.store import Store
from .call import Call, Result, Row
from .follow import RECHECK, rung
from .identity import Badge
from .perform import perform

BATCH = 100
EVENT_ID = re.compile(r"[0-9]{1,16}-[0-9]{1,12}")


async def events(store: Store, badge: Badge, *, after: str = "") -> AsyncGenerator[list[Result], None]:
    """Batches of events since `after` (an event's id; '' for from now on); an empty batch each quiet second.

    An event: `id`, `refs` (`kind:id` of what changed), `entries` as readers see them. First comes `{"open": True}`,
    with the id to resume from before anything has happened; then `{"gone": True}` when some events after `after` are no
    longer there: read anew. Raises the Refused that ends the caller's rights.
    """
    start = await perform(store, badge, _EVENTS, {"after": after})
    after = after or start["cursor"]
    yield [{"id": after, "open": True}]
    async with store.feed.listen(start["space"]) as bell:
        while True:
            ring = bell.next_ring()
            found = await perform(store, badge, _EVENTS, {"after": after})
            after = found["cursor"]
            yield ([{"id": after, "gone": True}] if found["gone"] else []) + found["events"]
            if len(found["events"]) < BATCH:
                await rung(ring, RECHECK)


async def _events(call: Call, *, after: str) -> Result:
    if after and not EVENT_ID.fullmatch(after):
        raise Refused("malformed_id", "Last-Event-ID is the id of an event that came before.", argument="after")
    await call.admit()
    feed, space = call.store.feed, call.caller.space
    if not after:
        return {"events": [], "gone": False, "cursor": await feed.last(space)}
    found, gone = await feed.since(space, after, limit=BATCH)
    logged = await call.recall(id for event in found for id in event.entries)
    shown = [
        {"id": e.id, "refs": e.refs, "entries": [logged[id].shown() for id in e.entries if id in logged]} for e in found
    ]
    return {"events": shown, "gone": gone, "cursor": found[-1].id if found else after or FIRST}


_EVENTS = Row("events", "read", _events, ("fleet", "core"))
