"""C-33, C-49: a window that is accounted for takes no check-in, whatever a calendar that was changed has of it."""

from collections.abc import AsyncIterator
from datetime import date

import pytest

from store.domain.day import SyncDay, day_ref
from store.engine.reads import Doc
from tests.contract.phoning import ANA, card, one, pair, sent
from tests.contract.scheduled import occurrences, ticking
from tests.contract.syncing import CODEX, GROK, moved, receipt, space_at, states
from tests.contract.test_gate import refused
from tests.contract.test_rhythm import EVERY, named, today
from tests.ticking import Scheduler
from tests.world import World

MANY = 24  # more than an occurrence names, and than is looked at of what waits
MORNING = 0  # as the buttons name it
WAYS = {  # how a morning ends before it is over by the calendar of then, and as what
    "a holiday taken out": 'was skipped: "Oops"',
    "later times": "was missed: agent:grok never came",
    "a zone further west": "was missed: agent:grok never came",
}
NEXT = {"later times": "14:00"}  # when midday opens then


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00, with an owner who has a phone; grok is at work."""
    world = await space_at(empty, "06:00")
    await world.human("ana", "owner")
    await pair(world, ANA)
    await world.do(GROK, "note", where="job:x", kind="memo", summary="At it")
    return world


@pytest.fixture
async def ticks(early: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun, in a space that is sound at the end."""
    async with ticking(early) as made:
        yield made


async def ended(world: World, ticks: Scheduler, way: str) -> None:
    """The morning is accounted for, and then the calendar has it open."""
    await moved(world, "09:05")
    await ticks()
    if way == "a holiday taken out":
        day = await today(world)
        await world.do(ANA, "rhythm", holiday=day, reason="Oops")
        await ticks()
        await world.do(ANA, "rhythm", holiday=day, remove=True)
    else:
        await moved(world, "13:05")
        await ticks()
        change = {"times": "13:06, 14:00, 17:30"} if way == "later times" else {"zone": "America/Los_Angeles"}
        await world.do(ANA, "rhythm", **change)
        await world.pass_time(120_000)
    await ticks()


@pytest.mark.parametrize("way", WAYS)
async def test_c49_what_is_accounted_for_takes_no_check_in(early: World, ticks: Scheduler, way: str) -> None:
    """It is closed, and why is said with what is next; nothing is written, and no surface says that it is open."""
    await ended(early, ticks, way)
    of = f"morning of {await today(early)}"
    before = await early.dump()
    for slot in ("", "morning"):
        no = await refused("window_closed", receipt(early, slot=slot))
        assert f"{of} {WAYS[way]}. It takes no check-in any more. Nothing was written." in no.message
        assert f"Next is midday, from {await today(early)} {NEXT.get(way, '13:00')}" in no.message
    no = await refused("window_not_open", receipt(early, slot="closeout"))
    assert "Open is morning" not in no.message
    seen = await early.do(GROK, "sync")
    assert seen["says"].startswith("No window is open. midday of ")
    assert (states(seen)["morning"], seen["next_window"]["slot"]) == ("over", "midday")
    assert not {"checked_in", "fleet", "next"} & seen.keys()
    assert "sync" not in (await early.do(GROK, "brief"))["brief"]
    assert named(await early.do(ANA, "syncs"))["morning"] in ("skipped", "missed")
    assert await early.dump() == before


@pytest.mark.parametrize("way", WAYS)
async def test_c33_a_phone_offers_no_check_in_for_it(early: World, ticks: Scheduler, way: str) -> None:
    """The message of the day says how it ended, without the buttons; who presses an older one is told that."""
    await ended(early, ticks, way)
    ref = day_ref(await today(early))
    view = await card(early, ref)
    assert (view["slot"], view["open"], one(view, ANA)["can"]) == ("", True, ["show", "stop"])
    assert view["slots"][MORNING]["says"] == WAYS[way].removeprefix("was ").replace("agent:", "")
    assert view["says"].startswith("midday opens at ")
    held = await sent(early, ref, ANA)
    for verb in ("all_good", "attention", "may_check_in"):
        no = await refused("window_closed", held.tap(verb, option=MORNING, text=""))
        why = WAYS[way] if way == "a holiday taken out" else "closed at"  # as it was recorded, it is over anyway
        assert why in str(no.facts["says"])
    assert (await occurrences(early))[f"{await today(early)}:morning"].came == 0


async def test_c33_a_weekday_is_taken_out_over_its_window(early: World, ticks: Scheduler) -> None:
    """The phone offers nothing from then on, before and after that is written down, and a press is told why."""
    await moved(early, "09:05")
    await ticks()
    day = await today(early)
    others = [name for n, name in enumerate(EVERY) if n != date.fromisoformat(day).weekday()]
    held = await sent(early, day_ref(day), ANA)
    await early.do(ANA, "rhythm", days=", ".join(others))
    for _ in range(2):
        view = await card(early, day_ref(day), ANA)
        assert (view["slot"], view["open"], one(view, ANA)["can"]) == ("", False, [])
        (morning,) = view["slots"]
        assert morning["says"] == "skipped: the times of the syncs were changed over it"
        no = await refused("window_closed", held.tap("all_good", option=MORNING))
        assert "skipped: the times of the syncs were changed over it" in str(no.facts["says"])
        await ticks()
    assert "sync" not in (await early.do(GROK, "brief"))["brief"]


async def test_c49_a_window_that_ended_is_not_ahead(early: World, ticks: Scheduler) -> None:
    """Its times moved on behind now: what opens next for the agents is the one after it."""
    await moved(early, "13:05")
    await ticks()
    await early.do(ANA, "rhythm", times="14:00, 15:00, 17:30")
    seen = await early.do(GROK, "sync")
    assert (states(seen)["morning"], seen["next_window"]["slot"]) == ("over", "midday")
    no = await refused("window_closed", receipt(early, slot="morning"))
    assert "Next is midday, from " in no.message
    await moved(early, "15:01")
    await ticks()
    assert (await receipt(early))["slot"] == "midday"


async def test_c49_what_was_over_takes_no_check_in_before_that_is_written_down(early: World, ticks: Scheduler) -> None:
    """The times are moved on while no scheduler runs: it is missed by the old ones, as soon as one does."""
    await moved(early, "09:05")
    await ticks()
    await moved(early, "13:05")
    await early.do(ANA, "rhythm", times="13:06, 14:00, 17:30")
    await early.pass_time(120_000)
    no = await refused("window_closed", receipt(early, slot="morning"))
    assert f"morning of {await today(early)} is over, and no scheduler has accounted for it yet. It takes" in no.message
    assert "sync" not in (await early.do(GROK, "brief"))["brief"]
    ref = day_ref(await today(early))
    view = await card(early, ref)
    assert (view["slot"], view["slots"][MORNING]["says"]) == ("", "over, not accounted for yet")
    await refused("window_closed", (await sent(early, ref, ANA)).tap("all_good", option=MORNING))
    await ticks()
    assert (await occurrences(early))[f"{await today(early)}:morning"].state == "missed"


async def test_c33_all_who_are_not_in_are_counted(early: World, ticks: Scheduler) -> None:
    """However many there are: those whom the occurrence names are twenty of them."""
    agents = [f"agent:w{n:02}" for n in range(MANY)]
    for who in agents:
        await early.agent(who.partition(":")[2])
        await early.do(who, "note", where="job:x", kind="memo", summary="At it")
    await moved(early, "09:05")
    await ticks()
    await moved(early, "10:30:01")
    await ticks()
    ref = day_ref(await today(early))
    for came in range(3):
        view = await card(early, ref)
        left = MANY + 1 - came  # grok is one of them
        names = ", ".join(who.partition(":")[2] for who in [GROK, *agents[: MANY - came]][:4])
        said = "nobody is in" if came == 0 else "one is in" if came == 1 else "2 are in"
        assert view["slots"][MORNING]["says"] == (
            f"overdue, open until 13:00: {names} and {left - 4} more are not in; {said}"
        )
        assert (len(view["overdue"]), view["overdue_left_out"]) == (20, left - 20)
        await receipt(early, agents[MANY - 1 - came])


async def test_c33_what_waits_is_counted_as_far_as_it_is_looked_at(early: World, ticks: Scheduler) -> None:
    """Beyond that there may be more, which is said; up to it the number is the number."""
    for n in range(MANY):
        if n == MANY - 5:
            await moved(early, "09:05")
            await ticks()
            mine = one(await card(early, day_ref(await today(early))), ANA)
            assert (len(mine["waiting"]) + mine["left_out"], mine["or_more"]) == (MANY - 5, False)
        await early.do(GROK, "handoff", to=ANA, where="job:x", summary=f"{n}", deadline="1d")
    mine = one(await card(early, day_ref(await today(early))), ANA)
    assert (len(mine["waiting"]) + mine["left_out"], mine["or_more"]) == (20, True)


@pytest.mark.parametrize(("at", "rings"), [("10:31", 1), ("12:59:59", 1)])
async def test_c33_who_comes_late_to_a_window_rings_once(early: World, ticks: Scheduler, at: str, rings: int) -> None:
    """The scheduler was down while it opened: that it is overdue is news then, and not that it is open."""
    await early.do(CODEX, "status", doing="Deploying", blocked="No disk")
    await moved(early, at)
    await ticks()
    day = await today(early)
    ((noted,),) = await early.store.across([early.space], Doc(SyncDay, day))
    assert noted == SyncDay(id=day, pushed=((ANA, rings),))


@pytest.mark.parametrize("text", ["", " "])
async def test_c33_attention_without_words_is_no_check_in(early: World, ticks: Scheduler, text: str) -> None:
    """Nobody is said to have said that all is good."""
    await moved(early, "09:05")
    await ticks()
    held = await sent(early, day_ref(await today(early)), ANA)
    no = await refused("invalid_argument", held.tap("attention", option=MORNING, text=text))
    assert no.facts["argument"] == "notes"
    assert (await held.tap("all_good", option=MORNING))["outcome"] == "pass"
