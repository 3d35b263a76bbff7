"""One message of JSON-RPC as the bridge reads it: whose it is, what it needs on the way, what it is given."""

import json
from typing import Any

import pytest

from api import answers
from logmem import bridge as bridging
from logmem import message

NO_IDS = [b"NaN", b"-Infinity", b"1e400", b"null", b"true", b"[1]", b'{"a":1}', b"1" * 5_000]


@pytest.mark.parametrize("id", NO_IDS[:-1])
def test_an_id_that_is_none(id: bytes) -> None:
    """What is neither a string nor a number that JSON has is no id; the answer is JSON, and names null."""

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    for rest in (b',"method":"ping"}', b"}"):
        with pytest.raises(message.Unfit) as no:
            message.read(b'{"jsonrpc":"2.0","id":' + id + rest)
        told = json.loads(no.value.answer, parse_constant=refuse)
        assert (told["id"], told["error"]["code"]) == (None, -32600)


HALF = '{"method":"ping","params":{"id":1,"x":"'  # of a line, as its beginning or its end
ENDS = [
    ('{"jsonrpc":"2.0","id":3,"x":"', '"}', 3),
    (' { "x" : {"id":1}, "id" : "a\\u00e9", "y":"', "", "aé"),
    ('{"id":1', '1,"x":2}', None),  # cut amid the id
    ('{"id":NaN,"x":"', '"}', None),
    ('[{"id":3,"x":"', '"}]', None),
    ('"id":3,', "", None),
    (HALF, '"},"jsonrpc":"2.0","id":7}', 7),
    (HALF, '"},"id": "b" }  \n', "b"),
    (HALF, '"},"id":-5}', -5),
    (HALF, '","id":7}}', None),  # of what is inside
    (HALF, ',\\"id\\":\\"b"}}', None),  # of a text
    (HALF, ',\\"id\\":7}"}', None),
    (HALF, '"},"id":"a\\"b"}', None),  # not found cheaply
    (HALF, '"},"id":1e400}', None),
    (HALF, "", None),
]


@pytest.mark.parametrize(("head", "tail", "id"), ENDS)
def test_whose_a_long_line_is(head: str, tail: str, id: object) -> None:
    """The id is found at either end of a line of which no more is known, and never inside of something else."""
    assert message.Overlong(head.encode(), tail.encode()).id == id


CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}'
NAMED = [
    ('{"name":"n"}', '{"_meta":{"logmem/action_id":"i"},"name":"n"}'),
    (' { "name" : "n" }', ' {"_meta":{"logmem/action_id":"i"}, "name" : "n" }'),
    ('{"name":"n","_meta":{}}', '{"name":"n","_meta":{"logmem/action_id":"i"}}'),
    ('{"_meta": { "a":1},"name":"}{"}', '{"_meta": {"logmem/action_id":"i", "a":1},"name":"}{"}'),
    ('{"name":"é\\"_meta","_meta":{\t}}', '{"name":"é\\"_meta","_meta":{"logmem/action_id":"i"\t}}'),
    ('{"\\u005fmeta":{"a":{}},"name":"n"}', '{"\\u005fmeta":{"logmem/action_id":"i","a":{}},"name":"n"}'),
]


@pytest.mark.parametrize(("params", "named"), NAMED)
def test_the_action_id_is_put_in(params: str, named: str) -> None:
    """An action id comes into `_meta`, and every other byte of the message stays."""
    said = message.read((CALL % params).encode())
    assert said.wants_action
    assert said.with_action("i").decode() == CALL % named


@pytest.mark.parametrize(
    "params",
    [
        '{"name":"n","_meta":{"logmem/action_id":"own"}}',
        '{"name":"n","arguments":{"action_id":"own"}}',
        '{"name":"n","_meta":null}',
        "{}",
        "null",
        "[1]",
    ],
)
def test_no_action_id_is_put_in(params: str) -> None:
    """A call that is named already, or is none, stays as it is."""
    assert not message.read((CALL % params).encode()).wants_action


def test_headers_of_both_eras() -> None:
    """Headers repeat what the message says in the era that wants it, and the agreed version in the other."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    params: dict[str, Any] = {"name": "nöte ", "_meta": meta}
    said = message.read(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode())
    assert said.headers("2025-11-25") == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?bsO2dGUg?=",
    }
    old = message.read(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert (old.headers(""), old.headers("2025-11-25")) == ({}, {"MCP-Protocol-Version": "2025-11-25"})


def test_the_bound_is_the_servers() -> None:
    """The bridge refuses what the server would, and nothing else."""
    assert bridging.LIMIT == answers.BODY_LIMIT
