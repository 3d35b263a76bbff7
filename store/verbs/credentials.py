"""Credentials: minting, listing, renewing and revoking keys; sign-in links and sessions."""

import hashlib
import secrets
from dataclasses import replace
from typing import Any

from ..domain.commit import Commit, Put, put
from ..domain.errors import Refused
from ..domain.grant import AGENT_MAY, SOON, Grant, check_live, lease, renewed
from ..domain.ids import bare, near, principal
from ..domain.moments import age, iso
from ..domain.person import Member
from ..domain.slot import Who
from ..engine.globals import Identity
from ..engine.reads import Count, Doc, Range, Read, Score
from .arguments import Names
from .call import Call, Result
from .paging import fitting, page
from .people import claimed

PROFILES = ("fleet", "core")
PAGE = 40  # keys that are read for one page; nothing that ends a key is bounded by it
LATEST = 100  # of all keys, whose agents may have been meant where a name is not known
ALL = -1


def drawn() -> tuple[str, str, str]:
    """A new public id, a secret, and the secret's SHA-256 in hex."""
    secret = secrets.token_hex(20)
    return secrets.token_hex(6), secret, hashlib.sha256(secret.encode()).hexdigest()


async def mint(
    call: Call,
    *,
    name: str,
    may: Names | None = None,
    days: int = 90,
    profile: str = "fleet",
    responsible: str = "",
) -> Commit:
    """Make a key for an agent. The secret is shown once; responsible is the person who answers for what it does."""
    agent = principal(name, kinds=("agent",), default="agent", name="name")
    rights = tuple(dict.fromkeys(AGENT_MAY if may is None else may))
    if not any(rights):
        raise Refused(
            "invalid_argument", "may names at least one right, or is left out. Nothing was minted.", argument="may"
        )
    if wrong := [r for r in rights if r not in AGENT_MAY]:
        raise Refused(
            "invalid_argument",
            f"A key may {', '.join(AGENT_MAY)}; {wrong[0][:40]!r} is not for agents. Nothing was minted.",
            argument="may",
        )
    life = lease(days)
    if profile not in PROFILES:
        raise Refused(
            "invalid_argument", f"profile is one of {', '.join(PROFILES)}. Nothing was minted.", argument="profile"
        )
    who = await claimed(call, agent)
    person = await _responsible(call, responsible)
    id, secret, proof = call.draw("key", drawn)
    grant = Grant(
        id=id,
        principal=agent,
        via="token",
        may=("read", *(r for r in rights if r != "read")),
        created=call.now,
        expires=call.now + life,
        responsible=person,
        minted_by=call.me,
        profile=profile,
    )
    # Whose the key is stands first; it opens nothing until the grant is there.
    await call.store.shared.add_credential(Identity("key", id, agent, call.caller.space, proof))
    here = replace(who, gone=0) if who else Who(id=agent, name=agent.partition(":")[2], since=call.now)
    fresh = (put(here),) if here != who else ()
    token = f"lmk_{id}_{secret}"
    return Commit(
        result=_shown(grant, 0, now=call.now),
        puts=(*fresh, put(grant)),
        entries=(
            call.entry(
                agent,
                "minted",
                f"A key for {agent}, until {iso(grant.expires)}",
                payload={"key": id, "may": list(grant.may)},
            ),
        ),
        once={"token": token, "mcp_path": f"/k/{token}/mcp"},
    )


async def _responsible(call: Call, name: str) -> str:
    """The person who answers for a key: the one named, else who mints, else the space's first owner."""
    if name:
        person = principal(name, kinds=("human",), default="human", name="responsible")
        member = await call.look(Doc(Member, person))
        if not (member and member.role):
            raise Refused("unknown_recipient", f"{person} is not in {call.caller.space}. Nothing was minted.")
        return person
    if call.caller.is_human:
        return call.me
    owners = (await call.look(Range("role", "owner", 1))).ids(Member)
    return owners[0] if owners else ""


async def shown_once(call: Call, result: Result, **_: Any) -> Result:
    """What a replay says in place of the secret."""
    return {**result, "says": "The secret was shown with the first answer, once. If nobody has it, make another."}


async def keys(call: Call, *, key: str = "", cursor: str = "") -> Result:
    """The keys of the space: whose, rights, until when, last write. Never the secret.

    Those that are live first, by their end; then expired and revoked ones. key: all of one, by its id.
    """
    await call.admit()
    if key:
        return await _one_key(call, bare(key, "key", name="key"))
    now = call.now
    paged = await page(
        call,
        (
            Range("leases", low=now + 1),
            Range("leases", high=now, latest=True),
            Range("revoked", latest=True),
        ),
        cursor=cursor,
        limit=PAGE,
    )
    ids = paged.ids(Grant)
    reads: list[Read[Any]] = [*(Doc(Grant, id) for id in ids), *(Score("wrote", "", id) for id in ids)]
    found = await call.look_each(reads) if reads else []
    pairs = zip(found[: len(ids)], found[len(ids) :], strict=True)
    rows = fitting(_shown(grant, wrote or 0, now=now) for grant, wrote in pairs)
    after = paged.after(len(rows))
    return {"keys": rows, "total": paged.size, **({"cursor": after} if after else {})}


async def _one_key(call: Call, id: str) -> Result:
    """A key with where it came from, and what ends with it."""
    grant, wrote = await call.look(Doc(Grant, id), Score("wrote", "", id))
    if grant is None or grant.via != "token":
        raise Refused("not_found", f"There is no key {id} in {call.caller.space}. Nothing was read.")
    same, asks = await call.look(
        Range("unrevoked", grant.principal, PAGE), Count("asked", grant.principal, low=call.now)
    )
    others = await call.look_each(Doc(Grant, other) for other in same.ids(Grant) if other != id)
    more = {"created_at": iso(grant.created), "minted_by": grant.minted_by}
    more |= {"revoked_at": iso(grant.revoked)} if grant.revoked else {}
    live = sum(bool(other and other.expires > call.now) for other in others)
    return {**_shown(grant, wrote or 0, now=call.now), **more, "others": live, "asks": asks}


async def renew(call: Call, *, name: str, days: int = 90) -> Commit:
    """Extend a key's lease: name is its id, or its agent where that has one key."""
    life = lease(days)
    grants = await _named(call, name)
    if len(grants) > 1:
        ids = ", ".join(g.id for g in grants)
        raise Refused(
            "invalid_argument",
            f"{name} has several keys: {ids}. Nothing was written. Name one by its id.",
            argument="name",
        )
    new = renewed(grants[0], life=life, now=call.now)
    entry = call.entry(
        new.principal, "renewed", f"A key of {new.principal}, until {iso(new.expires)}", payload={"key": new.id}
    )
    return Commit(result=_shown(new, 0, now=call.now), puts=(put(new),), entries=(entry,))


async def revoke(call: Call, *, name: str) -> Commit:
    """End a key at once: name is its id, or its agent (then all its keys). What it wrote stays."""
    grants = await _named(call, name)
    puts = tuple(put(replace(g, revoked=call.now)) for g in grants)
    ids = [g.id for g in grants]
    entry = call.entry(
        grants[0].principal, "revoked", f"{len(ids)} key(s) of {grants[0].principal}", payload={"keys": ids}
    )
    return Commit(
        result={"revoked": ids, "principal": grants[0].principal},
        puts=(*puts, *await _gone(call, grants)),
        entries=(entry,),
    )


async def _gone(call: Call, ended: list[Grant]) -> tuple[Put, ...]:
    """The profile of an agent whose last keys these were; another key brings it back."""
    agent = ended[0].principal
    page, who = await call.read(Range("unrevoked", agent, ALL), Doc(Who, agent))
    left = {*page.ids(Grant)} - {grant.id for grant in ended}
    return () if left or who is None else (put(replace(who, gone=call.now)),)


async def _named(call: Call, name: str) -> list[Grant]:
    """The keys that were not revoked, all of them, of this id or agent. Refuses not_found."""
    agent = principal(name, kinds=("agent",), default="agent", name="name")
    one = await call.read(Doc(Grant, bare(name, "key", name="name"))) if ":" not in name else None
    if one and one.via == "token" and not one.revoked:
        return [one]
    page = await call.read(Range("unrevoked", agent, ALL))
    found = [g for g in await call.read_each(Doc(Grant, id) for id in page.ids(Grant)) if g]
    if found:
        return found
    if one and one.via == "token":
        raise Refused(
            "not_found",
            f"The key {one.id} of {one.principal} was revoked {age(call.now - one.revoked)} and stays so. "
            f"Nothing was written.",
            state="revoked",
        )
    raise await _no_key(call, agent)


async def _no_key(call: Call, agent: str) -> Refused:
    latest = await call.look(Range("keys", "", LATEST, latest=True))
    known = {g.principal for g in await call.look_each(Doc(Grant, id) for id in latest.ids(Grant)) if g}
    live = await call.look_each(Range("unrevoked", other, 1) for other in known)
    close = near(agent, [other for other, page in zip(known, live, strict=True) if page.members])
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    return Refused(
        "not_found", f"{agent} has no live key in {call.caller.space}. Nothing was written.{hint}", near=close
    )


def _shown(grant: Grant, wrote: int, *, now: int) -> dict[str, Any]:
    try:
        check_live(grant, now=now, moved=0)  # of a key a space's clock is always the judge
        state = "live"
    except Refused as ended:
        state = ended.code.removeprefix("key_")
    return {
        "key": grant.id,
        "name": grant.principal.partition(":")[2],
        "principal": grant.principal,
        "may": list(grant.may),
        "profile": grant.profile,
        "responsible": grant.responsible,
        "expires_at": iso(grant.expires),
        "state": state,
        **({"soon": True} if state == "live" and grant.expires - now < SOON else {}),
        **({"last_write": iso(wrote)} if wrote else {}),
    }
