r"""Texts of messages: a builder that counts in UTF-16 units as Telegram does, and text of agents made inert.

No `parse_mode` is ever used: what agents wrote stands in `code` or `pre`, where Telegram finds no link, no command and
no mention. The escapes are those of `store.domain.text`, with three more: `\s{14}` for a long run of spaces, which
could push what follows into a line of its own, `\uXXXX` for marks that Telegram drops or that melt into the letter
before them, and those of `store.domain.drawn`, where a line could be drawn as another text's is. A backslash of the
text is doubled, so each can be read back.
"""

import re
import unicodedata
from datetime import UTC, datetime

from store.domain import drawn
from store.domain.text import one_line

from .message import Spelled

__all__ = [
    "Text",
    "bare",
    "clipped",
    "cut",
    "exact",
    "inert",
    "is_whole",
    "lines",
    "natural",
    "quoted",
    "told_apart",
    "units",
    "utc",
]

LONGEST_ESCAPE = 10  # characters that one becomes at most in `one_line`
SPACES = 12  # in a row that are shown as they are

# What is not to be torn apart: an escape, or a character (`cut` minds the marks on it).
_ATOM = re.compile(r"\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|s\{[0-9]+\}|.)|[^\\]", re.DOTALL)

_SPACES = re.compile(f" {{{SPACES + 1},}}")
# A blank as wide as a letter: in a row, or beside a space, only its width would tell how many there are. And what
# Telegram's servers take out of every text: a ring above, a double low line, a double overline.
_FAINT = re.compile("\u3000(?=[ \u3000])|(?<=[ \u3000])\u3000|[\u030a\u0333\u033f]")
_NEW_LINE = re.compile(r"\\.")


def units(text: str) -> int:
    """The length in UTF-16 units, in which Telegram counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def inert(text: str) -> str:
    """A text on one line, whole and without quotes: nothing in it acts, hides or gets lost on the way."""
    line = one_line(text, LONGEST_ESCAPE * len(text))[1:-1]
    line = _SPACES.sub(lambda run: f"\\s{{{len(run[0])}}}", line)
    line = _FAINT.sub(lambda found: drawn.escape(found[0]), line)
    return drawn.unmelted(line)


def exact(text: str) -> str:
    """A text on one line, in quotes, so that no two texts that differ look the same, letters of a kind apart."""
    return f'"{drawn.exact(inert(text))}"'


def lines(text: str, indent: str) -> str:
    r"""`exact`, with a new line after each `\n`, which the indent begins; none of the lines can pass for another's."""
    if "\n" not in text:
        return exact(text)
    broken = _NEW_LINE.sub(lambda found: "\\n\n" if found[0] == r"\n" else found[0], inert(text))
    whole = f"\n{indent}".join(map(drawn.exact, broken.split("\n")))
    return f'"{whole}"'


def natural(text: str, room: int) -> str:
    """A text in quotes on one line, cut to so many UTF-16 units; `…` after the quotes says that it was cut.

    It may be drawn as another one is: `is_whole` says when it is all that has to be shown.
    """
    return _cut(inert(text[:room]), text, room)  # what is beyond the room cannot be shown, however it is written


def is_whole(text: str, room: int) -> bool:
    """Whether `natural` shows a text whole, and no other text is drawn like it."""
    line = inert(text)
    return len(text) <= room and units(line) <= room and not drawn.ambiguous(line)


def quoted(text: str, room: int) -> str:
    """A text as `natural` writes it, or as `exact` does where another one could be drawn like it; cut as by both."""
    line = inert(text[:room])
    return _cut(drawn.exact(line) if drawn.ambiguous(line) else line, text, room)


def told_apart(text: str) -> str:
    """A text as `quoted`, whole and without the quotes."""
    line = inert(text)
    return drawn.exact(line) if drawn.ambiguous(line) else line


def clipped(text: str, room: int) -> str:
    """A sentence of our own, which may hold names from elsewhere: inert, on one line, cut to so many UTF-16 units."""
    said = "".join(part if part in ('"', "\\") else inert(part) for part in re.split(r'(["\\])', text[:room]))
    said = drawn.exact(said) if drawn.ambiguous(said) else said
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


def _cut(line: str, text: str, room: int) -> str:
    kept = cut(line, room)
    return f'"{kept}"' if kept == line and len(text) <= room else f'"{kept}"…'


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
