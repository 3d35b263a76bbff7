"""The slots Who and Now of a principal; the third, Log, is the ledger's."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .document import Document, Index, entry_id
from .entry import check_summary
from .errors import Refused
from .person import ROLES


@dataclass(frozen=True, kw_only=True)
class Who(Document):
    """A principal's profile. `said` is the entry that last changed it; `gone` since when an agent has no key left."""

    kind = "who"
    name: str
    role: str = ""
    skills: tuple[str, ...] = ()
    since: int = 0
    model: str = ""
    gone: int = 0
    said: str = entry_id()

    @property
    def roles(self) -> tuple[str, ...]:
        """The role that an agent says it fills, as handoffs name it. What people are given, no agent takes."""
        role = slug(self.role) if self.id.startswith("agent:") else ""
        return (role,) if role and role not in ROLES else ()

    def indexes(self) -> Iterator[Index]:
        yield Index("roster", "", self.since)
        if self.gone:
            yield Index("gone", "", self.gone)
        for role in self.roles:
            yield Index("role", role, self.since)


@dataclass(frozen=True, kw_only=True)
class Now(Document):
    """What a principal does now. `revision` counts the changes; `said` is the entry of the last.

    `since` is when somebody last said what is done (ms), in the same words or in others.
    """

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


NAME_LIMIT, ROLE_LIMIT, SKILL_LIMIT = 80, 120, 60  # characters
SKILLS_LIMIT = 30
WAITING_LIMIT = 200  # characters
NOTHING = ("", "false", "no", "none")  # how one says that one is not blocked


def check_profile(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What a profile says of name, role and skills, as fields of Who. Refuses invalid_argument, too_long."""
    said: dict[str, Any] = {}
    for key, limit in (("name", NAME_LIMIT), ("role", ROLE_LIMIT)):
        if key in profile:
            said[key] = _line(profile[key], f"profile.{key}", limit)
    if said.get("name") == "":
        raise Refused("invalid_argument", "profile.name is empty. Nothing was written.", argument="profile")
    if "skills" in profile:
        given = profile["skills"]
        skills = given if isinstance(given, list) else [given]
        if len(skills) > SKILLS_LIMIT:
            raise Refused(
                "too_long",
                f"profile.skills may be {SKILLS_LIMIT}, and here are {len(skills)}. Nothing was written.",
                argument="profile",
                limit=SKILLS_LIMIT,
            )
        lines = (_line(skill, f"profile.skills[{n}]", SKILL_LIMIT) for n, skill in enumerate(skills))
        said["skills"] = tuple(dict.fromkeys(line for line in lines if line))
    return said


def _line(value: object, name: str, limit: int) -> str:
    """One line of text, without blanks round it. Refuses invalid_argument, too_long."""
    if not isinstance(value, str) or any(ord(c) < 32 for c in value):
        raise Refused("invalid_argument", f"{name} is one line of text. Nothing was written.", argument="profile")
    line = value.strip()
    if len(line) > limit:
        raise Refused(
            "too_long",
            f"{name} has {len(line)} characters and may have {limit}. Nothing was written.",
            argument="profile",
            limit=limit,
        )
    return line


def renewed(now: Now | None, id: str, *, at: int, **said: str) -> Now:
    """The next Now of `id`: what was said, and all else as it was."""
    return replace(now or Now(id=id), **said, since=at, revision=(now.revision if now else 0) + 1)


def unblocked(now: Now) -> Now:
    """The Now without what blocked it. What is done stays as old as it is, since nobody said it anew."""
    return replace(now, blocked="", waiting_on="", revision=now.revision + 1)


def blocked_by(said: str | bool) -> str:
    """What blocks somebody, '' for nothing. Refuses invalid_argument, too_long."""
    if said is True:
        raise Refused(
            "invalid_argument",
            "blocked is false, or a text that says by what. Nothing was written.",
            argument="blocked",
        )
    text = "" if not said or is_no(str(said)) else str(said)
    if text:
        check_summary(text, name="blocked")
    return text


def is_no(said: str) -> bool:
    """Whether this says that there is nothing."""
    return said.strip().lower() in NOTHING


def check_waiting(said: str) -> None:
    """Refuses invalid_argument."""
    check_line("waiting_on", said, WAITING_LIMIT)


def check_line(name: str, value: str, limit: int) -> None:
    """Refuses invalid_argument: a control character in it, or too long."""
    if len(value) > limit or any(ord(c) < 32 for c in value):
        raise Refused(
            "invalid_argument", f"{name} is one line of up to {limit} characters. Nothing was written.", argument=name
        )


def slug(role: str) -> str:
    """A role as `role:<slug>` names it: lowercase words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", role.lower()).strip("-")


def check_revision(now: Now | None, seen: int, *, who: str) -> None:
    """Refuse a write that saw an older Now. Refuses stale."""
    current = now.revision if now else 0
    if seen != current:
        raise Refused(
            "stale",
            f"Now is at revision {current}, you saw {seen}. Nothing was written. "
            f'Look again: logmem_view {{what: "{who}"}}',
            revision=current,
        )
