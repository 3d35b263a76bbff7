"""One call of one verb: what it may know, and how it reads."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, overload

from ..domain.commit import Commit
from ..domain.document import Document
from ..domain.entry import KINDS, Entry, Logged
from ..domain.grant import Grant
from ..domain.person import Member
from ..domain.shift import Shift
from ..domain.space import Space
from ..engine.keys import Keys
from ..engine.reads import Command, Read, Seen, Texts, Written
from ..engine.store import Store
from .identity import Caller

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One verb in the catalogue: its effect, its function, and where it is listed.

    `again` completes the result of a replay with what is not kept, from the same arguments; `founds` marks the one
    verb that needs no space to stand yet, `lets_in` the one that a surface does before what its caller wants; `around`
    is a loop that waits around a read; `action_id` makes that an argument too; `turns` names an argument and the row
    that runs in this one's place when that is true; `whole` marks results that no model reads, but a program or a
    person: bounded by how many there are alone, nothing is cut to a number of tokens, and they say what time it is.
    """

    verb: str
    effect: str
    run: Callable[..., Awaitable[Commit | Result]]
    profiles: tuple[str, ...] = ()
    again: Callable[..., Awaitable[Result]] | None = None
    around: Callable[..., Awaitable[Result]] | None = None
    founds: bool = False
    lets_in: bool = False
    action_id: bool = False
    whole: bool = False
    turns: "tuple[str, Row] | None" = None

    @property
    def pure(self) -> bool:
        """Whether it only reads, whatever its arguments."""
        return self.effect == "read" and (self.turns is None or self.turns[1].pure)

    @property
    def in_full(self) -> "Row":
        """The row as a surface of people calls it: `whole`."""
        return replace(self, whole=True)


class Replay(Exception):
    """This action was committed before; here is its record: request, entry ids, result."""

    def __init__(self, record: str) -> None:
        super().__init__()
        self.request, ids, self.result = record.split("\n", 2)
        self.ids = ids.split()


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the first read finds out about the caller: when it is (ms), where, and what they may do there now.

    `moved` is by how much the clock of a simulated space is ahead of real time (ms), 0 elsewhere.
    """

    now: int
    moved: int
    space: Space
    grant: Grant | None
    member: Member | None
    shift: Shift | None
    may: tuple[str, ...]


class Gate(Protocol):
    """Rides in the pipeline of a call's first read, and lets the caller in or refuses."""

    def commands(self, call: "Call") -> list[Command]:
        """What it reads."""

    def check(self, call: "Call", got: list[Any]) -> None:
        """Set `call.admitted` from what was read."""


@dataclass(slots=True)
class Call:
    """What a verb gets. What is known of the caller is there after the first read."""

    row: Row
    caller: Caller
    store: Store
    admission: Gate | None
    admitted: "Admitted | None" = None
    seen: dict[str, Seen] = field(default_factory=dict)
    records: dict[int | str, Logged] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    near: dict[Read[Any], tuple[Any, dict[str, Seen]]] = field(default_factory=dict)
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
    def now(self) -> int:
        """The space's clock, in ms."""
        return self._in().now

    @property
    def moved(self) -> int:
        """By how much the clock of a simulated space is ahead of real time, in ms."""
        return self._in().moved

    @property
    def space(self) -> Space:
        return self._in().space

    @property
    def grant(self) -> Grant | None:
        return self._in().grant

    @property
    def member(self) -> Member | None:
        return self._in().member

    @property
    def shift(self) -> Shift | None:
        return self._in().shift

    @property
    def may(self) -> tuple[str, ...]:
        """The effects that the caller has here now."""
        return self._in().may

    def _in(self) -> "Admitted":
        if self.admitted is None:
            raise RuntimeError(f"{self.row.verb} looked at its caller before the first read; await call.admit()")
        return self.admitted

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

    async def ahead(self, reads: Iterable[Read[Any]]) -> None:
        """Fetch these in one round trip, for those who `read` or `look` at them later in this try: that takes none."""
        new = list(dict.fromkeys(read for read in reads if read not in self.near))
        self.near.update(zip(new, await self._trip(new), strict=True))

    def release(self, documents: Iterable[tuple[type[Document], str]]) -> None:
        """Stand no longer on these documents, by kind and id: they were read, and turn out to be only shown."""
        for kind, id in documents:
            self.seen.pop(self.keys.doc(kind.kind, id), None)

    async def recall(self, ids: Iterable[str]) -> dict[int | str, Logged]:
        """The entries with these ids (unknown ones left out), in one round trip; known ones are not read twice."""
        wanted = dict.fromkeys(i for i in ids if i)
        missing = [i for i in wanted if i not in self.records]
        ahead = [i for i in missing if self._known(Written(i))]
        found = [e for e in await self.look_each(map(Written, ahead)) if e] if ahead else []
        if far := tuple(i for i in missing if i not in ahead):
            found += await self.look(Texts(far))
        self.records.update((e.id, e) for e in found)
        return {i: self.records[i] for i in wanted if i in self.records}

    async def admit(self) -> None:
        """Check the caller if no read has done so yet."""
        if self.admission:
            await self._fetch([], keep=False)

    async def _fetch(self, reads: Sequence[Read[Any]], *, keep: bool) -> list[Any]:
        far = iter(await self._trip([read for read in reads if not self._known(read)]))
        found = [self.near[read] if self._known(read) else next(far) for read in reads]
        if keep:
            for _, seen in found:
                self._stand_on(seen)
        return [value for value, _ in found]

    def _stand_on(self, seen: dict[str, Seen]) -> None:
        """Of what is read twice the first counts: what was decided on it is right only if the commit finds that."""
        for key, saw in seen.items():
            before = self.seen.get(key)
            if before is None or before.field != saw.field:
                self.seen[key] = saw

    def _known(self, read: Read[Any]) -> bool:
        return bool(self.near) and read in self.near

    async def _trip(self, reads: Sequence[Read[Any]]) -> list[tuple[Any, dict[str, Seen]]]:
        """The value of each of these, and what it saw. Who calls is checked in the first trip."""
        gate, self.admission = self.admission, None
        if not (gate or reads):
            return []
        first = gate.commands(self) if gate else []
        got, values, seen = await self.store.fetch(self.keys, reads, first=first, pure=self.pure)
        if gate:
            gate.check(self, got)
        return list(zip(values, seen, strict=True))

    def draw(self, name: str, make: Callable[[], A]) -> A:
        """What `make` draws at random, drawn once a call: each of its tries gets the same."""
        if name not in self.drawn:
            self.drawn[name] = make()
        drawn: A = self.drawn[name]
        return drawn

    async def once(self, name: str, make: Callable[[], Awaitable[A]]) -> A:
        """`draw` for what takes long: a try after the first gets what that one got."""
        if name not in self.drawn:
            self.drawn[name] = await make()
        made: A = self.drawn[name]
        return made

    def entry(self, where: str, kind: str, summary: str, **more: Any) -> Entry:
        """A line stamped with who calls. Raises ValueError for a kind that is in no table."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of entry")
        c = self.caller
        return Entry(where=where, kind=kind, by=c.principal, via=c.via, client=c.client, summary=summary, **more)
