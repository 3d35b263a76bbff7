"""Sessions of people: opened with a one-time link, ended by signing out, seen and ended from elsewhere.

Opening one is no row of the catalogue: no caller may do that for somebody else.
"""

import asyncio
import re
from dataclasses import dataclass, replace
from typing import Any

from ..domain.commit import Commit, put
from ..domain.entry import Entry
from ..domain.errors import Refused
from ..domain.grant import Grant, check_open, check_sees_sessions, end
from ..domain.ids import bare, principal
from ..domain.moments import HOUR, iso
from ..domain.person import Member
from ..domain.space import Space
from ..engine.globals import Identity
from ..engine.reads import Doc, Read, Score
from ..engine.store import Store
from .approvers import Otherwise
from .call import Call, Result, Row
from .credentials import drawn
from .everywhere import everywhere
from .faults import told_plainly
from .identity import Badge, enterable, recognise
from .paging import fitting, page
from .people import session_grant
from .perform import perform
from .signed_in import sessions_of
from .unheard import Change, owners, retold, waiting

SESSION_LIFE = 12 * HOUR
SESSIONS = 40  # that are read for one page
LINK = re.compile(r"[A-Za-z0-9_-]{32}")  # the form of every link


@dataclass(frozen=True, slots=True)
class Session:
    """An open session: the value of its cookie, whose it is, and for how long (ms)."""

    token: str
    person: str
    life: int


async def link_for(store: Store, link: str) -> str | None:
    """The person whom a sign-in link is for, without using it up."""
    with told_plainly():
        content = await store.shared.peek_link(link)
    return content["person"] if content else None


async def sign_in(store: Store, link: str, *, client: str) -> Session:
    """Use a link up and open a session: in the space that the link is bound to, or in all of its person.

    Refuses unauthenticated.
    """
    with told_plainly():
        content = await store.shared.take_link(link)
        if content is None:
            raise no_link(link)
        person, bound = content["person"], content["space"]
        name = person.partition(":")[2]
        id, secret, proof = drawn()
        await store.shared.add_credential(Identity("session", id, person, bound, proof), life=SESSION_LIFE)
        if not bound:  # noted before the spaces are read, so that one that is added meanwhile opens too
            await store.shared.add_session(name, id, life=SESSION_LIFE)
        for space in [bound] if bound else await store.shared.joined(name):
            how = {"session": id, "person": person, "by": content["by"]}
            await _as_operator(store, _OPEN, space, client=client, **how)
    return Session(f"lms_{id}_{secret}", person, SESSION_LIFE)


def no_link(link: str) -> Refused:
    """The refusal for a link that signs nobody in: one that was ours once, or what never was one."""
    why = (
        "was used or is older than 10 minutes"
        if LINK.fullmatch(link)
        else "is not whole: its address was cut or changed"
    )
    return Refused("unauthenticated", f"This sign-in link {why}. Ask for a new one: logmem human link NAME")


async def signed_in(store: Store, badge: Badge) -> tuple[str, list[str]]:
    """Whose a session is, and the spaces that it may enter now. Refuses unauthenticated, key_revoked."""
    with told_plainly():
        who = await recognise(store, badge)
        return who.principal, await enterable(store, who)


async def open_spaces(store: Store, badge: Badge) -> list[str]:
    """The spaces that a session may enter now. Refuses unauthenticated, key_revoked."""
    with told_plainly():
        return await enterable(store, await recognise(store, badge))


async def simulated(store: Store, names: list[str]) -> list[str]:
    """Those of these spaces whose clock can be moved."""
    with told_plainly():
        stands = await asyncio.gather(*(store.across([name], Doc(Space, name)) for name in names))
    return [name for name, ((space,),) in zip(names, stands, strict=True) if space and space.simulated]


async def sign_out(store: Store, badge: Badge) -> None:
    """End a session in every space. Refuses unauthenticated."""
    with told_plainly():
        who = await recognise(store, badge)
        name = who.principal.partition(":")[2]
        await store.shared.end_session(name, badge.id)
        spaces = [who.space] if who.space else await store.shared.joined(name)
    await everywhere(store, CLOSE, spaces, client=badge.client, session=badge.id, person=who.principal)


async def _as_operator(store: Store, row: Row, space: str, *, client: str, **args: str) -> None:
    await perform(store, Badge("operator", client=client, spaces=(("session", space),)), row, args)


async def _open(call: Call, *, session: str, person: str, by: str) -> Commit:
    """Let a session into this space. Where its person has no role it opens nothing, until they are given one."""
    member, known = await call.read(Doc(Member, person), Doc(Grant, session))
    if known:  # whoever added the person to this space meanwhile let their session in
        return Commit(result={"session": session})
    grant = session_grant(session, person, now=call.now, moved=call.moved, life=SESSION_LIFE, minted_by=by)
    said = (_entry(call, grant, "signed_in", "signed in by a link"),) if member and member.role else ()
    told = await _told(call, member, Otherwise(opened=grant))
    return Commit(result={"session": session}, puts=(put(grant), *told.puts), entries=(*said, *told.entries))


async def _told(call: Call, member: Member | None, but: Otherwise) -> Change:
    """What is to be said of the asks that wait for a person, whose session begins or ends."""
    if member is None or not call.space.telegram:
        return Change()
    return await retold(call, await waiting(call, owners(member.id, member)), but=but)


async def _close(call: Call, *, session: str, person: str) -> Commit | Result:
    """End a session in this space."""
    member, grant = await call.read(Doc(Member, person), Doc(Grant, session))
    if grant is None or grant.revoked:
        return {"changed": False}
    said = (_entry(call, grant, "signed_out", "signed out"),) if member else ()
    told = await _told(call, member, Otherwise(ended=session))
    puts = (put(replace(grant, revoked=call.now)), *told.puts)
    return Commit(result={"session": session, "changed": True}, puts=puts, entries=(*said, *told.entries))


async def sessions(call: Call, *, person: str = "", cursor: str = "") -> Result:
    """The open sessions of a person, your own unless said; owners may see everybody's. The first to end come first."""
    await call.admit()
    whose = principal(person, kinds=("human",), default="human", name="person") if person else call.me
    check_sees_sessions(whose, by=call.me, may=call.may)
    paged = await page(call, (sessions_of(call, whose),), cursor=cursor, limit=SESSIONS)
    ids = paged.ids(Grant)
    reads: list[Read[Any]] = [*(Doc(Grant, id) for id in ids), *(Score("wrote", "", id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    rows = fitting(_session(call, grant, wrote or 0) for grant, wrote in pairs)
    after = paged.after(len(rows))
    return {"person": whose, "sessions": rows, "total": paged.size, **({"cursor": after} if after else {})}


def _session(call: Call, grant: Grant, wrote: int) -> Result:
    """A session on a list; `link_by` is who made the link that it was opened with, `here` marks the caller's own."""
    says = {
        "link_by": grant.minted_by,
        "last_write": iso(wrote) if wrote else "",
        "here": grant.id == call.caller.credential,
    }
    times = {"since": iso(grant.created), "expires_at": iso(end(grant, moved=call.moved))}
    return {"session": grant.id, **times, **{k: v for k, v in says.items() if v}}


async def end_session(call: Call, *, session: str) -> Commit:
    """End an open session at once: your own wherever it may enter; as an owner, another person's in this space."""
    id = bare(session, "session", name="session")
    grant = await call.read(Doc(Grant, id))
    if grant is None or grant.via != "console":
        raise Refused("not_found", f"There is no session {id} in {call.caller.space}. Nothing was changed.")
    person = grant.principal
    check_sees_sessions(person, by=call.me, may=call.may)
    check_open(grant, now=call.now, moved=call.moved)
    if person == call.me:
        await _end_elsewhere(call, grant)
    entry = call.entry(person, "signed_out", f"A session of {person} was ended", payload={"session": id})
    told = await _told(call, await call.read(Doc(Member, person)), Otherwise(ended=id))
    return Commit(
        result={"ended": id, "person": person},
        puts=(put(replace(grant, revoked=call.now)), *told.puts),
        entries=(entry, *told.entries),
    )


async def _end_elsewhere(call: Call, grant: Grant) -> None:
    """End a session of the caller's own in all other spaces that it may enter, as signing out does."""
    store, name = call.store, grant.principal.partition(":")[2]
    who = await store.shared.identity("session", grant.id)
    if who is None or who.space:
        return
    await store.shared.end_session(name, grant.id)
    others = [space for space in await store.shared.joined(name) if space != call.caller.space]
    client, whose = call.caller.client, grant.principal
    await everywhere(store, CLOSE, others, client=client, session=grant.id, person=whose)


def _entry(call: Call, grant: Grant, kind: str, what: str) -> Entry:
    """A line by the person, who did this in the console: the operator's rights only carry it out."""
    person = grant.principal
    entry = call.entry(person, kind, f"{person} {what}", payload={"session": grant.id})
    return replace(entry, by=person, via=grant.via)


_OPEN, CLOSE = Row("open_session", "manage", _open), Row("close_session", "manage", _close)
