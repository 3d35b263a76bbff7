"""C-33: the sync message of a day at the bot's door, with the real scheduler: who gets it, when it rings, presses."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store.domain.day import SyncDay, day_ref
from store.domain.sync import CheckIn
from store.engine.reads import Doc
from tests.contract.phoning import ANA, BO, CY, Card, card, door, marked, one, pair, private, sent, unchanged
from tests.contract.scheduled import log, ticking
from tests.contract.syncing import CODEX, GROK, ZONE, clock, moved, receipt, space_at
from tests.contract.test_gate import refused
from tests.contract.test_scheduler_syncs import set_space
from tests.ticking import Scheduler
from tests.world import Result, World

MORNING, MIDDAY, CLOSEOUT = range(3)  # as the buttons name them


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00: ana owns it, bo approves, both have phones; grok and codex work."""
    world = await space_at(empty, "06:00")
    await world.human("ana", "owner")
    await world.human("bo")
    await pair(world, ANA)
    await pair(world, BO)
    return world


@pytest.fixture
async def ticks(early: World) -> AsyncIterator[Scheduler]:
    """A scheduler that has begun, in a space that is sound at the end."""
    async with ticking(early) as made:
        await marked(early)
        yield made


async def today(world: World) -> date:
    """The local day."""
    return (await clock(world)).astimezone(ZoneInfo(ZONE)).date()


async def day(world: World, *holding: str, back: int = 0) -> Result:
    """The card of the day, or of one before."""
    return await card(world, day_ref((await today(world) - timedelta(days=back)).isoformat()), *holding)


async def held(world: World, who: str, **fields: Any) -> Card:
    """The day's message on somebody's phone."""
    return await sent(world, day_ref((await today(world)).isoformat()), who, **fields)


async def opened(world: World, ticks: Scheduler, at: str = "09:00:01") -> str:
    """A window opens; the ref of the day, which alone was marked by that."""
    await moved(world, at)
    await ticks()
    ref = day_ref((await today(world)).isoformat())
    assert await marked(world) == {ref}
    return ref


async def said(world: World, who: str, slot: str) -> CheckIn | None:
    """Somebody's check-in of today, if there is one."""
    ((found,),) = await world.store.across([world.space], Doc(CheckIn, f"{who}:{await today(world)}:{slot}"))
    return found if isinstance(found, CheckIn) else None


async def test_c33_owners_get_it_unless_they_do_not_want_it(early: World, ticks: Scheduler) -> None:
    """By default owners alone; who opts in as well, who opts out not, and nobody whom no message reaches."""
    await opened(early, ticks)
    assert [to["who"] for to in (await day(early))["to"]] == [ANA]
    await early.do(BO, "attend", on=True)
    assert {to["who"]: to["wanted"] for to in (await day(early))["to"]} == {ANA: True, BO: True}
    await early.do(ANA, "attend", on=False)
    view = await day(early, ANA)
    assert {to["who"]: to["wanted"] for to in view["to"]} == {BO: True, ANA: False}
    assert (one(view, ANA)["can"], one(view, ANA)["gets"]) == ([], False)
    await door(early, "unreached", user=one(view, BO)["chat"], why="blocked")
    assert [to["who"] for to in (await day(early))["to"]] == []
    assert one(await day(early, BO), BO)["wanted"] is False


async def test_c33_who_has_no_account_or_no_role_gets_none(early: World, ticks: Scheduler) -> None:
    """An owner without a phone, and a person whose role was taken away."""
    await early.human("cy", "owner")
    await early.do(BO, "attend", on=True)
    await early.operate("human", name="bo", role="none")
    await opened(early, ticks)
    view = await day(early, CY, BO)
    assert {to["who"]: (to["wanted"], to["can"]) for to in view["to"] if to["who"] != ANA} == {
        CY: (False, []), BO: (False, []),
    }  # fmt: skip


async def test_c33_owners_get_none_where_nothing_goes_on(early: World, ticks: Scheduler) -> None:
    """A simulated space's days pass on after its agents' last key was revoked: then only for who has asked for them."""
    await opened(early, ticks)
    told = [(await early.do(ANA, "syncs"))["you"]["reminded"]]
    await early.operate("revoke", name="codex")
    assert one(await day(early), ANA)["wanted"]
    await early.operate("revoke", name="grok")
    told.append((await early.do(ANA, "syncs"))["you"]["reminded"])
    view = one(await day(early, ANA), ANA)
    assert (view["wanted"], view["gets"], view["can"]) == (False, False, [])
    await early.do(ANA, "attend", on=True)
    assert one(await day(early), ANA)["wanted"]
    told.append((await early.do(ANA, "syncs"))["you"]["reminded"])
    assert told == [True, False, True]


async def test_c33_the_day_is_marked_when_something_changes(early: World, ticks: Scheduler) -> None:
    """A window opens, somebody checks in, it is overdue, it ends, the digest is told: once each, nothing between."""
    ref = await opened(early, ticks)
    await moved(early, "09:30")
    await ticks()
    assert not await marked(early)
    await receipt(early)
    assert await marked(early) == {ref}
    await early.do(CODEX, "note", where="job:x", kind="memo", summary="At it")
    await opened(early, ticks, "10:30:01")
    await opened(early, ticks, "13:00:01")
    await moved(early, "00:00:01", days=1)
    await ticks()
    assert await marked(early) == {ref}


async def test_c33_how_the_windows_stand(early: World, ticks: Scheduler) -> None:
    """Each in words that change only when something happens, in the space's own time."""
    await early.do(CODEX, "note", where="job:x", kind="memo", summary="At it")
    await opened(early, ticks)
    await receipt(early)
    view = await day(early)
    assert [slot["says"] for slot in view["slots"]] == [
        "open, on time until 10:30; one is in", "opens at 13:00", "opens at 17:30",
    ]  # fmt: skip
    assert [slot["state"] for slot in view["slots"]] == ["open", "ahead", "ahead"]
    await moved(early, "10:30:01")
    await ticks()
    view = await day(early)
    assert (view["slots"][0]["state"], view["overdue"]) == ("overdue", [CODEX])
    assert view["slots"][0]["says"] == "overdue, open until 13:00: codex is not in; one is in"
    await receipt(early, CODEX)
    view = await day(early)
    assert (view["slots"][0]["says"], view["overdue"]) == ("open, late, until 13:00; 2 are in", [])
    await moved(early, "17:30:01")
    await ticks()
    assert [slot["state"] for slot in (await day(early))["slots"]] == ["late", "skipped", "open"]
    await moved(early, "00:00:01", days=1)
    await ticks()
    view = await day(early, ANA, back=1)
    assert (view["state"], view["open"]) == ("over", False)
    (digest,) = [e for e in await log(early, ANA, "digest") if e["summary"].startswith(view["day"])]
    assert one(view, ANA)["closing"] == digest["summary"]


async def test_c33_it_rings_for_what_waits(early: World, ticks: Scheduler) -> None:
    """At the opening and when it is overdue, if an ask waits; what comes in between rings by itself, not by this."""
    ref = await opened(early, ticks)
    mine = one(await day(early), ANA)
    assert (mine["push"], mine["silent"], mine["wanted"], mine["waiting"]) == (0, True, True, [])
    await early.do(GROK, "ask", where="job:x", summary="Deploy?")
    await marked(early)
    await receipt(early)
    assert await marked(early) == {ref}
    mine = one(await day(early), ANA)
    assert (mine["push"], [w["says"] for w in mine["waiting"]]) == (0, ["Deploy?"])
    await moved(early, "10:30:01")  # grok is in, so nothing is overdue
    await ticks()
    assert one(await day(early), ANA)["push"] == 0
    await early.do(GROK, "ask", where="job:x", summary="Deploy more?", expires_in="1d")
    await moved(early, "13:00:01")
    await ticks()
    mine = one(await day(early), ANA)
    assert (mine["push"], mine["silent"]) == (1, False)
    await moved(early, "14:30:01")  # now grok is not
    await ticks()
    assert one(await day(early), ANA)["push"] == 2
    await ticks()
    assert one(await day(early), ANA)["push"] == 2


@pytest.mark.parametrize("why", ["handoff", "seat", "blocked", "attention"])
async def test_c33_it_rings_for_each_of_these(early: World, ticks: Scheduler, why: str) -> None:
    """A handoff, a huddle seat, somebody blocked, somebody who said attention in the window before."""
    if why == "handoff":
        await early.do(GROK, "handoff", to="human:ana", where="job:x", summary="Take it", deadline="1d")
    elif why == "seat":
        await early.do(GROK, "huddle", where="job:x", question="Which?", seats=["human:ana"], deadline="12h")
    elif why == "blocked":
        await early.do(GROK, "status", doing="Deploying", blocked="No access")
    else:
        await moved(early, "09:00:01")
        await ticks()
        await receipt(early, GROK, outcome="attention", notes="Disk is full")
    at = "13:00:01" if why == "attention" else "09:00:01"
    await moved(early, at)
    await ticks()
    view = await day(early)
    assert one(view, ANA)["push"] == 1
    if why in ("handoff", "seat"):
        assert [w["what"] for w in one(view, ANA)["waiting"]] == [why]
    else:
        text = {"blocked": "No access", "attention": "Disk is full"}[why]
        assert view["blocked"] == [{"who": GROK, "outcome": why, "why": text}]


async def test_c33_trouble_that_is_over_rings_for_nobody(early: World, ticks: Scheduler) -> None:
    """Attention in the morning and a pass at midday; and an agent that is blocked, but has no key any more."""
    await early.do(CODEX, "status", doing="Deploying", blocked="No access")
    await early.operate("revoke", name=CODEX)
    await opened(early, ticks)
    assert one(await day(early), ANA)["push"] == 0
    await receipt(early, GROK, outcome="attention", notes="Disk is full")
    assert [each["who"] for each in (await day(early))["blocked"]] == [GROK]
    await moved(early, "13:00:01")
    await ticks()
    await receipt(early)
    view = await day(early)
    assert (view["blocked"], one(view, ANA)["push"]) == ([], 1)
    await moved(early, "17:30:01")
    await ticks()
    assert one(await day(early), ANA)["push"] == 1


async def test_c33_what_waits_for_others_does_not_ring(early: World, ticks: Scheduler) -> None:
    """A handoff for bo wakes nobody else; and who is expected themselves is woken when they are overdue."""
    await early.do(BO, "attend", on=True)
    await early.do(GROK, "handoff", to="human:bo", where="job:x", summary="Take it", deadline="12h")
    await moved(early, "09:00:01")
    await ticks()
    view = await day(early)
    assert [(to["who"], to["push"]) for to in view["to"]] == [(ANA, 0), (BO, 1)]
    await moved(early, "10:30:01")
    await ticks()
    assert [(to["who"], to["push"]) for to in (await day(early))["to"]] == [(ANA, 0), (BO, 2)]


async def test_c33_snooze_and_quiet_hours_make_it_silent(early: World, ticks: Scheduler) -> None:
    """It comes all the same, and no more is held back."""
    await early.do(GROK, "ask", where="job:x", summary="Deploy?", expires_in="1d")
    await early.do(ANA, "quiet", hours="08:00-10:00")
    await moved(early, "09:00:01")
    await ticks()
    mine = one(await day(early), ANA)
    assert (mine["push"], mine["silent"], mine["wanted"]) == (1, True, True)
    await early.do(ANA, "quiet", hours="off", snooze="2h")
    assert one(await day(early), ANA)["silent"] is True
    await early.do(ANA, "quiet", snooze="off")
    assert one(await day(early), ANA)["silent"] is False


async def test_c33_nobody_is_woken_for_what_nobody_watched(early: World, ticks: Scheduler) -> None:
    """The scheduler was down over two windows: the one that is open may ring, and once; paused spaces never do."""
    await early.do(GROK, "ask", where="job:x", summary="Deploy?", expires_in="2d")
    await moved(early, "17:35")
    await ticks()
    assert one(await day(early), ANA)["push"] == 1
    await set_space(early, paused=True)
    await moved(early, "09:00:01", days=1)
    await ticks()
    mine = one(await day(early), ANA)
    assert (mine["push"], mine["wanted"]) == (0, False)
    await set_space(early, paused=False)
    mine = one(await day(early), ANA)
    assert (mine["push"], mine["wanted"]) == (0, True)


async def test_c33_all_good_checks_in_once(early: World, ticks: Scheduler) -> None:
    """As the person, by Telegram; the same update again is the same check-in, and a second press says so."""
    await opened(early, ticks)
    mine = await held(early, ANA)
    press = mine.pressing("all_good", option=MORNING)
    done = await door(early, "tap", **press)
    assert (done["slot"], done["outcome"], done["late"]) == ("morning", "pass", False)
    assert done["says"] == f"You are in for morning of {done['day']}: pass."
    (entry,) = await log(early, ANA, "checked_in")
    assert (entry["by"], entry["via"], entry["summary"]) == (ANA, "telegram", "All good")
    assert (await door(early, "tap", **press))["replayed"]
    view = await day(early)
    assert (one(view, ANA)["can"], one(view, ANA)["yours"]) == (["show", "stop"], {"morning": "pass"})
    no = await unchanged(early, "already_checked_in", mine.tap("all_good", option=MORNING))
    assert str(no.facts["says"]).startswith(f"You checked in for morning of {done['day']}")


async def test_c33_attention_takes_words(early: World, ticks: Scheduler) -> None:
    """What is replied stands as the notes; before that it is asked whether one can check in at all."""
    await opened(early, ticks)
    mine = await held(early, ANA)
    await mine.tap("may_check_in", option=MORNING)
    assert await said(early, ANA, "morning") is None
    done = await mine.tap("attention", option=MORNING, text="Nobody reviews")
    assert done["outcome"] == "attention"
    (entry,) = await log(early, ANA, "checked_in")
    assert entry["summary"] == "Nobody reviews"
    assert (await day(early))["blocked"] == [{"who": ANA, "outcome": "attention", "why": "Nobody reviews"}]
    await unchanged(early, "already_checked_in", mine.tap("may_check_in", option=MORNING))


@pytest.mark.parametrize("verb", ["all_good", "attention", "may_check_in"])
async def test_c33_a_late_press_is_for_its_own_window(early: World, ticks: Scheduler, verb: str) -> None:
    """Once that is over it changes nothing, whatever is open then; the next day it is still yesterday's window."""
    await opened(early, ticks)
    mine = await held(early, ANA)
    await moved(early, "13:00:01")
    await ticks()
    no = await unchanged(early, "window_closed", mine.tap(verb, option=MORNING, text=""))
    assert "closed at" in str(no.facts["says"])
    assert "logmem" not in str(no.facts["says"])
    no = await unchanged(early, "window_not_open", mine.tap(verb, option=CLOSEOUT))
    assert "17:30" in str(no.facts["says"])
    await moved(early, "09:10", days=1)
    await ticks()
    await unchanged(early, "window_closed", mine.tap(verb, option=MORNING))


async def test_c33_stop_these(early: World, ticks: Scheduler) -> None:
    """No such message any more, as by `attend`, and how to have them again is said."""
    ref = await opened(early, ticks)
    mine = await held(early, ANA)
    done = await mine.tap("stop")
    assert (done["attend"], done["says"].endswith(f"be expected: /sync on {early.space}")) == ("off", True)
    assert await marked(early) == {ref}
    await mine.tap("stop")  # which changes nothing
    assert one(await day(early, ANA), ANA)["wanted"] is False
    on = await door(early, "verb", **private(ANA, verb="attend", args={"on": True}, space=early.space))
    assert on["attend"] == "on"
    assert one(await day(early), ANA)["wanted"] is True


async def test_c33_presses_that_are_nobodys_change_nothing(early: World, ticks: Scheduler) -> None:
    """Another person's button, another chat, a window that is none, a verb that is for asks, an account no more."""
    await opened(early, ticks)
    await early.do(BO, "attend", on=True)
    mine = await held(early, ANA)
    press = mine.pressing("all_good", option=MORNING)
    stranger = private(BO)
    forged = {**press, **stranger}
    await unchanged(early, "not_yours", door(early, "tap", **forged))
    await unchanged(early, "not_yours", door(early, "tap", **{**press, "chat": stranger["chat"]}))
    await unchanged(early, "not_yours", door(early, "tap", **{**press, "user": stranger["user"]}))
    await unchanged(early, "not_found", door(early, "tap", **{**press, "message": 1}))
    for option in (-1, 3, 99):
        await unchanged(early, "not_found", mine.tap("all_good", option=option))
    for verb in ("approve", "accept", "answer", "good", "x"):
        await unchanged(early, "invalid_argument", mine.tap(verb, option=MORNING))
    no = await unchanged(early, "invalid_argument", mine.tap("reply", text="all fine"))
    assert "Attention…" in str(no.facts["says"])
    await early.do(ANA, "unpair")
    await refused("unauthenticated", door(early, "tap", **press))
    assert await said(early, ANA, "morning") is None


@pytest.mark.parametrize("ref", ["day:2026-13-01", "day:", "day:x", "day:20261130", "day:2026-W48-1", "day:9999-12-31"])
async def test_c33_what_is_no_day_has_no_card(early: World, ref: str) -> None:
    """A name that is no day is not found."""
    await refused("not_found", card(early, ref))


async def test_c33_a_day_without_windows_has_no_card(early: World, ticks: Scheduler) -> None:
    """A holiday is over from the start and rings for nobody; a weekday without syncs is not found."""
    on = await today(early)
    await early.operate("rhythm", holiday=on.isoformat(), reason="Founders")
    view = await day(early)
    assert (view["open"], [slot["says"] for slot in view["slots"]]) == (False, ['skipped: "Founders"'] * 3)
    others = ", ".join(
        name for n, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun")) if n != on.weekday()
    )
    await early.operate("rhythm", holiday=on.isoformat(), remove=True)
    await early.operate("rhythm", days=others)
    await refused("not_found", day(early))


async def test_c33_before_the_first_window_nobody_gets_it(early: World, ticks: Scheduler) -> None:
    """Somebody who opts in at dawn is told at the first window; nothing is noted of a day that rang for nobody."""
    await early.do(BO, "attend", on=True)
    assert {to["wanted"] for to in (await day(early))["to"]} == {False}
    await opened(early, ticks)
    assert {to["wanted"] for to in (await day(early))["to"]} == {True}
    ((noted,),) = await early.store.across([early.space], Doc(SyncDay, (await today(early)).isoformat()))
    assert noted is None
