"""What the scheduler writes down besides the syncs, over HTTP and with the clock of a simulated space."""

from collections.abc import AsyncIterator

import pytest

from store.domain.inspection import PART, SPACE, Inspection
from store.domain.slot import Who
from store.engine.client import Target, open_client
from store.engine.reads import Doc
from store.verbs.due import WAKES, due, leads
from tests.contract.handing import handed, viewed
from tests.contract.phoning import ANA, BO, card, pair
from tests.contract.scheduled import DAY, HOUR, MINUTE, log, ticking
from tests.ticking import Scheduler
from tests.world import World

GROK, CODEX = "agent:grok", "agent:codex"


@pytest.fixture
async def ticks(world: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun, in a space that is sound at the end."""
    async with ticking(world) as made:
        yield made


async def test_c39_a_dead_letter_is_written_down(world: World, ticks: Scheduler) -> None:
    """Past its deadline an item is a dead letter on record, said once on its trail; it can be requeued."""
    item = await handed(world, deadline="20 min")
    await world.pass_time(19 * MINUTE)
    assert not await ticks()
    await world.pass_time(2 * MINUTE)
    assert await ticks() == {"expire": 1}
    assert not await ticks()
    seen = await viewed(world, item)
    assert seen["status"] == "expired"
    (said,) = await log(world, item["item"], "expired")
    assert (said["by"], said["trail"]) == ("system:scheduler", item["item"])
    assert f'logmem_handoff {{requeue: "{item["item"]}"}}' in said["summary"]
    assert (await world.do(GROK, "brief"))["brief"]["verdicts"][0]["status"] == "dead letter"
    assert (await world.do(CODEX, "brief"))["handoffs"][0]["status"] == "expired"
    new = await world.do(GROK, "handoff", requeue=item["item"])
    assert (await world.do(CODEX, "accept", item=new["item"]))["status"] == "accepted"
    assert not await ticks()


async def test_c28_an_ask_past_its_deadline_is_written_down(world: World, ticks: Scheduler) -> None:
    """It is expired on record, not only to whoever looks; an approval that nobody used has lapsed."""
    one = await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in="10 min")
    two = await world.do(GROK, "ask", where="job:x", summary="And this?", valid_for="10 min")
    await world.do("human:bo", "decide", trail=two["trail"], digest=two["digest"], verdict="approve")
    await world.pass_time(11 * MINUTE)
    assert (await ticks())["expire"] == 2
    for ask, state in ((one, "expired"), (two, "lapsed")):
        seen = await world.do(GROK, "view", what=ask["trail"])
        assert seen["status"] == state
        assert len(await log(world, ask["trail"], state)) == 1
    assert not await ticks()


async def test_c14_an_idle_shift_is_recapped(world: World, ticks: Scheduler) -> None:
    """After half an hour without a write a shift ends with a recap of its own entries, once, marked as automatic."""
    await world.do(GROK, "start")
    await world.do(GROK, "status", doing="Moving the tables")
    await world.do(GROK, "note", where="job:auth", kind="progress", summary='Wrote "the" migration')
    await world.do(GROK, "note", where="job:auth", kind="problem", summary="One test fails")
    await world.do(CODEX, "note", where=GROK, kind="memo", summary="Not theirs")
    await world.pass_time(29 * MINUTE)
    assert not await ticks()
    await world.pass_time(2 * MINUTE)
    assert await ticks() == {"idle": 2, "recap": 2}
    assert not await ticks()
    (said,) = await log(world, GROK, "recap")
    assert (said["by"], said["where"]) == ("system:scheduler", GROK)
    assert said["payload"]["auto"] is True
    assert said["payload"]["shift"] == 1
    assert r'progress in job:auth, "Wrote \"the\" migration"; problem in job:auth, "One test fails"' in said["summary"]
    assert 'It was at: "Moving the tables".' in said["summary"]
    assert "Not theirs" not in said["summary"]
    brief = await world.do(GROK, "start")
    assert brief["started"] == {"agent": GROK, "shift": 2, "resumed": False}
    assert brief["last_recap"]["auto"]
    assert (await world.do(CODEX, "roster"))["principals"]


async def test_c14_whoever_waits_for_a_person_is_not_recapped(world: World, ticks: Scheduler) -> None:
    """A pending ask keeps a shift open, half an hour at a time; once it is settled the shift ends like any other."""
    await world.do(GROK, "start")
    ask = await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in="2h")
    for _ in range(3):
        await world.pass_time(31 * MINUTE)
        assert (await ticks())["recap"] == 0
    assert (await world.do(GROK, "start"))["started"]["resumed"]
    await world.pass_time(40 * MINUTE)
    assert (await ticks())["recap"] == 1
    assert (await world.do(GROK, "view", what=ask["trail"]))["status"] == "expired"


async def test_c14_whoever_writes_meanwhile_is_not_recapped(world: World, ticks: Scheduler) -> None:
    """Reads neither open nor prolong a shift; a write does, also of an agent who is queued already."""
    await world.do(GROK, "start")
    await world.pass_time(31 * MINUTE)
    await world.do(GROK, "brief")
    assert (await ticks.once())["idle"] == 1  # queued, and not looked at yet
    await world.do(GROK, "note", where="job:x", kind="memo", summary="Back")
    assert not await ticks()
    assert not await log(world, GROK, "recap")
    await world.do(GROK, "recap", notes="Done")
    await world.pass_time(31 * MINUTE)
    assert (await ticks())["recap"] == 0
    assert len(await log(world, GROK, "recap")) == 1


async def test_c33_reminders_come_by_the_clock(world: World, ticks: Scheduler) -> None:
    """After 15 min those on call are reminded, after 30 everybody is asked; each once, and each is on record."""
    await pair(world, ANA)
    await pair(world, BO)
    await world.do("human:ana", "oncall", on=True)
    ask = await world.do(GROK, "ask", where="job:x", summary="May I?")

    async def asked() -> tuple[int, list[str]]:
        view = await card(world, f"ask:{ask['trail']}")
        return view["push"], [to["who"] for to in view["to"] if to["wanted"]]

    assert await asked() == (0, ["human:ana"])
    await world.pass_time(14 * MINUTE)
    assert not await ticks()
    await world.pass_time(2 * MINUTE)
    assert await ticks() == {"remind": 1}
    assert await asked() == (1, ["human:ana"])
    await world.pass_time(13 * MINUTE)
    assert (await ticks())["remind"] == 0
    await world.pass_time(2 * MINUTE)
    assert (await ticks())["remind"] == 1
    assert await asked() == (2, ["human:ana", "human:bo"])
    await world.pass_time(5 * HOUR)
    assert (await ticks())["remind"] == 0
    said = [e["payload"]["reminded"] for e in await log(world, ask["trail"], "reminded")]
    assert said == [1, 2]


@pytest.mark.parametrize(
    ("expires", "first", "second"), [("10 min", 5 * MINUTE, 7.5 * MINUTE), ("40 min", 15 * MINUTE, 27.5 * MINUTE)]
)
async def test_c33_never_later_than_half_of_the_time_left(
    world: World, ticks: Scheduler, expires: str, first: float, second: float
) -> None:
    """What has little time is reminded of sooner."""
    await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in=expires)
    await world.pass_time(int(first) - 20_000)
    assert not await ticks()
    await world.pass_time(25_000)
    assert (await ticks())["remind"] == 1
    await world.pass_time(int(second - first) - 30_000)
    assert (await ticks())["remind"] == 0
    await world.pass_time(30_000)
    assert (await ticks())["remind"] == 1


async def test_c33_the_named_are_never_widened(world: World, ticks: Scheduler) -> None:
    """An ask for one person stays theirs, however long they do not answer."""
    await pair(world, ANA)
    await pair(world, BO)
    ask = await world.do(GROK, "ask", where="job:x", summary="May I?", approvers=["bo"])
    await world.pass_time(HOUR)
    assert (await ticks())["remind"] == 1  # what came due while nobody looked is made up for by one
    view = await card(world, f"ask:{ask['trail']}")
    assert (view["push"], [to["who"] for to in view["to"] if to["wanted"]]) == (2, ["human:bo"])
    (said,) = await log(world, ask["trail"], "reminded")
    assert "everybody" not in said["summary"]


async def test_c33_what_is_settled_is_no_reminder(world: World, ticks: Scheduler) -> None:
    """Nobody is reminded of what was decided, withdrawn or is over."""
    asks = [await world.do(GROK, "ask", where="job:x", summary=f"May I {n}?", expires_in="10 min") for n in range(3)]
    await world.do("human:bo", "decide", trail=asks[0]["trail"], digest=asks[0]["digest"], verdict="reject")
    await world.do(GROK, "ask", withdraw=asks[1]["trail"])
    await world.pass_time(11 * MINUTE)
    assert await ticks() == {"expire": 1}
    assert not await log(world, "job:x", "reminded")


async def test_a_key_that_ends_soon_is_told_of(world: World, ticks: Scheduler) -> None:
    """A week before and a day before, once each, to the agent and to whoever answers for it; a renewed one is not."""
    await world.pass_time(82 * DAY)
    assert not (await ticks())["warn"]
    await world.pass_time(DAY + HOUR)
    assert (await ticks())["warn"] == 2
    assert not (await ticks())["warn"]
    (mine,) = await log(world, GROK, "expiring")
    assert "ends in 6 d" in mine["summary"] or "ends in 166 h" in mine["summary"], mine["summary"]
    assert "logmem renew grok" in mine["summary"]
    assert len(await log(world, "human:ana", "expiring")) == 2
    await world.operate("renew", name="codex", days=90)
    await world.pass_time(6 * DAY)
    assert (await ticks())["warn"] == 1
    await world.pass_time(HOUR)
    assert not (await ticks())["warn"]


async def test_a_fact_whose_review_is_due_is_told_of_once(world: World, ticks: Scheduler) -> None:
    """To whoever wrote it; one that was superseded is nobody's any more."""
    fact = await world.do(GROK, "note", kind="fact", where="job:x", summary="Ports are 80 and 443", review_by="2 days")
    old = await world.do(GROK, "note", kind="fact", where="job:x", summary="Old", review_by="2 days")
    await world.do(CODEX, "note", kind="fact", where="job:x", summary="New", supersedes=old["fact"])
    await world.pass_time(3 * DAY)
    assert (await ticks())["review"] == 1
    assert not (await ticks())["review"]
    (said,) = await log(world, GROK, "review")
    assert said["payload"] == {"fact": fact["fact"]}


async def inspected(world: World, ticks: Scheduler) -> Inspection:
    """The inspection of a space after another whole round."""
    ((before,),) = await world.store.across([world.space], Doc(Inspection, SPACE))
    for _ in range(100):
        await world.pass_time(PART)
        await ticks.once()
        ((found,),) = await world.store.across([world.space], Doc(Inspection, SPACE))
        assert isinstance(found, Inspection)
        if found.ended > before.ended:
            return found
    raise AssertionError("the round has no end")


async def test_what_must_hold_is_looked_at(world: World, ticks: Scheduler) -> None:
    """A part at a time, round and round: a sound space has nothing, and what breaks an index or a mark is found."""
    await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in="7 days")
    await world.do(GROK, "note", kind="fact", where="job:x", summary="So it is")
    await handed(world, deadline="2 days")
    await world.do(CODEX, "status", doing="Nothing", blocked="No key")
    sound = await inspected(world, ticks)
    assert (sound.last, sound.last_count) == ((), 0)
    assert sound.looked > 12
    roster, admin = world.keys.index("roster", ""), open_client(Target.embedded(world.engine), user="lm-admin")
    async with admin:
        await admin.zadd(roster, {"who:agent:nobody": 1, f"who:{GROK}": 5})
        await admin.hset(world.keys.doc("who", CODEX), "said", "1-999999")
        found = await inspected(world, ticks)
        await admin.zrem(roster, "who:agent:nobody")
        await admin.hdel(world.keys.doc("who", CODEX), "said")
        ((who,),) = await world.store.across([world.space], Doc(Who, GROK))
        await admin.zadd(roster, {f"who:{GROK}": who.since})
    assert found.last_count == 3
    assert "an index names documents that there are: who:agent:nobody" in found.last[0]
    assert any(f"roster: has who:{GROK} at 5" in each for each in found.last)
    assert any(f"who:{CODEX} names 1-999999 as said" in each for each in found.last)
    assert (await inspected(world, ticks)).last_count == 0


async def test_waiting_for_a_person_goes_on_over_a_reminder(world: World, ticks: Scheduler) -> None:
    """Who follows an ask is not woken because people are reminded of it."""
    ask = await world.do(GROK, "ask", where="job:x", summary="May I?")
    first = await world.do(GROK, "follow", what=ask["trail"], wait=0)
    await world.pass_time(16 * MINUTE)
    assert (await ticks())["remind"] == 1
    again = await world.do(GROK, "follow", what=ask["trail"], since=first["cursor"], wait=0)
    assert again["pending"]
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Why?")
    told = await world.do(GROK, "follow", what=ask["trail"], since=again["cursor"])
    assert [each["kind"] for each in told["changes"]] == ["question"]


async def test_what_runs_next_can_be_told(world: World, ticks: Scheduler) -> None:
    """When each job wakes in a space, and who leads."""
    await world.do(GROK, "ask", where="job:x", summary="May I?", expires_in="1h")
    at = (await due(ticks.store, [world.space]))[world.space]
    when = {wake.job: at.at(wake) - at.now for wake in WAKES}
    assert 14 * MINUTE < when["remind"] <= 15 * MINUTE
    assert 59 * MINUTE < when["expire"] <= HOUR + 1
    assert 29 * MINUTE < when["idle"] <= 30 * MINUTE
    assert 0 < when["occurrences"] <= 10 * HOUR
    assert when["recap"] == when["review"] == -at.now
    found = await leads(world.store)
    assert found
    assert found.epoch == ticks.leader.epoch == at.epoch
    assert 0 < found.left <= 10_000
