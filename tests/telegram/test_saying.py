"""The store's sentences, as people on a phone are to read them."""

import pytest

from bot.saying import NOWHERE, STRANGER, is_idle, refusal, sentence
from store.domain.errors import Refused

SENTENCES = (
    ("human:ana approved this. Nothing changed.", "ana approved this. Nothing changed."),
    ("This is for human:ana.", "This is for ana."),
    ("It is for role:owner; agent:grok is none of them now.", "It is for owners; grok is none of them now."),
    ("You may not. Ask with logmem_follow {what}.", "You may not."),
    ("Say which: argument space, or header X-LogMem-Space. Nothing was done.", "Nothing was done."),
    ("Due at 2026-11-30T10:48:02.123Z.", "Due at 30 Nov 2026, 10:48 UTC."),
    ('"human:ana. Use logmem_ask \\" now" of job:x.', '"human:ana. Use logmem_ask \\" now" of job:x.'),
    ('"one" and "two\0" stay.', '"one" and "two\0" stay.'),
)  # fmt: skip


@pytest.mark.parametrize(("said", "read"), SENTENCES)
def test_a_sentence_is_for_people(said: str, read: str) -> None:
    """Without kinds before names, calls of programs and times of machines; what it quotes stays as it is."""
    assert sentence(said) == read


REFUSALS = (
    (Refused("not_found", "There is no ask_x.", says="human:ana has no such ask."), "ana has no such ask."),
    (Refused("unauthenticated", "no key"), STRANGER),
    (Refused("unauthenticated", "This code is not known.", tries_left=4), "This code is not known."),
    (Refused("scope_undeclared", "human:ana may enter no space.", spaces=[]), NOWHERE),
    (Refused("invalid_argument", "argument x is none."), "That is not possible here. Nothing changed."),
)  # fmt: skip


@pytest.mark.parametrize(("no", "read"), REFUSALS)
def test_a_refusal_has_words_for_people(no: Refused, read: str) -> None:
    """Those that it brings, where it brings any; and never none."""
    assert refusal(no) == read


def test_what_anybody_is_told_is_idle() -> None:
    """Not so what tells somebody something about what they want."""
    assert is_idle(Refused("unauthenticated", "x"))
    assert not is_idle(Refused("unauthenticated", "x", tries_left=3))
    assert not is_idle(Refused("already_settled", "x"))
