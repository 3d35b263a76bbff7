"""A change of the calendar: what it leaves as it was, and what is kept of it."""

from collections.abc import AsyncIterator
from datetime import date

import pytest

from store.domain.occurrence import OWED
from store.domain.timetable import DAYS
from store.engine.client import Target, open_client
from tests.contract.phoning import ANA
from tests.contract.scheduled import log, occurrences, ticking
from tests.contract.syncing import CODEX, GROK, moved, receipt, space_at
from tests.contract.test_gate import refused
from tests.contract.test_rhythm import peopled, today
from tests.contract.test_scheduler_syncs import at_work
from tests.ticking import Scheduler
from tests.world import World


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00 with an owner, an approver, a member and two agents."""
    return await peopled(await space_at(empty, "06:00"))


@pytest.fixture
async def ticks(early: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun, in a space that is sound at the end."""
    async with ticking(early) as made:
        yield made


@pytest.mark.parametrize("change", [{}, {"holiday": "2099-12-25", "reason": "Christmas"}, {"days": "mon-sun"}])
@pytest.mark.parametrize("came", [False, True])
async def test_c47_a_change_of_the_calendar_rewrites_nothing(
    early: World, ticks: Scheduler, change: dict[str, str], came: bool
) -> None:
    """What was not accounted for while the scheduler was down is afterwards as it would have been without one."""
    await at_work(early, GROK, CODEX)
    await moved(early, "09:05")
    if came:
        await receipt(early)
    await moved(early, "14:00")
    if change:
        await early.do(ANA, "rhythm", **change)
    await ticks()
    found = (await occurrences(early))[f"{await today(early)}:morning"]
    if came:
        assert (found.state, found.missing) == ("missed", (CODEX,))
    else:
        assert (found.state, found.reason) == ("skipped", "down")


async def test_c47_a_change_of_the_calendar_loses_nothing(early: World, ticks: Scheduler) -> None:
    """A week without a scheduler, whose days are taken out then: each window of it is accounted for by its own times.

    So is the one that was open and found over only after the change; what is still open goes with its day.
    """
    day = await today(early)
    await at_work(early, GROK)
    await moved(early, "09:05")
    await ticks()
    await moved(early, "14:00", days=2)
    await receipt(early, CODEX)  # grok has not written since the day before, by the calendar that it still is
    await moved(early, "15:00", days=5)
    await receipt(early, CODEX)
    last = await today(early)
    kept = DAYS[(date.fromisoformat(last).weekday() + 3) % 7]
    await early.do(ANA, "rhythm", days=kept)
    await early.do(ANA, "rhythm", times="15:10, 15:20, 15:30", days=kept)  # and once more
    grid = (await early.do(ANA, "syncs"))["grid"]
    assert [row["slots"]["morning"]["state"] for row in grid if day <= row["day"] <= last] == ["unaccounted"] * 8
    await ticks()
    assert not await ticks()
    found = [each for each in (await occurrences(early)).values() if day <= each.day <= last]
    assert len(found) == 3 * 8 - 1  # the closeout of the last day has not opened
    assert (found[0].state, found[0].missing) == ("missed", (GROK,))
    assert found.pop(7).state == "held"
    assert [each.reason for each in found[1:-1]] == ["down"] * (len(found) - 2)
    assert (found[-1].slot, found[-1].reason) == ("midday", "changed")
    told = [e["summary"] for e in await log(early, f"channel:{early.space}", "accounted")]
    assert len(told) == len(set(told))
    assert {f"{each.name} was skipped" in " ".join(told) for each in found[1:]} == {True}


async def test_c47_what_is_too_far_behind_is_accounted_for_first(early: World, ticks: Scheduler) -> None:
    """Most of a year without a scheduler: what changes windows until now waits until one has run, all else does not."""
    first, days = await today(early), OWED // 3
    await moved(early, "08:00", days=days - 1)
    assert (await early.do(ANA, "rhythm", times="08:30, 13:00, 17:30"))["changed"] == ["times"]
    await moved(early, "08:00", days=2)
    await ticks()
    assert len([id for id in await occurrences(early) if id >= first]) == 3 * (days + 1)
    await moved(early, "08:00", days=days + 1)
    no = await refused("busy", early.do(ANA, "rhythm", times="09:00, 13:00, 17:30"))
    assert no.facts["retry_after"]
    assert "logmem serve scheduler" in no.message
    await ticks()
    assert (await early.do(ANA, "rhythm", times="09:00, 13:00, 17:30"))["changed"] == ["times"]


async def test_a_reason_is_kept_in_no_record_and_shown_again(early: World) -> None:
    """Of a change that is sent twice the same is said twice, as long as it is a holiday; the record has its day."""
    said = {"holiday": "2099-12-25", "reason": "Christmas", "action_id": "a1"}
    first = await early.do(ANA, "rhythm", **said)
    async with open_client(Target.embedded(early.engine), user="lm-admin") as admin:
        kept = [str(await admin.get(name)) for name in await admin.keys(f"lm:{{{early.space}}}:done:{ANA}*")]
    assert len([record for record in kept if "2099-12-25" in record]) == 1
    assert not [record for record in kept if "Christmas" in record]
    again = await early.do(ANA, "rhythm", **said)
    assert (again["holidays"], again["replayed"]) == (first["holidays"], True)
    assert first["holidays"] == [{"day": "2099-12-25", "reason": "Christmas"}]
    await early.do(ANA, "rhythm", holiday="2099-12-25", remove=True)
    assert (await early.do(ANA, "rhythm", **said))["holidays"] == [{"day": "2099-12-25"}]
