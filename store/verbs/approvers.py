"""Approvers: who may decide an ask now, and how each can be reached."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..domain.ask import Ask, check_eligible, eligible, same_eyes
from ..domain.grant import Grant
from ..domain.person import Member
from ..engine.reads import Doc, Page, Range
from .call import Call, Result

LIMIT = 200  # people of a role
SESSIONS_LIMIT = 20  # sessions of a person that are looked at
ROLES = (Range("role", "approver", LIMIT), Range("role", "owner", LIMIT))  # what `Roles.of` is made from


@dataclass(frozen=True, slots=True)
class Roles:
    """Who approves in this space now, and who of them is an owner."""

    approvers: Sequence[str]
    owners: frozenset[str]
    several: bool

    @classmethod
    def of(cls, approver: Page, owner: Page) -> "Roles":
        """From the pages of `ROLES`."""
        return cls(approver.ids(Member), frozenset(owner.ids(Member)), approver.size > 1)

    def held(self, person: str) -> tuple[str, ...]:
        """The roles of one of the approvers that an ask may name."""
        return ("approver", "owner") if person in self.owners else ("approver",)


def four_eyes(call: Call, *, several: bool) -> bool:
    """Whether high risk takes somebody else than who answers for the key; `several` people approve here."""
    return several if call.space.four_eyes == "auto" else call.space.four_eyes == "on"


async def check_decider(call: Call, ask: Ask) -> None:
    """Let the caller decide the ask. Refuses not_an_approver."""
    roles, link_by = standing(call)
    strict = ask.risk == "high" and four_eyes(call, several=(await call.read(Range("role", "approver", 1))).size > 1)
    check_eligible(ask, by=call.me, roles=roles, four_eyes=strict, link_by=link_by)


def standing(call: Call) -> tuple[tuple[str, ...], str]:
    """The caller's roles, and who made the link that their session was opened with."""
    return (call.member.roles if call.member else (), call.grant.minted_by if call.grant else "")


async def audience(call: Call, ask: Ask, *, roles: Roles | None = None) -> Result:
    """Those who may decide the ask now, each with the ways to reach them; a warning when nobody can."""
    if roles is None:
        roles = Roles.of(*await call.look(*ROLES))
    strict = ask.risk == "high" and four_eyes(call, several=roles.several)
    people = [p for p in roles.approvers if eligible(ask, by=p, roles=roles.held(p), four_eyes=strict)]
    reached = await _reached(call, ask, people, strict=strict)
    asked = [{"who": p, "reach": ["console"] if p in reached else []} for p in people]
    if not asked:
        return {"asked": asked, "warning": "no_eligible_approver"}
    return {"asked": asked} if reached else {"asked": asked, "warning": "no_approver_reachable"}


async def _reached(call: Call, ask: Ask, people: Iterable[str], *, strict: bool) -> set[str]:
    """Who of them has a session in which they may decide the ask."""
    people = list(people)
    limit = SESSIONS_LIMIT if strict else 1
    pages = await call.look_each(Range("sessions", p, limit, low=call.now) for p in people)
    open_ = [(person, id) for person, page in zip(people, pages, strict=True) for id in page.ids(Grant)]
    if not strict:
        return {person for person, _ in open_}
    grants = await call.look_each(Doc(Grant, id) for _, id in open_)
    pairs = zip(open_, grants, strict=True)
    return {person for (person, _), grant in pairs if grant and not same_eyes(ask, grant.minted_by)}
