"""The same in several spaces, each by itself: one that refuses keeps no other waiting, and is done later.

What is to be done is noted before, in the store, and struck out once it is done; `repeating.repeat` does what is left.
So every row that is done this way reads what stands, and may be done twice, or late.
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import structlog

from ..domain.errors import Refused
from ..domain.moments import MINUTE, SECOND
from ..engine.store import Store
from .call import Result, Row
from .faults import told_plainly
from .identity import Badge
from .perform import perform

WAIT = 10 * SECOND  # in which whoever noted it does it
AGAIN = MINUTE  # after one that failed once more
ROUNDS = 100  # commits of one row in one space, one after another
TRIES = 3  # where too many calls change the same thing

log = structlog.get_logger(__name__)


def chore(row: Row, space: str, **args: Any) -> str:
    """What is to be done in a space, as it is noted."""
    return json.dumps([row.verb, space, args], sort_keys=True, ensure_ascii=False)


async def everywhere(
    store: Store, row: Row, spaces: Iterable[str], *, client: str = "",
    first: Callable[[], Awaitable[object]] | None = None, **args: Any,
) -> list[str]:  # fmt: skip
    """Do a row in each of these spaces; those in which it changed something (its result says `changed`).

    `first` is what the row reads: it is done once it is noted that the rows are to be done because of it.
    """
    lines = {space: chore(row, space, **args) for space in spaces}
    with told_plainly():
        await store.shared.accounts.note_chores(*lines.values(), wait=WAIT)
        if first:
            await first()
    return [space for space, line in lines.items() if await here(store, row, space, line, args, client=client)]


async def here(store: Store, row: Row, space: str, line: str, args: Result, *, client: str = "") -> bool:
    """Do it in one space, and strike it out; whether it changed something. What goes wrong is logged, and stays."""
    changed, tries = False, TRIES
    try:
        for _ in range(ROUNDS):
            try:
                out = await perform(store, _badge(row, space, client), row, args)
            except Refused as no:
                tries -= 1
                if no.code != "busy" or not tries:
                    raise
                continue
            changed = changed or bool(out.get("changed"))
            # Until nothing changes: what it read elsewhere may have been other when it was done.
            if not (out.get("more") or out.get("changed")):
                break
    except Refused as no:
        log.warning("left_for_later", verb=row.verb, space=space, code=no.code)
        return changed
    except Exception:
        log.exception("left_for_later", verb=row.verb, space=space)
        return changed
    with told_plainly():
        await store.shared.accounts.end_chores(line)
    return changed


def _badge(row: Row, space: str, client: str) -> Badge:
    """What takes the operator's rights is done with them, all else with the bot's."""
    if row.effect == "manage":
        return Badge("operator", client=client or "later", spaces=(("everywhere", space),))
    return bot_badge(space)


def bot_badge(space: str) -> Badge:
    """The bot's own badge in a space."""
    return Badge("bot", client="bot", spaces=(("the bot", space),))
