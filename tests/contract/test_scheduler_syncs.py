"""C-47 to C-49: the day's syncs as the scheduler accounts for them, with the check-ins of agents over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from store.domain.commit import Commit, put
from store.domain.errors import Refused
from store.domain.occurrence import Occurrence
from store.domain.reach import Reach
from store.domain.space import Space
from store.engine.reads import Doc
from store.verbs.call import Call, Row
from store.verbs.perform import perform
from tests.contract.handing import handed
from tests.contract.phoning import BO, pair
from tests.contract.scheduled import log, occurrences, rhythm, ticking
from tests.contract.syncing import CODEX, GROK, ZONE, clock, moved, receipt, space_at
from tests.contract.test_gate import refused
from tests.ticking import Scheduler
from tests.world import World

FIRST: dict[str, date] = {}  # the day on which a test begins, by its space: before it nobody ran a scheduler


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00, with grok and codex."""
    world = await space_at(empty, "06:00")
    FIRST[world.space] = (await clock(world)).astimezone(ZoneInfo(ZONE)).date()
    return world


@pytest.fixture
async def ticks(early: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun, in a space that is sound at the end."""
    async with ticking(early) as made:
        yield made


async def at_work(world: World, *who: str) -> None:
    """Somebody writes, so that they are expected in the next window."""
    for each in who:
        await world.do(each, "note", where="job:x", kind="memo", summary="At it")


async def since_then(world: World) -> list[Occurrence]:
    """The occurrences from the day on which the test has begun; those before were accounted for as well."""
    found = (await occurrences(world)).values()
    assert {each.reason for each in found if each.day < FIRST[world.space].isoformat()} == {"down"}
    return [each for each in found if each.day >= FIRST[world.space].isoformat()]


async def states(world: World) -> list[str]:
    """How each of them stands, or why it was skipped, in their order."""
    return [each.reason or each.state for each in await since_then(world)]


async def test_c47_a_day_is_accounted_for(early: World, ticks: Scheduler) -> None:
    """Held when all were in on time, late when somebody came later, missed by who never came; each once."""
    await at_work(early, GROK, CODEX)
    await moved(early, "09:00:01")
    assert (await ticks())["occurrences"] == 1
    assert await states(early) == ["open"]
    await receipt(early)
    await receipt(early, CODEX)
    await moved(early, "10:30:01")
    await ticks()
    assert await states(early) == ["open"]
    await moved(early, "13:00:01")
    await ticks()
    assert await states(early) == ["held", "open"]
    await receipt(early)
    await moved(early, "14:30:01")
    await ticks()
    assert await states(early) == ["held", "overdue"]
    await receipt(early, CODEX)
    await moved(early, "17:30:01")
    await ticks()
    assert await states(early) == ["held", "late", "open"]
    await receipt(early)
    await moved(early, "00:00:01", days=1)
    await ticks()
    assert await states(early) == ["held", "late", "missed"]
    *_, closeout = await since_then(early)
    assert (closeout.expected, closeout.came, closeout.missing) == (2, 1, (CODEX,))
    told = [e["summary"] for e in await log(early, f"channel:{early.space}", "accounted")][-3:]
    assert [each.split()[-1] for each in told] == ["time.", "late.", "came."]
    assert told[2] == f"closeout of {closeout.day} was missed: agent:codex never came."
    assert not await ticks()


async def test_c47_who_is_overdue_is_told_once(early: World, ticks: Scheduler) -> None:
    """After the 90 min, by name: in the space's channel, and to each of them; nobody else."""
    await at_work(early, GROK, CODEX)
    await moved(early, "09:10")
    await receipt(early)
    for at in ("10:29", "10:31", "12:59"):
        await moved(early, at)
        await ticks()
        assert len(await log(early, CODEX, "overdue")) == (at != "10:29")
    assert not await log(early, GROK, "overdue")
    (said,) = await log(early, f"channel:{early.space}", "overdue")
    assert said["summary"].endswith("is overdue: agent:codex is not in.")
    (mine,) = await log(early, CODEX, "overdue")
    assert 'logmem_sync {receipt: true, slot: "morning", outcome, notes}' in mine["summary"]


async def test_c47_expected_is_who_works(early: World, ticks: Scheduler) -> None:
    """Whoever wrote since the last window, or has an open item or job; nobody else, and nobody at all is a reason."""
    await early.agent("idle")
    await moved(early, "09:00:01")
    await ticks()
    await moved(early, "13:00:01")  # nobody has written anything yet
    await ticks()
    assert await states(early) == ["nobody_expected", "open"]
    await handed(early, deadline="2 days")  # by grok, to codex
    await moved(early, "17:30:01")
    await ticks()
    assert await states(early) == ["nobody_expected", "missed", "open"]
    *_, midday, _ = await since_then(early)
    assert (midday.expected, midday.missing) == (2, (CODEX, GROK))
    await moved(early, "09:00:01", days=1)
    await moved(early, "13:00:01")
    await ticks()
    found = await since_then(early)
    assert [each.missing for each in found[2:4]] == [(CODEX, GROK), (CODEX,)]  # grok has not written for a day
    assert not await log(early, f"channel:{early.space}", "overdue") or found[3].state == "missed"


async def test_c47_people_are_expected_if_they_opt_in(early: World, ticks: Scheduler) -> None:
    """Being paired is not enough; whoever wants to be is expected like an agent."""
    for name in ("ana", "bo"):
        await early.human(name, "owner" if name == "ana" else "approver")
        await pair(early, f"human:{name}")
    await wants(early, BO)
    await moved(early, "09:05")
    await receipt(early, BO)
    await moved(early, "13:00:01")
    await ticks()
    morning, _ = await since_then(early)
    assert (morning.state, morning.expected, morning.came) == ("held", 1, 1)
    assert (await early.do(GROK, "sync"))["awaited"] == [BO]


async def wants(world: World, person: str) -> None:
    """A person opts in to the syncs."""

    async def opt_in(call: Call) -> Commit:
        reach = await call.read(Doc(Reach, person))
        assert reach
        return Commit(result={}, puts=(put(replace(reach, syncs="on")),))

    await perform(world.store, world.operator, Row("opt_in", "manage", opt_in), {})


async def set_space(world: World, **fields: object) -> None:
    """Change what stands in the space."""

    async def change(call: Call) -> Commit:
        space = await call.read(Doc(Space, world.space))
        assert space
        return Commit(result={}, puts=(put(replace(space, **fields)),))  # type: ignore[arg-type] # names of its fields

    await perform(world.store, world.operator, Row("change", "manage", change), {})


async def test_c47_reasons_to_skip(early: World, ticks: Scheduler) -> None:
    """A day off, a space that is paused, and nobody running the scheduler: each is recorded with its reason."""
    await at_work(early, GROK)
    await set_space(early, paused=True)
    await moved(early, "09:00:01")
    await ticks()
    await moved(early, "10:31")
    await ticks()
    assert await states(early) == ["open"]
    await at_work(early, GROK)
    await moved(early, "13:00:01")
    await ticks()
    assert await states(early) == ["paused", "open"]
    await set_space(early, paused=False)
    tomorrow = FIRST[early.space] + timedelta(days=1)
    await set_space(early, holidays=(f"{tomorrow} Moving house",))
    await moved(early, "20:00", days=1)
    await ticks()
    assert await states(early) == ["paused", "missed", "down", "day_off", "day_off", "day_off"]
    assert [each.off for each in await since_then(early)][3:] == ["Moving house"] * 3
    told = [e["summary"] for e in await log(early, f"channel:{early.space}", "accounted")]
    assert f'closeout of {tomorrow} was skipped: "Moving house".' in told


async def test_c47_down_over_two_windows(early: World, ticks: Scheduler) -> None:
    """What is still due runs once, and what nobody watched or came to is skipped; check-ins count."""
    await handed(early, deadline="2 days")  # by grok, to codex
    await moved(early, "09:05")
    await ticks()
    await receipt(early)
    await moved(early, "14:35", days=1)
    did = await ticks()
    assert did["occurrences"] >= 5
    assert await states(early) == ["missed", "down", "down", "down", "overdue"]
    morning, *_, midday = await since_then(early)
    assert (morning.missing, morning.came, midday.unseen) == ((CODEX,), 1, "")
    assert len(await log(early, CODEX, "overdue")) == 1
    assert not await log(early, GROK, "overdue")
    assert not await ticks()
    await moved(early, "17:30:01")
    await ticks()
    assert [*await states(early)][-2:] == ["missed", "open"]


async def test_c48_sync_stays_a_pure_read(early: World, ticks: Scheduler) -> None:
    """With occurrences on record reading the day writes nothing, and says what it said without them."""
    await at_work(early, GROK)
    await moved(early, "10:31")
    seen = await early.do(GROK, "sync")
    await ticks()
    before = await early.dump()
    after = await early.do(GROK, "sync")
    assert await early.dump() == before
    assert {k: v for k, v in after.items() if k != "says"} == {k: v for k, v in seen.items() if k != "says"}
    assert after["overdue"] == [CODEX, GROK] or after["overdue"] == [GROK]


async def test_c49_a_check_in_counts_where_it_was_written(early: World, ticks: Scheduler) -> None:
    """Outside its window it is refused whatever the scheduler has seen; at its end it is in, or it was missed."""
    await at_work(early, GROK)
    await refused("window_not_open", receipt(early, slot="morning"))
    for day in range(3):
        await moved(early, "12:59:59.600", days=min(day, 1))
        await ticks()
        came, _ = await asyncio.gather(
            receipt(early, slot="morning"), until_closed(early, ticks), return_exceptions=True
        )
        await moved(early, "13:05")
        await ticks()
        morning = (await since_then(early))[3 * day]
        assert morning.slot == "morning"
        assert morning.came == (0 if isinstance(came, Refused) else 1)
        await at_work(early, GROK)
    await refused("window_closed", receipt(early, CODEX, slot="morning"))


async def until_closed(world: World, ticks: Scheduler) -> None:
    """Move the clock over the end of a window, and account for it."""
    await world.pass_time(500)
    await ticks()


async def test_a_day_s_digest_is_told_to_its_owners_once(early: World, ticks: Scheduler) -> None:
    """When the day is over: its syncs, what was decided, what waits and who is blocked; a quiet day has none."""
    await early.human("ana", "owner")
    await early.human("bo", "approver")
    await moved(early, "08:00", days=1)
    await ticks()
    assert not await log(early, "human:ana", "digest")  # nothing has happened
    await at_work(early, GROK)
    await moved(early, "09:05")
    await receipt(early)
    ask = await early.do(GROK, "ask", where="job:x", summary="May I?", expires_in="2 days")
    await early.do("human:bo", "decide", trail=ask["trail"], digest=ask["digest"], verdict="reject")
    await early.do(GROK, "ask", where="job:x", summary="And this?", expires_in="2 days")
    await early.do(CODEX, "status", doing="Nothing", blocked="No key")
    await moved(early, "00:00:05", days=1)
    await ticks()
    (said,) = await log(early, "human:ana", "digest")
    assert not await log(early, "human:bo", "digest")
    assert said["payload"]["asks"] == {"rejected": 1}
    assert (said["payload"]["waiting"], said["payload"]["blocked"]) == (1, [CODEX])
    assert said["payload"]["syncs"]["morning"] == "missed"
    assert "Asks that ended: 1 rejected. 1 ask waits for a decision." in said["summary"]
    assert not await ticks()
    assert (await rhythm(early)).next > (await rhythm(early)).through


async def test_c47_what_was_recorded_can_be_read_and_found(early: World, ticks: Scheduler) -> None:
    """In the Log of the space's channel, in the feed, by its id, and by a search."""
    await moved(early, "09:00:01")
    await ticks()
    await moved(early, "13:00:01")
    await ticks()
    said = (await log(early, f"channel:{early.space}", "accounted"))[-1]
    assert said["summary"].endswith("was skipped: nobody was expected.")
    assert (await early.do(GROK, "view", what=said["id"]))["entry"]["summary"] == said["summary"]
    feed = (await early.do(GROK, "feed", where=f"channel:{early.space}", kinds=["accounted"]))["entries"]
    assert said["id"] in {e["id"] for e in feed}
    found = (await early.do(GROK, "recall", query="skipped: nobody was expected"))["hits"]
    assert said["id"] in {hit["id"] for hit in found}
