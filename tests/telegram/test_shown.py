"""What a card goes on to show: once it is decided, to whoever may read it no more, and on an account of before."""

from typing import Any

from tests.telegram.phone import Phone
from tests.telegram.shown import Message
from tests.telegram.test_handlers_taps import LONG, card, labels, token
from tests.telegram.test_outbox import asks, copies, settled
from tests.telegram.together import Together, eventually
from tests.world import Result


async def turned(phone: Phone, page: int) -> Message:
    """Turn a card to its next pages, until this one."""
    for n in range(2, page + 1):
        shown = await card(phone, f"Page {n - 1}/")
        await phone.tap(shown, next(label for label in labels(shown) if label.startswith(f"Page {n}/")))
    return await card(phone, f"Page {page}/")


async def decided(live: Together, ask: Result, **how: Any) -> None:
    """Bo decides it in the console."""
    said = {"trail": ask["trail"], "digest": ask["digest"], "verdict": "approve", **how}
    await live.world.do("human:bo", "decide", **said)


async def test_a_decided_card_of_several_pages_can_be_read_again(live: Together) -> None:
    """Its page buttons stay; turning changes nothing of what was seen, and Take back is there beside them."""
    ana = await live.pair("ana")
    ask = await live.ask(payload=LONG)
    await turned(ana, 3)
    await decided(live, ask)
    over = await ana.until(lambda m: m.text.startswith("Approved"))
    assert "Page 3/" in over.text
    (before,) = await copies(live, ask)
    await ana.tap(over, next(label for label in labels(over) if label.startswith("← Page 2/")))
    back = await ana.until(lambda m: m.text.startswith("Approved") and "Page 2/" in m.text)
    assert [label[:6] for label in labels(back)] == ["← Page", "Page 3", "Take b"]
    assert "page-0" in back.text
    await settled(live)
    (after,) = await copies(live, ask)
    assert (after.seen, after.page, after.digest) == (before.seen, 1, before.digest)
    await ana.tap(back, data=f"v1:page9999:{token(back)}")
    last = await ana.until(lambda m: m.text.startswith("Approved") and not any("Page 4" in x for x in labels(m)))
    assert "took the approval back" in (await ana.tap(last, "Take back")).text
    gone = await ana.until(lambda m: m.text.startswith("Taken back"))
    assert [label for label in labels(gone) if not label.startswith(("←", "Page"))] == []
    assert not await live.telegram.violations()


async def test_who_is_no_approver_any_more_reads_no_further(live: Together) -> None:
    """The page buttons are gone, and a press of one, made up, turns to no other page."""
    await live.world.human("cy", "approver")
    cy = await live.pair("cy")
    await live.ask(payload=LONG)
    first = await card(cy, "Page 1/")
    await live.world.operate("human", name="cy", role="member")
    shown = await cy.until(lambda m: "not for you to decide" in m.text)
    assert shown.buttons == ()
    await cy.tap(first, data=f"v1:page2:{token(first)}")
    await settled(live)
    assert "Page 1/" in (await cy.last()).text


async def test_a_card_on_an_account_of_before_says_so(live: Together) -> None:
    """Replaced: such cards go to the other account. Unpaired: it is paired no more. Neither points to a card below."""
    old = await live.pair("ana")
    await live.ask()
    await old.until(asks)
    new = await live.pair("ana")
    await new.until(asks)
    shown = await old.until(lambda m: "Another account has taken the place of this one" in m.text)
    assert (shown.buttons, "newer card" in shown.text) == ((), False)
    await live.world.do("human:ana", "unpair")
    shown = await new.until(lambda m: "not paired here any more" in m.text)
    assert (shown.buttons, "newer card" in shown.text) == ((), False)


async def test_the_most_urgent_card_comes_first(live: Together) -> None:
    """When several wait for a chat, whichever was asked first."""
    ana = await live.pair("ana")
    await live.telegram.flood(retry_after=1, times=1, chat_id=ana.id)
    for hours in (9, 3, 6):
        await live.ask(summary=f"In {hours} h?", expires_in=f"{hours}h")

    async def there() -> bool:
        return len([m for m in await ana.messages() if asks(m)]) == 3

    await eventually(there)
    assert [m.text[12:16] for m in await ana.messages()] == ["In 3", "In 6", "In 9"]


async def test_the_second_line_is_for_the_lock_screen(live: Together) -> None:
    """Until when and how risky, before the payload; a handoff says what its time is for, and nothing twice."""
    bo = await live.pair("bo")
    await live.ask(risk="low")
    await live.ask(summary="Drop it?", risk="high", payload={"drop": "it"})
    await live.world.do("agent:grok", "handoff", to="human:bo", summary="Look at this")
    low, high, handed = [await card(bo, words) for words in ("Shall I deploy?", "Drop it?", "Look at this")]
    seconds = [m.text.split("\n")[1] for m in (low, high, handed)]
    assert [seconds[0][:3], seconds[0][-11:]] == ["by ", " · low risk"]
    assert seconds[1].startswith("High risk · by ")
    assert seconds[2].startswith("to accept by ")
    for shown in (low, high, handed):
        assert [e.type for e in shown.entities].count("date_time") == 1
    assert not [words for words in ("Risk", "Due", "From", "(via") if words in handed.text]
    assert handed.text.count("grok") == 1
