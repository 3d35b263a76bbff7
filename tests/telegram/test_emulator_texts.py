"""Texts, entities and keyboards."""

from typing import Any

import pytest

from tests.telegram.calling import APPROVE, Bot, keyboard
from tests.telegram.phone import Phone, Telegram


@pytest.fixture
async def ana(telegram: Telegram) -> Phone:
    """A person with a chat with the bot, where nothing is too fast."""
    await telegram.set_limits(per_chat=0)
    return await telegram.person("Ana", id=42, started=True)


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("", "message text is empty"),
        (" \n\t ", "message text is empty"),
        ("\u202a\r", "message text is empty"),
        ("x" * 4097, "message is too long"),
        ("😀" * 2049, "message is too long"),
        ("x" * 32_769, "text is too long"),
    ],
)
async def test_texts_refused(bot: Bot, ana: Phone, text: str, description: str) -> None:
    """A text has 1 to 4096 UTF-16 units."""
    assert (await bot("sendMessage", chat_id=42, text=text)).error == (400, f"Bad Request: {description}")


async def test_half_a_character(bot: Bot, ana: Phone) -> None:
    """Half a surrogate pair is no text."""
    headers = {"content-type": "application/json"}
    answer = await bot.post("sendMessage", content=rb'{"chat_id":42,"text":"\ud83d"}', headers=headers)
    assert answer.error == (400, "Bad Request: strings must be encoded in UTF-8")


@pytest.mark.parametrize("text", ["x" * 4096, "😀" * 2048, "é" * 4096, " " * 50 + "x" * 4096])
async def test_texts_at_the_limit(bot: Bot, ana: Phone, text: str) -> None:
    """4096 UTF-16 units fit, blanks at the ends not counted."""
    await bot("sendMessage", chat_id=42, text=text)
    assert (await ana.last()).text == text.strip()


async def test_texts_are_cleaned_and_entities_move_along(bot: Bot, ana: Phone) -> None:
    """Blanks at the ends go, control characters become blanks, embeddings vanish; entities stay on their words."""
    text = "  a\x07b\r\n😀 \u202ebold\u202c end\n "
    bold = {"type": "bold", "offset": text.index("bold") + 1, "length": 4}
    await bot("sendMessage", chat_id=42, text=text, entities=[bold])
    shown = await ana.last()
    assert shown.text == "a b\n😀 bold end"
    assert [entity.of(shown.text) for entity in shown.entities] == ["bold"]


def entity(type: str = "bold", offset: int = 0, length: int = 1, **more: Any) -> dict[str, Any]:
    """An entity of a text."""
    return {"type": type, "offset": offset, "length": length, **more}


@pytest.mark.parametrize(
    ("entities", "words"),
    [
        ([entity(offset=-1)], "can't parse entities: entity bold has an offset or a length out of range"),
        ([entity(length=0)], "can't parse entities: entity bold has an offset or a length out of range"),
        ([entity(offset=5)], "can't parse entities: entity bold has an offset or a length out of range"),
        ([entity(length=6)], "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 5"),
        ([entity(length=4)], "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol"),
        ([entity(offset=4)], "entity begins in a middle of a UTF-16 symbol at UTF-16 offset 4"),
        ([entity("text_link")], "can't parse entities: entity text_link lacks url"),
        ([entity("date_time")], "can't parse entities: entity date_time lacks unix_time"),
        (
            [entity("date_time", unix_time=1, date_time_format="iso")],
            "can't parse entities: wrong date_time_format",
        ),
        ([entity(), entity("code", length=3), entity("italic", 1, 1)], "can't parse entities: code can't hold bold"),
        ([entity(length=2), entity("italic", 1, 2)], "can't parse entities: bold and italic overlap"),
        ([entity("code"), entity("bold")], "can't parse entities: code can't hold bold"),
        (
            [entity("blockquote", length=3), entity("expandable_blockquote", 1, 1)],
            "can't parse entities: blockquote can't hold expandable_blockquote",
        ),
        ([entity()] * 101, "ENTITIES_TOO_LONG"),
    ],
)
async def test_entities_refused(bot: Bot, ana: Phone, entities: list[dict[str, Any]], words: str) -> None:
    """Entities lie within the text, on whole characters, properly nested, at most 100."""
    answer = await bot("sendMessage", chat_id=42, text="abc😀", entities=entities)
    assert answer.error == (400, f"Bad Request: {words}")


async def test_a_hundred_entities(bot: Bot, ana: Phone) -> None:
    """100 entities fit, nested where Telegram nests them."""
    entities = [entity("expandable_blockquote", length=99), *(entity(offset=at) for at in range(99))]
    await bot("sendMessage", chat_id=42, text="x" * 99, entities=entities)
    assert len((await ana.last()).entities) == 100


@pytest.mark.parametrize("kind", ["pre", "code", "date_time", "text_link", "blockquote"])
async def test_entities_shown(bot: Bot, ana: Phone, kind: str) -> None:
    """A phone sees the entities as they were sent."""
    more: dict[str, dict[str, Any]] = {
        "date_time": {"unix_time": 1_800_000_000, "date_time_format": "wDT"},
        "text_link": {"url": "tg://x"},
    }
    await bot("sendMessage", chat_id=42, text="abc", entities=[entity(kind, length=3, **more.get(kind, {}))])
    shown = (await ana.last()).entities[0]
    assert (shown.type, dict(shown.extra)) == (kind, more.get(kind, {}))


LONG = [[{"text": "x" * 200, "callback_data": str(row)}] for row in range(60)]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        (keyboard({"text": "Approve", "callback_data": "x" * 65}), "BUTTON_DATA_INVALID"),
        (keyboard({"text": "Approve", "callback_data": "é" * 33}), "BUTTON_DATA_INVALID"),
        (keyboard({"text": "Approve", "callback_data": ""}), "BUTTON_DATA_INVALID"),
        (
            keyboard({"text": "Approve"}),
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        ({"inline_keyboard": LONG}, "reply markup is too long"),
        (keyboard(*[APPROVE] * 101), "reply markup is too long"),
        (keyboard({"text": "x", "copy_text": {"text": ""}}), "BUTTON_COPY_TEXT_INVALID"),
        (keyboard({"text": "x", "copy_text": {"text": "x" * 257}}), "BUTTON_COPY_TEXT_INVALID"),
        (
            keyboard({"text": "x", "url": "javascript:alert(1)"}),
            "inline keyboard button URL 'javascript:alert(1)' is invalid: Unsupported URL protocol",
        ),
        (
            keyboard({"text": "x", "url": "http://localhost:8000/a"}),
            "inline keyboard button URL 'http://localhost:8000/a' is invalid: Wrong HTTP URL",
        ),
        (
            keyboard({"text": "x", "web_app": {"url": "http://example.org"}}),
            "inline keyboard button URL 'http://example.org' is invalid: only HTTPS links are allowed",
        ),
    ],
)
async def test_keyboards_refused(bot: Bot, ana: Phone, markup: dict[str, Any], words: str) -> None:
    """A button has one sound action of a sound size."""
    sent = await bot("sendMessage", chat_id=42, text="hi", reply_markup=markup)
    assert sent.error == (400, f"Bad Request: {words}")


async def test_keyboards_shown(bot: Bot, ana: Phone) -> None:
    """Links, copies and data of up to 64 bytes are shown; of a link with data the link stays."""
    both = {"text": "Open", "url": "https://example.org/x", "callback_data": "never"}
    copied, passkey = {"text": "Copy", "copy_text": {"text": "x" * 256}}, {"text": "App", "url": "tg://resolve"}
    rows = [[{"text": "Approve", "callback_data": "é" * 32}], [both, copied], [passkey]]
    await bot("sendMessage", chat_id=42, text="hi", reply_markup={"inline_keyboard": rows})
    shown = await ana.last()
    assert shown.labels == ("Approve", "Open", "Copy", "App")
    assert shown.button("Approve").callback_data == "é" * 32
    assert (shown.button("Open").url, shown.button("Open").callback_data) == ("https://example.org/x", None)
    assert shown.button("Copy").copy_text == "x" * 256


async def test_web_apps_only_in_private(bot: Bot, ana: Phone, telegram: Telegram) -> None:
    """A web app opens from a private chat and from no other."""
    markup = keyboard({"text": "Open", "web_app": {"url": "https://example.org"}})
    assert (await bot("sendMessage", chat_id=42, text="hi", reply_markup=markup)).status == 200
    group = await telegram.group("Ops", ana)
    answer = await bot("sendMessage", chat_id=group.id, text="hi", reply_markup=markup)
    assert answer.error == (400, "Bad Request: BUTTON_TYPE_INVALID")
