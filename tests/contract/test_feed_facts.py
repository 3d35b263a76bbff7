"""Facts in the feed: what has become of each since it was written."""

from store.domain.moments import DAY
from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.contract.test_roster import price
from tests.surfaces.complete import missing
from tests.world import World


async def test_facts_say_what_became_of_them(world: World) -> None:
    """Superseded and by what, due for review, or nothing: on every line, as it stands when one looks."""
    args = {"where": "job:x", "kind": "fact", "review_by": "2d"}
    old = await world.do("agent:grok", "note", summary="Closes at 16:00", **args)
    new = await world.do("agent:grok", "note", summary="Closes at 17:00", supersedes=old["fact"], **args)
    for days, stale in ((0, False), (3, True)):
        await world.pass_time(days * DAY)
        newest, oldest, *_ = (await world.do("agent:codex", "feed", kinds="fact"))["entries"]
        assert (newest["fact"], newest.get("stale", False), "superseded_by" in newest) == (new["fact"], stale, False)
        assert (oldest["superseded_by"], "stale" in oldest) == (new["fact"], False)


async def test_a_page_of_facts_is_no_longer_than_any_other(world: World) -> None:
    """As many as a page holds, each superseded by the next: within 2,000 tokens, and complete as text."""
    before = ""
    for n in range(40):
        more = {"supersedes": before} if before else {}
        made = await world.do("agent:grok", "note", where="x", kind="fact", summary=str(n), review_by="2d", **more)
        before = made["fact"]
    page = await world.do("agent:codex", "feed", kinds="fact", limit=50)
    assert price("feed", page) <= 2000
    assert missing(page, text(ROWS["feed"], page)) == []
