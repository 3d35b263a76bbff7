"""Deciding on Telegram, through the bot's door, to which it brings what people press: the same gate, the same rules."""

import asyncio
import json

import pytest

from store.domain.commit import Commit
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.verbs.call import Call, Row
from store.verbs.catalog import ROWS
from store.verbs.decisions import decide
from store.verbs.perform import perform
from tests.contract.phoning import ANA, BO, Card, card, carded, marked, one, pair, private, unchanged
from tests.contract.phoning import door as at_door
from tests.contract.test_asking import field
from tests.contract.test_gate import HOUR, MINUTE, asked, decided, history, refused
from tests.world import Result, World


@pytest.fixture
async def phones(world: World) -> World:
    """The world with ana and bo paired; nothing waits to be looked at."""
    await pair(world, ANA)
    await pair(world, BO)
    await marked(world)
    return world


async def viewed(world: World, ask: Result) -> Result:
    """The ask as its requester sees it."""
    return await world.do("agent:grok", "view", what=ask["trail"])


async def test_c20_telegram_is_a_way_to_reach_somebody(phones: World) -> None:
    """Who is paired is reached there, and without a session there alone; the ask says so at once."""
    await phones.human("cy", signed_in=False)
    ask = await asked(phones)
    ways = {each["who"]: each["reach"] for each in ask["asked"]}
    assert ways == {ANA: ["console", "telegram"], BO: ["console", "telegram"], "human:cy": []}
    assert {each["who"]: each.get("delivery") for each in ask["asked"]} == {
        ANA: "queued",
        BO: "queued",
        "human:cy": None,
    }
    assert "warning" not in ask


async def test_c20_an_ask_is_marked_for_the_bot_in_its_own_commit(phones: World) -> None:
    """Each change of an ask is one for the bot to look at; what changes no card is none."""
    ask = await asked(phones)
    assert await marked(phones) == {f"ask:{ask['trail']}"}
    await phones.do("agent:grok", "note", where="job:release", kind="memo", summary="so far")
    assert await marked(phones) == set()
    await decided(phones, ask)
    assert await marked(phones) == {f"ask:{ask['trail']}"}


async def test_c20_high_risk_takes_more_than_telegram(phones: World) -> None:
    """Whom only Telegram reaches cannot approve it, and the agent hears so at once."""
    for person in (ANA, BO):
        mine = await phones.do(person, "sessions")
        await phones.do(person, "end_session", session=mine["sessions"][0]["session"])
    ask = await asked(phones, risk="high")
    assert ask["warning"] == "no_strong_approver"
    assert "warning" not in await asked(phones, summary="Something small?")


async def test_c21_a_tap_decides(phones: World) -> None:
    """The verdict is the person's, on Telegram, bound to the digest of the card; the agent can use it."""
    ask = await asked(phones)
    done = await (await carded(phones, ask, BO)).tap("approve", text="Looks good")
    assert (done["status"], done["by"], done["via"], done["assurance"]) == ("approved", BO, "telegram", "telegram")
    assert done["says"].startswith("You approved this just now on Telegram")
    entry = (await history(phones, ask["trail"], "decided"))[0]
    assert (entry["by"], entry["via"]) == (BO, "telegram")
    used = await phones.do("agent:grok", "redeem", trail=ask["trail"])
    assert (used["payload"], used["decision"]["reason"]) == ({"version": 1}, "Looks good")


async def test_c21_an_option_is_answered_by_its_number(phones: World) -> None:
    """The door reads what the option says, whatever the button could show of it."""
    ask = await asked(phones, options=["stable", "x" * 200])
    done = await (await carded(phones, ask, BO)).tap("answer", option=1)
    assert done["status"] == "answered"
    assert (await viewed(phones, ask))["answer"] == "x" * 200
    other = await asked(phones, summary="And this?", options=["yes"])
    await unchanged(phones, "invalid_argument", (await carded(phones, other, BO)).tap("answer", option=5))
    await unchanged(phones, "invalid_argument", (await carded(phones, other, BO)).tap("answer", text="no option"))


async def test_c21_two_phones_and_the_console_at_once(phones: World) -> None:
    """One verdict stands; every loser is told whose, what and where."""
    for n in range(10):
        ask = await asked(phones, summary=f"Publish {n}?")
        cards = [await carded(phones, ask, who) for who in (ANA, BO)]
        tries = [each.tap(verb) for each in cards for verb in ("approve", "reject")]
        out = await asyncio.gather(*tries, decided(phones, ask, "reject"), return_exceptions=True)
        won = [each for each in out if isinstance(each, dict)]
        lost = [each for each in out if isinstance(each, Refused)]
        assert (len(won), len(lost)) == (1, 4)
        where = "on Telegram" if won[0]["via"] == "telegram" else "in the console"
        assert {each.code for each in lost} == {"already_settled"}
        assert all(f"{won[0]['by']} {won[0]['status']} this" in no.message and where in no.message for no in lost)
        assert len(await history(phones, ask["trail"], "decided")) == 1


async def test_c21_the_same_update_is_one_press(phones: World) -> None:
    """However often the bot brings it, alone or at once, it is done once and answered alike."""
    ask = await asked(phones)
    press = (await carded(phones, ask, BO)).pressing("approve")
    first, *others = await asyncio.gather(*(at_door(phones, "tap", **press) for _ in range(6)))
    again = await at_door(phones, "tap", **press)
    assert {(each["status"], each["says"], each["entry"]["id"]) for each in (first, *others, again)} == {
        ("approved", first["says"], first["entry"]["id"])
    }
    assert again["replayed"]
    await phones.do(ANA, "take_back", trail=ask["trail"])
    assert (await at_door(phones, "tap", **press))["replayed"]
    assert (await viewed(phones, ask))["status"] == "taken_back"


async def test_c12_who_does_an_action_twice_at_once_is_no_loser_to_themselves(phones: World) -> None:
    """One try looks for the action's record before the other has done it, and for the ask after that."""
    ask = await asked(phones)
    args = {"trail": ask["trail"], "verdict": "approve", "digest": ask["digest"]}
    first: list[Result] = []

    async def overtaken(call: Call, *, trail: str, verdict: str, digest: str) -> Commit:
        await call.admit()
        if not first:
            first.append(await perform(phones.store, phones.badges[BO], ROWS["decide"], args, action_id="one"))
        return await decide(call, trail=trail, verdict=verdict, digest=digest)

    row = Row("decide", "decide", overtaken)
    second = await perform(phones.store, phones.badges[BO], row, args, action_id="one")
    assert second == {**first[0], "replayed": True}
    ask = await asked(phones, summary="Another?")
    args |= {"trail": ask["trail"], "digest": ask["digest"]}
    await perform(phones.store, phones.badges[BO], ROWS["decide"], args, action_id="two")
    other = perform(phones.store, phones.badges[BO], ROWS["decide"], args, action_id="three")
    await refused("already_settled", other)


async def test_c21_an_update_is_for_one_button(phones: World) -> None:
    """An update with another button than before decides nothing else."""
    one_, two = await asked(phones), await asked(phones, summary="Another?")
    press = (await carded(phones, one_, BO)).pressing("approve")
    await at_door(phones, "tap", **press)
    other = (await carded(phones, two, BO)).pressing("approve") | {"update": press["update"]}
    await unchanged(phones, "action_conflict", at_door(phones, "tap", **other))
    assert (await viewed(phones, two))["status"] == "pending"


async def test_c22_a_late_tap_is_told_that_the_time_is_over(phones: World) -> None:
    """After the deadline nothing is decided, and the card says so without anybody writing it down."""
    ask = await asked(phones, expires_in="5m")
    late = await carded(phones, ask, BO)
    view = await card(phones, f"ask:{ask['trail']}", BO)
    assert view["look_at"] == view["deadline"] + 1
    await phones.pass_time(6 * MINUTE)
    await unchanged(phones, "expired", late.tap("approve"))
    view = await card(phones, f"ask:{ask['trail']}", BO)
    assert (view["state"], one(view, BO)["can"], view["look_at"], view["decided"]) == ("expired", [], 0, None)


async def test_c23_the_card_says_what_the_store_says(phones: World) -> None:
    """What was asked, as it is; then who decided what, where and why; then what became of the approval."""
    ask = await asked(phones, payload={"b": [1, None], "a": "x"})
    ref = f"ask:{ask['trail']}"
    view = await card(phones, ref)
    assert (view["kind"], view["state"], view["digest"], view["payload"]) == (
        "ask", "pending", ask["digest"], {"b": [1, None], "a": "x"}
    )  # fmt: skip
    assert (view["summary"], view["where"], view["risk"], view["by"]) == (
        "Publish v1?", "job:release", "normal", "agent:grok"
    )  # fmt: skip
    assert view["asked"] == [ANA, BO]
    assert [(each["who"], each["can"], each["wanted"], each["silent"]) for each in view["to"]] == [
        (who, ["approve", "reject", "ask_back"], True, False) for who in (ANA, BO)
    ]
    await (await carded(phones, ask, BO)).tap("approve", text="go")
    view = await card(phones, ref, ANA, BO)
    done = view["decided"]
    assert (done["by"], done["via"], done["verdict"], done["reason"]) == (BO, "telegram", "approve", "go")
    assert view["until"] == view["look_at"] - 1 == done["at"] + 24 * HOUR
    await phones.do("agent:grok", "redeem", trail=ask["trail"])
    view = await card(phones, ref, ANA, BO)
    assert (view["state"], view["closed"]["by"], one(view, BO)["can"]) == ("redeemed", "agent:grok", [])


async def test_c23_without_a_payload_there_is_none(phones: World) -> None:
    """Null is a payload; nothing is none."""
    none = await phones.do("agent:grok", "ask", where="job:release", summary="So?")
    null = await asked(phones, payload=None)
    assert "payload" not in await card(phones, f"ask:{none['trail']}")
    assert (await card(phones, f"ask:{null['trail']}"))["payload"] is None


async def test_c26_high_risk_is_rejected_there_and_not_approved(phones: World) -> None:
    """The card offers rejecting and asking back alone, and a forged press of the others is refused."""
    ask = await asked(phones, risk="high", options=["one"], allow=["approve", "answer"])
    view = await card(phones, f"ask:{ask['trail']}")
    assert (one(view, BO)["can"], view["console"], view["open"]) == (
        ["reject", "ask_back"], ["approve", "answer"], True
    )  # fmt: skip
    it = await carded(phones, ask, BO)
    for verb, more in (("approve", {}), ("answer", {"option": 0})):
        no = await unchanged(phones, "assurance_too_low", it.tap(verb, **more))
        assert "console" in no.message
    code = (await card(phones, f"ask:{ask['trail']}"))["code"]
    typed = at_door(phones, "typed", **private(BO, verb="approve", code=code))
    await unchanged(phones, "assurance_too_low", typed)
    assert (await it.tap("reject", text="not today"))["status"] == "rejected"


async def test_c55_whoever_approves_here_takes_back(phones: World) -> None:
    """From the card, by any approver, while it was not used."""
    ask = await asked(phones)
    mine, theirs = await carded(phones, ask, BO), await carded(phones, ask, ANA)
    await mine.tap("approve")
    view = await card(phones, f"ask:{ask['trail']}", ANA, BO)
    assert [each["can"] for each in view["to"]] == [["take_back"], ["take_back"]]
    done = await theirs.tap("take_back", text="wrong branch")
    assert (done["status"], done["closed_by"]) == ("taken_back", ANA)
    await refused("taken_back", phones.do("agent:grok", "redeem", trail=ask["trail"]))
    await unchanged(phones, "taken_back", mine.tap("take_back"))


async def test_c55_what_was_used_is_not_taken_back(phones: World) -> None:
    """Once it was used, the button is gone and its press is refused."""
    ask = await asked(phones)
    it = await carded(phones, ask, BO)
    await it.tap("approve")
    await phones.do("agent:grok", "redeem", trail=ask["trail"])
    await unchanged(phones, "already_redeemed", it.tap("take_back"))


async def test_c56_a_question_goes_to_the_agent_and_its_answer_to_every_card(phones: World) -> None:
    """The ask stays pending with its deadline; what is said stands on the card, the latest of it."""
    ask = await asked(phones)
    done = await (await carded(phones, ask, BO)).tap("ask_back", text="Which registry?")
    assert done["status"] == "pending"
    seen = await viewed(phones, ask)
    assert (seen["status"], seen["deadline"]) == ("pending", ask["deadline"])
    assert seen["next"]["args"]["kind"] == "answer"
    await marked(phones)
    answer = {"where": "job:release", "kind": "answer", "answers": ask["trail"], "summary": "The public one"}
    await phones.do("agent:grok", "note", **answer)
    assert f"ask:{ask['trail']}" in await marked(phones)
    thread = (await card(phones, f"ask:{ask['trail']}"))["thread"]
    assert [(line["kind"], line["by"], line["text"]) for line in thread] == [
        ("question", BO, "Which registry?"), ("answer", "agent:grok", "The public one")
    ]  # fmt: skip
    it = await carded(phones, ask, BO)
    for n in range(6):
        await it.tap("ask_back", text=f"And {n}?")
    assert [line["text"] for line in (await card(phones, f"ask:{ask['trail']}"))["thread"]] == [
        f"And {n}?" for n in range(1, 6)
    ]
    assert (await it.tap("approve"))["status"] == "approved"


async def test_c56_an_answer_is_told_to_who_asked(phones: World) -> None:
    """To all who asked since the answer before, and what is added to it to the same; to nobody else."""
    ask = await asked(phones)
    ref = f"ask:{ask['trail']}"
    its = {who: await carded(phones, ask, who) for who in (ANA, BO)}

    async def answers(text: str) -> dict[str, list[str]]:
        note = {"where": "job:release", "kind": "answer", "answers": ask["trail"], "summary": text}
        await phones.do("agent:grok", "note", **note)
        assert ref in await marked(phones)
        return {to["who"]: [each["text"] for each in to["answers"]] for to in (await card(phones, ref, ANA, BO))["to"]}

    await its[BO].tap("ask_back", text="Which registry?")
    assert await answers("The public one") == {ANA: [], BO: ["The public one"]}
    assert await answers("And a mirror") == {ANA: [], BO: ["The public one", "And a mirror"]}
    for who in (ANA, BO):
        await its[who].tap("ask_back", text="When?")
    assert await answers("Now") == {ANA: ["Now"], BO: ["The public one", "And a mirror", "Now"]}
    await its[ANA].tap("ask_back", text="Why?")
    assert await answers("So") == {ANA: ["Now", "So"], BO: ["The public one", "And a mirror", "Now"]}


async def test_c07_who_is_no_approver_any_more_decides_nothing(phones: World) -> None:
    """Their card loses its buttons at once, and a press that comes all the same is refused."""
    ask = await asked(phones)
    it = await carded(phones, ask, BO)
    await marked(phones)
    await phones.do(ANA, "human", name="bo", role="member")
    assert await marked(phones) == {f"ask:{ask['trail']}"}
    view = await card(phones, f"ask:{ask['trail']}", BO)
    assert (one(view, BO)["can"], one(view, BO)["wanted"], view["asked"]) == ([], False, [ANA])
    for verb in ("approve", "reject", "ask_back"):
        await unchanged(phones, "not_an_approver", it.tap(verb, text="x"))
    await phones.do(ANA, "human", name="bo", role="none")
    await unchanged(phones, "scope_unknown", it.tap("approve"))
    await phones.do(ANA, "human", name="bo", role="approver")
    assert (await it.tap("approve"))["status"] == "approved"


async def test_c27_what_nobody_can_read_is_rejected_alone(phones: World, engine: Embedded) -> None:
    """A text that was altered in the store is not shown; approving it on the card is refused, rejecting is not."""
    ask = await asked(phones)
    it = await carded(phones, ask, BO)
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        key = phones.keys.doc("ask", ask["trail"])
        doc: Result = json.loads(await field(admin, key, "doc"))
        await admin.hset(key, "doc", json.dumps(doc | {"where": "job:another"}))
    view = await card(phones, f"ask:{ask['trail']}")
    assert (view["summary"], "payload" in view, one(view, BO)["can"]) == (None, False, ["reject"])
    assert "logmem verify" in view["cannot"]
    await unchanged(phones, "digest_mismatch", it.tap("approve"))
    assert (await it.tap("reject"))["status"] == "rejected"


async def test_what_was_not_shown_whole_is_not_approved(phones: World) -> None:
    """As long as a page is missing, neither by a press nor by its code; rejecting takes no reading."""
    ask = await asked(phones)
    it = await carded(phones, ask, BO, pages=3, seen=(0, 2))
    no = await unchanged(phones, "stale", it.tap("approve"))
    assert "1 of 3 pages" in no.message
    code = (await card(phones, f"ask:{ask['trail']}"))["code"]
    await unchanged(phones, "stale", at_door(phones, "typed", **private(BO, verb="approve", code=code)))
    await it.now(seen=(0, 1, 2))
    done = await at_door(phones, "typed", **private(BO, verb="approve", code=code.upper()))
    assert (done["status"], done["via"]) == ("approved", "telegram")
    other = await asked(phones, summary="Another?")
    assert (await (await carded(phones, other, BO, pages=3)).tap("reject"))["status"] == "rejected"


async def test_a_code_is_that_of_a_card_which_one_has(phones: World) -> None:
    """Of an ask that somebody else was sent, or of none at all, nothing is decided."""
    ask = await asked(phones)
    code = (await card(phones, f"ask:{ask['trail']}"))["code"]
    assert len(code) == 6
    await carded(phones, ask, ANA)
    for said in (code, "zzzzzz", "", "x" * 500):
        await unchanged(phones, "not_found", at_door(phones, "typed", **private(BO, verb="approve", code=said)))
    await carded(phones, ask, BO, live=False)
    await unchanged(phones, "not_found", at_door(phones, "typed", **private(BO, verb="approve", code=code)))
    wrong = at_door(phones, "typed", **private(BO, verb="take_back", code=code))
    await unchanged(phones, "invalid_argument", wrong)
    assert (await viewed(phones, ask))["status"] == "pending"


async def test_a_card_of_nothing(phones: World) -> None:
    """There is no card of what is not there, and none of what is for agents alone."""
    item = await phones.do("agent:grok", "handoff", to="agent:codex", summary="Go on")
    for ref in ("ask:ask_none", f"item:{item['item']}", "job:release", "", "ask:"):
        await refused("not_found", card(phones, ref))
    await refused("scope_unknown", at_door(phones, "card", space="none", ref="ask:x", holding=[]))


async def test_a_tap_answers_like_a_call(phones: World) -> None:
    """Space and caller are named; a card has no buttons but its own."""
    ask = await asked(phones)
    it: Card = await carded(phones, ask, BO)
    for verb in ("accept", "decline", "redeem", "", "approve "):
        await unchanged(phones, "invalid_argument", it.tap(verb))
    done = await it.tap("reject")
    assert (done["space"], done["caller"], done["simulated"]) == (phones.space, BO, True)
