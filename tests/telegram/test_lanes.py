"""Lanes: each chat's jobs one by one, the most urgent first; what does not succeed keeps nothing else from it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from bot import lanes as module
from bot.lanes import Lanes, Then
from bot.limiter import Limiter
from bot.turns import ASK, REMINDER, REPLY, Place
from store.settings import Limits
from tests.telegram.test_limiter import Sent, in_jumps, send
from tests.telegram.together import eventually

Work = Callable[[str], Awaitable[Then]]
Turn = Callable[[Place[Any, int]], AbstractAsyncContextManager[None]]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here."""
    monkeypatch.setattr(module, "FIRST", 0.01)
    monkeypatch.setattr(module, "LAST", 0.02)


@asynccontextmanager
async def at_once(place: Place[Any, int]) -> AsyncIterator[None]:
    """No chat has to wait."""
    yield


@asynccontextmanager
async def lanes(
    work: Work, *, turn: Turn = at_once, lost: list[str] | None = None
) -> AsyncIterator[Lanes[str]]:  # fmt: skip
    """Lanes with this work, closed at the end."""
    given_up = [] if lost is None else lost
    made = Lanes(work, turn=turn, lost=lambda job, why: given_up.append(job))
    try:
        yield made
    finally:
        await made.close()


def once(begin: asyncio.Event) -> Turn:
    """Turns that are given from then on."""

    @asynccontextmanager
    async def turn(place: Place[Any, int]) -> AsyncIterator[None]:
        await begin.wait()
        yield

    return turn


async def test_kinds_take_turns_and_then_in_their_order() -> None:
    """What came later and is more urgent goes first; of the same kind what came first, after one of another kind."""
    done: list[str] = []
    begin = asyncio.Event()

    async def work(job: str) -> Then:
        done.append(job)
        return Then.DONE

    async with lanes(work, turn=once(begin)) as made:
        for kind, job in ((1, "a"), (2, "b"), (1, "c"), (0, "d")):
            made.add(7, kind, job)
        assert len(made) == 4
        begin.set()
        await eventually(lambda: len(done) == 4)
        await eventually(lambda: not len(made))
        made.add(7, 0, "again")  # a lane that has ended begins anew
        await eventually(lambda: done == ["d", "a", "b", "c", "again"])


async def test_of_one_kind_what_lasts_the_shortest_first() -> None:
    """When several wait: and whatever has no end before those that have one."""
    done: list[str] = []
    begin = asyncio.Event()

    async def work(job: str) -> Then:
        done.append(job)
        return Then.DONE

    async with lanes(work, turn=once(begin)) as made:
        for kind, until, job in ((1, 30, "c"), (1, 10, "a"), (0, 99, "first"), (1, 20, "b"), (1, 20, "b2")):
            made.add(7, kind, job, until=until)
        begin.set()
        await eventually(lambda: done == ["first", "a", "b", "b2", "c"])


async def test_what_keeps_failing_keeps_nothing_else_from_it() -> None:
    """A job that never succeeds comes again later, behind the others of its chat, however urgent it is."""
    done: list[str] = []

    async def work(job: str) -> Then:
        done.append(job)
        return Then.LATER if job == "bad" else Then.DONE

    async with lanes(work) as made:
        made.add(7, 0, "bad")
        for n in range(20):
            made.add(7, 1, f"good {n}")
        await eventually(lambda: "good 19" in done)
        assert done.count("bad") <= 2 + done.index("good 19") // 2
        await eventually(lambda: done.count("bad") >= 3)
        made.add(7, 2, "late")
        await eventually(lambda: "late" in done)


async def test_its_time_grows_and_another_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a long wait before its next try, what comes into the lane meanwhile goes at once."""
    monkeypatch.setattr(module, "FIRST", 3600.0)
    monkeypatch.setattr(module, "LAST", 3600.0)
    done: list[str] = []

    async def work(job: str) -> Then:
        done.append(job)
        return Then.LATER if job == "bad" else Then.DONE

    async with lanes(work) as made:
        made.add(7, 0, "bad")
        await eventually(lambda: done == ["bad"])
        made.add(7, 1, "other")
        await eventually(lambda: done == ["bad", "other"])
        assert len(made) == 1


async def test_a_lane_through_which_nothing_gets_waits_as_a_whole() -> None:
    """Without a connection no other job of the chat is tried first, and another chat's is."""
    done: list[str] = []
    there = asyncio.Event()

    async def work(job: str) -> Then:
        if job != "elsewhere" and not there.is_set():
            done.append("tried " + job)
            return Then.HELD
        done.append(job)
        return Then.DONE

    async with lanes(work) as made:
        made.add(7, 0, "first")
        made.add(7, 1, "second")
        made.add(8, 1, "elsewhere")
        await eventually(lambda: done.count("tried first") >= 3 and "elsewhere" in done)
        assert "tried second" not in done
        there.set()
        await eventually(lambda: done[-2:] == ["first", "second"])


async def test_what_goes_on_at_once_keeps_its_place() -> None:
    """A job of several steps takes them before what came after it."""
    done: list[str] = []

    async def work(job: str) -> Then:
        done.append(job)
        return Then.MORE if done.count(job) < 3 and job == "steps" else Then.DONE

    async with lanes(work) as made:
        made.add(7, 1, "steps")
        made.add(7, 1, "after")
        await eventually(lambda: done == ["steps", "steps", "steps", "after"])


async def test_what_waits_can_become_something_else() -> None:
    """A job goes by what it is by now; it is done once, and what was done already is not done again."""
    done: list[str] = []
    begin = asyncio.Event()

    async def work(job: str) -> Then:
        done.append(job)
        return Then.DONE

    async with lanes(work, turn=once(begin)) as made:
        first, last = made.add(7, 1, "first"), made.add(7, 4, "last")
        last.move(0, by="x", until=0)
        begin.set()
        await eventually(lambda: done == ["last", "first"])
        await eventually(lambda: not len(made))
        first.move(0, by="x", until=0)
        made.add(7, 1, "other")
        await eventually(lambda: done == ["last", "first", "other"])


async def test_a_mistake_ends_no_lane() -> None:
    """A job that raises is given up and heard of; a wait that raises is tried again: the others go on."""
    done: list[str] = []
    lost: list[str] = []
    faults = iter([RuntimeError("a mistake")])

    async def work(job: str) -> Then:
        if job == "bad":
            raise KeyError(job)
        done.append(job)
        return Then.DONE

    @asynccontextmanager
    async def turn(place: Place[Any, int]) -> AsyncIterator[None]:
        if fault := next(faults, None):
            raise fault
        yield

    async with lanes(work, turn=turn, lost=lost) as made:
        made.add(7, 0, "bad")
        made.add(7, 1, "good")
        await eventually(lambda: done == ["good"] and lost == ["bad"])


BUSY, NEW = 1, 2  # chats: one in which a reminder waits, as in many others, and one in which nothing does


@pytest.mark.parametrize("how", ["added", "moved", "again"])
def test_a_lane_waits_as_the_most_urgent_that_is_in_it(how: str) -> None:
    """What hurries goes as soon as in a chat where nothing waits: also what has come to, or comes again after a try."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(all=1, chat=0, burst=0, group=0)), Sent()
        tries = iter([how == "again"])

        async def step(job: tuple[int, str]) -> Then:
            if job[1] == "reply" and next(tries, False):
                return Then.LATER
            await send(limiter, job[0], sent)
            return Then.DONE

        made: Lanes[tuple[int, str]] = Lanes(step, turn=limiter.claim, lost=lambda job, why: None)
        for chat in range(10, 50):
            made.add(chat, REMINDER, (chat, "reminder"))
            made.add(-chat, ASK, (-chat, "ask"))
        await asyncio.sleep(0.1)
        place = made.add(BUSY, REMINDER, (BUSY, "reminder"))
        if how == "again":
            made.add(BUSY, REPLY, (BUSY, "reply"))
        await asyncio.sleep(0.1)
        if how == "added":
            made.add(BUSY, REPLY, (BUSY, "reply"))
        elif how == "moved":
            place.move(REPLY, by="x", until=0)
        made.add(NEW, REPLY, (NEW, "reply"))
        await eventually(lambda: {BUSY, NEW} <= {chat for _, chat in sent})
        assert {BUSY, NEW} <= {chat for _, chat in sent[1:4]}  # one was gone already, and an ask has its share
        await made.close()

    in_jumps(work)
