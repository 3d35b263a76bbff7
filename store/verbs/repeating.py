"""What several spaces were to do and one of them has not: done again, from time to time, until it is.

Each API process looks for such chores; whichever finds one does it.
"""

import asyncio
import json
from types import MappingProxyType

import structlog

from ..domain.errors import Refused
from ..engine.store import Store
from .everywhere import AGAIN, here
from .faults import told_plainly
from .groups import GONE, MOVED
from .pairing import PAIR
from .reaching import REACH
from .sessions import CLOSE
from .unheard import UNHEARD

CHORES = MappingProxyType({row.verb: row for row in (PAIR, REACH, CLOSE, GONE, MOVED, UNHEARD)})
LOOK = 5.0  # seconds between two looks
COUNT = 50  # chores that are done at one look

log = structlog.get_logger(__name__)


async def repeat(store: Store) -> int:
    """Do what was left for later, as far as its time has come; how much was tried."""
    with told_plainly():
        lines = await store.shared.accounts.chores(COUNT)
        # Whoever else looks finds these later: one that fails has its turn after the others.
        await store.shared.accounts.note_chores(*lines, wait=AGAIN)
    for line in lines:
        verb, space, args = json.loads(line)
        await here(store, CHORES[verb], space, line, args)
    return len(lines)


async def always(store: Store) -> None:
    """Look for chores, until cancelled."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await repeat(store)
        except Refused as no:
            log.warning("chores_wait", code=no.code)
        except Exception:
            log.exception("chores_wait")
