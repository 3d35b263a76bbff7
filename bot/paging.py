"""What does not fit into one message, in pages: every character on one of them, none on two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .text import Text, cut, units

__all__ = ["Part", "paged", "written"]

CONTINUED = ", continued"
MIDDLE = ", in the middle of a line"  # so that a line that was cut is never read as two
HEAD = units(CONTINUED + MIDDLE) + 4  # and the line ends around a title and its text
ESCAPE = 16  # characters to look ahead: more than the longest escape has
SMALLEST = 200  # UTF-16 units that are worth beginning a text on a page for


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A text under its title, or as much of it as stands on a page."""

    title: str
    text: str


def paged(parts: Sequence[Part], room: int) -> list[list[Part]]:
    """The parts in order, on pages of so many UTF-16 units; one page at least."""
    pages: list[list[Part]] = [[]]
    left = room
    for part in parts:
        for piece in _pieces(part, left, room):
            if piece is None:
                pages.append([])
                left = room
                continue
            pages[-1].append(piece)
            left -= units(piece.title) + units(piece.text) + HEAD
    return pages


def _pieces(part: Part, left: int, room: int) -> Iterator[Part | None]:
    """The pieces of a text; None where the next one begins a page. `left` is what the page before has room for."""
    cost = units(part.title) + HEAD
    text, at, title = part.text, 0, part.title
    if left < room and left - cost < min(SMALLEST, units(text[:SMALLEST])):
        yield None
        left = room
    while True:
        piece = _first(text[at : at + left - cost + ESCAPE], left - cost)
        at += len(piece)
        whole = piece.endswith("\n")
        yield Part(title=title, text=piece.removesuffix("\n"))
        if at >= len(text):
            return
        yield None
        left, title = room, f"{part.title}{CONTINUED}{'' if whole else MIDDLE}"
        cost = units(part.title) + HEAD


def _first(text: str, room: int) -> str:
    """As much as fits: to the end of a line where there is one in the second half, else in the middle of one."""
    if units(text) <= room:
        return text
    fits = cut(text, room)
    end = fits.rfind("\n") + 1
    return fits[:end] if end > len(fits) // 2 else fits


def written(parts: Sequence[Part]) -> Text:
    """A page's parts."""
    text = Text()
    for part in parts:
        text.bold(part.title).line().pre(part.text).line()
    return text
