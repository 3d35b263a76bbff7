"""Recall: what was written is found by its words, ids and names, and says how far it can be trusted."""

import asyncio
import json
from typing import Any

import pytest

from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.recalling import CODEX, GROK, chain, found, noted, recalled
from tests.contract.test_gate import DAY, refused
from tests.recall.labelled import FROZEN, asked_about
from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import World
from tests.world import found as world_of


async def test_c45_ids_are_found_exactly(world: World) -> None:
    """An entry's id, an ask, an item, a fact, a huddle's or note's place, a tag, a trail: first, and as a name."""
    entry = await noted(world, "Plain words", tags=["q3 launch"], trail="release 12")
    ask = await world.do(GROK, "ask", where="job:y", summary="May I?")
    item = await world.do(GROK, "handoff", to=CODEX, summary="Go on")
    fact = await world.do(GROK, "note", where="job:y", kind="fact", summary="It is so")
    for _ in range(12):
        await noted(world, "Other words of other things")
    assert (await found(world, entry["id"]))[0] == entry["id"]
    for id in ("q3 launch", "release 12"):
        assert (await found(world, id))[0] == entry["id"]
    for id in (ask["trail"], item["item"], fact["fact"]):
        hits = (await recalled(world, id))["hits"]
        assert id in str(await world.do(CODEX, "view", what=hits[0]["id"]))
        assert hits[0]["matched"].startswith("name")
    assert {h["where"] for h in (await recalled(world, "job:y"))["hits"]} == {"job:y"}


TEXTS = {
    "The tail in store/engine/feed.py:41 lost its place": ("store/engine/feed.py", "feed.py", "engine/feed.py:41"),
    "A rate-limited re-index of co-workers": ("rate-limited", "re-index", "co-workers", "rate limit"),
    "load_shard_map and getUserName are gone": ("load_shard_map", "getUserName", "username", "shard map"),
    "Write to noc+alerts@relay.example about v2.14.0": ("noc+alerts@relay.example", "v2.14.0", "2.14.0"),
    "認証サーバの再起動が必要": ("認証", "再", "再起動"),
    "数据库备份失败": ("备份", "库"),
    "서버를 재시작했다": ("서버", "재시작"),
    "تم تحديث الخادم الجديد": ("الخادم", "خادم"),
    "Сервер платежей перезапущен": ("сервера", "платежи"),
    "Größe der Anhänge überprüft": ("grosse", "anhange", "Überprüfen"),
    "Shipped 🚀 to all": ("🚀",),
}


async def test_c45_names_and_any_script_are_found(world: World) -> None:
    """Paths, hyphenated words, code, addresses, versions, scripts without blanks, accents left out, emoji."""
    ids = {summary: (await noted(world, summary))["id"] for summary in TEXTS}
    for summary, queries in TEXTS.items():
        for query in queries:
            assert (await found(world, query))[:1] == [ids[summary]], query


async def test_c45_what_was_just_written_is_found(world: World) -> None:
    """By who wrote it and by others, at once; also while many write."""

    async def write_and_find(n: int) -> None:
        who = (GROK, CODEX)[n % 2]
        entry = await noted(world, f"Widget number{n} is blue", who)
        for reader in (GROK, CODEX, "human:ana", "human:bo"):
            hits = (await recalled(world, f"number{n} widget", reader))["hits"]
            assert hits[0]["id"] == entry["id"]

    await asyncio.gather(*(write_and_find(n) for n in range(16)))


async def test_c45_a_hit_says_whose_how_old_and_why(world: World) -> None:
    """Author, place, kind, time and age, and which words of the query were found in what way."""
    entry = await noted(world, "Tokens are rotated at night")
    await world.pass_time(3 * DAY)
    (hit,) = (await recalled(world, "token rotation"))["hits"]
    said = {k: hit[k] for k in ("id", "at", "age", "kind", "by", "where", "summary", "matched")}
    assert said == {
        **{k: entry[k] for k in ("id", "at", "kind", "by", "where", "summary")},
        "age": "3 d ago",
        "matched": "all words: token, rotation",
    }
    assert "stale" not in hit


async def test_c45_facts_and_decisions_come_first(world: World) -> None:
    """Of entries that say the same; and what a query has no words for is not shown beside them."""
    ids = [(await noted(world, "Tokens rotate nightly", kind=kind))["id"] for kind in ("progress", "fact", "memo")]
    await noted(world, "Nothing of the kind")
    assert await found(world, "what do we know about token rotation") == [ids[1], ids[2], ids[0]]


async def test_c45_old_is_marked_old(world: World) -> None:
    """A fact past its review, a recap of more than three days and a status of more than half an hour are stale."""
    await noted(world, "The zebra gate is open", kind="fact", review_by="2d")
    await world.do(GROK, "status", doing="Painting the zebra")
    await world.do(GROK, "recap", notes="Zebra painted", end=False)
    fresh = {h["kind"]: h.get("stale") for h in (await recalled(world, "zebra"))["hits"]}
    assert fresh == {"fact": None, "status": None, "recap": None}
    await world.pass_time(4 * DAY)
    assert {h["kind"]: h.get("stale") for h in (await recalled(world, "zebra"))["hits"]} == dict.fromkeys(fresh, True)


async def test_c45_a_superseded_fact_is_marked_and_below(world: World) -> None:
    """It stays, says by what it was superseded, and stands below that, whichever has the words."""
    old = await world.do(GROK, "note", where="job:y", kind="fact", summary="Sessions end after 20 minutes")
    new = await world.do(CODEX, "note", where="job:y", kind="fact", summary="They end after 30", supersedes=old["fact"])
    hits = (await recalled(world, "sessions 20 minutes"))["hits"]
    assert [h["fact"] for h in hits] == [new["fact"], old["fact"]]
    assert hits[1]["superseded_by"] == new["fact"]
    assert "superseded_by" not in hits[0]


@pytest.mark.parametrize("count", [2, 3, 4])
async def test_c45_what_stands_is_found_by_the_words_of_what_it_superseded(world: World, count: int) -> None:
    """However many came between, and wherever it was noted; first, with why it is there."""
    facts = await chain(world, count)
    for narrow in ({}, {"where": "job:y"}, {"kinds": "fact"}):
        hits = (await recalled(world, "console sessions 20 minutes", **narrow))["hits"]
        assert [h.get("fact") for h in hits[:2]] == [facts[-1]["fact"], facts[0]["fact"]]
        assert "superseded_by" not in hits[0]
        assert hits[0]["matched"] == f"stands in place of {facts[0]['fact']}"
        assert hits[1]["superseded_by"] == facts[1]["fact"]
        assert len(hits) == 2
    (one,) = (await recalled(world, "console sessions 20 minutes", limit=1))["hits"]
    assert one["fact"] == facts[-1]["fact"]


async def test_c45_ids_in_a_long_payload_are_found(world: World) -> None:
    """Also behind what is kept of its words."""
    long = {"rows": [f"row {n} of the long table" for n in range(800)], "then": "PAY-77123"}
    entry = await noted(world, "The table", payload=long)
    assert await found(world, "PAY-77123") == [entry["id"]]


FROZEN_ASKED = [(body, kind, query) for body, asked in asked_about(FROZEN) for kind, query in asked[:1]][:20]


async def test_c45_what_is_asked_for_is_found_within_filters(world: World) -> None:
    """Of the frozen set, over HTTP: in its place and of its kind, though the same stands elsewhere as another kind."""
    ids: dict[str, str] = {}
    for body, _ in asked_about(FROZEN):
        more = {k: v for k, v in body.items() if k in ("why", "payload", "tags")}
        ids[body["summary"]] = (await noted(world, body["summary"], where=body["where"], kind=body["kind"], **more))[
            "id"
        ]
    for body, _, _ in FROZEN_ASKED:
        other = "progress" if body["kind"] != "progress" else "memo"
        more = {k: v for k, v in body.items() if k in ("why", "payload", "tags")}
        await noted(world, body["summary"], CODEX, where="channel:copies", kind=other, **more)
    for body, _, query in FROZEN_ASKED:
        within = await recalled(world, query, where=body["where"], kinds=[body["kind"]])
        assert within["hits"][0]["id"] == ids[body["summary"]], query
        assert {(h["where"], h["kind"]) for h in within["hits"]} == {(body["where"], body["kind"])}


async def test_where_and_kinds_narrow(world: World) -> None:
    """To a place, author's Log, trail or kind."""
    a = await noted(world, "The red door", where="job:y", kind="fix")
    b = await noted(world, "The red door", CODEX, trail="t1")
    assert await found(world, "door", where="job:y") == [a["id"]]
    assert await found(world, "door", where="agent:codex") == [b["id"]]
    assert await found(world, "door", where="trail:t1") == [b["id"]]
    assert await found(world, "door", kinds="fix") == [a["id"]]
    assert await found(world, "door", kinds=["memo", "fix"], limit=1) in ([a["id"]], [b["id"]])


async def test_nothing_found_says_what_was_searched(world: World) -> None:
    """How many entries the caller may read there, and what to try: without the filters, or the feed."""
    await noted(world, "The red door")
    nothing = await recalled(world, "zebra")
    assert nothing["hits"] == []
    assert nothing["readable"] >= 1
    assert f"{nothing['readable']} entries" in nothing["says"]
    assert nothing["next"]["tool"] == "logmem_feed"
    narrow = await recalled(world, "door", kinds="fact", where="x")
    assert "fact" in narrow["says"]
    assert "channel:x" in narrow["says"]
    assert narrow["next"] == {"tool": "logmem_recall", "args": {"query": "door"}}


@pytest.mark.parametrize(
    ("args", "code", "argument"),
    [
        ({"query": ""}, "invalid_argument", "query"),
        ({"query": "?! ** --"}, "invalid_argument", "query"),
        ({"query": "x" * 501}, "too_long", "query"),
        ({"query": "x " * 5000}, "too_long", "query"),
        ({}, "invalid_argument", "query"),
        ({"query": "x", "kinds": ["facts"]}, "invalid_argument", "kinds"),
        ({"query": "x", "limit": 0}, "invalid_argument", "limit"),
        ({"query": "x", "limit": 21}, "invalid_argument", "limit"),
        ({"query": "x", "where": "no place!"}, "malformed_id", "where"),
        ({"query": "x", "q": "y"}, "unknown_argument", "q"),
    ],
)
async def test_what_cannot_be_searched_is_named(world: World, args: Any, code: str, argument: str) -> None:
    """Each with its code and the argument that is wrong."""
    no = await refused(code, world.do(CODEX, "recall", **args))
    assert no.facts["argument"] == argument


async def test_a_place_that_is_not_there_is_refused(world: World) -> None:
    """Not an empty result."""
    await refused("not_found", recalled(world, "x", where="job:none"))
    await refused("not_found", recalled(world, "x", where="trail:none"))


async def test_a_lone_surrogate_is_refused_and_a_null_is_nothing(world: World) -> None:
    """As in every argument; what has no character that can be written is never searched."""
    body = b'{"query": "\\ud800"}'
    await refused("payload_not_canonical", world.post(CODEX, "recall", body))
    entry = await noted(world, "The red door")
    assert await found(world, "red\0door door") == [entry["id"]]


HARD = [
    "NEAR(red door)",
    '"red door',
    "red* AND (door",
    "head:door",
    "red OR",
    "door ^2 {",
    "';drop table words;--door",
]


@pytest.mark.parametrize("query", HARD)
async def test_signs_in_a_query_mean_nothing(world: World, query: str) -> None:
    """Whatever is typed is words."""
    entry = await noted(world, "The red door")
    assert await found(world, query) == [entry["id"]]


async def test_many_read_while_many_write(world: World) -> None:
    """64 searches at once beside 16 writers: each finds what it looks for, and none fails."""
    known = [await noted(world, f"Standing stone{n} of granite") for n in range(8)]

    async def write(n: int) -> None:
        for each in range(4):
            entry = await noted(world, f"Writer{n} wrote line{each}x{n}")
            assert await found(world, f"line{each}x{n}") == [entry["id"]]

    async def read(n: int) -> None:
        assert (await found(world, f"stone{n % 8}"))[0] == known[n % 8]["id"]

    await asyncio.gather(*(write(n) for n in range(16)), *(read(n) for n in range(64)))


LONG = (
    "word " * 200,
    "認証サーバの再起動" * 111,
    "🚀🔥" * 500,
    "تحديث الخادم " * 76,
    "\x01" * 990 + " word",
    '"\\' * 495 + " word",
)


@pytest.mark.parametrize("summary", LONG)
async def test_a_result_keeps_its_budget(world: World, summary: str) -> None:
    """However long the entries and in whatever script, as JSON and as text; both say the same."""
    for n in range(20):
        await noted(world, f"x{n} {summary}"[:1000], kind="fact", tags=[f"tag {'t' * 110}"], where=f"job:{'j' * 60}")
    result = await recalled(world, "word" if summary.endswith(" word") else summary[:400], limit=20)
    shown = text(ROWS["recall"], result)
    assert len(result["hits"]) >= 3
    assert len(result["hits"]) + result["left_out"] >= 20
    assert tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))) <= 2000
    assert tokens(shown) <= 2000
    assert missing(result, shown) == []


async def test_strangers_search_nothing(world: World) -> None:
    """Another space's entries are in no result, not even their number."""
    await noted(world, "The secret zebra")
    assert await found(world, "zebra")
    other = await world_of(world.engine, world.store)
    other.http = world.http
    await other.agent("spy")
    nothing = await recalled(other, "zebra", "agent:spy")
    assert nothing["hits"] == []
    assert nothing["readable"] < 5
