"""The bridge between a client's lines and the server's `/mcp`: each message goes on, each answer comes back.

A request whose connection fails is sent again for a while. A call of a tool can be: it carries an action id, so that
the server does it once and gives its first result again. What the bridge cannot find out it says: `store_unavailable`
when nothing was done, `unconfirmed` when it may have been.

An action id is of one request and ends with it: a call that a client makes again is a call of its own, however equal it
is. Only the client knows whether it means the first one; what was written since, here or by others, may have made the
first result untrue, and to replay that would lose what is meant now. So `unconfirmed` says to look first, as the server
does to whoever gives no action id. A client that wants to repeat a call gives one itself.
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx

from . import message
from .message import Json, Kind, Message, Overlong, Unfit

LIMIT = 1 << 20  # bytes of a request that the server takes
IN_FLIGHT = 100  # requests at once
FIRST_PAUSE, LAST_PAUSE = 0.1, 2.0  # seconds before a request is sent again
AGAIN = {502, 503, 504}  # of HTTP: a server that ends or begins, or a proxy whose server is away
NOT_DONE = ("store_unavailable", "busy")
UNSETTLED = ("unconfirmed", *NOT_DONE)  # codes with which the server asks to be asked again

Write = Callable[[bytes], Awaitable[None]]


class Attempt(NamedTuple):
    """How one sending went: the answer to give now or, for want of a better one, at the end; '' if there is none."""

    answer: bytes
    settled: bool
    sent: bool  # it may have been done
    why: str


@dataclass(frozen=True, slots=True)
class Bridge:
    """A client's messages to one server. `patience`: seconds for which a server may be away."""

    client: httpx.AsyncClient
    url: str
    patience: float
    say: Callable[[str], None]

    async def run(self, lines: AsyncIterator[bytes | Overlong], write: Write) -> None:
        """Pass on every line until they end, and then the answers that are still to come."""
        passing = _Passing(self, write)
        try:
            async for each in lines:
                await passing.take(each)
            await passing.rest()
        finally:
            await passing.end()


class _Passing:
    """What is under way."""

    def __init__(self, bridge: Bridge, write: Write) -> None:
        self._bridge, self._write = bridge, write
        self._tasks: dict[str, asyncio.Task[None]] = {}  # requests by their id in JSON: 1 is not "1"
        self._notices: set[asyncio.Task[None]] = set()
        self._agreed = ""  # the version of the handshake
        self._away = False

    async def take(self, raw: bytes | Overlong) -> None:
        """Begin with what a line says."""
        if isinstance(raw, Overlong):
            await self._write(message.error(raw.id, message.INVALID_REQUEST, _too_long()))
            return
        if not raw.strip():
            return
        try:
            said = message.read(raw)
        except Unfit as no:
            await self._write(no.answer)
            return
        if said.kind is Kind.REQUEST:
            await self._begin(said)
        elif said.kind is Kind.NOTICE:
            self._heed(said)

    async def rest(self) -> None:
        """Until every request has its answer."""
        while left := [*self._tasks.values(), *self._notices]:
            await asyncio.wait(left)

    async def end(self) -> None:
        """Abort what is left."""
        left = [*self._tasks.values(), *self._notices]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _begin(self, said: Message) -> None:
        key = json.dumps(said.id)
        if len(said.raw) > LIMIT:
            await self._write(message.error(said.id, message.INVALID_REQUEST, _too_long()))
        elif len(self._tasks) >= IN_FLIGHT:
            text = f"{IN_FLIGHT} requests are under way. Nothing was done. Wait for one of them."
            await self._write(message.failure(said, code="busy", text=text, retry_after=1))
        elif key in self._tasks:
            text = "A request with this id is under way. Nothing was done."
            await self._write(message.error(said.id, message.INVALID_REQUEST, text))
        else:
            task = asyncio.create_task(self._pass(said))
            self._tasks[key] = task
            task.add_done_callback(lambda _: self._tasks.pop(key, None))

    def _heed(self, said: Message) -> None:
        """A notice is passed on once; one that gives a request up ends it here, since the server keeps no state."""
        if said.method == "notifications/cancelled":
            task = self._tasks.get(json.dumps(said.params.get("requestId")))
            if task:
                task.cancel()
            return
        if len(self._notices) < IN_FLIGHT and len(said.raw) <= LIMIT:
            task = asyncio.create_task(self._tell(said))
            self._notices.add(task)
            task.add_done_callback(self._notices.discard)

    async def _tell(self, said: Message) -> None:
        try:
            await self._bridge.client.post(self._bridge.url, content=said.raw, headers=said.headers(self._agreed))
        except httpx.HTTPError as why:
            self._bridge.say(f"A notice ({said.method[:80]!a}) did not reach the server: {type(why).__name__}.")

    async def _pass(self, said: Message) -> None:
        try:
            answer = await self._answer(said)
        except Exception as wrong:  # noqa: BLE001 - the last net: whoever asked waits for an answer
            self._bridge.say(f"The bridge failed at {said.method[:80]!a}: {type(wrong).__name__}: {wrong}")
            text = "The bridge failed at this call. It may or may not have been done: look before you repeat it."
            answer = message.failure(said, code="unconfirmed", text=text, retry_after=5)
        with contextlib.suppress(OSError):  # nobody reads any more; whoever started us hears of it from `write`
            await self._write(answer)

    async def _answer(self, said: Message) -> bytes:
        """The answer to a request, of the server or, when it stays away, our own."""
        body = said.with_action(f"stdio-{secrets.token_hex(12)}") if said.wants_action else said.raw
        once = said.is_call and not (said.wants_action or said.named)  # it has no place for an action id
        pause, give_up, sent = FIRST_PAUSE, 0.0, False
        while True:
            got = await self._attempt(said, body)
            sent = sent or got.sent
            if got.settled:
                self._is_back()
                return got.answer
            give_up = give_up or time.monotonic() + self._bridge.patience
            if time.monotonic() >= give_up or (once and sent):
                return self._given_up(said, got, sent=sent)
            self._is_away(got.why)
            await asyncio.sleep(min(pause, max(0.0, give_up - time.monotonic())))
            pause = min(2 * pause, LAST_PAUSE)

    async def _attempt(self, said: Message, body: bytes) -> Attempt:
        """Send it once."""
        url = self._bridge.url
        try:
            answer = await self._bridge.client.post(url, content=body, headers=said.headers(self._agreed))
        except (httpx.ConnectError, httpx.ConnectTimeout) as why:
            return Attempt(b"", False, False, f"cannot be reached ({str(why) or type(why).__name__})")
        except httpx.HTTPError as why:
            return Attempt(b"", False, True, f"did not answer ({type(why).__name__})")
        told = _parsed(answer.content)
        code = _code(told)
        if answer.status_code in AGAIN or (said.is_call and code in UNSETTLED):
            own = _fitting(said, told, answer.content) if _is_answer(told) else b""
            return Attempt(own, False, code not in NOT_DONE, f"answered {code or answer.status_code}")
        if not _is_answer(told):
            return Attempt(_odd(said, url, answer.status_code), True, True, "")
        if said.method == "initialize":
            self._agreed = _agreed(told) or self._agreed
        return Attempt(_fitting(said, told, answer.content), True, True, "")

    def _given_up(self, said: Message, last: Attempt, *, sent: bool) -> bytes:
        """What is said when the time is over: the server's own words where they are true of all attempts."""
        if last.answer and not sent:
            return last.answer
        tried = f"The LogMem server {last.why}; it was tried for {self._bridge.patience:.0f} s."
        if not sent:
            text = f"{tried} Nothing was done. Retry later; if it stays away, tell the person who runs it."
            return message.failure(said, code="store_unavailable", text=text, retry_after=5)
        again = "Repeat it with the same action id." if said.named else "Look before you repeat it."
        text = f"{tried} It may or may not have been done. {again}"
        return message.failure(said, code="unconfirmed", text=text, retry_after=5)

    def _is_away(self, why: str) -> None:
        if not self._away:
            self._away = True
            self._bridge.say(f"{self._bridge.url} {why}: trying again for {self._bridge.patience:.0f} s.")

    def _is_back(self) -> None:
        if self._away:
            self._away = False
            self._bridge.say(f"{self._bridge.url} is back.")


def _parsed(content: bytes) -> Json:
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _is_answer(told: Json) -> bool:
    return told.get("jsonrpc") == "2.0" and ("result" in told or isinstance(told.get("error"), dict))


def _code(told: Json) -> str:
    """The code of a refusal, in whichever of the server's forms it comes; '' if it is none."""
    match told:
        case {"result": {"isError": True, "structuredContent": {"error": {"code": str(code)}}}}:
            return code
        case {"error": {"data": {"code": str(code)}}} | {"error": {"code": str(code)}}:
            return code
    return ""


def _odd(said: Message, url: str, status: int) -> bytes:
    """The answer for what the server said in no form of ours."""
    if status >= 500:
        text = (
            f"The server failed at this call ({status}). It may or may not have been done: look before you repeat it."
        )
        return message.failure(said, code="unconfirmed", text=text, retry_after=5)
    text = f"{url} answered {status}, and not as LogMem does. See LOGMEM_REST_URL."
    return message.error(said.id, message.INTERNAL_ERROR, text)


def _agreed(told: Json) -> str:
    match told:
        case {"result": {"protocolVersion": str(version)}} if version.isascii() and version.isprintable():
            return version
    return ""


def _fitting(said: Message, told: Json, content: bytes) -> bytes:
    """The answer as it came, if it is one line and names its request; else made so."""
    id: Any = told.get("id")
    if json.dumps(id) == json.dumps(said.id) and b"\n" not in content and b"\r" not in content:
        return content
    return message.line({**told, "id": said.id})


def _too_long() -> str:
    return f"A message may have {LIMIT} bytes. Nothing was done. Send less at once."
