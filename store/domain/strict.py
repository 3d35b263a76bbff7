"""Strict JSON: what two parsers could read differently is refused, with the path to it.

This is C-60. Refused are duplicate keys, numbers that are not finite, integers beyond ±(2^53 - 1), lone
surrogates, invalid UTF-8, and nesting over 32 levels. What is accepted has one canonical form (RFC 8785), and reading
that form gives the same value again. Every function is linear in its input and stays far from the recursion limit.

Reading has two halves. The standard decoder reads the text, and its hooks leave a mark where it would otherwise
forget something. Then one walk over the value asks whether anything is wrong; only if so, a second one finds the
first fault and the path to it.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from .errors import Refused
from .text import quoted

__all__ = ["DEEPEST", "LARGEST", "check", "parse", "parse_within"]

#: Levels of arrays and objects, of which the value itself is the first.
DEEPEST = 32
#: The largest integer that every parser reads exactly.
LARGEST = 2**53 - 1

_SENTENCES: Mapping[str, str] = {
    "duplicate_key": "is given more than once, and parsers disagree on which one counts",
    "not_finite": "is not a finite number (a double ends near 1.8e308)",
    "integer_range": "is an integer beyond 2^53 - 1, which many parsers round; give it as a text",
    "lone_surrogate": "has half of a surrogate pair, which is no character",
    "not_utf8": "is not valid UTF-8",
    "depth": f"is nested deeper than {DEEPEST} levels",
    "not_json": "is not a JSON value",
}


def parse(raw: bytes | str, *, root: str = "") -> object:
    """The JSON value in `raw`, read strictly; paths begin with `root`.

    Refuses payload_not_canonical (facts: path, rule), and invalid_argument for what is not JSON (facts: position).
    """
    text, broken = _decoded(raw)
    text, excess = _without_excess(text, DEEPEST)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        # The text ends, or goes on, in a way that leaves no value to find a path in.
        if excess >= 0:
            raise _refusal("depth", root, where=f" (from character {excess})") from None
        if broken >= 0:
            raise _refusal("not_utf8", root, where=f" (from byte {broken})") from None
        raise Refused(
            "invalid_argument",
            f"{root or 'the body'} is not JSON: {error.msg} (line {error.lineno}, column {error.colno}). "
            "Nothing was written.",
            position=error.pos,
        ) from None
    fault = _fault(value)
    if fault:
        raise _refusal(*_named(fault, root, broken=broken >= 0))
    return value


def check(value: object, *, root: str) -> None:
    """Hold a value that is parsed already to the same rules, save duplicate keys, which cannot be seen any more.

    Refuses payload_not_canonical (facts: path, which begins with `root`, and rule).
    """
    fault = _fault(value)
    if fault:
        raise _refusal(*_named(fault, root))


def parse_within(raw: bytes, path: tuple[str, ...]) -> tuple[object, Refused | None]:
    """An envelope of which the part under `path` is strict: the value, and the refusal of that part, if any.

    A part that breaks a rule is replaced by `{}`, so that the rest (the id of a request) can serve for the answer;
    the refusal names paths from the part on. Outside the part integers may have up to 640 digits. Raises ValueError
    for an envelope that is not JSON or not UTF-8, has a duplicate key, or holds what could not be written again.
    """
    text, broken = _decoded(raw)
    # The part begins as many levels down, and may have all of its own.
    value = _DECODER.decode(_without_excess(text, DEEPEST + len(path))[0])
    *above, last = path
    holder: object = value
    for key in above:
        holder = holder.get(key) if isinstance(holder, dict) else None
    part: object = None
    inside = isinstance(holder, dict) and last in holder
    if isinstance(holder, dict) and inside:
        part, holder[last] = holder[last], {}
    outer = _fault(value, any_size=True)
    if outer:
        rule, at = _named(outer, "", broken=broken >= 0)
        raise ValueError(f"{at or 'the envelope'} {_SENTENCES[rule]}")
    inner = _fault(part)
    if inner:
        return value, _refusal(*_named(inner, "", broken=broken >= 0))
    if isinstance(holder, dict) and inside:
        holder[last] = part
    return value, None


class _Doubled(NamedTuple):
    """What the decoder leaves in place of an object that has a key twice."""

    key: str


# Python refuses to read more digits than a setting says, and that is never set below this.
_DIGITS = 640


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else math.inf


def _object(pairs: list[tuple[str, object]]) -> dict[str, object] | _Doubled:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    counts = Counter(key for key, _ in pairs)
    return _Doubled(next(key for key in counts if counts[key] > 1))


# It reads NaN, Infinity and 1e400 as what they are; the walk finds them.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)

# A text with fewer brackets than this cannot bring the decoder near the recursion limit, so it need not be looked
# through beforehand.
_FEW_BRACKETS = 200
# A text in quotes matches with or without its end, so that what is never closed is passed over once.
_RUNS = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[{]+|[\]}]+', re.DOTALL)


def _decoded(raw: bytes | str) -> tuple[str, int]:
    """The text, and the position of the first byte that is not UTF-8, or -1.

    Such a byte becomes a lone surrogate, which the walk finds with its path if it stands in a string.
    """
    if isinstance(raw, str):
        return raw, -1
    try:
        return raw.decode(), -1
    except UnicodeDecodeError as error:
        return raw.decode(errors="surrogateescape"), error.start


def _without_excess(text: str, deepest: int) -> tuple[str, int]:
    """The text with `[]` for each value below the level `deepest`, and where the first of them begins, or -1.

    What remains is one level too deep there, so that a walk that allows `deepest` finds the fault and its path.
    """
    if text.count("[") + text.count("{") <= _FEW_BRACKETS:
        return text, -1
    kept: list[str] = []
    first, kept_to, level = -1, 0, 0
    cut = False
    for run in _RUNS.finditer(text):
        if text[run.start()] in "[{":
            level += run.end() - run.start()
            if level > deepest and not cut:
                cut = True
                begins = run.end() - (level - deepest)
                kept += (text[kept_to:begins], "[]")
                first = begins if first < 0 else first
        elif text[run.start()] in "]}":
            level -= run.end() - run.start()
            if level <= deepest and cut:
                cut = False
                kept_to = run.end() - (deepest - level)
    if not cut:
        kept.append(text[kept_to:])
    return "".join(kept), first


_Link: TypeAlias = "tuple[_Link, str | int] | None"


class _Fault(NamedTuple):
    """The first fault of a value: its rule, and the way there from the last step back to the first."""

    rule: str
    link: _Link


def _fault(value: object, *, any_size: bool = False) -> _Fault | None:
    """The first fault in the order of the text; `any_size` lets integers of any size pass."""
    if _sound(value, any_size=any_size):
        return None
    todo: list[tuple[object, _Link, int]] = [(value, None, 1)]
    while todo:
        item, link, level = todo.pop()
        fault = _own_fault(item, link, level, any_size=any_size)
        if fault:
            return fault
        if isinstance(item, dict):
            todo += reversed([(inner, (link, key), level + 1) for key, inner in item.items()])
        elif isinstance(item, list | tuple):
            todo += reversed([(inner, (link, at), level + 1) for at, inner in enumerate(item)])
    return None


_TEXT = {str}


def _sound(value: object, *, any_size: bool) -> bool:
    """Whether a value of JSON's plain types has no fault. The quick answer for nearly every value.

    It goes level by level, which gives the depth without keeping it. False may also mean an unusual type.
    """
    items: list[Any] = [value]
    for left in range(DEEPEST, -1, -1):
        inner: list[Any] = []
        for item in items:
            kind = type(item)
            if kind is str:
                fine = item.isascii() or _whole(item)
            elif kind is int or kind is float:
                fine = -LARGEST <= item <= LARGEST or not _number_fault(item, any_size=any_size)
            elif kind is dict:
                fine = left > 0 and set(map(type, item)) <= _TEXT
                inner += item  # the keys, which are texts like others
                inner += item.values()
            elif kind is list:
                fine = left > 0
                inner += item
            else:
                fine = item is None or kind is bool
            if not fine:
                return False
        if not inner:
            return True
        items = inner
    return False


def _own_fault(item: object, link: _Link, level: int, *, any_size: bool) -> _Fault | None:
    """The fault of this item, apart from what it holds."""
    rule = ""
    if isinstance(item, _Doubled):
        return _Fault("duplicate_key", (link, item.key))
    if isinstance(item, str):
        rule = "" if _whole(item) else "lone_surrogate"
    elif isinstance(item, dict):
        rule = "depth" if level > DEEPEST else "" if all(isinstance(key, str) for key in item) else "not_json"
        broken = None if rule else next((key for key in item if not _whole(key)), None)
        if broken is not None:
            return _Fault("lone_surrogate", (link, broken))
    elif isinstance(item, list | tuple):
        rule = "depth" if level > DEEPEST else ""
    elif isinstance(item, int | float):
        rule = _number_fault(item, any_size=any_size)
    elif item is not None:
        rule = "not_json"
    return _Fault(rule, link) if rule else None


def _number_fault(number: int | float, *, any_size: bool) -> str:
    if -LARGEST <= number <= LARGEST:
        return ""
    if isinstance(number, int):
        return "" if any_size else "integer_range"
    if not math.isfinite(number):
        return "not_finite"
    # The canonical form writes a double without point or exponent up to here: whoever reads it reads an integer.
    return "" if any_size or abs(number) >= 1e21 else "integer_range"


def _whole(text: str) -> bool:
    """Whether every surrogate was part of a pair (and so became one character)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(fault: _Fault, root: str, *, broken: bool = False) -> tuple[str, str]:
    """The rule and the path of a fault. `broken`: the text was not UTF-8, and lone surrogates stand for its bytes."""
    rule = "not_utf8" if broken and fault.rule == "lone_surrogate" else fault.rule
    steps: list[str | int] = []
    link = fault.link
    while link:
        link, step = link
        steps.append(step)
    return rule, _path(root, steps[::-1])


_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
_LONGEST_PATH = 200
_LONGEST_KEY = 40


def _path(root: str, steps: list[str | int]) -> str:
    """`payload.items[3].price`; a key that is no plain word is quoted, as in `payload["a b"]`."""
    path = root
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{quoted(step, _LONGEST_KEY)}]"
    half = _LONGEST_PATH // 2
    return path if len(path) <= _LONGEST_PATH else f"{path[:half]}…{path[-half:]}"


def _refusal(rule: str, path: str, *, where: str = "") -> Refused:
    return Refused(
        "payload_not_canonical",
        f"{path or 'the body'}{where} {_SENTENCES[rule]}. Nothing was written.",
        path=path,
        rule=rule,
    )
