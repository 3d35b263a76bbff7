"""A space for a test, with the agents and people that it needs, over the real engine."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from store.domain.errors import STATUS, Refused
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.keys import Keys
from store.engine.store import Store, open_store
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge, read_token
from store.verbs.perform import perform
from store.verbs.sessions import sign_in
from tests.handbook.codes import all_refusals

Result = dict[str, Any]


@dataclass(slots=True)
class World:
    """One simulated space; `do` performs a verb as somebody, `badges` and `tokens` hold their credentials."""

    engine: Embedded
    store: Store
    space: str
    badges: dict[str, Badge] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    http: httpx.AsyncClient | None = None

    @property
    def keys(self) -> Keys:
        return Keys(self.space)

    @property
    def operator(self) -> Badge:
        return Badge("operator", client="test", spaces=(("test", self.space),))

    async def operate(self, verb: str, **args: Any) -> Result:
        """Do something as the operator."""
        return await perform(self.store, self.operator, ROWS[verb], args)

    async def agent(self, name: str, **how: Any) -> str:
        """Mint a key for an agent and remember it; gives the token."""
        token: str = (await self.operate("mint", name=name, **how))["token"]
        self.remember(f"agent:{name}", token)
        return token

    async def human(self, name: str, role: str = "approver", *, signed_in: bool = True) -> str:
        """Add a person, signed in to the console unless told otherwise; gives the session's token or ''."""
        await self.operate("human", name=name, role=role)
        return await self.sign_in(name) if signed_in else ""

    async def sign_in(self, name: str) -> str:
        """Sign a person in by a link; gives the session's token."""
        link = (await self.operate("link", name=name))["link_path"].rpartition("/")[2]
        session = await sign_in(self.store, link, client="test")
        self.remember(f"human:{name}", session.token)
        return session.token

    def remember(self, principal: str, token: str) -> None:
        """Keep a credential under a principal's name."""
        kind, via, id, secret = read_token(token)
        self.tokens[principal] = token
        self.badges[principal] = Badge(kind, id, secret, via, "test", spaces=(("test", self.space),))

    async def do(self, who: str, verb: str, *, action_id: str = "", **args: Any) -> Result:
        """Perform a verb as somebody: over REST where the world has a server, else directly."""
        if self.http is None:
            return await perform(self.store, self.badges[who], ROWS[verb], args, action_id=action_id)
        head = {"idempotency-key": action_id} if action_id else {}
        return await self.post(who, verb, json.dumps(args).encode(), headers=head)

    async def post(self, who: str, verb: str, body: bytes, *, headers: Mapping[str, str] | None = None) -> Result:
        """Send a body to a verb's path with somebody's credential; raises the refusal that comes back."""
        assert self.http, "this world has no server"
        token, own = self.tokens[who], str(self.http.base_url).rstrip("/")
        if who.startswith("human:"):
            head = {"cookie": f"logmem_session={token}", "x-logmem-csrf": "1", "origin": own}
            head["x-logmem-space"] = self.space
        else:
            head = {"authorization": f"Bearer {token}"}
        head |= {"content-type": "application/json", "user-agent": "test/1", **(headers or {})}
        reply = await self.http.post(f"/api/tools/{verb}", content=body, headers={k: v for k, v in head.items() if v})
        said: Result = reply.json()
        if reply.status_code == 200:
            return said
        error = said["error"]
        assert reply.status_code == STATUS[error["code"]], said
        assert error["code"] in all_refusals(ROWS[verb]), f"not said of {verb} in docs/tools.md: {said}"
        raise Refused(error.pop("code"), error.pop("message"), **error)

    async def pass_time(self, ms: int) -> None:
        """Move the space's clock."""
        async with open_client(Target.embedded(self.engine), user="lm-admin") as admin:
            await admin.incrby(self.keys.clock, ms)

    async def dump(self) -> Mapping[str, object]:
        """DUMP of every key of the space and of every shared record; of a hash all fields with their values.

        A large hash that has just grown is put in another order by reads alone, and DUMP shows its order.
        """
        async with open_client(Target.embedded(self.engine), user="lm-admin") as admin:
            names = [*await admin.keys(f"lm:{{{self.space}}}*"), *await admin.keys("lm:{g:*")]
            hashes = {name for name in names if await admin.type(name) == b"hash"}
            return {str(name): await (admin.hgetall if name in hashes else admin.dump)(name) for name in names}


async def found(engine: Embedded, store: Store) -> World:
    """A new simulated space, in a zone where a day has just begun: no sync window is open for nine hours."""
    world = World(engine, store, f"t{secrets.token_hex(6)}")
    await world.operate("space", simulated=True, zone=zone_of(0))
    return world


def zone_of(hour: int) -> str:
    """A zone without summer time in which it is this hour (0 to 23) now."""
    ahead = (hour - datetime.now(UTC).hour + 11) % 24 - 11  # of UTC, -11 to 12 h; the names have it the other way round
    return f"Etc/GMT{-ahead:+d}"


def opened(engine: Embedded) -> Store:
    """A store of its own on the worker's engine."""
    return open_store(Target.embedded(engine))


async def swept(engine: Embedded) -> None:
    """Nothing of earlier tests is left: people and sessions are global, and a sign-in enters all their spaces."""
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        names = await admin.keys("lm:*")
        if names:
            await admin.delete(*names)
