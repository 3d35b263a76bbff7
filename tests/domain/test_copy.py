"""Copies of cards: every step that there is and every one that there is not, whose press counts, what was shown."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from store.domain.copy import STEPS, Copy, State, check_press, check_whole, copy_from, step
from store.domain.errors import Refused

STATES: tuple[State, ...] = get_args(State)
EVENTS = ("send", "delivered", "timed_out", "crashed", "pressed", "blocked", "refused", "put_off")
ANA, BO = 1001, 1002
SENT = Copy(
    token="abcdefgh-_12", ref="ask:ask_1", to="human:ana", chat=ANA, message=7, state="sent", digest="d1",
    pages=3, seen=(0, 1, 2), shown="x", sent=5,
)  # fmt: skip


@pytest.mark.parametrize(("state", "event"), list(product(STATES, EVENTS)))
def test_every_step_is_in_the_table_or_raises(state: State, event: str) -> None:
    """A step gives the state of the table and changes nothing else unasked; one that is not there cannot be taken."""
    before = replace(SENT, state=state)
    if (state, event) not in STEPS:
        with pytest.raises(KeyError):
            step(before, event)
        return
    after = step(before, event)
    assert (after.state, replace(after, state=state)) == (STEPS[state, event], before)
    assert step(before, event, message=9, why="y").message == 9


def test_the_table_has_known_states_and_events_only() -> None:
    """No state and no event of the table is missing in what is tried above."""
    assert {state for state, _ in STEPS} | {*STEPS.values()} == set(STATES)
    assert {event for _, event in STEPS} == set(EVENTS)


def test_what_failed_stays_so() -> None:
    """Nothing leads out of an end: another copy is sent in place of one that failed or reached nobody."""
    assert not [state for state, _ in STEPS if state in ("unreachable", "failed")]


@pytest.mark.parametrize(
    "copy", [SENT, Copy(token="t", ref="item:ci_1", to="chat:-5", chat=-5), replace(SENT, why='\u05d0\0"\\\n')]
)
def test_a_copy_is_stored_and_read_again(copy: Copy) -> None:
    """What was stored is what is read, whatever its text."""
    assert copy_from(copy.line()) == copy
    assert copy_from(copy.line().encode()) == copy


def test_its_person_presses_it() -> None:
    """The press of whom it was sent to, in their chat and on its message, is let through."""
    assert check_press(SENT, user=ANA, chat=ANA, message=7) is SENT


def test_a_copy_whose_message_is_not_known_is_pressed_too() -> None:
    """When a send timed out, nobody knows the number of the message, and it may have arrived."""
    unsure = replace(SENT, message=0, state="uncertain")
    assert check_press(unsure, user=ANA, chat=ANA, message=99) is unsure
    assert check_press(unsure, user=ANA, chat=ANA, message=99, holder=unsure.token) is unsure


def test_a_copy_whose_message_is_not_known_is_no_other_copys() -> None:
    """A message that is known to be another copy is none that this button stands under."""
    unsure = replace(SENT, message=0, state="uncertain")
    with pytest.raises(Refused) as no:
        check_press(unsure, user=ANA, chat=ANA, message=99, holder="another_one")
    assert no.value.code == "not_found"


@pytest.mark.parametrize(
    ("copy", "user", "chat", "message", "code"),
    [
        (None, ANA, ANA, 7, "not_found"),
        (SENT, ANA, ANA, 8, "not_found"),
        (SENT, BO, BO, 7, "not_yours"),
        (SENT, BO, ANA, 7, "not_yours"),
        (SENT, ANA, BO, 7, "not_yours"),
        (SENT, ANA, -100, 7, "not_yours"),
        (replace(SENT, chat=-100), ANA, -100, 7, "not_yours"),
        (replace(SENT, chat=-100), ANA, ANA, 7, "not_yours"),
        (replace(SENT, message=0), BO, BO, 7, "not_yours"),
    ],
)
def test_nobody_else_does(copy: Copy | None, user: int, chat: int, message: int, code: str) -> None:
    """No button, another message, somebody else, another chat, a group: refused, and nothing changed."""
    with pytest.raises(Refused) as no:
        check_press(copy, user=user, chat=chat, message=message)
    assert no.value.code == code
    assert "Nothing changed." in no.value.message


@pytest.mark.parametrize(
    ("pages", "seen", "whole"),
    [
        (1, (0,), True),
        (1, (), False),
        (3, (0, 1, 2), True),
        (3, (2, 0, 1, 0), True),
        (3, (0, 1), False),
        (3, (0, 1, 3), False),
        (3, (0, 0, 0), False),
        (3, (-1, 0, 1), False),
    ],
)
def test_whole_is_every_page(pages: int, seen: tuple[int, ...], whole: bool) -> None:
    """A card was shown whole when each of its pages was, in whatever order; others do not count."""
    copy = replace(SENT, pages=pages, seen=seen)
    assert copy.whole is whole
    if whole:
        check_whole(copy, digest="d1")
        return
    with pytest.raises(Refused) as no:
        check_whole(copy, digest="d1")
    assert no.value.code == "stale"
    assert f"{pages - len(set(seen) & set(range(pages)))} of {pages} pages" in no.value.message


@pytest.mark.parametrize("digest", ["d2", ""])
def test_what_it_does_not_show_is_not_decided_on_it(digest: str) -> None:
    """A card of another digest than the ask's is refused, though all of it was shown; so is one of an item."""
    with pytest.raises(Refused) as no:
        check_whole(SENT, digest=digest)
    assert no.value.code == "digest_mismatch"
    with pytest.raises(Refused):
        check_whole(replace(SENT, digest=""), digest="d1")
