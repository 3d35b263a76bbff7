"""The Bot API through our client, against the emulator: every way in which a call can end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.client import Telegram as Client
from bot.failures import Bad, Blocked, Down, Failure, Flood, Gone, Migrated, Same, Uncertain, failure
from bot.message import Message
from tests.telegram.phone import Phone, Telegram
from tests.telegram.running import UNLIMITED
from tests.telegram.together import NO_LIMITS, eventually

HELLO = Message(
    text="🙂 hello",
    entities=({"type": "bold", "offset": 3, "length": 5},),
    rows=(({"text": "Approve", "callback_data": "v1:approve:abc"},),),
)


@pytest.fixture
async def client(telegram: Telegram) -> AsyncIterator[Client]:
    """Our client, at the emulator."""
    await telegram.set_limits(**UNLIMITED)
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS, patience=0.5, connecting=0.5)
    yield client
    await client.close()


@pytest.fixture
async def phone(telegram: Telegram) -> Phone:
    """Somebody who has begun a chat."""
    return await telegram.person("Ana", started=True)


async def test_a_message_is_sent_edited_and_its_buttons_taken_away(
    client: Client, telegram: Telegram, phone: Phone
) -> None:
    """Text, entities, buttons, silence arrive as they were meant, and the emulator has nothing to say against it."""
    number = await client.send(phone.id, HELLO, silent=True, kind="ask")
    sent = await phone.last()
    assert (sent.id, sent.text, sent.silent) == (number, "🙂 hello", True)
    assert [(e.type, e.offset, e.length) for e in sent.entities] == [("bold", 3, 5)]
    assert sent.button("Approve").callback_data == "v1:approve:abc"
    await client.edit(phone.id, number, Message(text="decided"))
    assert (await phone.last()).text == "decided"
    assert (await phone.last()).buttons == ()
    await client.edit(phone.id, number, Message(text="decided"))  # so already: fine
    await client.markup(phone.id, number, HELLO.rows)
    assert (await phone.last()).button("Approve").text == "Approve"
    asked = await client.send(phone.id, Message(text="Why?"), reply_to=number, placeholder="Your reason")
    assert (await phone.last()).force_reply
    assert (await phone.last()).reply_to == number
    assert asked > number
    assert await telegram.violations() == ()


async def test_a_press_is_answered_once_and_a_stale_one_is_no_error(
    client: Client, telegram: Telegram, phone: Phone
) -> None:
    """The second answer and one that comes too late give False; a long toast is cut at 200 UTF-16 units."""
    await client.send(phone.id, HELLO)
    press = await phone.press(await phone.last(), "Approve")
    (update,) = await client.updates(0, 1)
    query = update["callback_query"]["id"]
    assert await client.answer(query, "🙂" * 150)
    assert len((await phone.toast(press)).text.encode("utf-16-le")) // 2 <= 200
    assert not await client.answer(query, "again")
    await phone.press(await phone.last(), "Approve")
    (late,) = [u for u in await client.updates(0, 1) if u["update_id"] != update["update_id"]]
    await telegram.pass_time(20)
    assert not await client.answer(late["callback_query"]["id"], "too late")


async def test_who_cannot_be_written_to(client: Client, telegram: Telegram, phone: Phone) -> None:
    """Blocked, deactivated, never begun, kicked, and no such chat are one thing: nothing arrives there."""
    stranger = await telegram.person("Stranger")
    gone = await telegram.person("Gone", started=True)
    await phone.block()
    await gone.deactivate()
    group = await telegram.group("Team", gone)
    await telegram.kick(group)
    for chat in (phone.id, stranger.id, gone.id, group.id, 424242):
        with pytest.raises(Blocked):
            await client.send(chat, HELLO)


async def test_what_is_gone_and_what_is_our_own_fault(
    client: Client, telegram: Telegram, phone: Phone, caplog: pytest.LogCaptureFixture
) -> None:
    """A message that is not there is Gone; a message that nobody could send is Bad, and logged without its text."""
    with pytest.raises(Gone):
        await client.edit(phone.id, 4711, HELLO)
    with pytest.raises(Bad):
        await client.send(phone.id, Message(text=""))
    with pytest.raises(Bad):
        await client.send(phone.id, Message(text="secret words" + "x" * 4097))
    assert "secret words" not in caplog.text


async def test_a_flood_says_how_long_and_a_group_where_it_went(
    client: Client, telegram: Telegram, phone: Phone
) -> None:
    """429 gives the seconds, and an upgraded group its new number."""
    await telegram.flood(retry_after=7)
    with pytest.raises(Flood) as flood:
        await client.send(phone.id, HELLO)
    assert flood.value.seconds == 7
    assert client.limiter.wait(phone.id) > 6
    group = await telegram.group("Team", phone)
    new = await telegram.migrate(group)
    with pytest.raises(Migrated) as migrated:
        await client.send(group.id, HELLO)
    assert migrated.value.new == new.id


Row = tuple[dict[str, Any], type[Failure], int]
FAULTS: tuple[Row, ...] = (
    ({"kind": "error", "status": 500}, Uncertain, 500),
    ({"kind": "error", "status": 502, "description": "Bad Gateway"}, Uncertain, 502),
    ({"kind": "html", "status": 502}, Uncertain, 502),
    ({"kind": "html", "status": 200}, Uncertain, 200),
    ({"kind": "html", "status": 403}, Down, 403),  # some proxy's, and no word about this chat
    ({"kind": "error", "status": 401, "description": "Unauthorized"}, Down, 401),
    ({"kind": "error", "status": 404, "description": "Not Found"}, Down, 404),
    ({"kind": "error", "status": 409, "description": "Conflict: terminated"}, Down, 409),
    ({"kind": "hang", "seconds": 5}, Uncertain, 0),
    ({"kind": "apply_then_hang", "seconds": 5}, Uncertain, 0),
    ({"kind": "apply_then_cut"}, Uncertain, 0),
    ({"kind": "cut"}, Uncertain, 0),
)


@pytest.mark.parametrize("row", FAULTS, ids=[f"{row[0]['kind']}-{row[2]}" for row in FAULTS])
async def test_a_call_that_goes_wrong_ends_in_one_failure(
    client: Client, telegram: Telegram, phone: Phone, row: Row
) -> None:
    """Whatever happens, the failure says whether it may have taken effect, and the next call is fine."""
    fault, kind, status = row
    await telegram.fault(method="sendMessage", **fault)
    with pytest.raises(kind) as why:
        await client.send(phone.id, HELLO)
    assert (type(why.value), why.value.status) == (kind, status)
    assert telegram.token not in f"{why.value!r} {why.value} {why.getrepr()}"
    assert await client.send(phone.id, HELLO)


async def test_nobody_there_is_down(phone: Phone, telegram: Telegram) -> None:
    """Where nothing listens, nothing has taken effect."""
    client = Client(telegram.token, api_url="http://127.0.0.1:1", limits=NO_LIMITS)
    with pytest.raises(Down):
        await client.send(phone.id, HELLO)
    await client.close()


async def test_wedged_connections_are_made_anew(telegram: Telegram, phone: Phone) -> None:
    """When no connection comes free again and again, the client takes new ones, and speaks again."""
    client = Client(telegram.token, api_url=telegram.url, limits=NO_LIMITS, pool=1, patience=60, connecting=0.05)
    await telegram.fault("hang", "sendMessage", seconds=60, times=1)
    stuck = asyncio.create_task(client.send(phone.id, HELLO))

    async def hangs() -> bool:
        return bool((await telegram.faults())[0]["hits"])

    await eventually(hangs)
    for _ in range(3):
        with pytest.raises(Down) as why:
            await client.send(phone.id, HELLO)
        assert why.value.crowded
    assert await client.send(phone.id, HELLO)
    with pytest.raises(Failure):
        await stuck
    await client.close()


ANSWERS: tuple[tuple[int, dict[str, Any] | None, type[Failure]], ...] = (
    (400, {"description": "Bad Request: message is not modified: specified new message content"}, Same),
    (400, {"description": "Message_id_invalid"}, Gone),
    (400, {"description": "Bad Request: QUERY_ID_INVALID"}, Gone),
    (400, {"description": "Bad Request: message thread not found"}, Gone),
    (400, {"description": "Bad Request: BUTTON_DATA_INVALID"}, Bad),
    (400, {"description": "Button_data_invalid"}, Bad),
    (400, {"description": "Bad Request: PEER_ID_INVALID"}, Blocked),
    (400, {"description": "Bad Request: not enough rights to send text messages to the chat"}, Blocked),
    (400, {}, Bad),
    (400, None, Down),
    (403, {"description": "Forbidden: bot was kicked from the group chat"}, Blocked),
    (429, {"description": "Too Many Requests"}, Flood),
    (429, {"parameters": {"retry_after": "soon"}}, Flood),
    (200, {"ok": False, "error_code": 403, "description": "Forbidden"}, Blocked),
    (200, {"ok": False}, Uncertain),
    (200, None, Uncertain),
    (503, {"description": "Service Unavailable"}, Uncertain),
)


@pytest.mark.parametrize(("status", "body", "kind"), ANSWERS)
def test_what_an_answer_means(status: int, body: dict[str, Any] | None, kind: type[Failure]) -> None:
    """Descriptions are told apart whatever their case, and the code in the body goes before the status of HTTP."""
    assert type(failure(status, body, method="sendMessage")) is kind
