"""What a line leaves open when it is drawn, and how that is written out."""

import re

import pytest
from hypothesis import given

from store.domain.drawn import ambiguous, exact
from store.domain.text import one_line
from tests.drawing import MIXED, PAIRS, drawn


def inert(text: str) -> str:
    """A text on one line, without its quotes."""
    return one_line(text, 10 * len(text))[1:-1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("to \u05d0 10 20", r"to א \l10 20"),
        ("a \u0661 \u0662", "a \u0661 \\l\u0662\\l"),
        ("a \u05d0(b)", "a \u05d0\\l(b)"),
        ("a \u05d0\"", r'a א\l\"'),
        ("$\ufe0f1", r"$\ufe0f1"),
        ("\u26a0\ufe0f", "\u26a0\\ufe0f"),
        ("1\ufe0f\u20e3", r"1\ufe0f\u20e3"),
        ("1\u0335", r"1\u0335"),
        ("\u5b57\u0338", "\u5b57\\u0338"),
        ("\u05d0\u0301 b", "\u05d0\\u0301 b"),
        ("\u5b57\u064b", "\u5b57\\u064b"),
        ("e\u0301", r"e\u0301"),
        ("\u1112\u1161", "\u1112\\u1161"),
        ("\u3000\u3000", r"\u3000\u3000"),
        ("a\ufe8d", r"a\ufe8d"),
    ],
)  # fmt: skip
def test_what_could_be_another_is_written_out(text: str, shown: str) -> None:
    """As escapes, and with a sign where reading from left to right begins again."""
    line = inert(text)
    assert ambiguous(line)
    assert "".join(exact(line).rsplit("\\l", 1)) == shown or exact(line) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("plain", "1 (2) [3]", "\u05d0\u05d1 - \u05d2, b", "1 \u05d0", "\u05e9\u05c1"),
        *("\u1eb9\u0301", "\u0e01\u0e33", "\u5b57 10", "a\u3000b", "\U0001f680 5"),
    ],
)
def test_what_can_be_no_other_stays_as_it_is(text: str) -> None:
    """Ordinary text of any script, apart from where it begins and ends."""
    line = inert(text)
    assert not ambiguous(line)
    assert exact(line).replace("\\l", "") == line


@given(PAIRS)
def test_two_lines_of_which_none_is_ambiguous_are_drawn_differently(pair: tuple[str, str]) -> None:
    """After words from left to right, by any program; and so are two exact ones, and an exact one beside another."""
    one, other = pair
    if one == other:
        return
    seen = [drawn(f'a: "{exact(line) if ambiguous(line) else line}"') for line in map(inert, pair)]
    assert all(a != b for a, b in zip(*seen, strict=True))
    sure = [drawn(f'"{exact(line)}"') for line in map(inert, pair)]
    assert all(a != b for a, b in zip(*sure, strict=True))


@given(MIXED)
def test_an_exact_line_can_be_read_back(text: str) -> None:
    """Its signs and escapes taken away, it is the line; and exact it stays."""
    line = inert(text)
    plain = re.sub(r"\\(?:l|u([0-9a-f]{4})|.)", _read, exact(line))
    assert plain == re.sub(r"\\(?:u([0-9a-f]{4})|.)", _read, line)
    assert exact(line.encode("ascii", "ignore").decode()) == line.encode("ascii", "ignore").decode()


def _read(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return {r"\l": "", r"\n": "\n"}.get(found[0], found[0][1])
