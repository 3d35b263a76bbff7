"""Huddles: who closes one and when, what its seats may become, and what each is told."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from store.domain.document import Index
from store.domain.errors import Refused
from store.domain.huddle import Huddle, close, outcome, ready, standing, told, waiting
from store.domain.item import Item, answer, requeue, settle, step, withdraw
from store.domain.item import told as told_of

MADE, DEADLINE = 1_000_000, 2_000_000
MINUTE = 60_000
SEAT = Item(
    id="ci_0000000001",
    sender="agent:grok",
    to="agent:codex",
    where="job:x",
    made=MADE,
    deadline=DEADLINE,
    huddle="hd_0000000001",
)
OTHER = replace(SEAT, id="ci_0000000002", to="human:bo")
HUDDLE = Huddle(
    id="hd_0000000001",
    by="agent:grok",
    where="job:x",
    closer="agent:muse",
    seats=(SEAT.id, OTHER.id),
    made=MADE,
    deadline=DEADLINE,
)
EVENTS = ("answer", "decline", "withdraw")


def settled(seat: Item, event: str) -> Item:
    """The seat, settled a while before its deadline."""
    by = seat.sender if event == "withdraw" else seat.to
    return step(seat, event, at=MADE + MINUTE, by=by)


@pytest.mark.parametrize("event", EVENTS)
def test_it_is_ready_once_no_seat_is_open(event: str) -> None:
    """However each was settled, or by time alone; a huddle that is closed is ready for nothing."""
    half = (settled(SEAT, event), OTHER)
    assert not ready(HUDDLE, half, now=DEADLINE)
    assert waiting(half, now=DEADLINE) == [OTHER]
    assert ready(HUDDLE, half, now=DEADLINE + 1)
    whole = (settled(SEAT, event), settled(OTHER, event))
    assert ready(HUDDLE, whole, now=MADE + MINUTE)
    assert not ready(replace(HUDDLE, state="closed"), whole, now=DEADLINE + 1)


def test_closing_takes_the_closer_and_no_open_seat() -> None:
    """Refused while one can still be answered, naming it; closed by the closer, who is in its outcome."""
    with pytest.raises(Refused) as no:
        close(HUDDLE, (SEAT, OTHER), by="agent:muse", via="token", now=DEADLINE)
    assert no.value.code == "open_obligations"
    assert no.value.facts["open"] == [{"item": s.id, "to": s.to} for s in (SEAT, OTHER)]
    assert "Nothing was written." in no.value.message
    done = close(HUDDLE, (SEAT, OTHER), by="agent:muse", via="token", now=DEADLINE + 1)
    assert (done.state, done.closed, done.via) == ("closed", DEADLINE + 1, "token")
    assert outcome(done)["by"] == "agent:muse"


def test_who_opened_it_is_told_how_to_take_a_seat_back() -> None:
    """Only they can, so only a closer who is the same is told of it."""
    for closer, helps in (("agent:grok", True), ("agent:muse", False)):
        with pytest.raises(Refused) as no:
            close(replace(HUDDLE, closer=closer), (SEAT, OTHER), by=closer, via="", now=DEADLINE)
        assert ('logmem_handoff {withdraw: "ci_0000000001"}' in no.value.message) is helps


@pytest.mark.parametrize(
    ("by", "now"),
    [("agent:grok", DEADLINE), *((by, DEADLINE + 1) for by in ("agent:codex", "human:bo", "human:muse"))],
)
@pytest.mark.parametrize("state", ["open", "closed"])
def test_nobody_else_closes_it_in_any_state(by: str, now: int, state: str) -> None:
    """Neither who holds a seat nor, until the deadline has passed, who convened it."""
    with pytest.raises(Refused) as no:
        close(replace(HUDDLE, state=state), (), by=by, via="", now=now)
    assert (no.value.code, no.value.facts["closer"]) == ("not_yours", "agent:muse")


def test_it_is_closed_once() -> None:
    """The second synthesis is told who closed it, when, and by which entry."""
    done = replace(close(HUDDLE, (), by="agent:muse", via="", now=DEADLINE), synthesis="2000000-7")
    with pytest.raises(Refused) as no:
        close(done, (), by="agent:muse", via="", now=DEADLINE + 3 * MINUTE)
    assert no.value.code == "already_settled"
    assert no.value.facts["synthesis"] == "2000000-7"
    assert no.value.message.startswith("agent:muse closed hd_0000000001 3 min ago.")


def test_the_closer_s_index_has_it_while_it_is_open() -> None:
    """By its deadline; and that of who convened it, who may close it then."""
    mine = Index("closes", "agent:muse", DEADLINE)
    assert list(HUDDLE.indexes()) == [mine, Index("convened", "agent:grok", DEADLINE)]
    assert list(replace(HUDDLE, by="agent:muse").indexes()) == [mine]
    assert not list(replace(HUDDLE, state="closed").indexes())


def test_a_seat_stands_where_what_is_open_stands_and_nowhere_after() -> None:
    """It is its holder's, the job's and due; settled or expired it is nobody's dead letter or verdict."""
    assert {(i.name, i.owner) for i in SEAT.indexes()} == {("open", "agent:codex"), ("holds", "job:x"), ("due", "")}
    for event in (*EVENTS, "expire"):
        assert not list(step(SEAT, event, at=DEADLINE).indexes())


def test_a_seat_is_answered_by_its_holder_once() -> None:
    """Before its deadline and at it; afterwards, and by anybody else, not."""
    done = answer(SEAT, by="agent:codex", via="token", now=DEADLINE)
    assert (done.state, done.settled_by) == ("answered", "agent:codex")
    assert told_of(done, now=DEADLINE).startswith("agent:codex answered ci_0000000001 ")
    for seat, by, now, code in (
        (SEAT, "agent:codex", DEADLINE + 1, "expired"),
        (SEAT, "agent:grok", DEADLINE, "not_yours"),
        (SEAT, "human:bo", DEADLINE, "not_yours"),
        (done, "agent:codex", DEADLINE + 1, "already_settled"),
        (settled(SEAT, "withdraw"), "agent:codex", DEADLINE, "already_settled"),
        (replace(SEAT, huddle=""), "agent:codex", DEADLINE, "invalid_argument"),
    ):
        with pytest.raises(Refused) as no:
            answer(seat, by=by, via="token", now=now)
        assert no.value.code == code


def test_ones_own_seat_is_ones_own() -> None:
    """Who opened the huddle may hold a seat, and settles it; a handoff to oneself would stay nobody's."""
    mine = replace(SEAT, to=SEAT.sender)
    assert answer(mine, by=SEAT.sender, via="", now=DEADLINE).state == "answered"
    with pytest.raises(Refused, match="not_yours"):
        settle(replace(mine, huddle=""), "accept", by=SEAT.sender, roles=(), via="", now=DEADLINE)


def test_a_seat_is_neither_accepted_nor_sent_again() -> None:
    """Each refusal has the call that helps; a late seat is not put away either."""
    with pytest.raises(Refused, match='answers: "ci_0000000001"'):
        settle(SEAT, "accept", by="agent:codex", roles=(), via="", now=DEADLINE)
    for now in (DEADLINE, DEADLINE + 1):
        with pytest.raises(Refused, match="logmem_huddle") as no:
            requeue(SEAT, by="agent:grok", new="ci_0000000003", now=now)
        assert no.value.code == "invalid_argument"
    with pytest.raises(Refused) as no:
        withdraw(SEAT, by="agent:grok", via="", now=DEADLINE + 1)
    assert no.value.code == "expired"
    assert withdraw(SEAT, by="agent:grok", via="", now=DEADLINE).state == "withdrawn"


@pytest.mark.parametrize(
    ("me", "seats", "now", "tool", "args"),
    [
        ("agent:codex", (SEAT, OTHER), MADE, "logmem_note", {"kind": "answer", "answers": SEAT.id}),
        ("human:bo", (SEAT, OTHER), MADE, "logmem_note", {"kind": "answer", "answers": OTHER.id}),
        ("agent:codex", (settled(SEAT, "answer"), OTHER), MADE, "logmem_follow", {"what": HUDDLE.id}),
        ("agent:muse", (SEAT, OTHER), DEADLINE, "logmem_follow", {"what": HUDDLE.id}),
        ("agent:muse", (SEAT, OTHER), DEADLINE + 1, "logmem_note", {"kind": "synthesis", "answers": HUDDLE.id}),
        ("agent:grok", (SEAT, OTHER), DEADLINE, "logmem_follow", {"what": HUDDLE.id}),
        ("agent:grok", (SEAT, OTHER), DEADLINE + 1, "logmem_note", {"kind": "synthesis", "answers": HUDDLE.id}),
    ],
)
def test_each_is_told_their_turn(me: str, seats: Sequence[Item], now: int, tool: str, args: dict[str, str]) -> None:
    """A holder answers, the closer sums up once they can, everybody else waits."""
    then = standing(HUDDLE, seats, now, me=me)["next"]
    assert then["tool"] == tool
    assert args.items() <= then["args"].items()


def test_what_is_said_of_it_counts_its_seats() -> None:
    """How many are settled and who is missing; then that it can be closed; then by whom it was."""
    assert told(HUDDLE, (settled(SEAT, "answer"), OTHER), now=MADE).startswith(
        "hd_0000000001 is open: 1 of 2 seats are settled, human:bo has until 1970-"
    )
    assert "agent:codex, human:bo have until" in told(HUDDLE, (SEAT, OTHER), now=MADE)
    many = [replace(SEAT, to=f"agent:a{n}") for n in range(6)]
    assert "agent:a0, agent:a1, agent:a2, agent:a3, 2 more have until" in told(HUDDLE, many, now=MADE)
    assert "agent:muse or agent:grok can close it" in told(HUDDLE, (SEAT, OTHER), now=DEADLINE + 1)
    done = close(HUDDLE, (), by="agent:muse", via="console", now=DEADLINE)
    assert told(done, (), now=DEADLINE) == "agent:muse closed hd_0000000001 just now in the console."
    assert "next" not in standing(done, (), DEADLINE, me="agent:muse")
