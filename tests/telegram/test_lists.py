"""What commands answer, from results as the door gives them."""

from typing import Any

import pytest

from bot import lists
from bot.handlers.commands import COMMANDS, HELP, joined
from bot.text import Text, units
from tests.telegram.test_cards import check, message_of

AT = "2026-11-30T10:48:02.123Z"
HOSTILE = "/unpair @x https://example.org \u202e" + "w" * 1000


def text_of(text: Text) -> str:
    """What is shown; it keeps all limits."""
    check(message_of(text))
    return text.text


def test_what_waits_is_counted_and_said_to_follow() -> None:
    """As far as it does: no more cards come at once than anybody reads."""
    found: dict[str, Any] = {"space": "fleet", "count": 30, "handed_count": 1, "others": [{}, {}]}
    said = text_of(lists.pending(found, offered=20))
    assert "30 asks and 1 handoff or seat wait for you. The 20 that are due first follow." in said
    assert "2 more asks wait for others to decide." in said
    assert "1 ask waits for you. The card follows." in text_of(lists.pending({"space": "a", "count": 1}, offered=1))
    assert "Nothing waits for you" in text_of(lists.pending({"space": "a", "count": 0}, offered=0))


def test_the_fleet_shows_who_needs_a_look_first() -> None:
    """As many as fit, with what they wrote in quotes."""
    rows = [{"id": f"agent:a{n}", "state": "blocked", "blocked": HOSTILE, "since": AT} for n in range(40)]
    said = text_of(lists.fleet({"space": "fleet", "principals": rows, "counts": {"blocked": 60}}))
    assert said.count("a1") > 1
    assert r"\u202e" in said
    assert "and 45 more in the console" in said
    assert "No agent" in text_of(lists.fleet({"space": "fleet", "principals": [], "counts": {}}))


def test_jobs_stand_by_stage() -> None:
    """What is done is a number."""
    job = {"job": "job:site", "title": HOSTILE, "assignee": "agent:grok", "blocked": "x"}
    stages = [{"stage": "in_progress", "count": 1, "jobs": [job]}, {"stage": "done", "count": 7, "jobs": [job]}]
    said = text_of(lists.board({"space": "fleet", "stages": [*stages, {"stage": "todo", "count": 0, "jobs": []}]}))
    assert "In progress 1\nsite " in said
    assert "grok, blocked" in said
    assert said.endswith("Done 7\n")
    assert "There is no job" in text_of(lists.board({"space": "fleet", "stages": []}))


def test_a_sync_names_who_is_overdue() -> None:
    """And how many are in."""
    found = {"space": "fleet", "says": "midday is open.", "fleet": {"expected": 3, "in": 1}, "overdue": ["agent:grok"]}
    said = text_of(lists.sync(found))
    assert "midday is open.\n1 of 3 expected are in.\nOverdue: grok" in said


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        ({"expected": 1, "in": 1, "others": 2}, "1 of 1 expected is in, and 2 who were not."),
        ({"expected": 2, "in": 0, "others": 1}, "0 of 2 expected are in, and 1 who was not."),
        ({"expected": 0, "in": 0, "others": 2}, "Nobody is expected, and 2 are in."),
        ({"expected": 0, "in": 0, "others": 1}, "Nobody is expected, and 1 is in."),
        ({"expected": 0, "in": 0}, "Nobody is expected, and nobody is in."),
    ],
)
def test_who_is_in_is_counted_whole(fleet: dict[str, int], said: str) -> None:
    """Those who are expected, and beside them whoever else is."""
    assert said in text_of(lists.sync({"space": "fleet", "says": "midday is open.", "fleet": fleet}))


def test_who_is_not_in_is_told_where_to_check_in() -> None:
    """Only while they can."""
    for own, is_told in (({"checked_in": False}, True), ({"checked_in": {"outcome": "pass"}}, False), ({}, False)):
        assert (lists.TO_CHECK_IN in text_of(lists.sync({"space": "fleet", "says": "x.", **own}))) == is_told


def test_a_simulated_space_is_said_to_be_one() -> None:
    """At the head of whatever is told of it; of a real one nothing is."""
    found: dict[str, Any] = {"space": "demo", "says": "x.", "on_call": False}
    shows = (
        lambda found: lists.pending(found, offered=0), lists.fleet, lists.board, lists.sync, lists.attends,
        lists.on_call, lists.snooze, lists.hours, lists.rights,
    )  # fmt: skip
    for show in shows:
        assert text_of(show({**found, "simulated": True})).startswith("demo (simulated)")
        assert "simulated" not in text_of(show(found))


def test_the_help_names_the_space_wherever_one_can_be_named() -> None:
    """And says that whoever turns syncs on is expected."""
    named = {line.split()[0] for line in HELP.splitlines() if "[SPACE]" in line}
    assert named == {"/pending", "/fleet", "/jobs", "/sync", "/whoami"}
    assert "/sync on [SPACE]" in HELP
    assert "you are expected" in HELP


def test_who_is_on_call_is_said_with_what_it_means() -> None:
    """Where nobody is, everybody is asked."""
    assert "so asks go to every approver" in text_of(lists.on_call({"space": "a", "on_call": False, "others": []}))
    assert "Also on call: bo" in text_of(lists.on_call({"space": "a", "on_call": True, "others": ["human:bo"]}))


def test_many_spaces_fit_into_a_message() -> None:
    """The rest is said to be there."""
    whole = joined([Text().bold(f"space{n}").line().add("x" * 300).line() for n in range(40)])
    assert units(whole.text) < 4000
    assert whole.text.endswith("more spaces: name one after the command.")


def test_commands_are_such_as_telegram_takes() -> None:
    """Names of small letters, descriptions without an end."""
    assert len(COMMANDS) == len({name for name, _ in COMMANDS}) <= 100
    for name, about in COMMANDS:
        assert name.isalpha()
        assert name.islower()
        assert 3 <= len(about) <= 256
