"""What the bot's user has written is no truth: each record is of its form and within its bounds, or not there."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from store.domain.copy import MOST, PAGES, Copy
from store.engine.botstore import (
    LOST,
    STARTING,
    STOPPED,
    WELL,
    WHY_LENGTH,
    BotStore,
    bot_state,
    standing,
)
from store.engine.client import Target, open_client
from store.engine.copies import LONGEST
from store.engine.embedded import Embedded
from store.engine.keys import Keys, of_bot, shared
from store.engine.updates import LONGEST as LONGEST_UPDATE

COPY = Copy(token="abcdefgh-_12", ref="ask:ask_1", to="human:ana", chat=1001, state="sent", digest="d", pages=3)
OTHER = replace(COPY, token="12345678ABCD")
BUTTON = shared("tg:button", COPY.token)
NOW = 1_800_000_000_000

ODD: tuple[tuple[str, Any], ...] = (
    *((name, other) for name in ("token", "ref", "to", "digest", "shown", "layout", "why") for other in (1, None)),
    *((name, "x" * 2000) for name in ("token", "ref", "to", "digest", "shown", "layout", "why")),
    *((name, size) for name in ("pages", "sent", "opened", "push", "heard", "bot") for size in (-1, MOST, "1", 1.5)),
    *((name, number) for name in ("message", "thread", "page") for number in (-1, MOST, True, None)),
    ("chat", MOST), ("chat", -MOST - 1), ("pages", 0), ("pages", PAGES + 1), ("pages", 30_000_000), ("page", PAGES),
    ("seen", [3]), ("seen", [-1]), ("seen", [10**18]), ("seen", [0, 0, 1, 2]), ("seen", ["0"]), ("seen", 1),
    ("to", "agent:grok"), ("to", "human:ana\n"), ("to", "human:\x1b[2J"), ("to", "chat:x"), ("ref", "ask:\n"),
    ("state", "approved"), ("live", 1), ("shown", "\x00"), ("layout", "\ud800"), ("heard", 10**400),
)  # fmt: skip
NO_PROMPTS = (
    "", "{", "[]", "null", "1", "[" * 100_000, "\xff", '{"kind":1}', '{"token":"abcdefgh-_12"}', '{"kind":"x y"}',
    '{"kind":"reason","token":1}', '{"kind":"reason","token":"abc"}', '{"kind":"reason","option":"1"}',
    '{"kind":"reason","option":-1}', '{"kind":"reason","option":1e400}', '{"kind":"reason","option":true}',
    '{"kind":"' + "x" * LONGEST + '"}',
)  # fmt: skip


def brief(value: object) -> str:
    """The name of a case."""
    return repr(value)[:40]


@pytest.fixture
async def admin(engine: Embedded) -> AsyncIterator[Any]:
    """lm-admin, who writes whatever somebody may have written as lm-bot."""
    async with open_client(Target.embedded(engine), user="lm-admin") as client:
        yield client


@pytest.mark.parametrize(("name", "value"), ODD, ids=brief)
async def test_a_copy_with_one_odd_field_is_not_there(bot: BotStore, admin: Any, name: str, value: Any) -> None:
    """A field of another type, another form or out of its bounds: not for who presses, not among a card's copies."""
    await bot.copies.put("w", COPY, OTHER)
    assert await bot.copies.by_token(COPY.token) == ("w", COPY)
    line = json.dumps(json.loads(COPY.line()) | {name: value})
    await admin.hset(Keys("w").card(COPY.ref), COPY.token, line)
    assert await bot.copies.by_token(COPY.token) is None
    assert await bot.copies.of("w", COPY.ref) == [OTHER]
    assert await bot.copies.taken("w", COPY.ref) == [OTHER]


@pytest.mark.parametrize(
    "line", ["{" * 100_000, '{"why":"' + "x" * LONGEST + '"}', COPY.line() + " " * LONGEST], ids=brief
)
async def test_a_copy_that_is_too_long_is_not_there(bot: BotStore, admin: Any, line: str) -> None:
    """Whatever stands in it, and however deep it is."""
    await bot.copies.put("w", COPY, OTHER)
    await admin.hset(Keys("w").card(COPY.ref), COPY.token, line)
    assert await bot.copies.of("w", COPY.ref) == [OTHER]


async def test_the_largest_copy_is_there(bot: BotStore) -> None:
    """A card of as many pages as there can be, all of them shown, with the largest numbers and the longest reason."""
    seen = tuple(range(PAGES))
    large = replace(
        COPY, pages=PAGES, page=PAGES - 1, seen=seen, message=MOST - 1, chat=-MOST + 1, why="\U0001f600" * 1000
    )
    for copy in (large, replace(COPY, to="chat:-1001234567890/77", chat=-1001234567890, thread=77)):
        await bot.copies.put("w", copy)
        assert await bot.copies.by_token(COPY.token) == ("w", copy)
    assert large.whole


@pytest.mark.parametrize(
    "place", ["w", "w ", "w x", "w  ask:ask_1", "W ask:ask_1", "w ask:ask_1\n", "w} ask:ask_1", "\xff"]
)
async def test_a_button_that_names_no_place_is_nobodys(bot: BotStore, admin: Any, place: str) -> None:
    """Only a space and a ref is where a copy is looked for."""
    await bot.copies.put("w", COPY)
    await admin.set(BUTTON, place)
    assert await bot.copies.by_token(COPY.token) is None


@pytest.mark.parametrize("line", NO_PROMPTS, ids=brief)
async def test_a_prompt_that_is_none_means_nothing(bot: BotStore, admin: Any, line: str) -> None:
    """A reply to it is one to a message of which nothing is known."""
    await admin.set(shared("tg:prompt", "0:1001:7"), line)
    assert await bot.copies.prompted(1001, 7) is None


async def test_a_prompt_holds_what_it_may_hold(bot: BotStore, admin: Any) -> None:
    """What else stands in it is not handed on."""
    await admin.set(shared("tg:prompt", "0:1001:7"), '{"kind":"answer","token":"abcdefgh-_12","option":2,"more":[1]}')
    assert await bot.copies.prompted(1001, 7) == {"kind": "answer", "token": "abcdefgh-_12", "option": 2}


async def test_a_message_is_a_copys_or_nobodys(bot: BotStore, admin: Any) -> None:
    """A record that holds no token names no copy."""
    for text in ("", "x", "abcdefgh-_12\n", "\xff" * 12, "x" * 100_000):
        await admin.set(shared("tg:message", "0:1001:7"), text)
        assert await bot.copies.holder(COPY, 7) == ""


async def test_an_inbox_with_anything_in_it_is_read(bot: BotStore, admin: Any, engine: Embedded) -> None:
    """Entries of any fields and any length are handed on, as nothing where they hold no text, and can be buried."""
    for fields in ({"u": b"\xff"}, {"a": "1", "b": "2", "c": "3"}, {"u": "x" * (LONGEST_UPDATE + 1)}, {"u": "{}"}):
        await admin.xadd(of_bot("inbox"), fields)
    waiting = await bot.updates.waiting()
    assert [kept.raw for kept in waiting] == ["\ufffd", "1", "", "{}"]
    await admin.xadd(of_bot("dead"), {"u": "x"})
    await admin.xadd(of_bot("dead"), {"u": b"\xff", "w": b"\xff" * 1000, "z": "1"})
    for kept in waiting:
        await bot.updates.bury(kept, "x")
    assert await bot.updates.backlog() == 0
    buried = await bot.updates.buried()
    assert (len(buried), buried[-1].why, buried[-2].why) == (6, "", "\ufffd" * WHY_LENGTH)


async def test_words_with_anything_in_them_are_read(bot: BotStore, admin: Any) -> None:
    """What stands at no update's place is passed over."""
    rows = {
        "x": "1",
        b"\xff": "2",
        "5-0": b"\xff",
        "4-0": "x" * (LONGEST_UPDATE + 1),
        "-1-0": "3",
        "9" * 400 + "-0": "4",
    }
    await admin.hset(of_bot("words"), mapping=rows)
    assert [tuple(kept) for kept in await bot.updates.unsaid()] == [("4-0", ""), ("5-0", "\ufffd")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("at", "x"), ("alive", "x"), ("alive", "9" * 400), ("alive", "-1"), ("alive", "1.5"), ("polled", "\u0661"),
        ("polled", ""), ("offering", "2"), ("id", "x"), ("state", "<script>"), ("state", "polling\n"),
        ("username", "ev"), ("username", "a/b?start=x"), ("username", "x" * 33), ("username", "evil_bot\n"),
        ("username", "\u0435vil_bot"), ("why", "x" * (WHY_LENGTH + 1)), ("more", "x"),
    ],
    ids=brief,
)  # fmt: skip
async def test_a_state_with_one_odd_field_is_without_it(bot: BotStore, admin: Any, name: str, value: Any) -> None:
    """What the bot says of itself is of its form, or was not said; all else stands."""
    sound = {"username": "logmem_bot", "state": "away", "why": "\x1b[2J\n", "at": "5", "alive": "6", "polled": "7"}
    await admin.hset(of_bot("state"), mapping={**sound, name: value})
    state = await bot_state(admin)
    assert state == {key: text for key, text in sound.items() if key != name}
    assert standing(state, now=6) == state.get("state", STARTING)  # by a clock that has just begun


async def test_a_sign_of_life_that_is_to_come_is_none(bot: BotStore) -> None:
    """A bot that has said it will live for ever is not at work."""
    state = {"state": WELL, "alive": str(NOW)}
    assert [standing(state, now=NOW + ms) for ms in (0, LOST - 1, LOST, -LOST)] == [WELL, WELL, STOPPED, STOPPED]


async def test_only_what_has_its_form_is_noted(bot: BotStore, admin: Any) -> None:
    """A name that a server between us made up gets into no record."""
    await bot.say(username="123456789:AAabcdefghijklmnopqrstuvwxyz", id="x", state="polling")
    await bot.say(username="")
    assert await admin.hgetall(of_bot("state")) == {b"state": b"polling"}
