"""The roster: who is here, what they do, and whether they can be reached. And which spaces a credential may enter."""

import asyncio
import json
from typing import Any

import pytest

from store.engine.client import Target, open_client
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.test_gate import HOUR, MINUTE, refused
from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"


async def who(world: World, name: str, by: str = GROK) -> Result:
    """A principal's line in the roster."""
    found: list[Result] = [p for p in (await world.do(by, "roster"))["principals"] if p["id"] == name]
    assert len(found) == 1
    return found[0]


def price(verb: str, result: Result) -> int:
    """What an answer costs, in the dearer of its two forms."""
    structure = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return max(tokens(structure), tokens(text(ROWS[verb], result)))


async def test_agents_and_people_with_what_they_do(world: World) -> None:
    """Who and Now of each, what blocks them and on whom they wait; a role is said by agents, given to people."""
    await world.do(CODEX, "bio", profile={"name": "Codex", "role": "Verification Lead"})
    await world.do(CODEX, "status", doing="Reviewing", blocked="no key", waiting_on="human:ana")
    out = await world.do(GROK, "roster")
    assert {p["id"] for p in out["principals"]} == {GROK, CODEX, "human:ana", "human:bo"}
    assert "cursor" not in out
    codex = await who(world, CODEX)
    assert {k: codex[k] for k in ("name", "role", "doing", "blocked", "waiting_on", "age", "reachable")} == {
        "name": "Codex",
        "role": "Verification Lead",
        "doing": "Reviewing",
        "blocked": "no key",
        "waiting_on": "human:ana",
        "age": "now",
        "reachable": True,
    }
    assert codex["last_write"]["age"] == "now"
    assert await who(world, GROK) == {"id": GROK, "reachable": False}
    assert [(await who(world, name))["role"] for name in ("human:ana", "human:bo")] == ["owner", "approver"]
    assert missing(out, text(ROWS["roster"], out)) == []
    assert (await world.do("human:ana", "roster"))["principals"] == (await world.do(GROK, "roster"))["principals"]


async def test_what_is_old_is_marked_stale(world: World) -> None:
    """A Now of more than half an hour ago, with its age; and an agent that has not written as long is not there."""
    await world.do(CODEX, "status", doing="Reviewing")
    await world.pass_time(29 * MINUTE)
    assert "stale" not in await who(world, CODEX)
    assert (await who(world, CODEX))["reachable"]
    await world.pass_time(2 * MINUTE)
    codex = await who(world, CODEX)
    assert (codex["stale"], codex["reachable"], codex["age"]) == (True, False, "31 min ago")
    assert codex["last_write"]["age"] == "31 min ago"
    await world.do(CODEX, "note", where="x", kind="memo", summary="x")
    codex = await who(world, CODEX)
    assert (codex["stale"], codex["reachable"], codex["last_write"]["age"]) == (True, True, "now")
    await world.do(CODEX, "recap", notes="done")
    assert not (await who(world, CODEX))["reachable"]


async def test_an_agent_that_waits_for_a_person_is_there(world: World) -> None:
    """While its ask is pending it writes nothing, and its shift goes on; when nobody decided it is over."""
    await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in="2h")
    await world.pass_time(HOUR)
    assert (await who(world, GROK))["reachable"]
    await world.pass_time(2 * HOUR)
    assert not (await who(world, GROK))["reachable"]


async def test_people_are_reachable_while_they_are_signed_in(world: World) -> None:
    """Their last write is that of their sessions; who was never signed in, or whose session is over, is not there."""
    await world.human("cy", "member", signed_in=False)
    assert await who(world, "human:cy") == {"id": "human:cy", "role": "member", "reachable": False}
    await world.do("human:bo", "note", where="x", kind="memo", summary="hello")
    assert {k: v for k, v in (await who(world, "human:bo")).items() if k != "last_write"} == {
        "id": "human:bo",
        "role": "approver",
        "reachable": True,
    }
    await world.pass_time(13 * HOUR)
    bo = await who(world, "human:bo")
    assert (bo["reachable"], bo["last_write"]["age"]) == (True, "13 h ago")  # a simulated clock ends no session
    (mine,) = (await world.do("human:bo", "sessions"))["sessions"]
    await world.do("human:bo", "end_session", session=mine["session"])
    assert not (await who(world, "human:bo"))["reachable"]


async def test_who_left_is_not_on_the_roster(world: World) -> None:
    """A person without a role is no principal of the space any more; the pages go on past them."""
    await world.operate("human", name="bo", role="none")
    assert {p["id"] for p in (await world.do(GROK, "roster"))["principals"]} == {GROK, CODEX, "human:ana"}


async def pages(world: World) -> list[Result]:
    """All pages of the roster."""
    found, cursor = [], ""
    for _ in range(200):
        found.append(await world.do(GROK, "roster", **({"cursor": cursor} if cursor else {})))
        cursor = found[-1].get("cursor", "")
        if not cursor:
            return found
    raise AssertionError("the roster has no end")


@pytest.mark.parametrize("hard", [False, True])
async def test_a_long_roster_comes_in_pages(world: World, hard: bool) -> None:
    """Each principal once, each page within 2,000 tokens, however long the names and hard the words."""
    names = [f"a{n:03}-" + "qx7-zk9." * 7 if hard else f"worker-{n}" for n in range(100)]
    for some in range(0, len(names), 20):
        await asyncio.gather(*(world.agent(name) for name in names[some : some + 20]))
    said = "\U000e0041\u202e日本語🏽qz" if hard else "Reviewing the release notes of today. "
    await asyncio.gather(*(
        world.do(f"agent:{n}", "status", doing=said * 20, blocked=said * 20, waiting_on=said * 5) for n in names[:60]
    ))  # fmt: skip
    found = await pages(world)
    ids = [p["id"] for page in found for p in page["principals"]]
    assert sorted(ids) == sorted([*(f"agent:{name}" for name in names), GROK, CODEX, "human:ana", "human:bo"])
    assert max(price("roster", page) for page in found) <= 2000
    assert len(found) > 2
    if not hard:
        assert max(len(page["principals"]) for page in found) >= 15
        busy = who_on(found, "agent:worker-3")
        assert (busy["doing"], busy["doing_left"]) == ((said * 20)[:80], len(said * 20) - 80)
    await refused("invalid_argument", world.do(GROK, "roster", cursor="5"))


def who_on(found: list[Result], name: str) -> Result:
    """A principal's line on one of the pages."""
    return next(p for page in found for p in page["principals"] if p["id"] == name)


async def test_whoever_changes_between_two_pages_is_seen(world: World) -> None:
    """A profile that changes while the roster is read moves to its end, and nobody is left out."""
    await asyncio.gather(*(world.agent(f"worker-{n}") for n in range(90)))
    first = await world.do(GROK, "roster")
    seen = {p["id"] for p in first["principals"]}
    for name in [p["id"] for p in first["principals"] if p["id"].startswith("agent:worker")][:5]:
        await world.do(name, "bio", profile={"role": "Tester"})
    cursor = first["cursor"]
    for _ in range(20):
        page = await world.do(GROK, "roster", cursor=cursor)
        seen |= {p["id"] for p in page["principals"]}
        if not (cursor := page.get("cursor", "")):
            break
    assert len(seen) == 90 + 4


async def trips(world: World) -> int:
    """In how many pieces the commands of a roster come to the store."""
    admin: Any  # redis-py types its commands for both its clients at once
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        before = int((await admin.info("stats"))["total_reads_processed"])
        await world.do(GROK, "roster")
        return int((await admin.info("stats"))["total_reads_processed"]) - before


async def test_a_roster_takes_the_same_trips_for_few_and_many(world: World) -> None:
    """Of four principals and of forty; a piece more where one trip is longer than the store reads at once."""
    few = await trips(world)
    await asyncio.gather(*(world.agent(f"worker-{n}") for n in range(36)))
    assert await trips(world) <= few + 2


async def test_a_key_s_spaces(world: World) -> None:
    """Its own, why it is that one, what it may do there and until when."""
    out = await world.do(GROK, "spaces")
    said = {k: out[k] for k in ("spaces", "here", "why", "may")}
    assert said == {
        "spaces": [world.space],
        "here": world.space,
        "why": "the credential is bound to it",
        "may": ["read", "write", "gate"],
    }
    assert out["expires_at"] == (await world.do(GROK, "connection"))["expires_at"]
    await world.agent("looker", may="read", days=2)
    looker = await world.do("agent:looker", "spaces")
    assert looker["may"] == ["read"]
    assert looker["expires_in"] in ("47 h", "2 days")
    assert missing(out, text(ROWS["spaces"], out)) == []


async def test_a_person_s_spaces(world: World) -> None:
    """All that they are a member of, and what they may do in this one until their session ends."""
    other = World(world.engine, world.store, f"{world.space}b", http=world.http)
    await other.operate("space", simulated=True)
    await other.human("ana", "member", signed_in=False)
    out = await world.do("human:ana", "spaces")
    assert out["spaces"] == sorted([world.space, other.space])
    assert (out["here"], out["may"]) == (world.space, ["read", "write", "decide", "manage"])
    assert out["expires_in"]
    await other.operate("human", name="bo", role="owner")
    await other.operate("human", name="ana", role="none")
    assert (await world.do("human:ana", "spaces"))["spaces"] == [world.space]


async def test_c53_rosters_and_spaces_write_nothing(world: World) -> None:
    """Whoever asks, not a byte of any key."""
    await world.do(CODEX, "status", doing="x")
    before = await world.dump()
    for name in (GROK, "human:ana"):
        for verb in ("roster", "spaces"):
            await world.do(name, verb)
    await world.operate("roster")
    await world.operate("spaces")
    assert await world.dump() == before


async def test_a_core_key_has_neither(world: World) -> None:
    """They are tools of the fleet; the refusal names the rule."""
    await world.agent("small", profile="core")
    for verb in ("roster", "spaces"):
        assert (await refused("scope_denied", world.do("agent:small", verb))).facts["rule"] == "profile-of-the-key"
