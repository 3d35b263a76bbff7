"""Entries in bulk, and the hand of somebody who holds the store's own rights."""

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from store.domain.commit import Commit
from store.domain.entry import Entry
from store.engine.client import Target, open_client
from store.engine.commit import Action, What
from store.ledger.chain import Record, line, link, record, segment
from store.verbs.canonical import ledger_line
from tests.world import World


def entries(count: int, *, summary: str = "as planned") -> tuple[Entry, ...]:
    """Lines of one author in one channel."""
    return tuple(
        Entry(where="channel:x", kind="memo", by="agent:a", via="token", client="t", summary=f"{summary} {n}")
        for n in range(count)
    )


async def write(world: World, count: int, *, at_once: int = 500) -> list[str]:
    """Write entries through commit.lua; gives their ids."""
    ids: list[str] = []
    while len(ids) < count:
        some = entries(min(at_once, count - len(ids)))
        action = Action(world.keys.done("agent:a", secrets.token_hex(8)), "r", "{}", 60_000)
        plan = Commit(result={}, entries=some)
        out = await world.store.commit(world.keys, plan, seen={}, lines=[ledger_line(e) for e in some], action=action)
        assert out.what is What.OK
        ids += out.rest
    return ids


@dataclass
class Tamperer:
    """Writes to a space's ledger as lm-admin, whom the engine keeps from nothing."""

    world: World
    admin: Any

    async def row(self, number: int) -> bytes:
        """The field of an entry."""
        row: bytes = await self.admin.hget(self.world.keys.segment(segment(number)), str(number))
        return row

    async def read(self, number: int) -> Record:
        """The record of an entry."""
        return record(await self.row(number))

    async def put(self, number: int, row: bytes | Record) -> None:
        """Overwrite the field of an entry."""
        raw = row if isinstance(row, bytes) else raw_of(row)
        await self.admin.hset(self.world.keys.segment(segment(number)), str(number), raw)

    async def remove(self, *numbers: int) -> None:
        """Take fields away."""
        for number in numbers:
            await self.admin.hdel(self.world.keys.segment(segment(number)), str(number))

    async def relink(self, numbers: Iterable[int]) -> None:
        """Make the links of these entries anew, each after the one before it."""
        for number in numbers:
            before = (await self.read(number - 1)).link if number > 1 else ""
            old = await self.read(number)
            await self.put(number, Record(old.id, old.leaf, link(before, old.id, old.leaf), old.salt, old.text))

    async def head(self, **fields: str | int) -> None:
        """Overwrite fields of the head."""
        await self.admin.hset(self.world.keys.head, mapping=fields)

    async def head_at(self, number: int) -> None:
        """Make the head name this entry as the last."""
        last = await self.read(number)
        await self.head(seq=number, ms=last.id.partition("-")[0], h=last.link)


def raw_of(row: Record) -> bytes:
    """A record as a field of a segment."""
    return f"{row.id} {row.leaf} {row.link} {row.salt} ".encode() + row.text


def rewritten(old: Record, text: bytes, *, before: str = "") -> Record:
    """The record with another text under a fresh salt; with `before`, also linked anew after that link."""
    new = line(text, secrets.token_bytes(32))
    return Record(old.id, new.leaf, link(before, old.id, new.leaf) if before else old.link, new.salt, text)


@asynccontextmanager
async def tampering(world: World) -> AsyncIterator[Tamperer]:
    """Somebody with the store's own rights."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        yield Tamperer(world, admin)
