"""Credentials: minting, listing, renewing and revoking keys; sign-in links and sessions."""

import hashlib
import secrets
from dataclasses import replace
from typing import Any

from ..domain.commit import Commit, put
from ..domain.errors import Refused
from ..domain.grant import AGENT_MAY, Grant, check_live, lease, renewed
from ..domain.ids import bare, near, principal
from ..domain.moments import age, iso
from ..domain.person import Member
from ..domain.slot import Who
from ..engine.globals import Identity
from ..engine.reads import Doc, Range, Score
from .arguments import Names
from .call import Call, Result
from .people import claimed

PROFILES = ("fleet", "core")
PAGE = 100  # of a listing; nothing that ends a key is bounded by it
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
    fresh = () if who else (put(Who(id=agent, name=agent.partition(":")[2], since=call.now)),)
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


async def keys(call: Call, *, cursor: str = "") -> Result:
    """The keys of the space: whose, rights, until when, last write. Never the secret."""
    if not (cursor == "" or (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10)):
        raise Refused("invalid_argument", "cursor is what the page before gave.", argument="cursor")
    offset = int(cursor or 0)
    page = await call.look(Range("keys", "", PAGE, offset=offset))
    ids = page.ids(Grant)
    grants = await call.look_each(Doc(Grant, id) for id in ids)
    wrote = await call.look_each(Score("wrote", "", id) for id in ids)
    rows = [_shown(g, w or 0, now=call.now) for g, w in zip(grants, wrote, strict=True) if g]
    more = {"cursor": str(offset + PAGE)} if offset + PAGE < page.size else {}
    return {"keys": rows, "total": page.size, **more}


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
    return Commit(result={"revoked": ids, "principal": grants[0].principal}, puts=puts, entries=(entry,))


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
    latest = await call.look(Range("keys", "", PAGE, latest=True))
    known = {g.principal for g in await call.look_each(Doc(Grant, id) for id in latest.ids(Grant)) if g}
    live = await call.look_each(Range("unrevoked", other, 1) for other in known)
    close = near(agent, [other for other, page in zip(known, live, strict=True) if page.members])
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    return Refused(
        "not_found", f"{agent} has no live key in {call.caller.space}. Nothing was written.{hint}", near=close
    )


def _shown(grant: Grant, wrote: int, *, now: int) -> dict[str, Any]:
    try:
        check_live(grant, now=now)
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
        **({"last_write": iso(wrote)} if wrote else {}),
    }
