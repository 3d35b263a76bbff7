"""Grants: what a credential may do in a space, until when, and who answers for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Document, Index
from .entry import Via
from .errors import Refused
from .moments import DAY, age

LEASE_DAYS = 90  # of a key, at most
SOON = 7 * DAY  # ms before a key's end from which it is to be renewed
WARNED = (SOON, DAY)  # ms before a key's end at which those whom it concerns are told
SIGN_IN = "Sign in again."
AGENT_MAY = ("read", "write", "gate")


@dataclass(frozen=True, kw_only=True)
class Grant(Document):
    """`id` is the credential's public id; times in ms. Its secret is checked before, against the shared record.

    `minted_by` is who made the key, or the link that a session was opened with ('' for the operator's links).
    `warned` is when it was last said that it ends soon, `passed` when it was noted that a session's time is over.
    `moved` is by how much the space's clock was ahead of real time, which ends sessions, when one was opened.
    """

    kind = "grant"
    principal: str
    via: Via
    may: tuple[str, ...] = ()
    created: int
    expires: int
    revoked: int = 0
    responsible: str = ""
    minted_by: str = ""
    warned: int = 0
    passed: int = 0
    moved: int = 0
    profile: str = "fleet"

    def indexes(self) -> Iterator[Index]:
        if self.via == "token":
            yield Index("keys", "", self.created)
            if self.revoked:
                yield Index("revoked", "", self.revoked)
            else:
                yield Index("unrevoked", self.principal, self.created)
                yield Index("leases", "", self.expires)
                yield Index("live", self.principal, self.expires)
                if at := warn_at(self):
                    yield Index("warn", "", at)
        elif not self.revoked:
            ends = end(self, moved=0)
            yield Index("sessions", self.principal, ends)
            if not self.passed:
                yield Index("passing", "", ends)


def warn_at(grant: Grant) -> int:
    """When it is to be said next that the key ends soon (ms), 0 for no more. A key that was made short is no news."""
    since = max(grant.created, grant.warned)
    return next((at for at in (grant.expires - before for before in WARNED) if at > since), 0)


def warned_at(grant: Grant, *, now: int) -> int:
    """Since when it is news that the key ends soon (ms), 0 for not yet: last a day before, first a week before."""
    if grant.via != "token":
        return 0
    return max((at for before in WARNED if grant.created < (at := grant.expires - before) <= now), default=0)


def end(grant: Grant, *, moved: int) -> int:
    """When it ends by a clock that is ahead of real time by `moved` (ms).

    A simulated space's clock is moved for what happens there. It ends the keys of its agents, but no person's session:
    that one is good in other spaces too, and ends with its shared record, which real time ends.
    """
    return grant.expires + (moved - grant.moved if grant.via == "console" else 0)


def check_live(grant: Grant, *, now: int, moved: int) -> None:
    """Refuses key_revoked, key_expired."""
    key = grant.via == "token"
    thing = "key" if key else "session"
    whom = grant.responsible or "an owner"
    if grant.revoked:
        then = f"Ask {whom} for a new one." if key else SIGN_IN
        raise Refused(
            "key_revoked",
            f"This {thing} of {grant.principal} was revoked {age(now - grant.revoked)}. Nothing was written. {then}",
        )
    if (over := end(grant, moved=moved)) <= now:
        then = f"Ask {whom} to renew it." if key else SIGN_IN
        raise Refused(
            "key_expired",
            f"This {thing} of {grant.principal} expired {age(now - over)}. Nothing was written. {then}",
        )


def check_sees_sessions(person: str, *, by: str, may: tuple[str, ...]) -> None:
    """Let somebody see or end a person's sessions: their own, or everybody's where they manage. Refuses not_yours."""
    if person != by and "manage" not in may:
        raise Refused(
            "not_yours",
            f"This is about {person}'s sessions; {by} may see and end their own, and owners everybody's. "
            "Nothing was changed.",
        )


def check_open(grant: Grant, *, now: int, moved: int) -> None:
    """Let a session be ended that is open. Refuses not_found."""
    ends = end(grant, moved=moved)
    over = grant.revoked or (ends if now >= ends else 0)
    if over:
        raise Refused(
            "not_found",
            f"This session of {grant.principal} is over already: it ended {age(now - over)}. Nothing was changed.",
            state="over",
        )


def lease(days: int) -> int:
    """Ms of a key's lease. Refuses invalid_argument."""
    if not 1 <= days <= LEASE_DAYS:
        raise Refused(
            "invalid_argument", f"A key is a lease of 1 to {LEASE_DAYS} days. Nothing was written.", argument="days"
        )
    return days * DAY


def renewed(grant: Grant, *, life: int, now: int) -> Grant:
    """The grant for `life` ms from now, or for longer where it was. Refuses key_revoked."""
    if grant.revoked:
        raise Refused("key_revoked", "A revoked key stays revoked; mint a new one. Nothing was written.")
    return replace(grant, expires=max(grant.expires, now + life))
