"""What is no decision of its person: pressed, typed, sent or written by others. Nothing changes, and the log says why.

Each case goes the whole way: emulator, bot, door, store. Before and after it, every key of the space and every shared
record is compared, but for those of the bot's own in which an update comes in and is forgotten.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from structlog.testing import capture_logs

from store.engine.client import Target, open_client
from store.engine.exchange import exchange
from tests.own_engine import own_engine
from tests.telegram.phone import Phone
from tests.telegram.shown import Chat, Message, Toast
from tests.telegram.test_webhook import hooked
from tests.telegram.together import Together, eventually, together
from tests.world import Result, World

NOTHING = ("Nothing changed", "Nothing was done", "nothing changed", "paired with nobody")
OWN = (":tg:", "{g:tg", "{g:tries:")  # the bot's, and the count of wrong codes, which is meant to grow


@dataclass(frozen=True)
class Scene:
    """Ana, bo and cy have the card of an ask each, ana that of another; a group has notices; dee is nobody."""

    live: Together
    ana: Phone
    bo: Phone
    cy: Phone
    dee: Phone
    group: Chat
    ask: Result
    card: Message
    bos: Message
    cys: Message
    other: Message
    notice: Message

    async def told(self, phone: Phone, said: Message, chat: Chat | None = None) -> Message:
        """The answer to a message."""
        return await phone.until(lambda m: m.reply_to == said.id, chat=chat)


def data(card: Message, label: str = "Approve") -> str:
    """What a button carries."""
    return card.button(label).callback_data or ""


@pytest.fixture
async def scene(live: Together) -> Scene:
    """See `Scene`."""
    world = live.world
    await world.human("cy", "approver")
    ana, bo, cy = [await live.pair(name) for name in ("ana", "bo", "cy")]
    dee = await live.telegram.person("Dee", started=True)
    group = await live.telegram.supergroup("Team", ana, bo, cy, dee, bot="administrator")
    said = await ana.say("/notices", chat=group)
    notice = await ana.until(lambda m: m.reply_to == said.id, chat=group)
    ask, later = await live.ask(summary="Shall I deploy?"), await live.ask(summary="Shall I wait?")

    async def card(phone: Phone, words: str) -> Message:
        return await phone.until(lambda m: words in m.text and "Approve" in m.labels)

    anas, bos, cys = [await card(phone, "Shall I deploy?") for phone in (ana, bo, cy)]

    async def arrived() -> bool:  # until then it is not known under which message a button stands
        copies = [c for each in (ask, later) for c in await live.store.copies.of(world.space, f"ask:{each['trail']}")]
        return all(c.state == "sent" for c in copies if not c.to.startswith("chat:"))

    await eventually(arrived)
    return Scene(live, ana, bo, cy, dee, group, ask, anas, bos, cys, await card(ana, "Shall I wait?"), notice)


async def standing(world: World) -> Mapping[str, object]:
    """Every key that matters."""
    return {name: value for name, value in (await world.dump()).items() if not any(own in name for own in OWN)}


async def refused(toast: Awaitable[Toast]) -> None:
    """A press that is refused in words."""
    said = await toast
    assert said.alert, said
    assert any(words in said.text for words in NOTHING), said


async def another_member(s: Scene) -> None:
    """Bo sends what stands on ana's button, under a message of his own."""
    await refused(s.bo.tap(s.bos, data=data(s.card)))


async def in_anothers_name(s: Scene) -> None:
    """An update that says it was pressed in ana's chat, by bo."""
    press = {
        "id": str(secrets.randbits(60)), "from": {"id": s.bo.id, "is_bot": False, "first_name": "Bo"},
        "message": s.card.raw, "chat_instance": "1", "data": data(s.card),
    }  # fmt: skip
    await s.live.telegram.push("callback_query", press)


async def in_a_group(s: Scene) -> None:
    """Ana's own button, pressed by her under a message in a group."""
    await refused(s.ana.tap(s.notice, data=data(s.card)))


async def an_anonymous_admin(s: Scene) -> None:
    """Whoever writes as the group, from whom nobody can be told, turns nothing off."""
    said = await s.ana.say("/notices off", chat=s.group, as_anonymous_admin=True)
    await s.told(s.ana, said, s.group)


async def a_channel(s: Scene) -> None:
    """A channel that writes in the group turns nothing off."""
    channel = await s.live.telegram.channel("News", s.dee)
    said = await s.dee.say("/notices off", chat=s.group, as_channel=channel)
    await s.told(s.dee, said, s.group)


async def a_forwarded_start(s: Scene) -> None:
    """A code that somebody else wrote, and dee passed on."""
    said = await s.dee.say("/start kwmsd-p4mzt", forwarded=s.bo)
    await s.told(s.dee, said)


async def a_guessed_button(s: Scene) -> None:
    """A token that was made up."""
    await refused(s.ana.tap(s.card, data=f"v1:approve:{secrets.token_urlsafe(9)}"))


async def a_button_of_another_message(s: Scene) -> None:
    """Ana's own button, under another card of hers."""
    await refused(s.ana.tap(s.other, data=data(s.card)))


async def an_unpaired_account(s: Scene) -> None:
    """Dee sends what stands on ana's button, and types the code of the card."""
    help_ = await s.told(s.dee, await s.dee.say("/help"))
    await refused(s.dee.tap(help_, data=data(s.card)))
    code = s.card.text.partition("Code: ")[2][:6]
    said = await s.dee.say(f"/approve {code}")
    assert "paired with nobody" in (await s.told(s.dee, said)).text


async def a_channels_reply(s: Scene) -> None:
    """An update that says a channel has replied to ana's card, in her chat."""
    message = {
        "message_id": 99_999, "date": 1, "text": "Which one?", "chat": s.card.raw["chat"],
        "sender_chat": {"id": -1001, "type": "channel", "title": "News"}, "reply_to_message": s.card.raw,
    }  # fmt: skip
    await s.live.telegram.push("message", message)


CASES: tuple[tuple[Callable[[Scene], Awaitable[None]], str], ...] = (
    (another_member, "not_found|not_yours"),
    (in_anothers_name, "not_yours"),
    (in_a_group, "not_yours|not_found"),
    (an_anonymous_admin, "not_yours"),
    (a_channel, "not_yours"),
    (a_forwarded_start, "not_yours"),
    (a_guessed_button, "not_found"),
    (a_button_of_another_message, "not_found"),
    (an_unpaired_account, "unauthenticated|not_yours"),
    (a_channels_reply, "nobody"),
)


@pytest.mark.parametrize(("attack", "why"), CASES, ids=[attack.__name__ for attack, _ in CASES])
async def test_nothing_changes(scene: Scene, attack: Callable[[Scene], Awaitable[None]], why: str) -> None:
    """One case: what is tried, and the word in the log that says why it came to nothing."""
    await unchanged(scene, attack(scene), why)
    assert await status(scene) == "pending"


async def unchanged(scene: Scene, attack: Awaitable[None], why: str) -> None:
    """Make the attack; compare what stands before and after, and look for the line in the log."""
    world = scene.live.world
    await eventually(lambda: still(scene.live))
    before = await standing(world)
    with capture_logs() as lines:
        await attack
        try:
            await eventually(lambda: [line for line in lines if warns(line, why)])
        except TimeoutError:
            pytest.fail(f"no line says {why}: {[line for line in lines if line['log_level'] != 'debug']}")
        await eventually(lambda: still(scene.live))
    after = await standing(world)
    assert [name for name in {*before, *after} if before.get(name) != after.get(name)] == []


async def still(live: Together) -> bool:
    """Whether everything that came in was handled, and everything marked was looked at."""
    return not await live.store.updates.backlog() and not await live.store.outbox.dirty(live.world.space)


async def status(scene: Scene) -> str:
    """How the ask stands."""
    found: str = (await scene.live.world.do("agent:grok", "follow", what=scene.ask["trail"], wait=0))["status"]
    return found


def warns(line: Mapping[str, Any], why: str) -> bool:
    """Whether a line of the log says that something was refused, and why."""
    loud = line["log_level"] in ("warning", "error")
    return loud and any(word in f"{line['event']} {line.get('why')} {line.get('code')}" for word in why.split("|"))


async def test_a_card_that_may_have_arrived_is_pressed_on_its_own_message(scene: Scene) -> None:
    """Nobody knows its number: under another card or other words its button does nothing; there it decides."""
    await scene.live.telegram.fault("apply_then_cut", "sendMessage", times=1, chat_id=scene.ana.id)
    ask = await scene.live.ask(summary="Shall I go?")
    unsure = await scene.ana.until(lambda m: "Shall I go?" in m.text)
    words = await scene.told(scene.ana, await scene.ana.say("/help"))
    for under in (scene.other, words):
        await unchanged(scene, refused(scene.ana.tap(under, data=data(unsure))), "not_found")
    assert "approved" in (await scene.ana.tap(unsure, data=data(unsure))).text
    assert (await scene.live.world.do("agent:grok", "follow", what=ask["trail"], wait=0))["status"] == "approved"


async def test_a_removed_approver_decides_nothing(scene: Scene) -> None:
    """Cy has the card, and is no approver any more; later nobody in this space at all."""
    world = scene.live.world
    for role in ("member", "none"):
        await world.operate("human", name="cy", role=role)
        await unchanged(scene, refused(scene.cy.tap(scene.cys, data=data(scene.cys))), "not_an_approver|scope_unknown")
        assert await status(scene) == "pending"


async def test_who_has_unpaired_decides_nothing(scene: Scene) -> None:
    """The card is still on the phone of an account that is nobody's now."""
    await scene.live.world.do("human:cy", "unpair")
    await unchanged(scene, refused(scene.cy.tap(scene.cys, data=data(scene.cys))), "unauthenticated")
    assert await status(scene) == "pending"


async def test_a_press_that_comes_again_does_nothing(scene: Scene) -> None:
    """The same button once more after the decision; and the very same update, which Telegram sent twice."""
    live = scene.live
    await scene.ana.tap(scene.card, "Approve")
    await scene.bo.until(lambda m: m.text.startswith("Approved"))
    await unchanged(scene, refused(scene.ana.tap(scene.card, data=data(scene.card))), "already_settled")
    await unchanged(
        scene, refused(scene.bo.tap(scene.bos, data=data(scene.bos).replace("approve", "why3"))), "already_settled"
    )
    await live.telegram.fault("duplicate", "getUpdates", times=1)
    late = await scene.bo.tap(scene.bos, data="v1:take_back:" + data(scene.bos).rpartition(":")[2])
    assert not late.alert
    await eventually(lambda: still(live))
    seen = await live.world.do("agent:grok", "view", what=scene.ask["trail"])
    kinds = [entry["kind"] for entry in seen["history"]]
    assert (kinds.count("decided"), kinds.count("taken_back")) == (1, 1)


async def test_a_process_without_the_credential_gets_nothing_done(scene: Scene) -> None:
    """Somebody on the same machine brings ana's press to the door: with no credential, a wrong one, or her own."""
    world, token = scene.live.world, data(scene.card).rpartition(":")[2]
    body = {
        "update": 1, "user": scene.ana.id, "name": "Ana", "chat": scene.ana.id, "chat_type": "private",
        "message": scene.card.id, "verb": "approve", "token": token,
    }  # fmt: skip
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"authorization": "Bearer " + "x" * 40},
        {"authorization": f"Bearer {world.tokens['human:ana']}"},
    )
    for head in wrong:

        async def bring(head: dict[str, str] = head) -> None:
            assert world.http
            reply = await world.http.post("/internal/telegram/tap", json=body, headers=head)
            assert reply.status_code == 401, reply.text

        await unchanged(scene, bring(), "unauthenticated")
    assert await status(scene) == "pending"


async def test_a_webhook_without_its_secret_gets_nothing_done(world: World, tmp_path: Path) -> None:
    """A forged update at the bot's own address: with no secret, and with a wrong one."""
    async with together(world, run=False) as live:
        bot = hooked(live, tmp_path)
        bot.start()
        try:
            ana = await live.pair("ana")
            await live.ask()
            card = await ana.until(lambda m: "Approve" in m.labels)
            press = {
                "id": "1", "from": {"id": ana.id, "is_bot": False, "first_name": "Ana"}, "chat_instance": "1",
                "data": data(card), "message": card.raw,
            }  # fmt: skip
            await eventually(lambda: still(live))
            before = await standing(world)
            for secret in (None, "a" * 40):
                assert await live.telegram.forge({"update_id": 1, "callback_query": press}, secret=secret) == 403
            assert await live.store.updates.backlog() == 0
            assert await standing(world) == before
        finally:
            bot.end()
        assert [line["why"] for line in bot.lines() if line["event"] == "webhook refused"] == [
            "no secret",
            "a wrong secret",
        ]


SPACE = "somewhere"
#: Writes and reads outside the bot's own keys, one for each class of key that there is.
OUTSIDE: tuple[tuple[str | int, ...], ...] = (
    ("HSET", f"lm:{{{SPACE}}}:doc:ask:ask_1", "state", "approved"),
    ("HSET", f"lm:{{{SPACE}}}:head", "seq", 1),
    ("HSETNX", f"lm:{{{SPACE}}}:log:0", 1, "{}"),
    ("ZADD", f"lm:{{{SPACE}}}:ix:inbox:human:ana", 1, "ask:ask_1"),
    ("RPUSH", f"lm:{{{SPACE}}}:place:job:x", 1),
    ("SET", f"lm:{{{SPACE}}}:done:agent:grok:a", "{}"),
    ("XADD", f"lm:{{{SPACE}}}:feed", "*", "e", 1),
    ("INCRBY", f"lm:{{{SPACE}}}:clock", 1),
    ("HSET", "lm:{g:person:ana}", "telegram", 1),
    ("HSET", "lm:{g:telegram:1}", "principal", "human:ana"),
    ("SET", "lm:{g:claim:1}", "x"),
    ("SET", "lm:{g:pair:1}", "x"),
    ("DEL", f"lm:{{{SPACE}}}:tg:outbox"),
    ("HGETALL", f"lm:{{{SPACE}}}:doc:ask:ask_1"),
    ("GET", "lm:{g:telegram:1}"),
    ("KEYS", "*"),
    ("CONFIG", "GET", "*"),
    ("FLUSHALL",),
    ("EVAL", "return redis.call('hset', KEYS[1], 'a', 1)", 1, f"lm:{{{SPACE}}}:tg:x"),
    ("EVAL", "return redis.call('set', 'lm:{g:telegram:1}', 1)", 0),
    ("PUBLISH", "lm:feed", "x"),
)  # fmt: skip


async def test_the_bots_store_user_reaches_nothing_else(tmp_path: Path) -> None:
    """As lm-bot: nothing outside its keys is written or read, and the store's own log names who tried."""
    with own_engine(tmp_path) as engine:
        engine.root("HSET", f"lm:{{{SPACE}}}:doc:ask:ask_1", "state", "pending")
        engine.root("SET", "lm:{g:telegram:1}", "human:ana")
        engine.root("ZADD", f"lm:{{{SPACE}}}:tg:outbox", 1, "ask:ask_1")
        before = await dumped(engine.target)
        async with open_client(engine.target, user="lm-bot") as bot:
            for command in OUTSIDE:
                with pytest.raises(redis.exceptions.ResponseError) as no:
                    await exchange(bot, [command])
                assert "NOPERM" in str(no.value) or "permission" in str(no.value).lower(), (command, no.value)
        assert await dumped(engine.target) == before
        refused = engine.root("ACL", "LOG", 200)
        told = [dict(zip(one[::2], one[1::2], strict=True)) if isinstance(one, list) else one for one in refused]
        assert {one["username"] for one in told} == {"lm-bot"}


async def dumped(target: Target) -> Mapping[str, object]:
    """Every key."""
    async with open_client(target, user="lm-admin") as admin:
        return {str(name): await admin.dump(name) for name in await admin.keys("lm:*")}
