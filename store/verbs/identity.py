"""Badge and room: whose a credential is, and which space a call means. Neither is ever guessed."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal

from ..domain.entry import Via
from ..domain.errors import Refused
from ..domain.ids import bare, near
from ..engine.globals import Identity
from ..engine.store import Store

OPERATOR = "system:operator"
KINDS: dict[str, tuple[str, Via]] = {"lmk": ("key", "token"), "lms": ("session", "console")}


@dataclass(frozen=True, slots=True)
class Badge:
    """What a surface hands over: a credential as presented and what was declared beside it. Nothing proven yet.

    `spaces` and `agents` are (where it was said, what was said). The operator's badge is made by the command only:
    whoever can open the store as lm-api is the operator.
    """

    kind: Literal["key", "session", "operator"] | str
    id: str = ""
    secret: str = ""
    via: Via = "system"
    client: str = ""
    spaces: tuple[tuple[str, str], ...] = ()
    agents: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, in which space: stamped on all that the call writes."""

    principal: str
    via: Via
    client: str
    credential: str
    space: str
    why: str

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
    if badge.kind == "operator":
        return Identity("operator", "", OPERATOR, "")
    found = await store.shared.identity(badge.kind, badge.id)
    proof = hashlib.sha256(badge.secret.encode()).hexdigest()
    if found is None or not hmac.compare_digest(found.proof, proof):
        raise Refused("unauthenticated", "This key is not known here. Ask an owner to mint one.")
    for source, name in badge.agents:
        if name not in (found.principal, found.principal.partition(":")[2]):
            raise Refused(
                "identity_mismatch",
                f"Your credential is {found.principal}'s, and the {source} says {name[:80]!r}. Nothing was written. "
                f"Leave it out, or use that principal's own key.",
                caller=found.principal,
            )
    return found


async def enterable(store: Store, who: Identity) -> list[str]:
    """The spaces that this credential may enter."""
    if who.space:
        return [who.space]
    if who.kind == "operator":
        return await store.shared.spaces()
    return await store.shared.joined(who.principal.partition(":")[2])


async def enter(store: Store, badge: Badge) -> Caller:
    """Who calls and in which space. Refuses also scope_undeclared, scope_mismatch, scope_unknown."""
    who = await recognise(store, badge)
    said = dict.fromkeys(space for _, space in badge.spaces)
    if len(said) > 1:
        both = " and ".join(f"{source} says {space[:80]!r}" for source, space in badge.spaces)
        raise Refused("scope_mismatch", f"{both}. Nothing was done. Declare one space.", caller=who.principal)
    space = next(iter(said), "")
    own = [who.space] if who.space and space in ("", who.space) else await enterable(store, who)
    if not space and len(own) == 1:
        space, why = own[0], "the credential is bound to it"
    elif not space:
        names = ", ".join(own) or "none"
        raise Refused(
            "scope_undeclared",
            f"{who.principal} may enter several spaces ({names}) and this call names none. Nothing was done. "
            "Say which: argument space, or header X-LogMem-Space.",
            spaces=own,
            caller=who.principal,
        )
    else:
        why = f"the {badge.spaces[0][0]} says so"
    if who.kind == "operator":
        space = bare(space, "space", name="space")
    elif space not in own:
        close = near(space, own)
        raise Refused(
            "scope_unknown",
            f"{who.principal} has no space {space[:80]!r}. Nothing was done. "
            + (f"Did you mean {', '.join(close)}? " if close else "")
            + f"It may enter: {', '.join(own) or 'none'}.",
            near=close,
            spaces=own,
            caller=who.principal,
        )
    return Caller(who.principal, badge.via, badge.client, badge.id, space, why)
