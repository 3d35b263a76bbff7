"""The call loop: read, decide, commit; again when something that the decision stood on has changed.

The only way into a verb, from every surface.
"""

import asyncio
import contextlib
import hashlib
import json
import random
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import redis
import structlog

from ..domain.commit import Commit, put
from ..domain.document import Index
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.grant import end
from ..domain.moments import iso
from ..domain.shift import Shift, opened
from ..domain.space import Space
from ..engine.commit import Action, Outcome, What
from ..engine.keys import Keys
from ..engine.store import Store
from .admission import Admission
from .arguments import parse, turned
from .call import Call, Replay, Result, Row
from .canonical import ledger_line
from .faults import told_plainly
from .identity import Badge, Caller, enter
from .render import BRIEFS
from .results import keep, kept, quoted, show
from .room import refusal_within, within

MINUTE, DAY = 60_000, 86_400_000
NAMED_LIFE, OWN_LIFE = (
    7 * DAY,
    2 * MINUTE,
)  # of an idempotency record: when the caller named the action, and when we did
PATIENCE = 1.0  # seconds that a call goes on trying
ACTION_LIMIT = 200  # characters of an action_id
NO_ACTION = Action("", "", "", 0)  # a read's
OTHERWISE = 409  # of refusals: how it stands

log = structlog.get_logger(__name__)


async def perform(
    store: Store,
    badge: Badge,
    row: Row,
    given: Mapping[str, Any],
    *,
    action_id: str = "",
    fault: Refused | None = None,
    caller: Caller | None = None,
) -> Result:
    """Do one call and give its result. Refuses what the verb refuses, and what `enter` and `Admission` do.

    `given` are raw arguments; `action_id` makes a mutation repeatable: the same call gets the same answer again.
    `fault` is what the surface found wrong with the arguments already; it is said in its turn, like any other.
    `caller` is whom `enter` found behind the badge before, for those who ask again and again.
    """
    row = turned(row, given)

    async def once(args: Mapping[str, Any]) -> Result:
        nonlocal caller  # whose a credential is never changes, and each try reads anew what it may do
        caller = caller or await enter(store, badge)
        return await _Attempts(store, caller, badge, row, args, action_id=action_id, fault=fault).run()

    with told_plainly():
        try:
            return await (row.around(store, given, once) if row.around else once(given))
        except Refused as no:
            reading = row.effect == "read" and not row.lets_in
            raise refusal_within(no.of_a_read() if reading else no) from None


class _Attempts:
    """The tries of one call. Each starts from what stands now; the action's record keeps them from doing it twice."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        badge: Badge,
        row: Row,
        given: Mapping[str, Any],
        *,
        action_id: str,
        fault: Refused | None,
    ) -> None:
        self.store, self.caller, self.badge, self.row, self.given = store, caller, badge, row, given
        self.action_id, self.fault = action_id, fault
        self.args: dict[str, Any] = {}
        self.lost = self.sent = False  # of the last try: it lost the store; its commit may be done, or is
        self.unsure = False  # a try lost the store with its commit sent, or it is written and not yet shown
        self.drawn: dict[str, Any] = {}
        # Of the commit that was sent last: its result as it is kept, and what is shown once.
        self.sent_as: tuple[str, Mapping[str, Any]] = ("", {})

    async def run(self) -> Result:
        self.keys = Keys(self.caller.space)
        self._take_arguments()
        self.pure = self.row.effect == "read"
        self.named = bool(self.action_id)
        self.action_id = self.action_id or secrets.token_hex(16)
        self.action = NO_ACTION if self.pure else self._action()
        try:
            return await self._until_done()
        except redis.ResponseError:
            if self.unsure:
                raise self._exhausted() from None
            raise

    async def _until_done(self) -> Result:
        give_up = time.monotonic() + PATIENCE
        async with contextlib.AsyncExitStack() as queue:
            queued = last = False
            for attempt in range(1000):
                out = await self._attempt(look_first=not self.fault and (self.named or attempt > 0))
                if isinstance(out, dict):
                    return out
                late = time.monotonic() > give_up
                if last or (late and self.lost):
                    break
                last = late  # one more look, so that who lost a race is told who won
                if out.what is What.AGAIN and out.rest and out.rest[0] and not queued:
                    queued = True  # losers of one process queue for the key that they lost
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(PATIENCE):
                            await queue.enter_async_context(self.store.turn(out.rest[0]))
                else:
                    await asyncio.sleep(random.random() * 0.001 * 2 ** min(attempt, 6))  # noqa: S311 - spreads retries, hides nothing
        raise self._exhausted()

    def _take_arguments(self) -> None:
        """Check the arguments. What is wrong with them is said only once it is known who calls and what they may."""
        if self.fault:
            return
        try:
            args = parse(self.row, self.given)
            if self.row.action_id:
                self._take_action_id(args.pop("action_id", ""))
            if len(self.action_id) > ACTION_LIMIT:
                raise Refused(
                    "too_long",
                    f"action_id may have {ACTION_LIMIT} characters. Nothing was written.",
                    argument="action_id",
                )
            self.args = args
        except Refused as fault:
            self.fault = fault

    def _take_action_id(self, said: str) -> None:
        """The action_id that came as an argument, which must be the one that came beside it, if both did."""
        if said and self.action_id and said != self.action_id:
            raise Refused(
                "invalid_argument",
                "The argument action_id and the one beside the arguments differ. Nothing was written. Give one.",
                argument="action_id",
            )
        self.action_id = said or self.action_id

    def _action(self) -> Action:
        given = json.dumps([self.row.verb, self.args], sort_keys=True, default=str)
        name = hashlib.sha256(f"{self.row.verb}\0{self.action_id}".encode(errors="surrogatepass")).hexdigest()[:40]
        return Action(
            key=self.keys.done(self.caller.principal, name),
            request=hashlib.sha256(given.encode(errors="surrogatepass")).hexdigest(),
            result="",
            life=NAMED_LIFE if self.named else OWN_LIFE,
        )

    async def _attempt(self, *, look_first: bool) -> Result | Outcome:
        """One try; a store that is lost on the way, also while the result is read for showing, takes another."""
        self.lost = self.sent = False
        try:
            return await self._try(look_first=look_first)
        except (redis.BusyLoadingError, redis.ConnectionError, redis.TimeoutError) as lost:
            self.lost, self.unsure = True, self.unsure or self.sent
            log.debug("store_lost", verb=self.row.verb, error=type(lost).__name__, sent=self.sent)
            return Outcome(What.AGAIN, [])

    async def _try(self, *, look_first: bool) -> Result | Outcome:
        admission = Admission(self.badge, done=self.action.key if look_first else "")
        call = Call(self.row, self.caller, self.store, admission, drawn=self.drawn)
        try:
            plan = await self._decide(call, look_first=look_first)
            if not isinstance(plan, Commit):
                return self._answer(call, plan)
            plan = kept_up(call, plan)
            lines = [ledger_line(entry) for entry in plan.entries]
            action = replace(self.action, result=keep(plan.result))
            self.sent, self.sent_as = True, (action.result, plan.once)
            out = await self.store.commit(self.keys, plan, seen=call.seen, lines=lines, action=action)
        except Replay as before:
            self.sent = True
            return await self._again(call, before)
        self.unsure = self.unsure or out.what in (What.OK, What.DONE)
        if out.what is What.OK:
            entries: dict[int | str, Logged] = {
                n: Logged(id=id, entry=entry) for n, (id, entry) in enumerate(zip(out.rest, plan.entries, strict=True))
            }
            shown: Result = show(plan.result, entries | await call.recall(quoted(plan.result)))
            return self._answer(call, {**shown, **plan.once})
        if out.what is What.DONE:
            return await self._again(call, Replay(out.rest[0]))
        if out.what in (What.DENIED, What.CORRUPT):
            log.error("commit_refused", verb=self.row.verb, what=out.what, keys=out.rest)
            raise Refused(
                "store_unavailable",
                "The store refused this write; nothing was written. Its operator should run: logmem verify",
            )
        return out

    async def _decide(self, call: Call, *, look_first: bool) -> Commit | Result:
        """Run the verb. Whatever it refuses is said only after the caller was checked."""
        try:
            if self.fault:
                raise self.fault
            plan = await self.row.run(call, **self.args)
        except Refused as no:
            await call.admit()
            if look_first and not self.pure and no.status == OTHERWISE:
                await self._check_not_done()
            raise
        await call.admit()
        return plan

    async def _check_not_done(self) -> None:
        """Raises Replay where this very action was done after its record was looked for: then it is what settled it."""
        (record,), *_ = await self.store.fetch(self.keys, [], first=[("GET", self.action.key)], pure=self.pure)
        if record:
            raise Replay(record.decode())

    async def _again(self, call: Call, before: Replay) -> Result:
        """The first result, its text read again."""
        if before.request != self.action.request:
            raise Refused(
                "action_conflict",
                "This action_id was used before with other arguments. Nothing was written. "
                "Take a new one for a new call.",
            )
        template = kept(before.result, before.ids)
        shown: Result = show(template, await call.recall(quoted(template)))
        kept_result, once = self.sent_as
        if once and before.result == kept_result:  # our own, whose answer was lost: nobody has seen it yet
            return self._answer(call, {**shown, **once})
        if self.row.again:
            shown = await self.row.again(call, shown, **self.args)
        return self._answer(call, {**shown, "replayed": True})

    def _answer(self, call: Call, result: Mapping[str, Any]) -> Result:
        said = {
            "ok": True,
            "space": self.caller.space,
            "caller": self.caller.principal,
            **call.space.note,
            **({"now": iso(call.now)} if self.row.whole else {}),
            **result,
        }
        # What people read is for programs, and nothing that they decide on is cut; a Brief keeps a budget of its own.
        own = self.row.whole or self.row.verb in BRIEFS or (self.pure and not self.row.profiles)
        return said if own else within(said)

    def _exhausted(self) -> Refused:
        how = "with the same action_id" if self.named else "after looking whether it was done"
        if self.unsure:
            return Refused(
                "unconfirmed",
                f"The store did not confirm this call: it may or may not have been written. Retry in 2 s {how}.",
                retry_after=2,
            )
        if self.lost:
            return Refused(
                "store_unavailable",
                "The store does not answer. Nothing was written. Retry in 5 s.",
                retry_after=5,
            )
        again = f" {how}" if self.named else ""  # nothing was written for certain, so there is nothing to look at
        return Refused(
            "busy",
            f"Too many calls change the same thing now. Nothing was written. Retry in 1 s{again}.",
            retry_after=1,
        )


def kept_up(call: Call, plan: Commit) -> Commit:
    """The plan with what every write brings along: the agent's shift, who wrote last, the bound of the grant."""
    puts, entries, touches = plan.puts, plan.entries, plan.touches
    cards, epoch = _cards(call, plan), _epoch(call)
    if call.caller.is_agent:
        touches = (*touches, (Index("idle", "", call.now), call.me), (Index("active", "", call.now), call.me))
        if not (call.shift and call.shift.open) and not any(isinstance(p.doc, Shift) for p in puts):
            shift = opened(call.shift, agent=call.me, credential=call.caller.credential, now=call.now)
            puts = (*puts, put(shift))
            entries = (
                *entries,
                call.entry(call.me, "started", f"Shift {shift.number} began with a {call.row.verb}."),
            )
    if call.grant is None:
        return replace(plan, puts=puts, entries=entries, touches=touches, cards=cards, epoch=epoch)
    touches = (*touches, (Index("wrote", "", call.now), call.grant.id))
    bounds = [bound for bound in (plan.not_after, end(call.grant, moved=call.moved) - 1) if bound]
    return replace(plan, puts=puts, entries=entries, touches=touches, cards=cards, not_after=min(bounds, default=0))


def _epoch(call: Call) -> int:
    """The epoch of the scheduler that calls, where the space has not noted it yet; 0 for none."""
    seen = call.seen.get(call.keys.leader)
    return int(call.caller.credential) if seen and seen.value != call.caller.credential else 0


def _cards(call: Call, plan: Commit) -> tuple[str, ...]:
    """The refs whose cards are to be looked at: nobody gets any before the first pairing, which this may be."""
    on = call.space.telegram or any(isinstance(p.doc, Space) and p.doc.telegram for p in plan.puts)
    changed = (p.doc.ref for p in plan.puts if p.doc.carded)
    return tuple(dict.fromkeys((*changed, *plan.cards))) if on else ()
