"""The stream of events: what happens arrives, nothing is missed over a break, and it ends with the rights."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx
import pytest

from api import events
from api.auth import COOKIE
from store.engine import feed
from store.engine.embedded import Embedded
from tests.surfaces.process import serving
from tests.surfaces.server import Serving
from tests.surfaces.test_console import browser
from tests.world import World

PATIENCE = 20.0  # seconds that a test waits for what must come


class Event(NamedTuple):
    """One event of a stream; a comment has the kind `:`."""

    kind: str
    id: str
    data: dict[str, Any]

    @property
    def said(self) -> list[str]:
        return [entry["summary"] for entry in self.data.get("entries", [])]


class Stream:
    """An open stream."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def next(self) -> Event | None:
        """The next event or comment; None when the stream has ended."""
        kind = id = data = ""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if line.startswith(": "):
                    return Event(":", "", {})
                kind, id, data = (
                    value if name == field else old for field, old in (("event", kind), ("id", id), ("data", data))
                )
                if not line and (kind or data):
                    return Event(kind, id, json.loads(data))
        return None

    async def until(self, kind: str) -> Event:
        """The first event of a kind from here on."""
        for _ in range(100):
            event = await self.next()
            assert event, "the stream has ended"
            if event.kind == kind:
                return event
        raise AssertionError(kind)


@contextlib.asynccontextmanager
async def following(http: httpx.AsyncClient, headers: dict[str, str], **params: str) -> AsyncIterator[Stream]:
    """An open stream of the caller's space."""
    async with http.stream("GET", events.PATH, headers=headers, params=params) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        yield Stream(response)


def key(world: World, who: str = "agent:codex") -> dict[str, str]:
    """The headers of an agent."""
    return {"Authorization": f"Bearer {world.tokens[who]}"}


async def note(world: World, summary: str) -> None:
    """A line that grok writes."""
    await world.do("agent:grok", "note", where="job:x", kind="memo", summary=summary)


async def test_what_happens_arrives(http: httpx.AsyncClient, world: World) -> None:
    """A follower first gets an id to resume from, then each commit with its entries, as they are, on one line each."""
    text = "a\nb \u2028 <script>\r\n\r\nevent: end"
    async with following(http, key(world)) as stream:
        opened = await stream.next()
        assert opened
        assert (opened.kind, bool(opened.id)) == ("open", True)
        await note(world, text)
        event = await stream.until("commit")
        assert event.said[0] == text
        assert event.data["entries"][0]["by"] == "agent:grok"
        assert "channel" not in str(event.data["refs"])
        assert event.id > opened.id


async def test_a_break_loses_nothing(http: httpx.AsyncClient, world: World) -> None:
    """Who comes back with the last id gets all since, once each, in order; before anything happened, too."""
    async with following(http, key(world)) as stream:
        last = (await stream.until("open")).id
    for n in range(3):
        await note(world, f"away {n}")
    async with following(http, {**key(world), "Last-Event-ID": last}) as stream:
        seen = [await stream.until("commit") for _ in range(3)]
        assert [e.said[0] for e in seen] == ["away 0", "away 1", "away 2"]
    async with following(http, key(world), after=seen[0].id) as stream:
        assert [(await stream.until("commit")).said[0] for _ in range(2)] == ["away 1", "away 2"]
        await note(world, "live")
        assert (await stream.until("commit")).said == ["live"]


async def test_a_session_follows_too(http: httpx.AsyncClient, world: World) -> None:
    """A person's browser follows with its cookie; where they have several spaces, it says which."""
    other = World(world.engine, world.store, f"{world.space}-b")
    await other.operate("space", simulated=True)
    await other.human("ana", signed_in=False)
    head = {"Cookie": f"{COOKIE}={world.tokens['human:ana']}"}
    unsaid = await http.get(events.PATH, headers=head)
    assert (unsaid.status_code, unsaid.json()["error"]["code"]) == (400, "scope_undeclared")
    async with following(http, head, space=world.space) as stream:
        await stream.until("open")
        await other.operate("four_eyes", rule="on")
        await note(world, "here")
        assert (await stream.until("commit")).said[0] == "here"


@pytest.mark.parametrize("where", ["here", "in another process"])
async def test_c05_a_stream_ends_with_the_key(http: httpx.AsyncClient, world: World, where: str) -> None:
    """Revoking a key ends its open streams in every process, with the reason; others go on."""
    async with contextlib.AsyncExitStack() as stack:
        if where != "here":
            server = stack.enter_context(serving(world.engine))
            http = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, trust_env=False))
        ended = await stack.enter_async_context(following(http, key(world)))
        other = await stack.enter_async_context(following(http, key(world, "agent:grok")))
        await asyncio.gather(ended.until("open"), other.until("open"))
        await world.operate("revoke", name="codex")
        end = await ended.until("end")
        assert end.data["error"]["code"] == "key_revoked"
        assert await ended.next() is None
        await note(world, "after")
        assert "after" in [*(await other.until("commit")).said, *(await other.until("commit")).said]
        refused = await http.get(events.PATH, headers=key(world))
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "key_revoked")


async def test_a_stream_ends_with_the_session_and_the_role(http: httpx.AsyncClient, world: World) -> None:
    """Signing out, and losing one's place in the space, end the stream."""
    ana, bo = browser(http, world), browser(http, world, "bo")
    async with following(http, ana.cookie) as mine, following(http, bo.cookie) as theirs:
        await asyncio.gather(mine.until("open"), theirs.until("open"))
        await world.operate("human", name="bo", role="none")
        assert (await theirs.until("end")).data["error"]["code"] == "scope_unknown"
        await ana.send((await ana.inbox()).form("/sign-out"))
        assert (await mine.until("end")).data["error"]["code"] == "key_revoked"
        assert await mine.next() is None


async def test_a_stream_ends_when_the_key_expires(http: httpx.AsyncClient, world: World) -> None:
    """A key that runs out while its stream is open, with nothing happening, ends the stream."""
    await world.agent("brief", days=1)
    async with following(http, key(world, "agent:brief")) as stream:
        await stream.until("open")
        await world.pass_time(25 * 3_600_000)
        assert (await stream.until("end")).data["error"]["code"] == "key_expired"


async def test_a_quiet_stream_says_that_it_lives(
    http: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In silence a comment goes out now and then, which is no event."""
    monkeypatch.setattr(events, "KEEP_ALIVE", 0.0)
    async with following(http, key(world)) as stream:
        for _ in range(2):
            await stream.until(":")


@pytest.mark.parametrize("last", ["x", "-", "1", "1-1-1", "9" * 30 + "-1", "$", "+"])
async def test_an_id_that_is_none_is_refused(http: httpx.AsyncClient, world: World, last: str) -> None:
    """What has not the form of an event's id is told so, before a stream begins."""
    for reply in (
        await http.get(events.PATH, headers={**key(world), "Last-Event-ID": last}),
        await http.get(events.PATH, headers=key(world), params={"after": last}),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "malformed_id")


async def test_nobody_follows_without_proof(http: httpx.AsyncClient, world: World) -> None:
    """Without a credential, with a wrong one, or for another space, there is no stream; nor for other methods."""
    for head, params, code in (
        ({}, {}, "unauthenticated"),
        ({"Authorization": "Bearer lmk_0_0"}, {}, "unauthenticated"),
        (key(world), {"space": "elsewhere"}, "scope_unknown"),
    ):
        reply = await http.get(events.PATH, headers=head, params=params)
        assert reply.json()["error"]["code"] == code
    assert (await http.post(events.PATH, headers=key(world))).status_code == 405


@pytest.mark.parametrize("last", ["1-1", "9999999999999-0"])
async def test_ids_of_another_time_are_told_that_events_are_gone(
    http: httpx.AsyncClient, world: World, last: str
) -> None:
    """Who was away for longer than the feed is kept, or knew another feed, is told to read anew, and goes on."""
    async with following(http, {**key(world), "Last-Event-ID": last}) as stream:
        await stream.until("gone")
        await note(world, "now")
        seen = [await stream.until("commit")]
        while "now" not in seen[-1].said and len(seen) < 100:
            seen.append(await stream.until("commit"))
        assert "now" in seen[-1].said


async def test_a_reader_from_the_first_is_told_when_the_feed_was_trimmed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 0-0 on all is there until the feed has grown so long that it may have been trimmed."""
    assert not (await world.store.feed.since(world.space, "0-0")).gone
    monkeypatch.setattr(feed, "FEED_LENGTH", 2)
    heard = await world.store.feed.since(world.space, "0-0")
    assert heard.gone
    assert heard.cursor == heard.events[-1].id


async def test_nobody_holds_up_the_end(engine: Embedded, world: World) -> None:
    """A server that ends ends its streams and answers those who follow, however long they would have waited."""
    serving = Serving(engine, grace=None)
    serving.wait()
    async with (
        httpx.AsyncClient(base_url=serving.url, timeout=2 * PATIENCE, trust_env=False) as http,
        following(http, key(world)) as stream,
    ):
        await stream.until("open")
        body = {"what": "agent:grok", "wait": 50}
        waits = asyncio.create_task(http.post("/api/tools/follow", json=body, headers=key(world)))
        await http.post("/api/tools/connection", json={}, headers=key(world))
        await asyncio.to_thread(serving.stop)
        assert await stream.next() is None
        assert (await waits).json()["pending"] is True
