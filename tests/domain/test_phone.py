"""What the store says, as people on a phone are told it: nothing of programs, and what is quoted as it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.errors import STATUS, Refused
from store.domain.phone import NOT_NOW, for_people, says
from store.domain.text import quoted

PROGRAMS = re.compile(r"logmem_|\bheader\b|\bargument\b|X-LogMem|human:|agent:|system:|role:")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("human:bo approved this just now on Telegram.", "bo approved this just now on Telegram."),
        (
            'The deadline passed and nobody had decided. Nothing changed. Ask again: logmem_ask {again: "ask_x"}',
            "The deadline passed and nobody had decided. Nothing changed.",
        ),
        (
            "This ask is for role:approver; human:bo is none of them now. Nothing changed.",
            "This ask is for every approver; bo is none of them now. Nothing changed.",
        ),
        ("It is in job:release, by agent:grok.", "It is in job:release, by grok."),
        ('bo answered "human:ana. Use logmem_ask {x}". Nothing changed.',) * 2,
        ('It ends so: "\\\\". See "human:x" logmem_ask.', 'It ends so: "\\\\".'),
        ("There is no such space. Make it: logmem space x", "There is no such space."),
        ("logmem_ask {again}", ""),
    ],
)
def test_a_sentence_for_people(said: str, told: str) -> None:
    """Calls and commands go with their sentence, kinds of names go, quotes stay."""
    assert for_people(said) == told


@given(st.text(max_size=200))
def test_what_somebody_wrote_is_told_as_it_is(text: str) -> None:
    """Whatever stands in quotes is in what is told, and hides no sentence beside it."""
    line = quoted(text, 400)
    told = for_people(f"human:bo said {line}. Nothing changed. Then: logmem_view {{what}}")
    assert told == f"bo said {line}. Nothing changed."


@pytest.mark.parametrize("code", STATUS)
def test_every_refusal_has_something_to_say(code: str) -> None:
    """Also one that speaks to programs alone."""
    told = says(Refused(code, "Say it in the argument space, or header X-LogMem-Space."))
    assert told
    assert not PROGRAMS.search(told)
    assert says(Refused("busy", "logmem_view {what}")) == NOT_NOW


def test_who_may_enter_no_space_is_told_that() -> None:
    """And who may enter several, which; who is nobody, how to become somebody; a wrong code, how many are left."""
    assert "no space now" in says(Refused("scope_undeclared", "x", spaces=[]))
    assert says(Refused("scope_undeclared", "x", spaces=["a", "b"])).endswith("a, b.")
    assert "/start CODE" in says(Refused("unauthenticated", "x"))
    assert says(Refused("unauthenticated", "2 more tries are left.", tries_left=2)) == "2 more tries are left."


def test_a_sentence_about_oneself() -> None:
    """Whoever is told it is "you", and nobody whose name only begins so; what is quoted stays."""
    for said, told in (
        ("human:ana approved this just now.", "You approved this just now."),
        ("Nothing changed. human:ana is no approver now.", "Nothing changed. You are no approver now."),
        (
            "This is for every owner; human:ana is none of them now.",
            "This is for every owner; you are none of them now.",
        ),
        ("This is for human:bo to confirm; you are human:ana.", "This is for bo to confirm; you are ana."),
        (
            "Approved by human:ana. human:ana-mary and human:ana.b were asked.",
            "Approved by you. ana-mary and ana.b were asked.",
        ),
        ('human:ana said "human:ana is here".', 'You said "human:ana is here".'),
        ("human:ana answers for the key.", "You answer for the key."),
    ):
        assert for_people(said, me="human:ana") == told
    assert for_people("human:ana approved this.") == "ana approved this."
