"""Cards as they are drawn: no two that differ look alike, and ordinary text of any script reads as it does anywhere."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bot import lists
from bot.text import clipped, exact, quoted
from bot.text import lines as lines_of
from tests.drawing import PAIRS, drawn
from tests.telegram.decoded import part
from tests.telegram.test_cards import ANA, all_pages, check, offered, view

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
HANDED: dict[str, Any] = {
    "kind": "item", "ref": "item:ci_x", "state": "open", "digest": "", "code": "", "risk": "", "allow": [],
    "to": [{"who": ANA, "chat": 1, "can": ["accept", "decline"], "silent": False, "wanted": True}],
}  # fmt: skip
ANSWERING = {"to": [{"who": ANA, "chat": 1, "can": ["answer", "reject"], "silent": False, "wanted": True}]}
ALIKE = [
    ("Transfer to \u05d0 10 20", "Transfer to 20 10 \u05d0"),
    ("Pay $\ufe0f100", "Pay $100"),
    ("Pay \u20ac\ufe0e5", "Pay \u20ac5"),
    ("x(\u05d1)\u05d0a", "x\u05d0(\u05d1)a"),
    ("Pay 1\u0335", "Pay 1"),
    ("e\u0301", "\u00e9"),
    ("\ufe8d", "\u0627"),
    ("a \u0661 \u0662 \u05d0", "a \u05d0 \u0662 \u0661"),
]
ORDINARY = [
    "Deploy to production?",
    "\u05dc\u05e4\u05e8\u05d5\u05e1 \u05dc\u05d9\u05d9\u05e6\u05d5\u05e8?",
    "Deploy \u05e9\u05dc\u05d5\u05dd, then tell ana",
    "\u0646\u0634\u0631 \u0627\u0644\u0625\u0635\u062f\u0627\u0631 \u0627\u0644\u062c\u062f\u064a\u062f\u061f",
    "\u0643\u064e\u062a\u064e\u0628\u064e",
    "\u90e8\u7f72\u5230\u751f\u4ea7\u73af\u5883\uff1f 2 \u53f0",
    "\u0928\u092f\u093e \u0938\u0902\u0938\u094d\u0915\u0930\u0923",
    "Ti\u1ebfng Vi\u1ec7t, \u1eb9\u0301",
    "\u304c\u3093\u3070\u308b \U0001f680 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea",
]


def picture(shown: dict[str, Any]) -> list[tuple[str, ...]]:
    """All pages of a card as they are drawn, with what stands on their buttons."""
    pages = all_pages(shown)
    return [drawn(text) for page in pages for text in (page.text, *(b["text"] for row in page.rows for b in row))]


def differ(one: Sequence[tuple[str, ...]], other: Sequence[tuple[str, ...]]) -> bool:
    """Whether two pictures differ in each of the programs."""
    return all(a != b for a, b in zip(zip(*one, strict=True), zip(*other, strict=True), strict=True))


@SLOW
@given(PAIRS)
def test_no_two_cards_that_differ_are_drawn_alike(pair: tuple[str, str]) -> None:
    """Whether they differ in the summary of an ask, in that of a handoff, in the payload or in what one may answer."""
    one, other = pair
    if one == other:
        return
    ways: list[Callable[[str], dict[str, Any]]] = [
        lambda text: {"summary": text},
        lambda text: {"summary": text, **HANDED},
        lambda text: {"payload": {"to": text, text: [text, 1]}},
        lambda text: {"options": [text, "no"], "allow": ["answer", "reject"], **ANSWERING},
    ]
    for named in ways:
        assert differ(picture(view(**named(one))), picture(view(**named(other))))


@SLOW
@given(PAIRS)
def test_no_two_texts_that_differ_are_drawn_alike(pair: tuple[str, str]) -> None:
    """Nor on one line, nor on several, nor where nothing stands below; whatever comes after them on their line."""
    one, other = pair
    if one == other:
        return
    ways: list[Callable[[str], str]] = [
        exact,
        lambda text: lines_of(text, "  "),
        lambda text: f"a: {quoted(text, 200)}, since 5",
    ]
    for shown in ways:
        assert differ([drawn(shown(one))], [drawn(shown(other))])
    said = [clipped(f"ana said {quoted(text, 200)}.", 400) for text in pair]
    assert differ([drawn(said[0])], [drawn(said[1])])


@pytest.mark.parametrize("pair", ALIKE, ids=range(len(ALIKE)))
@pytest.mark.parametrize("kind", [{}, HANDED], ids=["ask", "handoff"])
def test_what_could_be_another_stands_below_exactly(pair: tuple[str, str], kind: dict[str, Any]) -> None:
    """The first line says it as one reads it; approving and accepting are offered with the exact words only."""
    cards = [all_pages(view(summary=summary, **kind)) for summary in pair]
    assert differ(*([drawn(page.text) for page in pages] for pages in cards))
    below = [part(pages, "Summary") for pages in cards]
    assert any(below) or differ(*([drawn(pages[0].text.split("\n")[0])] for pages in cards))
    for summary, pages, whole in zip(pair, cards, below, strict=True):
        assert whole in (None, exact(summary))
        for page in pages:
            check(page)
        assert ("accept" if kind else "approve") in offered(pages[-1])


@pytest.mark.parametrize("where", ["first", "last"])
def test_yes_is_offered_only_with_the_exact_words(where: str) -> None:
    """A summary of which the exact words take more pages than one can be accepted on the last of them."""
    pages = all_pages(view(summary="\u05d0 10 20 " * 500, **HANDED))
    assert len(pages) > 1
    page = pages[0 if where == "first" else -1]
    assert ("accept" in offered(page)) == (where == "last")
    assert "decline" in offered(page)
    assert part(pages, "Summary") == exact("\u05d0 10 20 " * 500)


@pytest.mark.parametrize("summary", ORDINARY)
def test_ordinary_text_is_read_once_and_as_it_is(summary: str) -> None:
    """In any script: nothing of it is an escape, and nothing stands twice."""
    (page,) = all_pages(view(summary=summary))
    assert page.text.split("\n")[0] == f'codex asks: "{summary}"'
    assert part([page], "Summary") is None
    assert quoted(summary, 200) == f'"{summary}"'


def test_lists_tell_apart_what_could_be_another() -> None:
    """The titles of jobs, with whoever they are assigned to, whose name may begin with a digit."""
    looks = []
    for title, name in itertools.product(ALIKE[0], ("4ever", "ana")):
        job = {"job": "job:a", "title": title, "assignee": f"agent:{name}"}
        board = {"space": "fleet", "stages": [{"stage": "todo", "count": 1, "jobs": [job]}]}
        looks.append(drawn(lists.board(board).text))
        assert all(f"with {name}" in look for look in looks[-1])
    assert all(a != b for one, other in itertools.combinations(looks, 2) for a, b in zip(one, other, strict=True))


def test_a_button_begins_with_its_number() -> None:
    """An answer that could be drawn as another one is told apart on its button too."""
    (page,) = all_pages(view(options=list(ALIKE[0]), allow=["answer", "reject"], **ANSWERING))
    labels = [row[0]["text"] for row in page.rows[:2]]
    assert labels == ["1. Transfer to \u05d0 \\l10 20", "2. Transfer to 20 10 \u05d0"]
    assert part([page], "Answers") == "\n".join(f"{n}. {exact(o)}" for n, o in enumerate(ALIKE[0], 1))
