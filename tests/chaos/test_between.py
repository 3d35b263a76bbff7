"""What happens between a verb's read and its commit is seen by the commit: nothing is written on what has passed."""

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from store.domain.commit import Commit
from store.domain.errors import Refused
from store.verbs.call import Call, Result, Row
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from store.verbs.sessions import sign_out
from tests.world import World

from .checks import logged, sound_world

HOUR = 3_600_000
Happening = Callable[[World, dict[str, Any]], Awaitable[Any]]


def interrupted(row: Row, happening: Callable[[], Awaitable[Any]]) -> Row:
    """The row, with something that happens once: after the verb has decided and before its plan is committed."""
    left = [happening]

    @functools.wraps(row.run)
    async def run(call: Call, **args: Any) -> Commit | Result:
        plan = await row.run(call, **args)
        if left:
            await left.pop()()
        return plan

    return replace(row, run=run)


async def note(world: World) -> dict[str, Any]:
    """A note that can be written."""
    return {"where": "job:x", "kind": "memo", "summary": "x"}


async def asking(world: World) -> dict[str, Any]:
    """An ask that can be made."""
    return {"where": "job:x", "summary": "May I?"}


async def deciding(world: World, *, risk: str = "normal") -> dict[str, Any]:
    """An ask that can be approved."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="May I?", risk=risk)
    return {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}


async def deciding_high(world: World) -> dict[str, Any]:
    """An ask of high risk that ana, who answers for the key, can approve as long as there are no four eyes."""
    await world.operate("four_eyes", rule="off")
    return await deciding(world, risk="high")


async def redeeming(world: World) -> dict[str, Any]:
    """An approval that can be used."""
    args = await deciding(world)
    await world.do("human:ana", "decide", **args)
    return {"trail": args["trail"]}


async def accepting(world: World) -> dict[str, Any]:
    """An item that its recipient can accept."""
    item = await world.do("agent:codex", "handoff", to="agent:grok", summary="Go on")
    return {"item": item["item"]}


async def revoked(world: World, args: dict[str, Any]) -> None:
    """The agent's keys are revoked."""
    await world.operate("revoke", name="grok")


async def signed_out(world: World, args: dict[str, Any]) -> None:
    """The person signs out."""
    await sign_out(world.store, world.badges["human:ana"])


async def out_of_office(world: World, args: dict[str, Any]) -> None:
    """The person is a plain member from now on."""
    await world.operate("human", name="bo", role="member")


async def gone(world: World, args: dict[str, Any]) -> None:
    """The person has no role any more."""
    await world.operate("human", name="bo", role="none")


async def a_lease_later(world: World, args: dict[str, Any]) -> None:
    """The agent's key has run out."""
    await world.pass_time(91 * 24 * HOUR)


async def a_day_later(world: World, args: dict[str, Any]) -> None:
    """Nobody has decided in time, or the approval has lapsed."""
    await world.pass_time(25 * HOUR)
    await world.sign_in("ana")


async def rejected(world: World, args: dict[str, Any]) -> None:
    """Another approver was faster."""
    await world.do("human:bo", "decide", **{**args, "verdict": "reject"})


async def withdrawn(world: World, args: dict[str, Any]) -> None:
    """The requester needs it no more."""
    await world.do("agent:grok", "ask", withdraw=args["trail"])


async def taken_back(world: World, args: dict[str, Any]) -> None:
    """An approver has thought again."""
    await world.do("human:bo", "take_back", trail=args["trail"])


async def used(world: World, args: dict[str, Any]) -> None:
    """The same agent used the approval elsewhere."""
    await world.do("agent:grok", "redeem", trail=args["trail"])


async def item_withdrawn(world: World, args: dict[str, Any]) -> None:
    """The sender does it without help."""
    await world.do("agent:codex", "handoff", withdraw=args["item"])


async def four_eyes(world: World, args: dict[str, Any]) -> None:
    """The space now asks for a second pair of eyes."""
    await world.operate("four_eyes", rule="on")


async def minutes_later(world: World, args: dict[str, Any]) -> None:
    """The deadline passed, and everybody is still signed in."""
    await world.pass_time(HOUR // 2)


async def deciding_soon(world: World) -> dict[str, Any]:
    """An ask that can be approved within five minutes."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="May I?", expires_in="5m")
    return {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}


@dataclass(frozen=True)
class Case:
    """Who does what, what happens meanwhile, what the caller is told, and how many entries of which kind there are."""

    who: str
    verb: str
    prepare: Callable[[World], Awaitable[dict[str, Any]]]
    happening: Happening
    code: str
    kind: str
    stand: int = 0

    def __str__(self) -> str:
        return f"{self.who}-{self.verb}-{self.happening.__name__}"


CASES = (
    Case("agent:grok", "note", note, revoked, "key_revoked", "memo"),
    Case("agent:grok", "note", note, a_lease_later, "key_expired", "memo"),
    Case("agent:grok", "ask", asking, revoked, "key_revoked", "asked"),
    Case("agent:grok", "redeem", redeeming, revoked, "key_revoked", "redeemed"),
    Case("agent:grok", "redeem", redeeming, taken_back, "taken_back", "redeemed"),
    Case("agent:grok", "redeem", redeeming, a_day_later, "lapsed", "redeemed"),
    Case("agent:grok", "redeem", redeeming, used, "already_redeemed", "redeemed", 1),
    Case("agent:grok", "accept", accepting, revoked, "key_revoked", "accepted"),
    Case("agent:grok", "accept", accepting, item_withdrawn, "already_settled", "accepted"),
    Case("agent:grok", "accept", accepting, a_day_later, "expired", "accepted"),
    Case("human:ana", "decide", deciding, signed_out, "key_revoked", "decided"),
    Case("human:ana", "decide", deciding, withdrawn, "already_settled", "decided"),
    Case("human:ana", "decide", deciding, rejected, "already_settled", "decided", 1),
    Case("human:ana", "decide", deciding, a_day_later, "expired", "decided"),
    Case("human:ana", "decide", deciding_soon, minutes_later, "expired", "decided"),
    Case("human:ana", "decide", deciding_high, four_eyes, "not_an_approver", "decided"),
    Case("human:bo", "decide", deciding, out_of_office, "not_an_approver", "decided"),
    Case("human:bo", "decide", deciding, gone, "scope_unknown", "decided"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_what_has_passed_is_not_written(world: World, case: Case) -> None:
    """A right, an ask or time that is gone when the commit comes: the caller is told, and nothing stands on it."""
    args = await case.prepare(world)
    row = interrupted(ROWS[case.verb], functools.partial(case.happening, world, args))
    with pytest.raises(Refused) as no:
        await perform(world.store, world.badges[case.who], row, args, action_id="a1")
    assert no.value.code == case.code
    kinds = [line.entry.kind for line in await logged(world.store, world) if line.entry]
    assert kinds.count(case.kind) == case.stand
    await sound_world(world)


async def test_what_others_write_is_no_hindrance(world: World) -> None:
    """Entries of others, to the same place and by the same agent, do not get in the way of a note."""
    args = await note(world)

    async def others() -> None:
        await world.do("agent:codex", "note", **args)
        await world.do("agent:grok", "note", **args)

    row = interrupted(ROWS["note"], others)
    assert (await perform(world.store, world.badges["agent:grok"], row, args))["ok"]
    assert await sound_world(world)
