"""`sync` and `scheduler explain`: how the day's syncs stand, when they are, and what will run when."""

import secrets
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store.engine.keys import Keys

from .admin import as_admin, operated
from .running import Command, Up, until
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


def test_holidays(operator: Command, space: str) -> None:
    """A holiday is added with its reason, listed, and taken out again."""
    here = ("--space", space)
    assert "To add one" in told(operator, "sync", "holiday", *here)
    assert "2099-12-25 Christmas" in told(operator, "sync", "holiday", "2099-12-25", "Christmas", *here)
    assert operator.json("sync", "holiday", *here)["holidays"] == [{"day": "2099-12-25", "reason": "Christmas"}]
    assert "No syncs on 2099-12-25: Christmas" in told(operator, "sync", "status", *here)
    told(operator, "sync", "holiday", "2099-12-25", "--remove", *here)
    operated(operator.home, "rhythm", space, holiday="2099-12-25", reason="\x1b[2J\u202e x")
    assert r'No syncs on 2099-12-25: "\u001b[2J\u202e x"' in told(operator, "sync", "status", *here)
    told(operator, "sync", "holiday", "2099-12-25", "--remove", *here)
    assert operator.json("sync", "holiday", *here)["holidays"] == []


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


def test_status_at_a_terminal(operator: Command, space: str) -> None:
    """At a terminal there are colours, and no line is wider than it is."""
    operated(operator.home, "rhythm", space, holiday="2099-12-25", reason="A long reason for a holiday " * 2)
    for words in (("sync", "status"), ("scheduler", "explain"), ("doctor",)):
        where = () if words == ("doctor",) else ("--space", space)
        with terminal(operator.home, *words, *where) as screen:
            screen.read_all()
        assert "\x1b[" in screen.raw
        assert max(map(len, screen.text.splitlines())) <= COLUMNS, screen.text


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


def test_without_a_scheduler_it_is_said(command: Command) -> None:
    """Where none runs, both say so and how to start one; where there is nothing at all, what to make first."""
    assert "logmem up" in refusal(command, "sync", "status")
    command.json("space", "quiet")
    for words in (("sync", "status"), ("scheduler", "explain")):
        assert "No scheduler runs" in told(command, *words)
        assert not command.json(*words)["leader"]["leads"]
