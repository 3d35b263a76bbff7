import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text import Text, clipped, cut, exact, inert, is_whole, natural, quoted, told_apart, units, utc
from tests.drawing import drawn

NASTY = [
    *"aZ0 \"\\<&_*[`~ \n\r\t\x00\x1b\x7f",
    *"\u200b\u200e\u202e\u2066\ufeff\u00ad\u2028\u00a0\u3000\ufe0f\u034f\u3164\u212b\u1112\u1161\u11ab\u0958\u0627\u0665",
    "e\u0301", "A\u030a", "o\u0333", "\u05e9\u05dc\u05d5\u05dd", "1\u05d0", "\u05d01", "\U0001f469\u200d\U0001f469",
    "\u26a0\ufe0f", "\U0001f1e9\U0001f1ea", "\U000e0041", "\U0001f600", " " * 14, "\\s{14}", "\\l", "\\u200b",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(NASTY) | st.characters(exclude_categories=["Cs"]), max_size=40).map("".join)


def visible(line: str) -> bool:
    """Whether nothing in a line is invisible or turns its order round."""
    return not any(
        unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or char in "\u00a0\u3164\ufe0f\u034f"
        for char in line
    )


@given(TEXTS, TEXTS)
def test_two_texts_that_differ_never_look_the_same(one: str, other: str) -> None:
    """Also after Telegram's servers and any program between have normalised what they were sent."""
    if one == other:
        return

    def arrived(line: str) -> str:
        return unicodedata.normalize("NFC", line.translate({0x30A: None, 0x333: None, 0x33F: None}))

    assert arrived(exact(one)) != arrived(exact(other))
    assert all(a != b for a, b in zip(drawn(exact(one)), drawn(exact(other)), strict=True))


@given(TEXTS)
def test_everything_in_an_exact_text_can_be_seen(text: str) -> None:
    """No control, format or blank character is left, and nothing breaks the line."""
    assert visible(exact(text))


@given(TEXTS)
def test_a_text_of_right_to_left_letters_is_fenced(text: str) -> None:
    """Digits after such letters stand behind a mark, and the line ends in its own direction."""
    last = ""
    for char in exact(text):
        kind = unicodedata.bidirectional(char)
        if kind == "L":
            last = "L"
        elif kind in ("EN", "AN"):
            assert last != "R"
        elif kind in ("R", "AL"):
            last = "R"
    assert last in ("", "L")


@given(TEXTS, st.integers(0, 60))
def test_a_cut_line_tears_nothing_apart(text: str, room: int) -> None:
    """It fits, it begins the line, and it ends between two escapes or characters."""
    line = inert(text)
    kept = cut(line, room)
    assert units(kept) <= room
    assert line.startswith(kept)
    before = len(kept) - len(kept.rstrip("\\"))
    assert before % 2 == 0
    if len(kept) < len(line):
        assert unicodedata.category(line[len(kept)])[0] != "M"


@given(TEXTS, st.integers(1, 40))
def test_a_quote_says_when_it_was_cut(text: str, room: int) -> None:
    """The ellipsis stands behind the quotes, where no text can put one."""
    said = quoted(text, room)
    assert units(said) <= room + 3
    assert said.endswith('"…') == (said != f'"{told_apart(text)}"')
    first = natural(text, room)
    assert units(first) <= room + 3
    assert first.endswith('"…') == (first != f'"{inert(text)}"')
    assert is_whole(text, room) <= (first == said == f'"{inert(text)}"')
    assert units(clipped(text, room)) <= room


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ("a\u202eb", r'"a\u202eb"'),
        ("a\nb", r'"a\nb"'),
        (r"a\nb", r'"a\\nb"'),
        ("a" + 13 * " " + "b", r'"a\s{13}b"'),
        ("A\u030a", r'"A\u030a"'),
        ("\u00c5", '"\u00c5"'),
        ("⚠️", r'"⚠\ufe0f"'),
        ("א1", r'"\lא\l1"'),
        ("1א", r'"1\lא\l"'),
    ],
)
def test_how_a_text_is_shown(text: str, shown: str) -> None:
    """Escapes say what stands there, and a backslash of the text is no escape."""
    assert exact(text) == shown


def test_entities_count_in_utf_16() -> None:
    """A character beyond the first plane counts twice."""
    text = Text().add("😀 ").bold("b😀").code("c").join(Text().time(1_764_499_680_000))
    assert text.text == "😀 b😀c30 Nov 2025, 10:48 UTC"
    assert [(e["type"], e["offset"], e["length"]) for e in text.entities] == [
        ("bold", 3, 3),
        ("code", 6, 1),
        ("date_time", 7, 22),
    ]
    assert text.entities[-1]["unix_time"] == 1_764_499_680
    assert text.size == units(text.text)
    assert utc(0) == "1 Jan 1970, 00:00 UTC"
