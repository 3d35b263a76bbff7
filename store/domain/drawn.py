r"""How a line is drawn, and where that leaves open which text it is; `exact` writes it so that nothing stays open.

Lines are inert ones, as `text.one_line` makes them, without their quotes, drawn after words that read from left to
right. Letters of right-to-left scripts turn round what stands between and after them: digits, brackets, an escaped
quote. There `\l` says that reading from left to right begins again. Marks that can melt into a letter or get lost on
it, the selectors of text and emoji, and forms of a letter that are drawn like the letter become `\uXXXX`. A backslash
of the text is doubled before, so each can be read back.

Letters that look alike in two scripts stay what they are: no order, mark or selector hides there.
"""

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["ambiguous", "escape", "exact", "unmelted"]

_LEFT = r"\l"
# Where letters of right-to-left scripts and Arabic digits are.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
# Selectors that change how the character before them is drawn, or do not.
_SELECTORS = "\ufe0e\ufe0f"
# Marks of no script of its own: on other letters than these a font may leave them out.
_COMMON_MARK = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_TAKES_THEM = re.compile("[\u00c0-\u058f\u1e00-\u1fff\u2c60-\u2c7f\ua720-\ua7ff]")
# Forms of a letter with a code of their own: where it stands in a word, or how wide it is.
_FORM = re.compile("[\ufb1d-\ufdff\ufe70-\ufeff]")
_FORMS = ("<initial>", "<medial>", "<final>", "<isolated>", "<font>")
# A blank as wide as a letter: in a row, or beside a space, only its width would tell how many there are.
_WIDE = re.compile("\u3000(?=[ \u3000])|(?<=[ \u3000])\u3000")


def ambiguous(line: str) -> bool:
    """Whether a line is drawn as that of another text could be."""
    if line.isascii():
        return False
    spelled = _spelled(line)
    return spelled != line or any(at < len(spelled) for at in _turns(spelled, begun=True))


def exact(line: str) -> str:
    r"""The line with what is ambiguous written out, reading from left to right throughout, and so at both ends."""
    if line.isascii():
        return line
    line = _spelled(line)
    parts, begin = [], 0
    for at in _turns(line):
        parts.append(line[begin:at])
        begin = at
    return _LEFT.join([*parts, line[begin:]])


def unmelted(line: str) -> str:
    """The line with what would make one character with those before it (or is another's double) as escapes."""
    return line if unicodedata.is_normalized("NFC", line) else "".join(_apart(line, forms=False))


def escape(char: str) -> str:
    r"""`\uXXXX` or `\UXXXXXXXX`."""
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _spelled(line: str) -> str:
    return "".join(_apart(_WIDE.sub(lambda found: escape(found[0]), line), forms=True))


def _apart(line: str, *, forms: bool) -> Iterator[str]:
    cluster = ""  # a character and the marks on it, none of them an escape
    for char in line:
        if char.isascii():
            yield char
            cluster = char
            continue
        mark = unicodedata.category(char)[0] == "M"
        hidden = forms and (_is_lost(char, cluster) if mark else _is_form(char))
        if hidden or (mark and not cluster) or not unicodedata.is_normalized("NFC", cluster + char):
            yield escape(char)
            cluster = ""
            continue
        yield char
        cluster = cluster + char if mark else char


def _is_lost(mark: str, cluster: str) -> bool:
    """Whether a mark may not be seen on what it stands on."""
    base = cluster[:1]
    if mark in _SELECTORS or base.isascii() or unicodedata.category(base)[0] != "L":
        return True
    if _COMMON_MARK.match(mark):
        return not _TAKES_THEM.match(base)
    return bool(_RIGHT_TO_LEFT.match(mark)) != bool(_RIGHT_TO_LEFT.match(base))


def _is_form(char: str) -> bool:
    return bool(_FORM.match(char)) and unicodedata.decomposition(char).startswith(_FORMS)


def _turns(line: str, *, begun: bool = False) -> Iterator[int]:
    """Before which characters reading from left to right has to begin again; `begun`: words that do so come before."""
    if not _RIGHT_TO_LEFT.search(line):
        return
    last = "L" if begun else ""  # of what decides the order: L, R or AN, and nothing yet
    whole = True  # no character but digits since the last Arabic digit
    for at in range(len(line)):
        kind = _kind(line, at)
        if kind == "L":
            last = kind
        elif kind in ("R", "AN"):
            if last not in ("L", kind) or (last == kind == "AN" and not whole):
                yield at
            last, whole = kind, True
        elif kind == "left" and last in ("R", "AN"):
            yield at
            last = "L"
        if not kind:
            whole = False
    if last in ("R", "AN"):
        yield len(line)


def _kind(line: str, at: int) -> str:
    """L, R, AN (an Arabic digit), `left` (what must not be turned round), `mark`, or nothing of these."""
    char = line[at]
    kind = unicodedata.bidirectional(char)
    if kind in ("L", "R", "AN"):
        return kind
    if kind == "EN" or (unicodedata.category(char) in ("Ps", "Pe") and unicodedata.mirrored(char)):
        return "left"
    if char == "\\" and line[at + 1 : at + 2] in ('"', "\\"):  # an escape that begins with no letter
        return "left"
    return {"AL": "R", "NSM": "mark"}.get(kind, "")
