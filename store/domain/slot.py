"""The slots Who and Now of a principal; the third, Log, is the ledger's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .document import Document, Index, entry_id
from .errors import Refused
from .person import ROLES


@dataclass(frozen=True, kw_only=True)
class Who(Document):
    """A principal's profile. `said` is the entry that last changed it."""

    kind = "who"
    name: str
    role: str = ""
    skills: tuple[str, ...] = ()
    since: int = 0
    model: str = ""
    said: str = entry_id()

    @property
    def roles(self) -> tuple[str, ...]:
        """The role that an agent says it fills, as handoffs name it. What people are given, no agent takes."""
        role = slug(self.role) if self.id.startswith("agent:") else ""
        return (role,) if role and role not in ROLES else ()

    def indexes(self) -> Iterator[Index]:
        yield Index("roster", "", self.since)
        for role in self.roles:
            yield Index("role", role, self.since)


@dataclass(frozen=True, kw_only=True)
class Now(Document):
    """What a principal does now. `since` in ms; `revision` counts the changes; `said` is the entry of the last."""

    kind = "now"
    doing: str = ""
    blocked: str = ""
    waiting_on: str = ""
    where: str = ""
    since: int = 0
    revision: int = 0
    said: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if self.blocked:
            yield Index("blocked", "", self.since)


def slug(role: str) -> str:
    """A role as `role:<slug>` names it: lowercase words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", role.lower()).strip("-")


def check_revision(now: Now | None, seen: int) -> None:
    """Refuse a write that saw an older Now. Refuses stale."""
    current = now.revision if now else 0
    if seen != current:
        raise Refused(
            "stale",
            f"Now is at revision {current}, you saw {seen}. Nothing was written. Look again: logmem_view {{what}}",
            revision=current,
        )
