"""`sync` and `scheduler explain`: how the day's syncs stand, when they are, and what will run when."""

import re
import secrets
import time
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store.domain.entry import sequence
from store.engine.keys import Keys
from store.ledger import chain

from .admin import as_admin, operated
from .running import Command, Up, until, up
from .terminal import COLUMNS, terminal

NEW_YORK = ZoneInfo("America/New_York")


def changes_on(year: int) -> date:
    """The second Sunday of March, when clocks there are set forward at 2:00."""
    return next(day for day in (date(year, 3, n) for n in range(8, 15)) if day.weekday() == 6)


@pytest.fixture
def space(operator: Command) -> str:
    """A new space in New York, simulated so that its clock can be moved."""
    name = f"t{secrets.token_hex(4)}"
    operated(operator.home, "space", name, simulated=True, zone="America/New_York")
    return name


async def at(operator: Command, space: str, wall: str) -> None:
    """Move the space's clock on to a moment of its wall clocks."""
    now = datetime.fromisoformat(operated(operator.home, "connection", space)["clock"])
    to = datetime.fromisoformat(wall).replace(tzinfo=NEW_YORK)
    assert to > now
    await as_admin(operator.home, "INCRBY", Keys(space).clock, (to - now) // timedelta(milliseconds=1))


def told(operator: Command, *words: str) -> str:
    """What a command that must do it said, without any style."""
    done = operator.run(*words)
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    return done.out


def refusal(operator: Command, *words: str, code: int = 1) -> str:
    """What a command that did not do it said, on stderr alone."""
    done = operator.run(*words)
    assert (done.code, done.out) == (code, ""), done
    return done.err


def test_times_days_and_zone_are_set(operator: Command, space: str) -> None:
    """Each is set by itself and said back with the window that opens next; what is so already changes nothing."""
    here = ("--space", space)
    out = told(operator, "sync", "times", "8:00", "12:00", "16:15", *here)
    assert "08:00, 12:00, 16:15, every day, in America/New_York" in out
    assert "Next: " in out
    assert operator.json("sync", "days", "mon-fri", *here)["days"] == ["mon", "tue", "wed", "thu", "fri"]
    assert "mon-fri, in Europe/Berlin" in told(operator, "sync", "zone", "Europe/Berlin", *here)
    assert "Nothing changed" in told(operator, "sync", "zone", "Europe/Berlin", *here)
    assert "mon, wed, fri" in told(operator, "sync", "days", "mon", "wed", "fri", *here)


def test_a_wrong_value_is_refused_with_what_it_takes(operator: Command, space: str) -> None:
    """Each refusal names what is wrong with it and how it is written."""
    here = ("--space", space)
    assert "like 09:00, 13:00, 17:30" in refusal(operator, "sync", "times", "09:00", "13:00", *here)
    assert "mon-fri" in refusal(operator, "sync", "days", "weekdays", *here)
    assert "Europe/Berlin" in refusal(operator, "sync", "zone", "Berlin", *here)
    assert "2026-12-25" in refusal(operator, "sync", "holiday", "Christmas", "Christmas", *here)
    assert "takes a reason" in refusal(operator, "sync", "holiday", "2099-12-25", *here)
    assert "no holiday here" in refusal(operator, "sync", "holiday", "2099-12-25", "--remove", *here)
    assert "logmem space" in refusal(operator, "sync", "status", "--space", "nowhere")
    refusal(operator, "sync", "status", "--weeks", "9", *here, code=2)
    for words in (("zone", ""), ("days", " "), ("times", "", "", ""), ("holiday", ""), ("holiday", "--remove")):
        assert "rhythm" not in refusal(operator, "sync", *words, *here, code=2)
    refusal(operator, "sync", "holiday", "2099-12-25", "Christmas", "--remove", *here, code=2)


def test_holidays(operator: Command, space: str) -> None:
    """A holiday is added with its reason, listed, and taken out again."""
    here = ("--space", space)
    assert "To add one" in told(operator, "sync", "holiday", *here)
    assert "2099-12-25 Christmas" in told(operator, "sync", "holiday", "2099-12-25", "Christmas", *here)
    assert operator.json("sync", "holiday", *here)["holidays"] == [{"day": "2099-12-25", "reason": "Christmas"}]
    assert "No syncs on 2099-12-25: Christmas" in told(operator, "sync", "status", *here)
    gone = told(operator, "sync", "holiday", "2099-12-25", "--remove", *here)
    assert "2099-12-25 is no holiday any more." in gone
    operated(operator.home, "rhythm", space, holiday="2099-12-25", reason="\x1b[2J\u202e x")
    assert r'No syncs on 2099-12-25: "\u001b[2J\u202e x"' in told(operator, "sync", "status", *here)
    told(operator, "sync", "holiday", "2099-12-25", "--remove", *here)
    assert operator.json("sync", "holiday", *here)["holidays"] == []


def test_many_holidays(operator: Command, space: str) -> None:
    """All are listed; who adds one sees it and how many there are, and the status counts those that it leaves out."""
    here, days = ("--space", space), [f"2099-01-{n:02}" for n in range(1, 16)]
    for day in days:
        operated(operator.home, "rhythm", space, holiday=day, reason="Founders")
    made = told(operator, "sync", "holiday", "2099-03-01", "moving", "house", *here)
    assert "2099-03-01 moving house\n16 holidays ahead: logmem sync holiday\n" in made
    listed = operator.json("sync", "holiday", *here)["holidays"]
    assert [each["day"] for each in listed] == [*days, "2099-03-01"]
    assert "2099-03-01  moving house" in told(operator, "sync", "holiday", *here)
    assert "and on 13 more days: logmem sync holiday" in told(operator, "sync", "status", *here)


async def test_status_shows_the_day(operator: Command, space: str, server: Up) -> None:
    """Today's windows with who is in, what was said that needs somebody, who is overdue; below it the days before."""
    day = datetime.now(NEW_YORK).date() + timedelta(days=2)
    await at(operator, space, f"{day}T08:00")
    tokens = {name: operated(operator.home, "mint", space, name=name)["token"] for name in ("grok", "codex")}
    for token in tokens.values():
        server.post(token, "note", where="job:x", kind="memo", summary="At it")
    await at(operator, space, f"{day}T09:05")
    said = {"receipt": True, "outcome": "blocked", "notes": "No key for\nthe registry"}
    assert server.post(tokens["grok"], "sync", **said).status_code == 200
    assert server.post(tokens["codex"], "status", doing="At it").status_code == 200
    out = told(operator, "sync", "status", "--space", space)
    assert "is open: on time for " in out
    assert "not in: agent:codex" in out
    await at(operator, space, f"{day}T10:31")

    def found() -> dict[str, Any]:
        return dict(operator.json("sync", "status", "--space", space))

    until(lambda: found()["grid"][0]["slots"]["morning"].get("entry") is not None, "nobody was told")
    out = told(operator, "sync", "status", "--space", space)
    assert "09:00  morning   is overdue: agent:codex is not in; over in 2 h 2" in out
    assert "in: agent:grok" in out
    assert r'agent:grok blocked: "No key for\nthe registry"' in out
    assert f"{day:%a} {day} overdue 1/2".lower() in out
    assert "skipped: down" in out
    assert found()["leader"]["leads"]


async def test_what_was_cut_of_notes_is_counted_out_of_their_reach(operator: Command, space: str, server: Up) -> None:
    """The count stands after the quotes, whatever the notes say themselves; what was redacted is in none."""
    day = datetime.now(NEW_YORK).date() + timedelta(days=2)
    await at(operator, space, f"{day}T09:05")
    long, forged = "W" * 312, "All done… (+112 characters)"
    for name, notes in {"grok": long, "codex": forged}.items():
        token = operated(operator.home, "mint", space, name=name)["token"]
        assert server.post(token, "sync", receipt=True, outcome="blocked", notes=notes).status_code == 200
    found = operator.json("sync", "status", "--space", space)["today"][0]["in"]
    of = {each["who"]: each for each in found}
    assert (of["agent:grok"]["notes"], of["agent:grok"]["notes_left"]) == (long[:200], 112)
    assert "notes_left" not in of["agent:codex"]
    out = told(operator, "sync", "status", "--space", space)
    assert f'agent:grok blocked: "{long[:200]}"… (+112 characters)' in out
    assert f'agent:codex blocked: "{forged}"\n' in out
    seq = sequence(of["agent:codex"]["entry"])
    segment = Keys(space).segment(chain.segment(seq))
    kept = chain.record(await as_admin(operator.home, "HGET", segment, seq))
    await as_admin(operator.home, "HSET", segment, seq, f"{kept.id} {kept.leaf} {kept.link} - ")
    assert "agent:codex blocked: [redacted]\n" in told(operator, "sync", "status", "--space", space)


def test_status_at_a_terminal(operator: Command, space: str) -> None:
    """At a terminal there are colours, and no line is wider than it is, but for a path that is."""
    operated(operator.home, "rhythm", space, holiday="2099-12-25", reason="A long reason for a holiday " * 2)
    for words in (("sync", "status"), ("scheduler", "explain"), ("doctor",)):
        where = () if words == ("doctor",) else ("--space", space)
        with terminal(operator.home, *words, *where) as screen:
            screen.read_all()
        assert "\x1b[" in screen.raw
        wide = [line for line in screen.text.splitlines() if len(line) > COLUMNS]
        assert not [line for line in wide if " " in line.strip()], screen.text


async def test_explain_says_what_runs_when(operator: Command, space: str) -> None:
    """The windows ahead in both clocks with what a change of the clocks does to them; each job; who leads."""
    day = changes_on(datetime.now(NEW_YORK).year + 1)
    await at(operator, space, f"{day - timedelta(days=1)}T20:00")
    operated(operator.home, "rhythm", space, times="01:30, 02:30, 17:30")
    found = operator.json("scheduler", "explain", "--space", space, "--hours", "30")
    moved = next(one for one in found["windows"] if one["slot"] == "midday" and one["day"] == day.isoformat())
    assert moved["note"] == "02:30 is skipped by the clocks that day: it opens at 03:00."
    assert [turn["local"][11:] for turn in moved["turns"]] == ["03:00", "04:30", "17:30"]
    assert moved["turns"][0]["at"] == f"{day}T07:00:00.000Z"
    assert found["leader"]["leads"]
    jobs = {one["job"]: one for one in found["jobs"]}
    assert jobs["occurrences"]["at"]
    assert jobs["remind"]["at"] is None
    out = told(operator, "scheduler", "explain", "--space", space, "--hours", "30")
    assert "02:30 is skipped by the clocks that day: it opens at 03:00." in out
    assert "07:00-21:30 UTC" in out
    assert "A scheduler leads: epoch" in out


def test_explain_says_when_the_day_in_utc_is_another(operator: Command, space: str) -> None:
    """A time in UTC has with it by how many days it is ahead of the day on the wall, of windows and of jobs."""
    operated(operator.home, "rhythm", space, zone="Pacific/Kiritimati", times="09:00, 13:00, 17:30")  # always UTC+14
    before = operator.json("scheduler", "explain", "--space", space)["jobs"]
    out = told(operator, "scheduler", "explain", "--space", space, "--hours", "60")
    assert re.search(r"morning  09:00  late 10:30  over 13:00  \(-1d\) 19:00-23:00 UTC", out)
    assert re.search(r"midday   13:00  late 14:30  over 17:30  23:00\(-1d\)-03:30 UTC", out)
    assert re.search(r"closeout 17:30  late 19:00  over 24:00  03:30-10:00 UTC", out)
    jobs = operator.json("scheduler", "explain", "--space", space)["jobs"]
    for job in (each for each in jobs if each in before and each["at"] and not each["due"]):  # the scheduler goes on
        mark = r"\(-1d\) " if job["at"][:10] != job["local"][:10] else ""
        assert re.search(f"{job['local']} +{mark}{job['at'][11:16]} UTC", out)


@pytest.mark.parametrize(("zone", "twice"), [("Etc/UTC", False), ("UTC", False), ("Africa/Abidjan", True)])
def test_explain_shows_a_clock_in_utc_once(operator: Command, space: str, zone: str, *, twice: bool) -> None:
    """Where the space's zone is UTC by one of its names; one that only agrees with it is another."""
    operated(operator.home, "rhythm", space, zone=zone)
    out = told(operator, "scheduler", "explain", "--space", space)
    assert re.search(rf"^Windows of the next 48 h, in {zone}{' and UTC' if twice else ''}$", out, re.M)
    assert bool(re.search(r"\d UTC", out)) is twice
    assert bool(re.search(r"over 24:00$", out, re.M)) is not twice


def test_explain_takes_a_space_as_other_commands_do(operator: Command, space: str) -> None:
    """By its id too; what is none is refused in the words of the others, and nothing of it acts on a terminal."""
    assert operator.json("scheduler", "explain", "--space", f"space:{space}")["space"] == space
    for name in ("nowhere", "A B", "x\x1b[31mred"):
        said = refusal(operator, "scheduler", "explain", "--space", name)
        assert said == refusal(operator, "sync", "status", "--space", name)
        assert "\x1b" not in said


def test_who_has_stopped_was_heard_of_just_now(command: Command) -> None:
    """After a clean end too, all who say that no scheduler runs say since when."""
    began = time.time()
    with up(command) as served:
        until(lambda: bool(command.json("sync", "status")["leader"]["leads"]), "no scheduler leads")
        assert served.end() == 0
    for words in (("sync", "status"), ("scheduler", "explain")):
        leader = command.json(*words)["leader"]
        assert not leader["leads"]
        assert leader["for_s"] <= time.time() - began
    assert re.search(r"The last one was heard of (just now|\d+ (s|min) ago)", command.run("doctor").out)


def test_without_a_scheduler_it_is_said(command: Command) -> None:
    """Where none runs, both say so and how to start one; where there is nothing at all, what to make first."""
    assert "logmem up" in refusal(command, "sync", "status")
    command.json("space", "quiet")
    for words in (("sync", "status"), ("scheduler", "explain")):
        assert "No scheduler runs" in told(command, *words)
        assert not command.json(*words)["leader"]["leads"]
