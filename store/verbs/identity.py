"""Badge and room: whose a credential is, and which space a call means. Neither is ever guessed."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal

from ..domain.entry import Via
from ..domain.errors import Refused
from ..domain.grant import Grant
from ..domain.ids import bare, near
from ..domain.person import Member
from ..domain.reach import Reach
from ..domain.text import quoted
from ..engine.globals import Identity
from ..engine.reads import Doc
from ..engine.store import Store
from .faults import told_plainly

OPERATOR, BOT, SCHEDULER = "system:operator", "system:bot", "system:scheduler"
# Badges that no credential of a caller's makes, and who has them.
OURS = {"operator": OPERATOR, "bot": BOT, "scheduler": SCHEDULER}
KINDS: dict[str, tuple[str, Via]] = {"lmk": ("key", "token"), "lms": ("session", "console")}


@dataclass(frozen=True, slots=True)
class Badge:
    """What a surface hands over: a credential as presented and what was declared beside it. Nothing proven yet.

    `spaces` and `agents` are (where it was said, what was said). The operator's badge is made by the command only:
    whoever can open the store as lm-api is the operator. The badge of a Telegram account (`id` is its number) and the
    bot's own are made by the bot's door only, once it has seen the bot's credential. The scheduler's is made by itself;
    its `id` is the epoch in which it leads.
    """

    kind: Literal["key", "session", "operator", "telegram", "bot", "scheduler"] | str
    id: str = ""
    secret: str = ""
    via: Via = "system"
    client: str = ""
    spaces: tuple[tuple[str, str], ...] = ()
    agents: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, in which space: stamped on all that the call writes. `who` is whose the credential is."""

    principal: str
    via: Via
    client: str
    credential: str
    space: str
    why: str
    who: Identity

    @property
    def is_agent(self) -> bool:
        return self.principal.startswith("agent:")

    @property
    def is_human(self) -> bool:
        return self.principal.startswith("human:")


def read_token(token: str) -> tuple[str, Via, str, str]:
    """Kind, via, public id and secret of `lmk_…` and `lms_…`. Refuses unauthenticated."""
    prefix, _, rest = token.partition("_")
    id, _, secret = rest.partition("_")
    if prefix not in KINDS or not id or not secret or not token.isascii():
        raise Refused(
            "unauthenticated",
            "No valid key came with this call. Send Authorization: Bearer lmk_… or use the minted URL /k/<key>/mcp. "
            "An owner can mint one: logmem mint NAME --space SPACE",
        )
    kind, via = KINDS[prefix]
    return kind, via, id, secret


async def recognise(store: Store, badge: Badge) -> Identity:
    """Whose the credential is. Refuses unauthenticated, and then only identity_mismatch.

    The secret is checked before anything is said: public ids stand in the Log for all to read.
    """
    if badge.kind in OURS:
        return Identity(badge.kind, "", OURS[badge.kind], "")
    if badge.kind == "telegram":
        person, spaces = await _paired(store, badge.id)
        return Identity("telegram", badge.id, person, "", spaces=spaces)
    found = await store.shared.identity(badge.kind, badge.id)
    proof = hashlib.sha256(badge.secret.encode()).hexdigest()
    if found is None or not hmac.compare_digest(found.proof, proof):
        raise Refused("unauthenticated", "This key is not known here. Ask an owner to mint one.")
    for source, name in badge.agents:
        if name not in (found.principal, found.principal.partition(":")[2]):
            raise mismatch(found.principal, source, name)
    return found


async def _paired(store: Store, account: str) -> tuple[str, tuple[str, ...]]:
    """Whose a Telegram account is now, and the spaces that they were ever let into. Refuses unauthenticated."""
    person, spaces = await store.shared.accounts.owner(account)
    if not person:
        raise Refused(
            "unauthenticated",
            "This Telegram account is nobody's here. Nothing was done. Pair it by a code from the console: /start CODE",
        )
    return person, spaces


def mismatch(principal: str, source: str, said: str) -> Refused:
    """The refusal for who declares another name than the credential's."""
    return Refused(
        "identity_mismatch",
        f"Your credential is {principal}'s, and {source} says {quoted(said)}. Nothing was written. "
        f"Leave it out, or use that principal's own key.",
        caller=principal,
    )


async def vouch(store: Store, badge: Badge) -> None:
    """Let nobody in, but send away who has no credential before more is done for them. Refuses as `recognise` does."""
    with told_plainly():
        await recognise(store, badge)


async def enterable(store: Store, who: Identity) -> list[str]:
    """The spaces that this credential may enter now. Refuses key_revoked: its session was ended."""
    if who.kind == "operator":
        return await store.shared.spaces()
    if who.kind == "key":
        return [who.space]
    names = await _listed(store, who)
    if who.kind == "telegram":
        return await _reached(store, who, names)
    stands = await store.across(names, Doc(Grant, who.id), Doc(Member, who.principal))
    held = [grant for grant, _ in stands if grant]
    if held and all(grant.revoked for grant in held):  # an owner may have ended it in their space only
        raise Refused("key_revoked", f"This session of {who.principal} was ended. Nothing was done. Sign in again.")
    return [
        name
        for name, (grant, member) in zip(names, stands, strict=True)
        if grant and not grant.revoked and member and member.role
    ]


async def _reached(store: Store, who: Identity, names: list[str]) -> list[str]:
    """Those of these spaces in which a Telegram account is its person's now, and they have a role."""
    stands = await store.across(names, Doc(Reach, who.principal), Doc(Member, who.principal))
    pairs = zip(names, stands, strict=True)
    return [n for n, (reach, member) in pairs if reach and str(reach.account) == who.id and member and member.role]


async def _listed(store: Store, who: Identity) -> list[str]:
    """The spaces that this credential was ever let into; what it may do in one stands there, and every call asks."""
    if who.space:
        return [who.space]
    if who.spaces is not None:
        return list(who.spaces)
    if who.kind == "operator":
        return await store.shared.spaces()
    return await store.shared.joined(who.principal.partition(":")[2])


async def enter(store: Store, badge: Badge, *, who: Identity | None = None) -> Caller:
    """Who calls and in which space; `who` is whose the badge was found to be just now.

    Refuses also scope_undeclared, scope_mismatch, scope_unknown.
    """
    who = who or await recognise(store, badge)
    said = dict.fromkeys(space for _, space in badge.spaces)
    if len(said) > 1:
        both = " and ".join(f"{source} says {quoted(space)}" for source, space in badge.spaces)
        raise Refused("scope_mismatch", f"{both}. Nothing was done. Declare one space.", caller=who.principal)
    space = next(iter(said), "")
    why = f"the {badge.spaces[0][0]} says so" if space else "the credential is bound to it"
    if not space:
        space = who.space or await _only(store, who)
    elif who.kind in OURS:
        space = bare(space, "space", name="space")
    elif space not in await _listed(store, who):
        raise await _not_theirs(store, who, space)
    return Caller(who.principal, badge.via, badge.client, badge.id, space, why, who)


async def _only(store: Store, who: Identity) -> str:
    """The space of a credential that may enter one. Refuses scope_undeclared."""
    own = await enterable(store, who)
    if len(own) == 1:
        return own[0]
    several = f"may enter several spaces ({', '.join(own)})" if own else "may enter no space now"
    raise Refused(
        "scope_undeclared",
        f"{who.principal} {several} and this call names none. Nothing was done. "
        "Say which: argument space, or header X-LogMem-Space.",
        spaces=own,
        caller=who.principal,
    )


async def _not_theirs(store: Store, who: Identity, space: str) -> Refused:
    own = await enterable(store, who)
    close = near(space, own)
    return Refused(
        "scope_unknown",
        f"{who.principal} has no space {quoted(space)}. Nothing was done. "
        + (f"Did you mean {', '.join(close)}? " if close else "")
        + f"Spaces to enter: {', '.join(own) or 'none'}.",
        near=close,
        spaces=own,
        caller=who.principal,
    )
