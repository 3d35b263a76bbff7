"""A space in which anything may be called next."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from store import invariants
from store.domain.entry import Entry
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.ledger.verify import verify
from tests.chaos.checks import logged
from tests.world import Result, World, found, opened, swept

from .expected import APPROVERS, LASTS, OK, STEP, Ask, Content, Item

MINUTE = 60_000
AGENTS = ("agent:grok", "agent:codex")
PEOPLE = (*APPROVERS, "human:cy")  # cy is a member, and approves nothing

agents, people = st.sampled_from(AGENTS), st.sampled_from(PEOPLE)
everybody = st.sampled_from((*AGENTS, *PEOPLE))
lasting = st.sampled_from(LASTS)
payloads = st.integers(0, 1)
contents = st.tuples(st.sampled_from(["Publish?", "Delete?"]), st.sampled_from(["normal", "high"]), payloads)
verdicts = st.sampled_from(["approve", "approve", "reject", "answer"])


class Space(RuleBasedStateMachine):
    """Asks and items of one space, and all that may befall them."""

    engine: Embedded

    asks = Bundle("asks")
    items = Bundle("items")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.minute = self.calls = 0
        self.known: dict[str, Ask] = {}
        self.sent: dict[str, Item] = {}
        self.last: tuple[str, str, str, dict[str, Any], Result] | None = None
        self.world = self.run(self.made())

    async def made(self) -> World:
        await swept(self.engine)
        world = await found(self.engine, opened(self.engine))
        await world.human("ana", "owner")
        await world.human("bo", "approver")
        await world.human("cy", "member")
        for name in AGENTS:
            await world.agent(name.partition(":")[2])
        return world

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(call)

    def does(self, code: str, who: str, verb: str, **args: Any) -> Result:
        """A call that must end with this code; its result, or the refusal's facts."""
        self.calls += 1
        action = f"a{self.calls}"
        try:
            result: Result = self.run(self.world.do(who, verb, action_id=action, **args))
        except Refused as no:
            if no.code != code:
                raise AssertionError(f"{who} {verb} {args}: {no}, expected {code}") from no
            return no.facts
        assert code == OK, f"{who} {verb} {args}: it was done, expected {code}"
        self.last = (who, verb, action, args, result)
        return result

    # Asks

    @rule(target=asks, by=agents, content=contents, wait=lasting, holds=lasting)
    def ask(self, by: str, content: Content, wait: int, holds: int) -> str:
        """Somebody asks; the same again while it waits is the same ask."""
        how = {"expires_in": f"{wait}m", "valid_for": f"{holds}m"}
        summary, risk, payload = content
        result = self.does(OK, by, "ask", where="job:x", summary=summary, risk=risk, payload=payload, **how)
        return self.entered(result, Ask("", "", by, content, self.minute + wait, holds))

    @rule(target=asks, old=asks, by=agents, wait=lasting, holds=lasting)
    def again(self, old: str, by: str, wait: int, holds: int) -> str:
        """Somebody asks what was asked before."""
        before = self.known[old]
        code = OK if by == before.by else "not_yours"
        how = {"expires_in": f"{wait}m", "valid_for": f"{holds}m"}
        result = self.does(code, by, "ask", again=old, **how)
        if code != OK:
            return old
        return self.entered(result, Ask("", "", by, before.content, self.minute + wait, holds))

    def entered(self, result: Result, new: Ask) -> str:
        """The ask of a result: one that waits already, or the new one."""
        waiting = [ask for ask in self.known.values() if ask.now(self.minute) == "pending"]
        same = [ask.trail for ask in waiting if (ask.by, ask.content) == (new.by, new.content)]
        assert [result["trail"]] == same if same else result["trail"] not in self.known
        assert bool(result.get("rejoined")) == bool(same)
        new.trail, new.digest = result["trail"], result["digest"]
        self.known.setdefault(new.trail, new)
        return new.trail

    @rule(trail=asks, who=people, verdict=verdicts, right=st.booleans())
    def decide(self, trail: str, who: str, verdict: str, right: bool) -> None:
        """Somebody decides, with the digest that was shown or another."""
        ask = self.known[trail]
        code = ask.decided(who, verdict, self.minute, right=right)
        digest = ask.digest if right else "0" * 64
        facts = self.does(code, who, "decide", trail=trail, verdict=verdict, digest=digest)
        if code == OK:
            self.settle(ask, verdict, who)
        elif code == "already_settled":
            assert facts["by"] == ask.settled_by

    @rule(trail=asks)
    def decide_at_once(self, trail: str) -> None:
        """Both approvers decide at the same moment, both ways; at most one of them does."""
        ask = self.known[trail]
        ways = [(who, verdict) for who in APPROVERS for verdict in ("approve", "reject")]
        calls = [self.world.do(who, "decide", trail=trail, verdict=v, digest=ask.digest) for who, v in ways]

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*calls, return_exceptions=True)

        out = self.run(all_of_them())
        won = [way for way, o in zip(ways, out, strict=True) if isinstance(o, dict)]
        assert all(isinstance(o, dict | Refused) for o in out), out
        assert len(won) == (1 if ask.unpending(self.minute) == OK else 0)
        if won:
            self.settle(ask, won[0][1], won[0][0])

    def settle(self, ask: Ask, verdict: str, who: str) -> None:
        """The model's ask, decided."""
        ask.state = {"approve": "approved", "reject": "rejected"}[verdict]
        ask.settled_by, ask.lapses = who, self.minute + ask.holds

    @rule(trail=asks, who=people)
    def ask_back(self, trail: str, who: str) -> None:
        """Somebody wants to know more first."""
        ask = self.known[trail]
        code = ask.unpending(self.minute) if who in APPROVERS else "not_an_approver"
        self.does(code, who, "ask_back", trail=trail, text="Why?")

    @rule(trail=asks, by=agents)
    def answer(self, trail: str, by: str) -> None:
        """Somebody answers, whether asked or not; on another's ask nobody but its requester does."""
        code = OK if by == self.known[trail].by else "not_yours"
        self.does(code, by, "note", where="job:x", kind="answer", summary="Because", answers=trail)

    @rule(trail=asks, by=agents)
    def withdraw(self, trail: str, by: str) -> None:
        """Somebody takes an ask away."""
        ask = self.known[trail]
        code = ask.unpending(self.minute) if by == ask.by else "not_yours"
        self.does(code, by, "ask", withdraw=trail)
        if code == OK:
            ask.state, ask.settled_by = "withdrawn", by

    @rule(trail=asks, who=people)
    def take_back(self, trail: str, who: str) -> None:
        """Somebody takes an approval back."""
        ask = self.known[trail]
        code = ask.unapproved(self.minute) if who in APPROVERS else "not_an_approver"
        self.does(code, who, "take_back", trail=trail)
        if code == OK:
            ask.state = "taken_back"

    @rule(trail=asks, by=agents, payload=st.none() | payloads)
    def redeem(self, trail: str, by: str, payload: int | None) -> None:
        """Somebody uses an approval, saying or not for what."""
        ask = self.known[trail]
        code = ask.redeemed(by, payload, self.minute)
        args = {} if payload is None else {"payload": payload}
        result = self.does(code, by, "redeem", trail=trail, **args)
        if code == OK:
            assert (result["payload"], result["decision"]["by"]) == (ask.content[2], ask.settled_by)
            ask.state = "redeemed"

    # Items

    @rule(target=items, sender=agents, to=st.sampled_from([*AGENTS, "human:bo", "role:approver"]), lasts=lasting)
    def handoff(self, sender: str, to: str, lasts: int) -> str:
        """Somebody hands something on."""
        to = to if to != sender else next(a for a in AGENTS if a != sender)
        item = self.does(OK, sender, "handoff", to=to, summary="Go on", deadline=f"{lasts}m")["item"]
        self.sent[item] = Item(item, sender, to, self.minute + lasts, lasts)
        return str(item)

    @rule(item=items, who=everybody, decline=st.booleans())
    def accept(self, item: str, who: str, decline: bool) -> None:
        """Somebody accepts or declines it."""
        known = self.sent[item]
        code = known.settled(who, self.minute)
        args = {"decline": True, "reason": "no time"} if decline else {}
        self.does(code, who, "accept", item=item, **args)
        if code == OK:
            known.state = "declined" if decline else "accepted"

    @rule(item=items, by=agents)
    def withdraw_item(self, item: str, by: str) -> None:
        """Somebody takes it back, or puts a dead letter away."""
        known = self.sent[item]
        code, state = known.withdrawn(by, self.minute), known.now(self.minute)
        self.does(code, by, "handoff", withdraw=item)
        if code == OK:
            known.state, known.closed = ("withdrawn", False) if state == "open" else ("expired", True)

    @rule(target=items, item=items, by=agents)
    def requeue(self, item: str, by: str) -> str:
        """Somebody sends a dead letter again."""
        known = self.sent[item]
        code = known.requeued(by, self.minute)
        result = self.does(code, by, "handoff", requeue=item)
        if code != OK:
            return item
        known.state, known.closed = "expired", True
        new = str(result["item"])
        self.sent[new] = Item(new, by, known.to, self.minute + known.lasts, known.lasts)
        return new

    # Whatever it was

    @rule(steps=st.integers(1, 3))
    def time_passes(self, steps: int) -> None:
        """The clock moves."""
        self.minute += STEP * steps
        self.run(self.world.pass_time(STEP * steps * MINUTE))

    @rule()
    def same_again(self) -> None:
        """The last call once more, under the same action_id: the same result, and nothing is done."""
        if self.last:
            who, verb, action, args, result = self.last
            again = self.run(self.world.do(who, verb, action_id=action, **args))
            assert again == {**result, "replayed": True}

    @invariant()
    def the_ledger_tells_no_more(self) -> None:
        """Each ask was decided once at most, used only once approved; each item was settled once at most."""
        lines = [line.entry for line in self.run(logged(self.world.store, self.world)) if line.entry]
        for trail, ask in self.known.items():
            kinds = Counter(entry.kind for entry in lines if entry.trail == trail)
            assert kinds["decided"] + kinds["withdrawn"] <= 1
            assert kinds["redeemed"] + kinds["taken_back"] <= 1
            approved = any(said(entry, trail, "approve") for entry in lines)
            assert approved or not kinds["redeemed"] + kinds["taken_back"]
            assert kinds["decided"] == (bool(ask.settled_by) and ask.state != "withdrawn")
            assert kinds["redeemed"] == (ask.state == "redeemed")
        for item in self.sent:
            kinds = Counter(entry.kind for entry in lines if entry.trail == item)
            assert kinds["accepted"] + kinds["declined"] + kinds["withdrawn"] <= 1

    @invariant()
    def what_is_shown_is_so(self) -> None:
        """Everything is shown in the state that the model has."""
        for id, known in (self.known | self.sent).items():
            shown = self.run(self.world.do("agent:grok", "view", what=id))
            assert shown["status"] == known.now(self.minute), id

    @invariant()
    def indexes_are_a_function_of_the_documents(self) -> None:
        """No index has more or less than the documents say."""

        async def broken() -> list[str]:
            async with open_client(Target.embedded(self.engine), user="lm-admin") as admin:
                return await invariants.check(admin, self.world.space)

        assert self.run(broken()) == []

    def teardown(self) -> None:
        try:
            report = self.run(verify(self.world.store, self.world.space))
            self.run(self.world.store.close())
        finally:
            self.runner.close()
        assert report.ok, str(report.fault)


def said(entry: Entry, trail: str, verdict: str) -> bool:
    """Whether the entry is this verdict on that ask."""
    return entry.kind == "decided" and entry.trail == trail and entry.payload["verdict"] == verdict


def machine(engine: Embedded) -> type[Space]:
    """Spaces on this engine."""
    return type("Space", (Space,), {"engine": engine})
