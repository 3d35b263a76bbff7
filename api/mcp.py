"""MCP from the catalogue: tools, resources and prompts of a credential's profile, for whoever a request comes from.

Nothing is kept between requests. A refusal is a result that says so; only a request that proves nobody is answered by
HTTP. `space` is accepted with every tool and compared; it is listed with none, since a key opens one space.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from inspect import getdoc
from typing import Any

import structlog
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

from store.domain.errors import Refused
from store.domain.ids import near
from store.domain.text import quoted
from store.engine.store import Store
from store.verbs.arguments import schema, title
from store.verbs.call import Result, Row
from store.verbs.catalog import ENTER, FLEET, ROWS, tools
from store.verbs.clients import Clients
from store.verbs.credentials import PROFILES
from store.verbs.identity import Badge
from store.verbs.perform import perform
from store.verbs.render import text

from . import mcp_prompts, mcp_resources
from .answers import while_connected
from .auth import key_badge, program
from .hosts import Hosts
from .mcp_wire import Wire, as_error

ACTION_ID = "logmem/action_id"  # in a call's _meta
PATHS = ("/mcp", "/mcp/", "/k/{key}/mcp", "/k/{key}/mcp/")
LIST_LIFE = 60_000  # ms that a client may keep the lists and the instructions
LISTS: tuple[CacheableMethod, ...] = (
    *("tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"),
)
PROFILES_KNOWN = 10_000  # credentials whose profile is remembered; it never changes

# Sentences of the instructions after the first: each with the tool that it takes. Codex shows a model the first 240
# characters or so, with the tools themselves left to be searched for, so what must not be missed stands there.
GUIDE = (
    ("start", "Call logmem_start first: it tells you all that waits for you."),
    (
        "redeem",
        "Before anything that cannot be undone: logmem_ask, wait with logmem_follow, act only on what logmem_redeem "
        "returns (money, publishing, deleting, deploys, mail).",
    ),
    ("note", "Write a logmem_note as you go, so that others can follow and the next shift can go on."),
    ("handoff", "When you cannot go on, hand the work over with logmem_handoff instead of stopping."),
    ("recap", "At the end call logmem_recap: what you did and what comes next."),
)

COMPLETE = {"resultType": "complete"}  # of the 2026 era; the SDK leaves it out of the other's
FAILED = Refused(
    "unconfirmed",
    "The server failed at this call; its log says why. It may or may not have been done: look before you retry.",
    retry_after=5,
)

Context = ServerRequestContext[Any, Request]
log = structlog.get_logger(__name__)


class Mcp:
    """The MCP endpoint over one store: `routes` for the application, `wire.run()` for its lifespan."""

    def __init__(self, store: Store, *, hosts: Hosts) -> None:
        self.store = store
        self.clients = Clients(store)
        self._profiles: dict[str, str] = {}
        lists = dict.fromkeys(LISTS, CacheHint(ttl_ms=LIST_LIFE, scope="private"))
        reads: dict[CacheableMethod, CacheHint] = {"resources/read": CacheHint(ttl_ms=0, scope="private")}
        server: Server[Any] = Server("logmem", version=version("logmem"), cache_hints={**lists, **reads})
        server.add_request_handler("tools/list", PaginatedRequestParams, self._list)
        server.add_request_handler("tools/call", CallToolRequestParams, self._call)
        server.add_request_handler("resources/list", PaginatedRequestParams, self._resources)
        server.add_request_handler("resources/templates/list", PaginatedRequestParams, self._templates)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        server.add_request_handler("prompts/list", PaginatedRequestParams, self._prompts)
        server.add_request_handler("prompts/get", GetPromptRequestParams, self._prompt)
        server.middleware[:] = [self._introduce]  # the SDK's own traces each request, with what agents say in it
        # No handler sends anything but its result, so that a progress token changes nothing.
        self.wire = Wire(server, hosts=hosts, admit=self._admit, may_stream=lambda _: False)

    def routes(self) -> list[Route]:
        """Where it is reached: with a bearer, and by minted URL."""
        return [Route(path, self.wire) for path in PATHS]

    async def _admit(self, request: Request, message: dict[str, Any] | None) -> None:
        """Turn away who is nobody here; who calls a tool is proven by that call, to spare it a round trip."""
        if message is None:
            request.state.badge = _badge(request)
            return
        match message:
            case {"id": _, "method": "tools/call", "params": {"name": str()}}:
                return
        request.state.entered = await self._enter(request.state.badge)

    async def _enter(self, badge: Badge) -> Result:
        """Who calls, proven. Refuses what `perform` refuses."""
        entered = await perform(self.store, badge, ENTER, {})
        if len(self._profiles) >= PROFILES_KNOWN:
            self._profiles.clear()
        self._profiles[badge.id] = entered.get("profile") or FLEET
        return entered

    async def _listed(self, request: Request, badge: Badge) -> Mapping[str, Row]:
        """The caller's tools by name."""
        if badge.id not in self._profiles:
            await self._enter(badge)
        return _tools(self._profiles[badge.id], request.query_params.get("profile", ""))

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Add to the answer of either era's first request what this caller should know."""
        result = await call_next(ctx)
        if ctx.method not in ("initialize", "server/discover") or not isinstance(result, dict):
            return result
        request = _request(ctx)
        if ctx.method == "initialize":
            await self.clients.connected(request.state.badge.id, program(_declared(ctx)))
        listed = await self._listed(request, request.state.badge)
        return {**result, "instructions": instructions(request.state.entered, listed)}

    async def _list(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        request = _request(ctx)
        listed = await self._listed(request, request.state.badge)
        return {**COMPLETE, "tools": [_tool(row) for row in listed.values()]}

    async def _call(self, ctx: Context, params: CallToolRequestParams) -> HandlerResult:
        try:
            row, result = await self._perform(ctx, params.name)
            said = text(row, result)
        except Refused as no:
            if no.code == "unauthenticated":
                raise
            return _refusal(no)
        except ClientDisconnect:
            raise
        except Exception as wrong:
            log.error("tool_failed", tool=params.name[:80], exc_info=wrong)
            return _refusal(FAILED)
        return {**COMPLETE, "content": [{"type": "text", "text": said}], "structuredContent": result}

    async def _perform(self, ctx: Context, name: str) -> tuple[Row, Result]:
        request = _request(ctx)
        given, wrong = dict(request.state.arguments), request.state.fault
        space, action_id = given.pop("space", ""), ((ctx.params or {}).get("_meta") or {}).get(ACTION_ID, "")
        for what, said in (("space", space), (f'_meta["{ACTION_ID}"]', action_id)):
            if not isinstance(said, str):
                wrong = wrong or Refused("invalid_argument", f"{what} must be a text. Nothing was written.")
        badge = await self._badge(ctx, ("argument space", space if isinstance(space, str) else ""))
        listed = await self._listed(request, badge)
        if name not in listed:
            await self._enter(badge)
            raise _no_tool(name, listed)
        row = listed[name]
        work = perform(self.store, badge, row, given, action_id=action_id if not wrong else "", fault=wrong)
        return row, await (while_connected(request, work) if row.around else work)

    async def _badge(self, ctx: Context, space: tuple[str, str]) -> Badge:
        """The caller's badge, with what its program calls itself and where this request says which space."""
        badge: Badge = _request(ctx).state.badge
        client = program(_declared(ctx)) or await self.clients.name(badge.id) or badge.client
        return replace(badge, client=client, spaces=(*badge.spaces, space) if space[1] else badge.spaces)

    async def _verbs(self, ctx: Context) -> Mapping[str, Row]:
        """The caller's rows by verb."""
        request = _request(ctx)
        return {row.verb: row for row in (await self._listed(request, request.state.badge)).values()}

    async def _resources(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        space = _request(ctx).state.entered["space"]
        return {**COMPLETE, "resources": mcp_resources.listed(space, await self._verbs(ctx))}

    async def _templates(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        space = _request(ctx).state.entered["space"]
        return {**COMPLETE, "resourceTemplates": mcp_resources.templates(space, await self._verbs(ctx))}

    async def _read(self, ctx: Context, params: ReadResourceRequestParams) -> HandlerResult:
        rows = await self._verbs(ctx)
        try:
            asked = mcp_resources.reading(params.uri, rows)
            badge = await self._badge(ctx, ("resource's URI", asked.space))
            result = await perform(self.store, badge, rows[asked.verb], asked.args, fault=asked.fault)
        except Refused as no:
            if no.status == 401:
                raise
            raise as_error(no, version=ctx.protocol_version, uri=params.uri) from None
        return {**COMPLETE, **mcp_resources.contents(params.uri, text(rows[asked.verb], result))}

    async def _prompts(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        return {**COMPLETE, "prompts": mcp_prompts.listed(await self._verbs(ctx))}

    async def _prompt(self, ctx: Context, params: GetPromptRequestParams) -> HandlerResult:
        try:
            return {**COMPLETE, **mcp_prompts.filled(params.name, params.arguments or {}, await self._verbs(ctx))}
        except Refused as no:
            raise as_error(no, version=ctx.protocol_version) from None


def _request(ctx: Context) -> Request:
    if ctx.request is None:
        raise TypeError("MCP is served over HTTP only")
    return ctx.request


def _badge(request: Request) -> Badge:
    """The badge of a key. Refuses unauthenticated, also for a person's session: people have the console."""
    badge = key_badge(request, key=request.path_params.get("key", ""))
    if badge.kind != "key":
        raise Refused("unauthenticated", "This takes a key, not a session. An owner can mint one.")
    return badge


def _declared(ctx: Context) -> str:
    """What the program calls itself in this request, or ''."""
    if ctx.session.client_params:
        return ctx.session.client_params.client_info.name
    match ctx.params:
        case {"clientInfo": {"name": str(name)}}:
            return name
    return ""


@cache
def _tools(profile: str, narrowed: str) -> Mapping[str, Row]:
    """The tools of a profile, or those of another that are among them. Refuses invalid_argument."""
    if narrowed and narrowed not in PROFILES:
        raise Refused("invalid_argument", f"profile is one of {', '.join(PROFILES)}. Nothing was done.")
    return {title(row): row for row in tools(profile) if not narrowed or narrowed in row.profiles}


@cache
def _tool(row: Row) -> dict[str, Any]:
    hint = {"readOnlyHint": True} if row.pure else {"destructiveHint": False}
    return {"name": title(row), "description": description(row), "inputSchema": schema(row), "annotations": hint}


def description(row: Row) -> str:
    """What agents are told of a tool, on one line."""
    return " ".join((getdoc(row.run) or "").split())


def instructions(entered: Result, listed: Mapping[str, Row]) -> str:
    """Who and where the caller is, and how to work here with the tools that it has."""
    verbs = {row.verb for row in listed.values()}
    you = f"You are {entered['caller']} in space {entered['space']}."
    return " ".join((you, *(said for verb, said in GUIDE if verb in verbs)))


def _refusal(no: Refused) -> dict[str, Any]:
    said = {"ok": False, "error": no.body}
    return {**COMPLETE, "content": [{"type": "text", "text": str(no)}], "structuredContent": said, "isError": True}


PEOPLES = {
    "decide": "{name} is no tool: only people decide, in the console. Nothing changed. "
    "Wait for them: logmem_follow {{what: <trail>}}",
    "manage": "{name} is no tool: it is for owners, in the console or by the command logmem. Nothing changed.",
}


def _no_tool(name: str, listed: Mapping[str, Row]) -> Refused:
    """The refusal for a tool that is not listed to the caller."""
    shown = quoted(name)
    row = ROWS.get(name.removeprefix("logmem_"))
    if row and row.effect in PEOPLES:
        return Refused("not_found", PEOPLES[row.effect].format(name=shown))
    close = near(name, listed)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"You have {', '.join(listed)}."
    return Refused("not_found", f"{shown} is no tool of yours. Nothing was done. {hint}", near=close)
