"""What is done for one recipient's copies, as a table: which steps, in which order, and when to look again."""

from dataclasses import replace
from typing import Any

import pytest

from bot.plan import BACK, GONE, LAST_AGAIN, Recipient, Step, is_pending, plan, recipients
from store.domain.copy import Copy

NOW = 1_000_000
ANA = Recipient(who="human:ana", chat=7)
GROUP = Recipient(who="chat:-7", chat=-7)
SENT = Copy(token="sent", ref="ask:a", to="human:ana", chat=7, message=1, state="sent", shown="now", sent=1)
SEND = (Step("send"),)


def copy(**how: Any) -> Copy:
    """A copy that stands as it should, but for this."""
    return replace(SENT, **how)


def old(token: str, **how: Any) -> Copy:
    """One that a newer one has taken the place of."""
    return copy(token=token, live=False, **how)


PENDING: tuple[tuple[str, list[Copy], Recipient | None, tuple[Step, ...], int], ...] = (
    ("nothing was sent", [], ANA, SEND, 0),
    ("it is not for them", [], replace(ANA, wanted=False), (), 0),
    ("they have no account", [], replace(ANA, chat=0), (), 0),
    ("it stands", [SENT], ANA, (), 0),
    ("it stands, though it would not be sent any more", [SENT], replace(ANA, wanted=False), (), 0),
    ("it looks different", [copy(shown="then")], ANA, (Step("edit", "sent"),), 0),
    ("it looks different to one who may not decide any more", [copy(shown="then")], None, (Step("edit", "sent"),), 0),
    ("it is being sent", [copy(state="sending", message=0)], ANA, (), 0),
    ("it was put off", [copy(state="pending", message=0)], ANA, (Step("send", "sent"),), 0),
    ("it was put off and is not wanted now", [copy(state="pending", message=0)], None, (Step("drop", "sent"),), 0),
    ("it was put off, elsewhere", [copy(state="pending", chat=8, message=0)], ANA, (*SEND, Step("drop", "sent")), 0),
    ("it was dropped", [old("x", state="pending", message=0)], ANA, SEND, 0),
    ("it is on another account's phone", [copy(chat=8, shown="then")], ANA, (*SEND, Step("edit", "sent")), 0),
    ("it may have arrived, long ago", [copy(state="uncertain", message=0)], ANA, SEND, 0),
    ("it may have arrived, just now", [copy(state="uncertain", message=0, sent=NOW)], ANA, (), NOW + 2_000),
    (
        "three may have arrived",
        [copy(token=t, state="uncertain", message=0, sent=NOW) for t in "abc"],
        ANA, (), NOW + 8_000,
    ),
    (
        "twenty may have arrived",
        [copy(token=str(n), state="uncertain", message=0, sent=NOW) for n in range(20)],
        ANA, (), NOW + LAST_AGAIN,
    ),
    ("one that may have arrived has a newer one", [old("x", state="uncertain", message=0, sent=NOW), SENT], ANA, (), 0),
    (
        "one that may have arrived was pressed, and has a newer one",
        [old("x", shown="then"), SENT], ANA, (Step("edit", "x"),), 0,
    ),
    ("the person is offered it anew", [old("x", shown="then")], ANA, (*SEND, Step("edit", "x")), 0),
    ("its message is gone", [copy(live=False, why=GONE, shown="then")], ANA, SEND, 0),
    ("they cannot be reached", [copy(state="unreachable", message=0)], ANA, (Step("tell", "sent"),), 0),
    ("they could not be reached, as was told", [old("x", state="unreachable", message=0)], ANA, SEND, 0),
    ("they could not, and are not wanted", [old("x", state="unreachable")], replace(ANA, wanted=False), (), 0),
    ("they are back", [old("x", state="unreachable", shown="then"), SENT], ANA, (Step("edit", "x"),), 0),
    ("they are not", [old("x", state="unreachable", shown="then")], replace(ANA, wanted=False, lost=True), (), 0),
    ("telegram would not have it", [copy(state="failed", message=0, sent=NOW)], ANA, (Step("tell", "sent"),), 0),
    ("telegram would not have it, as was told", [old("x", state="failed", sent=NOW)], ANA, (), NOW + 30_000),
    ("it would not, long ago", [old("x", state="failed", message=0)], ANA, SEND, 0),
    ("it would not, three times", [old(t, state="failed", message=0) for t in "abc"], ANA, (), 0),
    ("it would not, and they are not wanted", [old("x", state="failed")], replace(ANA, wanted=False), (), 0),
    ("it reached somebody whom nothing reached", [copy(why=BACK)], ANA, (Step("tell", "sent"),), 0),
    ("they are reminded", [SENT], replace(ANA, push=1), SEND, 0),
    (
        "they are reminded, and it was put off",
        [copy(state="pending")], replace(ANA, push=1), (Step("send", "sent"),), 0,
    ),
    ("they were reminded", [old("x"), copy(push=1)], replace(ANA, push=1), (), 0),
    ("they were reminded once, and are again", [old("x"), copy(push=1)], replace(ANA, push=2), SEND, 0),
    ("they are reminded, and need not have it", [SENT], replace(ANA, push=1, wanted=False), (), 0),
    ("they were answered", [SENT], replace(ANA, answered=5), (Step("say", "sent"),), 0),
    (
        "they were answered, which the card is to show too",
        [old("x", shown="then"), copy(shown="then")], replace(ANA, answered=5),
        (Step("say", "sent"), Step("edit", "x"), Step("edit", "sent")), 0,
    ),
    ("they were told so below an older card", [old("x", heard=5), SENT], replace(ANA, answered=5), (), 0),
    ("they were answered again", [copy(heard=5)], replace(ANA, answered=9), (Step("say", "sent"),), 0),
    ("they were answered, and cannot be reached", [SENT], replace(ANA, answered=5, lost=True), (), 0),
    ("a new card shows the answer", [SENT], replace(ANA, answered=5, push=1), SEND, 0),
    ("another account had the card", [copy(chat=8, heard=5)], replace(ANA, answered=5), SEND, 0),
    ("a group has no notice", [], GROUP, SEND, 0),
    ("a group threw us out", [old("x", to="chat:-7", chat=-7, state="unreachable", message=0)], GROUP, (), 0),
    ("its notice is in another topic", [copy(to="chat:-7", chat=-7, thread=3)], GROUP, SEND, 0),
)  # fmt: skip


@pytest.mark.parametrize(("why", "copies", "to", "steps", "at"), PENDING, ids=[row[0] for row in PENDING])
def test_while_it_is_pending(
    why: str, copies: list[Copy], to: Recipient | None, steps: tuple[Step, ...], at: int
) -> None:
    """One row: what there is, who it is for, what is done, and when to look again."""
    found = plan(copies, to, pending=True, look=lambda _: "now", now=NOW)
    assert (found.steps, found.at) == (steps, at), why


SETTLED: tuple[tuple[str, list[Copy], tuple[Step, ...]], ...] = (
    ("nobody had it", [], ()),
    ("it was put off", [copy(state="pending", message=0)], (Step("drop", "sent"),)),
    ("it may have arrived", [copy(state="uncertain", message=0)], ()),
    ("it shows it", [SENT], ()),
    (
        "every copy that is there shows it: old ones, and one that may have arrived and was pressed",
        [old("a", shown="then"), copy(token="b", state="uncertain", shown="then"), copy(token="c", shown="then")],
        (Step("edit", "a"), Step("edit", "b"), Step("edit", "c")),
    ),
    ("its message is gone", [copy(live=False, why=GONE, shown="then")], ()),
    ("it failed", [copy(state="failed", message=0, shown="then")], (Step("tell", "sent"),)),
    ("it failed, as was told", [old("x", state="failed", message=0, shown="then")], ()),
    ("they cannot be reached", [copy(state="unreachable", shown="then")], (Step("tell", "sent"),)),
    ("they are back", [old("x", state="unreachable", shown="then")], (Step("edit", "x"),)),
)


@pytest.mark.parametrize(("why", "copies", "steps"), SETTLED, ids=[row[0] for row in SETTLED])
def test_once_it_is_settled(why: str, copies: list[Copy], steps: tuple[Step, ...]) -> None:
    """No card is sent any more, and each that is there comes to show it."""
    found = plan(copies, ANA, pending=False, look=lambda _: "now", now=NOW)
    assert (found.steps, found.at) == (steps, 0), why


def test_who_may_have_a_card() -> None:
    """People as the door says, with their chats; groups by theirs, without a sound."""
    view = {
        "to": [{"who": "human:ana", "chat": 7, "can": [], "silent": True, "wanted": False}],
        "groups": [{"who": "chat:-7/3", "chat": -7, "thread": 3}, {"who": "chat:-8", "chat": -8, "thread": 0}],
        "push": 2,
    }
    assert recipients(view) == {
        "human:ana": Recipient(who="human:ana", chat=7, silent=True, wanted=False, push=2),
        "chat:-7/3": Recipient(who="chat:-7/3", chat=-7, thread=3, silent=True),
        "chat:-8": Recipient(who="chat:-8", chat=-8, silent=True),
    }


@pytest.mark.parametrize("open", [True, False])
def test_what_is_still_to_be_decided(*, open: bool) -> None:
    """The door says so, whatever the state is called."""
    assert is_pending({"state": "pending", "open": open}) is open
