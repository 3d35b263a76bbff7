"""Whom a card goes to: those on call, else all, never whom nothing reaches; and what is told when nobody is left."""

import asyncio

import pytest

from store import invariants
from store.engine.client import Target, open_client
from tests.contract.phoning import (
    ACCOUNTS,
    ANA,
    BO,
    CY,
    card,
    carded,
    door,
    marked,
    one,
    pair,
    private,
    sent,
    unchanged,
)
from tests.contract.test_gate import HOUR, MINUTE, asked, history
from tests.world import Result, World


@pytest.fixture
async def phones(world: World) -> World:
    """The world with cy, an approver too; all are paired, and nothing waits to be looked at."""
    await world.human("cy")
    for who in (ANA, BO, CY):
        await pair(world, who)
    await marked(world)
    return world


async def wanted(world: World, ask: Result) -> list[str]:
    """Who is to get the card of an ask now."""
    return [each["who"] for each in (await card(world, f"ask:{ask['trail']}"))["to"]]


async def lost(world: World, who: str) -> Result:
    """The bot says that nothing reaches somebody."""
    return await door(world, "unreached", user=ACCOUNTS[who], why="blocked")


async def signed_out(world: World, *people: str) -> None:
    """These have no session any more."""
    for who in people:
        for each in (await world.operate("sessions", person=who))["sessions"]:
            await world.operate("end_session", session=each["session"])


async def sound(world: World) -> None:
    """All invariants hold."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        assert await invariants.check(admin, world.space) == []


async def test_c33_asks_go_to_who_is_on_call(phones: World) -> None:
    """To all approvers where nobody is; to those on call from the moment that they are; never to fewer than one."""
    ask = await asked(phones)
    assert await wanted(phones, ask) == [ANA, BO, CY]
    await marked(phones)
    done = await door(phones, "verb", **private(CY, verb="oncall", args={}))
    assert (done["on_call"], done["others"]) == (True, [])
    assert await marked(phones) == {f"ask:{ask['trail']}"}
    assert await wanted(phones, ask) == [CY]
    told = {each["who"]: each.get("delivery") for each in (await asked(phones, summary="And?"))["asked"]}
    assert told == {ANA: None, BO: None, CY: "queued"}
    assert (await phones.do(BO, "oncall", on=True))["others"] == [CY]
    assert await wanted(phones, ask) == [BO, CY]
    for who in (BO, CY):
        await phones.do(who, "oncall", on=False)
    assert await wanted(phones, ask) == [ANA, BO, CY]
    said = await phones.do("agent:grok", "feed", kinds=["on_call"])
    assert [each["summary"] for each in said["entries"]] == [
        "human:cy is on call no more", "human:bo is on call no more", "human:bo is on call", "human:cy is on call"
    ]  # fmt: skip


async def test_c33_who_gets_no_card_is_not_said_to_be_asked(phones: World) -> None:
    """While somebody is on call the others are asked in the console alone, and on nobody's phone, until they are."""
    await signed_out(phones, BO)
    await phones.do(CY, "oncall")
    ask = await asked(phones)
    ref = f"ask:{ask['trail']}"
    assert {each["who"]: each["reach"] for each in ask["asked"]} == {ANA: ["console"], CY: ["console", "telegram"]}
    assert (await card(phones, ref))["asked"] == [CY]
    await carded(phones, ask, BO)  # who asked for it with /pending
    assert (await card(phones, ref))["asked"] == [BO, CY]
    await lost(phones, CY)
    again = await asked(phones)
    assert [each["who"] for each in again["asked"]] == [ANA, BO, CY]
    assert (await card(phones, ref))["asked"] == [ANA, BO, CY]


async def test_c33_who_cannot_be_on_call(phones: World) -> None:
    """Without an account, or without the role, nobody is."""
    await phones.human("di", "approver")
    await unchanged(phones, "not_found", phones.do("human:di", "oncall"))
    await phones.human("cy", "member")
    await unchanged(phones, "not_an_approver", phones.do(CY, "oncall"))


async def test_c33_the_next_are_asked_when_somebody_is_lost(phones: World) -> None:
    """The one on call has blocked the bot: at once the card is for all others, and says why to whoever looks."""
    await phones.do(CY, "oncall")
    ask = await asked(phones)
    await carded(phones, ask, CY)
    await marked(phones)
    assert (await lost(phones, CY))["changed"] == [phones.space]
    assert await marked(phones) == {f"ask:{ask['trail']}"}
    assert await wanted(phones, ask) == [ANA, BO]
    seen = await phones.do("agent:grok", "view", what=ask["trail"])
    assert seen["delivery"] == {ANA: "queued", BO: "queued", CY: "unreachable"}
    assert (await lost(phones, CY))["changed"] == []
    assert await history(phones, ask["trail"], "undelivered") == []
    assert (await door(phones, "reached", user=ACCOUNTS[CY]))["changed"] == [phones.space]
    assert await marked(phones) == {f"ask:{ask['trail']}"}
    assert await wanted(phones, ask) == [CY]
    assert (await door(phones, "reached", user=ACCOUNTS[CY]))["changed"] == []
    await sound(phones)


async def test_c33_who_is_lost_may_still_press(phones: World) -> None:
    """A press proves more than what the bot last heard."""
    ask = await asked(phones)
    it = await carded(phones, ask, CY)
    await lost(phones, CY)
    assert (await it.tap("approve"))["by"] == CY


async def test_c33_named_approvers_are_never_widened(phones: World) -> None:
    """Whom an ask names gets it whoever is on call, and nobody else when they are lost."""
    await phones.do(CY, "oncall")
    ask = await asked(phones, approvers=["bo"])
    assert await wanted(phones, ask) == [BO]
    await lost(phones, BO)
    assert await wanted(phones, ask) == []
    both = await asked(phones, summary="Both?", approvers=["bo", "ana"])
    assert await wanted(phones, both) == [ANA]


async def test_c33_delivery_is_told_of_each_approver(phones: World) -> None:
    """To the requester in `ask` and `view`, to people on the ask's page: what the bot has noted, as people say it."""
    ask = await asked(phones)
    ref = f"ask:{ask['trail']}"
    await carded(phones, ask, ANA, state="uncertain")
    await carded(phones, ask, BO, opened=5)
    await carded(phones, ask, BO, state="uncertain")
    await sent(phones, ref, CY, state="sending", message=0)
    states = {ANA: "uncertain", BO: "opened", CY: "queued"}
    again = await asked(phones)
    assert again["rejoined"]
    assert {each["who"]: each["delivery"] for each in again["asked"]} == states
    assert (await phones.do("agent:grok", "view", what=ask["trail"]))["delivery"] == states
    mine = await phones.do(BO, "inbox", trail=ask["trail"])
    assert {each["who"]: each["delivery"] for each in mine["asked"]} == states
    await carded(phones, ask, ANA)
    await carded(phones, ask, CY, state="failed")
    await phones.do(BO, "decide", trail=ask["trail"], verdict="reject", digest=ask["digest"])
    assert "delivery" not in await phones.do("agent:grok", "view", what=ask["trail"])


async def test_c20_nobody_is_left_and_the_agent_is_told(phones: World) -> None:
    """The last who could be reached is lost: who waits returns with that, `view` and the Brief warn, the ask stays."""
    await signed_out(phones, ANA, BO, CY)
    ask = await asked(phones)
    assert "warning" not in ask
    wait = asyncio.create_task(phones.do("agent:grok", "follow", what=ask["trail"], wait=20))
    await lost(phones, ANA)
    await lost(phones, BO)
    assert not await history(phones, ask["trail"], "undelivered")
    await lost(phones, CY)
    heard = await wait
    assert ([line["kind"] for line in heard["changes"]], heard["warning"]) == (["undelivered"], "no_approver_reachable")
    assert heard["status"] == "pending"
    seen = await phones.do("agent:grok", "view", what=ask["trail"])
    assert (seen["warning"], seen["status"]) == ("no_approver_reachable", "pending")
    brief = await phones.do("agent:grok", "brief")
    assert [line["warning"] for line in brief["pending_asks"]] == ["no_approver_reachable"]
    assert (await asked(phones, summary="Another?"))["warning"] == "no_approver_reachable"
    await sound(phones)


async def test_c20_who_begins_to_wait_after_it_was_found_is_told_too(phones: World) -> None:
    """The first call returns at once, with the warning and from where to wait on; that call waits for news."""
    await signed_out(phones, ANA, BO, CY)
    ask = await asked(phones)
    for who in (ANA, BO, CY):
        await lost(phones, who)
    first = await phones.do("agent:grok", "follow", what=ask["trail"], wait=20)
    assert (first["status"], first["warning"]) == ("pending", "no_approver_reachable")
    assert [line["kind"] for line in first["changes"]] == ["undelivered"]
    assert first["next"]["args"] == {"what": ask["trail"], "since": first["cursor"]}
    wait = asyncio.create_task(phones.do("agent:grok", "follow", wait=20, **first["next"]["args"]))
    await door(phones, "reached", user=ACCOUNTS[CY])
    await phones.do("agent:grok", "ask", withdraw=ask["trail"])
    assert (await wait)["status"] == "withdrawn"


async def test_c20_it_is_told_once_and_is_over_when_somebody_is_reached(phones: World) -> None:
    """However often the bot says so; and once somebody is back it is told no more."""
    await signed_out(phones, ANA, BO, CY)
    ask = await asked(phones, approvers=["bo"])
    for _ in range(3):
        await lost(phones, BO)
    assert len(await history(phones, ask["trail"], "undelivered")) == 1
    await door(phones, "reached", user=ACCOUNTS[BO])
    for what in (phones.do("agent:grok", "view", what=ask["trail"]), follow(phones, ask)):
        assert "warning" not in await what
    await lost(phones, BO)
    assert len(await history(phones, ask["trail"], "undelivered")) == 2
    await phones.sign_in("bo")
    assert "warning" not in await phones.do("agent:grok", "view", what=ask["trail"])


async def follow(world: World, ask: Result) -> Result:
    """The ask as it is followed, without waiting."""
    return await world.do("agent:grok", "follow", what=ask["trail"], wait=0)


async def test_c20_who_unpairs_is_lost_too(phones: World) -> None:
    """The last one goes: the agent is told all the same."""
    await signed_out(phones, ANA, BO, CY)
    ask = await asked(phones, approvers=["bo"])
    await door(phones, "verb", **private(BO, verb="unpair", args={}))
    assert len(await history(phones, ask["trail"], "undelivered")) == 1
    await phones.sign_in("bo")
    await pair(phones, BO)
    assert "warning" not in await follow(phones, ask)


async def test_c20_of_many_asks_each_is_told(phones: World) -> None:
    """More than one commit may hold: all of them are, and each once."""
    await signed_out(phones, ANA, BO, CY)
    for n in range(8):
        await phones.agent(f"a{n}")
        for m in range(15):
            await phones.do(f"agent:a{n}", "ask", where="job:x", summary=f"May I, {n} {m}?", approvers=["bo"])
    await lost(phones, BO)
    found = await phones.do("agent:grok", "feed", kinds=["undelivered"], limit=50)
    count, cursor = len(found["entries"]), found.get("cursor")
    for _ in range(100):
        if not cursor:
            break
        found = await phones.do("agent:grok", "feed", kinds=["undelivered"], limit=50, cursor=cursor)
        count, cursor = count + len(found["entries"]), found.get("cursor")
    assert count == 120
    await sound(phones)


async def test_c33_an_account_that_is_nobodys_is_nobody_lost(phones: World) -> None:
    """What the bot says of strangers changes nothing."""
    before = await phones.dump()
    for what in ("unreached", "reached"):
        assert (await door(phones, what, user=5, why="blocked"))["changed"] == []
    assert await phones.dump() == before


async def test_quiet_is_about_sound_alone(phones: World) -> None:
    """For a while or between hours a card makes no sound; high risk does, and no deadline moves."""
    ask, high = await asked(phones), await asked(phones, summary="Drop it?", risk="high")

    async def silent() -> tuple[bool, bool, str]:
        views = [await card(phones, f"ask:{each['trail']}") for each in (ask, high)]
        return one(views[0], BO)["silent"], one(views[1], BO)["silent"], views[0]["deadline"]

    loud = await silent()
    done = await door(phones, "verb", **private(BO, verb="quiet", args={"snooze": "2h"}))
    assert "snoozed_until" in done
    assert await silent() == (True, False, loud[2])
    await phones.pass_time(2 * HOUR + MINUTE)
    assert await silent() == loud
    assert (await phones.do(BO, "quiet", hours="0 - 23:59"))["hours"] == "00:00-23:59"
    assert await silent() == (True, False, loud[2])
    await phones.do(BO, "quiet", hours="off")
    assert await silent() == loud
    await phones.do(BO, "quiet", snooze="1h")
    assert "snoozed_until" not in await phones.do(BO, "quiet", snooze="off")
    wrong: list[Result] = [{"snooze": "8 days"}, {"hours": "22"}, {"hours": "25:00-07:00"}, {"hours": "07:00-07:00"}]
    for args in wrong:
        await unchanged(phones, "invalid_argument", phones.do(BO, "quiet", **args))
    await unchanged(phones, "not_found", (await alone(phones)).do("human:di", "quiet", snooze="1h"))


async def alone(world: World) -> World:
    """The world with di, who is paired with nothing."""
    await world.human("di")
    return world


async def test_c20_four_eyes_change_whose_card_it_is(phones: World) -> None:
    """Who answers for the key gets no card of high risk, until the rule is off; the card is looked at then."""
    await phones.agent("muse", responsible="ana")
    ask = await phones.do("agent:muse", "ask", where="job:x", summary="Drop it?", risk="high")
    assert await wanted(phones, ask) == [BO, CY]
    it = await carded(phones, ask, ANA)
    await unchanged(phones, "not_an_approver", it.tap("reject"))
    await marked(phones)
    await phones.do(ANA, "four_eyes", rule="off")
    assert f"ask:{ask['trail']}" in await marked(phones)
    assert await wanted(phones, ask) == [ANA, BO, CY]
