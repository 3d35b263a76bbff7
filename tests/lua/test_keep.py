"""keep.lua: every update once, or nothing at all.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

import json
from typing import Any

import pytest
import redis

from store.engine.keys import of_bot
from store.engine.lease import Lease, LeaseLost
from store.engine.updates import MEMORY, Updates

from .bot import BotScript

KEY = of_bot("lease:poller")
MINUTE = 60_000


def update(number: int, **more: Any) -> dict[str, Any]:
    """An update as Telegram sends it."""
    return {"update_id": number, "message": {"text": "\u05d0\0\ud83d"}, **more}


def updates_of(script: BotScript) -> Updates:
    """The inbox as this script keeps it."""
    return Updates(script.client, lease=KEY, script=script.text)


async def test_what_is_new_is_kept_in_its_order(keep: BotScript) -> None:
    """New updates wait in their order, word for word; their numbers are remembered from now on."""
    updates = updates_of(keep)
    given = [update(8), update(7), update(900_000_000_000, late=True)]
    low = await keep.now()
    assert await updates.keep(given) == 3
    high = await keep.now()
    waiting = await updates.waiting()
    assert [json.loads(each.raw) for each in waiting] == given
    seen = dict(await keep.admin.zrange(of_bot("seen"), 0, -1, withscores=True))
    assert set(seen) == {b"0:7", b"0:8", b"0:900000000000"}
    assert all(low <= at <= high for at in seen.values())
    assert {at % 1 for at in seen.values()} == {0}


async def test_each_is_kept_once(keep: BotScript) -> None:
    """What was kept already is not kept again, in one answer or in two, also once it was handled; the rest is."""
    updates = updates_of(keep)
    assert await updates.keep([update(5), update(5, again=True)]) == 1
    (one,) = await updates.waiting()
    await updates.done(one.id)
    assert await updates.keep([update(5), update(6)]) == 1
    assert [json.loads(each.raw) for each in await updates.waiting()] == [update(6)]
    assert await updates.keep([update(6)]) == 0
    assert await updates.keep([update(4)]) == 1  # numbers may begin anew, lower
    assert await updates.keep([]) == 0


async def test_each_bot_has_numbers_of_its_own(keep: BotScript) -> None:
    """After another token was set, an update is new though one of the bot before had its number."""
    updates = updates_of(keep)
    one, other = updates.of(7), updates.of(8)
    assert [await each.keep([update(5)]) for each in (one, other, one, other)] == [1, 1, 0, 0]
    assert len(await updates.waiting()) == 2


async def test_memory_ends(keep: BotScript) -> None:
    """A number is known for 48 hours and no longer, since Telegram may use it again for something else."""
    updates, now = updates_of(keep), await keep.now()
    remembered = {"0:1": now - MEMORY - MINUTE, "0:2": now - MEMORY + MINUTE}
    await keep.admin.zadd(of_bot("seen"), remembered)
    assert await updates.keep([update(2)]) == 0
    assert not await keep.admin.zscore(of_bot("seen"), "0:1")
    assert await updates.keep([update(1)]) == 1
    assert await keep.admin.zscore(of_bot("seen"), "0:1") >= now
    assert await keep.admin.zscore(of_bot("seen"), "0:2") >= now  # from when it was last sent


async def test_who_has_lost_the_lease_keeps_nothing(keep: BotScript) -> None:
    """With an older epoch, or with one and no lease, nothing is written; with the present one all is."""
    updates = updates_of(keep)
    with pytest.raises(LeaseLost):
        await updates.keep([update(1)], epoch=1)
    assert not await keep.everything()
    a, b = (Lease(keep.client, KEY, owner=owner, life=1) for owner in "ab")
    assert await a.take() == 1
    assert await updates.keep([update(1)], epoch=a.epoch) == 1
    await a.drop()
    assert await b.take() == 2
    before = await keep.everything()
    for old in (1, 0, 3):
        with pytest.raises(LeaseLost):
            await updates.keep([update(2)], epoch=old)
    assert await keep.everything() == before
    assert await updates.keep([update(2)], epoch=2) == 1
    assert await updates.keep([update(3)]) == 1  # who needs no lease


async def test_what_has_no_number_is_known_by_its_content(keep: BotScript) -> None:
    """A malformed update that comes again and again is kept once, and those beside it are kept."""
    updates = updates_of(keep)
    odd: list[Any] = [{}, {"update_id": "7"}, {"update_id": True}, {"update_id": 1.5}, "x", None, [1]]
    assert await updates.keep([*odd, update(1)]) == len(odd) + 1
    assert await updates.keep([*odd, update(2)]) == 1
    assert [json.loads(each.raw) for each in await updates.waiting()] == [*odd, update(1), update(2)]


async def test_a_full_store_refuses_before_anything(keep: BotScript) -> None:
    """A store without memory keeps nothing and forgets nothing, so that Telegram sends it again."""
    updates = updates_of(keep)
    await keep.admin.zadd(of_bot("seen"), {"1": 5})
    before = await keep.everything()
    keep.engine.set("maxmemory", 1)
    try:
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            await updates.keep([update(2)])
        assert await keep.everything() == before
    finally:
        keep.engine.set("maxmemory", 0)
