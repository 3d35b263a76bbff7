"""One function for each job: it does what is due in a space, a batch at a time, and says how much it did."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from store.engine.store import Store
from store.verbs import sweeps_idle
from store.verbs.call import Row
from store.verbs.due import Due
from store.verbs.sweeping import sweep
from store.verbs.sweeps_digest import DIGEST
from store.verbs.sweeps_due import EXPIRE, REMIND
from store.verbs.sweeps_idle import RECAP, action
from store.verbs.sweeps_inspect import INSPECT
from store.verbs.sweeps_sessions import PASSED
from store.verbs.sweeps_syncs import OCCURRENCES, STAMP
from store.verbs.sweeps_told import REVIEW, WARN

ROUNDS = 100  # batches of one job in one tick; what is left then is done in the next
BUDGET = 0.5  # seconds that the recaps of one space take in one tick
PAGE, AT_ONCE = 100, 8  # agents that are taken from the queue at once; recaps that are made at the same time


def _by(row: Row) -> Callable[[Store, str, int, Due], Awaitable[int]]:
    """The sweep that does this row until nothing is left."""

    async def run(store: Store, space: str, epoch: int, due: Due) -> int:
        total = 0
        for _ in range(ROUNDS):
            out = await sweep(store, row, space, epoch=epoch)
            total += out["done"]
            if not out["more"] or not out["done"]:
                break
        return total

    return run


expire, remind, occurrences, digest = _by(EXPIRE), _by(REMIND), _by(OCCURRENCES), _by(DIGEST)
warn, passed, review, inspect = _by(WARN), _by(PASSED), _by(REVIEW), _by(INSPECT)


async def stamp(store: Store, space: str, epoch: int) -> int:
    """Have a space note that a scheduler of this epoch leads: whoever led before can write nothing there any more."""
    done: int = (await sweep(store, STAMP, space, epoch=epoch))["done"]
    return done


async def idle(store: Store, space: str, epoch: int, due: Due) -> int:
    """Queue everybody who has been idle for long."""
    return await sweeps_idle.claim(store, space, epoch=epoch, now=due.now)


async def recap(store: Store, space: str, epoch: int, due: Due) -> int:
    """Recap those who are queued, for a while."""
    until, total = time.monotonic() + BUDGET, 0
    while found := await sweeps_idle.queued(store, space, count=PAGE):
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(agent: str, seen: int, gate: asyncio.Semaphore = gate) -> int:
            async with gate:
                args = {"agent": agent, "seen": seen}
                done: int = (await sweep(store, RECAP, space, epoch=epoch, action_id=action(agent, seen), args=args))[
                    "done"
                ]
                return done

        total += sum(await asyncio.gather(*(one(agent, seen) for agent, seen in found)))
        if time.monotonic() > until:
            break
    return total
