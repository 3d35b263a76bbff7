"""Written down once time has brought it: asks that expired or lapsed, dead letters, notes that are gone; and reminders.

Every reader computes the same from the deadline; here it is put on record, and both sides of an item are told.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..domain.ask import Ask
from ..domain.commit import Commit, Put, put
from ..domain.delivery import is_named
from ..domain.document import Document
from ..domain.entry import Entry
from ..domain.item import Item
from ..domain.mailbox import MailNote
from ..domain.moments import MINUTE, span
from ..domain.reminder import reminded_by
from ..engine.reads import Doc, Range, Read
from .call import Call
from .shifts import ENDINGS
from .sweeping import BATCH, did, each, row

KINDS: dict[str, type[Document]] = {kind.kind: kind for kind in (Ask, Item, MailNote)}


class _Told(NamedTuple):
    """A document as time has it, and the entry that says so, if one does, with the field that holds its id."""

    doc: Document
    entry: Entry | None = None
    mark: str = ""


async def _expire(call: Call) -> Commit:
    """The asks, items and notes whose time is over."""
    await call.admit()
    page = await call.look(Range("due", "", BATCH, high=call.now))
    docs: list[Read[Document | None]] = [Doc(KINDS[kind], id) for kind, id in page.members if kind in KINDS]
    found = [doc for doc in await call.read_each(docs) if doc] if docs else []
    told = [_told(call, live) for doc in found if (live := doc.as_of(call.now)) != doc]
    return did(len(told), more=len(page.members) == BATCH, **_parts(told))


def _parts(told: Iterable[_Told]) -> dict[str, tuple[Put, ...] | tuple[Entry, ...]]:
    """The puts and entries of a commit."""
    puts: list[Put] = []
    entries: list[Entry] = []
    for one in told:
        puts.append(put(one.doc, **({one.mark: len(entries)} if one.mark else {})))
        entries += [one.entry] if one.entry else []
    return {"puts": tuple(puts), "entries": tuple(entries)}


def _told(call: Call, live: Document) -> _Told:
    match live:
        case Ask():
            entry = call.entry(live.where, live.state, ENDINGS[live.state], trail=live.id)
            return _Told(live, entry, "ended")
        case Item(huddle=""):
            text = (
                f"Nobody had settled it by its deadline: a dead letter of {live.sender}'s to {live.to}. "
                f'{live.sender} can send it again: logmem_handoff {{requeue: "{live.id}"}}'
            )
            return _Told(live, call.entry(live.where, "expired", text, trail=live.id), "ended")
        case Item():
            text = f"{live.to} did not answer its seat {live.id} by the deadline."
            return _Told(live, call.entry(live.where, "expired", text, trail=live.thread), "ended")
    return _Told(live)


REMINDERS = {1: "who was asked is reminded", 2: "everybody who may decide is asked"}
NAMED_AGAIN = "who was asked is reminded again"


async def _remind(call: Call) -> Commit:
    """The asks that nobody has decided for long: those who may are reminded, and in the end everybody is asked."""
    await call.admit()
    page = await call.look(Range("remind", "", BATCH, high=call.now))
    asks = await each(call, page, Ask)
    live = [ask for ask in asks if ask.as_of(call.now).state == "pending"]
    again = [new for ask in live if (new := _reminded(ask, now=call.now)) != ask]
    return did(
        len(again),
        more=len(page.members) == BATCH,
        puts=tuple(put(ask) for ask in again),
        entries=tuple(_reminder(call, ask) for ask in again),
    )


def _reminded(ask: Ask, *, now: int) -> Ask:
    return replace(ask, reminded=reminded_by(ask.made, ask.deadline, ask.reminded, now=now))


def _reminder(call: Call, ask: Ask) -> Entry:
    what = NAMED_AGAIN if is_named(ask.approvers) and ask.reminded > 1 else REMINDERS[ask.reminded]
    text = f"Nobody has decided it for {span((call.now - ask.made) // MINUTE * MINUTE)}: {what}."
    return call.entry(ask.where, "reminded", text, trail=ask.id, payload={"reminded": ask.reminded})


EXPIRE, REMIND = row("expire", _expire), row("remind", _remind)
