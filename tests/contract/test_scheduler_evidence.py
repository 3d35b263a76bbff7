"""C-47: what an occurrence is judged by: who was expected while it was open, however many, and what receipts say."""

import asyncio

from store.domain.commit import Commit, put
from store.domain.day import SyncDay
from store.domain.occurrence import NAMED, TELL, Occurrence
from store.domain.person import Member
from store.domain.reach import Reach
from store.engine.reads import Doc
from store.verbs.call import Call, Row
from store.verbs.expected import AGENTS
from store.verbs.perform import perform
from tests.contract.handing import handed
from tests.contract.phoning import ANA, BO, pair
from tests.contract.scheduled import log, occurrences
from tests.contract.syncing import CODEX, GROK, moved, receipt
from tests.contract.test_rhythm import today
from tests.contract.test_rhythm_owed import early, ticks
from tests.contract.test_scheduler_syncs import at_work
from tests.surfaces.full import many
from tests.ticking import Scheduler
from tests.world import World

__all__ = ["early", "ticks"]


async def morning(world: World) -> Occurrence:
    """The one of the day that it is."""
    return (await occurrences(world))[f"{await today(world)}:morning"]


async def test_c47_who_begins_when_a_window_is_over_has_not_missed_it(early: World, ticks: Scheduler) -> None:
    """Who starts, is minted, is handed something or says that they attend after the close, before it is judged."""
    await at_work(early, CODEX)
    await moved(early, "09:05")
    await ticks()
    await receipt(early, CODEX)
    await moved(early, "12:59:59")
    await ticks()
    assert (await early.do(ANA, "syncs"))["today"][0]["expected"] == 1
    await moved(early, "13:00:00")
    await early.do(GROK, "start")
    await early.agent("newbie")
    await early.do("agent:newbie", "start")
    await early.agent("handed")
    await handed(early, "agent:handed", deadline="2 days")
    await early.agent("assigned")
    await early.do(ANA, "assign", job="new", to="agent:assigned", title="New")
    await early.do(BO, "attend", on=True)
    await ticks()
    found = await morning(early)
    assert (found.state, found.expected, found.missing) == ("held", 1, ())
    for who in (GROK, "agent:newbie", "agent:handed", "agent:assigned", BO):
        assert await log(early, who, "accounted") == []
    await moved(early, "17:30:01")
    await ticks()
    midday = (await occurrences(early))[f"{await today(early)}:midday"]
    assert set(midday.missing) == {CODEX, GROK, "agent:newbie", "agent:handed", "agent:assigned", BO}


async def test_c47_who_was_at_work_has_missed_it_though_they_write_on(early: World, ticks: Scheduler) -> None:
    """In the same shift after the close, at its end, or in another one after they were overdue; and who has an item."""
    await handed(early, deadline="2 days")  # by grok, to codex
    for name in ("ends", "idle"):
        await early.agent(name)
        await at_work(early, f"agent:{name}")
    await moved(early, "10:31")
    await ticks()
    assert (await morning(early)).absent == 4
    await moved(early, "11:30")
    await ticks()  # all of them are idle: their shifts are over
    await at_work(early, GROK, "agent:ends")
    await moved(early, "13:00")
    await at_work(early, GROK)
    await early.do("agent:ends", "recap", notes="Done")
    await early.do("agent:idle", "start")
    await ticks()
    found = await morning(early)
    assert (found.state, set(found.missing)) == ("missed", {GROK, CODEX, "agent:ends", "agent:idle"})


async def test_c47_everybody_who_is_overdue_is_told(early: World, ticks: Scheduler) -> None:
    """More than are named and than are told at once: each once that they are, and once that they missed it; people too.

    A person's phone rings for it, whatever place their name has among them.
    """
    await pair(early, BO)
    await early.do(BO, "attend", on=True)
    names = [f"agent:w{n:03}" for n in range(TELL + NAMED)]

    async def works(n: int) -> None:
        await early.agent(names[n].partition(":")[2])
        await at_work(early, names[n])

    await many(len(names), works)
    await moved(early, "09:05")
    await ticks()
    await moved(early, "10:31")
    await ticks()
    found = await morning(early)
    assert (found.state, found.absent, found.missing[0], found.untold) == ("overdue", len(names) + 1, BO, ())
    ((day,),) = await early.store.across([early.space], Doc(SyncDay, await today(early)))
    assert day
    assert day.times(BO) == 1
    everybody = [BO, *names]
    assert [len(each) for each in await asyncio.gather(*(log(early, who, "overdue") for who in everybody))] == [
        1
    ] * len(everybody)
    await moved(early, "13:00:01")
    await ticks()
    assert not await ticks()
    assert (await morning(early)).state == "missed"
    said = await asyncio.gather(*(log(early, who, "accounted") for who in everybody))
    assert [len(each) for each in said] == [1] * len(everybody)
    assert len(await log(early, f"channel:{early.space}", "overdue")) == 1


async def test_c47_everybody_who_attends_is_expected(early: World, ticks: Scheduler) -> None:
    """More people than are looked at together; one who cannot be reminded any more is told so."""
    names = [f"human:p{n:04}" for n in range(AGENTS + 5)]

    async def attend(call: Call) -> Commit:
        await call.admit()
        docs = [doc for who in names for doc in (Member(id=who, role="member", since=0), Reach(id=who, syncs="on"))]
        return Commit(result={}, puts=tuple(map(put, docs)))

    await perform(early.store, early.operator, Row("attend_all", "manage", attend), {})
    await pair(early, BO)
    assert "No message may reach you" in (await early.do(BO, "attend", on=True))["says"]
    await moved(early, "09:05")
    await ticks()
    await moved(early, "10:31")
    await ticks()
    found = await morning(early)
    assert (found.state, found.expected) == ("overdue", len(names) + 1)
    assert len(await log(early, names[-1], "overdue")) == 1


async def test_c47_a_receipt_says_whether_it_was_late(early: World, ticks: Scheduler) -> None:
    """Whatever becomes of the times of its window: the account says the same."""
    await at_work(early, GROK, CODEX)
    await moved(early, "09:05")
    await ticks()
    await moved(early, "10:10")
    assert (await receipt(early))["late"] is False
    await early.do(ANA, "rhythm", times="08:00, 13:00, 17:30")
    assert (await receipt(early, CODEX))["late"] is True
    await early.do(ANA, "rhythm", times="10:00, 13:00, 17:30")
    assert (await early.do(ANA, "syncs"))["grid"][0]["slots"]["morning"]["late"] == 1
    await moved(early, "13:00:01")
    await ticks()
    found = await morning(early)
    assert (found.state, [who for who, _ in found.behind]) == ("late", [CODEX])
