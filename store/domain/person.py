"""People in a space: memberships and roles."""

from collections.abc import Iterator
from dataclasses import dataclass

from .document import Document, Index

ROLES = ("owner", "approver", "member")
ROLE_MAY = {
    "owner": ("read", "write", "decide", "manage"),
    "approver": ("read", "write", "decide"),
    "member": ("read", "write"),
}


@dataclass(frozen=True, kw_only=True)
class Member(Document):
    """The membership of `human:<id>`; `role` is '' once it was taken away. An owner approves unless `excluded`."""

    kind = "member"
    role: str
    since: int
    excluded: bool = False

    @property
    def may(self) -> tuple[str, ...]:
        """The effects that the role allows; none without a role."""
        allowed = ROLE_MAY.get(self.role, ())
        return tuple(e for e in allowed if not (e == "decide" and self.excluded))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that asks and handoffs may name and that this person fills."""
        approves = ("approver",) if "decide" in self.may else ()
        return tuple(dict.fromkeys(r for r in (self.role, *approves) if r))

    def indexes(self) -> Iterator[Index]:
        if self.role:
            yield Index("members", "", self.since)
        for role in self.roles:
            yield Index("role", role, self.since)
