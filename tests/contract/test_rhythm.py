"""When a space's syncs are, as its owners set it; who of its people takes part; and what is shown of it all."""

from datetime import date

import pytest

from store.domain.timetable import REASON
from store.verbs.expected import AGENTS
from store.verbs.syncs import IN, STATES
from tests.contract.phoning import ANA, BO, pair
from tests.contract.scheduled import log, occurrences, ticking
from tests.contract.syncing import CODEX, GROK, ZONE, clock, moved, receipt, space_at
from tests.contract.test_gate import refused
from tests.surfaces.full import many
from tests.world import Result, World

TIMES = ["09:00", "13:00", "17:30"]
EVERY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@pytest.fixture
async def early(empty: World) -> World:
    """A space in New York at 6:00 with an owner, an approver, a member and two agents."""
    return await peopled(await space_at(empty, "06:00"))


async def peopled(world: World) -> World:
    """The space with people in it."""
    for name, role in (("ana", "owner"), ("bo", "approver"), ("cy", "member")):
        await world.human(name, role)
    return world


async def today(world: World) -> str:
    """The space's day."""
    return str((await world.do(ANA, "syncs"))["local"])[:10]


def named(found: Result) -> dict[str, str]:
    """How each of today's windows stands."""
    return {one["slot"]: one["state"] for one in found["today"]}


@pytest.mark.parametrize("who", [BO, "human:cy", GROK])
async def test_only_owners_set_the_rhythm(early: World, who: str) -> None:
    """Approvers, members and agents are refused, and nothing changes; the operator may, by the command."""
    before = await early.dump()
    await refused("scope_denied", early.do(who, "rhythm", times="08:00, 12:00, 16:00"))
    assert await early.dump() == before
    assert (await early.operate("rhythm", days="mon-fri"))["days"] == EVERY[:5]


BAD: dict[str, tuple[Result, str, str]] = {
    "nothing": ({}, "invalid_argument", "times"),
    "two times": ({"times": "09:00, 13:00"}, "invalid_argument", "times"),
    "times in no order": ({"times": "09:00, 17:30, 13:00"}, "invalid_argument", "times"),
    "no time": ({"times": "9, 13, 17"}, "invalid_argument", "times"),
    "blank times": ({"times": " "}, "invalid_argument", "times"),
    "numbers of days": ({"days": "1-5"}, "invalid_argument", "days"),
    "no day": ({"days": "mon, noday"}, "invalid_argument", "days"),
    "no zone": ({"zone": "Mars/Olympus"}, "invalid_argument", "zone"),
    "an offset": ({"zone": "+02:00"}, "invalid_argument", "zone"),
    "no date": ({"holiday": "25.12.2026", "reason": "Christmas"}, "invalid_argument", "holiday"),
    "no day of the calendar": ({"holiday": "2027-02-30", "reason": "x"}, "invalid_argument", "holiday"),
    "a day that is over": ({"holiday": "2020-01-01", "reason": "x"}, "invalid_argument", "holiday"),
    "no reason": ({"holiday": "2099-12-25"}, "reason_required", "reason"),
    "a long reason": ({"holiday": "2099-12-25", "reason": "x" * (REASON + 1)}, "too_long", "reason"),
    "a reason alone": ({"reason": "x"}, "invalid_argument", "reason"),
    "a reason to take out": ({"holiday": "2099-12-25", "reason": "x", "remove": True}, "invalid_argument", "reason"),
    "remove alone": ({"remove": True}, "invalid_argument", "remove"),
    "remove beside times": ({"times": "08:00, 12:00, 16:00", "remove": True}, "invalid_argument", "remove"),
    "one of two": ({"times": "08:00, 12:00, 16:00", "zone": "x"}, "invalid_argument", "zone"),
    "what it does not have": ({"slots": "x"}, "unknown_argument", "slots"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_argument_is_named_and_nothing_changes(early: World, name: str) -> None:
    """Every value that means nothing is refused by the name of its argument, also beside one that is right."""
    args, code, argument = BAD[name]
    before = await early.dump()
    no = await refused(code, early.do(ANA, "rhythm", **args))
    assert no.facts["argument"] == argument
    assert "Nothing was written." in no.message
    assert await early.dump() == before


async def test_a_holiday_that_is_none_is_not_taken_out(early: World) -> None:
    """It is refused as not found, with those that there are, and the calls that help."""
    await early.do(ANA, "rhythm", holiday="2099-12-25", reason="Christmas")
    no = await refused("not_found", early.do(ANA, "rhythm", holiday="2099-12-26", remove=True))
    assert no.facts["holidays"] == ["2099-12-25 Christmas"]
    assert 'rhythm {holiday: "2099-12-26", reason}' in no.message
    assert 'rhythm {holiday: "2099-12-25", remove: true}' in no.message


async def test_what_is_left_out_stays(early: World) -> None:
    """Each of the parts can be changed by itself or beside others; what it was stands in the Log, with who did it."""
    one = await early.do(ANA, "rhythm", times="8:00 12:00 16:15")
    assert (one["times"], one["days"], one["zone"]) == (["08:00", "12:00", "16:15"], EVERY, ZONE)
    assert (one["changed"], one["next"]["local"][:5]) == (["times"], "08:00")
    two = await early.do(ANA, "rhythm", days="Mon - Fri", zone="Europe/Berlin")
    assert (two["times"], two["days"], two["zone"]) == (["08:00", "12:00", "16:15"], EVERY[:5], "Europe/Berlin")
    first, second = await log(early, f"channel:{early.space}", "rhythm")
    assert first["payload"] == {"times": {"from": TIMES, "to": ["08:00", "12:00", "16:15"]}}
    assert (first["by"], first["via"]) == (ANA, "console")
    assert second["payload"]["zone"] == {"from": ZONE, "to": "Europe/Berlin"}
    assert second["payload"]["days"] == {"from": EVERY, "to": EVERY[:5]}
    assert "sat, sun" in second["summary"]


async def test_what_is_so_already_writes_nothing(early: World) -> None:
    """Set to what it is, a rhythm stays, and the Log is told nothing."""
    same = await early.do(ANA, "rhythm", times=", ".join(TIMES), zone=ZONE, days="sat-fri")
    assert same["changed"] == []
    assert await log(early, f"channel:{early.space}", "rhythm") == []


async def test_a_holiday_is_made_and_taken_out(early: World) -> None:
    """On a holiday nobody can check in; it is accounted for as a day off, with its reason; then undone."""
    day = await today(early)
    async with ticking(early) as ticks:
        made = await early.do(ANA, "rhythm", holiday=day, reason=" Moving   house ")
        assert made["holidays"] == [{"day": day, "reason": "Moving house"}]
        assert made["next"]["day"] > day
        assert named(await early.do(ANA, "syncs")) == {}.fromkeys(("morning", "midday", "closeout"), "skipped")
        await moved(early, "09:05")
        no = await refused("window_not_open", receipt(early))
        assert "Moving house" in no.message
        await ticks()
        assert (await occurrences(early))[f"{day}:morning"].off == "Moving house"
        gone = await early.do(ANA, "rhythm", holiday=day, remove=True)
        assert (gone["holidays"], gone["next"]["slot"]) == ([], "midday")
        await moved(early, "13:05")
        await receipt(early)
        await ticks()
        # What has ended stays as it was recorded.
        assert named(await early.do(ANA, "syncs")) == {"morning": "skipped", "midday": "open", "closeout": "ahead"}
    one, two = await log(early, f"channel:{early.space}", "rhythm")
    assert (one["why"], two["summary"]) == ("Moving house", f"{day} is no holiday any more.")


async def test_an_open_window_moves_with_its_times(early: World) -> None:
    """An occurrence that is open follows: it is late, and over, by the new times, and whoever is in stays in."""
    day = await today(early)
    await early.do(GROK, "note", where="job:x", kind="memo", summary="At it")
    await early.do(CODEX, "note", where="job:x", kind="memo", summary="At it")
    async with ticking(early) as ticks:
        await moved(early, "09:05")
        await receipt(early)
        await ticks()
        assert (await early.do(ANA, "rhythm", times="10:00, 13:00, 17:30"))["next"]["slot"] == "morning"
        assert named(await early.do(ANA, "syncs"))["morning"] == "ahead"
        await refused("window_not_open", receipt(early, CODEX))
        await moved(early, "10:31")
        await ticks()
        assert (await early.do(ANA, "syncs"))["today"][0]["missing"] == [CODEX]
        await receipt(early, CODEX)
        await moved(early, "13:00:01")
        await ticks()
        assert (await occurrences(early))[f"{day}:morning"].state == "held"
    assert await log(early, CODEX, "overdue") == []


async def test_an_open_window_that_new_times_end_is_accounted_for_at_once(early: World) -> None:
    """Shortened so that it is over by now, or made a day off, it is skipped with the reason, not hours later."""
    day = await today(early)
    await early.do(GROK, "note", where="job:x", kind="memo", summary="At it")
    async with ticking(early) as ticks:
        await moved(early, "10:00")
        await ticks()
        await early.do(ANA, "rhythm", times="08:00, 09:00, 17:30")
        await ticks()
        found = await occurrences(early)
        assert (found[f"{day}:morning"].state, found[f"{day}:morning"].reason) == ("skipped", "changed")
        assert found[f"{day}:midday"].state in ("open", "overdue")
        await early.do(ANA, "rhythm", holiday=day, reason="Moving house")
        await ticks()
        found = await occurrences(early)
        assert (found[f"{day}:midday"].state, found[f"{day}:midday"].off) == ("skipped", "Moving house")


async def test_a_window_that_is_made_over_now_gets_an_occurrence(early: World) -> None:
    """Times that put a window over the present are told of it at once: who is at work is expected in it."""
    await early.do(GROK, "note", where="job:x", kind="memo", summary="At it")
    async with ticking(early) as ticks:
        await moved(early, "07:00")
        await early.do(ANA, "rhythm", times="06:45, 13:00, 17:30")
        await ticks()
        (morning, *_) = (await early.do(ANA, "syncs"))["today"]
        assert (morning["state"], morning["missing"]) == ("open", [GROK])
        assert morning["local"] == "06:45, late from 08:15, closes 13:00"


def sunday(year: int, month: int, first: int) -> date:
    """The first Sunday of a month from that day on: when clocks in New York change."""
    return next(day for day in (date(year, month, first + n) for n in range(7)) if day.weekday() == 6)


@pytest.mark.parametrize("month", [3, 11])
async def test_times_in_a_gap_and_twice(empty: World, month: int) -> None:
    """On days when clocks change: a time that is not there opens after the gap, one that comes twice at the first."""
    year = date.today().year + 1  # noqa: DTZ011 - any year to come will do
    day, opens = (sunday(year, 3, 8), "07:00") if month == 3 else (sunday(year, 11, 1), "05:30")
    world = await peopled(await space_at(empty, "00:05", day=day))
    async with ticking(world):  # which accounts for the time until then
        clocked = await world.do(ANA, "rhythm", times="01:30, 02:30, 20:00")
    found = {one["slot"]: one["opens"] for one in (await world.do(ANA, "syncs"))["today"]}
    assert f"{day}T{opens}:00.000Z" in found.values()
    assert clocked["next"]["opens"] == found["morning"]


async def test_people_attend_by_their_own_word(early: World) -> None:
    """Only who says so is expected, with an account on Telegram or without; saying it again writes nothing."""
    await refused("scope_denied", early.do(GROK, "attend", on=True))
    await refused("humans_only", early.operate("attend", on=True))
    await refused("invalid_argument", early.do(BO, "attend"))
    you = (await early.do(BO, "syncs"))["you"]
    assert (you["attend"], you["reminded"], you["expected"]) == ("", False, False)
    async with ticking(early) as ticks:
        on = await early.do(BO, "attend", on=True)
        assert (on["attend"], on["next"]["slot"]) == ("on", "morning")
        assert "no Telegram account" in on["says"]
        await early.do(BO, "attend", on=True)
        await moved(early, "10:31")
        await ticks()
        found = await early.do(BO, "syncs")
        assert (found["today"][0]["state"], found["today"][0]["missing"]) == ("overdue", [BO])
        assert (await early.do(GROK, "sync"))["overdue"] == [BO]
        await receipt(early, BO, notes="Reviewed two handoffs")
        (morning, *_) = (await early.do(BO, "syncs"))["today"]
        assert [(one["who"], one["late"], one["notes"]) for one in morning["in"]] == [
            (BO, True, "Reviewed two handoffs")
        ]
        assert (await early.do(BO, "syncs"))["you"]["checked_in"] == {"morning": "pass"}
        await early.do(BO, "attend", on=False)
        await moved(early, "14:31")
        await ticks()
        assert (await early.do(BO, "syncs"))["today"][1]["missing"] == []
    assert [one["summary"] for one in await log(early, BO, "attends")] == [
        f"{BO} takes part in the syncs",
        f"{BO} takes no part in the syncs",
    ]


async def test_who_leaves_is_expected_no_more(early: World) -> None:
    """A person without a role is not waited for, whatever they said before."""
    await early.do("human:cy", "attend", on=True)
    await moved(early, "09:05")
    assert (await early.do(ANA, "syncs"))["today"][0]["missing"] == ["human:cy"]
    await early.operate("human", name="cy", role="none")
    assert (await early.do(ANA, "syncs"))["today"][0]["missing"] == []


async def test_owners_with_an_account_are_reminded_until_they_say_no(early: World) -> None:
    """An owner who has said nothing is reminded on Telegram and expected nowhere; another is reminded who attends."""
    await pair(early, ANA)
    await pair(early, BO)
    you = (await early.do(ANA, "syncs"))["you"]
    assert (you["attend"], you["reminded"], you["expected"]) == ("", True, False)
    assert not (await early.do(BO, "syncs"))["you"]["reminded"]
    await early.do(ANA, "attend", on=False)
    assert "on Telegram" in (await early.do(BO, "attend", on=True))["says"]
    assert not (await early.do(ANA, "syncs"))["you"]["reminded"]
    assert (await early.do(BO, "syncs"))["you"]["reminded"]


async def test_the_syncs_of_a_day(early: World) -> None:
    """What is shown follows the day: ahead, open, overdue, late; in the grid, newest first, as it was accounted for."""
    day = await today(early)
    for who in (GROK, CODEX):
        await early.do(who, "note", where="job:x", kind="memo", summary="At it")
    async with ticking(early) as ticks:
        found = await early.do(ANA, "syncs")
        assert named(found) == {}.fromkeys(("morning", "midday", "closeout"), "ahead")
        assert (found["today"][0]["says"], found["next"]["slot"]) == ("opens at 09:00, in 2 h 59 min", "morning")
        assert found["leader"]["leads"]
        await moved(early, "09:30")
        await ticks()
        await receipt(early)
        found = await early.do(ANA, "syncs")
        (morning, *_) = found["today"]
        assert morning["says"] == f"morning of {day} is open: on time for 59 min more; 1 of 2 in."
        assert (morning["expected"], morning["missing"], morning["in"][0]["who"]) == (2, [CODEX], GROK)
        await moved(early, "10:31")
        await ticks()
        (morning, *_) = (await early.do(ANA, "syncs"))["today"]
        assert morning["says"].startswith(f"morning of {day} is overdue: {CODEX} is not in; over in 2 h 2")
        await receipt(early, CODEX)
        assert (await early.do(ANA, "syncs"))["today"][0]["state"] == "open"
        await moved(early, "13:00:01")
        await ticks()
        found = await early.do(ANA, "syncs", weeks=1)
        cell = found["grid"][0]["slots"]["morning"]
        assert (found["grid"][0]["day"], cell["state"], cell["came"], cell["late"]) == (day, "late", 2, 1)
        assert (await early.do(ANA, "view", what=cell["entry"]))["entry"]["kind"] == "accounted"
        await moved(early, "00:05", days=1)
        await ticks()
        found = await early.do(ANA, "syncs")
        slots = found["grid"][1]["slots"]
        assert (slots["midday"]["state"], slots["midday"]["missing"]) == ("missed", [CODEX, GROK])
        assert (slots["closeout"]["skipped"], found["digest"]["day"]) == ("down", day)
        assert [each["day"] for each in found["grid"]] == sorted((each["day"] for each in found["grid"]), reverse=True)
        assert {cell["state"] for row in found["grid"] for cell in row["slots"].values()} <= set(STATES)


async def test_a_quiet_day_is_told_of_once(early: World) -> None:
    """Where nobody is expected all day each window is recorded with that reason, and the Log is told so once a day."""
    day = await today(early)
    async with ticking(early) as ticks:
        for at in ("09:00:01", "13:00:01", "17:30:01"):
            await moved(early, at)
            await ticks()
        await moved(early, "00:00:01", days=1)
        await ticks()
        found = [one for id, one in (await occurrences(early)).items() if id.startswith(day)]
        assert [one.reason for one in found] == ["nobody_expected"] * 3
        assert [bool(one.accounted) for one in found] == [True, False, False]
        cells = (await early.do(ANA, "syncs"))["grid"][1]["slots"]
        assert [cell["says"][-20:] for cell in cells.values()] == ["nobody was expected."] * 3
        said = await log(early, f"channel:{early.space}", "accounted")
        assert [each["summary"] for each in said if day in each["summary"]] == [
            f"morning of {day} was skipped: nobody was expected."
        ]
        # The next day is another.
        for at in ("09:00:01", "13:00:01"):
            await moved(early, at)
            await ticks()
        assert len(await log(early, f"channel:{early.space}", "accounted")) == len(said) + 1


async def test_without_a_scheduler_it_is_said(early: World) -> None:
    """What is open is shown as it stands, and who is missing; what is over, that nobody has accounted for it."""
    await early.do(GROK, "note", where="job:x", kind="memo", summary="At it")
    await moved(early, "10:31")
    (morning, *_) = (await early.do(ANA, "syncs"))["today"]
    assert (morning["state"], morning["missing"]) == ("overdue", [GROK])
    await moved(early, "13:30")
    (morning, midday, _) = (await early.do(ANA, "syncs"))["today"]
    assert (morning["state"], midday["state"]) == ("unaccounted", "open")
    assert "no scheduler has accounted for it" in morning["says"]


async def test_everybody_is_expected_however_many(early: World) -> None:
    """More agents than are looked at together: each of them counts, when a window is looked at and when it is shown."""
    count = AGENTS + 20

    async def works(n: int) -> None:
        await early.agent(f"b{n:04}")
        await early.do(f"agent:b{n:04}", "note", where="job:x", kind="memo", summary="At it")

    await many(count, works)
    async with ticking(early) as ticks:
        await moved(early, "09:05")
        await receipt(early, f"agent:b{count - 1:04}")
        await moved(early, "10:31")
        await ticks()
        (morning, *_) = (await early.do(ANA, "syncs"))["today"]
        assert (morning["expected"], morning["came"], morning["missing_left_out"]) == (count, 1, count - 21)
        found = (await occurrences(early))[f"{await today(early)}:morning"]
        assert (found.state, found.expected, found.came) == ("overdue", count, 1)


async def test_the_syncs_are_bounded_and_only_read(early: World) -> None:
    """However many are in or missing, names are bounded and the rest is counted; and reading changes nothing."""
    names = [f"a{n:02}" for n in range(IN + 30)]
    for name in names:
        await early.agent(name)
        await early.do(f"agent:{name}", "note", where="job:x", kind="memo", summary="At it")
    await moved(early, "09:05")
    for name in names[: IN + 5]:
        await receipt(early, f"agent:{name}", notes="n" * 1000)
    before = await early.dump()
    found = await early.do(ANA, "syncs", weeks=8)
    (morning, *_) = found["today"]
    assert (len(morning["in"]), morning["left_out"], morning["expected"]) == (IN, 5, IN + 30)
    assert (len(morning["missing"]), morning["missing_left_out"]) == (20, 5)
    assert max(len(one["notes"]) for one in morning["in"]) < 230
    for bad in (0, 9, "x"):
        no = await refused("invalid_argument", early.do(ANA, "syncs", weeks=bad))
        assert no.facts["argument"] == "weeks"
    await refused("scope_denied", early.do(GROK, "syncs"))
    assert await early.operate("syncs")
    assert await early.dump() == before
    assert (await clock(early)).minute >= 5
