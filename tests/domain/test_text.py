"""Text that agents wrote: one inert line, of which the text can be told again."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.text import one_line, quoted

ANY = st.text(st.characters())  # surrogates too
# What lines break at, anywhere: in Python, in a terminal, in a browser.
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SHORT = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}


def told(line: str) -> str:
    """The text that a whole line was made from."""
    inside = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', line)
    assert inside, line
    return re.sub(
        r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))",
        lambda seen: SHORT[seen[3]] if seen[3] else chr(int(seen[1] or seen[2], 16)),
        inside[1],
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", '""'),
        ("plain words, 1 + 1 = 2", '"plain words, 1 + 1 = 2"'),
        ("Überprüfe日本語 العربية", '"Überprüfe日本語 العربية"'),
        ("a\nb\r\n\tc", r'"a\nb\r\n\tc"'),
        ('"; drop', r'"\"; drop"'),
        ("\\", r'"\\"'),
        (r"\n", r'"\\n"'),
        (r"\u202e", r'"\\u202e"'),
        ("\u202eevil", r'"\u202eevil"'),
        ("\u2066a\u2069", r'"\u2066a\u2069"'),
        ("a\u200bb\u200d\ufeff", r'"a\u200bb\u200d\ufeff"'),
        ("a\u2028b\x85c", r'"a\u2028b\u0085c"'),
        ("\x1b[31mred\x07", r'"\u001b[31mred\u0007"'),
        ("a\0", r'"a\u0000"'),
        ("non\u00a0break", r'"non\u00a0break"'),
        ("全角　空白", '"全角　空白"'),
        ("\ud800", r'"\ud800"'),
        ("\U000e0041\U000e0001", r'"\U000e0041\U000e0001"'),
        ("\ue000\u0378", r'"\ue000\u0378"'),
        ("\u3164\u115f\u2800\u034f", r'"\u3164\u115f\u2800\u034f"'),
        ("a\ufe00\ufe01\U000e0100", r'"a\ufe00\ufe01\U000e0100"'),
        ("⚠\ufe0f 1\ufe0f\u20e3 ❤\ufe0e", '"⚠\ufe0f 1\ufe0f\u20e3 ❤\ufe0e"'),
        ("⚠\ufe0f\ufe0f a\ufe0f", '"⚠\ufe0f\\ufe0f a\\ufe0f"'),
        ("e\u0301", '"e\u0301"'),
        ("\u0301a \u0301", r'"\u0301a \u0301"'),
        ("\u200b\u0301", r'"\u200b\u0301"'),
        ("a" + "\u0301" * 6, '"a' + "\u0301" * 4 + '\\u0301\\u0301"'),
        ("👩\u200d💻", '"👩\\u200d💻"'),
        ("<b>&amp;</b> `x` *y*", '"<b>&amp;</b> `x` *y*"'),
    ],
)
def test_a_text_becomes_one_visible_line(text: str, line: str) -> None:
    """What is ordinary stays, what acts or hides is written out."""
    assert one_line(text, 400) == line


@given(ANY)
def test_the_text_can_be_told_from_its_line(text: str) -> None:
    """Escaping loses nothing, so no two texts have the same line."""
    assert told(one_line(text, 20 * len(text))) == text


@given(ANY, st.integers(-1, 30))
def test_a_line_is_inert(text: str, limit: int) -> None:
    """No line breaks, no quotes that end it early, nothing invisible, always something that UTF-8 can hold."""
    line = one_line(text, limit)
    assert not set(line) & set(BREAKS)
    assert len(line.splitlines()) == 1
    assert all(unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for char in line)
    assert line.encode()
    assert re.match(r'"(?:[^"\\]|\\.)*"(?:… \(\+[0-9]+ characters?\))?\Z', line)


@given(ANY, st.integers(0, 30))
def test_a_cut_is_counted(text: str, limit: int) -> None:
    """What is shown and what is counted are together the whole text, and what is shown keeps to the limit."""
    line = one_line(text, limit)
    shown, _, rest = line.partition('"… (+')
    if not rest:
        assert told(line) == text
        assert len(line) <= limit + 2
        return
    kept = told(shown + '"')
    assert text.startswith(kept)
    assert len(kept) + int(rest.split()[0]) == len(text)
    assert len(shown) <= limit + 1


def test_a_text_cannot_pretend_to_be_cut() -> None:
    """The count stands behind the closing quote, where no text can write."""
    assert one_line("abcdef", 3) == '"abc"… (+3 characters)'
    assert one_line("abc", -1) == '""… (+3 characters)'
    assert one_line("abcd", 3) == '"abc"… (+1 character)'
    assert one_line('abc"… (+3 characters)', 40) == r'"abc\"… (+3 characters)"'
    assert one_line("a\nbc", 2) == '"a"… (+3 characters)'
    assert (one_line("abc", 3, left=9), one_line("abc", 2, left=9)) == (
        '"abc"… (+9 characters)',
        '"ab"… (+10 characters)',
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", '"x"'),
        ("x" * 81, '"' + "x" * 80 + '"… (+1 character)'),
        (5, "5"),
        (-1.5, "-1.5"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (float("nan"), "nan"),
        (10**300, "an integer beyond 2^53 - 1"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (b"x", "no JSON value"),
    ],
)
def test_whatever_a_caller_gave_can_be_echoed(value: object, shown: str) -> None:
    """A refusal can name any value, and none of them makes it long or makes it fail."""
    assert quoted(value) == shown
