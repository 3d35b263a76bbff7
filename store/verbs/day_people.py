"""Whom the day's sync message is for, what waits for each of them, and who is in trouble: what makes a phone ring."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain import ask as ask_rules
from ..domain.ask import Ask
from ..domain.calendar import SLOTS
from ..domain.commit import Put, put
from ..domain.day import SyncDay, gets, is_left, pushes, rung
from ..domain.item import Item, addressed
from ..domain.person import Member
from ..domain.reach import Reach
from ..domain.slot import Now
from ..domain.sync import CheckIn
from ..engine.reads import Count, Doc, Page, Range, Read
from .approvers import four_eyes
from .call import Call

PEOPLE = 100  # owners, and others who attend, who are looked at
LOOKED = 20  # asks and items of one person or role
TROUBLES = 50  # blocked ones, and check-ins of a window, the latest


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for somebody; `or_more`: there is more in their lists than was looked at."""

    of: Sequence[Ask | Item] = ()
    or_more: bool = False


Waits = Mapping[str, Waiting]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom it may be for, and whether they get it; `came` is how they checked in on the day, by slot."""

    who: str
    reach: Reach | None
    member: Member | None
    came: Mapping[str, CheckIn]
    gets: bool


def live_keys(call: Call) -> Count:
    """How many keys agents have here that have not ended, for `is_left`."""
    return Count("leases", "", low=call.now)


async def persons(call: Call, day: str, holding: Sequence[str] = ()) -> list[Person]:
    """Who gets the message of this day, and whoever else is named."""
    owners, attending, keys = await call.look(
        Range("role", "owner", PEOPLE), Range("attending", "", PEOPLE), live_keys(call)
    )
    left = is_left(call.space, keys=keys)
    ids = list(dict.fromkeys((*owners.ids(Member), *attending.ids(Reach), *holding)))
    reads: list[Read[Any]] = [*(Doc(Reach, id) for id in ids), *(Doc(Member, id) for id in ids)]
    reads += [Doc(CheckIn, f"{id}:{day}:{slot}") for id in ids for slot in SLOTS]
    found = await call.look_each(reads) if reads else []
    size, slots = len(ids), len(SLOTS)
    people = []
    for n, id in enumerate(ids):
        came = found[2 * size + n * slots : 2 * size + (n + 1) * slots]
        said = {slot: receipt for slot, receipt in zip(SLOTS, came, strict=True) if receipt}
        reach, member = found[n], found[size + n]
        people.append(Person(id, reach, member, said, gets(reach, member, left=left)))
    return [each for each in people if each.gets or each.who in holding]


async def waiting(call: Call, members: Sequence[Member]) -> Waits:
    """What waits for each of these people to decide or to take, nearest deadline first."""
    if not members:
        return {}
    names = {m.id: (m.id, *(f"role:{role}" for role in m.roles)) for m in members}
    owners = dict.fromkeys(name for own in names.values() for name in own)
    ranges = [Range(index, name, LOOKED + 1, low=call.now) for name in owners for index in ("inbox", "open")]
    *pages, approvers = await call.look_each([*ranges, Range("role", "approver", 1)])
    refs = dict.fromkeys(member for page in pages for member in page.members[:LOOKED])
    longer = {read.owner for read, page in zip(ranges, pages, strict=True) if len(page.members) > LOOKED}
    docs: list[Doc[Ask] | Doc[Item]] = [Doc(Ask, id) if kind == Ask.kind else Doc(Item, id) for kind, id in refs]
    found: list[Ask | Item | None] = await call.look_each(docs) if docs else []
    live = sorted((one.as_of(call.now) for one in found if one), key=lambda one: (one.deadline, one.id))
    strict = four_eyes(call, several=approvers.size > 1)
    return {
        m.id: Waiting([one for one in live if _is_theirs(one, m, strict=strict)], not longer.isdisjoint(names[m.id]))
        for m in members
    }


def _is_theirs(one: Ask | Item, member: Member, *, strict: bool) -> bool:
    if isinstance(one, Item):
        return one.state == "open" and addressed(one, by=member.id, roles=member.roles)
    able = ask_rules.eligible(one, by=member.id, roles=member.roles, four_eyes=strict)
    return one.state == "pending" and "decide" in member.may and able


async def troubled(call: Call, day: str) -> dict[str, tuple[str, str]]:
    """Who is blocked or needs attention: by what they do now, or by their last check-in of the day.

    Each with what it is called, and what they say of it. An agent without a live key is in nobody's way any more.
    """
    reads: list[Range] = [Range("checked", f"{day}:{slot}", TROUBLES, latest=True) for slot in SLOTS]
    blocked, *checked = await call.look_each([Range("blocked", "", TROUBLES, latest=True), *reads])
    receipts = await _receipts(call, checked)
    texts = await call.recall(each.said for each in receipts if each.outcome != "pass")
    found: dict[str, tuple[str, str]] = {}
    for each in receipts:
        found.pop(each.by, None)
        if each.outcome != "pass":
            found[each.by] = (each.outcome, texts[each.said].summary if each.said in texts else "")
    ids = blocked.ids(Now)
    nows = await call.look_each(Doc(Now, id) for id in ids) if ids else []
    found |= {now.id: ("blocked", now.blocked) for now in nows if now and now.blocked}
    agents = [who for who in found if who.startswith("agent:")]
    counts = await call.look_each(Count("live", who, low=call.now) for who in agents) if agents else []
    keys = dict(zip(agents, counts, strict=True))
    return {who: said for who, said in found.items() if keys.get(who, 1)}


async def _receipts(call: Call, pages: Iterable[Page]) -> list[CheckIn]:
    """The check-ins of the day's windows, in the order of the windows."""
    ids = [id for page in pages for id in page.ids(CheckIn)]
    found = await call.look_each(Doc(CheckIn, id) for id in ids) if ids else []
    return [each for each in found if each]


async def rings(call: Call, day: str, absent: Iterable[str] = ()) -> tuple[Put, ...]:
    """What is to be noted of a moment of the day: for whom it is worth a sound. `absent` are those overdue now."""
    if not call.space.telegram or call.space.paused:
        return ()
    doc = await call.read(Doc(SyncDay, day)) or SyncDay(id=day)
    people = [each for each in await persons(call, day) if each.gets]
    waits = await waiting(call, [each.member for each in people if each.member])
    trouble, away = await troubled(call, day) if people else {}, set(absent)
    woken = [
        each.who
        for each in people
        if pushes(each.who, waiting=len(waits.get(each.who, Waiting()).of), absent=each.who in away, troubled=trouble)
    ]
    return (put(rung(doc, woken)),) if woken else ()
