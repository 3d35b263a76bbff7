"""REST from the catalogue: a path for each row, the same refusals, and what people decide over JSON."""

import difflib
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from pydantic import BaseModel, ConfigDict
from starlette.requests import ClientDisconnect

from store.domain.errors import STATUS, Refused
from store.domain.strict import parse
from store.verbs.arguments import schema
from store.verbs.call import Row
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge, vouch
from store.verbs.perform import perform

from . import events
from .answers import answer, failed, plain_error, read_body, refused, while_connected
from .auth import COOKIE, any_badge, check_own_page
from .examples import CALLS
from .meanings import MEANINGS

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
TOOLS = "/api/tools/"
DECISIONS = {"/api/decide": "decide", "/api/ask-back": "ask_back", "/api/take-back": "take_back"}


class Problem(BaseModel):
    """What was refused and why; further facts stand beside these two."""

    model_config = ConfigDict(extra="allow")
    code: str
    message: str


class Failure(BaseModel):
    """The body of every answer that is not a result."""

    error: Problem


_OTHERS = {404: ("not_found",), 405: ("method_not_allowed",), 500: ("internal",)}
FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": ", ".join(sorted(codes))}
    for status in sorted({*STATUS.values(), *_OTHERS})
    for codes in [{*(c for c, s in STATUS.items() if s == status), *_OTHERS.get(status, ())}]
}
RESULT = {
    "type": "object",
    "properties": {"ok": {"const": True}, "space": {"type": "string"}, "caller": {"type": "string"}},
    "required": ["ok", "space", "caller"],
}


def router() -> APIRouter:
    """`/api`: the rows of the catalogue, the three paths for deciding, the events, and an answer for the rest."""
    proofs = [Security(HTTPBearer(auto_error=False)), Security(APIKeyCookie(name=COOKIE, auto_error=False))]
    made = APIRouter(dependencies=proofs)
    paths = {f"{TOOLS}{verb}": row for verb, row in ROWS.items()}
    paths |= {path: ROWS[verb] for path, verb in DECISIONS.items()}
    for path, row in paths.items():
        made.add_api_route(
            path,
            _endpoint(row),
            methods=["POST"],
            operation_id=path.removeprefix("/api/").replace("/", "_").replace("-", "_"),
            summary=(row.run.__doc__ or "").partition("\n")[0],
            description=row.run.__doc__,
            responses={200: {"content": {"application/json": {"schema": RESULT}}}, **FAILURES},
            openapi_extra=_described(row),
            response_class=Response,
        )
    made.include_router(events.router())
    made.add_api_route(
        "/api/{rest:path}", _unknown(dict.fromkeys(paths, "POST") | {events.PATH: "GET"}), methods=METHODS,
        include_in_schema=False,
    )  # fmt: skip
    return made


def _endpoint(row: Row) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return answer(await _call(request, row))
        except Refused as no:
            return refused(no)
        except ClientDisconnect:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, the caller gets an answer without a trace
            return failed(request, fault)

    return endpoint


async def _call(request: Request, row: Row) -> dict[str, Any]:
    """One call of one row. What is wrong with the body is said in its turn, after who calls and where."""
    state, fault = request.app.state, None
    given: dict[str, Any] = {}
    space = ""
    # Whoever has no key gets no further than this: nothing of theirs is read, let alone parsed.
    await vouch(state.store, _proven(request, ""))
    raw = await read_body(request)
    try:
        given, space = _arguments(raw)
    except Refused as wrong:
        fault = wrong
    badge = _proven(request, space)
    named = request.headers.get("idempotency-key", "")
    call = perform(state.store, badge, row, given, action_id=named, fault=fault)
    return await (while_connected(request, call) if row.around else call)


def _proven(request: Request, space: str) -> Badge:
    """The badge of a call; with a cookie it must come from one of our own pages, since browsers send those unasked."""
    badge = any_badge(request, space=space)
    if badge.kind == "session":
        check_own_page(request, request.app.state.settings.public_url)
    return badge


def _arguments(raw: bytes) -> tuple[dict[str, Any], str]:
    """The arguments and the space that they declare. Refuses payload_not_canonical, invalid_argument."""
    given = parse(raw) if raw.strip() else {}
    if not isinstance(given, dict):
        raise Refused("invalid_argument", "The body is not a JSON object of arguments. Nothing was written.")
    space = given.pop("space", "")
    if not isinstance(space, str):
        raise Refused("invalid_argument", "space is the name of a space. Nothing was written.", argument="space")
    return given, space


def _described(row: Row) -> dict[str, Any]:
    """What OpenAPI says of a row's request."""
    arguments = schema(row)
    fields = {name: {**shape, **_meant(row, name)} for name, shape in arguments["properties"].items()}
    fields["space"] = {"type": "string", "description": "The space of the call, as in the header X-LogMem-Space"}
    content: dict[str, Any] = {"schema": {**arguments, "properties": fields}}
    if row.verb in CALLS:
        content["example"] = CALLS[row.verb]
    headers = [
        ("X-LogMem-Space", "The space of the call, where the credential may enter several"),
        ("Idempotency-Key", "Makes a mutation repeatable: the same call gets the first answer again"),
        ("X-LogMem-CSRF", "1, in calls with a session's cookie"),
    ]
    if row.pure:
        del headers[1]
    return {
        "requestBody": {"required": bool(arguments.get("required")), "content": {"application/json": content}},
        "parameters": [
            {"name": name, "in": "header", "required": False, "description": text, "schema": {"type": "string"}}
            for name, text in headers
        ],
    }


def _meant(row: Row, argument: str) -> dict[str, str]:
    """What OpenAPI says of an argument; an agent's own schema says no such thing, since each session pays for that."""
    known = MEANINGS.get(row.verb, {}).get(argument)
    return {"description": f"{known.says} {known.takes(argument)}".strip()} if known else {}


def _unknown(known: dict[str, str]) -> Callable[[Request], Awaitable[Response]]:
    """The answer for paths under /api that are not there, and for methods that a path does not take."""

    async def endpoint(request: Request) -> Response:
        path = request.url.path
        if path in known:
            allow = known[path]
            return plain_error(
                405,
                "method_not_allowed",
                f"{path} takes {allow}, not {request.method}. Nothing was done.",
                allow=[allow],
            )
        return refused(_no_path(path, list(known)))

    return endpoint


def _no_path(path: str, known: list[str]) -> Refused:
    if path.startswith(TOOLS):
        verb = path.removeprefix(TOOLS).removeprefix("logmem_")[:80]
        close = [f"{TOOLS}{v}" for v in difflib.get_close_matches(verb.lower(), list(ROWS), 3)]
    else:
        close = difflib.get_close_matches(path[:80].lower(), known, 3)
    hint = f"Did you mean {', '.join(close)}?" if close else "Paths and arguments are in /openapi.json."
    return Refused("not_found", f"There is no such path. Nothing was done. {hint}", near=close)
