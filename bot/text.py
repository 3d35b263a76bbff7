r"""Texts of messages: a builder that counts in UTF-16 units as Telegram does, and text of agents made inert.

No `parse_mode` is ever used: what agents wrote stands in `code` or `pre`, where Telegram finds no link, no command and
no mention. The escapes are those of `store.domain.text`, with three more: `\s{14}` for a long run of spaces, which
could push what follows into a line of its own, `\uXXXX` for marks that Telegram drops or that melt into the letter
before them, and, in `exact`, `\l` where reading from left to right begins again after letters of a right-to-left
script, so that digits and quotes stay where they are. A backslash of the text is doubled, so each can be read back.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime

from store.domain.text import one_line

from .message import Spelled

__all__ = ["Text", "bare", "clipped", "cut", "exact", "inert", "lines", "quoted", "units", "utc"]

LONGEST_ESCAPE = 10  # characters that one becomes at most in `one_line`
SPACES = 12  # in a row that are shown as they are

# What is not to be torn apart: an escape, or a character (`cut` minds the marks on it).
_ATOM = re.compile(r"\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|s\{[0-9]+\}|.)|[^\\]", re.DOTALL)

_SPACES = re.compile(f" {{{SPACES + 1},}}")
# A blank as wide as a letter: in a row, or beside a space, only its width would tell how many there are. And what
# Telegram's servers take out of every text: a ring above, a double low line, a double overline.
_FAINT = re.compile("\u3000(?=[ \u3000])|(?<=[ \u3000])\u3000|[\u030a\u0333\u033f]")
# The selectors of text and emoji: after a symbol `one_line` shows them as they are, and they cannot be seen.
_SELECTORS = re.compile("[\ufe0e\ufe0f]")
# Where letters of right-to-left scripts and Arabic digits are.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LEFT = r"\l"
_NEW_LINE = re.compile(r"\\.")


def units(text: str) -> int:
    """The length in UTF-16 units, in which Telegram counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def inert(text: str) -> str:
    """A text on one line, whole and without quotes: nothing in it acts, hides or gets lost on the way."""
    line = one_line(text, LONGEST_ESCAPE * len(text))[1:-1]
    line = _SPACES.sub(lambda run: f"\\s{{{len(run[0])}}}", line)
    line = _FAINT.sub(lambda found: _code(found[0]), line)
    return line if unicodedata.is_normalized("NFC", line) else "".join(_unmelted(line))


def exact(text: str) -> str:
    """A text on one line, in quotes, so that no two texts that differ look the same, letters of a kind apart."""
    return f'"{ordered(_SELECTORS.sub(lambda found: _code(found[0]), inert(text)))}"'


def lines(text: str, indent: str) -> str:
    r"""`exact`, with a new line after each `\n`, which the indent begins; none of the lines can pass for another's."""
    if "\n" not in text:
        return exact(text)
    line = _SELECTORS.sub(lambda found: _code(found[0]), inert(text))
    broken = _NEW_LINE.sub(lambda found: "\\n\n" if found[0] == r"\n" else found[0], line)
    whole = f"\n{indent}".join(map(ordered, broken.split("\n")))
    return f'"{whole}"'


def ordered(line: str) -> str:
    r"""An inert line that reads from left to right throughout, with `\l` where letters would turn that round."""
    return "".join(_in_order(line)) if _RIGHT_TO_LEFT.search(line) else line


def quoted(text: str, room: int) -> str:
    """A text in quotes on one line, cut to so many UTF-16 units; `…` after the quotes says that it was cut."""
    # What is beyond the room cannot be shown, however it is written.
    line = inert(text[:room])
    kept = cut(line, room)
    return f'"{kept}"' if kept == line and len(text) <= room else f'"{kept}"…'


def clipped(text: str, room: int) -> str:
    """A sentence of our own, which may hold names from elsewhere: inert, on one line, cut to so many UTF-16 units."""
    said = "".join(part if part in ('"', "\\") else inert(part) for part in re.split(r'(["\\])', text[:room]))
    return said if units(said) <= room and len(text) <= room else f"{cut(said, room - 1)}…"


def cut(line: str, room: int) -> str:
    """As much of an inert line as fits into so many UTF-16 units, tearing no escape and no character apart."""
    if units(line) <= room:
        return line
    end = used = 0
    for atom in _ATOM.finditer(line):
        used += units(atom[0])
        if used > room:
            break
        end = atom.end()
    while 0 < end < len(line) and unicodedata.category(line[end])[0] == "M":  # it stands on the letter before it
        end -= 1
    return line[:end]


def bare(who: str) -> str:
    """A name without its kind: no agent and no person of a space have the same one."""
    return who.partition(":")[2] or who


def utc(ms: int) -> str:
    """`30 Nov 2026, 10:48 UTC`."""
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _code(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unmelted(line: str) -> Iterator[str]:
    """The line with what would make one character with those before it (or is another's double) as escapes."""
    cluster = ""
    for char in line:
        mark = unicodedata.category(char)[0] == "M"
        if (mark and not cluster) or not unicodedata.is_normalized("NFC", cluster + char):
            yield _code(char)
            cluster = ""
            continue
        yield char
        cluster = cluster + char if mark else char


def _in_order(line: str) -> Iterator[str]:
    r"""The line with `\l` before right-to-left letters that begin it, between them and digits, and after the last."""
    last = ""  # of what decides the order: L, R or AN, and nothing yet
    for char in line:
        kind = unicodedata.bidirectional(char)
        kind = "R" if kind == "AL" else kind
        if kind == "L":
            last = kind
        elif (kind in ("R", "AN") and last not in ("L", kind)) or (kind in ("EN", "AN") and last == "R"):
            yield _LEFT
            last = "L" if kind == "EN" else kind
        elif kind in ("R", "AN"):
            last = kind
        yield char
    if last in ("R", "AN"):
        yield _LEFT


class Text:
    """A text as it grows, with its entities."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._entities: list[Spelled] = []
        self.size = 0  # UTF-16 units

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def entities(self) -> tuple[Spelled, ...]:
        return tuple(self._entities)

    def add(self, text: str) -> "Text":
        """As it is: words of our own."""
        self._parts.append(text)
        self.size += units(text)
        return self

    def line(self) -> "Text":
        """What follows begins a new line."""
        return self.add("\n")

    def bold(self, text: str) -> "Text":
        """Words of our own, bold."""
        return self._marked(text, type="bold")

    def code(self, text: str) -> "Text":
        """A word or a line from elsewhere, made inert before."""
        return self._marked(text, type="code")

    def pre(self, text: str) -> "Text":
        """Lines from elsewhere, made inert before."""
        return self._marked(text, type="pre")

    def time(self, ms: int) -> "Text":
        """A moment, which Telegram shows in the reader's own zone and way; where it cannot, in UTC."""
        return self._marked(utc(ms), type="date_time", unix_time=ms // 1000, date_time_format="dt")

    def join(self, other: "Text") -> "Text":
        """All of another text."""
        self._entities += [{**one, "offset": one["offset"] + self.size} for one in other.entities]
        return self.add(other.text)

    def _marked(self, text: str, **entity: str | int) -> "Text":
        if text:
            self._entities.append({**entity, "offset": self.size, "length": units(text)})
        return self.add(text)
