"""One call of one verb: what it may know, and how it reads."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from ..domain.commit import Commit
from ..domain.entry import Entry, Logged
from ..domain.errors import Refused
from ..domain.grant import Grant, check_live
from ..domain.ids import near
from ..domain.person import Member
from ..domain.policy import Request, permit
from ..domain.shift import Shift
from ..domain.space import Space
from ..engine.keys import Keys
from ..engine.reads import Command, Doc, Read, Seen, Written
from ..engine.store import Store
from .identity import OPERATOR, Badge, Caller

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

OPERATOR_MAY = ("read", "write", "manage")
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One verb in the catalogue: its effect, its function, and where it is listed.

    `again` completes the result of a replay with what is not kept, from the same arguments; `founds` marks the one
    verb that needs no space to stand yet; `around` is a loop that waits around a read; `action_id` makes that an
    argument too.
    """

    verb: str
    effect: str
    run: Callable[..., Awaitable[Commit | Result]]
    profiles: tuple[str, ...] = ()
    again: Callable[..., Awaitable[Result]] | None = None
    around: Callable[..., Awaitable[Result]] | None = None
    founds: bool = False
    action_id: bool = False


class Replay(Exception):
    """This action was committed before; here is its record: request, entry ids, result."""

    def __init__(self, record: str) -> None:
        super().__init__()
        self.request, ids, self.result = record.split("\n", 2)
        self.ids = ids.split()


@dataclass(slots=True)
class Call:
    """What a verb gets. Times and documents of the caller are there after the first read."""

    row: Row
    caller: Caller
    store: Store
    admission: "Admission | None"
    now: int = 0
    space: Space = field(default_factory=lambda: Space(id="", created=0))
    grant: Grant | None = None
    member: Member | None = None
    shift: Shift | None = None
    seen: dict[str, Seen] = field(default_factory=dict)
    records: dict[int | str, Logged] = field(default_factory=dict)
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.caller.space)

    @property
    def me(self) -> str:
        return self.caller.principal


    @property
    def pure(self) -> bool:
        return self.row.effect == "read"

    @property
    def may(self) -> tuple[str, ...]:
        """The effects that the caller has here now: of the role for a person, of the grant for an agent."""
        if self.me == OPERATOR:
            return OPERATOR_MAY
        if self.caller.is_human:
            return self.member.may if self.member else ()
        return self.grant.may if self.grant else ()

    @overload
    async def read(self, a: Read[A], /) -> A: ...
    @overload
    async def read(self, a: Read[A], b: Read[B], /) -> tuple[A, B]: ...
    @overload
    async def read(self, a: Read[A], b: Read[B], c: Read[C], /) -> tuple[A, B, C]: ...
    @overload
    async def read(self, a: Read[A], b: Read[B], c: Read[C], d: Read[D], /) -> tuple[A, B, C, D]: ...
    async def read(self, *reads: Read[Any]) -> Any:
        """Read what the decision stands on: if any of it changes before the commit, the verb runs anew."""
        values = await self._fetch(reads, keep=True)
        return values[0] if len(values) == 1 else tuple(values)

    @overload
    async def look(self, a: Read[A], /) -> A: ...
    @overload
    async def look(self, a: Read[A], b: Read[B], /) -> tuple[A, B]: ...
    @overload
    async def look(self, a: Read[A], b: Read[B], c: Read[C], /) -> tuple[A, B, C]: ...
    @overload
    async def look(self, a: Read[A], b: Read[B], c: Read[C], d: Read[D], /) -> tuple[A, B, C, D]: ...
    async def look(self, *reads: Read[Any]) -> Any:
        """Read what is only shown."""
        values = await self._fetch(reads, keep=False)
        return values[0] if len(values) == 1 else tuple(values)

    async def read_each(self, reads: Iterable[Read[A]]) -> list[A]:
        """`read` for many of one kind, in one round trip."""
        return await self._fetch(list(reads), keep=True)

    async def look_each(self, reads: Iterable[Read[A]]) -> list[A]:
        """`look` for many of one kind, in one round trip."""
        return await self._fetch(list(reads), keep=False)

    async def recall(self, ids: Iterable[str]) -> dict[int | str, Logged]:
        """The entries with these ids (unknown ones left out), in one round trip; known ones are not read twice."""
        wanted = dict.fromkeys(i for i in ids if i)
        missing = [i for i in wanted if i not in self.records]
        found = await self.look_each(Written(i) for i in missing) if missing else []
        self.records.update((e.id, e) for e in found if e)
        return {i: self.records[i] for i in wanted if i in self.records}

    async def admit(self) -> None:
        """Check the caller if no read has done so yet."""
        if self.admission:
            await self._fetch([], keep=False)

    async def _fetch(self, reads: Sequence[Read[Any]], *, keep: bool) -> list[Any]:
        gate, self.admission = self.admission, None
        first = gate.commands(self) if gate else []
        got, values, seen = await self.store.fetch(self.keys, reads, first=first, pure=self.pure)
        if gate:
            gate.check(self, got)
        if keep:
            self.seen.update(seen)
        return values

    def entry(self, where: str, kind: str, summary: str, **more: Any) -> Entry:
        """A line stamped with who calls."""
        c = self.caller
        return Entry(where=where, kind=kind, by=c.principal, via=c.via, client=c.client, summary=summary, **more)


@dataclass(slots=True)
class Admission:
    """Rides in the pipeline of a call's first read, and says who calls.

    It reads the clock, the space, the caller's grant, role and shift as they are now, and whether this action was
    done before. What it sees is expected unchanged by the commit.
    """

    badge: Badge
    done: str = ""
    request: str = ""

    def reads(self, call: Call) -> list[Read[Any]]:
        """The documents that say who calls; absent ones are read as well, and expected to stay absent."""
        caller = call.caller
        docs: list[Read[Any]] = [Doc(Space, caller.space)]
        if self.badge.kind != "operator":
            docs.append(Doc(Grant, self.badge.id))
        if caller.is_human:
            docs.append(Doc(Member, caller.principal))
        if caller.is_agent:
            docs.append(Doc(Shift, caller.principal))
        return docs

    def commands(self, call: Call) -> list[Command]:
        keys = call.keys
        head: list[Command] = [("TIME",), ("GET", keys.clock)]
        if self.done:
            head.append(("GET", self.done))
        return head + [command for read in self.reads(call) for command in read.commands(keys)]

    def check(self, call: Call, got: list[Any]) -> None:
        """Refuses scope_unknown, unauthenticated, key_revoked, key_expired, and what the policy refuses."""
        (seconds, micros), offset, *rest = got
        call.now = int(seconds) * 1000 + int(micros) // 1000 + int(offset or 0)
        record = rest.pop(0) if self.done else None
        for read, raw in zip(self.reads(call), rest, strict=True):
            doc, seen = read.parse(call.keys, [raw])
            call.seen.update(seen)
            self._place(call, doc)
        self._check_space(call)
        self._check_credential(call)
        caller = call.caller
        permit(Request(caller.principal, call.row.verb, call.row.effect, caller.space, call.may))
        if record:
            raise Replay(record.decode())

    @staticmethod
    def _place(call: Call, doc: Any) -> None:
        match doc:
            case Space():
                call.space = doc
            case Grant():
                call.grant = doc
            case Member():
                call.member = doc
            case Shift():
                call.shift = doc

    def _check_space(self, call: Call) -> None:
        if call.space.id or call.row.founds:
            return
        name = call.caller.space
        raise Refused(
            "scope_unknown",
            f"There is no space {name[:80]!r}. Nothing was done. Make it: logmem space {name[:63]}",
        )

    def _check_credential(self, call: Call) -> None:
        badge, grant = self.badge, call.grant
        if badge.kind == "operator":
            return
        proof = hashlib.sha256(badge.secret.encode()).hexdigest()
        if grant is None or not hmac.compare_digest(grant.secret, proof):
            raise Refused("unauthenticated", "This key is not known here. Ask an owner to mint one.")
        check_live(grant, now=call.now)
        if call.caller.is_human and not (call.member and call.member.role):
            raise Refused(
                "scope_unknown",
                f"{call.me} has no space {call.caller.space!r} (any more). Nothing was done.",
                near=near(call.caller.space, []),
            )
