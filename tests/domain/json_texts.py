"""Texts of JSON that the tests of its readers share: deep ones, hostile ones, any at all."""

from hypothesis import strategies as st


def nested(levels: int, inner: str = "1") -> str:
    """Arrays in arrays."""
    return "[" * levels + inner + "]" * levels


HUGE = 100_000
HOSTILE: dict[str, str] = {
    "brackets": "[" * HUGE,
    "closers": "]" * HUGE,
    "braces": '{"a":' * HUGE,
    "pairs of brackets": "[" + "[]," * HUGE + "[]]",
    "digits": "1" * HUGE,
    "negative digits": "-" + "1" * HUGE,
    "a long fraction": "0." + "3" * HUGE,
    "a long exponent": "1e" + "9" * HUGE,
    "many long integers": "[" + ",".join(["1" * 4000] * 25) + "]",
    "quotes": '"' * HUGE,
    "escaped quotes": '"' + '\\"' * HUGE,
    "backslashes": '"' + "\\" * HUGE,
    "an unfinished text with brackets": "[" * 300 + '"' + '\\"[' * HUGE,
    "keys": "{" + ",".join(f'"{n}":0' for n in range(HUGE)) + "}",
    "one key": "{" + '"a":0,' * HUGE + '"b":0}',
    "spaces": " " * HUGE,
    "surrogates": '["' + "\\ud800" * HUGE + '"]',
    "deep and long": "[" * 60 + ",".join(["[]"] * HUGE) + "]" * 60,
}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)
