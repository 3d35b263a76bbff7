"""Nobody who may decide can be told: whatever brings that about, who waits hears it, and when it is over."""

import contextlib
from collections.abc import Awaitable, Callable

import pytest

from store.domain.errors import Refused
from tests.contract.phoning import ACCOUNTS, ANA, BO, CY, card, carded, door, marked, one, pair, private, sent
from tests.contract.test_gate import asked, history, refused
from tests.contract.test_telegram_everywhere import repeated
from tests.contract.test_telegram_reach import follow, lost, signed_out, sound, wanted
from tests.world import Result, World

Act = Callable[[World], Awaitable[object]]


@pytest.fixture
async def phones(world: World) -> World:
    """The world with cy, an approver too; all are paired, and nothing waits to be looked at."""
    await world.human("cy")
    for who in (ANA, BO, CY):
        await pair(world, who)
    await marked(world)
    return world


async def unshown(world: World, ask: Result, who: str) -> Result:
    """The bot says that the card of an ask cannot be shown on somebody's phone."""
    about = {"space": world.space, "ref": f"ask:{ask['trail']}"}
    return await door(world, "unreached", user=ACCOUNTS[who], why="failed", **about)


async def silences(world: World, ask: Result) -> int:
    """How often it was said that nobody can be reached."""
    return len(await history(world, ask["trail"], "undelivered"))


def role(who: str, role: str) -> Act:
    """Give somebody a role, or take it away."""
    return lambda world: world.operate("human", name=who.partition(":")[2], role=role)


def excluded(who: str) -> Act:
    """An owner approves nothing from now on."""
    return lambda world: world.operate("human", name=who.partition(":")[2], excluded=True)


@pytest.mark.parametrize(
    ("who", "approvers", "ends", "mends"),
    [
        (BO, ["bo"], role(BO, "none"), None),
        (BO, ["bo"], lambda world: world.operate("unpair", person="bo"), lambda world: pair(world, BO)),
        (ANA, ["owner"], role(ANA, "none"), role(BO, "owner")),
        (ANA, ["owner"], role(ANA, "approver"), role(CY, "owner")),
        (BO, ["bo"], role(BO, "member"), None),
    ],
)
async def test_c20_the_last_who_may_decide_goes(
    phones: World, who: str, approvers: list[str], ends: Act, mends: Act | None
) -> None:
    """By their role or their phone: it is said on the trail once, the ask warns, and it is over when somebody comes."""
    await phones.operate("human", name="di", role="owner")
    await signed_out(phones, ANA, BO, CY)
    await phones.operate("human", name="di", role="owner", excluded=True)
    ask = await asked(phones, approvers=approvers)
    assert "warning" not in ask
    await ends(phones)
    heard = await follow(phones, ask)
    assert (heard["warning"], await silences(phones, ask)) == ("no_approver_reachable", 1)
    if mends:
        await phones.sign_in("bo")
        await mends(phones)
        assert "warning" not in await follow(phones, ask)
    await sound(phones)


async def test_c20_the_last_session_ends(world: World) -> None:
    """Whom only the console reached is reached no more, by whichever way their session ends; a new one mends it."""
    await pair(world, ANA)
    ask = await asked(world, approvers=["bo"])
    for ends in (signed_out, own_end):
        await ends(world, BO)
        assert (await follow(world, ask))["warning"] == "no_approver_reachable"
        await world.sign_in("bo")
        assert "warning" not in await follow(world, ask)
    assert await silences(world, ask) == 2


async def own_end(world: World, who: str) -> None:
    """Somebody ends their own session."""
    (mine,) = (await world.do(who, "sessions"))["sessions"]
    await world.do(who, "end_session", session=mine["session"])


async def test_c20_four_eyes_leave_nobody(world: World) -> None:
    """Who answers for the key was the only one to be reached; the rule, or another approver, makes it silent."""
    await pair(world, ANA)
    await signed_out(world, BO)
    await world.operate("four_eyes", rule="off")
    await world.agent("muse", responsible="ana")
    ask = await world.do("agent:muse", "ask", where="job:x", summary="Drop it?", risk="high")
    for rule, silent in (("on", True), ("off", False), ("auto", True)):
        await world.operate("four_eyes", rule=rule)
        told = await world.do("agent:muse", "follow", what=ask["trail"], wait=0)
        assert ("warning" in told) is silent, rule
    await world.operate("human", name="bo", role="member")  # nobody else approves now, so one pair of eyes will do
    assert "warning" not in await world.do("agent:muse", "follow", what=ask["trail"], wait=0)
    await world.operate("human", name="bo", role="approver")
    assert "warning" in await world.do("agent:muse", "follow", what=ask["trail"], wait=0)
    await sound(world)


async def test_c20_of_many_asks_each_hears_that_nobody_is_left(phones: World) -> None:
    """More than one commit may say: the rest is noted with it, and said soon after."""
    await signed_out(phones, ANA, BO, CY)
    for n in range(6):
        await phones.agent(f"a{n}")
        for m in range(18):
            await phones.do(f"agent:a{n}", "ask", where="job:x", summary=f"May I, {n} {m}?", approvers=["bo"])
    await phones.operate("human", name="bo", role="member")
    assert await repeated(phones) == 0
    briefs = [await phones.do(f"agent:a{n}", "brief") for n in range(6)]
    told = [line.get("warning") for brief in briefs for line in brief["pending_asks"]]
    assert set(told) == {"no_approver_reachable"}
    found = await phones.do("agent:grok", "feed", kinds=["undelivered"], limit=50)
    count, cursor = len(found["entries"]), found.get("cursor")
    for _ in range(100):
        if not cursor:
            break
        found = await phones.do("agent:grok", "feed", kinds=["undelivered"], limit=50, cursor=cursor)
        count, cursor = count + len(found["entries"]), found.get("cursor")
    assert count == 108
    await sound(phones)


async def test_c20_where_somebody_is_left_nothing_is_said(phones: World) -> None:
    """Roles, sessions and phones of the others come and go."""
    ask = await asked(phones)
    await phones.operate("human", name="cy", role="none")
    await phones.do(BO, "unpair")
    await signed_out(phones, BO)
    assert "warning" not in await follow(phones, ask)
    assert await silences(phones, ask) == 0


async def test_c33_a_card_that_cannot_be_shown_is_for_the_next(phones: World) -> None:
    """Who is on call is passed over for this ask alone, at once; all else still comes to them."""
    await phones.do(CY, "oncall")
    ask, other = await asked(phones), await asked(phones, summary="And this?")
    it = await carded(phones, ask, CY, state="failed", message=0)
    await marked(phones)
    assert (await unshown(phones, ask, CY))["changed"] == [phones.space]
    assert await marked(phones) == {it.copy.ref}
    assert await wanted(phones, ask) == [ANA, BO]
    assert await wanted(phones, other) == [CY]
    seen = await phones.do("agent:grok", "view", what=ask["trail"])
    assert seen["delivery"] == {ANA: "queued", BO: "queued", CY: "failed"}
    assert not one(await card(phones, it.copy.ref, CY), CY)["wanted"]
    assert (await unshown(phones, ask, CY))["changed"] == []
    assert await silences(phones, ask) == 0
    await sound(phones)


async def test_c20_a_card_that_nobody_can_be_shown(phones: World) -> None:
    """Once nobody is left the requester hears it, and what the next ask says of people is not touched."""
    await signed_out(phones, ANA, BO, CY)
    ask = await asked(phones)
    for who in (ANA, BO, CY):
        assert await silences(phones, ask) == 0
        await unshown(phones, ask, who)
    heard = await follow(phones, ask)
    assert (heard["warning"], await silences(phones, ask)) == ("no_approver_reachable", 1)
    assert "warning" not in await asked(phones, summary="Another?")
    await phones.sign_in("bo")
    assert "warning" not in await follow(phones, ask)
    await sound(phones)


async def test_c20_a_handoff_that_cannot_be_shown(phones: World) -> None:
    """Its sender hears it, and of a role's the others get it."""
    await signed_out(phones, BO)
    mine = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this")
    role_s = await phones.do(ANA, "handoff", to="role:approver", summary="Who can?")
    for item in (mine["item"], role_s["item"]):
        about = {"space": phones.space, "ref": f"item:{item}"}
        done = await door(phones, "unreached", user=ACCOUNTS[BO], why="failed", **about)
        assert done["changed"] == [phones.space]
    assert len(await history(phones, mine["item"], "undelivered")) == 1
    assert await history(phones, role_s["item"], "undelivered") == []
    assert [each["who"] for each in (await card(phones, f"item:{role_s['item']}"))["to"]] == [CY]
    await sound(phones)


async def test_what_cannot_be_shown_is_something_that_waits(phones: World) -> None:
    """Of what is decided, of nothing, of strangers and of another space nothing is noted."""
    ask = await asked(phones)
    await (await carded(phones, ask, BO)).tap("reject")
    before = await phones.dump()
    assert (await unshown(phones, ask, BO))["changed"] == []
    for ref in ("ask:ask_none", "item:x", "", "job:x"):
        about = {"space": phones.space, "ref": ref}
        assert (await door(phones, "unreached", user=ACCOUNTS[BO], why="failed", **about))["changed"] == []
    about = {"space": phones.space, "ref": f"ask:{ask['trail']}"}
    assert (await door(phones, "unreached", user=5, why="failed", **about))["changed"] == []
    assert await phones.dump() == before
    call = door(phones, "unreached", user=ACCOUNTS[BO], why="failed", space="none", ref="ask:x")
    await refused("scope_unknown", call)


@pytest.mark.parametrize("how", ["tap", "verb", "typed", "pair"])
async def test_c33_who_writes_to_the_bot_is_reached(phones: World, how: str) -> None:
    """Whatever they send in their own chat proves it, also what is refused; a group proves nothing."""
    ask = await asked(phones)
    it = await carded(phones, ask, BO)
    await lost(phones, BO)
    assert BO not in await wanted(phones, ask)
    group = {"chat": -1007, "chat_type": "supergroup", "thread": 0, "title": "x"}
    await refused("scope_denied", door(phones, "group", **private(BO) | group))
    assert BO not in await wanted(phones, ask)
    names = {"name": "", "username": "", "forwarded": False, "via_bot": False, "is_bot": False}
    bodies: dict[str, Result] = {
        "tap": it.pressing("ask_back", text="Which?"),
        "verb": private(BO, verb="inbox", args={}),
        "typed": private(BO, verb="approve", code="nosuch"),
        "pair": private(BO, code="wrong", **names),
    }
    with contextlib.suppress(Refused):  # what is said to it is not what this is about
        await door(phones, how, **bodies[how])
    assert BO in await wanted(phones, ask)


async def test_c33_who_comes_to_another_space_is_lost_there_too(phones: World) -> None:
    """What is known of an account counts wherever its person comes later."""
    await phones.operate("human", name="bo", role="none")
    await lost(phones, BO)
    await phones.operate("human", name="bo", role="approver")
    ask = await asked(phones)
    assert await wanted(phones, ask) == [ANA, CY]
    await sent(phones, f"ask:{ask['trail']}", BO)
    await door(phones, "verb", **private(BO, verb="inbox", args={}))
    assert await wanted(phones, ask) == [ANA, BO, CY]
