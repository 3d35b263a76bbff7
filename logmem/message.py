"""One message of JSON-RPC as the bridge passes it on: what it is, the headers that it needs, the action that it names.

A message goes on byte for byte, so that the server judges what the client wrote and not what became of it on the way.
"""

import base64
import json
import math
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .jsontext import after_space, members

ACTION_ID = "logmem/action_id"  # in a call's _meta; the server compares nothing else with it
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603

_VERSION = "io.modelcontextprotocol/protocolVersion"  # in each request's _meta, of the era without a handshake
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}  # what Mcp-Name repeats
_LAST_ID = re.compile(rb'[{,]\s*"id"\s*:\s*("[^"\\\x00-\x1f]*"|-?[0-9]{1,20})\s*\}\s*\Z')
_PLAIN = re.compile(r"(?! )(?!=\?base64\?)[ -~]*(?<! )")

Json = dict[str, Any]


class Kind(Enum):
    """What a message wants: an answer, to be heard, nothing (it answers something)."""

    REQUEST = auto()
    NOTICE = auto()
    ANSWER = auto()


class Unfit(ValueError):
    """A line that is no message; `answer` is what its sender is told."""

    def __init__(self, code: int, text: str, *, id: object = None) -> None:
        super().__init__(text)
        self.answer = error(id, code, text)


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line of which no more than its beginning and its end were kept."""

    head: bytes
    tail: bytes

    @property
    def id(self) -> object:
        """The id, where it stands at either end, as clients write it; else None. Text that looks like one is none."""
        text = self.head.decode(errors="replace")
        at = after_space(text, 0)
        try:
            for each in members(text, at) if text[at : at + 1] == "{" else ():
                if each.name == "id" and each.end < len(text):
                    return _known(json.loads(text[each.start : each.end]))
        except (ValueError, IndexError, RecursionError):  # the head ends amid this value
            pass
        found = _LAST_ID.search(self.tail)
        try:
            return _known(json.loads(found[1])) if found else None
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its bytes, and what of them matters on the way."""

    raw: bytes
    kind: Kind
    method: str
    id: Any
    params: Json

    @property
    def is_call(self) -> bool:
        """Whether it calls a tool."""
        return self.kind is Kind.REQUEST and self.method == "tools/call"

    @property
    def meta(self) -> Json:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def version(self) -> str:
        """The version that it says itself; '' in the era that agreed on one before."""
        said = self.meta.get(_VERSION)
        return said if isinstance(said, str) else ""

    @property
    def wants_action(self) -> bool:
        """Whether it calls a tool, and has no action id of its client's own and a place for one."""
        meta = self.params.get("_meta", {})
        return (
            self.is_call and bool(self.params) and isinstance(meta, dict) and ACTION_ID not in meta and not self.named
        )

    @property
    def named(self) -> bool:
        """Whether its client gave it an action id of its own; to the server an empty one is none."""
        arguments = self.params.get("arguments")
        own = arguments.get("action_id") if isinstance(arguments, dict) else ""
        return bool(self.meta.get(ACTION_ID) or own)

    def headers(self, agreed: str) -> dict[str, str]:
        """The headers of its request; `agreed` is the version of the handshake, or ''."""
        if not self.version:
            return {"MCP-Protocol-Version": agreed} if agreed else {}
        found = {"MCP-Protocol-Version": _encoded(self.version), "Mcp-Method": _encoded(self.method)}
        name = self.params.get(_NAMED.get(self.method, ""))
        return found | {"Mcp-Name": _encoded(name)} if isinstance(name, str) else found

    def with_action(self, id: str) -> bytes:
        """Its bytes with the id of an action put in; every other byte stays."""
        text = self.raw.decode()
        at = _values(text, after_space(text, 0))["params"]
        inner = _values(text, at)
        new = f"{json.dumps(ACTION_ID)}:{json.dumps(id)}"
        if "_meta" in inner:
            at = inner["_meta"]
        else:
            new = f'"_meta":{{{new}}}'
        empty = text[after_space(text, at + 1)] == "}"
        return f"{text[: at + 1]}{new}{'' if empty else ','}{text[at + 1 :]}".encode()


def read(line: bytes) -> Message:
    """The message of a line. Unfit: it is none."""
    try:
        said = json.loads(line.decode())
    except (ValueError, RecursionError) as wrong:
        raise Unfit(PARSE_ERROR, f"Parse error: a line is one message in JSON, in UTF-8 ({wrong}).") from None
    if not isinstance(said, dict):
        raise Unfit(INVALID_REQUEST, "Invalid request: a line is one JSON-RPC message, an object.")
    id, method, params = _known(said.get("id")), said.get("method"), said.get("params")
    if isinstance(method, str) and ("id" not in said or id is not None):
        kind = Kind.REQUEST if "id" in said else Kind.NOTICE
        return Message(line, kind, method, id, params if isinstance(params, dict) else {})
    if method is None and ("result" in said or "error" in said):
        return Message(line, Kind.ANSWER, "", id, {})
    raise Unfit(INVALID_REQUEST, "Invalid request: this is no JSON-RPC request or notification.", id=id)


def _known(id: object) -> object:
    """The id, if it is one that JSON can say again: a string or a number, neither NaN nor infinite; else None."""
    fits = isinstance(id, str | int) or (isinstance(id, float) and math.isfinite(id))
    return id if fits and not isinstance(id, bool) else None


def error(id: object, code: int, text: str, *, data: object = None) -> bytes:
    """The answer that says what went wrong."""
    said = {"code": code, "message": text} | ({} if data is None else {"data": data})
    return line({"jsonrpc": "2.0", "id": id, "error": said})


def failure(message: Message, *, code: str, text: str, retry_after: int) -> bytes:
    """The answer to a request that the server did not answer: of a tool a result, so that its caller reads it."""
    refusal = {"code": code, "message": text, "retry_after": retry_after}
    said = f"{code}: {text}"
    if not message.is_call:
        return error(message.id, INTERNAL_ERROR, said, data=refusal)
    result: Json = {
        "content": [{"type": "text", "text": said}],
        "structuredContent": {"ok": False, "error": refusal},
        "isError": True,
    }
    complete = {"resultType": "complete"} if message.version else {}
    return line({"jsonrpc": "2.0", "id": message.id, "result": result | complete})


def line(said: Json) -> bytes:
    """A message as a line, without its end."""
    return json.dumps(said, separators=(",", ":")).encode()


def _encoded(value: str) -> str:
    """A value as a header carries it, in the form that the protocol has for what a header cannot."""
    if _PLAIN.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='surrogatepass')).decode()}?="


def _values(text: str, at: int) -> dict[str, int]:
    """Where the values of the object at `at` begin."""
    return {each.name: each.start for each in members(text, at)}
