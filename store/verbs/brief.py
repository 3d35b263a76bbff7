"""The Brief's material: from slots and indexes in four round trips, however long the Log and however many the lines.

Who is to close a huddle takes one more, for its seats.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..domain.ask import Ask
from ..domain.brief import BUDGET_DEFAULT, assemble, check_budget
from ..domain.document import Document
from ..domain.fact import Fact
from ..domain.huddle import Huddle
from ..domain.ids import meant
from ..domain.item import Item, Mark
from ..domain.job import Job
from ..domain.lines import MISSED_SHOWN, View
from ..domain.mailbox import MailNote
from ..domain.moments import DAY, moment
from ..domain.occurrence import Occurrence, occurrence_id
from ..domain.person import Member
from ..domain.shift import Shift
from ..domain.slot import Now, Who
from ..domain.sync import CheckIn, checkin_id, windows_of, with_ended
from ..engine.reads import Count, Doc, Range, Read
from .arguments import Length
from .call import Call, Result
from .places import unknown
from .recipients import principals

LIMIT = 20  # members read of each index; the others are counted
DOCUMENTS: dict[str, type[Document]] = {k.kind: k for k in (Ask, Item, Huddle, MailNote, Now, Fact, Job)}
EPOCH_FROM = 10**11  # a number from here on is a time in ms; a duration in seconds is never as long


@dataclass(frozen=True, slots=True)
class Gathered:
    """The view that a Brief is made from; marks of its items by id; the principal's shift; what was read for it."""

    view: View
    marks: dict[str, Mark | None]
    shift: Shift | None
    read: tuple[tuple[type[Document], str], ...]

    def stand_on(self, call: Call, written: Iterable[Document]) -> None:
        """Expect only what is written to be as it was seen; all else was shown, and others may change it meanwhile."""
        stays = {(type(doc), doc.id) for doc in written}
        call.release(doc for doc in self.read if doc not in stays)


async def brief(call: Call, *, agent: str = "", budget: int = BUDGET_DEFAULT, since: Length = "") -> Result:
    """Is anything outstanding? What is waiting for me, or for another agent? Catch up without opening a shift.

    Each line comes with the call that deals with it. since (a time, or "2h" back): what did I miss, only the new.
    """
    check_budget(budget)
    if agent:
        await call.ahead([read for each in meant(agent, name="agent") for read in slots(each)])
    (me,) = await principals(call, [agent] if agent else [], name="agent", here=False) or [call.me]
    view = (await gather(call, me)).view
    low = since_ms(since, now=view.now) if since else 0
    return assemble(view, head=head(call, me), budget=budget, since=low).result


def since_ms(since: Length, *, now: int) -> int:
    """When `since` was: ISO 8601, ms since 1970, or a duration ago. Refuses invalid_argument."""
    text = str(since).strip()
    at = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    if EPOCH_FROM <= at <= now:
        return at
    return moment(since, now=now, low=1, high=now, name="since", back=True)


def head(call: Call, me: str) -> Result:
    """What the result of a Brief says besides: it counts against the budget too."""
    caller = {"ok": True, "space": call.caller.space, "caller": call.me, **call.space.note}
    return {**caller, "agent": me}


def slots(me: str) -> tuple[Doc[Who], Doc[Now], Doc[Shift], Doc[Member]]:
    """The first that `gather` reads of a principal."""
    return Doc(Who, me), Doc(Now, me), Doc(Shift, me), Doc(Member, me)


async def gather(call: Call, me: str, *, keep: bool = False, told: Iterable[str] = ()) -> Gathered:
    """All that the Brief of `me` is made from. Refuses not_found.

    `keep`: marks are read too, and a decision stands on it all until `stand_on`. `told`: refs to read besides.
    """
    who, slot, shift, member = await call.look(*slots(me))
    if who is None:
        raise await unknown(call, me, "not_found")
    roles = member.roles if member else who.roles
    refs, unread = await _indexed(call, me, owners=(me, *(f"role:{role}" for role in roles)))
    told = frozenset(told)
    refs |= {(kind, id): None for kind, _, id in (ref.partition(":") for ref in told)}
    items = [id for kind, id in refs if kind == Item.kind] if keep else []
    windows = windows_of(call.space)
    window = windows.open(call.now) if me.startswith("agent:") else None  # people are not expected
    docs, marks = [Doc(DOCUMENTS[kind], id) for kind, id in refs], [Doc(Mark, id) for id in items]
    checkins = [Doc(CheckIn, checkin_id(me, window))] if window else []
    occurrences = [Doc(Occurrence, occurrence_id(window))] if window else []
    read: list[Doc[Any]] = [*docs, *marks, *checkins, *occurrences]
    await call.ahead(read)
    each = call.read_each if keep else call.look_each
    documents: list[Document] = [d for d in await each(docs) if d]
    surfaced = dict(zip(items, await each(marks), strict=True))
    (checked_in,), (here,) = await each(checkins) or [None], await each(occurrences) or [None]
    wanted = [id for d in documents for id in _quoted(d)]
    entries = await call.recall([*wanted, shift.recap if shift else ""])
    view = View(
        me=me,
        now=call.now,
        who=who,
        slot=slot,
        recap=entries.get(shift.recap) if shift else None,
        documents=documents,
        entries=entries,
        told=told,
        seats=await _seats(call, documents),
        window=None if checked_in or not window else with_ended(windows, [here], now=call.now).open(call.now),
        key=call.grant if me == call.me else None,
        unread=unread,
    )
    return Gathered(view, surfaced, shift, tuple((each.kind, each.id) for each in read))


async def _seats(call: Call, documents: Iterable[Document]) -> dict[str, Item]:
    """The seats of the huddles among these, by id."""
    ids = [id for d in documents if isinstance(d, Huddle) for id in d.seats]
    found = await call.look_each(Doc(Item, id) for id in ids) if ids else []
    return {seat.id: seat for seat in found if seat}


async def _indexed(call: Call, me: str, *, owners: tuple[str, ...]) -> tuple[dict[tuple[str, str], None], int]:
    """What the indexes name, each once, and how many more there are."""
    ranges = list(_ranges(me, owners, now=call.now))
    counts = [Count(r.name, r.owner, r.low, r.high) for r in ranges]
    reads: list[Read[Any]] = [*ranges, *counts]
    found = await call.look_each(reads)
    pages, sizes = found[: len(ranges)], found[len(ranges) :]
    unread = sum(size - len(page.members) for page, size in zip(pages, sizes, strict=True))
    return {(kind, id): None for page in pages for kind, id in page.members}, max(0, unread)


def _ranges(me: str, owners: tuple[str, ...], *, now: int) -> Iterable[Range]:
    """Each index apart in what lives and what time has ended: the ended, newest first, never crowd out the living."""
    day, lately, past = now - DAY, now - MISSED_SHOWN, now - 1
    yield Range("verdicts", me, LIMIT, low=day)
    yield Range("verdicts", me, LIMIT, high=day - 1, latest=True)
    yield Range("asked", me, LIMIT, low=now)
    yield Range("asked", me, LIMIT, high=past, latest=True)
    for owner in owners:
        yield Range("open", owner, LIMIT, low=now)
        yield Range("open", owner, LIMIT, low=lately, high=past, latest=True)
        yield Range("missed", owner, LIMIT, low=lately, latest=True)
    yield Range("sent", me, LIMIT, high=past, latest=True)
    yield Range("dead", me, LIMIT, latest=True)
    yield Range("declined", me, LIMIT)
    yield Range("closes", me, LIMIT)
    yield Range("convened", me, LIMIT, high=past)
    yield Range("blocked", "", LIMIT)
    yield Range("mail", "", LIMIT, low=now)
    yield Range("facts", me, LIMIT, high=past)
    yield Range("jobs", me, LIMIT)


def _quoted(document: Document) -> Iterable[str]:
    """The entries whose text the lines of a document quote."""
    match document:
        case Ask():
            yield from (document.asked, document.decided, document.ended)
            yield document.question if document.questioned else ""
        case Item():
            yield from (document.sent, document.ended)
        case MailNote():
            yield document.posted
        case Job():
            yield document.opened
        case Huddle():
            yield document.asked
        case Fact():
            yield document.said
