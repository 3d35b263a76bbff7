"""Our own limits, in a time that jumps: nothing here waits, and nothing depends on how fast the machine is."""

import asyncio
import itertools
import selectors
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.failures import Flood
from bot.limiter import Limiter
from bot.turns import ASK, CHANGE, REMINDER, REPLY, Place
from store.settings import Limits
from tests.telegram.emulator.limits import Floods
from tests.telegram.emulator.limits import Limits as Theirs

MARGIN = 1.05
Sent = list[tuple[float, int]]


class _Jumps(selectors.DefaultSelector):
    """Instead of waiting, lets the time be later."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events and timeout:
            self.now += timeout
        return events


def in_jumps(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run it in a loop whose time jumps to the next thing that happens."""

    def loop() -> asyncio.AbstractEventLoop:
        selector = _Jumps()
        made = asyncio.SelectorEventLoop(selector)
        made.time = lambda: selector.now  # type: ignore[method-assign] # this loop's clock
        return made

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(work())


async def send(limiter: Limiter, chat: int, sent: Sent, *, kind: int = ASK, fails: Exception | None = None) -> None:
    """One message, noted with its time."""

    async def call() -> bool:
        sent.append((asyncio.get_running_loop().time(), chat))
        if fails:
            raise fails
        return True

    data: Mapping[str, Any] = {"chat_id": chat}
    await limiter.process_request(call, (), {}, "sendMessage", dict(data), kind)


def test_a_chat_takes_three_at_once_and_then_one_a_second() -> None:
    """Seven messages to one person go at 0, 0, 0 and then a second apart."""

    async def work() -> None:
        limiter, sent = Limiter(Limits()), Sent()
        await asyncio.gather(*(send(limiter, 7, sent) for _ in range(7)))
        times = [at for at, _ in sent]
        assert times[:3] == [0, 0, 0]
        assert all(1 <= later - sooner <= MARGIN for sooner, later in itertools.pairwise(times[2:]))

    in_jumps(work)


def test_a_group_takes_twenty_a_minute_and_holds_up_nobody() -> None:
    """The 21st message to a group waits for a minute; a person is written to meanwhile."""

    async def work() -> None:
        limiter, sent = Limiter(Limits()), Sent()
        await asyncio.gather(*(send(limiter, -7, sent) for _ in range(21)), send(limiter, 7, sent))
        assert len([at for at, chat in sent if chat == -7 and at == 0]) == 20
        assert (0, 7) in sent
        assert 60 <= sent[-1][0] <= 60 * MARGIN

    in_jumps(work)


def test_all_together_take_28_a_second() -> None:
    """60 people, one message each: 28, 28 and 4."""

    async def work() -> None:
        limiter, sent = Limiter(Limits()), Sent()
        await asyncio.gather(*(send(limiter, chat, sent) for chat in range(1, 61)))
        assert [len([1 for at, _ in sent if low <= at < low + 1]) for low in (0, 1, 2)] == [28, 28, 4]

    in_jumps(work)


def test_asks_go_before_reminders() -> None:
    """Where all wait for the limit in all, asks that came last go first."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(all=1)), Sent()
        reminders = [send(limiter, chat, sent, kind=REMINDER) for chat in range(1, 6)]
        asks = [send(limiter, chat, sent) for chat in range(11, 16)]
        await asyncio.gather(*reminders, *asks)
        assert [chat for _, chat in sent] == [1, 11, 12, 13, 14, 15, 2, 3, 4, 5]  # the first was gone already

    in_jumps(work)


def test_reminders_have_their_share() -> None:
    """Of a flood of asks to all a reminder waits for four, not for the end."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(all=1)), Sent()
        asks = [send(limiter, chat, sent) for chat in range(11, 51)]
        await asyncio.gather(*asks, send(limiter, 1, sent, kind=REMINDER))
        assert [chat for _, chat in sent].index(1) <= 5

    in_jumps(work)


def test_a_chat_takes_turns_between_its_kinds() -> None:
    """What a person did is answered first; and neither changes nor asks wait for all of the others."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(chat=1, burst=1)), Sent()
        gone: list[str] = []

        async def named(name: str, kind: int) -> None:
            await send(limiter, 7, sent, kind=kind)
            gone.append(name)

        asks = [named("ask", ASK) for _ in range(5)]
        await asyncio.gather(*asks, *(named("change", CHANGE) for _ in range(3)), named("reply", REPLY))
        assert gone == ["ask", "reply", "change", "change", "ask", "change", "ask", "ask", "ask"]

    in_jumps(work)


def test_who_claims_a_turn_speaks_at_once_in_it() -> None:
    """What is to be said is found out in it. One in which nothing was said is given back; a second call waits."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(all=1, chat=1, burst=1)), Sent()
        loop = asyncio.get_running_loop()
        async with limiter.claim(Place(ASK, None, 7)):
            pass
        async with limiter.claim(Place(CHANGE, None, 7)):
            assert loop.time() == 0  # the first one took nothing
            await send(limiter, 7, sent)
            assert loop.time() == 0
            await send(limiter, 7, sent)
            assert 1 <= loop.time() <= MARGIN
        waits = asyncio.create_task(send(limiter, 8, sent))
        async with limiter.claim(Place(ASK, None, 9)):
            at = loop.time()
            await asyncio.sleep(0)
        await waits
        assert loop.time() - at <= MARGIN
        assert [chat for _, chat in sent] == [7, 7, 8]

    in_jumps(work)


def test_a_flood_pauses_its_own_chat_only() -> None:
    """After a 429 of 30 seconds that chat waits so long; another is written to at once."""

    async def work() -> None:
        limiter, sent = Limiter(Limits()), Sent()
        flood = Flood("Too Many Requests")
        flood.seconds = 30
        with pytest.raises(Flood):
            await send(limiter, 7, sent, fails=flood)
        assert limiter.wait(8) == 0
        await asyncio.gather(send(limiter, 7, sent), send(limiter, 8, sent))
        assert sent == [(0, 7), (0, 8), (30, 7)]

    in_jumps(work)


def test_who_does_not_wait_any_more_takes_no_turn() -> None:
    """A call that was given up leaves its place to the next one."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(chat=1, burst=1)), Sent()
        await send(limiter, 7, sent)
        gone = asyncio.create_task(send(limiter, 7, sent))
        stays = asyncio.create_task(send(limiter, 7, sent))
        await asyncio.sleep(0.5)
        gone.cancel()
        await stays
        assert len(sent) == 2
        assert sent[1][0] <= MARGIN

    in_jumps(work)


def test_nothing_waits_without_limits_or_a_chat() -> None:
    """0 is no limit, and answers to presses never wait."""

    async def work() -> None:
        limiter, sent = Limiter(Limits(all=0, chat=0, burst=0, group=0)), Sent()
        await asyncio.gather(*(send(limiter, chat, sent) for chat in (7, -7) for _ in range(100)))
        strict = Limiter(Limits(all=1))

        async def call() -> bool:
            return True

        for _ in range(10):
            await strict.process_request(call, (), {}, "answerCallbackQuery", {"callback_query_id": "1"}, None)
        assert {at for at, _ in sent} == {0}
        assert asyncio.get_running_loop().time() == 0

    in_jumps(work)


@given(
    st.lists(
        st.tuples(st.floats(0, 3), st.sampled_from([1, 2, 3, -1, -2]), st.sampled_from([ASK, REMINDER])), max_size=120
    )
)
def test_telegram_never_has_to_say_no(calls: list[tuple[float, int, int]]) -> None:
    """Whatever is sent to whom, the emulator with Telegram's limits lets all of it pass."""

    async def work() -> None:
        limiter, sent = Limiter(Limits()), Sent()

        async def later(after: float, chat: int, kind: int) -> None:
            await asyncio.sleep(after)
            await send(limiter, chat, sent, kind=kind)

        await asyncio.gather(*(later(*call) for call in calls))
        floods = Floods(Theirs())
        for at, chat in sent:
            floods.pass_one(chat, group=chat < 0, now=at)
        assert len(sent) == len(calls)

    in_jumps(work)
