"""One call of the bot, from its body to its answer, with what goes wrong on demand."""

import asyncio
import hmac
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.telegram.emulator.deliveries import polled
from tests.telegram.emulator.errors import WEBHOOK_ACTIVE, BotError, refuse
from tests.telegram.emulator.faults import Fault
from tests.telegram.emulator.methods import METHODS
from tests.telegram.emulator.schema import Upload, schema
from tests.telegram.emulator.state import State

Json = dict[str, Any]
T = TypeVar("T")

CUT = "telegram.cut"
"""The scope's key for what ends the connection: see `server.py`."""
GATEWAY_PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n"
)
WORDS = {
    "missing parameter chat_id": "chat_id is empty",
    "missing parameter text": "message text is empty",
    "reply_markup: missing field inline_keyboard": "inline keyboard expected",
}
"""Problems that Telegram has words for."""


UNBUILT = (
    "business_connection_id",
    "direct_messages_topic_id",
    "ephemeral_message_parameters",
    "allow_paid_broadcast",
    "suggested_post_parameters",
    "inline_message_id",
    "rich_message",
)
"""Parameters with effects that the emulator does not show."""


class Gone(Exception):
    """The client hung up before it was answered."""


@dataclass(slots=True)
class BotApi:
    """`/bot<token>/<method>` as an ASGI application."""

    state: State

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            params, form, broken = await _body(request)
        except ClientDisconnect:
            return
        call = Call(self.state, scope["path_params"]["method"], params, form=form, broken=broken)
        try:
            response = await call.answer(scope["path_params"]["token"], lambda work: unless_gone(receive, work))
        except Gone:
            return
        if response is None:
            scope[CUT]()
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await response(scope, receive, send)


async def _body(request: Request) -> tuple[Json, bool, str | None]:
    """The parameters as given, whether they are a form's strings, and what is wrong with the body."""
    params: Json = dict(request.query_params)
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "application/json":
        try:
            given = await request.json()
        except ValueError:
            return params, False, "can't parse JSON object"
        return (
            ({**params, **given}, False, None)
            if isinstance(given, dict)
            else (params, False, "object expected as JSON")
        )
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        async with request.form() as parts:
            params |= {name: Upload() if isinstance(part, UploadFile) else part for name, part in parts.items()}
    return params, True, None


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; Gone as soon as the client hangs up, and then the work is stopped."""

    async def hung_up() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    doing, watching = asyncio.ensure_future(work), asyncio.ensure_future(hung_up())
    try:
        await asyncio.wait({doing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Gone
        return doing.result()
    finally:
        doing.cancel()
        watching.cancel()
        await asyncio.gather(doing, watching, return_exceptions=True)


Waiter = Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]]


class Call:
    """One call, and the note of it that the emulator keeps."""

    def __init__(self, state: State, spelled: str, params: Json, *, form: bool, broken: str | None) -> None:
        self.state, self.spelled, self.given, self.form, self.broken = state, spelled, params, form, broken
        self.method = schema().method(spelled) or spelled
        self.fault: Fault | None = None

    async def answer(self, token: str, wait: Waiter) -> Response | None:
        """The response, None for a connection cut; Gone when the client did not wait."""
        try:
            self._admit(token)
            params = self._checked()
            self.fault = self.state.faults.struck(self.method, params.get("chat_id"))
            early = await self._before(wait)
            if early is not None:
                return self._noted(early)
            if self._is("cut"):
                self._note(None, None)
                return None
            result = await self._apply(params, wait)
        except BotError as refused:
            return self._noted(_refusal(refused), error=refused.description)
        except Gone:
            self._note(None, "the client hung up")
            raise
        return await self._after(result, wait)

    def _is(self, kind: str) -> bool:
        return self.fault is not None and self.fault.kind == kind

    def _admit(self, token: str) -> None:
        if not re.fullmatch(r"\d+:[A-Za-z0-9_-]{3,70}", token) or token.startswith("0"):
            raise refuse(401, "invalid token specified")
        if not hmac.compare_digest(token, self.state.token):
            raise BotError(401, "Unauthorized")
        if schema().method(self.spelled) is None:
            self.state.note_violation(self.spelled, "no such method", self.given)
            raise refuse(404, "method not found")

    def _checked(self) -> Json:
        """The parameters as values; what is wrong with them stands in the violations."""
        if self.broken:
            self.state.note_violation(self.method, self.broken, {})
            raise refuse(400, self.broken)
        params, problems = schema().read(self.method, self.given, form=self.form)
        for problem in problems:
            self.state.note_violation(self.method, problem, self.given)
        if problems:
            raise refuse(400, next((words for problem, words in WORDS.items() if problem in problems), problems[0]))
        if params.get("parse_mode"):
            self.state.note_violation(self.method, "parse_mode is not to be used", self.given)
        return params

    async def _before(self, wait: Waiter) -> Response | None:
        """The answer of a fault that keeps the call from having an effect."""
        fault = self.fault
        if fault is None:
            return None
        if fault.kind == "error":
            retry = {} if fault.retry_after is None else {"retry_after": fault.retry_after}
            return _refusal(BotError(fault.status, fault.description, **retry))
        if fault.kind == "html":
            return HTMLResponse(GATEWAY_PAGE, status_code=fault.status if fault.status != 500 else 502)
        if fault.kind == "hang":
            await wait(self._hang(fault))
        return None

    async def _hang(self, fault: Fault) -> None:
        release = self.state.faults.release
        try:
            await asyncio.wait_for(release.wait(), fault.seconds)
        except TimeoutError:
            return

    async def _apply(self, params: Json, wait: Waiter) -> Any:
        if self.method == "getUpdates":
            return await wait(self._updates(params))
        built = METHODS.get(self.method)
        absent = [name for name in UNBUILT if name in params]
        if absent:
            self.state.note_violation(self.method, f"{absent[0]} is not built in the emulator", self.given)
            raise refuse(501, f"{absent[0]} is not built in the emulator")
        if built is None:
            self.state.note_violation(self.method, "not built in the emulator", self.given)
            raise refuse(501, f"{self.method} is not built in the emulator")
        return built(self.state, params)

    async def _updates(self, params: Json) -> list[Json]:
        """GetUpdates."""
        if self.state.webhook.url:
            raise BotError(409, WEBHOOK_ACTIVE)
        seconds, limit = params.get("timeout", 0), params.get("limit", 100)
        for name, value, most in (("timeout", seconds, 50), ("limit", limit, 100)):
            if not (0 if name == "timeout" else 1) <= value <= most:
                self.state.note_violation(self.method, f"{name} is out of range", self.given)
        self.state.updates.allow(params.get("allowed_updates"))
        ready = await self.state.updates.poll(
            params.get("offset"), limit=min(max(int(limit), 1), 100), seconds=min(max(seconds, 0), 50)
        )
        return polled(self.state, ready)

    async def _after(self, result: Any, wait: Waiter) -> Response | None:
        """The answer to a call that had its effect, if the client ever gets it."""
        self._note(200, None, result=result)
        if self._is("apply_then_cut"):
            return None
        if self.fault is not None and self.fault.kind == "apply_then_hang":
            await wait(self._hang(self.fault))
        return JSONResponse({"ok": True, "result": result})

    def _noted(self, response: Response, *, error: str | None = None) -> Response:
        if error is None and self.fault is not None:
            error = self.fault.description if self.fault.kind == "error" else self.fault.kind
        self._note(response.status_code, error)
        return response

    def _note(self, status: int | None, error: str | None, *, result: Any = None) -> None:
        shown = {name: "(a file)" if isinstance(value, Upload) else value for name, value in self.given.items()}
        fault = self.fault.kind if self.fault else None
        self.state.note_call(
            {"method": self.method, "params": shown, "status": status, "error": error, "fault": fault, "result": result}
        )


def _refusal(refused: BotError) -> JSONResponse:
    wait = refused.parameters.get("retry_after")
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return JSONResponse(refused.body(), status_code=refused.code, headers=headers)
