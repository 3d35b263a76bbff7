"""Handoffs and seats on Telegram, and what a reply to a card means."""

import asyncio

from tests.contract.phoning import ANA, BO, CY, card, carded, marked, one, sent, unchanged
from tests.contract.test_gate import asked
from tests.contract.test_telegram_reach import lost, phones, signed_out
from tests.world import World

__all__ = ["phones"]


async def test_c35_a_handoff_to_a_person_is_accepted_on_the_phone(phones: World) -> None:
    """The card has what was handed over and both buttons; settled once, by its recipient."""
    item = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this", where="job:x")
    ref = f"item:{item['item']}"
    assert await marked(phones) == {ref}
    view = await card(phones, ref)
    assert (view["kind"], view["state"], view["open"], view["summary"], view["digest"]) == (
        "item", "open", True, "Look at this", ""
    )  # fmt: skip
    assert [(each["who"], each["can"]) for each in view["to"]] == [(BO, ["accept", "decline"])]
    mine, other = await sent(phones, ref, BO), await sent(phones, ref, ANA)
    await unchanged(phones, "not_yours", other.tap("accept"))
    await unchanged(phones, "reason_required", mine.tap("decline"))
    await unchanged(phones, "invalid_argument", mine.tap("approve"))
    done = await mine.tap("accept")
    assert (done["status"], done["by"], done["via"]) == ("accepted", BO, "telegram")
    assert done["says"].endswith("on Telegram.")
    no = await unchanged(phones, "already_settled", mine.tap("decline", text="too late"))
    assert "human:bo accepted" in no.message
    view = await card(phones, ref, BO)
    assert (view["state"], view["decided"]["by"], one(view, BO)["can"]) == ("accepted", BO, [])


async def test_c35_declining_on_the_phone_tells_the_sender_why(phones: World) -> None:
    """The reason goes to the sender."""
    item = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this")
    it = await sent(phones, f"item:{item['item']}", BO)
    await it.tap("decline", text="no time")
    seen = await phones.do("agent:grok", "view", what=item["item"])
    assert (seen["status"], seen["reason"], seen["via"]) == ("declined", "no time", "telegram")
    assert (await card(phones, it.copy.ref, BO))["decided"]["reason"] == "no time"


async def test_c36_what_is_for_a_role_goes_to_all_of_it(phones: World) -> None:
    """To the people who have it, but not to its sender; the first accepts."""
    item = await phones.do(ANA, "handoff", to="role:approver", summary="Who can?")
    ref = f"item:{item['item']}"
    assert [each["who"] for each in (await card(phones, ref))["to"]] == [BO, CY]
    await phones.do(CY, "oncall")
    assert [each["who"] for each in (await card(phones, ref))["to"]] == [CY]
    assert (await (await sent(phones, ref, BO)).tap("accept"))["by"] == BO


async def test_c40_a_seat_is_answered_on_the_phone(phones: World) -> None:
    """By its holder, once, in words."""
    huddle = await phones.do("agent:grok", "huddle", where="job:x", question="Which?", seats=["bo", "codex"])
    seat = next(each for each in huddle["seats"] if each["to"] == BO)["item"]
    view = await card(phones, f"item:{seat}")
    assert (one(view, BO)["can"], view["huddle"], view["summary"]) == (
        ["answer", "decline"], huddle["huddle"], "Which?"
    )  # fmt: skip
    it = await sent(phones, f"item:{seat}", BO)
    await unchanged(phones, "invalid_argument", it.tap("answer"))
    done = await it.tap("answer", text="The second")
    assert (done["by"] if "by" in done else done["caller"]) == BO
    assert (await phones.do("agent:grok", "view", what=seat))["status"] == "answered"
    await unchanged(phones, "already_settled", it.tap("answer", text="No, the first"))


async def test_c35_a_yes_is_to_what_was_shown_whole(phones: World) -> None:
    """As with asks: a handoff is accepted and a seat answered once every page was shown; a no is always possible."""
    item = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this")
    huddle = await phones.do("agent:grok", "huddle", where="job:x", question="Which?", seats=["bo", "codex"])
    seat = next(each for each in huddle["seats"] if each["to"] == BO)["item"]
    one_, two = await sent(phones, f"item:{item['item']}", BO, pages=2), await sent(phones, f"item:{seat}", BO, pages=3)
    for it, verb in ((one_, "accept"), (two, "answer"), (two, "reply")):
        no = await unchanged(phones, "stale", it.tap(verb, text="Yes"))
        assert "not shown yet" in no.message
    assert (await (await one_.now(pages=2, seen=(0, 1))).tap("accept"))["status"] == "accepted"
    await two.tap("decline", text="not mine")


async def test_c56_a_reply_means_what_its_card_is_of(phones: World) -> None:
    """A question about an ask or a handoff, the answer of a seat: the door decides, whatever the bot thinks."""
    ask = await asked(phones)
    assert (await (await carded(phones, ask, BO)).tap("reply", text="Which one?"))["status"] == "pending"
    item = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this", where="job:x")
    it, other = await sent(phones, f"item:{item['item']}", BO), await sent(phones, f"item:{item['item']}", CY)
    await marked(phones)
    wait = asyncio.create_task(phones.do("agent:grok", "follow", what=item["item"], wait=20))
    done = await it.tap("reply", text="For how long?")
    assert "grok sees it" in done["says"]
    assert await marked(phones) == {it.copy.ref}
    assert [(line["kind"], line["text"]) for line in (await card(phones, it.copy.ref))["thread"]] == [
        ("question", "For how long?")
    ]
    assert [line["kind"] for line in (await wait)["changes"]] == ["question"]
    await unchanged(phones, "not_yours", other.tap("reply", text="And me?"))
    await it.tap("accept")
    await it.tap("reply", text="And then?")
    gone = await phones.do("agent:grok", "handoff", to="human:bo", summary="And this?")
    late = await sent(phones, f"item:{gone['item']}", BO)
    await phones.do("agent:grok", "handoff", withdraw=gone["item"])
    no = await unchanged(phones, "already_settled", late.tap("reply", text="Which?"))
    assert "withdrew" in no.message
    huddle = await phones.do("agent:grok", "huddle", where="job:x", question="Which?", seats=["bo", "codex"])
    seat = next(each for each in huddle["seats"] if each["to"] == BO)["item"]
    await (await sent(phones, f"item:{seat}", BO)).tap("reply", text="The second")
    assert (await phones.do("agent:grok", "view", what=seat))["status"] == "answered"


async def test_a_handoff_that_does_not_arrive_is_told(phones: World) -> None:
    """To a person whom nothing reaches: on its trail, so that whoever waits for it returns."""
    await signed_out(phones, BO)
    item = await phones.do("agent:grok", "handoff", to="human:bo", summary="Look at this")
    wait = asyncio.create_task(phones.do("agent:grok", "follow", what=item["item"], wait=20))
    await lost(phones, BO)
    assert [line["kind"] for line in (await wait)["changes"]] == ["undelivered"]
