"""Sessions of people: opened with a one-time link, ended by signing out.

No rows of the catalogue: no caller may do this for somebody else.
"""

from dataclasses import dataclass, replace

from ..domain.commit import Commit, put
from ..domain.errors import Refused
from ..domain.grant import Grant
from ..domain.person import Member
from ..engine.globals import Identity
from ..engine.reads import Doc
from ..engine.store import Store
from .call import Call, Row
from .credentials import drawn
from .faults import told_plainly
from .identity import Badge, recognise
from .people import session_grant
from .perform import perform

SESSION_LIFE = 12 * 3_600_000  # ms


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
    """Use a link up and open a session in every space of its person. Refuses unauthenticated."""
    with told_plainly():
        content = await store.shared.take_link(link)
        if content is None:
            raise Refused(
                "unauthenticated",
                "This sign-in link was used or is older than 10 minutes. Ask for a new one: logmem human link NAME",
            )
        person = content["person"]
        name = person.partition(":")[2]
        id, secret, proof = drawn()
        await store.shared.add_credential(Identity("session", id, person, "", proof), life=SESSION_LIFE)
        await store.shared.add_session(name, id, life=SESSION_LIFE)
        for space in await store.shared.joined(name):
            await _as_operator(store, _OPEN, space, client=client, session=id, person=person)
    return Session(f"lms_{id}_{secret}", person, SESSION_LIFE)


async def sign_out(store: Store, badge: Badge) -> None:
    """End a session in every space. Refuses unauthenticated."""
    with told_plainly():
        who = await recognise(store, badge)
        name = who.principal.partition(":")[2]
        await store.shared.mark(badge.kind, badge.id, revoked=1)
        await store.shared.end_session(name, badge.id)
        for space in await store.shared.joined(name):
            await _as_operator(store, _CLOSE, space, client=badge.client, session=badge.id)


async def _as_operator(store: Store, row: Row, space: str, *, client: str, **args: str) -> None:
    await perform(store, Badge("operator", client=client, spaces=(("session", space),)), row, args)


async def _open(call: Call, *, session: str, person: str) -> Commit:
    """Let a session into this space, where its person has a role here."""
    member = await call.read(Doc(Member, person))
    if not (member and member.role):
        return Commit(result={"session": session})
    grant = session_grant(session, person, now=call.now, life=SESSION_LIFE)
    entry = call.entry(person, "signed_in", f"{person} signed in by a link", payload={"session": session})
    return Commit(result={"session": session}, puts=(put(grant),), entries=(entry,))


async def _close(call: Call, *, session: str) -> Commit:
    """End a session in this space."""
    grant = await call.read(Doc(Grant, session))
    if grant is None or grant.revoked:
        return Commit(result={"session": session})
    entry = call.entry(grant.principal, "signed_out", f"{grant.principal} signed out", payload={"session": session})
    return Commit(result={"session": session}, puts=(put(replace(grant, revoked=call.now)),), entries=(entry,))


_OPEN, _CLOSE = Row("open_session", "manage", _open), Row("close_session", "manage", _close)
