"""reach.lua: of what is told of an account, that it is reached and that it is not, the later word counts.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

from typing import Any

from store.engine.keys import shared

from .script import Script

KEY = shared("telegram", "4000000001")
FIRST, SECOND, THIRD = 3_000_000, 2_000_000, 1_000_000  # ages in ms: the first is the longest ago


async def told(reaching: Script, what: str, age: int) -> int:
    """What the script says."""
    run: Any = reaching.writer.execute_command
    return int(await run("EVAL", reaching.text, 1, KEY, what, age))


async def ages(reaching: Script) -> dict[str, int]:
    """How long ago each is noted to have been, in ms, rounded to what these tests know."""
    second, micros = await reaching.admin.time()
    now = second * 1000 + micros // 1000
    record = dict(await reaching.admin.hgetall(KEY))
    known = {name.decode(): now - int(at) for name, at in record.items() if name in (b"lost", b"heard")}
    return {name: round(age, -6) for name, age in known.items()}


async def clean(reaching: Script) -> None:
    """It is somebody's, and nothing is known of it."""
    await reaching.admin.delete(KEY)
    await reaching.admin.hset(KEY, "principal", "human:ana")


async def test_each_word_is_noted_by_when_it_was_so(reaching: Script) -> None:
    """By the store's clock, less how long ago that was."""
    await clean(reaching)
    assert await told(reaching, "lost", SECOND) == 1
    assert await ages(reaching) == {"lost": SECOND}
    assert await told(reaching, "heard", FIRST) == 1
    assert await ages(reaching) == {"lost": SECOND, "heard": FIRST}


async def test_a_later_word_takes_the_place_of_an_earlier_one(reaching: Script) -> None:
    """And not the reverse, in whichever order they are told."""
    await clean(reaching)
    assert await told(reaching, "lost", SECOND) == 1
    assert await told(reaching, "lost", FIRST) == 0
    assert await ages(reaching) == {"lost": SECOND}
    assert await told(reaching, "lost", THIRD) == 1
    assert await ages(reaching) == {"lost": THIRD}


async def test_of_nobodys_nothing_is_noted(reaching: Script) -> None:
    """No record comes to be by it."""
    await reaching.admin.delete(KEY)
    assert await told(reaching, "heard", 0) == 0
    assert not await reaching.admin.exists(KEY)


async def test_what_is_longer_ago_than_there_was_time_is_not_noted(reaching: Script) -> None:
    """The largest number that may come."""
    await clean(reaching)
    assert await told(reaching, "lost", 2**53 - 1) == 0
    assert await ages(reaching) == {}
