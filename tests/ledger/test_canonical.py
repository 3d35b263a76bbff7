"""Canonical JSON: the same bytes as the library for RFC 8785 gives, whichever way they are made."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from store.verbs.canonical import canonical

WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | WHOLE | FLOATS | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def _either(value: Any, make: Any) -> bytes | type[Exception]:
    try:
        made: bytes = make(value)
    except ValueError as fault:
        return type(fault)
    return made


@given(VALUES)
def test_it_is_what_the_library_makes(value: Any) -> None:
    """Any JSON value."""
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7},  # sorted by UTF-16
        {"a": {"\U0001f600": 1, "\ufb33": 2}},
        "".join(map(chr, range(0x100))) + '\u2028\u2029/<>&\\"\U0001f600',
        [1.0, -0.0, 1e21, 1e-7, 5e-324, 333333333.33333329, 0, -0],
        2**53 - 1,
        -(2**53) + 1,
        2**53,
        [True, 1, False, 0, None, "", [], {}, ((), (1,))],
        {"b": [{"z": 1, "a": 2}], "a": "x"},
        "\ud800",
        {"a": "\udfff"},
        {"\ud800": 1},
        float("nan"),
        [float("inf")],
        {1: 2},
        {"a": object()},
    ],
)
def test_what_is_special_in_it(value: Any) -> None:
    """Keys outside the first plane, all controls, numbers of each form; and what has no canonical form is refused."""
    assert _either(value, canonical) == _either(value, rfc8785.dumps)
