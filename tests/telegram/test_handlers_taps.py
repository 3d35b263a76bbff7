import pytest

from tests.telegram.phone import Phone
from tests.telegram.shown import Message
from tests.telegram.together import Together

LONG = {"files": [f"/srv/site/page-{n:04}.html" for n in range(400)]}


def labels(message: Message) -> list[str]:
    """What stands on its buttons."""
    return [button.text for row in message.buttons for button in row]


async def card(phone: Phone, *words: str) -> Message:
    """The card that holds these words and has buttons."""
    return await phone.until(lambda m: all(w in m.text for w in words) and m.buttons, what=f"with {words}")


async def stands(live: Together, trail: str) -> dict[str, object]:
    """How an ask stands, by the store."""
    found: dict[str, object] = await live.world.do("human:ana", "inbox", trail=trail)
    return found


async def test_c23_a_tap_approves_and_says_what_the_store_said(live: Together) -> None:
    """The toast comes after the decision, and every copy comes to show who decided, when and where."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    ask = await live.ask()
    first, second = await card(ana, "Shall I deploy?"), await card(bo, "Shall I deploy?")
    assert labels(first) == ["Approve", "Reject", "Ask back"]
    assert first.text.startswith('grok asks: "Shall I deploy?"')
    toast = await ana.tap(first, "Approve")
    assert toast.text.startswith("You approved this just now on Telegram. grok can use it once, until ")
    assert toast.text.endswith(" UTC.")
    assert not toast.alert
    assert (await stands(live, ask["trail"]))["status"] == "approved"
    for phone in (ana, bo):
        shown = await phone.until(lambda m: m.text.startswith("Approved · grok asked"))
        assert "Approved by ana on Telegram" in shown.text
        assert labels(shown) == ["Take back"]
    late = await bo.tap(second, "Reject")
    assert late.alert
    assert "ana approved this" in late.text
    assert "Nothing changed." in late.text
    refused = await bo.tap(second, data=f"v1:why0:{token(second)}")
    assert refused.alert
    assert "ana approved this" in refused.text
    assert not await live.telegram.violations()


def token(message: Message) -> str:
    """The token of its buttons."""
    return next(b.callback_data for row in message.buttons for b in row if b.callback_data).rpartition(":")[2]


async def told(phone: Phone, said: Message) -> Message:
    """The answer to a message."""
    return await phone.until(lambda m: m.reply_to == said.id)


async def test_a_code_of_what_is_decided_says_who_decided_it(live: Together) -> None:
    """Typed when it is over: to who decided as "you", to others by name."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.ask()
    shown = await card(ana, "Shall I deploy?")
    code = shown.text.partition("Code: ")[2][:6]
    await ana.tap(shown, "Approve")
    for phone, who in ((ana, "You"), (bo, "ana")):
        said = await phone.say(f"/reject {code}")
        answer = await told(phone, said)
        assert answer.text.startswith(f"{who} approved this just now on Telegram. Nothing changed.")


async def test_c55_an_approval_is_taken_back(live: Together) -> None:
    """By any approver, on their own card."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    ask = await live.ask()
    await ana.tap(await card(ana, "Shall I deploy?"), "Approve")
    shown = await bo.until(lambda m: labels(m) == ["Take back"])
    toast = await bo.tap(shown, "Take back")
    assert "took the approval back" in toast.text
    assert (await stands(live, ask["trail"]))["status"] == "taken_back"
    over = await ana.until(lambda m: m.text.startswith("Taken back · grok asked"))
    assert "Taken back by bo" in over.text
    assert not over.buttons


async def test_reject_offers_reasons_and_settles_with_the_chip(live: Together) -> None:
    """Back puts the card's own buttons back, and nothing is decided before a reason is pressed."""
    ana = await live.pair("ana")
    ask = await live.ask()
    shown = await card(ana, "Shall I deploy?")
    toast = await ana.tap(shown, "Reject")
    assert toast.text == "Not rejected yet: choose a reason."
    assert not toast.alert
    menu = await ana.until(lambda m: "Wrong target" in labels(m))
    assert labels(menu) == ["Not now", "Wrong target", "Write…", "No reason", "Back"]
    assert menu.text == shown.text
    await ana.tap(menu, "Back")
    await ana.until(lambda m: labels(m) == ["Approve", "Reject", "Ask back"])
    assert (await stands(live, ask["trail"]))["status"] == "pending"
    await ana.tap(shown, "Reject")
    await ana.tap(menu, "Wrong target")
    over = await ana.until(lambda m: m.text.startswith("Rejected · grok asked"))
    assert 'Reason: "Wrong target"' in over.text
    assert not over.buttons


async def test_a_reason_is_written_as_a_reply(live: Together) -> None:
    """The prompt asks for it; the reply settles, and is answered with what the store said."""
    ana = await live.pair("ana")
    ask = await live.ask()
    shown = await card(ana, "Shall I deploy?")
    await ana.tap(shown, "Reject")
    await ana.tap(await ana.until(lambda m: "Write…" in labels(m)), "Write…")
    prompt = await ana.until(lambda m: m.force_reply)
    assert prompt.reply_to == shown.id
    said = await ana.say("Not on a Friday", reply_to=prompt)
    answer = await ana.until(lambda m: m.reply_to == said.id)
    assert "rejected this" in answer.text
    over = await ana.until(lambda m: m.text.startswith("Rejected"))
    assert 'Reason: "Not on a Friday"' in over.text
    assert (await stands(live, ask["trail"]))["reason"] == "Not on a Friday"


async def test_c56_a_reply_to_a_card_asks_back(live: Together) -> None:
    """The question stands on the trail, and the agent's answer under every copy."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    ask = await live.ask()
    said = await ana.say("Which region?", reply_to=await card(ana, "Shall I deploy?"))
    await ana.until(lambda m: m.reply_to == said.id)
    await live.world.do(
        "agent:grok", "note", where="job:launch", kind="answer", summary="Both\u202e", answers=ask["trail"]
    )
    for phone in (bo, ana):
        shown = await card(phone, r'grok answered: "Both\u202e"')
        assert 'ana asked: "Which region?"' in shown.text
        assert labels(shown) == ["Approve", "Reject", "Ask back"]
    await ana.tap(await card(ana, "grok answered"), "Ask back")
    prompt = await ana.until(lambda m: m.force_reply)
    await ana.say("And when?", reply_to=prompt)
    await card(bo, 'ana asked: "And when?"')


async def test_what_does_not_fit_is_approved_when_every_page_was_shown(live: Together) -> None:
    """Neither a press that was made up nor the typed code gets round it; rejecting is there on each page."""
    ana = await live.pair("ana")
    ask = await live.ask(payload=LONG)
    shown = await card(ana, "Page 1/")
    pages = int(shown.text.partition("Page 1/")[2].partition(".")[0])
    assert pages > 2
    assert "Approve" not in labels(shown)
    code = shown.text.partition("Code: ")[2].partition(",")[0]
    made_up = await ana.tap(shown, data=f"v1:approve:{token(shown)}")
    assert made_up.alert
    assert "were not shown yet" in made_up.text
    said = await ana.say(f"/approve {code}")
    assert "not" in (await ana.until(lambda m: m.reply_to == said.id)).text
    for page in range(2, pages + 1):
        assert "Reject" in labels(shown)
        await ana.tap(shown, f"Page {page}/{pages} →")
        shown = await card(ana, f"Page {page}/")
        assert ("Approve" in labels(shown)) == (page == pages)
    assert (await stands(live, ask["trail"]))["status"] == "pending"
    assert "approved" in (await ana.tap(shown, "Approve")).text
    assert (await stands(live, ask["trail"]))["status"] == "approved"


async def test_a_typed_code_approves_what_was_shown(live: Together) -> None:
    """As the button does; any number of blanks may stand between."""
    ana = await live.pair("ana")
    ask = await live.ask()
    shown = await card(ana, "Shall I deploy?")
    code = shown.text.partition("Code: ")[2].partition(",")[0]
    said = await ana.say(f"/approve    {code.upper()}  ")
    assert "approved" in (await ana.until(lambda m: m.reply_to == said.id)).text
    assert (await stands(live, ask["trail"]))["status"] == "approved"


async def test_options_are_buttons(live: Together) -> None:
    """Each answers with its own text, also where the button shows only the beginning."""
    ana = await live.pair("ana")
    long = "Keep everything exactly as it is until the next window"
    ask = await live.ask(options=["Blue", long])
    shown = await card(ana, "Shall I deploy?")
    assert labels(shown)[0] == "1. Blue"
    assert f'2. "{long}"' in shown.text
    await ana.tap(shown, labels(shown)[1])
    over = await ana.until(lambda m: m.text.startswith("Answered · grok asked"))
    assert f'Answer: "{long}"' in over.text
    assert (await stands(live, ask["trail"]))["answer"] == long


async def test_a_free_answer_is_written(live: Together) -> None:
    """The button asks for it."""
    ana = await live.pair("ana")
    await live.ask(allow=["answer"])
    await ana.tap(await card(ana, "Shall I deploy?"), "Answer")
    await ana.say("Forty-two", reply_to=await ana.until(lambda m: m.force_reply))
    over = await ana.until(lambda m: m.text.startswith("Answered"))
    assert 'Answer: "Forty-two"' in over.text


async def test_high_risk_is_rejected_here_and_not_approved(live: Together) -> None:
    """There is no button for it, and a press that was made up is refused in words."""
    bo = await live.pair("bo")  # ana answers for the key that asks, and high risk takes a second pair of eyes
    ask = await live.ask(risk="high")
    shown = await card(bo, "High risk")
    assert "Approve" not in labels(shown)
    toast = await bo.tap(shown, data=f"v1:approve:{token(shown)}")
    assert toast.alert
    assert (await stands(live, ask["trail"]))["status"] == "pending"
    await bo.tap(shown, data=f"v1:why3:{token(shown)}")
    await bo.until(lambda m: m.text.startswith("Rejected"))


async def test_what_is_handed_over_is_accepted_or_declined_with_a_reason(live: Together) -> None:
    """Both settle it, and the card says how."""
    bo = await live.pair("bo")
    for summary in ("Read the draft", "Sign the form"):
        await live.world.do("agent:grok", "handoff", to="human:bo", where="job:launch", summary=summary)
    draft, form = await card(bo, "Read the draft"), await card(bo, "Sign the form")
    assert labels(draft) == ["Accept", "Decline"]
    await bo.tap(draft, "Accept")
    await bo.until(lambda m: m.text.startswith("Accepted · grok handed over"))
    assert (await bo.tap(form, "Decline")).text == "Not declined yet: choose a reason."
    menu = await bo.until(lambda m: "Not mine" in labels(m))
    assert "No reason" not in labels(menu)
    await bo.tap(menu, "Not mine")
    over = await bo.until(lambda m: m.text.startswith("Declined"))
    assert "Not mine" in over.text


@pytest.mark.parametrize(
    "data", ["v1:approve:AAAAAAAAAAAA", "v1:explode:{}", "v2:approve:{}", "", "x" * 64, "v1:opt7:{}"]
)
async def test_a_button_that_is_none_does_nothing(live: Together, data: str) -> None:
    """Guessed tokens, verbs that there are not, and whatever else a client can send."""
    ana = await live.pair("ana")
    ask = await live.ask()
    shown = await card(ana, "Shall I deploy?")
    toast = await ana.tap(shown, data=data.replace("{}", token(shown)))
    assert toast.alert
    assert "Nothing changed" in toast.text
    assert (await stands(live, ask["trail"]))["status"] == "pending"


async def test_a_button_of_somebody_elses_card_does_nothing(live: Together) -> None:
    """Neither pressed under an own message, nor by an account that is paired with nobody."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    stranger = await live.telegram.person("Mallory", started=True)
    ask = await live.ask()
    theirs, mine = await card(ana, "Shall I deploy?"), await card(bo, "Shall I deploy?")
    for phone, data in ((bo, f"v1:approve:{token(theirs)}"),):
        toast = await phone.tap(mine, data=data)
        assert toast.alert
        assert "Nothing changed" in toast.text
    await stranger.say("/pending")
    await stranger.until(lambda m: "paired with nobody" in m.text)
    assert (await stands(live, ask["trail"]))["status"] == "pending"


async def test_a_reply_to_what_is_handed_over_reaches_whoever_did_it(live: Together) -> None:
    """It decides nothing: it stands on the trail, under that name."""
    bo = await live.pair("bo")
    await live.world.do("agent:grok", "handoff", to="human:bo", where="job:launch", summary="Take the pager")
    shown = await card(bo, "Take the pager")
    said = await bo.say("For how long?", reply_to=shown)
    answer = await bo.until(lambda m: m.reply_to == said.id)
    assert "human:" not in answer.text
    again = await card(bo, 'bo asked: "For how long?"')
    assert labels(again) == ["Accept", "Decline"]


async def test_a_page_that_telegram_puts_off_holds_up_no_decision(live: Together) -> None:
    """Whoever turned it hears that it comes; what they press after it is decided at once."""
    ana = await live.pair("ana")
    ask = await live.ask(payload=LONG)
    shown = await card(ana, "Page 1/")
    await live.telegram.flood("editMessageText", retry_after=3000)
    pages = shown.text.partition("Page 1/")[2].partition(".")[0]
    assert "This comes in a moment" in (await ana.tap(shown, f"Page 2/{pages} →")).text
    toast = await ana.tap(shown, data=f"v1:why3:{token(shown)}")
    assert "rejected" in toast.text
    assert (await stands(live, ask["trail"]))["status"] == "rejected"


async def test_no_answer_names_people_as_programs_do(live: Together) -> None:
    """On cards, in answers to presses, and in refusals: ana, not human:ana."""
    ana, bo = await live.pair("ana"), await live.pair("bo")
    await live.ask()
    first, second = await card(ana, "Shall I deploy?"), await card(bo, "Shall I deploy?")
    said = [first.text, (await ana.tap(first, "Approve")).text]
    said.append((await bo.tap(second, data=f"v1:why0:{token(second)}")).text)
    said += [(await phone.until(lambda m: m.text.startswith("Approved"))).text for phone in (ana, bo)]
    assert "ana" in said[-1]
    assert not [text for text in said if "human:" in text or "agent:" in text]
