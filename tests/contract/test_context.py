"""What goes along with a handoff: the facts that it touches, as they stand."""

import json
from typing import Any

import pytest

from store.engine.commit import Outcome, What
from store.verbs import context
from store.verbs.call import Call
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.recalling import CODEX, GROK, chain, noted, recalled
from tests.contract.test_gate import HOUR
from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import Result, World


async def handed(world: World, summary: str) -> Result:
    """An item of grok's to codex, of a space whose index is there."""
    await recalled(world, summary)
    return await world.do(GROK, "handoff", to=CODEX, summary=summary)


async def along(world: World, summary: str) -> Result:
    """An item that takes facts along; handed anew while the machine is too busy to say in time which."""
    for _ in range(50):
        item = await handed(world, summary)
        if "context" in item:
            return item
    raise AssertionError("no facts go along")


async def test_a_handoff_takes_along_the_facts_that_it_touches(world: World) -> None:
    """At most five, those that stand; both sides see them with their age, as they are when they look."""
    night = await world.do(
        GROK, "note", where="job:y", kind="fact", summary="Tokens are rotated at night by the mailer"
    )
    await world.do(GROK, "note", where="job:y", kind="fact", summary="The red door is locked")
    item = await along(world, "Finish the rotation of tokens in the mailer")
    assert item["context"] == [night["entry"]["id"]]
    await world.pass_time(2 * HOUR)
    (seen,) = (await world.do(CODEX, "view", what=item["item"]))["context"]
    assert (seen["fact"], seen["age"], seen["summary"]) == (night["fact"], "2 h ago", night["entry"]["summary"])
    newer = await world.do(CODEX, "note", where="job:y", kind="fact", summary="By day now", supersedes=night["fact"])
    (taken,) = (await world.do(CODEX, "accept", item=item["item"]))["context"]
    assert (taken["summary"], taken["superseded_by"]) == (night["entry"]["summary"], newer["fact"])


async def test_what_the_index_could_not_say_in_time_is_looked_for_when_it_is_viewed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who accepts it is told so, and viewed next it has them: nothing is left out in silence."""
    night = await world.do(GROK, "note", where="job:y", kind="fact", summary="Tokens are rotated at night by a mailer")
    await recalled(world, "tokens")
    with monkeypatch.context() as busy:
        busy.setattr("store.verbs.context.facts_about", _late)
        item = await world.do(GROK, "handoff", to=CODEX, summary="Finish the rotation of tokens in the mailer")
    assert "context" not in item
    seen: Result = {}
    for _ in range(50):
        seen = await world.do(CODEX, "view", what=item["item"])
        if "context_unsearched" not in seen:
            break
    assert [line["fact"] for line in seen["context"]] == [night["fact"]]
    assert (await world.do(CODEX, "accept", item=item["item"]))["context_unsearched"]


async def _late(call: Call, summary: str) -> context.About:
    """The facts about this where the index has no time at all."""
    return await context._found(call, summary, bound=0.0)


@pytest.mark.parametrize("count", [2, 3, 4])
async def test_a_handoff_takes_along_what_stands_in_place_of_what_it_touches(world: World, count: int) -> None:
    """However often it was superseded since, and nothing of what was."""
    facts = await chain(world, count)
    item = await along(world, "Look at how sessions of the console end after 20 minutes")
    assert item["context"] == [facts[-1]["entry"]["id"]]


async def test_a_handoff_that_is_decided_again_searches_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tries have a second together: they all go on with the first answer."""
    await world.do(GROK, "note", where="job:y", kind="fact", summary="The blue gate opens at seven")
    await along(world, "Paint the blue gate")
    searches = tries = 0
    indexes, commit = world.store.indexes, world.store.commit
    searched = indexes.search

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal searches
        searches += 1
        return await searched(*args, **more)

    async def lost(*args: Any, **more: Any) -> Any:
        nonlocal tries
        tries += 1
        return Outcome(What.AGAIN, []) if tries < 4 else await commit(*args, **more)

    monkeypatch.setattr(indexes, "search", counted)
    monkeypatch.setattr(world.store, "commit", lost)
    http, world.http = world.http, None
    await world.do(GROK, "handoff", to=CODEX, summary="Paint the blue gate again")
    world.http = http
    assert (tries, searches) == (4, 1)


async def test_a_handoff_takes_nothing_along_that_is_noise(world: World) -> None:
    """Nor what is superseded; and no more than five."""
    old = await world.do(GROK, "note", where="job:y", kind="fact", summary="The blue gate opens at seven")
    await world.do(
        GROK, "note", where="job:y", kind="fact", summary="At eight, the gate is blue", supersedes=old["fact"]
    )
    assert "context" not in await handed(world, "Look at the build of the console")
    assert old["entry"]["id"] not in (await along(world, "Paint the blue gate"))["context"]
    for n in range(7):
        await world.do(GROK, "note", where="job:y", kind="fact", summary=f"Gate {n} is blue")
    assert len((await along(world, "Paint the blue gate"))["context"]) == 5


async def test_what_goes_along_keeps_the_budgets(world: World) -> None:
    """Five long facts beside a long history and summary."""
    for n in range(6):
        await world.do(GROK, "note", where="job:y", kind="fact", summary=f"認証 gate{n} {'認証サーバ' * 150}")
    item = await along(world, "認証サーバ gate1")
    for n in range(10):
        await noted(world, f"{n} {'word ' * 190}", trail=item["item"])
    for verb, args in (("view", {"what": item["item"]}), ("accept", {"item": item["item"]})):
        result = await world.do(CODEX, verb, **args)
        shown = text(ROWS[verb], result)
        assert len(result["context"]) >= 2
        assert tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))) <= 2000
        assert tokens(shown) <= 2000
        assert missing(result, shown) == []
