"""Admission: who calls, where, and what they may do there now."""

from dataclasses import dataclass
from typing import Any

from ..domain.errors import Refused
from ..domain.grant import Grant, check_live
from ..domain.person import Member
from ..domain.policy import Request, permit
from ..domain.shift import Shift
from ..domain.space import Space
from ..engine.reads import Command, Doc
from .call import Admitted, Call, Replay
from .identity import OPERATOR, Badge, Caller

OPERATOR_MAY = ("read", "write", "manage")


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
        if self.badge.kind != "operator":
            docs.append(Doc(Grant, self.badge.id))
        if caller.is_human:
            docs.append(Doc(Member, caller.principal))
        if caller.is_agent:
            docs.append(Doc(Shift, caller.principal))
        return docs

    def commands(self, call: Call) -> list[Command]:
        keys = call.keys
        head: list[Command] = [("TIME",), ("GET", keys.clock), ("HGET", keys.head, "ms")]
        if self.done:
            head.append(("GET", self.done))
        return head + [command for read in self.reads(call) for command in read.commands(keys)]

    def check(self, call: Call, got: list[Any]) -> None:
        """Refuses scope_unknown, unauthenticated, key_revoked, key_expired, and what the policy refuses."""
        (seconds, micros), offset, last, *rest = got
        # As in commit.lua: a clock that was set back brings nothing back to life.
        now = max(int(seconds) * 1000 + int(micros) // 1000 + int(offset or 0), int(last or 0))
        record = rest.pop(0) if self.done else None
        docs: dict[str, Any] = {}
        for read, raw in zip(self.reads(call), rest, strict=True):
            doc, seen = read.parse(call.keys, [raw])
            call.seen.update(seen)
            docs[read.kind.kind] = doc
        caller, space = call.caller, docs["space"] or Space(id="", created=0)
        grant, member = docs.get("grant"), docs.get("member")
        may = _may(caller, grant, member)
        call.admitted = Admitted(now, space, grant, member, docs.get("shift"), may)
        if not (space.id or call.row.founds):
            raise _unknown(caller.space)
        self._check_credential(caller, grant, now=now, simulated=space.simulated)
        if caller.is_human and not may:
            raise _outside(caller)
        row, profile = call.row, grant.profile if grant else ""
        permit(Request(caller.principal, row.verb, row.effect, caller.space, may, row.profiles, profile))
        if record:
            raise Replay(record.decode())

    def _check_credential(self, caller: Caller, grant: Grant | None, *, now: int, simulated: bool) -> None:
        if self.badge.kind == "operator":
            return
        if grant is None or grant.principal != caller.principal:
            raise Refused("unauthenticated", "This key is not known here. Ask an owner to mint one.")
        check_live(grant, now=now, simulated=simulated)


def _may(caller: Caller, grant: Grant | None, member: Member | None) -> tuple[str, ...]:
    """The effects that the caller has: of the role for a person, of the grant for an agent."""
    if caller.principal == OPERATOR:
        return OPERATOR_MAY
    if caller.is_human:
        return member.may if member else ()
    return grant.may if grant else ()


def _unknown(space: str) -> Refused:
    return Refused(
        "scope_unknown", f"There is no space {space[:80]!r}. Nothing was done. Make it: logmem space {space[:63]}"
    )


def _outside(caller: Caller) -> Refused:
    return Refused("scope_unknown", f"{caller.principal} has no space {caller.space!r} (any more). Nothing was done.")
