"""Admission: who calls, where, and what they may do there now."""

from dataclasses import dataclass
from typing import Any

from ..domain.errors import Refused
from ..domain.grant import Grant, check_live
from ..domain.person import Member
from ..domain.policy import Request, permit
from ..domain.reach import Reach
from ..domain.shift import Shift
from ..domain.space import Space
from ..domain.text import quoted
from ..engine.reads import Command, Doc, Seen
from .call import Admitted, Call, Replay
from .identity import BOT, OPERATOR, OURS, SCHEDULER, Badge, Caller

MAY = {  # of our own, who have no grant
    OPERATOR: ("read", "write", "manage"),
    BOT: ("read", "write"),
    SCHEDULER: ("read", "manage"),
}


@dataclass(slots=True)
class Admission:
    """Rides in the pipeline of a call's first read, and says who calls.

    It reads the clock, the space, the caller's grant, role and shift as they are now, and whether this action was
    done before. What it sees is expected unchanged by the commit.
    """

    badge: Badge
    done: str = ""

    def reads(self, call: Call) -> list[Doc[Any]]:
        """The documents that say who calls; absent ones are read as well, and expected to stay absent."""
        caller = call.caller
        docs: list[Doc[Any]] = [Doc(Space, caller.space)]
        if self.badge.kind == "telegram":
            docs.append(Doc(Reach, caller.principal))  # stands for a grant: here the account is theirs
        elif self.badge.kind not in OURS:
            docs.append(Doc(Grant, self.badge.id))
        if caller.is_human:
            docs.append(Doc(Member, caller.principal))
        if caller.is_agent:
            docs.append(Doc(Shift, caller.principal))
        return docs

    def commands(self, call: Call) -> list[Command]:
        keys = call.keys
        head: list[Command] = [("TIME",), ("GET", keys.clock), ("HGET", keys.head, "ms")]
        if self.badge.kind == "scheduler":
            head.append(("HGET", keys.leader, "epoch"))
        if self.done:
            head.append(("GET", self.done))
        return head + [command for read in self.reads(call) for command in read.commands(keys)]

    def check(self, call: Call, got: list[Any]) -> None:
        """Refuses scope_unknown, unauthenticated, key_revoked, key_expired, and what the policy refuses."""
        (seconds, micros), offset, last, *rest = got
        # As in commit.lua: a clock that was set back brings nothing back to life.
        real = int(seconds) * 1000 + int(micros) // 1000
        now = max(real + int(offset or 0), int(last or 0))
        epoch = (rest.pop(0) or b"").decode() if self.badge.kind == "scheduler" else ""
        record = rest.pop(0) if self.done else None
        docs: dict[str, Any] = {}
        for read, raw in zip(self.reads(call), rest, strict=True):
            doc, seen = read.parse(call.keys, [raw])
            call.seen.update(seen)
            docs[read.kind.kind] = doc
        caller, space = call.caller, docs["space"] or Space(id="", created=0)
        grant, member = docs.get("grant"), docs.get("member")
        may = _may(caller, grant, member)
        moved = now - real if space.simulated else 0
        call.admitted = Admitted(now, moved, space, grant, member, docs.get("shift"), may)
        if not (space.id or call.row.founds):
            raise _unknown(caller.space)
        if self.badge.kind == "scheduler":
            self._check_leads(call, epoch)
        self._check_credential(caller, grant, docs.get("reach"), now=now, moved=moved)
        if caller.is_human and not may:
            raise _outside(caller)
        row, profile = call.row, grant.profile if grant else ""
        permit(Request(caller.principal, row.verb, row.effect, caller.space, may, row.profiles, profile))
        if record:
            raise Replay(record.decode())

    def _check_leads(self, call: Call, epoch: str) -> None:
        """A scheduler writes only while no later one has been here: not now, and not by the time of the commit."""
        if int(epoch or 0) > int(self.badge.id):
            raise Refused(
                "stale",
                f"A scheduler of epoch {epoch} leads in {call.caller.space}, and this one is of epoch {self.badge.id}. "
                "Nothing was written.",
            )
        call.seen[call.keys.leader] = Seen("epoch", epoch)

    def _check_credential(
        self, caller: Caller, grant: Grant | None, reach: Reach | None, *, now: int, moved: int
    ) -> None:
        if self.badge.kind in OURS:
            return
        if self.badge.kind == "telegram":
            if reach is None or str(reach.account) != self.badge.id:
                raise Refused("unauthenticated", f"This Telegram account is not paired in {caller.space} (any more).")
            return
        if grant is None or grant.principal != caller.principal:
            raise Refused("unauthenticated", "This key is not known here. Ask an owner to mint one.")
        check_live(grant, now=now, moved=moved)


def _may(caller: Caller, grant: Grant | None, member: Member | None) -> tuple[str, ...]:
    """The effects that the caller has: of the role for a person, of the grant for an agent."""
    if caller.principal in MAY:
        return MAY[caller.principal]
    if caller.is_human:
        return member.may if member else ()
    return grant.may if grant else ()


def _unknown(space: str) -> Refused:
    return Refused(
        "scope_unknown", f"There is no space {quoted(space)}. Nothing was done. Make it: logmem space {space[:63]}"
    )


def _outside(caller: Caller) -> Refused:
    return Refused(
        "scope_unknown", f"{caller.principal} has no space {quoted(caller.space)} (any more). Nothing was done."
    )
