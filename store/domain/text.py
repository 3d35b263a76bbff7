r"""Text that agents wrote, made inert: one quoted line in which everything can be seen and nothing acts.

The escaping is injective: two texts that differ never give the same line, unless the line says that it was cut. That
two such lines are also drawn differently is the part of `drawn`.
A backslash is doubled, a quote becomes `\"`, and what would break the line or hide in it becomes `\n`, `\r`,
`\t`, `\uXXXX` or `\UXXXXXXXX`.
"""

import re
import unicodedata
from collections.abc import Mapping

from .drawn import escape
from .tokens import tokens_upper

__all__ = ["one_line", "quoted", "tokens_upper"]

_SHORT: Mapping[str, str] = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", '"': r"\""}

# Blank or invisible although Python calls them printable: the combining grapheme joiner, fillers of Hangul, two
# vowels of Khmer, selectors of Mongolian, the blank of Braille, the variation selectors (which can carry a hidden
# text), Khitan's filler and the null notehead. Controls, formats (bidi, zero-width, tags), surrogates, private and
# unassigned characters, and all spaces but U+0020, are not printable.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
# Blank, but as wide as a letter and ordinary in Chinese and Japanese.
_ORDINARY_SPACE = "\u3000"
# The selectors for text and emoji are ordinary after a symbol, and shown there.
_PRESENTATION = "\ufe0e\ufe0f"
# Marks are stacked on the letter before them: more than any script needs would climb over the lines above.
_MARKS_IN_A_ROW = 4


def one_line(text: str, limit: int, *, left: int = 0) -> str:
    r"""The text in quotes on one line, inert; cut to `limit` characters between the quotes.

    What was cut is counted in characters of the text, after the quotes, where the text cannot reach:
    `"a\nb"`, `"abcdef"… (+12 characters)`. `left`: how many of it were cut already.
    """
    # Each character shows as one or more, so what lies past the limit is never looked at.
    shown, used = _escaped(text[: max(limit, 0)], limit)
    rest = len(text) - used + left
    if not rest:
        return f'"{shown}"'
    return f'"{shown}"… (+{rest} character{"" if rest == 1 else "s"})'


def quoted(value: object, limit: int = 80) -> str:
    """What a caller gave, for echoing it in a refusal: a text as by `one_line`, any other value named or written."""
    if isinstance(value, str):
        return one_line(value, limit)
    if isinstance(value, int) and abs(value) >= 2**53:  # its digits may be more than Python agrees to write
        return "an integer beyond 2^53 - 1"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list | tuple) else "no JSON value"


def _escaped(text: str, limit: int) -> tuple[str, int]:
    """As much of the text as fits into `limit` when escaped, and how many of its characters that is."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return text, len(text)
    out: list[str] = []
    room = limit
    before = ""
    marks = 0
    for char in text:
        if unicodedata.category(char)[0] == "M":
            marks += 1
            shown = escape(char) if _hides_mark(char, before, marks=marks) else char
        else:
            marks = 0
            shown = _SHORT.get(char) or (char if _plain(char) else escape(char))
        room -= len(shown)
        if room < 0:
            break
        out.append(shown)
        # After an escape or the opening quote there is no letter that a mark could belong to.
        before = char if shown == char else ""
    return "".join(out), len(out)


def _plain(char: str) -> bool:
    return (char.isprintable() and not _INVISIBLE.match(char)) or char == _ORDINARY_SPACE


def _hides_mark(char: str, before: str, *, marks: int) -> bool:
    if not before or marks > _MARKS_IN_A_ROW or before == " ":
        return True
    if char in _PRESENTATION:
        return unicodedata.category(before)[0] != "S" and before not in "0123456789#*"
    return not _plain(char)
