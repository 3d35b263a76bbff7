"""Following (C-32): nothing is passed over, what the state points at is always there, and waiting costs little."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.store import Store
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge
from store.verbs.perform import perform
from tests.contract.test_gate import asked, decided, refused
from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"


async def noise(world: World, trail: str, count: int, *, where: str = "job:noise") -> None:
    """Notes of codex on somebody's trail."""
    for n in range(count):
        await world.do(CODEX, "note", where=where, kind="memo", summary=f"n{n}", trail=trail)


async def read_on(world: World, what: str, since: str) -> tuple[list[str], list[Result]]:
    """Follow from a cursor until nothing is left: the summaries in order, and the answers."""
    said: list[str] = []
    answers: list[Result] = []
    for _ in range(100):
        out = await world.do(GROK, "follow", what=what, since=since, wait=0)
        answers.append(out)
        if not out["changes"]:
            assert out["pending"]
            return said, answers
        said += [e["summary"] for e in out["changes"]]
        since = out["cursor"]
    raise AssertionError(since)


@pytest.mark.parametrize("count", [1, 55, 110])
async def test_c32_nothing_is_passed_over(world: World, count: int) -> None:
    """Whoever reads on from a cursor gets every entry once, oldest first; what is left is counted at each step."""
    await world.do(CODEX, "note", where="job:x", kind="memo", summary="before")
    since = (await world.do(GROK, "follow", what="job:x", wait=0))["cursor"]
    await noise(world, "t", count, where="job:x")
    said, answers = await read_on(world, "job:x", since)
    assert said == [f"n{n}" for n in range(count)]
    shown = 0
    for out in answers:
        shown += len(out["changes"])
        assert out.get("more", 0) == count - shown


async def test_c32_a_cursor_from_elsewhere_far_back_is_found(world: World) -> None:
    """The id of an entry of another place, a long way back, is a cursor as well."""
    await noise(world, "t", 70, where="job:x")
    other = (await world.do(CODEX, "note", where="job:y", kind="memo", summary="other"))["entry"]["id"]
    await noise(world, "t", 130, where="job:x")
    said, _ = await read_on(world, "job:x", other)
    assert said == [f"n{n}" for n in range(130)]


async def test_c32_text_that_does_not_fit_still_goes_on(world: World) -> None:
    """Entries as dear as can be come one by one, each within the budget, and the cursor moves on."""
    since = (await world.do(CODEX, "note", where="job:x", kind="memo", summary="first"))["entry"]["id"]
    dear: dict[str, Any] = {"why": "🙂" * 1000, "tags": ["🙂" * 100 + str(n) for n in range(20)]}
    for _ in range(3):
        await world.do(CODEX, "note", where="job:x", kind="memo", summary="🙂" * 1000, **dear)
    said, _ = await read_on(world, "job:x", since)
    assert len(said) == 3


async def test_c56_a_question_is_not_pushed_out_by_notes_on_the_trail(world: World) -> None:
    """However many notes others put on the trail, who follows or looks sees the question, and who decides too."""
    ask = await asked(world)
    await noise(world, ask["trail"], 1)
    cursor = (await world.do(GROK, "follow", what=ask["trail"], wait=0))["cursor"]
    await noise(world, ask["trail"], 30)
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Which region?")
    await noise(world, ask["trail"], 60)
    now, told = [await world.do(GROK, "follow", what=ask["trail"], since=since, wait=0) for since in ("", cursor)]
    for seen in (now, told):
        assert "Which region?" in [e["summary"] for e in seen["changes"]]
        assert seen["next"]["tool"] == "logmem_note"
    assert told["more"] == 91 - (len(told["changes"]) - 1)
    view = await world.do(GROK, "view", what=ask["trail"])
    page = await world.do("human:ana", "inbox", trail=ask["trail"])
    for seen in (view, page):
        assert "Which region?" in [e["summary"] for e in seen["history"]]
        assert len(seen["history"]) + seen["left_out"] == 92
    await decided(world, ask, "reject", reason="Not now")
    await noise(world, ask["trail"], 60)
    told = await world.do(GROK, "follow", what=ask["trail"], wait=0)
    assert [e["kind"] for e in told["changes"]] == ["decided"]
    assert "decided" in [e["kind"] for e in (await world.do(GROK, "view", what=ask["trail"]))["history"]]


async def test_c56_all_that_was_asked_back_before_the_first_follow_is_told(world: World) -> None:
    """Two people ask back before who asked begins to wait: both questions; after an answer, what came since."""
    ask = await asked(world)
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Which region?")
    await world.do("human:ana", "ask_back", trail=ask["trail"], text="And when?")
    told = await world.do(GROK, "follow", what=ask["trail"], wait=20)
    assert [e["summary"] for e in told["changes"]] == ["Which region?", "And when?"]
    others = await world.do(CODEX, "follow", what=ask["trail"], wait=0)
    assert [e["summary"] for e in others["changes"]] == ["And when?"]
    answer = {"where": ask["where"], "kind": "answer", "summary": "eu", "answers": ask["trail"]}
    await world.do(GROK, "note", **answer)
    assert (await world.do(GROK, "follow", what=ask["trail"], wait=0))["pending"] is True
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Sure?")
    told = await world.do(GROK, "follow", what=ask["trail"], wait=20)
    assert [e["summary"] for e in told["changes"]] == ["Sure?"]


async def test_a_reason_is_not_pushed_out_either(world: World) -> None:
    """Why an item was declined is said to who follows or looks, with 60 notes on its trail since."""
    item = (await world.do(GROK, "handoff", to=CODEX, summary="Go on", where="job:x"))["item"]
    await world.do(CODEX, "accept", item=item, decline=True, reason="no time")
    await noise(world, item, 60)
    told = await world.do(GROK, "follow", what=item, wait=0)
    assert (told["reason"], told["changes"][-1]["kind"]) == ("no time", "declined")
    seen = await world.do(GROK, "view", what=item)
    assert (seen["reason"], seen["history"][0]["kind"]) == ("no time", "handoff")
    assert "declined" in [e["kind"] for e in seen["history"]]


async def test_a_place_can_be_followed_from_now_on(world: World) -> None:
    """Without a cursor nothing is shown of what was before; the cursor that comes back misses nothing after."""
    out = await world.do(GROK, "follow", what="human:bo", wait=0)
    assert (out["pending"], out["changes"]) == (True, [])
    await world.do(CODEX, "note", where="human:bo", kind="memo", summary="hello")
    told = await world.do(GROK, "follow", what="human:bo", since=out["cursor"], wait=50)
    assert [e["summary"] for e in told["changes"]] == ["hello"]
    await refused("not_found", world.do(GROK, "follow", what="job:none", wait=0))


class Counted:
    """How many round trips a store makes for reading."""

    def __init__(self, store: Store, patch: pytest.MonkeyPatch) -> None:
        self.trips = 0
        for where, name in ((store, "fetch"), (store.shared, "identity")):
            patch.setattr(where, name, self._counting(getattr(where, name)))

    def _counting(self, read: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any, **more: Any) -> Any:
            self.trips += 1
            return await read(*args, **more)

        return counted


def badge(world: World, who: str = GROK) -> Badge:
    """Somebody's credential."""
    return world.badges[who]


async def test_waiting_is_not_woken_by_what_happens_elsewhere(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred who wait hardly read while 50 notes are written elsewhere; a note to their place wakes them all."""
    await world.do(CODEX, "note", where="job:x", kind="memo", summary="first")
    counted = Counted(world.store, monkeypatch)
    loop = asyncio.get_running_loop()
    began = loop.time()
    row = ROWS["follow"]
    waiting = [
        asyncio.create_task(perform(world.store, badge(world), row, {"what": "job:x", "wait": 50})) for _ in range(100)
    ]
    await noise(world, "t", 50, where="job:y")
    took, before = loop.time() - began, counted.trips
    # Three trips to begin with, one more once it listens, and one a second to see whether it may go on.
    assert before <= 100 * (4 + took)
    await world.do(CODEX, "note", where="job:x", kind="memo", summary="here")
    for out in await asyncio.gather(*waiting):
        assert [e["summary"] for e in out["changes"]] == ["here"]


async def test_a_look_at_an_ask_takes_three_trips(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The credential, what stands with its Log, and every entry of it at once."""
    ask = await asked(world)
    await decided(world, ask)
    counted = Counted(world.store, monkeypatch)
    for verb in ("view", "follow"):
        counted.trips = 0
        await perform(world.store, badge(world), ROWS[verb], {"what": ask["trail"]})
        assert counted.trips == 3


async def test_a_look_says_that_an_ask_was_altered(world: World) -> None:
    """What does not fit its digest is shown to nobody as if it had been asked; that it was altered is said plainly."""
    ask = await asked(world)
    name = world.keys.doc("ask", ask["trail"])
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        found: Any = await admin.hget(name, "doc")
        assert b'"job:release"' in found
        await admin.hset(name, "doc", found.replace(b'"job:release"', b'"job:harmless"'))
    seen = await world.do(GROK, "view", what=ask["trail"])
    assert (seen["altered"], seen["summary"]) == (True, "[altered]")
    assert "logmem verify" in seen["warning"]
    assert not {"payload", "where", "options"} & seen.keys()


async def test_what_cannot_be_followed_is_told_what_can(world: World) -> None:
    """A word that names nothing is answered with every form that can be followed, asks among them."""
    with pytest.raises(Refused, match=r"Expected is ask: ask_.*; item: ci_.*; place: channel:"):
        await world.do("agent:grok", "follow", what="nope")
