"""What each call of api/examples.py gives, for real: one day of a small fleet, over HTTP, by a clock that is set.

    await record(engine, store, http) -> Recorded

Ids, secrets, times and the space's name become the same at each run. What time itself makes different, by a second more
or less, may still differ; so what is compared in the end is the shape.
"""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import httpx

from api.examples import ASK, CALLS, CLAIM, CODE, DIGEST, FACT, HUDDLE, ITEM, KEY, OTHER, SESSION, trail
from store.domain.errors import Refused
from store.domain.moments import MINUTE
from store.domain.pairing import Sender
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.store import Store
from store.verbs.catalog import ROWS
from store.verbs.pairing import claim
from store.verbs.perform import perform
from tests.surfaces.wire import NEW, OLD, headers, message
from tests.world import World

SPACE, CLIENT = "fleet", "my-client"  # what is shown for the world's own
_SAID = ('via "test"', f'via "{CLIENT}"')
BEGIN = datetime(2026, 11, 30, 9, 2, tzinfo=UTC)  # a Monday, when the morning window is open
TICK = 61_500  # ms from one call to the next: no age or time left then stands on an edge, in minutes or in seconds
ASKED = 20  # times, until the index has what was written
GROK, CODEX, ANA = "agent:grok", "agent:codex", "human:ana"
LATER = "2026-11-30T09:12:00.000Z"
ACCOUNT = 4455  # on Telegram

Json = dict[str, Any]


@dataclass(slots=True)
class Recorded:
    """By verb who called and the result; refusals by code; and answers of MCP by name, with what was sent."""

    results: dict[str, Json] = field(default_factory=dict)
    callers: dict[str, str] = field(default_factory=dict)
    refused: Json = field(default_factory=dict)
    mcp: dict[str, Json] = field(default_factory=dict)

    @property
    def as_json(self) -> Json:
        return {"results": self.results, "callers": self.callers, "refused": self.refused, "mcp": self.mcp}


@dataclass(slots=True)
class Masks:
    """Real names and the ones that are shown for them."""

    space: str
    shown: dict[str, str] = field(default_factory=dict)

    def name(self, real: str, shown: str) -> None:
        """Show `real` as this from now on."""
        self.shown[real] = shown

    def real(self, value: Any) -> Any:
        """A call with real names in the place of shown ones."""
        back = {shown: real for real, shown in self.shown.items()}
        return _mapped(value, lambda text: back.get(text, text))

    def mask(self, value: Any) -> Any:
        """A result with shown names in the place of real ones."""
        return _mapped(value, self._text)

    def _text(self, text: str) -> str:
        for real, shown in self.shown.items():
            text = text.replace(real, shown)
        text = re.sub(r"\blm[ks]_[0-9a-f]{12}_[0-9a-f]{40}", "lmk_…", text)
        text = re.sub(r"(?<=/sign-in/)[A-Za-z0-9_-]{32}", "…", text)
        text = re.sub(r"\b(?!5f5f)[0-9a-f]{64}\b", sha256(b"another").hexdigest(), text)
        text = re.sub(r"(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z", r"\1:00.000Z", text)
        text = re.sub(r"\b(\d{13})-(\d+)\b", lambda m: f"{int(m[1]) // MINUTE * MINUTE}-{m[2]}", text)
        text = text.replace(self.space, SPACE)
        return CLIENT if text == "test" else text.replace("(via test)", f"(via {CLIENT})").replace(*_SAID)


def _mapped(value: Any, change: Any) -> Any:
    match value:
        case str():
            return change(value)
        case Mapping():
            return {change(key): _mapped(each, change) for key, each in value.items()}
        case list() | tuple():
            return [_mapped(each, change) for each in value]
        case int() if value > 10**12:  # a time in ms
            return value // MINUTE * MINUTE
    return value


class Day:
    """The day as it goes: each call a tick after the one before."""

    def __init__(self, world: World, engine: Embedded) -> None:
        self.world, self.engine = world, engine
        self.out, self.masks, self.ticks = Recorded(), Masks(world.space), 0

    async def tick(self) -> None:
        """Set the space's clock."""
        at = int(BEGIN.timestamp() * 1000) + self.ticks * TICK
        self.ticks += 1
        async with open_client(Target.embedded(self.engine), user="lm-admin") as admin:
            seconds, micros = await admin.time()
            await admin.set(self.world.keys.clock, at - (seconds * 1000 + micros // 1000))

    async def quietly(self, who: str, verb: str, **args: Any) -> Json:
        """A call that is not recorded."""
        await self.tick()
        return await self._do(who, verb, args)

    async def show(self, who: str, verb: str, **name: str) -> Json:
        """Make the call of the examples and record it; `name` says which parts of the result are shown how."""
        await self.tick()
        result = await self._do(who, verb, self.masks.real(CALLS[verb]))
        for part, shown in name.items():
            self.masks.name(result[part], shown)
        self.keep(who, verb, result)
        return result

    def keep(self, who: str, verb: str, result: Json) -> None:
        """Record a result."""
        self.out.results[verb], self.out.callers[verb] = self.masks.mask(result), who

    async def refused(self, who: str, verb: str, **args: Any) -> None:
        """Record the refusal of a call."""
        await self.tick()
        try:
            await self._do(who, verb, self.masks.real(args))
        except Refused as no:
            self.out.refused[verb] = self.masks.mask(no.body)
            return
        raise AssertionError(f"{verb} was not refused")

    async def _do(self, who: str, verb: str, args: Json) -> Json:
        return await (self.world.operate(verb, **args) if who == "operator" else self.world.do(who, verb, **args))

    async def speak(self, label: str, era: str, method: str, **params: Any) -> None:
        """Record a message of MCP and what came back."""
        await self.tick()
        body = message(method, params, era=era, client=CLIENT)
        proof = {"authorization": f"Bearer {self.world.tokens[GROK]}"}
        assert self.world.http
        reply = await self.world.http.post(
            "/mcp", content=json.dumps(body), headers={**proof, **headers(body, era=era)}
        )
        said = {k: v for k, v in headers(body, era=era).items() if k.startswith("mcp-")}
        self.out.mcp[label] = self.masks.mask({"headers": said, "sent": body, "came": reply.json()})


async def record(engine: Embedded, store: Store, http: httpx.AsyncClient) -> Recorded:
    """Live through the day. The space is a new one, and `human:ana` and her sessions are of this day alone."""
    day = await begun(engine, store, http)
    await _asked(day)
    await _looked(day)
    await _ended(day)
    return day.out


async def begun(engine: Embedded, store: Store, http: httpx.AsyncClient) -> Day:
    """The day until work is under way."""
    day = Day(World(engine, store, f"d{secrets.token_hex(6)}", http=http), engine)
    await _founded(day)
    await _begun(day)
    return day


async def _founded(day: Day) -> None:
    """The space, its owner and the keys."""
    world = day.world
    await day.show("operator", "space")
    await day.show("operator", "human")
    link = await day.show("operator", "link")
    day.out.results["link"]["expires_at"] = LATER  # links are of all spaces, and have their clock
    assert link["link_path"].startswith("/sign-in/")
    await day.tick()
    await world.sign_in("ana")
    day.masks.name(world.badges[ANA].id, SESSION)
    minted = await day.show(ANA, "mint", key=KEY)
    world.remember(GROK, minted["token"])
    day.keep(ANA, "mint", minted)
    other = await day.quietly(ANA, "mint", name="codex")
    day.masks.name(other["key"], "c5d90b7713ae")
    world.remember(CODEX, other["token"])


async def _begun(day: Day) -> None:
    """Work is given, taken up, and told of."""
    await day.show(GROK, "bio")
    await day.show(CODEX, "assign")
    await day.show(CODEX, "handoff", trail=ITEM)
    await day.quietly(GROK, "recap", notes="Read up on how releases are made here", next=["Release v1.4.0"])
    await day.show(GROK, "start")
    await day.show(GROK, "accept")
    await day.show(GROK, "stage")
    await day.show(GROK, "status")
    await day.show(GROK, "sync")
    await day.show(GROK, "note", fact=FACT)
    await day.show(GROK, "update")


async def asked_of(day: Day) -> Json:
    """The ask of the day."""
    return await day.show(GROK, "ask", trail=ASK, digest=DIGEST)


async def _asked(day: Day) -> None:
    """A person is asked, asks back, decides; the approval is used, once."""
    asked = await asked_of(day)
    await day.show(ANA, "ask_back")
    answer = {"where": "job:release", "kind": "answer", "answers": asked["trail"], "summary": "The public one"}
    await day.quietly(GROK, "note", **answer)
    await day.show(ANA, "inbox")
    await day.show(ANA, "decide")
    await day.show(GROK, "follow")
    await day.show(GROK, "redeem")
    await day.refused(GROK, "redeem", trail=ASK)
    second = await day.quietly(GROK, "ask", where="job:release", summary="Delete the old channel?")
    day.masks.name(second["trail"], OTHER)
    await day.quietly(ANA, "decide", trail=second["trail"], verdict="approve", digest=second["digest"])
    await day.show(ANA, "take_back")


async def _looked(day: Day) -> None:
    """What everybody can read of it."""
    await day.show(GROK, "huddle", huddle=HUDDLE)
    for n, seat in enumerate(day.out.results["huddle"]["seats"], 1):
        day.masks.name(seat["item"], f"{ITEM[:-1]}{n}")
    day.out.results["huddle"] = day.masks.mask(day.out.results["huddle"])
    for verb in ("brief", "view", "roster", "feed", "spaces", "jobs", "open"):
        await day.show(GROK, verb)
    await _connected(day)
    await _recalled(day)
    status = {"doing": "Announcing v1.4.0"}
    hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": CLIENT, "version": "1"}}
    await day.speak("initialize", OLD, "initialize", **hello)
    await day.speak("old", OLD, "tools/call", name="logmem_status", arguments=status)
    await day.speak("discover", NEW, "server/discover")
    await day.speak("new", NEW, "tools/call", name="logmem_status", arguments=status)
    await day.speak("refused", NEW, "tools/call", name="logmem_redeem", arguments={"trail": trail(9)})
    for verb in ("board", "fleet", "syncs", "keys", "people", "sessions"):
        await day.show(ANA, verb)
    day.out.results["syncs"]["leader"] = {"leads": True, "for_s": 9}  # of all spaces


async def _connected(day: Day) -> None:
    """Connection, by a store that has read what its settings are worth: a server does that when it starts."""
    store = day.world.store
    await store.check()
    await day.tick()
    day.keep(GROK, "connection", await perform(store, day.world.badges[GROK], ROWS["connection"], {}))


async def _recalled(day: Day) -> None:
    """Recall, once the index has all of it."""
    for _ in range(ASKED):
        if "behind" not in await day.world.do(GROK, "recall", **CALLS["recall"]):
            break
    await day.show(GROK, "recall")


async def _phoned(day: Day) -> None:
    """A person is reached on Telegram. Codes and claims are of all spaces, and have their clock."""
    made = await day.show("operator", "pairing", code=CODE)
    sender = Sender(update=1, user=ACCOUNT, chat=ACCOUNT, name="Ana", username="ana_example")
    said = await claim(day.world.store, made["code"], sender)
    day.masks.name(said.id, CLAIM)
    for verb in ("claims", "confirm"):
        await day.show("operator", verb)
    day.out.results["pairing"]["expires_at"] = day.out.results["claims"]["claims"][0]["expires_at"] = LATER
    for verb in ("oncall", "quiet", "unpair"):
        await day.show(ANA, verb)


async def _ended(day: Day) -> None:
    """The end of the day, and of what was made for it."""
    await day.show(GROK, "recap")
    await day.show(ANA, "renew")
    await day.show(ANA, "revoke")
    for verb in ("four_eyes", "rhythm", "attend"):
        await day.show(ANA, verb)
    await _phoned(day)
    mine = day.world.badges[ANA].id
    await day.tick()
    await day.world.sign_in("ana")  # another one, from which the first is ended
    day.masks.name(mine, SESSION)
    await day.show(ANA, "end_session")
