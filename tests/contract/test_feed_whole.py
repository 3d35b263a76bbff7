"""The feed as a person's page reads it: bounded by number alone, in few trips, and the same entries as for all."""

import pytest

from store.verbs.catalog import ROWS
from store.verbs.feed import SCAN
from store.verbs.perform import perform
from tests.contract.test_feed import CODEX, GROK, all_pages, ids, noted
from tests.tokenizer import tokens
from tests.world import Result, World

LONG = "Every word of it counts here; " * 33


async def _paged(world: World, **args: object) -> Result:
    """What a page of codex's would have, were codex a person."""
    return await perform(world.store, world.badges[CODEX], ROWS["feed"].in_full, args)


async def _whole(world: World, **args: object) -> list[str]:
    """All of its pages."""
    page = await _paged(world, **args)
    found = ids(page)
    for _ in range(50):
        if "cursor" not in page:
            return found
        page = await _paged(world, **args, cursor=page["cursor"])
        found += ids(page)
    raise AssertionError("there is no end of it")


async def test_a_page_has_as_many_as_it_may(world: World) -> None:
    """50 of the longest entries, where an agent gets as many as its context has room for, and says what time it is."""
    for n in range(60):
        await noted(world, n, summary=f"{n} {LONG}"[:1000], payload={"n": LONG[:250]})
    page = await _paged(world, where="x", limit=50)
    assert (len(page["entries"]), "cursor" in page) == (50, True)
    assert page["now"] > page["entries"][0]["at"]
    agents = await world.do(CODEX, "feed", where="x", limit=50)
    assert len(agents["entries"]) < 50
    assert tokens(str(agents)) < 2000
    assert "now" not in agents


@pytest.mark.parametrize("beside", [0, SCAN + 30])
async def test_an_author_in_a_place_is_found_by_both_logs(
    world: World, monkeypatch: pytest.MonkeyPatch, beside: int
) -> None:
    """Page by page all that somebody wrote there and nothing else, also where they wrote much elsewhere since."""
    written: list[str] = []
    for n in range(40):
        who = CODEX if n % 8 == 0 else GROK
        id = await noted(world, n, who, payload={"by": CODEX})  # which is not who wrote it
        if who == CODEX:
            written.insert(0, id)
    for n in range(beside):
        await noted(world, n, CODEX, where="channel:else")
    trips = 0
    fetch = world.store.fetch

    async def counted(*args: object, **more: object) -> object:
        nonlocal trips
        trips += 1
        return await fetch(*args, **more)  # type: ignore[arg-type]  # passed on as they came

    for args in ({"by": CODEX}, {"by": "codex", "kinds": ["memo"]}, {"by": "codex", "since": "2h"}):
        asked = {"where": "x", "limit": 2, **args}
        assert await all_pages(world, **asked) == written
        assert await _whole(world, **asked) == written
        with monkeypatch.context() as patch:
            patch.setattr(world.store, "fetch", counted)
            trips = 0
            assert ids(await _paged(world, **(asked | {"limit": 50}))) == written
        assert trips <= 6
    nothing = await _paged(world, where="x", by=CODEX, kinds=["stuck"])
    assert nothing["entries"] == []
    assert "cursor" not in nothing
    assert nothing["scanned"] == 40
