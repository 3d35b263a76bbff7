"""The one way that anything changes: a plan, committed whole by commit.lua or not at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from redis.asyncio import Redis

from ..domain.commit import Commit
from ..ledger.chain import Line
from .documents import changed, dump
from .keys import Keys
from .outbox import mark, ring
from .reads import Seen
from .script import Argument, Script, text_of

SCRIPT = text_of("commit")
FEED_LENGTH = 10_000  # events that a reader may fall behind before it must read anew


class What(StrEnum):
    """How a commit ended."""

    OK = "ok"
    AGAIN = "again"  # something that was read has changed, or time ran out: read and decide anew
    DONE = "done"  # this action was committed before
    DENIED = "denied"  # the store's user may not write that: a fault of ours or of the ACL file
    CORRUPT = "corrupt"  # the ledger does not end where its head says


class Outcome(NamedTuple):
    """`rest`: ids of the entries (ok), the key that changed (again), the record (done), or what is wrong."""

    what: What
    rest: list[str]


@dataclass(frozen=True, slots=True)
class Action:
    """What a commit is kept under for replays: key, hash of the request, what to give again, life in ms."""

    key: str
    request: str
    result: str
    life: int


class _Slots:
    """Keys of a plan, each declared once and named by its position."""

    def __init__(self, *first: str) -> None:
        self.keys = list(first)
        self._at = {key: n for n, key in enumerate(first, 1)}

    def __call__(self, key: str) -> int:
        if key not in self._at:
            self.keys.append(key)
            self._at[key] = len(self.keys)
        return self._at[key]


def spell(
    keys: Keys, commit: Commit, *, seen: Mapping[str, Seen], lines: list[Line], action: Action
) -> tuple[list[str], list[Argument]]:
    """KEYS and ARGV of commit.lua; `lines` are the commit's entries in their stored form."""
    slot = _Slots(keys.log, keys.head, keys.clock, action.key, keys.feed)
    expect = [(slot(key), saw.field, saw.value) for key, saw in seen.items()]
    writes: list[tuple[Argument, ...]] = []
    for put in commit.puts:
        key = keys.doc(put.doc.kind, put.doc.id)
        saw = seen.get(key)
        if saw is None:  # never read, so it is to be new
            saw = Seen("rev", "")
            expect.append((slot(key), "rev", ""))
        marks = [x for name, n in put.marks.items() for x in (name, f"\0{n + 1}")]
        writes.append(("HSET", slot(key), "rev", int(saw.value or 0) + 1, "doc", dump(put.doc), *marks))
        gone, new = changed(saw.doc, put.doc)
        writes += [("ZREM", slot(keys.index(i.name, i.owner)), put.doc.ref) for i in sorted(gone)]
        writes += [("ZADD", slot(keys.index(i.name, i.owner)), i.score, put.doc.ref) for i in sorted(new)]
    writes += [("ZADD", slot(keys.index(i.name, i.owner)), i.score, member) for i, member in commit.touches]
    writes += [("ZREM", slot(keys.index(i.name, i.owner)), member) for i, member in commit.drops]
    writes += [("HSET", slot(keys.leader), "epoch", commit.epoch)] if commit.epoch else []
    writes += [("ZADD", slot(keys.outbox), mark(), ref) for ref in commit.cards]
    # As JSON, so that no text of a caller's can look like a placeholder of the script's.
    writes += [("SET", slot(keys.mail(m.id)), json.dumps(m.text), "PX", m.life) for m in commit.texts]
    entries: list[Argument] = []
    for entry, line in zip(commit.entries, lines, strict=True):
        places = [slot(keys.place(p)) for p in entry.places]
        entries += [line.leaf, line.salt, line.text, len(places), *places]
    argv: list[Argument] = [commit.not_after, action.request, action.result, action.life, FEED_LENGTH, _event(commit)]
    argv += [len(expect), *(x for e in expect for x in e), len(writes)]
    for write in writes:
        argv += [len(write), *write]
    return slot.keys, [*argv, len(lines), *entries]


def _event(commit: Commit) -> str:
    """What the feed says of a commit: the refs of its documents (`-` for none), then each place of its entries.

    One a line, since the label of a trail may hold blanks. '' is no event.
    """
    refs = " ".join(put.doc.ref for put in commit.puts)
    places = dict.fromkeys(place for entry in commit.entries for place in entry.places)
    return "\n".join((refs or "-", *places)) if refs or places else ""


class Committer:
    """commit.lua as a function."""

    def __init__(self, client: Redis, script: str = SCRIPT) -> None:
        self._client, self._script = client, Script(script)

    async def __call__(
        self, keys: Keys, commit: Commit, *, seen: Mapping[str, Seen], lines: list[Line], action: Action
    ) -> Outcome:
        names, argv = spell(keys, commit, seen=seen, lines=lines, action=action)
        then = (ring(keys.space),) if commit.cards else ()
        what, *rest = await self._script(self._client, names, argv, then=then)
        return Outcome(What(what.decode()), [x.decode() for x in rest])
