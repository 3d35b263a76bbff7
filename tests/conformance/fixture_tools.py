"""The tools that the conformance suite calls by name: what each answers is what the suite asks for."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ServerEvent, ToolsListChanged
from mcp_types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY, CallToolRequestParams
from starlette.requests import Request

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
BUS = InMemorySubscriptionBus()  # of those who listen for changes
SECRET = secrets.token_bytes(32)
DONE = "complete"

Json = dict[str, Any]
Context = ServerRequestContext[Any, Request]
Run = Callable[[Context, CallToolRequestParams], Awaitable[Json]]


@dataclass(frozen=True)
class Tool:
    """A tool; `streams` if it sends more than its result, or is one that the session manager has to check."""

    run: Run
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    streams: bool = False


def text(said: str) -> Json:
    """A block of text."""
    return {"type": "text", "text": said}


def image() -> Json:
    """A block with a picture of one pixel."""
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def resource(uri: str, mime: str, said: str) -> Json:
    """A block that holds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": said}}


def result(*blocks: Json, **more: Any) -> Json:
    """A complete result."""
    return {"resultType": DONE, "content": list(blocks), **more}


def saying(*blocks: Json, **more: Any) -> Run:
    """A tool that always answers this."""

    async def run(ctx: Context, params: CallToolRequestParams) -> Json:
        return result(*blocks, **more)

    return run


def arguments(**kinds: str) -> Json:
    """A schema of required arguments."""
    return {"type": "object", "properties": {n: {"type": k} for n, k in kinds.items()}, "required": list(kinds)}


async def logging(ctx: Context, params: CallToolRequestParams) -> Json:
    """Three messages at level info, in the era in which every level is sent."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        message = types.LoggingMessageNotificationParams(level="info", data=said)
        await ctx.session.send_notification(types.LoggingMessageNotification(params=message), ctx.request_id)
    return result(text("Three messages were sent."))


async def quiet_logging(ctx: Context, params: CallToolRequestParams) -> Json:
    """A message that is sent only to who asked for messages of its level."""
    await ctx.session.send_log_message("info", "You asked for it", related_request_id=str(ctx.request_id))
    return result(text("A message was sent to whoever asks for them."))


async def progress(ctx: Context, params: CallToolRequestParams) -> Json:
    """Three reports of progress."""
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100, f"{done} of 100")
    return result(text("Three reports were sent."))


def changing(event: ServerEvent) -> Run:
    """A tool after which a list is said to have changed."""

    async def run(ctx: Context, params: CallToolRequestParams) -> Json:
        await BUS.publish(event)
        return result(text("Changed."))

    return run


def asking(request: types.ServerRequest, answer: type[Any]) -> Run:
    """A tool that asks its client something in a request of its own, for which a stateless server has no way."""

    async def run(ctx: Context, params: CallToolRequestParams) -> Json:
        said = await ctx.session.send_request(request, answer)
        return result(text(f"Answered: {said.model_dump_json()}"))

    return run


def _form(message: str, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _sampling(said: str) -> Json:
    messages = [{"role": "user", "content": text(said)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


TEXT: Json = {"type": "string"}
NAME = _form("What is your name?", name=TEXT)
ROOTS: Json = {"method": "roots/list", "params": {}}
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def _signed(state: str) -> str:
    return f"{state}.{hmac.new(SECRET, state.encode(), hashlib.sha256).hexdigest()}"


def _stated(signed: str | None) -> str:
    """The state that a client sends back. Raises MCPError if it is none that was given."""
    state = (signed or "").rpartition(".")[0]
    if signed and not hmac.compare_digest(_signed(state), signed):
        raise MCPError(INVALID_PARAMS, "This requestState is none that was given here.")
    return state


def required(requests: Mapping[str, Json], state: str = "") -> Json:
    """A result that waits for these requests to be answered."""
    more = {"requestState": _signed(state)} if state else {}
    return {"resultType": "input_required", "inputRequests": dict(requests), **more}


def needing(*rounds: Mapping[str, Json], state: str = "", said: str = "Thank you.") -> Run:
    """A tool that is answered only once all of each round has been, one round after another."""

    async def run(ctx: Context, params: CallToolRequestParams) -> Json:
        given = set(params.input_responses or {})
        before = _stated(params.request_state)
        at = int(before.rpartition("-")[2]) if before else 0
        if not given >= set(rounds[at]):
            return required(rounds[at], f"{state}-{at}" if state else "")
        if at + 1 < len(rounds):
            return required(rounds[at + 1], f"{state}-{at + 1}")
        return result(text(said))

    return run


async def only_what_is_declared(ctx: Context, params: CallToolRequestParams) -> Json:
    """Asks for what the client says that it can answer."""
    able = ctx.session.client_capabilities
    all_of = {"name": NAME, "capital": _sampling("What is the capital of France?"), "roots": ROOTS}
    asked = {key: request for key, request in all_of.items() if able and getattr(able, NEEDS[request["method"]])}
    return required(asked) if asked and not params.input_responses else result(text("Thank you."))


async def missing_capability(ctx: Context, params: CallToolRequestParams) -> Json:
    """Needs a client that can sample."""
    if not (ctx.session.client_capabilities and ctx.session.client_capabilities.sampling):
        lacks: Json = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs a client that can sample.", lacks)
    return result(text("Your client can sample."))


ADDRESS = {"$anchor": "address", "type": "object", "properties": {"street": TEXT, "city": TEXT}}
BY_PHONE, BY_MAIL = {"required": ["phone"]}, {"required": ["email"]}
JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": TEXT, "address": {"$ref": "#/$defs/address"}, "by": TEXT, "phone": TEXT, "email": TEXT},
    "allOf": [{"anyOf": [BY_PHONE, BY_MAIL]}],
    "if": {"properties": {"by": {"const": "phone"}}, "required": ["by"]},
    "then": BY_PHONE,
    "else": BY_MAIL,
    "additionalProperties": False,
}
IN_HEADER = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

_ELICIT = types.ElicitRequest(
    params=types.ElicitRequestFormParams(message="Who are you?", requested_schema={"type": "object", "properties": {}})
)
_SAMPLE = types.CreateMessageRequest(
    params=types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=types.TextContent(text="Hello"))], max_tokens=100
    )
)
elicits, samples = asking(_ELICIT, types.ElicitResult), asking(_SAMPLE, types.CreateMessageResult)

TOOLS: Mapping[str, Tool] = {
    "test_simple_text": Tool(saying(text("This is a simple text response for testing."))),
    "test_image_content": Tool(saying(image())),
    "test_audio_content": Tool(saying({"type": "audio", "data": WAV, "mimeType": "audio/wav"})),
    "test_embedded_resource": Tool(
        saying(resource("test://embedded-resource", "text/plain", "This is an embedded resource content."))
    ),
    "test_multiple_content_types": Tool(
        saying(
            text("Multiple content types test:"),
            image(),
            resource("test://mixed-content-resource", "application/json", json.dumps({"test": "data", "value": 123})),
        )
    ),
    "test_error_handling": Tool(saying(text("This tool intentionally returns an error for testing"), isError=True)),
    "test_tool_with_logging": Tool(logging, streams=True),
    "test_tool_with_progress": Tool(progress),  # streams when asked for progress
    "test_reconnection": Tool(logging, streams=True),
    "test_sampling": Tool(samples, arguments(prompt="string"), streams=True),
    "test_elicitation": Tool(elicits, arguments(message="string"), streams=True),
    "test_elicitation_sep1034_defaults": Tool(elicits, streams=True),
    "test_elicitation_sep1330_enums": Tool(elicits, streams=True),
    "json_schema_2020_12_tool": Tool(saying(text("Fits.")), JSON_SCHEMA),
    "test_headers": Tool(saying(text("Header and argument agree.")), IN_HEADER, streams=True),
    "test_trigger_tool_change": Tool(changing(ToolsListChanged())),
    "test_trigger_prompt_change": Tool(changing(PromptsListChanged())),
    "test_missing_capability": Tool(missing_capability),
    "test_logging_tool": Tool(quiet_logging, streams=True),
    "test_streaming_elicitation": Tool(needing({"user_name": NAME}), streams=True),
    "test_input_required_result_elicitation": Tool(needing({"user_name": NAME}, said="Hello!")),
    "test_input_required_result_sampling": Tool(needing({"capital_question": _sampling("What is the capital?")})),
    "test_input_required_result_list_roots": Tool(needing({"client_roots": ROOTS})),
    "test_input_required_result_request_state": Tool(
        needing({"confirm": _form("Please confirm", ok={"type": "boolean"})}, state="confirm", said="state-ok")
    ),
    "test_input_required_result_multiple_inputs": Tool(
        needing({"user_name": NAME, "greeting": _sampling("Greet"), "client_roots": ROOTS}, state="three")
    ),
    "test_input_required_result_multi_round": Tool(
        needing({"step1": NAME}, {"step2": _form("What is your favorite color?", color=TEXT)}, state="round")
    ),
    "test_input_required_result_tampered_state": Tool(
        needing({"confirm": _form("Please confirm", ok={"type": "boolean"})}, state="sealed")
    ),
    "test_input_required_result_capabilities": Tool(only_what_is_declared),
}
