"""A bot that was taken over writes what it likes into its own records: the API, the console and the bot go on."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.cards import layout_of
from bot.words import AT_ONCE, LONGEST, MOST, Offer, Reply, Show, Toast, Verdict, spelled, spoken
from store.domain.copy import PAGES, Copy
from store.domain.entry import PAYLOAD_LIMIT, SUMMARY_LIMIT
from store.engine.client import Target, open_client
from store.engine.keys import Keys, of_bot, shared
from tests.surfaces.server import BOT_SECRET
from tests.telegram.together import together
from tests.world import World

TOKEN = "B" * 12
WORDS = (
    Toast(query="1", chat=2, message=3, text="Done.", alert=True),
    Reply(chat=-5, text="\U0001f600", entities=({"type": "bold", "offset": 0, "length": 2},), placeholder=""),
    Reply(chat=5, text="Why?", placeholder="Why", meaning={"kind": "reason", "token": TOKEN, "option": 2}),
    Show(query="q", chat=1, message=2, space="w", token=TOKEN, page=2),
    Show(query="q", chat=1, message=2, space="w", token=TOKEN, rows=(({"text": "a", "callback_data": "b"},), ())),
    Offer(chat=1, space="w", ref="ask:a", who="human:ana"),
    Verdict(chat=1, claim="c", reply_to=4),
)


@pytest.mark.parametrize("pages", [30_000_000, PAGES + 1, 0])
async def test_a_copy_of_any_size_is_no_copy(world: World, pages: int) -> None:
    """A press on a card of so many pages finds no button, at once: nothing is made that is as large as it says."""
    async with together(world, run=False) as live:
        ana = await live.pair("ana")
        ask = await live.ask()
        ref = f"ask:{ask['trail']}"
        copy = Copy(
            token=TOKEN, ref=ref, to="human:ana", chat=ana.id, message=5, state="sent", digest=ask["digest"], seen=(0,)
        )  # fmt: skip
        async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
            await admin.hset(Keys(world.space).card(ref), TOKEN, replace(copy, pages=pages).line())
            await admin.set(shared("tg:button", TOKEN), f"{world.space} {ref}")
        press = {"update": 1, "user": ana.id, "chat": ana.id, "chat_type": "private", "message": 5, "token": TOKEN}
        assert world.http
        head = {"authorization": f"Bearer {BOT_SECRET}"}
        reply = await world.http.post("/internal/telegram/tap", json={**press, "verb": "approve"}, headers=head)
        assert reply.json()["error"]["code"] == "not_found", reply.text
        assert ask["trail"] in json.dumps(await world.do("human:ana", "inbox"))


@pytest.mark.parametrize(
    "state",
    [
        {"alive": "x"}, {"alive": "9" * 400}, {"at": "x", "alive": "1"}, {"polled": "x", "alive": "9" * 15},
        {"state": "<script>alert(1)</script>", "why": "\x1b[2J<b>"}, {"username": "evil</a>"}, {"state": b"\xff\xfe"},
    ],
)  # fmt: skip
async def test_the_console_goes_on_whatever_the_bot_says_of_itself(world: World, state: dict[str, Any]) -> None:
    """Its page on Telegram is shown, and no name that is none leads anywhere."""
    async with together(world, run=False) as live:
        async with open_client(Target.embedded(world.engine), user="lm-bot") as bot:
            odd: Any = {"username": "", **state}
            await bot.hset(of_bot("state"), mapping=odd)
        assert world.http
        cookie = {"cookie": f"logmem_session={world.tokens['human:ana']}"}
        page = await world.http.get(f"/s/{world.space}/telegram", headers=cookie)
        assert page.status_code == 200
        assert "evil" not in page.text
        assert "alert(1)" not in page.text
        assert (await live.world.do("human:ana", "pairing")).get("link", "") == ""


@pytest.mark.parametrize(
    "payload",
    [
        "\x7f" * (PAYLOAD_LIMIT - 10),
        [1] * (PAYLOAD_LIMIT // 2 - 1),
        {"a": {"b": {"c": {"d": [1] * (PAYLOAD_LIMIT // 2 - 15)}}}},
        ("\x7f" * 200 + "\n") * (PAYLOAD_LIMIT // 202 - 1),
    ],
    ids=["one text", "one list", "deep", "lines"],
)
def test_the_largest_card_has_fewer_pages_than_a_record_may_say(payload: Any) -> None:
    """Twice as large it still would."""
    name = "x" * 63
    view = {
        "kind": "ask", "huddle": "", "space": name, "where": f"job:{name}", "code": "abcd", "digest": "d" * 64,
        "by": f"agent:{name}", "byline": f"agent:{name} (via {name})", "summary": "\x7f" * SUMMARY_LIMIT,
        "options": ["\x7f" * 200] * 8, "risk": "high", "deadline": 10**13, "simulated": True, "payload": payload,
        "state": "pending", "open": True, "to": [],
    }  # fmt: skip
    assert 20 < layout_of(view, "human:ana")[0] < PAGES / 2


@pytest.mark.parametrize("word", WORDS)
def test_words_are_kept_and_read_again(word: Any) -> None:
    """What was kept is what is said."""
    assert spoken(spelled([word], made=5)) == ((word,), 5)


NO_WORDS = (
    "", "[]", "{}", "[" * 100_000, '{"made":"1","words":[]}', '{"made":1,"words":{}}', '{"made":1,"words":[1]}',
    f'{{"made":{MOST},"words":[]}}', '{"made":-1,"words":[]}', '{"made":true,"words":[]}', '{"made":1e400,"words":[]}',
    json.dumps({"made": 1, "words": [{"kind": "verdict", "chat": 1, "claim": "c"}] * (AT_ONCE + 1)}),
)  # fmt: skip


@pytest.mark.parametrize("text", NO_WORDS, ids=range(len(NO_WORDS)))
def test_what_is_no_words_is_none(text: str) -> None:
    """Whatever stands there: a ValueError that names nothing of it."""
    with pytest.raises(ValueError, match=r"^no words: \w+$"):
        spoken(text)


@pytest.mark.parametrize(
    "odd",
    [
        {"chat": "1"}, {"chat": MOST}, {"chat": None}, {"reply_to": 1.5}, {"claim": 1}, {"claim": "x" * (LONGEST + 1)},
        {"more": 1}, {"kind": "x"}, {"kind": []}, {"kind": "toast"}, {"reply_to": True},
    ],
)  # fmt: skip
def test_a_word_with_one_odd_field_is_none(odd: dict[str, Any]) -> None:
    """Of another type, too large, one that it has not, or none that it has."""
    row = {"kind": "verdict", "chat": 1, "claim": "c", "reply_to": 2}
    assert spoken(json.dumps({"made": 1, "words": [row]}))[0]
    with pytest.raises(ValueError, match=r"^no words: \w+$"):
        spoken(json.dumps({"made": 1, "words": [{**row, **odd}]}))
