"""The bot's door: what it may ask and bring. It has no rights of its own; whose account it speaks for is found here.

    POST /internal/telegram/<what>      JSON; Authorization: Bearer <LOGMEM_BOT_SECRET>

Without that setting there is no such path, and none for what came through a proxy or by the public name: the bot comes
straight. Whatever is refused is logged, with why.
"""

import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from store.domain.errors import Refused
from store.domain.pairing import Sender, check_group, is_own_chat
from store.domain.phone import for_people, says
from store.domain.strict import parse
from store.engine.store import Store
from store.settings import Settings
from store.verbs import cards, day_card, groups, pairing, presses, reaching
from store.verbs.faults import told_plainly
from store.verbs.presses import Press

from .answers import answer, failed, plain_error, read_body, refused
from .hosts import not_straight

PATH = "/internal/telegram/"
SIGN = "X-LogMem-Door"  # header of all that is answered here, by which the bot knows the door
UNSHOWN = "failed"  # why somebody is not reached: by this one card alone
_SAID = re.compile(r'"(?:[^"\\]|\\.)*"')

Json = dict[str, Any]
T = TypeVar("T")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the bot asks: its body, whose parts are taken by name and type."""

    store: Store
    settings: Settings
    body: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """A text. Refuses invalid_argument."""
        return self._taken(name, default, str, "a text")

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number. Refuses invalid_argument."""
        return self._taken(name, default, int, "a whole number")

    def flag(self, name: str) -> bool:
        """True, false or not said. Refuses invalid_argument."""
        return self._taken(name, False, bool, "true or false")

    def object(self, name: str) -> Json:
        """An object, empty where it is not said. Refuses invalid_argument."""
        return self._taken(name, {}, dict, "an object")

    def names(self, name: str) -> list[str]:
        """A list of texts, empty where it is not said. Refuses invalid_argument."""
        return [each for each in self._taken(name, [], list, "a list of texts") if isinstance(each, str)]

    @property
    def press(self) -> Press:
        """Who pressed or typed, and where."""
        return Press(
            update=self.number("update"),
            user=self.number("user"),
            chat=self.number("chat"),
            chat_type=self.text("chat_type"),
            space=self.text("space", ""),
            bot=self.number("bot", 0),
        )

    def _taken(self, name: str, default: Any, kind: type[T], what: str) -> T:
        value = self.body.get(name, default)
        if type(value) is not kind:  # a boolean is an int to isinstance
            raise Refused("invalid_argument", f"{name} is {what}. Nothing was done.", argument=name)
        return value


async def _card(asked: Asked) -> Json:
    space, ref = asked.text("space"), asked.text("ref")
    view = await cards.card(asked.store, space=space, ref=ref, holding=asked.names("holding"))
    base = asked.settings.public_url
    page = day_card.PAGE if view["kind"] == day_card.KIND else f"{view['kind']}/{view['trail']}"
    view["url"] = f"{base}/s/{space}/{page}" if base else ""
    if view["url"].startswith("https://") and view["console"]:
        view["to"] = [{**one, **({"link": view["url"]} if one["can"] else {})} for one in view["to"]]
    return view


async def _tap(asked: Asked) -> Json:
    said: Json = {"text": asked.text("text", ""), "option": asked.number("option", -1)}
    button: Json = {"message": asked.number("message"), "verb": asked.text("verb"), "token": asked.text("token")}
    return await presses.tap(asked.store, asked.press, **button, **said, near=asked.text("near", ""))


async def _verb(asked: Asked) -> Json:
    return await presses.command(asked.store, asked.press, asked.text("verb"), asked.object("args"))


async def _typed(asked: Asked) -> Json:
    return await presses.typed(asked.store, asked.press, verb=asked.text("verb"), code=asked.text("code"))


async def _pair(asked: Asked) -> Json:
    press = asked.press
    sender = Sender(
        update=press.update,
        user=press.user,
        chat=press.chat,
        chat_type=press.chat_type,
        name=asked.text("name", ""),
        username=asked.text("username", ""),
        forwarded=asked.flag("forwarded"),
        via_bot=asked.flag("via_bot"),
        is_bot=asked.flag("is_bot"),
    )
    made = await pairing.claim(asked.store, asked.text("code"), sender)
    log.info("telegram_claimed", user=press.user, person=made.person, source=made.source)
    return {"claim": made.id, "person": made.person, "from": made.source, "expires_at": made.expires}


async def _claim(asked: Asked) -> Json:
    return await pairing.claim_state(asked.store, asked.text("claim"))


async def _unreached(asked: Asked) -> Json:
    user, why = asked.number("user"), asked.text("why", "")
    space, ref = asked.text("space", ""), asked.text("ref", "")
    lost = False
    if why == UNSHOWN:
        changed = await reaching.unshown(asked.store, user=user, space=space, ref=ref)
    else:
        changed, lost = await reaching.unreached(asked.store, user=user, age=asked.number("age", 0))
    if changed:
        log.warning("telegram_unreached", user=user, why=why[:80], spaces=changed, ref=ref[:80])
    return {"changed": changed, "lost": lost}


async def _reached(asked: Asked) -> Json:
    return {"changed": await reaching.reached(asked.store, user=asked.number("user"), age=asked.number("age", 0))}


async def _group(asked: Asked) -> Json:
    press = asked.press
    check_group(user=press.user, chat=press.chat, chat_type=press.chat_type)
    about: Json = {"thread": asked.number("thread", 0), "title": asked.text("title", ""), "off": asked.flag("off")}
    return await groups.group(asked.store, press.badge, chat=press.chat, **about, action_id=press.action)


async def _left(asked: Asked) -> Json:
    return {"changed": await groups.left(asked.store, chat=asked.number("chat"))}


async def _migrated(asked: Asked) -> Json:
    moved = await groups.migrated(asked.store, old=asked.number("old"), new=asked.number("new"))
    return {"changed": moved}


async def _spaces(asked: Asked) -> Json:
    return {"spaces": await groups.on_telegram(asked.store)}


WAYS: Mapping[str, Callable[[Asked], Awaitable[Json]]] = {
    "card": _card,
    "tap": _tap,
    "verb": _verb,
    "typed": _typed,
    "pair": _pair,
    "claim": _claim,
    "unreached": _unreached,
    "reached": _reached,
    "group": _group,
    "left": _left,
    "migrated": _migrated,
    "spaces": _spaces,
}


def routes() -> list[Route]:
    """The paths of the door; plain ones, since bodies and answers are read and written here."""
    return [Route(f"{PATH}{what}", _endpoint(what, way), methods=["POST"]) for what, way in WAYS.items()]


def _endpoint(what: str, way: Callable[[Asked], Awaitable[Json]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        settings: Settings = request.app.state.settings
        if settings.bot_secret is None:
            return plain_error(404, "not_found", "There is no such path. Nothing was done.")
        if why := not_straight(request.headers, settings):
            log.warning("telegram_refused", what=what, code="not_found", why=why)
            return plain_error(404, "not_found", "There is no such path. Nothing was done.")
        made = await _answered(request, settings, settings.bot_secret.get_secret_value(), what, way)
        made.headers[SIGN] = "1"
        return made

    return endpoint


async def _answered(
    request: Request, settings: Settings, secret: str, what: str, way: Callable[[Asked], Awaitable[Json]]
) -> Response:
    body: Mapping[str, Any] = {}
    try:
        _check_credential(request, secret)
        body = _object(await read_body(request))
        asked = Asked(request.app.state.store, settings, body)
        try:
            made = await way(asked)  # before what does not hurry: somebody waits for a decision
        finally:
            await _hear(asked)
        return answer(await _spoken(asked, made))
    except Refused as no:
        _log_refusal(what, body, no)
        me = await _who(request.app.state.store, body, no.message)
        return refused(Refused(no.code, no.message, **{**no.facts, "says": says(no, me=me)}))
    except ClientDisconnect:
        raise
    except Exception as fault:  # noqa: BLE001 - whatever it is, the bot gets an answer, and tries again
        return failed(request, fault)


async def _hear(asked: Asked) -> None:
    """Whoever does something in their own chat with the bot is reached there, whatever was thought before."""
    user, chat, kind = (asked.body.get(name) for name in ("user", "chat", "chat_type"))
    if "update" not in asked.body or type(user) is not int or type(chat) is not int or not isinstance(kind, str):
        return
    if not is_own_chat(user=user, chat=chat, chat_type=kind):
        return
    try:
        await reaching.heard_from(asked.store, user=user)
    except Exception:  # what they did is done, and they are told so; that they are there, the next one says again
        log.exception("not_heard", user=user)


async def _spoken(asked: Asked, result: Json) -> Json:
    """A result with its sentence as people are told it."""
    said = result.get("says")
    if not isinstance(said, str):
        return result
    return {**result, "says": for_people(said, me=await _who(asked.store, asked.body, said))}


async def _who(store: Store, body: Mapping[str, Any], text: str) -> str:
    """The person whom this text is told, where it names people; '' where that is nobody."""
    user = body.get("user")
    if "human:" not in text or type(user) is not int:
        return ""
    try:
        with told_plainly():
            return await store.shared.accounts.person(user)
    except Refused:
        return ""


def _check_credential(request: Request, secret: str) -> None:
    """Refuses unauthenticated."""
    said = request.headers.getlist("authorization")
    scheme, _, own = (said[0] if len(said) == 1 else "").partition(" ")
    right = hmac.compare_digest(own.strip().encode(), secret.encode())
    if scheme.lower() != "bearer" or not right:
        no = "This is the bot's door, and its credential did not come. Nothing was done."
        raise Refused("unauthenticated", no, credential="bot")  # which the bot tells from an account that is nobody's


def _object(raw: bytes) -> Mapping[str, Any]:
    body = parse(raw) if raw.strip() else {}
    if not isinstance(body, dict):
        raise Refused("invalid_argument", "The body is not a JSON object. Nothing was done.")
    return body


def _log_refusal(what: str, body: Mapping[str, Any], no: Refused) -> None:
    """Why something was refused; neither a button's token nor a code, and no text that somebody wrote."""
    known = {name: body[name] for name in ("user", "chat", "update") if isinstance(body.get(name), int)}
    log.warning("telegram_refused", what=what, code=no.code, why=_SAID.sub('"…"', no.message), **known)
