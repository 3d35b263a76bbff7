"""Plays the story: has each step called by its agent, compares how it went with how it should, and has it told."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from store.domain.moments import span

from ..fault import Fault
from .accounts import SCHEDULER, Accounts
from .actor import Actor, Reply
from .clock import Clock
from .person import Person
from .script import WINDOW_SHUT, Act, Gate, Of, Scene, Step, Told
from .story import ANSWER, STORY
from .tell import Teller, words

NOT_DECIDED = 6  # exit code, as of `wait`: nobody had decided in time
ROUND = 20  # seconds that the server holds one request of an agent that waits


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever called wants; `wait` is for how long (seconds) a person may take."""

    auto: bool
    wait: float


@dataclass(slots=True)
class Stage:
    """One demo in one space; `said` is what named steps were answered, `code` the exit code so far.

    `accounts` is the scheduler, where the clock is moved: it comes to know of each hour that passes.
    """

    teller: Teller
    wishes: Wishes
    clock: Clock
    person: Person
    actors: Mapping[str, Actor]
    accounts: Accounts | None
    tag: str
    said: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    code: int = 0

    @property
    def _time(self) -> str:
        """How long a person may take, in words."""
        return span(round(self.wishes.wait * 1000))

    async def play(self) -> None:
        """Play every scene that can be. Fault: a step did not go as the story has it, and which."""
        if self.accounts:
            await self.accounts.caught_up()  # what opens from now on is watched
        for scene in STORY:
            why = self.clock.unreachable(scene.at) if scene.clocked else ""
            if why:
                self.teller.remark(f"\n{scene.clocked} is left out: {why}.")
                continue
            await self._scene(scene)

    async def _scene(self, scene: Scene) -> None:
        if self.accounts:
            await self.accounts.caught_up()
            await self.clock.move(scene.at)
        await self.teller.title(self.clock.now, scene.title)
        if self.accounts:
            await self._accounted(self.accounts)
        shut = False
        for step in scene.steps:
            if isinstance(step, Gate):
                await self._gate(step)
            elif not (shut and isinstance(step, Step) and step.checks_in):
                shut = await self._one(step) or shut

    async def _accounted(self, accounts: Accounts) -> None:
        """What the time that has passed has brought, as the scheduler wrote it down."""
        await accounts.caught_up()
        for news in await accounts.news():
            wrote = {"kind": news.kind, "entries": [each.shown() for each in news.entries]}
            await self.teller.step(self.clock.now, SCHEDULER, news.text, wrote=wrote)

    async def _one(self, step: Step | Act) -> bool:
        """One step; whether it was a check-in that found its window shut."""
        if isinstance(step, Act):
            await self._tell(step, {}, Reply("", "", {}))
            return False
        try:
            args = self._filled(step.args)
        except (KeyError, IndexError, TypeError) as why:
            raise Fault(f"{_named(step)} needs what no step before it was answered ({why}).") from None
        reply = await self.actors[step.who].call(step.verb, args)
        if step.checks_in and reply.refused in WINDOW_SHUT and not self.clock.moves:
            text = f"is not let in, {reply.refused}: {reply.text.partition(': ')[2].partition(' Nothing')[0]}"
            await self._line(step, text, args, reply)
            self.teller.remark(f"  The others would hear the same: {self.clock.why}.")
            return True
        if reply.refused != step.refused:
            raise Fault(f"{_named(step)} {_otherwise(step, reply)}")
        self.said[step.name or step.verb] = reply.result
        await self._tell(step, args, reply)
        return False

    async def _gate(self, gate: Gate) -> None:
        """The agent waits, a person decides, and what follows depends on it."""
        trail = self.said[gate.ask]["trail"]
        wait = Step(gate.who, "follow", {"what": trail}, "{r[says]}")
        line = f"halts, and waits for {self.person.id}"
        await self._line(wait, line, wait.args, Reply("", "", {}))
        if not self.wishes.auto:
            await self._invite(trail)
        waiting = asyncio.create_task(self._settled(gate, trail))
        parts = [waiting, asyncio.create_task(self._decide(trail))] if self.wishes.auto else [waiting]
        try:
            await asyncio.gather(*parts)  # who decides and fails need not be waited for
        finally:
            for part in parts:
                part.cancel()
        reply = waiting.result()
        status = str(reply.result["status"])
        if status == "pending":
            self.code = NOT_DECIDED
            in_vain = f"Nobody decided within {self._time}. The ask stayed pending and nothing ran."
            self.teller.remark(f"  {in_vain}", code=NOT_DECIDED)
        await self._line(wait, f"hears: {reply.result['says']}", wait.args, reply)
        if status not in gate.after:
            raise Fault(f"{_named(wait)} ended with {status!r}, which the story does not know.")
        for step in gate.after[status]:
            await self._one(step)

    async def _settled(self, gate: Gate, trail: str) -> Reply:
        """How the ask stands once it is settled, or the wait is over; what is asked back meanwhile gets an answer."""
        give_up = time.monotonic() + self.wishes.wait
        agent, args = self.actors[gate.who], {"what": trail}
        while True:
            left = give_up - time.monotonic()
            reply = await agent.call("follow", {**args, "wait": max(0, min(ROUND, int(left)))})
            if reply.refused:
                raise Fault(f"The step agent:{gate.who} follow was refused: {reply.text}")
            if reply.result["status"] != "pending" or left <= 0:
                return reply
            args["since"] = reply.result["cursor"]
            asked = [each for each in reply.result.get("changes", ()) if each["kind"] == "question"]
            if asked:
                await self._answer(gate, trail, asked[-1])

    async def _answer(self, gate: Gate, trail: str, asked: Mapping[str, Any]) -> None:
        """Answer what a person asked back."""
        told = Told({}, asked, self.said)
        await self.teller.step(self.clock.now, asked["by"], words("asks back: {r[summary]!q}", told), verb="ask_back")
        where = self.said[gate.ask]["where"]
        args = {"where": where, "kind": "answer", "answers": trail, "summary": ANSWER}
        await self._one(Step(gate.who, "note", args, "answers: {a[summary]!q}"))

    async def _decide(self, trail: str) -> None:
        """Decide as a person, by a session of theirs."""
        said = await self.person.approve(trail)
        told = Told({}, said, self.said)
        text = words("looks at it in a session of their own and approves digest {r[digest]:.8}; via {r[via]}", told)
        await self.teller.step(self.clock.now, self.person.id, text, verb="decide", result=said)

    async def _invite(self, trail: str) -> None:
        """Say where a person decides, and how they get in."""
        console = self.person.house.console
        ask = f"{console}/s/{self.person.operator.space}/ask/{trail}"
        links = {"ask_url": ask}
        sign_in = f"  (Signed in elsewhere only? logmem human link {self.person.name} makes a link.)"
        if not await self.person.signed_in():
            links["login_url"] = console + await self.person.link()
            sign_in = (
                f"  First sign in as {self.person.id}, by this link, once, within 10 minutes: {links['login_url']}"
            )
        bot = await self.person.phone()
        if bot:
            links["bot"] = bot
        where = f"in the console, or on your phone (@{bot})" if bot else "in the console"
        turn = f"  Your turn: decide it {where}, within {self._time}. Meanwhile nothing runs.\n"
        self.teller.remark(f"{turn}{sign_in}\n  The ask: {ask}", **links)

    async def _tell(self, step: Step | Act, args: Mapping[str, Any], reply: Reply) -> None:
        try:
            text = words(step.tell, Told(args, reply.result, self.said), code=reply.refused)
        except (KeyError, IndexError, TypeError) as why:
            raise Fault(f"{_named(step)} was answered without {why}, which the story tells of.") from None
        await self._line(step, text, args, reply)

    async def _line(self, step: Step | Act, text: str, args: Mapping[str, Any], reply: Reply) -> None:
        facts: dict[str, Any] = {"args": args, "refused": reply.refused or None, "result": reply.result}
        named = {"verb": step.verb, **facts} if isinstance(step, Step) else {}
        await self.teller.step(self.clock.now, f"agent:{step.who}", text, **named)

    def _filled(self, value: Any) -> Any:
        """Arguments with what earlier steps were answered, and with this run's tag."""
        match value:
            case str():
                return value.replace("{tag}", self.tag)
            case Of(step, way):
                found: Any = self.said[step]
                for each in way:
                    found = found[each]
                return found
            case Mapping():
                return {name: self._filled(each) for name, each in value.items()}
            case list() | tuple():
                return [self._filled(each) for each in value]
        return value


def _named(step: Step | Act) -> str:
    return f"The step agent:{step.who} {step.verb if isinstance(step, Step) else 'acts'}"


def _otherwise(step: Step, reply: Reply) -> str:
    """How a step went that was to go otherwise."""
    if reply.refused:
        expected = f"was to be refused {step.refused}, and" if step.refused else "was to succeed, and"
        return f"{expected} was refused: {reply.text}"
    return f"was to be refused {step.refused}, and succeeded."
