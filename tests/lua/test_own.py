"""own.lua: an account gets an owner, or none, where it still is whose it was thought to be.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

from typing import Any

from store.engine.keys import shared

from .script import Script

NUMBER = "4000000001"
KEY = shared("telegram", NUMBER)
ANA = ("principal", "human:ana", "name", "Ana")


async def owned(owning: Script, *argv: str) -> str:
    """What the script says."""
    run: Any = owning.writer.execute_command
    return bytes(await run("EVAL", owning.text, 1, KEY, *argv)).decode()


async def held(owning: Script) -> dict[bytes, bytes]:
    """The account's record."""
    return dict(await owning.admin.hgetall(KEY))


async def clean(owning: Script) -> None:
    """Nobody has it."""
    await owning.admin.delete(KEY)


async def test_who_comes_first_has_it(owning: Script) -> None:
    """What is nobody's becomes theirs, with all its fields; and theirs anew, with none of before."""
    await clean(owning)
    assert await owned(owning, "human:ana", "", *ANA, "lost", "5") == "human:ana"
    assert await held(owning) == {b"principal": b"human:ana", b"name": b"Ana", b"lost": b"5"}
    assert await owned(owning, "human:ana", "", "principal", "human:ana", "name", "A.") == "human:ana"
    assert await held(owning) == {b"principal": b"human:ana", b"name": b"A."}


async def test_what_is_anothers_stays(owning: Script) -> None:
    """It is said whose it is, and nothing changes, whether it is to be had or to be let go."""
    await clean(owning)
    await owned(owning, "human:ana", "", *ANA)
    before = await held(owning)
    assert await owned(owning, "human:bo", "", "principal", "human:bo") == "human:ana"
    assert await owned(owning, "human:bo", "human:cy", "principal", "human:bo") == "human:ana"
    assert await owned(owning, "human:bo", "") == "human:ana"
    assert await held(owning) == before


async def test_what_is_thought_to_be_anothers_is_had_if_it_is(owning: Script) -> None:
    """Where their own record names another account by now, it goes over."""
    await clean(owning)
    await owned(owning, "human:ana", "", *ANA)
    assert await owned(owning, "human:bo", "human:ana", "principal", "human:bo") == "human:bo"
    assert await held(owning) == {b"principal": b"human:bo"}


async def test_who_lets_it_go_leaves_nothing(owning: Script) -> None:
    """Neither its name nor whose it was; again it is no fault."""
    await clean(owning)
    await owned(owning, "human:ana", "", *ANA)
    for _ in range(2):
        assert await owned(owning, "human:ana", "") == ""
        assert await held(owning) == {}
