"""Looking at a ref: what its card is to show and for whom, what is missing, and who brings it.

A mark is removed in the same step that notes the time of the next look: a crash at any point only makes us look again.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import structlog

from store.domain.copy import Copy
from store.domain.errors import Refused
from store.domain.moments import DAY, MINUTE
from store.engine.lease import LeaseLost
from store.engine.outbox import Outbox

from .carrier import Carrier, changing, shown, urgency
from .client import KINDS
from .door import Away, Door
from .lanes import Lanes, Then
from .plan import GONE, Plan, Step, is_pending, plan, recipients
from .shelf import STORE_ERRORS, Held, Shelf
from .turns import ASK, CHANGE, NOTICE, Place

__all__ = ["AWAY", "Looking"]

LOOKERS = 12  # refs that are looked at at once
AGAIN, AT_LAST = MINUTE, 64 * MINUTE  # ms: when a ref is looked at again that we could not bring to an end, doubled
TRIES = 3  # looks at a ref that the API fails at, before it is put aside
KEPT = 30 * DAY  # ms for which a card is remembered that cannot be edited while its person is not reached
PAST = 50  # ms after a deadline, so that it has passed by every clock
JUMP = 1_500  # ms by which a simulated space's clock must differ to count as moved
AWAY = 0.5  # seconds that one who looks waits when the API is away
FRESH = 1_000  # ms for which what was seen will do to send a card by

log = structlog.get_logger(__name__)


class Looking:
    """The refs that are looked at, and what is on its way because of it.

    `clock` gives ms, and `turn` is entered when something of a kind may go to a chat (see Lanes).
    """

    def __init__(
        self, door: Door, outbox: Outbox, shelf: Shelf, carrier: Carrier, *, clock: Callable[[], int],
        turn: Callable[[Place[Any, int]], AbstractAsyncContextManager[None]],
    ) -> None:  # fmt: skip
        self._door, self._outbox, self._shelf, self._carrier, self._clock = door, outbox, shelf, carrier, clock
        self._lanes: Lanes[tuple[Held, str]] = Lanes(
            self._work, turn=lambda at: turn(at if at.by > 0 else Place(NOTICE, None, at.by)), lost=self._lost
        )
        self._queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._marks: dict[tuple[str, str], int] = {}  # what is queued, and the mark that was seen
        self._looking: dict[tuple[str, str], int] = {}  # what is being looked at, and the mark that it was for
        self._failures: dict[tuple[str, str], int] = {}  # of refs that could not be looked at: how often in a row
        self._ends: set[asyncio.Task[None]] = set()
        self.clocks: dict[str, int] = {}  # of simulated spaces: their clock less ours, ms

    def refresh(self, space: str, ref: str, mark: int = 0) -> None:
        """Look at a ref soon; `mark` is removed when that is done."""
        key = (space, ref)
        if mark and mark == self._looking.get(key):
            return  # that is what is being done
        queued = key in self._marks
        self._marks[key] = mark or self._marks.get(key, 0)  # the one that was read last
        if not queued and key not in self._looking:
            self._queue.put_nowait(key)

    async def run(self) -> None:
        """Look at what is queued, until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(LOOKERS):
                    group.create_task(self._looker())
        finally:
            await self._lanes.close()
            for task in self._ends:
                task.cancel()
            await asyncio.gather(*self._ends, return_exceptions=True)
            await self._shelf.close()

    def in_hand(self, space: str, ref: str) -> bool:
        """Whether it is queued, or being looked at now."""
        return (space, ref) in self._marks or (space, ref) in self._looking

    @property
    def to_look_at(self) -> int:
        """Refs that are queued."""
        return len(self._marks)

    @property
    def on_the_way(self) -> int:
        """Cards that wait for their turn in a chat, or are being sent."""
        return len(self._lanes)

    async def _looker(self) -> None:
        while True:
            key = await self._queue.get()
            mark = self._marks.pop(key, 0)
            self._looking[key] = mark
            try:
                await self.look(*key, mark)
                self._failures.pop(key, None)
            except LeaseLost:
                raise
            except (Away, *STORE_ERRORS) as why:  # the mark stays, and so is found again
                log.warning("a card could not be looked at", ref=key[1], why=str(why) or type(why).__name__)
                await self._failed(key, mark, away=not (isinstance(why, Away) and why.fails))
            except Exception:  # one card that cannot be shown must not keep the others waiting
                log.exception("a card cannot be brought up to date", space=key[0], ref=key[1])
                self._failures[key] = max(TRIES - 1, self._failures.get(key, 0))
                await self._failed(key, mark)
            finally:
                del self._looking[key]
                if key in self._marks:
                    self._queue.put_nowait(key)

    async def _failed(self, key: tuple[str, str], mark: int, *, away: bool = False) -> None:
        """Wait for who is away; a ref that fails by itself is put aside in the end, not to stand in the others' way."""
        if away:
            await asyncio.sleep(AWAY)
            return
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        if failures < TRIES:
            return
        wait = min(AT_LAST, AGAIN * 2 ** (failures - TRIES))
        log.error("a card is put aside", space=key[0], ref=key[1], failures=failures, minutes=wait // MINUTE)
        try:
            await self._outbox.settled(*key, mark, again=self._clock() + wait)
        except STORE_ERRORS:
            await asyncio.sleep(AWAY)

    async def look(self, space: str, ref: str, mark: int = 0) -> None:
        """See how a card is to look, set going what is missing, note the next look and remove the mark."""
        async with self._shelf.hold(space, ref) as held, held.looking:
            try:
                await self.see(held)
            except Refused as no:
                log.info("a card is not to be had", ref=ref, why=no.code)
                if no.code != "not_found":
                    raise
                await self._outbox.settled(space, ref, mark)
                return
            for who in sorted({*held.to, *(copy.to for copy in held.copies.values())}):
                self._set_going(held, who)
            await self._note(held, mark)

    async def see(self, held: Held) -> Mapping[str, Any]:
        """The card as the door shows it now."""
        holding = sorted({copy.to for copy in held.copies.values()})
        view = await self._door.card(space=held.space, ref=held.ref, holding=holding)
        held.view, held.to, held.seen = view, recipients(view), self._clock()
        if view.get("simulated"):
            await self._moved(held.space, view["now"] - self._clock())
        return view

    async def _moved(self, space: str, drift: int) -> None:
        known = self.clocks.setdefault(space, drift)
        if abs(known - drift) > JUMP:
            self.clocks[space] = drift
            for ref in await self._outbox.opened(space):
                self.refresh(space, ref)

    def _plan(self, held: Held, who: str) -> Plan:
        view = held.view
        if view is None:
            return Plan(())
        look = lambda copy: shown(view, copy).hash  # noqa: E731 - a function of one line, for this view
        found = plan(held.of(who), held.to.get(who), pending=is_pending(view), look=look, now=self._clock())
        if found.at:
            held.later[who] = found.at
        else:
            held.later.pop(who, None)
        return found

    def _set_going(self, held: Held, who: str) -> None:
        if not (steps := self._plan(held, who).steps):
            return
        view, sends = held.view or {}, steps[0].do == "send"
        if who.startswith("chat:"):
            kind = ASK if sends else CHANGE  # of which there is nothing but notices: news and changes take turns
        else:
            kind = KINDS[urgency(held, held.to[who]) if sends else changing(held, who)]
        by, until = (held.space, view.get("by", "")), view.get("deadline") or 0 if sends else 0
        if place := held.coming.get(who):
            place.move(kind, by=by, until=until)
            return
        chat = held.to[who].chat if who in held.to and held.to[who].chat else held.of(who)[-1].chat
        self._shelf.take(held.space, held.ref)
        held.coming[who] = self._lanes.add(chat, kind, (held, who), by=by, until=until)

    async def _work(self, job: tuple[Held, str]) -> Then:
        """One step for one recipient; the plan is made anew each time, since things change while one waits."""
        held, who = job
        view, steps = held.view, self._plan(held, who).steps
        then = Then.DONE
        if steps:
            try:
                if steps[0].do == "send" and (steps := await self._anew(held, who, steps)):
                    view = held.view
                if steps:
                    then = await self._do(held, who, steps[0].do, steps[0].token)
            except (Away, LeaseLost, *STORE_ERRORS) as why:
                log.warning("a step is to be taken again", ref=held.ref, why=str(why) or type(why).__name__)
                then = Then.LATER
        if then is Then.DONE and (len(steps) > 1 or held.view is not view):
            then = Then.MORE
        if then is Then.DONE:
            self._come(held, who)
        return then

    async def _anew(self, held: Held, who: str, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The steps by what stands now, where it is a while that the card was seen: none is sent that is over."""
        if self._clock() - held.seen <= FRESH:
            return steps
        with suppress(Away, Refused):  # else by what was seen last: a card too many is put right, one too few is not
            await self.see(held)
        return self._plan(held, who).steps

    async def _do(self, held: Held, who: str, do: str, token: str) -> Then:
        match do:
            case "send":
                return await self._carrier.send(held, held.to[who], token)
            case "edit":
                return await self._carrier.mend(held, token)
            case "tell":
                return await self._carrier.tell(held, token)
            case "say":
                return await self._carrier.say(held, token)
        return await self._carrier.drop(held, token)

    def _come(self, held: Held, who: str) -> None:
        """There is nothing on its way to this recipient any more."""
        held.coming.pop(who, None)
        if held.coming:
            self._shelf.let_go(held)
        else:
            self._spawn(self._end(held))

    def _lost(self, job: tuple[Held, str], why: Exception) -> None:
        held, who = job
        held.later[who] = self._clock() + AGAIN
        self._come(held, who)

    async def _end(self, held: Held) -> None:
        try:
            async with held.looking:
                if not held.coming:
                    await self._note(held)
        except (LeaseLost, *STORE_ERRORS) as why:
            log.warning("the next look is not noted", ref=held.ref, why=type(why).__name__)  # an earlier one stands
        finally:
            self._shelf.let_go(held)

    async def _note(self, held: Held, mark: int = 0) -> None:
        """Write down when to look at a ref again, or that nothing can change any more; `mark` is done with."""
        view, seen = held.view or {}, held.seen or self._clock()
        times = list(held.later.values())
        if look_at := view.get("look_at"):
            times.append(seen + max(0, look_at - view["now"]) + PAST)
        elif view and is_pending(view):
            times.append(view["deadline"] - view["now"] + seen + PAST)
        if not times and held.coming:  # until that is done: whoever starts anew looks at all that has such a time
            times.append(seen + AGAIN)
        if not times and view and any(_stale(copy, view) for copy in held.copies.values()):
            times.append(seen + KEPT)
        again = min(times, default=0)
        if mark or again != held.noted:
            await self._outbox.settled(held.space, held.ref, mark, again=again)
            held.noted = again

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)


def _stale(copy: Copy, view: Mapping[str, Any]) -> bool:
    """Whether it does not show what stands, since its person is not reached; they may come back."""
    known = copy.state == "unreachable" and copy.message and copy.why != GONE and not copy.to.startswith("chat:")
    return bool(known) and copy.shown != shown(view, copy).hash
