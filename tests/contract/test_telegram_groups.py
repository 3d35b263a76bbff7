"""Groups on Telegram: an owner has notices go there, topic by topic; nobody decides there."""

from typing import Any

from tests.contract.phoning import ACCOUNTS, ANA, BO, CY, card, door, marked, pair, private, unchanged
from tests.contract.test_gate import asked, refused
from tests.contract.test_telegram_reach import phones, sound
from tests.world import Result, World

__all__ = ["phones"]

GROUP = -1001234567890


def spoken(who: str, **more: Any) -> Result:
    """What the bot brings when somebody speaks in the group."""
    group: Result = {"chat": GROUP, "chat_type": "supergroup", "thread": 4, "title": 'The "team"'}
    return private(who) | group | more


async def test_a_group_gets_notices_when_an_owner_says_so(phones: World) -> None:
    """From then on the card of an ask names the group; nobody decides there."""
    done = await door(phones, "group", **spoken(ANA))
    assert (done["on"], done["chat"], done["thread"], done["space"]) == (True, GROUP, 4, phones.space)
    ask = await asked(phones)
    view = await card(phones, f"ask:{ask['trail']}", f"chat:{GROUP}")
    assert view["groups"] == [{"who": f"chat:{GROUP}/4", "chat": GROUP, "thread": 4}]
    assert [each["who"] for each in view["to"]] == [ANA, BO, CY]
    assert (await door(phones, "migrated", old=GROUP, new=GROUP - 1))["changed"] == [phones.space]
    assert (await door(phones, "migrated", old=GROUP, new=GROUP - 1))["changed"] == []
    assert (await card(phones, f"ask:{ask['trail']}"))["groups"] == [
        {"who": f"chat:{GROUP - 1}/4", "chat": GROUP - 1, "thread": 4}
    ]
    done = await door(phones, "group", **spoken(ANA, chat=GROUP - 1, off=True))
    assert not done["on"]
    assert (await card(phones, f"ask:{ask['trail']}"))["groups"] == []
    await unchanged(phones, "not_found", door(phones, "group", **spoken(ANA, chat=GROUP - 1, off=True)))
    await sound(phones)


async def test_a_group_is_told_what_waits_already(phones: World) -> None:
    """Asks that were there before it are looked at again, and no others when notices end."""
    refs = {f"ask:{(await asked(phones, summary=text))['trail']}" for text in ("One?", "Two?")}
    await marked(phones)
    await door(phones, "group", **spoken(ANA))
    assert await marked(phones) == refs
    await door(phones, "group", **spoken(ANA, off=True))
    assert await marked(phones) == set()


async def test_each_topic_of_a_group_is_one(phones: World) -> None:
    """Notices to one leave the other as it is, a group that moves takes all with it, and each is ended by itself."""
    for thread in (0, 4, 9):
        await door(phones, "group", **spoken(ANA, thread=thread))
    ref = f"ask:{(await asked(phones))['trail']}"
    assert [each["thread"] for each in (await card(phones, ref))["groups"]] == [0, 4, 9]
    await door(phones, "group", **spoken(ANA, thread=4, off=True))
    await unchanged(phones, "not_found", door(phones, "group", **spoken(ANA, thread=4, off=True)))
    await door(phones, "migrated", old=GROUP, new=GROUP - 1)
    names = [each["who"] for each in (await card(phones, ref))["groups"]]
    assert names == [f"chat:{GROUP - 1}", f"chat:{GROUP - 1}/9"]
    await sound(phones)


async def test_a_group_that_has_put_the_bot_out_gets_nothing(phones: World) -> None:
    """Whoever did it: all its topics end, in every space, and no other group's."""
    for chat, thread in ((GROUP, 0), (GROUP, 4), (GROUP - 5, 4)):
        await door(phones, "group", **spoken(ANA, chat=chat, thread=thread))
    ref = f"ask:{(await asked(phones))['trail']}"
    assert (await door(phones, "left", chat=GROUP))["changed"] == [phones.space]
    assert [each["chat"] for each in (await card(phones, ref))["groups"]] == [GROUP - 5]
    before = await phones.dump()
    for chat in (GROUP, 5, -77):
        assert (await door(phones, "left", chat=chat))["changed"] == []
    assert await phones.dump() == before
    said = (await phones.do("agent:grok", "feed", where=f"channel:{phones.space}", kinds=["rule"]))["entries"][0]
    assert said["summary"].endswith("the bot is not in it")
    await sound(phones)


async def test_who_wants_no_notices_for_a_group(phones: World) -> None:
    """Neither an approver nor a stranger, an anonymous administrator, a channel, nor an owner in their own chat."""
    await unchanged(phones, "scope_denied", door(phones, "group", **spoken(BO)))
    await unchanged(phones, "unauthenticated", door(phones, "group", **spoken(ANA, user=7)))
    wrong: list[Result] = [{"user": 1087968824}, {"user": 136817688}, {"chat": 5}, {"chat_type": "channel"}]
    for more in [*wrong, {"chat_type": "private", "chat": ACCOUNTS[ANA]}]:
        await unchanged(phones, "not_yours", door(phones, "group", **spoken(ANA, **more)))
    await refused("scope_unknown", door(phones, "group", **spoken(ANA, space="none")))


async def test_a_space_stays_one_of_telegrams(world: World) -> None:
    """Before anybody is paired there is nothing to look at; from then on there may be cards."""
    assert (await door(world, "spaces"))["spaces"] == []
    await pair(world, ANA)
    await world.do(ANA, "unpair")
    assert (await door(world, "spaces"))["spaces"] == [world.space]
