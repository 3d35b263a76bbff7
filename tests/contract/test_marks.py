"""What the bot has to look at: a commit that changes an ask, or what is for people, marks it, and nothing else does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
import redis

from store import invariants
from store.domain.commit import Commit, put
from store.domain.space import Space
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target, open_client
from store.engine.outbox import EVERYWHERE
from store.engine.reads import Doc
from store.verbs.call import Call, Row
from store.verbs.perform import perform
from tests.contract.handing import handed
from tests.contract.test_gate import asked, decided, refused
from tests.world import World

GROK, CODEX, ANA, BO = "agent:grok", "agent:codex", "human:ana", "human:bo"
PATIENCE = 20.0  # seconds


async def switched(world: World, *, on: bool, cards: tuple[str, ...] = ()) -> None:
    """The space's Telegram is on or off from now on, by a commit that names these refs besides."""

    async def switch(call: Call) -> Commit:
        space = await call.read(Doc(Space, world.space))
        assert space
        return Commit(result={}, puts=(put(replace(space, telegram=on)),), cards=cards)

    await perform(world.store, world.badges[ANA], Row("switch", "write", switch, ("fleet",)), {})


@pytest.fixture
async def bot(world: World) -> AsyncIterator[BotStore]:
    """The bot's store, in a space where Telegram is on."""
    await switched(world, on=True)
    store = open_bot_store(Target.embedded(world.engine))
    yield store
    await store.close()


async def marked(world: World, bot: BotStore) -> list[str]:
    """The refs that were marked since this was asked last."""
    dirty = await bot.outbox.dirty(world.space)
    for ref, mark in dirty:
        assert await bot.outbox.settled(world.space, ref, mark)
    return sorted(ref for ref, _ in dirty)


async def test_before_the_first_pairing_nothing_is_marked(world: World) -> None:
    """Without Telegram a space has no key of the bot's, whatever is asked and handed over."""
    await decided(world, await asked(world))
    await handed(world, BO)
    assert not [name for name in await world.dump() if ":tg" in name or "g:tg" in name]


async def test_every_change_of_an_ask_marks_it(world: World, bot: BotStore) -> None:
    """Asking, deciding, taking back, asking back and redeeming each have its cards looked at."""
    one, two, three = [await asked(world, summary=f"Publish {n}?") for n in range(3)]
    refs = [f"ask:{ask['trail']}" for ask in (one, two, three)]
    assert await marked(world, bot) == sorted(refs)
    await decided(world, one)
    assert await marked(world, bot) == [refs[0]]
    await world.do(ANA, "take_back", trail=one["trail"])
    assert await marked(world, bot) == [refs[0]]
    await world.do(ANA, "ask_back", trail=two["trail"], text="Which one?")
    assert await marked(world, bot) == [refs[1]]
    await decided(world, two)
    await world.do(GROK, "redeem", trail=two["trail"])
    assert await marked(world, bot) == [refs[1]]
    await decided(world, three, "reject", reason="Not now")
    assert await marked(world, bot) == [refs[2]]


@pytest.mark.parametrize(
    ("to", "is_marked"), [(BO, True), ("role:approver", True), ("role:owner", True), (CODEX, False)]
)
async def test_what_is_for_people_is_marked(world: World, bot: BotStore, to: str, is_marked: bool) -> None:
    """A handoff to a person or a role of people is marked when it is sent and when it is settled; an agent's is not."""
    item = await handed(world, to)
    ref = [f"item:{item['item']}"] if is_marked else []
    assert await marked(world, bot) == ref
    settled_by = {CODEX: CODEX, "role:owner": ANA}.get(to, BO)
    await world.do(settled_by, "accept", item=item["item"])
    assert await marked(world, bot) == ref


async def test_what_else_happens_marks_nothing(world: World, bot: BotStore) -> None:
    """Notes, jobs, reads, refusals and what was done before have no card looked at."""
    ask = await asked(world)
    once = await world.do(ANA, "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"], action_id="a1")
    await marked(world, bot)
    await world.do(GROK, "note", where="channel:general", kind="memo", summary="done")
    await world.do(GROK, "start")
    await world.do(GROK, "view", what=ask["trail"])
    await world.do(BO, "inbox")
    await refused("already_settled", decided(world, ask, "reject", who=BO))
    again = await world.do(ANA, "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"], action_id="a1")
    assert again == {**once, "replayed": True}
    await world.do(GROK, "follow", what=ask["trail"], wait=0)
    found = await marked(world, bot)
    assert found in ([], [f"ask:{ask['trail']}"])  # that its requester was told is noted in the ask itself


async def test_a_mark_comes_with_its_commit_or_not_at_all(world: World, bot: BotStore) -> None:
    """Each change brings a later mark than the last, and a ref that nobody has looked at stays one."""
    ask = await asked(world)
    ((ref, first),) = await bot.outbox.dirty(world.space)
    await decided(world, ask)
    ((same, second),) = await bot.outbox.dirty(world.space)
    assert (ref, same) == (f"ask:{ask['trail']}",) * 2
    assert second > first
    assert not await bot.outbox.settled(world.space, ref, first)


async def test_a_commit_names_others_besides(world: World) -> None:
    """The commit that switches Telegram on marks what it names; with Telegram off nothing is."""
    bot = open_bot_store(Target.embedded(world.engine))
    await switched(world, on=False, cards=("ask:x",))
    assert await marked(world, bot) == []
    await switched(world, on=True, cards=("ask:x", "item:y", "ask:x"))
    assert await marked(world, bot) == ["ask:x", "item:y"]
    await bot.close()


async def test_the_bell_rings_for_what_was_marked(world: World, bot: BotStore) -> None:
    """Who listens hears of the space once something in it was marked, and finds it there."""
    async with asyncio.timeout(PATIENCE), aclosing(bot.outbox.bell()) as rings:
        assert await anext(rings) == EVERYWHERE
        await world.do(GROK, "note", where="channel:general", kind="memo", summary="rings for nobody")
        ask = await asked(world)
        assert await anext(rings) == world.space
        assert await marked(world, bot) == [f"ask:{ask['trail']}"]


LABELS = (
    "}:tg:outbox", "x}:tg:open", "}:tg:card:ask:a1", "}:tg:", "}", "}}", "{g:tg:button:x}", "}{g:tg}:inbox",
    "lm:{g:tg}:inbox", "}_:tg:outbox",
)  # fmt: skip


async def test_no_name_that_agents_choose_opens_a_key_to_the_bot(world: World, bot: BotStore) -> None:
    """Whatever labels, tags, keys of actions and texts agents write: of all keys the bot can read its own alone."""
    for label in LABELS:
        args: dict[str, Any] = {"where": "channel:tg", "kind": "memo", "summary": label}
        await world.do(GROK, "note", **args, trail=label, tags=[label], action_id=label)
        await world.do(GROK, "note", **args | {"kind": "fact"}, trail=label)
        await asked(world, where="job:tg", summary=label, payload={label: label})
    admin: Any
    client: Any
    async with (
        open_client(Target.embedded(world.engine), user="lm-admin") as admin,
        open_client(Target.embedded(world.engine), user="lm-bot") as client,
    ):
        for label in LABELS:
            assert await admin.llen(world.keys.place(f"trail:{label}")) == 2
        assert await invariants.check(admin, world.space) == []
        names = [name.decode() for name in await admin.keys("lm:*")]
        reads = {
            b"string": ("GET",), b"hash": ("HGETALL",), b"zset": ("ZRANGE", "0", "-1"), b"set": ("SMEMBERS",),
            b"list": ("LRANGE", "0", "-1"), b"stream": ("XREVRANGE", "+", "-"),
        }  # fmt: skip
        opened = set()
        for name in names:
            command, *rest = reads[await admin.type(name)]
            try:
                await client.execute_command(command, name, *rest)
                opened.add(name)
            except redis.exceptions.NoPermissionError:
                pass
    assert opened == {world.keys.outbox}
