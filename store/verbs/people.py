"""People and spaces: who is a member with which role, and which spaces there are."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..domain.calendar import windows_of
from ..domain.commit import Commit, put
from ..domain.errors import Refused
from ..domain.grant import Grant, end
from ..domain.ids import bare, principal
from ..domain.listing import some
from ..domain.moments import MINUTE, iso, span
from ..domain.occurrence import begun
from ..domain.person import ROLES, Member
from ..domain.reach import Reach, unpaired
from ..domain.slot import Who
from ..domain.space import FOUR_EYES, Channel, Space
from ..domain.timetable import check_zone
from ..engine.reads import Doc, Range, Read
from .approvers import Otherwise
from .call import Call, Result
from .identity import enterable
from .paging import fitting, page
from .places import resolve, unknown
from .reaching import joined
from .signed_in import session_count
from .unheard import Change, every_ask, owners, refs, retold, waiting

LINK_LIFE = 10 * MINUTE
PEOPLE = 40  # that are read for one page
SPACES = 1500  # tokens of the names of spaces in a list


async def claimed(call: Call, name: str) -> Who | None:
    """Who a principal is here already. Refuses id_taken: an agent and a person may not share an id."""
    kind, _, id = name.partition(":")
    other = f"{'human' if kind == 'agent' else 'agent'}:{id}"
    mine, theirs = await call.read(Doc(Who, name), Doc(Who, other))
    if theirs:
        raise Refused(
            "id_taken", f"{other} is in {call.caller.space} already, so {name} cannot be. Nothing was written."
        )
    return mine


async def human(call: Call, *, name: str, role: str | None = None, excluded: bool | None = None) -> Commit:
    """Add a person to the space (an approver unless said) or change their role: owner, approver, member, or none.

    excluded: an owner who approves nothing. What you leave out stays as it was.
    """
    if role not in (None, *ROLES, "none"):
        raise Refused(
            "invalid_argument", f"role is one of {', '.join(ROLES)}, none. Nothing was written.", argument="role"
        )
    person = principal(name, kinds=("human",), default="human", name="name")
    who = await claimed(call, person)
    old = await call.read(Doc(Member, person))
    if role == "none" and not (old and old.role):
        raise await unknown(call, person, "unknown_recipient")
    before = old or Member(id=person, role="", since=call.now)
    new = replace(
        before,
        role="" if role == "none" else role or before.role or "approver",
        excluded=before.excluded if excluded is None else excluded,
    )
    await _keep_an_owner(call, old, new)
    id = person.partition(":")[2]
    await call.store.shared.join(id, call.caller.space)
    fresh = () if who else (put(Who(id=person, name=id, since=call.now)),)
    sessions = await _entering(call, person) if new.role else []
    said = f"{person} is {new.role} now" if new.role else f"{person} has no role any more"
    reached = await _reached(call, old, new, sessions)
    return Commit(
        result={"person": person, "role": new.role, "roles": list(new.roles)},
        puts=(*fresh, put(new), *map(put, sessions), *reached.puts),
        entries=(call.entry(person, "role", said), *reached.entries),
        cards=reached.cards,
    )


async def _reached(call: Call, old: Member | None, new: Member, sessions: Sequence[Grant]) -> Change:
    """Cards reach who joins by the account that they have; what waits for a role is for others once that changes.

    Then every ask may be for others: who approves decides also whether it takes four eyes.
    """
    joins = bool(new.role) and not (old and old.role)
    if not joins and (old is None or old.roles == new.roles):
        return Change()
    account = await call.store.shared.accounts.of(new.id) if joins else None
    on = call.space.telegram or account
    found = [*await waiting(call, owners(new.id, old, new)), *await every_ask(call)] if on else []
    found = list(dict.fromkeys(found))
    if account:
        return await joined(call, new.id, new, account=account.number, lost=account.lost, found=found)
    reach = await call.read(Doc(Reach, new.id)) if joins else None
    none = unpaired(reach) if reach and reach.account else None  # of an account that is theirs no more
    but = Otherwise(member=new, reach=none, opened=sessions[0] if sessions else None)
    told = await retold(call, found, but=but)
    return replace(told, puts=(*((put(none),) if none else ()), *told.puts), cards=refs(found))


async def _keep_an_owner(call: Call, old: Member | None, new: Member) -> None:
    if old and old.role == "owner" and new.role != "owner" and (await call.read(Range("role", "owner", 2))).size < 2:
        raise Refused("invalid_argument", f"{old.id} is the only owner; make another one first. Nothing was written.")


async def _entering(call: Call, person: str) -> list[Grant]:
    """Grants here for the sessions that the person has open, so that a new space opens without a new sign-in."""
    made = []
    for session, left in (await call.store.shared.sessions(person.partition(":")[2])).items():
        if await call.read(Doc(Grant, session)) is None:
            made.append(session_grant(session, person, now=call.now, moved=call.moved, life=left))
    return made


def session_grant(id: str, person: str, *, now: int, moved: int, life: int, minted_by: str = "") -> Grant:
    """A session's grant in a space, for `life` ms of real time; what it may do there is the person's role."""
    return Grant(
        id=id,
        principal=person,
        via="console",
        created=now,
        expires=now + life,
        responsible=person,
        minted_by=minted_by,
        moved=moved,
    )


async def people(call: Call, *, person: str = "", cursor: str = "") -> Result:
    """The people of the space and their roles, and whether high risk takes a second pair of eyes. person: one of them.

    Who has no role any more is shown only when named.
    """
    await call.admit()
    rule = {"four_eyes": call.space.four_eyes}
    if person:
        name = principal(person, kinds=("human",), default="human", name="person")
        (row,) = await _rows(call, [name])
        if row is None:
            raise await unknown(call, name, "unknown_recipient")
        return {**row, **rule, **await _phone(call, name)}
    paged = await page(call, (Range("members"),), cursor=cursor, limit=PEOPLE)
    here = [(n, row) for n, row in enumerate(await _rows(call, paged.ids(Member)), 1) if row]
    rows = fitting(row for _, row in here)
    after = paged.after(here[len(rows) - 1][0] if len(rows) < len(here) else len(paged.members))
    return {"people": rows, "total": paged.size, **rule, **({"cursor": after} if after else {})}


async def _rows(call: Call, ids: Sequence[str]) -> list[Result | None]:
    """What is shown of these people."""
    reads: list[Read[Any]] = [*(Doc(Member, id) for id in ids), *(session_count(call, id) for id in ids)]
    reads += [Doc(Reach, id) for id in ids]
    found = await call.look_each(reads) if reads else []
    members, counts, reaches = (found[n * len(ids) : (n + 1) * len(ids)] for n in range(3))
    return [
        {
            "person": m.id,
            "role": m.role,
            "roles": list(m.roles),
            "since": iso(m.since),
            "signed_in": bool(sessions),
            **({"excluded": True} if m.excluded else {}),
            **({"telegram": "paired" if reach.live else "lost"} if reach and reach.account else {}),
            **({"on_call": True} if reach and reach.on_call else {}),
        }
        if m
        else None
        for m, sessions, reach in zip(members, counts, reaches, strict=True)
    ]


async def _phone(call: Call, person: str) -> Result:
    """What they and owners see of a person's Telegram account."""
    reach = await call.look(Doc(Reach, person))
    if reach is None or not reach.account or not (person == call.me or "manage" in call.may):
        return {}
    known = await call.store.shared.accounts.of(person)
    account = {"account": reach.account, **({"name": known.name, "username": known.username} if known else {})}
    snoozed = {"snoozed_until": iso(reach.snoozed)} if reach.snoozed > call.now else {}
    return {**account, **snoozed, **({"hours": reach.quiet} if reach.quiet else {})}


async def link(call: Call, *, name: str) -> Commit:
    """Make a one-time sign-in link for a person, good for 10 minutes. An owner's opens this space only."""
    person = principal(name, kinds=("human",), default="human", name="name")
    member = await call.read(Doc(Member, person))
    if not (member and member.role):
        raise Refused("unknown_recipient", f"{person} is not in {call.caller.space}. Nothing was made.")
    token = call.draw("link", lambda: secrets.token_urlsafe(24))
    # An owner answers for one space: what they hand out must not open another. Of the operator's links nobody is the
    # maker, and they open all that the person may enter.
    before = call.grant.minted_by.split() if call.grant else []  # whose link the maker's own session came by
    by = " ".join(dict.fromkeys((call.me, *before))) if call.caller.is_human else ""
    content = {"person": person, "space": call.caller.space if by else "", "by": by}
    shared = call.store.shared
    await shared.put_link(token, content, life=LINK_LIFE)
    return Commit(
        result={"person": person, "expires_at": iso(await shared.clock() + LINK_LIFE)},
        entries=(call.entry(person, "link", f"A sign-in link for {person} was made"),),
        once={"link_path": f"/sign-in/{token}"},
    )


async def space(call: Call, *, simulated: bool = False, zone: str = "America/New_York") -> Commit:
    """Make a world. A simulated one has a clock that tests and the demo can move."""
    name = bare(call.caller.space, "space", name="space")
    await call.admit()
    if call.space.id:
        raise Refused("id_taken", f"There is a space {name} already. Nothing was written.")
    check_zone(zone)
    await call.store.shared.add_space(name)
    made = Space(id=name, created=call.now, simulated=simulated, zone=zone)
    channel = Channel(id=name, by=call.me, created=call.now)
    entry = call.entry(f"channel:{name}", "created", f"The space {name} was made")
    rhythm = begun(windows_of(made), now=call.now)  # its syncs are accounted for from here on
    return Commit(result={"made": name, **made.note}, puts=(put(made), put(channel), put(rhythm)), entries=(entry,))


async def four_eyes(call: Call, *, rule: str) -> Commit:
    """Set whether high risk takes somebody else than the person responsible for the key: auto, on or off."""
    if rule not in FOUR_EYES:
        raise Refused(
            "invalid_argument", f"rule is one of {', '.join(FOUR_EYES)}. Nothing was written.", argument="rule"
        )
    place = await resolve(call, f"channel:{call.caller.space}")
    entry = call.entry(place.name, "rule", f"four eyes: {rule}")
    changed = put(replace(call.space, four_eyes=rule))
    asked = await every_ask(call) if call.space.telegram else []
    told = await retold(call, asked, but=Otherwise(rule=rule))
    return Commit(
        result={"four_eyes": rule},
        puts=(*place.puts, changed, *told.puts),
        entries=(entry, *told.entries),
        cards=refs(asked),
    )


async def spaces(call: Call) -> Result:
    """Which spaces you can enter with your key, which one this is and why, and your rights there."""
    await call.admit()
    names = await enterable(call.store, call.caller.who)
    shown = some(names, budget=SPACES)
    left = {"left_out": len(names) - len(shown)} if len(shown) < len(names) else {}
    here: Result = {"here": call.caller.space, "why": call.caller.why, "may": list(call.may)}
    if call.grant:
        ends = end(call.grant, moved=call.moved)
        here |= {"expires_at": iso(ends), "expires_in": span(ends - call.now)}
    return {"spaces": shown, **left, **here}
