"""The message of a day, drawn from a view: its lines, its buttons, and what agents wrote in it."""

from typing import Any

import pytest

from bot.buttons import read
from bot.cards import layout_of, render
from bot.plan import recipients
from store.domain.copy import Copy

TOKEN = "AbCdEfGhIjKl"
COPY = Copy(token=TOKEN, ref="day:2026-11-30", to="human:ana", chat=7)
SLOTS = [
    {"slot": "morning", "state": "held", "says": "held: all 2 were in on time"},
    {"slot": "midday", "state": "open", "says": "open, on time until 14:30; one is in"},
    {"slot": "closeout", "state": "ahead", "says": "opens at 17:30"},
]
MINE = {
    "who": "human:ana", "chat": 7, "can": ["show", "all_good", "attention", "stop"], "silent": True, "wanted": True,
    "gets": True, "lost": False, "push": 0, "yours": {}, "waiting": [], "left_out": 0,
    "or_more": False, "closing": "",
}  # fmt: skip
VIEW = {
    "ref": "day:2026-11-30", "kind": "sync", "trail": "day:2026-11-30", "space": "launch", "simulated": False,
    "state": "open", "open": True, "digest": "", "day": "2026-11-30", "zone": "America/New_York",
    "says": "midday is open, on time until 14:30; one is in.", "slots": SLOTS, "slot": "midday", "overdue": [],
    "overdue_left_out": 0, "blocked": [], "blocked_left_out": 0,
    "console": [], "groups": [], "to": [MINE], "look_at": 0, "now": 0,
}  # fmt: skip
ASK = {"what": "ask", "trail": "ask_1", "by": "agent:grok", "says": "Shall I deploy?"}
NASTY = 'x" /approve ab12cd <b>https://evil.example @ana \n\u202emoc'


def view(mine: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The view, but for this."""
    return {**VIEW, "to": [{**MINE, **(mine or {})}], **more}


def lines(of: dict[str, Any], **copy: Any) -> list[str]:
    """What it says to ana."""
    return render(of, "human:ana", Copy(**{**vars(COPY), **copy})).text.split("\n")


def carried(of: dict[str, Any], **copy: Any) -> list[tuple[str, int]]:
    """Verb and number of each button."""
    rows = render(of, "human:ana", Copy(**{**vars(COPY), **copy})).rows
    return [read(button["callback_data"])[:2] for row in rows for button in row]


def test_a_quiet_day() -> None:
    """One page, the windows in order, and the window that is open on its buttons."""
    assert lines(VIEW) == [
        "Syncs of Mon 30 Nov: midday is open, on time until 14:30; one is in.",
        "Morning held: all 2 were in on time",
        "Midday open, on time until 14:30; one is in",
        "Closeout opens at 17:30",
        "Space: launch, times in America/New_York",
    ]
    assert carried(VIEW) == [("good", 1), ("attention", 1), ("show", -1), ("stop", -1)]
    assert layout_of(VIEW, "human:ana") == (1, "")


HEADS = [
    ({"waiting": [ASK]}, {}, "1 thing waits for you."),
    ({"waiting": [ASK], "left_out": 3}, {}, "4 things wait for you."),
    ({"waiting": [ASK], "left_out": 19, "or_more": True}, {}, "at least 20 things wait for you."),
    ({}, {"blocked": [{"who": "agent:grok", "outcome": "blocked", "why": ""}]}, "grok is blocked."),
    ({}, {"blocked": [{"who": "agent:grok", "outcome": "attention", "why": ""}]}, "grok needs attention."),
    ({}, {"blocked": [{"who": "agent:grok", "outcome": "blocked", "why": ""}], "blocked_left_out": 1},
     "2 are blocked or need attention."),
    ({"waiting": [ASK]}, {"blocked": [{"who": "agent:grok", "outcome": "blocked", "why": ""}]},
     "1 thing waits for you, grok is blocked."),
    ({}, {"blocked": [{"who": "human:ana", "outcome": "attention", "why": ""}]}, VIEW["says"]),
    ({}, {"open": False}, "These syncs are over."),
]  # fmt: skip


@pytest.mark.parametrize(("mine", "more", "head"), HEADS)
def test_the_first_line_says_why_it_rings(mine: dict[str, Any], more: dict[str, Any], head: str) -> None:
    """What waits and who is in trouble go first; what one said oneself is no news."""
    assert lines(view(mine, **more))[0] == f"Syncs of Mon 30 Nov: {head}"


def test_what_waits_and_who_is_in_trouble() -> None:
    """By whom and what, as much as is shown and how much more; texts that were taken away stay away."""
    waiting = [
        ASK,
        {**ASK, "what": "handoff", "says": "Take it"},
        {**ASK, "what": "seat", "says": "Which?"},
        {**ASK, "says": ""},
    ]
    blocked = [
        {"who": "agent:codex", "outcome": "blocked", "why": "No access"},
        {"who": "human:bo", "outcome": "attention", "why": ""},
    ]
    assert lines(view({"waiting": waiting, "left_out": 2}, blocked=blocked, blocked_left_out=1))[5:] == [
        "",
        "Waits for you",
        'grok asks: "Shall I deploy?"',
        'grok hands over: "Take it"',
        'grok asks you in a huddle: "Which?"',
        "grok asks: [redacted]",
        "and 2 more: /pending",
        "",
        "In the fleet",
        'codex is blocked: "No access"',
        "bo needs attention",
        "and 1 more: /fleet",
    ]


def test_what_was_not_counted_to_its_end_is_at_least_that() -> None:
    """What somebody has more of than is looked at."""
    assert lines(view({"waiting": [ASK], "left_out": 19, "or_more": True}))[-1] == "and at least 19 more: /pending"


def test_what_agents_wrote_acts_nowhere() -> None:
    """It stands in code, escaped, and is cut."""
    blocked = [{"who": "agent:codex", "outcome": "blocked", "why": NASTY + "y" * 300}]
    message = render(view({"waiting": [{**ASK, "says": NASTY}]}, blocked=blocked), "human:ana", COPY)
    assert "\u202e" not in message.text
    wide = message.text.encode("utf-16-le")
    codes = [
        wide[2 * e["offset"] : 2 * (e["offset"] + e["length"])].decode("utf-16-le")
        for e in message.entities if e["type"] == "code"
    ]  # fmt: skip
    quoted = [code for code in codes if "evil" in code]
    assert len(quoted) == 2
    rest = message.text
    for code in quoted:
        rest = rest.replace(code, "")
    assert "evil" not in rest
    assert all(len(code) < 120 for code in codes)


@pytest.mark.parametrize(
    ("mine", "more", "copy", "expected"),
    [
        ({"can": ["show", "stop"], "yours": {"midday": "pass"}}, {}, {}, [("show", -1), ("stop", -1)]),
        ({}, {"slot": ""}, {}, [("show", -1), ("stop", -1)]),
        ({}, {"slot": "closeout"}, {}, [("good", 2), ("attention", 2), ("show", -1), ("stop", -1)]),
        ({"can": [], "wanted": False, "gets": False}, {}, {}, []),
        ({}, {}, {"live": False}, []),
        ({}, {"open": False}, {}, []),
    ],
)
def test_its_buttons(
    mine: dict[str, Any], more: dict[str, Any], copy: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    """What somebody can do, on the newest message of the day, until it is over."""
    assert carried(view(mine, **more), **copy) == expected


def test_its_last_lines() -> None:
    """Where the newer one is, and no more; how to have them again; how one checked in; the digest at the end."""
    for now in (VIEW, view({"closing": "2026-11-30: 12 entries."}, open=False)):
        assert lines(now, live=False) == ["Syncs of Mon 30 Nov: there is a newer message of this day below."]
    assert lines(view({"gets": False, "can": []}))[-1] == (
        "You get no sync messages. To turn them on, and be expected: /sync on launch"
    )
    assert lines(view({"yours": {"midday": "pass", "morning": "attention"}}))[-1] == (
        "Your check-ins: morning attention, midday pass."
    )
    assert lines(view({"closing": "2026-11-30: 12 entries."}, open=False))[-2:] == [
        "The day",
        "2026-11-30: 12 entries.",
    ]
    assert lines(view(open=False, simulated=True))[1] == "Simulated space"


def test_it_fits_into_one_message() -> None:
    """However long the texts are."""
    long = "\u202e" * 5000
    waiting = [{**ASK, "says": long}] * 5
    blocked = [{"who": "agent:" + "a" * 60, "outcome": "blocked", "why": long}] * 5
    slots = [{**slot, "says": long} for slot in SLOTS]
    message = render(view({"waiting": waiting, "left_out": 9}, blocked=blocked, slots=slots), "human:ana", COPY)
    assert len(message.text.encode("utf-16-le")) // 2 < 4096


def test_somebody_elses_part_is_nobody_elses() -> None:
    """A person rings as often as the door says of them, whatever it says of others."""
    bo = {**MINE, "who": "human:bo", "chat": 8, "push": 2, "silent": False}
    found = recipients({**VIEW, "to": [MINE, bo]})
    assert {who: (to.push, to.silent) for who, to in found.items()} == {"human:ana": (0, True), "human:bo": (2, False)}


def test_what_its_buttons_carry_is_short() -> None:
    """The Bot API takes 64 bytes."""
    rows = render(VIEW, "human:ana", COPY).rows
    assert all(len(button["callback_data"].encode()) <= 64 for row in rows for button in row)
