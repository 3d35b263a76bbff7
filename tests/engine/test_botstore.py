"""The bot's part of the store: its inbox, outbox, copies and leases, on the engine as it is."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.domain.copy import Copy
from store.engine.botstore import BotStore, bot_state, open_bot_store
from store.engine.client import Target, open_client
from store.engine.copies import CARD, LIFE, Copies
from store.engine.embedded import Embedded
from store.engine.keys import Keys, of_bot, shared
from store.engine.outbox import BELL, EVERYWHERE
from store.engine.script import Script
from store.engine.updates import BURIED, FIRST, WHY_LENGTH, Kept
from tests.own_engine import own_engine

PATIENCE = 20.0  # seconds
COPY = Copy(token="abcdefgh-_12", ref="ask:ask_1", to="human:ana", chat=1001, state="sending", digest="d", pages=2)


@pytest.fixture
async def admin(engine: Embedded) -> AsyncIterator[Any]:
    """lm-admin, to look at what is there."""
    async with open_client(Target.embedded(engine), user="lm-admin") as client:
        yield client


def update(number: int) -> dict[str, Any]:
    """An update as Telegram sends it."""
    return {"update_id": number, "message": {"text": f"n{number}"}}


async def test_what_waits_stays_until_it_was_handled(bot: BotStore) -> None:
    """Whoever reads the inbox from the beginning finds all that was not handled or buried, in its order."""
    assert await bot.updates.waiting() == []
    await bot.updates.keep([update(n) for n in range(1, 6)])
    first, second, *rest = await bot.updates.waiting()
    assert await bot.updates.waiting(second.id) == rest
    assert await bot.updates.waiting(first.id, count=1) == [second]
    await bot.updates.done(first.id)
    await bot.updates.done(first.id)
    await bot.updates.bury(second, "cannot be read")
    assert await bot.updates.waiting(FIRST) == rest
    assert await bot.updates.backlog() == 3
    ((_, raw, why),) = await bot.updates.buried()
    assert (json.loads(raw), why) == (update(2), "cannot be read")


async def blocked(admin: Any, count: int) -> None:
    """Until this many clients of the engine wait."""
    for _ in range(5000):
        if (await admin.info("clients"))["blocked_clients"] == count:
            return
        await asyncio.sleep(0.002)
    pytest.fail(f"never {count} clients waited")


async def after(bot: BotStore, id: str = FIRST) -> list[Kept]:
    """What comes next; a wait that ended on a slow machine begins anew."""
    while not (found := await bot.updates.waiting(id, block=3000)):
        pass
    return found


async def test_a_reader_waits_for_the_next(bot: BotStore, admin: Any) -> None:
    """With `block` the next update comes as soon as it is kept; without one, the wait ends."""
    assert await bot.updates.waiting(block=1) == []
    reading = asyncio.create_task(after(bot))
    await blocked(admin, 1)
    await bot.updates.keep([update(1)])
    async with asyncio.timeout(PATIENCE):
        (one,) = await reading
    assert json.loads(one.raw) == update(1)
    reading = asyncio.create_task(after(bot, one.id))
    await blocked(admin, 1)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await blocked(admin, 0)
    await bot.updates.keep([update(2)])
    (two,) = await bot.updates.waiting(one.id)  # a reader that was broken off takes nothing along
    assert json.loads(two.raw) == update(2)


async def test_dead_letters_are_bounded(bot: BotStore, admin: Any) -> None:
    """Of many dead letters the last ones are kept, each with a bounded reason."""
    for n in range(1, BURIED + 301, 100):
        await bot.updates.keep([update(n + m) for m in range(100)])
        for kept in await bot.updates.waiting():
            await bot.updates.bury(kept, "x" * 10_000)
    assert await bot.updates.backlog() == 0
    assert BURIED <= await admin.xlen(of_bot("dead")) < BURIED + 200
    newest, *_ = found = await bot.updates.buried(count=5)
    assert len(found) == 5
    assert json.loads(newest.raw) == update(BURIED + 300)
    assert len(newest.why) == WHY_LENGTH


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """After a kill of the engine the inbox, marks, copies and epochs are as they were acknowledged."""
    with own_engine(tmp_path) as engine:
        before = open_bot_store(engine.target)
        lease = before.lease(owner="a", life=1)
        assert await lease.take() == 1
        assert await before.updates.keep([update(1), update(2)], epoch=1) == 2
        await before.outbox.mark("w", "ask:a")
        await before.copies.put("w", COPY)
        waiting, dirty = await before.updates.waiting(), await before.outbox.dirty("w")
        engine.end(signal.SIGKILL)
        engine.start()
        after = open_bot_store(engine.target)
        assert (await after.updates.waiting(), await after.outbox.dirty("w")) == (waiting, dirty)
        assert await after.updates.keep([update(1), update(2)], epoch=1) == 0
        assert await after.copies.of("w", COPY.ref) == [COPY]
        assert await after.lease(owner="a", life=1).take() == 2
        await before.close()
        await after.close()


async def test_what_was_marked_first_comes_first(bot: BotStore) -> None:
    """Refs come in the order of their marks; a ref that is marked again is one, with another mark, and comes last."""
    await bot.outbox.mark("w", "b", "a")
    await bot.outbox.mark("w", "c")
    await bot.outbox.mark("w")
    await bot.outbox.mark("other", "z")
    first = await bot.outbox.dirty("w")
    assert {ref for ref, _ in first[:2]} == {"a", "b"}
    assert first[2].ref == "c"
    assert await bot.outbox.dirty("w", count=2) == first[:2]
    await bot.outbox.mark("w", first[0].ref)
    again = await bot.outbox.dirty("w")
    assert [ref for ref, _ in again] == [ref for ref, _ in (*first[1:], first[0])]
    assert not await bot.outbox.settled("w", *first[0])
    for ref, mark in again:
        assert await bot.outbox.settled("w", ref, mark)
    assert await bot.outbox.dirty("w") == []
    assert [ref for ref, _ in await bot.outbox.dirty("other")] == ["z"]


async def test_open_refs_come_when_they_are_due(bot: BotStore) -> None:
    """An open ref is due from its time on and stays so until it gets another time or none."""
    for ref, at in (("a", 300), ("b", 100), ("c", 200)):
        await bot.outbox.settled("w", ref, again=at)
    assert await bot.outbox.due("w", 99) == []
    assert await bot.outbox.due("w", 200) == await bot.outbox.due("w", 200) == ["b", "c"]
    assert await bot.outbox.due("w", 900, count=1) == ["b"]
    await bot.outbox.settled("w", "b", again=400)
    await bot.outbox.settled("w", "c")
    assert await bot.outbox.due("w", 200) == []
    assert await bot.outbox.opened("w") == {"a": 300, "b": 400}
    assert await bot.outbox.opened("other") == {}


async def test_spaces_are_remembered(bot: BotStore) -> None:
    """The spaces to look into are kept, each once."""
    assert await bot.outbox.spaces() == []
    await bot.outbox.add_space()
    await bot.outbox.add_space("w", "v")
    await bot.outbox.add_space("w")
    assert await bot.outbox.spaces() == ["v", "w"]


async def test_the_bell_rings(bot: BotStore) -> None:
    """Who listens is told to look everywhere first, then of each space that rings."""
    async with asyncio.timeout(PATIENCE), aclosing(bot.outbox.bell()) as rings:
        assert await anext(rings) == EVERYWHERE
        await bot.outbox.mark("w", "a")
        await bot.outbox.mark("v", "a")
        assert [await anext(rings), await anext(rings)] == ["w", "v"]


async def test_the_bell_rings_again_after_the_engine_was_away(tmp_path: Path) -> None:
    """When the store comes back who listens looks everywhere, since a ring may have been lost, and hears the next."""
    with own_engine(tmp_path) as engine:
        bot = open_bot_store(engine.target)
        async with asyncio.timeout(PATIENCE), aclosing(bot.outbox.bell()) as rings:
            assert await anext(rings) == EVERYWHERE
            engine.end(signal.SIGKILL)
            next_ring = asyncio.ensure_future(anext(rings))
            await asyncio.to_thread(engine.start)
            assert await next_ring == EVERYWHERE
            fresh = open_bot_store(engine.target)
            await fresh.outbox.mark("w", "a")
            assert await anext(rings) == "w"
            await fresh.close()
        await bot.close()


async def test_copies_are_kept_and_found_by_their_buttons(bot: BotStore, admin: Any) -> None:
    """Every copy of a ref is there, oldest first, each found by its button; a later state takes the place of one."""
    other = replace(COPY, token="12345678ABCD", to="human:bo", chat=1002, sent=4)
    third = replace(COPY, ref="item:ci_1", token="000000000000")
    await bot.copies.put("w", replace(COPY, sent=9), other)
    await bot.copies.put("v", third)
    await bot.copies.put("w", shown := replace(COPY, sent=9, message=7, state="sent", seen=(0, 1), why="\u05d0\0\n"))
    assert await bot.copies.of("w", COPY.ref) == [other, shown]
    assert await bot.copies.by_token(COPY.token) == ("w", shown)
    assert await bot.copies.by_token(third.token) == ("v", third)
    assert await bot.copies.of("v", COPY.ref) == []
    await bot.copies.put("w")
    keys = [Keys("w").card(COPY.ref), shared("tg:button", COPY.token)]
    assert all([LIFE - 60_000 < await admin.pttl(key) <= LIFE for key in keys])


async def test_a_message_is_one_copys(bot: BotStore, admin: Any) -> None:
    """Whose a message of a chat is, of one bot, is known from when its number is, for as long as its button."""
    await bot.copies.put("w", replace(COPY, bot=5), sent := replace(COPY, token="12345678ABCD", bot=5, message=7))
    assert await bot.copies.holder(sent, 7) == sent.token
    for other in (replace(sent, bot=6), replace(sent, chat=1002)):
        assert await bot.copies.holder(other, 7) == ""
    assert await bot.copies.holder(sent, 0) == await bot.copies.holder(sent, 8) == ""
    assert LIFE - 60_000 < await admin.pttl(shared("tg:message", "5:1001:7")) <= LIFE


@pytest.mark.parametrize(
    "token", ["", "x", "abcdefgh-_13", "abcdefgh-_1\n", "abcdefgh-_12 ", "a}:tg:card:a", "\ud83d" * 12, "é" * 12]
)
async def test_no_other_text_is_a_button(bot: BotStore, token: str) -> None:
    """Whatever is sent as a token, nothing but a token of a copy finds one."""
    await bot.copies.put("w", COPY)
    assert await bot.copies.by_token(token) is None


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{", b"\xff\xfe", b"[]", b"null", b"{}", b'{"token":"abcdefgh-_12"}',
        COPY.line().replace('"chat":1001', '"chat":"1001"').encode(),
        COPY.line().replace('"chat":1001', '"chat":true').encode(),
        COPY.line().replace('"sending"', '"approved"').encode(),
        replace(COPY, ref="ask:ask_2").line().encode(),
        replace(COPY, token="abcdefgh-_13").line().encode(),
    ],
)  # fmt: skip
async def test_a_record_that_is_none_is_as_if_it_were_not_there(bot: BotStore, admin: Any, line: bytes) -> None:
    """A bot that writes anything at all into its records makes no reader fail, and passes nothing off as a copy."""
    await bot.copies.put("w", good := replace(COPY, token="12345678ABCD"))
    await bot.copies.put("w", COPY)
    await admin.hset(Keys("w").card(COPY.ref), COPY.token, line)
    assert await bot.copies.by_token(COPY.token) is None
    assert good in await bot.copies.of("w", COPY.ref)
    for space in ("w", "w x", "", "\u05d0"):
        await admin.set(shared("tg:button", COPY.token), space)
        assert await bot.copies.by_token(COPY.token) is None


async def test_readers_read_them_as_lm_read(bot: BotStore, engine: Embedded) -> None:
    """Who decides sees copies, prompts and what the bot says of itself by the user that can write nothing."""
    await bot.copies.put("w", COPY)
    await bot.copies.prompt(1001, 7, {"kind": "reason", "token": COPY.token})
    await bot.say(username="logmem_bot", polled=5)
    await bot.say(polled=6)
    async with open_client(Target.embedded(engine), user="lm-read") as reader:
        copies = Copies(reader)
        assert await copies.by_token(COPY.token) == ("w", COPY)
        assert await copies.of("w", COPY.ref) == [COPY]
        assert await copies.prompted(1001, 7) == {"kind": "reason", "token": COPY.token}
        assert await bot_state(reader) == await bot.state() == {"username": "logmem_bot", "polled": "6"}


async def test_a_prompt_is_of_one_message(bot: BotStore, admin: Any) -> None:
    """What a reply means stands under the very message of the very chat and bot, for as long as a card can be open."""
    await bot.copies.prompt(1001, 7, {"kind": "reason"})
    assert await bot.copies.prompted(1001, 8) is None
    assert await bot.copies.prompted(1002, 7) is None
    assert LIFE - 60_000 < await admin.pttl(shared("tg:prompt", "0:1001:7")) <= LIFE
    another, third = (bot.copies.under(1, bot=number) for number in (5, 6))
    assert await another.prompted(1001, 7) is None
    await another.prompt(1001, 7, {"kind": "answer"})
    assert await third.prompted(1001, 7) is None
    assert await another.prompted(1001, 7) == {"kind": "answer"}


async def test_leases_are_apart(bot: BotStore) -> None:
    """Each name is a lease of its own, and the poller's is the one that fences the inbox."""
    poller, sender = bot.lease(owner="a", life=60_000), bot.lease("sender", owner="b", life=60_000)
    assert (await poller.take(), await sender.take(), await sender.take()) == (1, 1, 2)
    assert await bot.updates.keep([update(1)], epoch=poller.epoch) == 1


async def test_the_clock_is_the_stores(bot: BotStore, admin: Any) -> None:
    """The bot has the time from the store, like everybody."""
    low = (await admin.time())[0] * 1000
    assert low <= await bot.clock() <= ((await admin.time())[0] + 1) * 1000


async def test_nobody_hears_another_channel(bot: BotStore, admin: Any) -> None:
    """What is published on a channel of the same beginning is no ring."""
    async with asyncio.timeout(PATIENCE), aclosing(bot.outbox.bell()) as rings:
        await anext(rings)
        await admin.publish("lm:tg:bells", "x")
        await admin.publish(BELL, "w")
        assert await anext(rings) == "w"


async def test_what_goes_along_is_done_after_a_script(tmp_path: Path) -> None:
    """Commands that go along with a script come after it, also where the server did not know the script (any more)."""
    run, keys = Script(CARD), [Keys("w").term, Keys("w").card("x")]
    with own_engine(tmp_path) as engine:
        async with open_client(engine.target, user="lm-bot") as client:
            for count in range(4):
                if count == 2:
                    engine.root("SCRIPT", "FLUSH")
                await run(client, keys, ["", LIFE, "a", "script", "n", count], then=[("HSET", keys[1], "a", "then")])
                assert await client.hgetall(keys[1]) == {b"a": b"then", b"n": str(count).encode()}
