"""The deck: brings every card to what stands. It is led by levels, not by events, so that nothing is lost on the way.

A commit marks the refs whose cards may have to change. The sweeper finds them, each is looked at (the door says how its
card is to look now and for whom), `plan` compares that with the copies there are, and the lanes carry out what is
missing. This module is what the rest of the bot knows of it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import structlog

from store.domain.copy import Copy, check_press, step
from store.domain.errors import Refused
from store.engine.copies import Copies
from store.engine.lease import LeaseLost
from store.engine.outbox import Outbox

from .carrier import Carrier, new_copy
from .client import Telegram
from .clock import now
from .day import is_day
from .door import Away, Door
from .looking import AWAY, TRIES, Looking
from .message import Spelled
from .plan import ASKED_FOR, GONE, Recipient, is_pending
from .shelf import NO_STORE, STORE_ERRORS, Shelf
from .sweeping import Sweeper
from .text import bare

__all__ = ["Cards"]

NO_COPY = "none"  # of what is no copy of ours, as far as can be told; no token is like this

log = structlog.get_logger(__name__)


class Cards:
    """The cards of all spaces. `run` keeps them right; the rest is for those who handle presses and commands.

    What writes raises LeaseLost once a later term of the bot has begun, of which `outbox` and `copies` know theirs.
    """

    def __init__(
        self, telegram: Telegram, door: Door, outbox: Outbox, copies: Copies, *, clock: Callable[[], int] = now
    ) -> None:
        self._telegram, self._door, self._outbox, self._clock = telegram, door, outbox, clock
        self._shelf = Shelf(copies)
        self._carrier = Carrier(telegram, door, self._shelf, clock=clock, again=self.refresh)
        self._look = Looking(door, outbox, self._shelf, self._carrier, clock=clock, turn=telegram.limiter.claim)
        self._sweeper = Sweeper(self._look, outbox, door, clock=clock)

    async def run(self) -> None:
        """Keep all cards right until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look.run())
            group.create_task(self._sweeper.run())

    async def pressed(
        self, token: str, *, user: int, chat: int, message: int, there: bool
    ) -> tuple[str, Copy] | None:  # fmt: skip
        """The space and the copy that was pressed, noted as arrived and opened; None if there is no such button.

        `there`: Telegram shows the message with a button of this token; only then is it taken for the one of a copy
        whose message is not known. Refused: it is not theirs, or not on this message; then nothing is noted.
        """
        found = await self._shelf.find(token)
        if found is None:
            return None
        space, copy = found
        holder = await self._holder(copy, message, there=there)
        check_press(copy, user=user, chat=chat, message=message, holder=holder)
        async with self._shelf.hold(space, copy.ref) as held:
            if token not in held.copies:
                return None  # another bot's
            copy = held.copies[token]
            check_press(copy, user=user, chat=chat, message=message, holder=holder)
            noted = copy
            if copy.state in ("uncertain", "sending"):
                noted = step(copy, "pressed", message=message, seen=tuple(sorted({*copy.seen, copy.page})))
            if noted != copy:
                await self._shelf.put(held, noted)
            if not copy.opened:
                noted = replace(noted, opened=self._clock())
                self._shelf.put_soon(held, noted)
            return space, noted

    async def _holder(self, copy: Copy, message: int, *, there: bool) -> str:
        """Which copy a message is, where this one's is not known."""
        if copy.message:
            return copy.token
        return await self._shelf.holder(copy, message) if there else NO_COPY

    async def turn(self, space: str, token: str, page: int) -> bool:
        """Show another page on the message of a button. False: there is no such card to turn any more."""
        found = await self._shelf.find(token)
        if found is None:
            return False
        async with self._shelf.hold(space, found[1].ref) as held:
            copy = held.copies.get(token)
            if copy is None or not copy.message or copy.why == GONE:
                return False
            view = await self._look.see(held)
            reads = any(to["who"] == copy.to and to["chat"] == copy.chat and to.get("reads", True) for to in view["to"])
            await self._carrier.edit(held, token, page=page if reads else None)
        self.refresh(space, copy.ref)
        return True

    async def rows(self, space: str, token: str, rows: tuple[tuple[Spelled, ...], ...] | None) -> bool:
        """Give a card other buttons for now, or its own again. False: there is no such card any more.

        Refuses already_settled: there is nothing to decide any more, and the card has come to show that.
        """
        found = await self._shelf.find(token)
        if found is None:
            return False
        async with self._shelf.hold(space, found[1].ref) as held:
            copy = held.copies.get(token)
            if copy is None or not copy.message or copy.why == GONE:
                return False
            if rows is not None:
                async with held.speaking(token):
                    # Seen only now: what has shown the end of it meanwhile must not get buttons again.
                    if is_pending(await self._look.see(held)):
                        await self._telegram.markup(copy.chat, copy.message, rows)
                        return True
            else:
                await self._look.see(held)
            await self._carrier.edit(held, token)
            if rows is not None and held.view:
                raise Refused("already_settled", f"{_to_you(held.view['says'], copy.to)} Nothing changed.")
        return True

    async def offer(self, space: str, ref: str, who: str = "", *, chat: int = 0) -> bool:
        """Send the card anew to somebody, or to all who have it, if it is still to be decided; old ones point to it.

        With the `chat` of who asked for it, also to one who need not have it.
        """
        async with self._shelf.hold(space, ref) as held:
            view = await self._look.see(held)
            if not is_pending(view):
                return False
            stale = [
                replace(copy, live=False)
                for copy in held.copies.values()
                if copy.live and copy.state in ("sent", "uncertain") and copy.to == (who or copy.to)
            ]
            coming = [c for c in held.of(who) if c.live and c.state in ("pending", "sending") and c.chat == chat]
            comes = any(copy.why == ASKED_FOR for copy in coming)
            if chat and not comes and not (who in held.to and held.to[who].wanted):
                asked_for = new_copy(held, Recipient(who=who, chat=chat), view)
                stale.append(replace(asked_for, why=ASKED_FOR))
            if stale:
                await self._shelf.put(held, *stale)
        await self._outbox.mark(space, ref)
        if chat:  # looked at here, so that what is offered after this comes after it
            with suppress(Away, *STORE_ERRORS):
                await self._look.look(space, ref)
        return True

    async def view(self, space: str, ref: str, who: str = "") -> Mapping[str, Any]:
        """How the door says the card is to look. Away, Refused."""
        return await self._door.card(space=space, ref=ref, holding=[who] if who else [])

    def refresh(self, space: str, ref: str) -> None:
        """Look at a ref soon."""
        self._look.refresh(space, ref)

    async def offer_all(self) -> None:
        """Offer every open card again, in every space: presses on the old ones may have been lost."""
        await self._sweeper.each(self._offer_in, await self._sweeper.spaces())

    async def _offer_in(self, space: str) -> None:
        for ref in await self._outbox.opened(space):
            if is_day(ref):
                continue  # nothing hangs on it that a lost press could have decided
            fails = 0
            while fails < TRIES:
                try:
                    await self.offer(space, ref)
                    break
                except Refused as no:
                    log.info("not offered again", ref=ref, why=no.code)
                    break
                except (Away, *NO_STORE) as why:
                    fails += isinstance(why, Away) and why.fails
                    await asyncio.sleep(AWAY)
                except LeaseLost:
                    raise
                except Exception:  # one card that cannot be shown must not keep the others from it
                    log.exception("not offered again", space=space, ref=ref)
                    break
            else:
                log.error("not offered again", space=space, ref=ref, why="the api fails at it")

    async def look_everywhere(self) -> None:
        """Look at every card that can still change, as at a start."""
        await self._sweeper.look_everywhere()

    @property
    def waiting(self) -> Mapping[str, int]:
        """How much is in hand: refs to look at, cards on their way."""
        return {"to_look_at": self._look.to_look_at, "on_the_way": self._look.on_the_way}


def _to_you(says: str, who: str) -> str:
    """A card's sentence of what became of it, for who has the card: it begins with whoever decided."""
    name = bare(who)
    return f"You{says.removeprefix(name)}" if says.startswith(f"{name} ") else says
