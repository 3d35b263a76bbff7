"""The feed: what was written, newest first, in pages that miss and repeat nothing."""

import asyncio
import json
from typing import Any

import pytest

from store.engine.reads import Numbered
from store.verbs.catalog import ROWS
from store.verbs.feed import SCAN
from store.verbs.render import text
from tests.contract.test_gate import DAY, HOUR, refused
from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"


async def noted(world: World, n: int, who: str = GROK, **more: Any) -> str:
    """The id of an entry in channel:x unless told otherwise."""
    args = {"where": "channel:x", "kind": "memo", "summary": f"Line {n}"}
    id: str = (await world.do(who, "note", **(args | more)))["entry"]["id"]
    return id


async def fed(world: World, **args: Any) -> Result:
    """What codex sees."""
    return await world.do(CODEX, "feed", **args)


def ids(result: Result) -> list[str]:
    """The ids of a page."""
    return [entry["id"] for entry in result["entries"]]


async def all_pages(world: World, **args: Any) -> list[str]:
    """The ids of all pages, which end."""
    page = await fed(world, **args)
    found = ids(page)
    for _ in range(200):
        if "cursor" not in page:
            return found
        page = await fed(world, **args, cursor=page["cursor"])
        found += ids(page)
    raise AssertionError("there is no end of it")


async def test_the_newest_come_first(world: World) -> None:
    """Of all the space, whoever wrote and wherever; each with its author, place, kind and time."""
    written = [await noted(world, n, who) for n, who in enumerate((GROK, CODEX, GROK))]
    page = await fed(world, limit=5)
    assert [id for id in ids(page) if id in written] == written[::-1]
    assert ids(page) == sorted(ids(page), key=lambda id: -int(id.partition("-")[2]))
    assert {*page["entries"][0]} >= {"id", "at", "kind", "by", "byline", "where", "summary"}


async def test_it_narrows_by_place_author_kind_and_time(world: World) -> None:
    """Each alone and all together."""
    a = await noted(world, 1, where="job:y", kind="fix")
    await world.pass_time(2 * HOUR)
    b = await noted(world, 2, CODEX, where="job:y", kind="fact")
    c = await noted(world, 3, trail="t 1")
    d = await noted(world, 4, where="agent:grok")
    e = await noted(world, 5, CODEX, where="agent:grok")
    assert ids(await fed(world, where="job:y")) == [b, a]
    assert ids(await fed(world, where="trail:t 1")) == [c]
    assert [i for i in ids(await fed(world, by="grok")) if i in (a, b, c, d, e)] == [d, c, a]
    assert ids(await fed(world, kinds=["fix", "fact"])) == [b, a]
    assert ids(await fed(world, where="job:y", by="agent:codex")) == [b]
    assert ids(await fed(world, where="agent:grok", by="codex")) == [e]
    for since in ("1h", "90m", a):
        assert ids(await fed(world, where="job:y", since=since)) == [b]
    assert ids(await fed(world, where="job:y", since="3h", kinds="fact", by="codex")) == [b]


async def test_the_trail_of_an_ask_or_item_is_a_place(world: World) -> None:
    """Named by its id alone."""
    item = await world.do(GROK, "handoff", to=CODEX, summary="Go on")
    await world.do(CODEX, "accept", item=item["item"])
    assert [e["kind"] for e in (await fed(world, where=item["item"]))["entries"]] == ["accepted", "handoff"]


@pytest.mark.parametrize(
    "args", [{}, {"where": "channel:x"}, {"by": "grok"}, {"kinds": "memo"}, {"where": "channel:x", "by": "grok"}]
)
async def test_pages_miss_and_repeat_nothing(world: World, args: dict[str, Any]) -> None:
    """Also while new entries arrive between two pages."""
    written = [await noted(world, n) for n in range(23)]
    page = await fed(world, limit=5, **args)
    found = ids(page)
    n = 100
    while "cursor" in page:
        await noted(world, n := n + 1)
        page = await fed(world, limit=5, **args, cursor=page["cursor"])
        found += ids(page)
        assert n < 150
    assert [id for id in found if id in written] == written[::-1]
    assert len(found) == len(set(found))


async def test_a_rare_kind_is_looked_for_in_bounded_steps(world: World) -> None:
    """A call says how many entries it looked at, and the cursor goes on behind them, also where it found none."""
    rare = await noted(world, 0, kind="stuck")
    await asyncio.gather(*(noted(world, n) for n in range(SCAN + 5)))
    page = await fed(world, kinds="stuck")
    assert (page["entries"], page["scanned"]) == ([], SCAN)
    assert page["says"].startswith("So far")
    assert ids(await fed(world, kinds="stuck", cursor=page["cursor"])) == [rare]


async def test_what_others_wrote_at_an_author_s_hides_nothing(world: World) -> None:
    """Anybody may write there: their entries are passed over, in steps, and an empty page says that it is not all."""
    mine = await noted(world, 0)
    await asyncio.gather(*(noted(world, n, CODEX, where="agent:grok") for n in range(60)))
    assert mine in ids(await fed(world, by="grok", limit=5))
    await asyncio.gather(*(noted(world, n, CODEX, where="agent:grok") for n in range(SCAN - 40)))
    page = await fed(world, by="grok")
    assert (page["entries"], page["scanned"]) == ([], SCAN)
    assert page["says"].startswith("So far there is nothing by agent:grok")
    assert mine in ids(await fed(world, by="grok", cursor=page["cursor"]))


async def test_an_author_s_bare_id_is_an_agent_s_or_a_person_s(world: World) -> None:
    """Whose it is; nobody's is refused with those who were meant."""
    await asyncio.gather(
        *(world.do(who, "note", where="job:y", kind="memo", summary=who) for who in (GROK, "human:ana"))
    )
    assert {e["by"] for e in (await fed(world, by="ana"))["entries"]} == {"human:ana"}
    assert {e["by"] for e in (await fed(world, by="grok"))["entries"]} == {GROK}
    no = await refused("not_found", fed(world, by="anna"))
    assert "human:ana" in no.message


@pytest.mark.parametrize(("args", "most"), [({}, 6), ({"where": "channel:x"}, 6), ({"by": "grok"}, 6)])
async def test_a_page_reads_no_more_than_it_must(
    world: World, monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], most: int
) -> None:
    """What it shows and one more, where all that is looked at is wanted."""
    for n in range(20):
        await noted(world, n)
    read = 0
    fetch = world.store.fetch

    async def counted(keys: Any, reads: Any, **more: Any) -> Any:
        nonlocal read
        read += sum(isinstance(each, Numbered) for each in reads)
        return await fetch(keys, reads, **more)

    monkeypatch.setattr(world.store, "fetch", counted)
    http, world.http = world.http, None
    assert len((await fed(world, limit=5, **args))["entries"]) == 5
    world.http = http
    assert read <= most


async def test_a_cursor_is_of_one_feed(world: World) -> None:
    """That of another place, or one that was changed on the way, is refused."""
    for n in range(4):
        await noted(world, n)
    cursor = (await fed(world, where="channel:x", limit=2))["cursor"]
    assert ids(await fed(world, where="channel:x", limit=2, cursor=cursor))
    for args in ({"where": "agent:grok"}, {}, {"by": "codex"}):
        await refused("invalid_argument", fed(world, **args, cursor=cursor))
    for spoilt in (cursor[:-1], cursor[1:], cursor.swapcase()):
        await refused("invalid_argument", fed(world, where="channel:x", cursor=spoilt))


async def test_since_ends_the_pages(world: World) -> None:
    """What is older is not looked for."""
    for n in range(6):
        await noted(world, n)
    await world.pass_time(DAY)
    new = [await noted(world, n) for n in range(3)]
    assert await all_pages(world, where="channel:x", since="1h", limit=2) == new[::-1]
    page = await fed(world, where="channel:x", since="1h", limit=3)
    assert ids(page) == new[::-1]
    await world.pass_time(DAY)
    empty = await fed(world, where="channel:x", since="1h")
    assert empty["entries"] == []
    assert "cursor" not in empty


async def test_nothing_says_what_was_searched(world: World) -> None:
    """And how many entries the caller may read there."""
    await noted(world, 1)
    empty = await fed(world, where="x", kinds=["stuck", "fix"], by="codex")
    assert empty["entries"] == []
    assert empty["readable"] == 1
    for said in ("stuck or fix", "agent:codex", "channel:x", "1 entries"):
        assert said in empty["says"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"limit": 0}, "invalid_argument"),
        ({"limit": 51}, "invalid_argument"),
        ({"kinds": ["memos"]}, "invalid_argument"),
        ({"cursor": "x"}, "invalid_argument"),
        ({"cursor": "99999.99999"}, "invalid_argument"),
        ({"cursor": "0.0"}, "invalid_argument"),
        ({"where": "channel:x", "cursor": "1.999"}, "invalid_argument"),
        ({"since": "yesterday"}, "invalid_argument"),
        ({"where": "job:none"}, "not_found"),
        ({"by": "agent:none"}, "not_found"),
        ({"where": "a b"}, "malformed_id"),
        ({"by": "role:x"}, "malformed_id"),
    ],
)
async def test_what_cannot_be_shown_is_named(world: World, args: dict[str, Any], code: str) -> None:
    """Never an empty page instead."""
    await noted(world, 1)
    await refused(code, fed(world, **args))


async def test_a_kind_that_is_nearly_one_is_named(world: World) -> None:
    """What was probably meant."""
    no = await refused("invalid_argument", fed(world, kinds=["decide"]))
    assert "decided" in no.message


LONG = ("word " * 200, "認証サーバの再起動" * 111, "🚀🔥" * 500, "\x01" * 1000, '"\\' * 500)


@pytest.mark.parametrize("summary", LONG)
async def test_a_page_keeps_its_budget(world: World, summary: str) -> None:
    """However long the entries; and all are seen over the pages."""
    written = [
        await noted(world, n, summary=summary[:1000], why="y" * 1000, payload={"x": "z" * 900}, tags=["t" * 120] * 1)
        for n in range(12)
    ]
    page = await fed(world, limit=50)
    shown = text(ROWS["feed"], page)
    assert page["entries"]
    assert tokens(json.dumps(page, ensure_ascii=False, separators=(",", ":"))) <= 2000
    assert tokens(shown) <= 2000
    assert missing(page, shown) == []
    assert await all_pages(world, where="channel:x") == written[::-1]
