"""Grants: what a credential may do in a space, until when, and who answers for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Document, Index
from .entry import Via
from .errors import Refused
from .moments import age

DAY = 86_400_000
LEASE_LIMIT = 90 * DAY
AGENT_MAY = ("read", "write", "gate")


@dataclass(frozen=True, kw_only=True)
class Grant(Document):
    """`id` is the credential's public id; times in ms. Its secret is checked before, against the shared record."""

    kind = "grant"
    principal: str
    via: Via
    may: tuple[str, ...] = ()
    created: int
    expires: int
    revoked: int = 0
    responsible: str = ""
    minted_by: str = ""
    profile: str = "fleet"

    def indexes(self) -> Iterator[Index]:
        if self.via == "token":
            yield Index("keys", "", self.created)
            yield Index("keys", self.principal, self.created)
        elif not self.revoked:
            yield Index("sessions", self.principal, self.expires)


def check_live(grant: Grant, *, now: int) -> None:
    """Refuses key_revoked, key_expired."""
    thing = "key" if grant.via == "token" else "session"
    if grant.revoked:
        raise Refused(
            "key_revoked",
            f"This {thing} of {grant.principal} was revoked {age(now - grant.revoked)}. Nothing was written. "
            f"Ask {grant.responsible or 'an owner'} for a new one.",
        )
    if now >= grant.expires:
        raise Refused(
            "key_expired",
            f"This {thing} of {grant.principal} expired {age(now - grant.expires)}. Nothing was written. "
            f"Ask {grant.responsible or 'an owner'} to renew it.",
        )


def renewed(grant: Grant, *, life: int, now: int) -> Grant:
    """The grant with a new lease of `life` ms from now. Refuses key_revoked."""
    if grant.revoked:
        raise Refused("key_revoked", "A revoked key stays revoked; mint a new one. Nothing was written.")
    return replace(grant, expires=now + life)
