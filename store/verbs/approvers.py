"""Approvers: who may decide an ask now, and how each can be reached."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.ask import Ask, check_eligible, eligible, same_eyes
from ..domain.copy import Copy
from ..domain.delivery import delivered, is_named, wanted
from ..domain.grant import Grant
from ..domain.person import Member
from ..domain.reach import Reach
from ..engine.copies import Sent
from ..engine.reads import Doc, Page, Range, Read
from .call import Call, Result
from .signed_in import sessions_of

LIMIT = 200  # people of a role
Get = Callable[[Iterable[Read[Any]]], Awaitable[list[Any]]]  # `read_each` or `look_each` of a call
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

    def changed(self, member: Member | None) -> "Roles":
        """With this membership in place of the one that its person has now."""
        if member is None:
            return self
        others = [person for person in self.approvers if person != member.id]
        approves, owns = "approver" in member.roles, "owner" in member.roles
        approvers = [*others, member.id] if approves else others
        owners = self.owners - {member.id} | ({member.id} if owns else frozenset())
        return Roles(approvers, frozenset(owners), len(approvers) > 1)

    def held(self, person: str) -> tuple[str, ...]:
        """The roles of one of the approvers that an ask may name."""
        return ("approver", "owner") if person in self.owners else ("approver",)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What a commit changes of who decides, for telling how asks stand once it is done: of one person, or the rule.

    `opened` is a session that begins, `ended` the id of one that ends.
    """

    member: Member | None = None
    reach: Reach | None = None
    opened: Grant | None = None
    ended: str = ""
    rule: str = ""


AS_IT_IS = Otherwise()


def four_eyes(call: Call, *, several: bool, rule: str = "") -> bool:
    """Whether high risk takes somebody else than who answers for the key; `several` people approve here."""
    rule = rule or call.space.four_eyes
    return several if rule == "auto" else rule == "on"


async def check_decider(call: Call, ask: Ask) -> None:
    """Let the caller decide the ask. Refuses not_an_approver."""
    roles, link_by = standing(call)
    strict = ask.risk == "high" and four_eyes(call, several=(await call.read(Range("role", "approver", 1))).size > 1)
    check_eligible(ask, by=call.me, roles=roles, four_eyes=strict, link_by=link_by)


def standing(call: Call) -> tuple[tuple[str, ...], str]:
    """The caller's roles, and who made the link that their session was opened with."""
    return (call.member.roles if call.member else (), call.grant.minted_by if call.grant else "")


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may decide an ask now, who of them has a session for that, how Telegram reaches them, and what was sent."""

    ask: Ask
    people: Sequence[str]
    signed_in: frozenset[str]
    reaches: Mapping[str, Reach]
    copies: Sequence[Copy]

    @property
    def wanted(self) -> tuple[str, ...]:
        """Who of them is to get a card."""
        return self._chosen if self.ask.state == "pending" else ()

    @property
    def told(self) -> list[str]:
        """Whom it is brought to: all who may decide it, but for those who get no card while others are on call."""
        return [person for person in self.people if person not in self._spared]

    @property
    def _chosen(self) -> tuple[str, ...]:
        return wanted(self._shown_to, named=is_named(self.ask.approvers), reminded=self.ask.reminded)

    @property
    def _spared(self) -> frozenset[str]:
        """Those who could have a card, and neither get nor got one."""
        got = {copy.to for copy in self.copies if copy.state != "pending" or copy.live}
        return frozenset(reach.id for reach in self._shown_to if reach.live) - {*self._chosen, *got}

    @property
    def _shown_to(self) -> list[Reach]:
        """Those to whom the card of this ask can be shown, if anything reaches them."""
        return [reach for reach in self.reaches.values() if reach.id not in self.ask.unshown]

    @property
    def warning(self) -> str:
        """What is wrong with that, or ''."""
        if not self.people:
            return "no_eligible_approver"
        if self.signed_in:
            return ""
        live = any(reach.live for reach in self._shown_to)
        return "no_approver_reachable" if not live else "no_strong_approver" if self.ask.risk == "high" else ""

    @property
    def delivery(self) -> Mapping[str, str]:
        """How far each card has come, of those who get or got one."""
        return delivered(self.reaches.values(), wanted=self.wanted, copies=self.copies, unshown=self.ask.unshown)

    @property
    def is_silent(self) -> bool:
        """Whether it waits, and nobody who may decide it can be reached."""
        return self.ask.state == "pending" and self.warning in ("no_approver_reachable", "no_eligible_approver")

    @property
    def shown(self) -> Result:
        """For results: each with the ways to reach them."""
        delivery, people = self.delivery, [p for p in self.people if p in self.signed_in or p not in self._spared]
        asked = [
            {"who": p, "reach": self._ways(p), **({"delivery": delivery[p]} if p in delivery else {})} for p in people
        ]
        return {"asked": asked, **({"warning": self.warning} if self.warning else {})}

    def _ways(self, person: str) -> list[str]:
        reach = self.reaches.get(person)
        arrives = bool(reach and reach.live) and person not in (*self.ask.unshown, *self._spared)
        ways = {"console": person in self.signed_in, "telegram": arrives}
        return [way for way, there in ways.items() if there]


async def audience(
    call: Call, ask: Ask, *, roles: Roles | None = None, but: Otherwise = AS_IT_IS, firm: bool = False
) -> Audience:
    """Those who may decide the ask now, each with the ways to reach them; a warning when nobody can.

    `but`: as it will be once that has changed. `firm`: a decision stands on it, else it is only shown.
    """
    get = call.read_each if firm else call.look_each
    if roles is None:
        roles = Roles.of(*await get(ROLES))
    people, strict = _deciders(call, ask, roles.changed(but.member), rule=but.rule)
    on = call.space.telegram or bool(but.reach)
    reads = _ways(call, ask, people, telegram=on)
    found = await get(reads) if reads else []
    pages, reaches = found[: len(people)], found[len(people) : 2 * len(people)]
    open_ = [(p, id) for p, page in zip(people, pages, strict=True) for id in page.ids(Grant) if id != but.ended]
    there = await _strangers(get, ask, open_) if strict else {person for person, _ in open_}
    if but.opened and but.opened.principal in people and not (strict and same_eyes(ask, but.opened.minted_by)):
        there.add(but.opened.principal)
    now = {reach.id: reach for reach in reaches if reach} | ({but.reach.id: but.reach} if but.reach else {})
    reached = {p: now[p] for p in people if p in now and now[p].account}
    return Audience(ask.as_of(call.now), people, frozenset(there), reached, found[-1] if on else ())


def audience_of(call: Call, ask: Ask, roles: Roles) -> list[Read[Any]]:
    """What `audience` reads, for those who read more with it."""
    return _ways(call, ask, _deciders(call, ask, roles)[0], telegram=call.space.telegram)


def _deciders(call: Call, ask: Ask, roles: Roles, *, rule: str = "") -> tuple[list[str], bool]:
    """Who may decide it, and whether that takes four eyes."""
    strict = ask.risk == "high" and four_eyes(call, several=roles.several, rule=rule)
    return [p for p in roles.approvers if eligible(ask, by=p, roles=roles.held(p), four_eyes=strict)], strict


def _ways(call: Call, ask: Ask, people: Sequence[str], *, telegram: bool) -> list[Read[Any]]:
    """Their sessions; and how Telegram reaches them, of which there is nothing to be read before the first pairing."""
    reads: list[Read[Any]] = [sessions_of(call, p) for p in people]
    return [*reads, *(Doc(Reach, p) for p in people), Sent(ask.ref)] if telegram else reads


async def _strangers(get: Get, ask: Ask, sessions: Sequence[tuple[str, str]]) -> set[str]:
    """Whose sessions are somebody else's eyes."""
    grants = await get([Doc(Grant, id) for _, id in sessions])
    pairs = zip(sessions, grants, strict=True)
    return {person for (person, _), grant in pairs if grant and not same_eyes(ask, grant.minted_by)}
