"""An envelope of which one part is strict, as a call in JSON-RPC is."""

import json

import pytest
from hypothesis import given

from store.domain.errors import Refused
from store.domain.strict import DEEPEST, parse, parse_within
from tests.domain.json_texts import HOSTILE, JSON, nested

ARGUMENTS = ("params", "arguments")


def envelope(arguments: str, *, more: str = "", id: str = "7") -> bytes:
    """A call as JSON-RPC, with the arguments as they are spelled."""
    return f'{{"jsonrpc":"2.0","params":{{"name":"x","arguments":{arguments}{more}}},"id":{id}}}'.encode()


def test_c60_only_the_part_is_strict() -> None:
    """The envelope is read as it is, with a large id; the arguments are returned in their place."""
    value, why = parse_within(envelope('{"where":"job:x","payload":{"a":[1]}}', id="123456789012345678901"), ARGUMENTS)
    assert why is None
    assert value == {
        "jsonrpc": "2.0",
        "params": {"name": "x", "arguments": {"where": "job:x", "payload": {"a": [1]}}},
        "id": 123456789012345678901,
    }


@pytest.mark.parametrize(
    ("arguments", "rule", "path"),
    [
        ('{"payload":{"a":1,"a":2}}', "duplicate_key", "payload.a"),
        ('{"where":"x","where":"y"}', "duplicate_key", "where"),
        ('{"payload":{"items":[1,1e400]}}', "not_finite", "payload.items[1]"),
        ('{"payload":9007199254740992}', "integer_range", "payload"),
        ('{"payload":"\\ud800"}', "lone_surrogate", "payload"),
        (nested(33), "depth", "[0]" * 32),
        ("[" + nested(33) + ",[]" * 250 + "]", "depth", "[0]" * 32),
        ('{"payload":' + nested(600) + "}", "depth", "payload" + "[0]" * 31),
    ],
)
def test_c60_a_faulty_part_leaves_an_envelope_to_answer_to(arguments: str, rule: str, path: str) -> None:
    """The refusal names the path within the arguments, and the id, which comes later, is still known."""
    value, why = parse_within(envelope(arguments), ARGUMENTS)
    assert value == {"jsonrpc": "2.0", "params": {"name": "x", "arguments": {}}, "id": 7}
    assert why is not None
    assert (why.code, why.facts["rule"], why.facts["path"]) == ("payload_not_canonical", rule, path)


def test_c60_bytes_that_are_not_utf8_in_the_part_are_its_fault() -> None:
    """Invalid UTF-8 inside the arguments is refused there; the envelope stands."""
    value, why = parse_within(b'{"id":7,"params":{"arguments":{"a":"\xff"}}}', ARGUMENTS)
    assert value == {"id": 7, "params": {"arguments": {}}}
    assert why is not None
    assert (why.facts["rule"], why.facts["path"]) == ("not_utf8", "a")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"id":7,"id":8}',
        b'{"params":{"arguments":{}},"params":{}}',
        b'{"params":{"arguments":{},"arguments":{"a":1}}}',
        b'{"id":NaN}',
        b'{"id":1e400}',
        b'{"id":' + b"1" * 5000 + b"}",
        b'{"id":"\\ud800"}',
        b'{"id":"\xff","params":{"arguments":{}}}',
        b'\xff{"id":7}',
        b'{"id":7,"params":{"arguments":' + b"[" * 600,
        b'{"id":' + nested(40).encode() + b"}",
        b'{"id":' + nested(4000).encode() + b"}",
    ],
)
def test_c60_a_faulty_envelope_is_no_json(raw: bytes) -> None:
    """An envelope that cannot be read in one way, or not written again, is a parse error for the caller to answer."""
    with pytest.raises(ValueError, check=lambda error: str(error) != ""):
        parse_within(raw, ARGUMENTS)


@pytest.mark.parametrize(
    "raw", [b"7", b"[]", b'{"id":7}', b'{"params":[]}', b'{"params":{"name":"x"}}', b'[{"params":{"arguments":1}}]']
)
def test_c60_an_envelope_without_the_part_is_returned(raw: bytes) -> None:
    """Where there is no such part there is nothing to be strict about."""
    assert parse_within(raw, ARGUMENTS) == (json.loads(raw), None)


@pytest.mark.parametrize("brackets", [0, 250], ids=["few brackets", "many brackets"])
@pytest.mark.parametrize("levels", range(DEEPEST - 3, DEEPEST + 5))
def test_c60_the_depth_of_a_part_counts_from_the_part(levels: int, brackets: int) -> None:
    """Around the bound, and whether or not the text is looked through beforehand, nothing is dropped silently."""
    part = f"[{nested(levels - 1)}{',[]' * brackets}]"
    value, why = parse_within(envelope(part), ARGUMENTS)
    assert isinstance(value, dict)
    if levels <= DEEPEST:
        assert (value["params"]["arguments"], why) == (json.loads(part), None)
        assert parse(part) == json.loads(part)
    else:
        assert why is not None
        assert (why.facts["rule"], why.facts["path"]) == ("depth", "[0]" * DEEPEST)


@given(JSON)
def test_c60_a_part_is_judged_as_if_it_came_alone(value: object) -> None:
    """The arguments in an envelope are refused exactly when they would be by themselves, and with the same facts."""
    text = json.dumps(value)
    alone = None
    try:
        parse(text)
    except Refused as refusal:
        alone = refusal.body
    got, why = parse_within(envelope(text), ARGUMENTS)
    assert (why.body if why else None) == alone
    assert isinstance(got, dict)
    assert got["params"]["arguments"] == ({} if why else parse(text))


@pytest.mark.parametrize("name", list(HOSTILE))
def test_c60_hostile_arguments_are_answered(name: str) -> None:
    """Whatever the arguments are made of, they are read, or refused with the id at hand, or the whole is no JSON."""
    try:
        value, why = parse_within(envelope(HOSTILE[name]), ARGUMENTS)
    except ValueError:
        return
    assert isinstance(value, dict)
    assert value["id"] == 7
    assert why is None or value["params"]["arguments"] == {}
