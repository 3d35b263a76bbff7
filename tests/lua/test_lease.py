"""lease.lua: one holder at a time, a higher epoch for whoever comes after, and who is late changes nothing.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

import time

from store.engine.keys import of_bot
from store.engine.lease import Lease

from .bot import BotScript

KEY = of_bot("lease:poller")
LIFE = 600_000
PATIENCE = 20.0  # seconds


def lease_of(script: BotScript, owner: str, *, life: int = LIFE) -> Lease:
    """The lease as this owner takes it."""
    return Lease(script.client, KEY, owner=owner, life=life, script=script.text)


async def over(script: BotScript) -> None:
    """Until the life of whoever holds it has run out."""
    ends = int(await script.admin.hget(KEY, "until"))
    bound = time.monotonic() + PATIENCE
    while await script.now() < ends:
        assert time.monotonic() < bound


async def test_the_first_takes_it(lease: BotScript) -> None:
    """Whoever comes first has it for its life, to the millisecond, in epoch 1."""
    a = lease_of(lease, "a")
    assert a.epoch == 0
    low = await lease.now()
    assert await a.take() == 1
    high = await lease.now()
    kept = await lease.admin.hgetall(KEY)
    assert low + LIFE <= int(kept.pop(b"until")) <= high + LIFE
    assert kept == {b"owner": b"a", b"epoch": b"1"}
    assert a.epoch == 1


async def test_another_waits(lease: BotScript) -> None:
    """While somebody holds it nobody else gets it, and nothing of it changes."""
    a, b = lease_of(lease, "a"), lease_of(lease, "b")
    await a.take()
    before = await lease.everything()
    assert await b.take() is None
    assert not await b.renew()
    await b.drop()
    assert b.epoch == 0
    b.epoch = a.epoch  # as nobody can who was not told
    await b.drop()
    b.epoch = a.epoch
    assert not await b.renew()
    assert await lease.everything() == before
    assert await a.renew()


async def test_it_is_renewed(lease: BotScript) -> None:
    """Its holder has it for another whole life, in the same epoch."""
    a = lease_of(lease, "a", life=1)
    await a.take()
    await over(lease)
    a = lease_of(lease, "a")
    a.epoch = 1
    low = await lease.now()
    assert await a.renew()  # late, and nobody has taken it
    high = await lease.now()
    assert low + LIFE <= int(await lease.admin.hget(KEY, "until")) <= high + LIFE
    assert await lease.admin.hget(KEY, "epoch") == b"1"
    assert a.epoch == 1


async def test_what_was_not_renewed_is_taken(lease: BotScript) -> None:
    """When its life has run out another takes it with a higher epoch; who held it can neither renew nor drop it."""
    a, b = lease_of(lease, "a", life=1), lease_of(lease, "b")
    await a.take()
    await over(lease)
    assert await b.take() == 2
    before = await lease.everything()
    for late in (a, lease_of(lease, "a"), lease_of(lease, "b")):
        late.epoch = 1
        await late.drop()
        assert late.epoch == 0
        late.epoch = 1
        assert not await late.renew()
        assert late.epoch == 0
    assert await lease.everything() == before
    assert await lease.admin.hget(KEY, "owner") == b"b"


async def test_taken_twice_by_one(lease: BotScript) -> None:
    """Taking what is one's own begins a new epoch: a process that has lost count fences off its own past."""
    a, again = lease_of(lease, "a"), lease_of(lease, "a")
    assert (await a.take(), await again.take()) == (1, 2)
    assert not await a.renew()
    assert await again.renew()


async def test_dropped_it_is_free(lease: BotScript) -> None:
    """Who lets go makes room at once, and does not have it any more; epochs go on, and when it was is kept."""
    a, b = lease_of(lease, "a"), lease_of(lease, "b")
    await a.take()
    low = await lease.now()
    await a.drop()
    assert low <= int(await lease.admin.hget(KEY, "until")) <= await lease.now()
    assert a.epoch == 0
    assert not await a.renew()
    assert await b.take() == 2
    assert await lease.admin.hget(KEY, "epoch") == b"2"
    await b.drop()
    assert await a.take() == 3
