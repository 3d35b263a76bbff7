"""Strict JSON: every rule, every path, hostile input, and that what is accepted has one reading."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from store.domain.errors import Refused
from store.domain.strict import DEEPEST, LARGEST, check, parse
from tests.domain.json_texts import HOSTILE, HUGE, JSON, nested


def refused(raw: bytes | str, *, root: str = "payload") -> tuple[str, str, str]:
    """Code, rule and path of the refusal that the text meets."""
    with pytest.raises(Refused) as caught:
        parse(raw, root=root)
    facts = caught.value.facts
    return caught.value.code, str(facts.get("rule", "")), str(facts.get("path", ""))


CASES = [
    ("duplicate_key", '{"a": 1, "a": 2}', "payload.a"),
    ("duplicate_key", '{"a": 1, "\\u0061": 1}', "payload.a"),
    ("duplicate_key", '{"items": [0, {"b": 1, "c": {"d": 1, "d": 1}}]}', "payload.items[1].c.d"),
    ("duplicate_key", '{"a": {"x": 1, "x": 2}, "a": 3}', "payload.a"),
    ("not_finite", "NaN", "payload"),
    ("not_finite", '{"a": [1, Infinity]}', "payload.a[1]"),
    ("not_finite", '{"a": -Infinity}', "payload.a"),
    ("not_finite", '{"items": [1, 2, 3, {"price": 1e400}]}', "payload.items[3].price"),
    ("not_finite", '{"a": -1e400}', "payload.a"),
    ("integer_range", '{"n": 9007199254740992}', "payload.n"),
    ("integer_range", "[0, -9007199254740992]", "payload[1]"),
    ("integer_range", '{"n": 1e17}', "payload.n"),
    ("integer_range", '{"n": 9007199254740993.0}', "payload.n"),
    ("lone_surrogate", '{"a": "\\ud800"}', "payload.a"),
    ("lone_surrogate", '{"a": ["x", "y\\udfffz"]}', "payload.a[1]"),
    ("lone_surrogate", '{"a": "\\ude00\\ud83d"}', "payload.a"),
    ("lone_surrogate", '{"b": {"x\\ud800": 1}}', 'payload.b["x\\ud800"]'),
    ("lone_surrogate", '{"a": "\ud800"}', "payload.a"),
    ("depth", nested(DEEPEST + 1), "payload" + "[0]" * DEEPEST),
    ("depth", nested(DEEPEST, "{}"), "payload" + "[0]" * DEEPEST),
    ("depth", nested(DEEPEST + 1, ""), "payload" + "[0]" * DEEPEST),
    ("depth", '{"a": [0, ' + nested(3 * DEEPEST) + "]}", "payload.a[1]" + "[0]" * (DEEPEST - 2)),
    ("depth", '{"a": {"b": ' + nested(5_000) + "}}", "payload.a.b" + "[0]" * (DEEPEST - 2)),
    ("depth", '{"a":' * 40 + "1" + "}" * 40, "payload" + ".a" * DEEPEST),
]


@pytest.mark.parametrize(("rule", "raw", "path"), CASES, ids=[f"{rule}-{n}" for n, (rule, _, _) in enumerate(CASES)])
def test_c60_what_two_parsers_read_differently_is_refused_with_its_path(rule: str, raw: str, path: str) -> None:
    """Each rule of the strict body refuses, and names the place."""
    assert refused(raw) == ("payload_not_canonical", rule, path)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"a": "\xff"}', "payload.a"),
        (b'{"a": ["\xc3"]}', "payload.a[0]"),
        (b'{"a": "\xed\xa0\x80"}', "payload.a"),
        (b'{"a": "\xc0\xaf"}', "payload.a"),
        (b'{"x\xfe": 1}', 'payload["x\\udcfe"]'),
        (b'{"a": \xff}', "payload"),
    ],
)
def test_c60_invalid_utf8_is_refused_with_its_path(raw: bytes, path: str) -> None:
    """Bytes that are no UTF-8 are refused, with the path where there is one."""
    assert refused(raw) == ("payload_not_canonical", "not_utf8", path)


@pytest.mark.parametrize("code", ["utf-16", "utf-32", "utf-8-sig"])
def test_c60_only_utf8_without_a_mark_is_read(code: str) -> None:
    """No encoding is guessed: what is not plain UTF-8 is refused."""
    with pytest.raises(Refused):
        parse('{"a": 1}'.encode(code))


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ('{"a b": NaN}', 'payload["a b"]'),
        ('{"": NaN}', 'payload[""]'),
        ('{"a.b": NaN}', 'payload["a.b"]'),
        ('{"0": NaN}', 'payload["0"]'),
        ('{"a-b": NaN}', "payload.a-b"),
        ('{"\\u202ex\\n\\"": NaN}', r'payload["\u202ex\n\""]'),
        ('{"' + "k" * 100 + '": NaN}', f'payload["{"k" * 40}"… (+60 characters)]'),
    ],
)
def test_c60_a_key_in_a_path_is_inert(raw: str, path: str) -> None:
    """A key that is no plain word is quoted and cut, so that a path is always one short line."""
    assert refused(raw)[2] == path


def test_c60_a_path_without_a_root_begins_with_its_first_step() -> None:
    """Without a root the path is the caller's own spelling, and the whole is called the body."""
    assert refused('{"payload": {"a": [NaN]}}', root="")[2] == "payload.a[0]"
    with pytest.raises(Refused, match="the body is not a finite number"):
        parse("NaN")


def test_c60_a_long_path_is_cut_in_its_middle() -> None:
    """However long the keys are, a refusal stays short."""
    deep = ""
    for n in range(20):
        deep += f'{{"{chr(97 + n) * 60}":'
    path = refused(deep + "NaN" + "}" * 20)[2]
    assert len(path) < 210
    assert path.startswith("payload.aaaa")
    assert path.endswith("tttt")
    assert "…" in path


def test_c60_the_first_fault_of_the_text_is_named() -> None:
    """Where there are several faults, it is the first one that a reader comes to."""
    assert refused('{"a": [1, {"b": 1e999}], "c": "\\ud800", "d": {"e": 1, "e": 1}}')[2] == "payload.a[1].b"


@pytest.mark.parametrize(
    "raw", ["", " ", "{", "[1,]", "{'a': 1}", '{"a" 1}', "01", "1.", "+1", "nan", "[1] 2", '"\n"', '"\\x41"', "tru"]
)
def test_c60_what_is_not_json_is_refused_with_its_position(raw: str) -> None:
    """A plain slip of syntax is an invalid argument, with line, column and position."""
    with pytest.raises(Refused, match=r"payload is not JSON: .* \(line 1, column \d+\)") as caught:
        parse(raw, root="payload")
    assert caught.value.code == "invalid_argument"
    assert isinstance(caught.value.facts["position"], int)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("null", None),
        ('{"a": [1, 2.5, true, "é\\u0000"], "b": {}}', {"a": [1, 2.5, True, "é\0"], "b": {}}),
        ("9007199254740991", LARGEST),
        ("-9007199254740991", -LARGEST),
        ("-0", 0),
        ("1e22", 1e22),
        ("5e-324", 5e-324),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ('"\\ud83d\\ude00"', "😀"),
        (" [ ] ", []),
        (b'"\xf0\x9f\x98\x80"', "😀"),
        ('{"a": [{"a": 1}, {"a": 2}]}', {"a": [{"a": 1}, {"a": 2}]}),
    ],
)
def test_c60_what_has_one_reading_is_accepted(raw: bytes | str, value: object) -> None:
    """Edges that lie inside the rules are read as they are written."""
    assert parse(raw) == value
    check(parse(raw), root="payload")


def test_c60_thirty_two_levels_are_accepted() -> None:
    """The deepest value that is allowed passes both ways of checking."""
    for inner in ("", "1"):
        check(parse(nested(DEEPEST, inner)), root="payload")


@pytest.mark.parametrize(
    ("rule", "value", "path"),
    [
        ("not_finite", {"a": [math.nan]}, "payload.a[0]"),
        ("not_finite", math.inf, "payload"),
        ("integer_range", [2**53], "payload[0]"),
        ("integer_range", [10**5000], "payload[0]"),
        ("integer_range", {"n": 1e20}, "payload.n"),
        ("lone_surrogate", {"\ud800": 1}, 'payload["\\ud800"]'),
        ("lone_surrogate", ("x", "\udc00"), "payload[1]"),
        ("not_json", {1: 2}, "payload"),
        ("not_json", {"a": b"x"}, "payload.a"),
        ("not_json", [{1, 2}], "payload[0]"),
        ("not_json", object(), "payload"),
    ],
)
def test_c60_a_value_that_is_parsed_already_meets_the_same_rules(rule: str, value: object, path: str) -> None:
    """What came in by another parser is held to the rules as well."""
    with pytest.raises(Refused) as caught:
        check(value, root="payload")
    assert (caught.value.facts["rule"], caught.value.facts["path"]) == (rule, path)


def test_c60_a_value_that_contains_itself_is_refused() -> None:
    """Even a value that no text has is refused rather than walked for ever."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Refused, match="nested deeper"):
        check(loop, root="payload")


@pytest.mark.parametrize("name", list(HOSTILE))
def test_c60_hostile_text_is_answered(name: str) -> None:
    """Whatever a text is made of, the answer is a value or a refusal, whoever sets the limits of the interpreter."""
    said = None
    try:
        parse(HOSTILE[name], root="payload")
    except Refused as refusal:
        said = refusal
    assert said is None or (said.code in {"payload_not_canonical", "invalid_argument"} and len(said.message) < 400)


@pytest.mark.parametrize(
    ("raw", "character"), [("[" * HUGE, 32), ('{"a":' * HUGE, 160), (f"[{nested(150)},{nested(150)},", 32)]
)
def test_c60_deep_text_without_an_end_is_refused_for_its_depth(raw: str, character: int) -> None:
    """Where no value can be read there is no path, and the position stands for it."""
    assert refused(raw) == ("payload_not_canonical", "depth", "payload")
    with pytest.raises(Refused, match=rf"payload \(from character {character}\) is nested deeper than 32 levels"):
        parse(raw, root="payload")


def accepted(act: Callable[[], object]) -> bool:
    """Whether it is not refused."""
    try:
        act()
    except Refused:
        return False
    return True


@given(JSON)
def test_c60_text_and_value_are_judged_alike(value: object) -> None:
    """A value is accepted when parsed exactly if it is accepted when read from its text."""
    assert accepted(lambda: check(value, root="p")) == accepted(lambda: parse(json.dumps(value), root="p"))


@given(JSON)
def test_c60_the_canonical_form_of_what_is_accepted_reads_the_same(value: object) -> None:
    """What is accepted has a canonical form, and reading that gives the same value and the same form again."""
    if accepted(lambda: check(value, root="p")):
        form = rfc8785.dumps(value)  # type: ignore[arg-type]  # a JSON value, as was just checked
        again = parse(form)
        assert again == value
        assert rfc8785.dumps(again) == form  # type: ignore[arg-type]  # as above


@given(st.text(alphabet='{}[]",:\\u0d8ef19. -+eNaInfty\ud800é', max_size=60))
def test_c60_no_text_raises_anything_else(text: str) -> None:
    """Scraps of JSON are accepted or refused, and what is accepted passes the check."""
    try:
        value = parse(text)
    except Refused:
        return
    check(value, root="payload")


@given(st.binary(max_size=40))
def test_c60_no_bytes_raise_anything_else(raw: bytes) -> None:
    """Any bytes are accepted or refused."""
    accepted(lambda: parse(raw))
