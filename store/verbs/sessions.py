"""Sessions of people: opened with a one-time link, ended by signing out.

No rows of the catalogue: no caller may do this for somebody else.
"""

import hashlib
import hmac
from dataclasses import dataclass, replace

from ..domain.commit import Commit, put
from ..domain.errors import Refused
from ..domain.grant import Grant
from ..engine.globals import Identity
from ..engine.reads import Doc
from ..engine.store import Store
from .call import Call, Row
from .credentials import drawn
from .identity import Badge
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
    content = await store.shared.peek_link(link)
    return content["person"] if content else None


async def sign_in(store: Store, link: str, *, client: str) -> Session:
    """Use a link up and open a session in every space of its person. Refuses unauthenticated."""
    content = await store.shared.take_link(link)
    if content is None:
        raise Refused(
            "unauthenticated",
            "This sign-in link was used or is older than 10 minutes. Ask for a new one: logmem human link",
        )
    person = content["person"]
    name = person.partition(":")[2]
    id, secret, proof = drawn()
    await store.shared.add_credential(Identity("session", id, person, ""), life=SESSION_LIFE)
    seconds, micros = await store.reader.time()
    expires = seconds * 1000 + micros // 1000 + SESSION_LIFE
    await store.shared.mark("session", id, secret=proof, expires=expires)
    await store.shared.join(name, "session", id)
    for space in await store.shared.joined(name, "space"):
        badge = Badge("operator", client=client, spaces=(("session", space),))
        await perform(store, badge, _OPEN, {"session": id, "person": person, "proof": proof})
    return Session(f"lms_{id}_{secret}", person, SESSION_LIFE)


async def sign_out(store: Store, badge: Badge) -> None:
    """End a session in every space. A session that is not known or whose secret is wrong is left as it is."""
    who = await store.shared.identity(badge.kind, badge.id)
    if who is None or badge.kind != "session":
        return
    # Session ids stand in the Log for all to read; only the secret shows that this is the session's own person.
    (secret,) = await store.shared.marked("session", badge.id, "secret")
    if not hmac.compare_digest(secret, hashlib.sha256(badge.secret.encode()).hexdigest()):
        return
    await store.shared.mark("session", badge.id, revoked=1)
    for space in await store.shared.joined(who.principal.partition(":")[2], "space"):
        operator = Badge("operator", client=badge.client, spaces=(("session", space),))
        await perform(store, operator, _CLOSE, {"session": badge.id})


async def _open(call: Call, *, session: str, person: str, proof: str) -> Commit:
    """Let a session into this space."""
    await call.admit()
    grant = session_grant(session, person, secret=proof, now=call.now, expires=call.now + SESSION_LIFE)
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
