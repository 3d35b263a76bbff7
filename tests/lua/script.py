"""commit.lua on a space of its own, whatever its text."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from store.domain.commit import Commit, Put
from store.domain.entry import Entry
from store.engine.client import open_client
from store.engine.commit import Action, Committer, Outcome, spell
from store.engine.keys import Keys
from store.engine.reads import Seen
from store.verbs.canonical import ledger_line
from tests.own_engine import OwnEngine

LIFE = 600_000  # ms that the tests' idempotency records are kept


@dataclass
class Script:
    """The script as lm-api runs it, and lm-admin to look at what it did."""

    engine: OwnEngine
    text: str
    writer: Redis
    admin: Any
    keys: Keys = field(default_factory=lambda: Keys(f"s{secrets.token_hex(6)}"))

    def action(self, *, key: str = "", request: str = "req", result: str = '{"n":1}', life: int = LIFE) -> Action:
        """An idempotency record, of a new action unless its key is given."""
        return Action(key or self.keys.done("agent:a", secrets.token_hex(8)), request, result, life)

    async def __call__(
        self,
        *puts: Put,
        lines: Sequence[Entry] = (),
        seen: Mapping[str, Seen] | None = None,
        action: Action | None = None,
        **more: Any,
    ) -> Outcome:
        """Commit these documents and entries; `more` are the other fields of the plan."""
        plan = Commit(result={}, puts=puts, entries=tuple(lines), **more)
        stored = [ledger_line(entry) for entry in lines]
        committer = Committer(self.writer, self.text)
        return await committer(self.keys, plan, seen=seen or {}, lines=stored, action=action or self.action())

    async def spelled(self, *puts: Put, lines: Sequence[Entry] = (), **swap: str) -> list[str]:
        """The script's own reply to a plan, one of its keys (by Keys' name for it) taken for another."""
        stored = [ledger_line(entry) for entry in lines]
        plan = Commit(result={}, puts=puts, entries=tuple(lines))
        names, argv = spell(self.keys, plan, seen={}, lines=stored, action=self.action())
        others = {getattr(self.keys, name): other for name, other in swap.items()}
        script = self.writer.register_script(self.text)
        return [part.decode() for part in await script(keys=[others.get(name, name) for name in names], args=argv)]

    async def clock(self, offset: int) -> None:
        """Set the offset of the space's clock in ms."""
        await self.admin.set(self.keys.clock, offset)

    async def now(self) -> int:
        """The server's own time in ms."""
        seconds, micros = await self.admin.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def everything(self) -> dict[bytes, bytes]:
        """DUMP of every key of the space."""
        return {name: await self.admin.dump(name) for name in await self.admin.keys(f"lm:{{{self.keys.space}}}:*")}


@asynccontextmanager
async def script(engine: OwnEngine, text: str, *, user: str = "lm-api") -> AsyncIterator[Script]:
    """A script with this text, on a new space."""
    async with (
        open_client(engine.target, user=user) as writer,
        open_client(engine.target, user="lm-admin") as admin,
    ):
        yield Script(engine, text, writer, admin)
